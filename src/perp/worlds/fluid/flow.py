"""Particles: how they are seeded, the free surface that they make on the grid, and velocities to the grid and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.fluid import fields as fluid_fields
from perp.kernels.fluid import motion as fluid_motion
from perp.kernels.fluid import pressure as fluid_pressure
from perp.problems.inputs import Vector, require_count, require_share
from perp.worlds.fluid.pressure import Flags, PressureProblem, for_kernels
from perp.worlds.fluid.vessel import StaggeredGrid, Vessel
from perp.worlds.world import OVERFLOWING

Floats = NDArray[np.float64]


def seed_particles(
    inside: Callable[[NDArray[np.float64]], Any],
    cells: Sequence[int],
    spacing: float,
    origin: Any = None,
    per_axis: int = 2,
    jitter: float = 0.0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """n x d positions [m]: the middles of `per_axis`^d parts of every cell, where `inside` says so.

    `inside` takes m x d points and returns m truth values, or m distances, which are negative inside. Each point is
    moved by up to `jitter` halves of its part along each axis, at random (it stays in its part).
    """
    if not callable(inside):
        raise TypeError(f"inside is {inside!r}; a function of points is needed")
    require_count(per_axis, "per_axis", least=1)
    require_share(jitter, "jitter")
    require_count(seed, "seed")
    grid = StaggeredGrid(cells, spacing, origin)
    parts = StaggeredGrid([per_axis * count for count in grid.cells], grid.spacing / per_axis, grid.origin)
    points = parts.middle_points()
    if jitter:
        draw = np.random.default_rng(seed)
        points += 0.5 * jitter * parts.spacing * draw.uniform(-1.0, 1.0, points.shape)
    answer = np.asarray(inside(points))
    if answer.shape != (len(points),) or answer.dtype.kind not in "biuf":
        raise InvalidProblem(
            f"inside returned an array of shape {answer.shape} and type {answer.dtype} for {len(points)} points; "
            "one truth value or distance each is needed"
        )
    if np.isnan(answer).any():
        raise InvalidProblem(f"inside returned NaN for {points[int(np.isnan(answer).argmax())].tolist()}")
    return np.ascontiguousarray(points[answer if answer.dtype.kind == "b" else answer < 0.0])


def is_sound(numbers: Floats) -> bool:
    """Whether every number is finite, and so are products of them."""
    return bool(numbers.min(initial=0.0) > -OVERFLOWING and numbers.max(initial=0.0) < OVERFLOWING)


def find_outside(position: Floats, lower: Vector, upper: Vector) -> int | None:
    """The number of a particle outside of a box, or None."""
    for along, first, last in zip(position.T, lower, upper, strict=True):
        if along.min(initial=first) < first or along.max(initial=first) > last:
            return int(np.argmax((along < first) | (along > last)))
    return None


def fastest_of(velocity: Floats) -> float:
    """The largest speed [m/s]; 0 without particles."""
    squares = np.zeros(len(velocity))
    for along in velocity.T:
        squares += along * along
    return float(np.sqrt(squares.max(initial=0.0)))


def mean_height(position: Floats, gravity: Vector) -> float:
    """Against gravity, or along the last axis where there is none [m]; 0 without particles."""
    if not len(position):
        return 0.0
    strength = float(np.linalg.norm(gravity))
    up = -gravity / strength if strength > 0.0 else np.eye(gravity.size)[-1]
    return float(np.array([along.mean() for along in position.T]) @ up)


# Where the liquid is: the level of its free surface on the grid, from particles.
#
# Each particle is a share of a cell. Spread over the middles of the cells around them, with linear weights, they make a
# field that is 1 inside the liquid, 0 outside, and a smooth step between. Over a flat surface the step is made of two
# parabolas (`fluid_pressure.depth_of`), so that the field can be turned into the distance to the surface. Over a block
# that was seeded evenly the surface is flat, and its distance exact where the block ends at the edge or in the middle
# of cells.
#
# At walls the field is divided by what it would be in a full vessel: the surface meets a wall as flat as it is
# elsewhere. Unlike a distance to the nearest particle, the field is a density. Where particles thin out, the surface
# recedes; where there are too many, that is seen, and can be put right.

NARROW = 0.125
"""Cells that see less room than this ask their neighbours where the surface is."""
FLAT = 1e-9
"""In cells: a distance below is zero."""
IN_CELL = 0.5 - FLAT
"""In cells: a surface that is nearer to the middle of a cell than that goes through it; one that lies on its edge, up
to rounding errors, does not."""
MOST_EXCESS = 1.0
"""More than twice the liquid that fits is not taken into account: a few particles in a narrow place."""


def find_surface(vessel: Vessel, position: Vector, share: float) -> tuple[Vector, Flags, Vector]:
    """The distance to the free surface at the middle of cells [cells], which cells are liquid, and their excess.

    `share` is the part of a cell that a particle fills; the excess, also as a part of a cell, is how much more liquid
    there is in it than fits.
    """
    grid, middles = vessel.grid, vessel.grid.middles
    filled, level, excess = np.zeros(grid.size), np.empty(grid.size), np.empty(grid.size)
    liquid = np.empty(grid.size, dtype=np.uint8)
    dimension = np.uint64(grid.dimension)
    fluid_fields.count_particles(position, dimension, grid.frame, middles.offset, middles.shape, share, filled)
    fractions = for_kernels(grid, vessel.fractions)
    fluid_pressure.find_level(grid.shape, *fractions, filled, vessel.capacity, NARROW, FLAT, level, liquid)
    fluid_pressure.find_excess(
        grid.shape, *fractions, filled, vessel.capacity, vessel.room, NARROW, MOST_EXCESS, liquid, excess
    )
    return level, liquid, excess


def find_attached(vessel: Vessel, level: Vector, liquid: Flags) -> Flags:
    """Which cells move with the liquid: its own, and those of air beside it that the surface goes through."""
    attached = np.empty(liquid.size, dtype=np.uint8)
    fractions = for_kernels(vessel.grid, vessel.fractions)
    fluid_pressure.find_attached(vessel.grid.shape, *fractions, level, liquid, IN_CELL, attached)
    return attached


# Velocities between particles and grid, there and back, and beyond the liquid.

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
        fluid_fields.collect_velocity(
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
        fluid_motion.keep_out(
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
        fluid_fields.return_velocity(
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
