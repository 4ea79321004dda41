"""What the page tells of each contact of a step: what it does, and how far the solver left it from its law.

The rules are those of `perp.problems.residuals`, contact by contact in place of the sum or the largest of all. Contacts
are rows of m x d arrays here, the normal first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.contact_states import contact_states
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.results.result import Result
from perp.worlds.world import StepReport

Rows = NDArray[np.float64]

HUGE = 1e300
"""An infinite slack counts as this one, so that its direction survives a projection."""

LEAST_SPEED, MOST_SPEED = 1e-6, 1e-3
"""Between these [m/s] lies the speed below which a contact stands still: the default of `contact_states`, and what
nobody sees."""


@dataclass(frozen=True, eq=False, repr=False)
class ContactNumbers:
    """One number a contact in each; NaN where it is not known."""

    state: Vector
    """`perp.ContactState`"""
    opening: Vector
    """y_n [m/s]"""
    slip: Vector
    """|y_t| [m/s]"""
    residual: Vector
    """The largest entry of the natural map among the rows."""
    energy_error: Vector
    """The sum of 1/2 A_ii r_i^2 over the rows [J]."""

    @staticmethod
    def unknown(contacts: int) -> ContactNumbers:
        """Of contacts without a problem, as in a recording."""
        return ContactNumbers(*(np.full(contacts, np.nan) for _ in range(5)))

    @staticmethod
    def of_step(report: StepReport | None, contacts: int) -> ContactNumbers:
        """Those of the step's own contacts, which are so many."""
        problem = None if report is None else report.problem
        if report is None or not isinstance(problem, ContactProblem) or problem.contacts != contacts:
            return ContactNumbers.unknown(contacts)
        return measure_contacts(problem, report.x, _known_slack(report))


def measure_contacts(problem: ContactProblem, x: Vector, y: Vector | None = None) -> ContactNumbers:
    """Of any impulses x; y is their slack, where it is known already.

    After few iterations everything creeps. A contact whose friction is within its bounds, and so should stick, slips by
    its residual: slower than the largest residual counts as standing still, as far as `MOST_SPEED` allows.
    """
    with np.errstate(all="ignore"):  # overflow shows in the numbers
        rows, energy = row_errors(problem, x, problem.slack(x) if y is None else y)
        residual = rows.max(axis=1)
        still = np.fmin(np.fmax(residual.max(initial=0.0), LEAST_SPEED), MOST_SPEED)
    found = contact_states(problem, x, tol=float(still))
    return ContactNumbers(found.state.astype(np.float64), found.opening, found.slip, residual, energy.sum(axis=1))


def row_errors(problem: ContactProblem, x: Vector, y: Vector) -> tuple[Rows, Rows]:
    """|natural map| of every row of the contacts, and 1/2 A_ii r_i^2 [J], NaN where the diagonal is not known."""
    shape = (problem.contacts, problem.dimension)
    slack = y[: problem.contact_rows].reshape(shape)
    scaled = slack * problem.row_scales[: problem.contact_rows].reshape(shape) if problem.has_extreme_rows else slack
    residual = np.abs(_natural_map(problem, x, scaled))
    if problem.diagonal is None:
        return residual, np.full(shape, np.nan)
    stiffness = _stiffness(problem, problem.diagonal[: problem.contact_rows].reshape(shape))
    is_known = stiffness > 0.0
    impulse = _natural_map(problem, x, np.divide(slack, stiffness, out=np.zeros(shape), where=is_known))
    return residual, np.where(is_known, 0.5 * stiffness * impulse * impulse, 0.0)


def _known_slack(report: StepReport) -> Vector | None:
    """A `Result` has the slack of its x, from the problem's own data."""
    solution = report.solution
    return solution.y if isinstance(solution, Result) and solution.problem is report.problem else None


def _stiffness(problem: ContactProblem, diagonal: Rows) -> Rows:
    """A_ii, the same number for rows that are projected together: the largest of theirs."""
    together = 0 if problem.model == "convex" else 1 if problem.has_discs else problem.dimension
    stiffness = diagonal.copy()
    if together < problem.dimension:
        stiffness[:, together:] = diagonal[:, together:].max(axis=1, keepdims=True)
    return stiffness


def _natural_map(problem: ContactProblem, x: Vector, y: Rows) -> Rows:
    """x - P(x - y) of the contacts under the problem's law, so that a small y is not lost beside a large x."""
    impulse = x[: problem.contact_rows].reshape(y.shape)
    if problem.model == "convex":
        return _cone_map(problem, x, np.clip(y, -HUGE, HUGE))
    normal = np.minimum(y[:, :1], impulse[:, :1])
    limit = problem.tangent_limits(x)[:, None]
    tangent, slip = impulse[:, 1:], y[:, 1:]
    if problem.has_discs:
        return np.concatenate([normal, _disc_map(tangent, np.clip(slip, -HUGE, HUGE), limit)], axis=1)
    return np.concatenate([normal, np.minimum(np.maximum(slip, tangent - limit), tangent + limit)], axis=1)


def _disc_map(tangent: Rows, slip: Rows, radius: Rows) -> Rows:
    """The same with P the projection on the disc |x_t| <= radius; no overflow on the way."""
    point = tangent - slip
    largest = np.abs(point).max(axis=1, keepdims=True)
    share = point / np.where(largest > 0.0, largest, 1.0)
    length = np.hypot(share[:, :1], share[:, 1:])
    factor = np.divide(radius, largest * length, out=np.ones_like(largest), where=largest > 0.0)
    return np.where(factor < 1.0, tangent - factor * point, slip)


def _cone_map(problem: ContactProblem, x: Vector, y: Rows) -> Rows:
    """The same with P the projection on the cone |x_t| <= friction x_n."""
    point = x.copy()
    point[: problem.contact_rows] -= y.reshape(-1)
    nearest = problem.project(point)[: problem.contact_rows].reshape(y.shape)
    inside = (nearest == point[: problem.contact_rows].reshape(y.shape)).all(axis=1, keepdims=True)
    return np.where(inside, y, x[: problem.contact_rows].reshape(y.shape) - nearest)
