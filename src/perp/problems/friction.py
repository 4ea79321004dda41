"""The frictional contact problem: bounds that follow the normal impulse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.errors import InvalidProblem, suggest
from perp.problems.box import checked_bounds
from perp.problems.inputs import Vector, as_vector
from perp.problems.problem import Problem

MODELS = ("box", "cone")


@dataclass(frozen=True, eq=False, repr=False)
class ContactProblem(Problem):
    """Contacts with Coulomb friction, and optional further rows (joints, limits, motors).

    x holds impulses [N s], y = A x + b relative velocities [m/s]. Contact c owns the rows
    `dimension * c + (0, 1, 2)`: normal, tangent, tangent (`dimension=2`: normal, tangent). Always

        0 <= x_n  ⊥  y_n >= 0.

    `model="box"` bounds each tangent by itself, |x_t| <= friction_c x_n, with y_t opposing (PGS-SM eq. 7).
    `model="cone"` bounds the pair by a disc, |(x_p, x_q)| <= friction_c x_n, and the friction opposes the slip: the
    exact Coulomb law with maximum dissipation. (In two dimensions the two are the same.)

    `friction` is one coefficient for all or one a contact. Rows after the contacts are ordinary rows with bounds
    `lower` and `upper`; by default they are equations (y = 0, x free), as joints are.
    """

    friction: Vector
    model: str
    dimension: int
    lower: Vector
    upper: Vector

    def __init__(
        self,
        A: Any,
        b: Any,
        friction: Any,
        model: str = "box",
        *,
        dimension: int = 3,
        lower: Any = -np.inf,
        upper: Any = np.inf,
    ) -> None:
        super().__init__(A, b)
        if model not in MODELS:
            raise InvalidProblem(f"model {model!r} is unknown{suggest(str(model), MODELS)}")
        if dimension not in (2, 3):
            raise InvalidProblem(f"dimension is {dimension}; 2 (normal, tangent) or 3 (normal, tangent, tangent)")
        coefficients = _checked_friction(friction, self.n, dimension)
        others = self.n - dimension * coefficients.size
        if others < 0:
            raise InvalidProblem(
                f"friction has {coefficients.size} contacts, which makes {dimension * coefficients.size} rows, "
                f"but A has only {self.n}"
            )
        low, high = checked_bounds(lower, upper, others)
        for name, value in (
            ("friction", coefficients),
            ("model", model),
            ("dimension", int(dimension)),
            ("lower", low),
            ("upper", high),
        ):
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> str:
        return f"contact/{self.model}"

    @property
    def contacts(self) -> int:
        """The number of contacts."""
        return self.friction.size

    @property
    def contact_rows(self) -> int:
        """How many rows belong to contacts; the others follow."""
        return self.dimension * self.contacts

    @property
    def normal_rows(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        return np.arange(0, self.contact_rows, self.dimension)

    def bounds(self, x: Vector) -> tuple[Vector, Vector]:
        """Bounds at x. For the cone model those of a tangent are the disc's, with no regard to the other tangent."""
        lower, upper = np.zeros(self.n), np.full(self.n, np.inf)
        limit = self.friction * np.maximum(x[self.normal_rows], 0.0)
        for tangent in range(1, self.dimension):
            lower[self.normal_rows + tangent] = -limit
            upper[self.normal_rows + tangent] = limit
        lower[self.contact_rows :] = self.lower
        upper[self.contact_rows :] = self.upper
        return lower, upper

    def project(self, x: Vector) -> Vector:
        """Normals to x_n >= 0, then tangents to the bounds (or the disc) that those normals allow; others to theirs."""
        projected = np.array(x, dtype=np.float64)
        normals = self.normal_rows
        projected[normals] = np.maximum(projected[normals], 0.0)
        if self.model == "cone" and self.dimension == 3:
            limit = self.friction * projected[normals]
            length = np.hypot(projected[normals + 1], projected[normals + 2])
            factor = np.where(length > limit, limit / np.where(length > 0, length, 1.0), 1.0)
            projected[normals + 1] *= factor
            projected[normals + 2] *= factor
            projected[self.contact_rows :] = np.clip(projected[self.contact_rows :], self.lower, self.upper)
            return projected
        lower, upper = self.bounds(projected)
        return np.clip(projected, lower, upper)

    def __repr__(self) -> str:
        others = self.n - self.contact_rows
        return (
            f"<ContactProblem with {self.contacts} contacts ({self.model} friction, {self.dimension}D)"
            f"{f', {others} other rows' if others else ''}, {self.A.form} A>"
        )


def _checked_friction(friction: Any, n: int, dimension: int) -> Vector:
    if np.ndim(friction) == 0:
        contacts, left_over = divmod(n, dimension)
        if left_over:
            raise InvalidProblem(
                f"one friction coefficient for all needs a multiple of {dimension} rows, and A has {n}; "
                f"pass one coefficient a contact if there are other rows after the contacts"
            )
        friction = np.full(contacts, friction)
    coefficients = as_vector(friction, "friction")
    negative = np.flatnonzero(coefficients < 0)
    if negative.size:
        c = negative[0]
        raise InvalidProblem(f"friction[{c}] is {coefficients[c]}; a coefficient must not be negative")
    return coefficients
