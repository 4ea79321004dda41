"""The discs of a world: what they are, and how they start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, freeze
from perp.worlds.read_only_arrays import KeepsReadOnly
from perp.worlds.rigid2d.numbers import one_each, one_each_positive, one_each_within, pack, points


class Discs(KeepsReadOnly):
    """n discs in the plane. All but `position` may be one number (or one vector) for all.

    Parameters
    ----------
    position
        n x 2 centres [m].
    radius, mass
        [m], [kg]; a disc with mass inf does not move.
    inertia
        About the centre [kg m^2]; that of a solid disc, 1/2 m r^2, where none is given.
    angle, velocity, spin
        [rad], n x 2 [m/s], [rad/s] at the beginning.
    friction, restitution
        Of the surface. Two surfaces have the geometric mean of their coefficients of friction, so that one without
        friction slides on everything, and the larger restitution of the two.
    """

    def __init__(
        self,
        position: Any,
        radius: Any,
        mass: Any = 1.0,
        *,
        inertia: Any = None,
        angle: Any = 0.0,
        velocity: Any = 0.0,
        spin: Any = 0.0,
        friction: Any = 0.5,
        restitution: Any = 0.0,
    ) -> None:
        self.position: NDArray[np.float64] = points(position, "position")
        n = len(self.position)
        self.radius: Vector = one_each_positive(radius, "radius", n)
        self.mass: Vector = one_each_positive(mass, "mass", n, infinite=True)
        self.moves: NDArray[np.bool_] = freeze(np.isfinite(self.mass))
        solid = np.where(self.moves, 0.5 * self.mass * self.radius**2, np.inf) if inertia is None else inertia
        given = one_each_positive(solid, "inertia", n, infinite=True)
        self.inertia: Vector = freeze(np.where(self.moves, given, np.inf))
        self.angle: Vector = one_each(angle, "angle", n)
        self.velocity: NDArray[np.float64] = points(velocity, "velocity", n)
        self.spin: Vector = one_each(spin, "spin", n)
        driven = np.flatnonzero(~self.moves & (self.velocity.any(axis=1) | (self.spin != 0.0)))
        if driven.size:
            raise InvalidProblem(f"velocity[{driven[0]}] is not zero, but mass[{driven[0]}] is inf: it does not move")
        self.friction: Vector = one_each_within(friction, "friction", n, 0.0)
        self.restitution: Vector = one_each_within(restitution, "restitution", n, 0.0, 1.0)
        self.surface: Vector = pack(self.friction, self.restitution)
        self.inverse_mass: Vector = freeze(1.0 / self.mass)

    def __len__(self) -> int:
        return self.radius.size
