"""The most that g^T x can be for x within its bounds, cone or disc: what a separating vector has to beat.

With g = A^T u known up to errors, each row or contact adds a term, or has no bound that keeps it small. Where g_j is
zero but for rounding errors it then is a `stray`: g_j x_j <= stray_j |x_j|, which is nothing unless |x_j| is enormous.

For contacts, with x_n >= 0 and |x_t| <= mu x_n,

    g_n x_n + g_t . x_t  <=  (g_n + mu |g_t|) x_n,

where |g_t| is the dual norm: the length of g_t for a disc (models cone and convex), |g_p| + |g_q| for a box. The
greatest value is 0 if the bracket is not positive (g is in the polar cone), and there is none otherwise. Discs of fixed
radius r (model disc) add r |g_t|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.certificates.enclosing import EPSILON, Pulled
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.problem import Problem


@dataclass(frozen=True)
class Greatest:
    """Terms as products `gain` times `place`, the rounding errors of the gains times `farthest`, and strays."""

    gain: Vector
    place: Vector
    error: Vector
    farthest: Vector
    stray: Vector
    size: Vector
    """What each stray was added up from."""
    row: NDArray[np.intp]
    """The row that each stray belongs to."""


def greatest_products(problem: Problem, pulled: Pulled, share: float, *, loose: bool) -> Greatest:
    """Where g^T x is greatest. With `loose`, gains below `share` of their size are strays even if x is bounded."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    rows = np.arange(problem.n)
    if not isinstance(problem, ContactProblem):
        return _ordinary(pulled.gain, pulled.error, pulled.size, lower, upper, rows, share, loose)
    others = slice(problem.contact_rows, problem.n)
    rest = _ordinary(
        pulled.gain[others], pulled.error[others], pulled.size[others], lower[others], upper[others], rows[others],
        share, loose,
    )  # fmt: skip
    return _joined(_contacts(problem, pulled), rest)


def _ordinary(
    gain: Vector,
    error: Vector,
    size: Vector,
    lower: Vector,
    upper: Vector,
    rows: NDArray[np.intp],
    share: float,
    loose: bool,
) -> Greatest:
    place = np.where(gain > 0.0, upper, np.where(gain < 0.0, lower, 0.0))
    # an x that the greatest product may be at, whatever the error of the gain
    low, high = np.where(np.isinf(lower), 0.0, np.abs(lower)), np.where(np.isinf(upper), 0.0, np.abs(upper))
    farthest = np.where(gain < -error, low, np.where(gain > error, high, np.maximum(low, high)))
    stray = np.maximum(np.where(np.isinf(upper), gain + error, 0.0), np.where(np.isinf(lower), error - gain, 0.0))
    stray = np.maximum(stray, 0.0)
    if loose:
        small = np.abs(gain) + error <= share * size
        place, farthest = np.where(small, 0.0, place), np.where(small, 0.0, farthest)
        stray = np.where(small, np.abs(gain) + error, stray)
    place = np.where(np.isinf(place), 0.0, place)
    return Greatest(gain, place, error, farthest, stray, size, rows)


def _contacts(problem: ContactProblem, pulled: Pulled) -> Greatest:
    normal, *tangents = [pulled.gain[problem.every(place)] for place in range(problem.dimension)]
    error, *tangent_errors = [pulled.error[problem.every(place)] for place in range(problem.dimension)]
    size, *tangent_sizes = [pulled.size[problem.every(place)] for place in range(problem.dimension)]
    along, along_error, along_size = (
        _dual_length(problem, parts) for parts in (tangents, tangent_errors, tangent_sizes)
    )
    along_error = along_error + 4.0 * EPSILON * along
    rows = problem.normal_rows
    if problem.model == "disc":
        stray = np.maximum(normal + error, 0.0)
        return Greatest(along, problem.friction, along_error, problem.friction, stray, size, rows)
    pull = problem.friction * along
    bracket = (normal + pull) + error + problem.friction * along_error + 4.0 * EPSILON * (np.abs(normal) + pull)
    nothing = np.zeros(problem.contacts)
    stray = np.maximum(bracket, 0.0)
    return Greatest(nothing, nothing, nothing, nothing, stray, size + problem.friction * along_size, rows)


def _dual_length(problem: ContactProblem, tangents: list[Vector]) -> Vector:
    if problem.dimension == 2:
        return np.abs(tangents[0])
    if problem.model == "box":
        return np.abs(tangents[0]) + np.abs(tangents[1])
    return np.hypot(tangents[0], tangents[1])


def _joined(one: Greatest, other: Greatest) -> Greatest:
    names = ("gain", "place", "error", "farthest", "stray", "size", "row")
    return Greatest(*(np.concatenate([getattr(one, name), getattr(other, name)]) for name in names))
