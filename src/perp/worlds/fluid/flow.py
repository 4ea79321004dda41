"""Velocities between particles and grid, there and back, and beyond the liquid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels.fluid import fields as fluid_fields
from perp.kernels.fluid import fields as fluid_transfer
from perp.kernels.fluid import motion as fluid_motion
from perp.kernels.fluid import motion as fluid_walls
from perp.problems.inputs import Vector
from perp.worlds.fluid.pressure import Flags, PressureProblem, for_kernels
from perp.worlds.fluid.surface import find_attached
from perp.worlds.fluid.vessel import Vessel

BEYOND = 2
"""Layers of faces beside those that particles reach: a liquid cell has no face that is farther away."""
MOST_LAYERS = 250
CLEARANCE = 0.01
"""In cells: how near a particle may come to a wall."""


def collect_velocity(vessel: Vessel, position: Vector, velocity: Vector) -> tuple[list[Vector], list[Vector]]:
    """Velocities on the faces across each axis, and the weights of particles there; goes on beyond particles."""
    grid, fields, weights = vessel.grid, [], []
    for axis, faces in enumerate(grid.faces):
        field, weight = np.empty(faces.size), np.empty(faces.size)
        fluid_transfer.collect_velocity(
            position,
            velocity,
            np.uint64(grid.dimension),
            np.uint64(axis),
            grid.frame,
            faces.offset,
            faces.shape,
            weight,
            field,
        )
        known = (weight > 0.0).astype(np.uint8)
        fluid_fields.extend(faces.shape, np.uint64(BEYOND), field, known)
        fields.append(field)
        weights.append(weight)
    return fields, weights


def drop_pressure(
    vessel: Vessel,
    made: PressureProblem,
    x: Vector,
    separating: NDArray[np.bool_],
    star: list[Vector],
    weight: list[Vector],
) -> list[Vector]:
    """Velocities with the pressure x; beyond the liquid as its nearest ones are, and none into walls."""
    grid, fractions = vessel.grid, vessel.fractions
    attached = find_attached(vessel, made.level, made.liquid)
    flags: list[Flags] = []
    fields = [one.copy() for one in star]
    for axis, field in enumerate(fields):
        flags.append(np.empty(field.size, dtype=np.uint8))
        made.drop(axis, x, attached, weight[axis], field, flags[axis])
    fastest = max(float(np.abs(field[known != 0]).max(initial=0.0)) for field, known in zip(fields, flags, strict=True))
    layers = BEYOND + int(min(np.ceil(fastest * made.dt / grid.spacing), MOST_LAYERS))
    for faces, field, known in zip(grid.faces, fields, flags, strict=True):
        field[known == 0] = 0.0
        fluid_fields.extend(faces.shape, np.uint64(layers), field, known)
    holds = (made.liquid != 0) & ~separating
    three, shapes = _three(vessel, fields)
    kept = [np.empty(field.size) for field in fields]
    for axis in range(grid.dimension):
        fluid_walls.keep_out(
            grid.kernel_axis(axis),
            grid.shape,
            grid.nodes,
            vessel.solid,
            grid.spacing,
            holds.astype(np.uint8),
            fractions[axis],
            *three,
            *shapes,
            fields[axis],
            kept[axis],
        )
    return kept


def return_velocity(
    vessel: Vessel,
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    flip: float,
    old: list[Vector],
    new: list[Vector],
) -> NDArray[np.float64]:
    """New velocities of the particles."""
    grid, out = vessel.grid, np.empty(velocity.shape)
    for axis, faces in enumerate(grid.faces):
        fluid_transfer.return_velocity(
            position.reshape(-1),
            velocity.reshape(-1),
            np.uint64(grid.dimension),
            np.uint64(axis),
            grid.frame,
            faces.offset,
            faces.shape,
            flip,
            old[axis],
            new[axis],
            out.reshape(-1),
        )
    return out


def carry_particles(
    vessel: Vessel, dt: float, fields: list[Vector], position: NDArray[np.float64], velocity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """New positions; velocities of particles at walls lose what goes into the wall."""
    grid, out = vessel.grid, np.empty(position.shape)
    three, shapes = _three(vessel, fields)
    fluid_motion.advect(
        dt,
        grid.shape,
        grid.frame,
        np.uint64(grid.dimension),
        *three,
        *shapes,
        grid.nodes,
        vessel.solid,
        CLEARANCE,
        position.reshape(-1),
        velocity.reshape(-1),
        out.reshape(-1),
    )
    return out


def _three(vessel: Vessel, fields: list[Vector]) -> tuple[tuple[Vector, ...], tuple[NDArray[np.uint64], ...]]:
    """Velocities and their shapes for three axes; in the plane the first stands for nothing."""
    shapes = tuple(faces.shape for faces in vessel.grid.faces)
    return for_kernels(vessel.grid, fields), (shapes[0],) * (3 - vessel.grid.dimension) + shapes
