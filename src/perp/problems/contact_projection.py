"""The nearest point that contacts allow: convex cones, and wide contacts of every model. In arrays, not in kernels.

Wide contacts are measured in the units of their levers, in which friction is round (`perp.problems.coefficients`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perp.problems.inputs import Matrix, Vector

if TYPE_CHECKING:
    from perp.problems.friction import ContactProblem

SURFACE, WIDE_SURFACE = 1.0 + 2.0**-50, 1.0 + 2.0**-48
"""A point that leaves a cone or a disc by rounding alone counts as inside, so that projecting twice changes nothing."""


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
