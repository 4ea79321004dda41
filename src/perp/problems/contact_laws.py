"""What bounds the impulses of a contact: coefficients and levers, and the nearest point within the bounds.

Coefficients of friction: one a contact, or one for every row beside the normal.

With coefficients mu_1, mu_2, ... of their own (tangents without a unit, moments in metres) a contact has

    |(x_1/mu_1, ..., x_k/mu_k)| <= x_n        or, which is the same,        |(x_1/l_1, ..., x_k/l_k)| <= s x_n,

with its `strength` s, the first coefficient that is not zero, and the `levers` l_i = mu_i / s. In the units x_i / l_i
[N s] and l_i y_i [m/s] friction is round, with the one coefficient s, and x · y is the same. So whatever treats such
contacts works in these units. Where mu_i = 0 there is no lever, and x_i = 0 is all there is to say.

The nearest point that contacts allow: convex cones, and wide contacts of every model. In arrays, not in kernels.

Wide contacts are measured in the units of their levers, in which friction is round (`perp.problems.contact_laws`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.inputs import Matrix, Vector, as_matrix, as_vector, freeze

if TYPE_CHECKING:
    from perp.problems.friction import ContactProblem


DIMENSIONS = {
    2: "normal, tangent",
    3: "normal, 2 tangents",
    4: "normal, 2 tangents, torsion",
    6: "normal, 2 tangents, torsion, 2 rolling moments",
}
"""How many rows a contact may have, and which."""

SURFACE, WIDE_SURFACE = 1.0 + 2.0**-50, 1.0 + 2.0**-48
"""A point that leaves a cone or a disc by rounding alone counts as inside, so that projecting twice changes nothing."""


def require_dimension(dimension: Any) -> None:
    """Refuse a number of rows that no contact has."""
    if dimension not in DIMENSIONS:
        told = ", ".join(f"{count} ({rows})" for count, rows in DIMENSIONS.items())
        raise InvalidProblem(f"dimension is {dimension}; {told}")


def checked_friction(friction: Any, model: str, n: int, dimension: int) -> Vector:
    """Coefficients (model disc: radii), one a contact, or one a contact and tangent as a matrix."""
    if np.ndim(friction) == 2 and dimension > 2:
        coefficients = _checked_rows(friction, n, dimension)
    elif dimension > 3:
        raise InvalidProblem(
            f"contacts of {dimension} rows need a coefficient for each row beside the normal: friction with "
            f"{dimension - 1} columns, and a row for each contact or one for all ({DIMENSIONS[dimension]})"
        )
    else:
        if np.ndim(friction) == 0:
            friction = np.full(_count_contacts(n, dimension), friction)
        coefficients = as_vector(friction, "friction")
    negative = np.argwhere(coefficients < 0)
    if negative.size:
        place = tuple(int(k) for k in negative[0])
        meaning = "radius" if model == "disc" else "coefficient"
        told = ",".join(map(str, place))
        raise InvalidProblem(f"friction[{told}] is {coefficients[place]}; a {meaning} must not be negative")
    return coefficients


def _checked_rows(friction: Any, n: int, dimension: int) -> Matrix:
    coefficients = as_matrix(friction, "friction")
    rows, columns = coefficients.shape
    if columns != dimension - 1:
        raise InvalidProblem(
            f"friction has {columns} columns; contacts of {dimension} rows ({DIMENSIONS[dimension]}) "
            f"have {dimension - 1} coefficients"
        )
    if rows == 1:
        coefficients = freeze(np.repeat(coefficients, _count_contacts(n, dimension), axis=0))
    return coefficients


def _count_contacts(n: int, dimension: int) -> int:
    contacts, left_over = divmod(n, dimension)
    if left_over:
        raise InvalidProblem(
            f"contacts take {dimension} rows each, and {n} is no multiple of {dimension}: "
            f"pass dimension=2 for planar contacts, extra_rows=... for rows after the contacts"
        )
    return contacts


def require_one_coefficient(problem: Any, what: str) -> None:
    """Refuse contacts whose rows have coefficients of their own, where these mean nothing."""
    if problem.is_wide:
        raise InvalidProblem(
            f"{what} has words for contacts with one coefficient each; this problem, '{problem.kind}', "
            "has one for every row beside the normals"
        )


def find_strength(friction: Vector) -> Vector:
    """The coefficient of each contact by which the others are measured."""
    if friction.ndim == 1:
        return friction
    first = np.argmax(friction > 0.0, axis=1)
    return freeze(friction[np.arange(len(friction)), first])


def find_levers(friction: Vector, dimension: int) -> Matrix:
    """l_i of every row of every contact: 1 for normals, and for tangents that share one coefficient."""
    levers = np.ones((len(friction), dimension))
    if friction.ndim == 2:
        strength = find_strength(friction)[:, None]
        levers[:, 1:] = np.divide(friction, strength, out=np.zeros_like(friction), where=strength > 0.0)
    return freeze(levers)


def nearest_of_contacts(problem: ContactProblem, x: Vector) -> Vector:
    """The rows of the contacts of x, projected."""
    contacts = x[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
    if not problem.is_wide:
        return _in_cones(problem.friction, contacts, SURFACE).reshape(-1)
    levers, strength = problem.levers, problem.strength
    measured = problem.measured(x)
    if problem.model == "convex":
        nearest = _in_cones(strength, measured, WIDE_SURFACE)
    else:
        normal = np.where(measured[:, 0] <= 0.0, 0.0, measured[:, 0])  # NaN stays NaN
        limit = strength if problem.model == "disc" else strength * normal
        nearest = np.column_stack([normal, _within(problem.model, limit[:, None], measured[:, 1:])])
    stays = (nearest == measured) & (levers > 0.0)  # and need not go through its lever and back
    moved: Vector = np.where(stays, contacts, levers * nearest).reshape(-1)
    moved += 0.0  # no -0
    return moved


def lengths(tangents: Matrix) -> Vector:
    """|t| of each line, column by column, which is quicker than a reduction of short lines."""
    total = np.abs(tangents[:, 0])
    for k in range(1, tangents.shape[1]):
        total = np.hypot(total, tangents[:, k])
    return total


def _within(model: str, limit: Matrix, tangents: Matrix) -> Matrix:
    """Tangents in their intervals (box), or together in a ball."""
    if model == "box":
        inside = np.abs(tangents) <= WIDE_SURFACE * limit
        return np.asarray(np.where(inside, tangents, np.clip(tangents, -limit, limit)))
    length = lengths(tangents)[:, None]
    factor = np.divide(limit, length, out=np.ones(length.shape), where=~(length <= WIDE_SURFACE * limit))
    return tangents * factor


def _in_cones(friction: Vector, contacts: Matrix, surface: float) -> Matrix:
    """The nearest points of the cones K.

    Between K and its polar cone, the nearest point lies on the surface, on the line (cosine, sine x_t / |x_t|).
    """
    normal, tangents = contacts[:, 0], contacts[:, 1:]
    cosine = 1.0 / np.hypot(1.0, friction)
    sine = friction * cosine
    length = lengths(tangents)
    inside = (cosine * length <= surface * sine * normal) & (normal >= 0.0)
    along = np.maximum(cosine * normal + sine * length, 0.0)
    factor = np.divide(sine * along, length, out=np.zeros(len(contacts)), where=length > 0.0)
    nearest = np.concatenate([(cosine * along)[:, None], factor[:, None] * tangents], axis=1)
    return np.where(inside[:, None], contacts, nearest)
