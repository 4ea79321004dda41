"""How far a point is from solving a problem, measured apart from any solver.

The number that decides is `residual`, the largest entry of the natural map

    r_i = x_i - clip(x_i - s_i y_i, lower_i, upper_i),       zero exactly at a solution, whatever s_i > 0.

s_i is 1, so that r is the natural map of the caller's own numbers, except where the diagonal entry of the row (for a
contact: of its normal row) is extreme, outside [2^-10, 2^20]: then s_i is the power of two that brings it near 1.
(Multiplying a row of A and b by 1e300 does not change what solves the problem; it should not change when a solver stops
either.) r is computed as clip(s_i y_i, x_i - upper_i, x_i - lower_i), which is the same and loses no small y beside a
large x.

The contacts of the convex model have the natural map of their cone, x - P_K(x - s y), with one s a contact. Tangents in
a disc, whose radius is given (model `disc`) or stands at the normal impulse (`cone`), have that of the disc. Rows with
coefficients of their own are measured in the units of their levers [N s, m/s] (`perp.problems.contact_laws`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.contacts import wide_contacts
from perp.kernels.measures import residuals, watching
from perp.kernels.measures import residuals as kernels
from perp.problems import proofs
from perp.problems.friction import ContactProblem
from perp.problems.inputs import PointLike, Vector, as_vector, freeze
from perp.problems.models.change import carry_over
from perp.problems.problem import Problem

if TYPE_CHECKING:
    from perp.problems.proofs import ErrorBound, Proof

CARRIES_SHARE = 1e-6
"""Contacts whose A_nn x_n is a smaller share of the largest do not count as carrying an impulse."""

NEAR = 2.0**-26
"""A share of the largest |x_i|, or of 1, within which x_i is as good as at the bound that its slack pushes it to."""


@dataclass(frozen=True)
class Residuals:
    """Every measure of one point; zero means perfect. None where it does not apply or cannot be told.

    The measures of contacts speak of the exact Coulomb law: at a solution of the box model, which lets the corners of
    the box stick out of the cone, the first three need not vanish. At one of the convex model `de_saxce` and
    `sliding_gap` need not: they tell by how much the gap of sliding contacts bends the law. Where discs are fixed,
    their radius stands in for friction x_n in the first two, and there is no `de_saxce`, as there is no coefficient.
    """

    residual: float
    """What a solver stops by: the largest entry of the natural map (extreme rows scaled, see the module)."""
    natural_inf: float
    """max |x - clip(x - y, lower, upper)|."""
    natural_2: float
    """The 2-norm of the same; AMGS eq. 24 for an LCP."""
    fischer: float
    """Half the sum of squares of the Fischer-Burmeister function (NOTES eq. 17; Billups' form for boxes).

    This is the merit of histories and callbacks. Tangents in discs (cone friction, fixed discs), and all rows of convex
    contacts, enter with their natural map instead.
    """
    modified_merit: float
    """NOTES eq. 106, x^T |A x + b|; for boxes, discs and cones the distance to the nearest bound stands in for x."""
    gap: float
    """Complementarity gap: the sum of |x - lower| y+ + |upper - x| y- over finite bounds; convex contacts: |x · y|."""
    bound_violation: float
    """By how much x leaves its bounds, at most."""
    slack_violation: float
    """The largest part of y whose sign no finite bound allows (for an LCP: how far y goes below zero).

    For convex contacts: how far y_n stays below friction |y_t|.
    """
    objective: float | None
    """1/2 x^T A x + b^T x (NOTES eq. 21), for symmetric A."""
    active: int
    """Rows strictly between their bounds."""
    cone_violation: float | None
    """Contacts: max of |x_t| - friction x_n and of -x_n; fixed discs: of |x_t| - radius and of -x_n."""
    dissipation_error: float | None
    """Contacts: max of friction x_n |y_t| + x_t · y_t, the energy that friction should take and does not [J].

    Fixed discs: of radius |y_t| + x_t · y_t.
    """
    de_saxce: float | None
    """Contacts: the natural map of the exact cone, max |x - P_K(x - (y + friction |y_t| e_n))|; fixed discs: None."""
    sliding_gap: float | None
    """Contacts: the largest y_n [m/s] of those that carry an impulse, the speed at which they open though they press.

    At a solution of the convex model it is the price of convexity, max friction |y_t| over sliding contacts; at one of
    the other models zero. A contact carries an impulse if A_nn x_n, the speed that its normal impulse makes, is more
    than a millionth of the largest.
    """
    energy_mean: float | None
    """Mean over rows of 1/2 A_ii r_i^2 [J] with r_i = x_i - clip(x_i - y_i / A_ii): the unit-consistent error."""
    energy_max: float | None
    """The largest of them."""
    rigid_residual: float | None = None
    """Compliant contacts (`ContactProblem.with_compliance`): `residual` of the same x in the rigid law, without C.

    At a solution of the compliant law it is the error that the compliance makes, in the units of `residual`.
    """
    compliance_speed: float | None = None
    """Compliant contacts: max C_c |x_c| [m/s], the largest speed at which a contact gives way to its impulse."""
    proof: Proof | None = None
    """Of `verify(..., prove=True)`: a box that is proved to hold a solution, or why there is none."""
    error_bounds: tuple[ErrorBound, ...] = ()
    """Of `verify(..., prove=True)`: known bounds of the distance to the solution, sharpest first."""

    def __str__(self) -> str:
        def tell(value: float | int | None) -> str:
            return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3e}"

        left_out = {"proof", "error_bounds"}
        if self.compliance_speed is None:
            left_out |= {"rigid_residual", "compliance_speed"}
        measures = [f for f in fields(self) if f.name not in left_out]
        table = "\n".join(f"{f.name.replace('_', ' '):>18}: {tell(getattr(self, f.name))}" for f in measures)
        return table if self.proof is None else "\n".join([table, "", str(self.proof), *map(str, self.error_bounds)])


def verify(problem: Problem, x: PointLike, *, prove: bool = False) -> Residuals:
    """Every residual of x (a vector or a `Result`), recomputed from the problem alone; prints as a table.

    Of an answer to another model of the same contacts the impulses are taken. With `prove` there is also, for problems
    of up to a thousand rows, a proof that a solution exists in a small box (`perp.prove`), and the known bounds of the
    distance to the solution for matrices of some classes (`perp.error_bounds`).

    Where contacts have a compliance (`problem.with_compliance`), all measures are of the compliant law, and
    `rigid_residual` and `compliance_speed` tell how far x is from the rigid one.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    given: Any
    source, given = getattr(x, "problem", None), getattr(x, "x", x)
    with np.errstate(all="ignore"):  # overflow shows in the numbers
        if isinstance(source, Problem):
            given = carry_over(given, source, problem)
        point = np.array(as_vector(given, "x", problem.n))
        measured = measure(problem, point)
        contacts = problem.frictional
        if contacts is not None and contacts.is_compliant:
            rigid, speed = _without_compliance(contacts, point)
            measured = replace(measured, rigid_residual=rigid, compliance_speed=speed)
    if not prove:
        return measured

    return replace(measured, proof=proofs.prove(problem, point), error_bounds=proofs.error_bounds(problem, point))


def _without_compliance(problem: ContactProblem, x: Vector) -> tuple[float, float]:
    """The residual of the rigid law, and the largest C_c |x_c|."""
    impulses = problem.measured(x)
    speeds = problem.contact_compliance * np.linalg.norm(impulses, axis=1)
    return measure(problem.with_compliance(0.0), x).residual, float(np.max(speeds, initial=0.0))


def measure(problem: Problem, x: Vector) -> Residuals:
    """The same for an x that is known to be a float64 vector of the right length."""
    y = problem.A.slack(x, problem.b, np.empty(problem.n))
    totals = np.zeros(kernels.COUNT)
    diagonal = freeze(np.zeros(problem.n)) if problem.diagonal is None else problem.diagonal
    scale = problem.row_scales
    contacts = problem.frictional
    if contacts is not None:
        _measure_contacts(contacts, x, y, diagonal, totals)
    first = np.uint64(problem.contact_rows)
    kernels.measure_rows(first, x, y, problem.lower, problem.upper, scale, diagonal, totals)
    is_broken = not (np.isfinite(x).all() and np.isfinite(y).all())
    if is_broken:
        totals[:] = np.nan
    sliding_gap = None
    if contacts is not None:
        sliding_gap = np.nan if is_broken else _sliding_gap(contacts, x, y)
    is_contact = contacts is not None
    has_cones = contacts is not None and contacts.model != "disc"
    has_energy = problem.diagonal is not None and problem.n > 0
    return Residuals(
        residual=float(totals[kernels.RESIDUAL]),
        natural_inf=float(totals[kernels.NATURAL_MAX]),
        natural_2=float(np.sqrt(totals[kernels.NATURAL_SQUARES])),
        fischer=float(0.5 * totals[kernels.MERIT_SQUARES]),
        modified_merit=float(totals[kernels.DISTANCE_MERIT]),
        gap=float(totals[kernels.GAP]),
        bound_violation=float(totals[kernels.BOUND_VIOLATION]),
        slack_violation=float(totals[kernels.SLACK_VIOLATION]),
        objective=_objective(problem, x, y) if problem.is_symmetric else None,
        active=0 if isnan(totals[kernels.ACTIVE]) else int(totals[kernels.ACTIVE]),
        cone_violation=float(totals[kernels.CONE_VIOLATION]) if is_contact else None,
        dissipation_error=float(totals[kernels.DISSIPATION_ERROR]) if is_contact else None,
        de_saxce=float(totals[kernels.DE_SAXCE]) if has_cones else None,
        sliding_gap=sliding_gap,
        energy_mean=float(totals[kernels.ENERGY_SUM]) / problem.n if has_energy else None,
        energy_max=float(totals[kernels.ENERGY_MAX]) if has_energy else None,
    )


def _measure_contacts(problem: ContactProblem, x: Vector, y: Vector, diagonal: Vector, totals: Vector) -> None:
    (width, law, friction), last = problem.law, (problem.row_scales, diagonal, totals)
    if problem.is_wide:
        levers = problem.levers.reshape(-1)
        wide_contacts.measure_contacts(x, y, problem.dimension, law, problem.strength, levers, *last)
    else:
        residuals.measure_contacts(x, y, width, law, friction, *last)


def _objective(problem: Problem, x: Vector, y: Vector) -> float:
    """1/2 x^T A x + b^T x = 1/2 x^T (y + b)."""
    terms = y + problem.b
    terms *= x
    return float(0.5 * np.sum(terms))


def _sliding_gap(problem: ContactProblem, x: Vector, y: Vector) -> float:
    strength = problem.normal_speeds(x)
    carries = strength > CARRIES_SHARE * strength.max(initial=0.0)
    return float(np.max(y[problem.normal_rows][carries], initial=0.0))


Measures = tuple[float, float, int, int, float, float, float, float, float]


class Watch:
    """The few measures that a loop takes at every check; keeps the arrays that the compiled pass works on."""

    def __init__(self, problem: Problem) -> None:
        n = problem.n
        self.problem = problem
        self.y: Vector = np.empty(n)
        self.previous: Vector
        self.mark: Vector
        points = np.empty((2, n))
        points.fill(np.inf)
        self.previous, self.mark = points
        self._seen: tuple[Vector, float] | None = None
        self._accepted: float | None = None
        contacts = problem.frictional
        if contacts is not None:
            law: tuple[Any, ...] = contacts.law
            self._pass = watching.watch_contacts
            if contacts.is_wide:
                self._pass = wide_contacts.watch_contacts
                law = (contacts.dimension, law[1], contacts.strength, contacts.levers.reshape(-1))
            inside = np.zeros(n, dtype=np.bool_)
            last = (problem.row_scales, self.previous, self.mark, inside)
            self._arguments: tuple[Any, ...] = (*law, problem.lower, problem.upper, *last)
        else:
            scaled = problem.has_extreme_rows
            bounded = scaled or problem.kind != "lcp"
            lower, upper = (
                (problem.lower, problem.upper) if bounded else (problem.b, problem.b)
            )  # which nobody reads then
            scale = problem.row_scales if scaled else problem.b
            self._pass = watching.watch_quickly
            self._arguments = (
                bounded,
                lower,
                upper,
                scaled,
                scale,
                self.previous,
                self.mark,
                np.empty(watching.KINDS * watching.LANES),
            )

    def look(self, x: Vector) -> Measures:
        """(residual, merit, active, changed, change, drift, from_mark, largest, probe) at x; see `kernels.watching`."""
        self._seen = self._accepted = None
        y = self.problem.A.slack(x, self.problem.b, self.y)
        measures: Measures = self._pass(x, y, *self._arguments)
        if not measures[1] < inf and self.problem.frictional is None:
            measures = self._look_with_care(x, y)
        self._seen = x, measures[0]
        return measures

    def _look_with_care(self, x: Vector, y: Vector) -> Measures:
        """For numbers whose squares overflow, and for those that are none."""
        lower, upper = self.problem.bounds(x)
        inside = (lower < self.previous) & (self.previous < upper)
        scale = self.problem.row_scales
        measures: Measures = watching.watch_rows(
            np.uint64(0), x, y, lower, upper, scale, self.previous, self.mark, inside
        )
        return measures

    def accept(self, x: Vector) -> None:
        """Make x the point that `change` is counted from."""
        self._accepted = None
        np.copyto(self.previous, x)
        if self._seen is not None and self._seen[0] is x:
            self._accepted = self._seen[1]

    def recall(self, x: Vector) -> float | None:
        """The residual of x where x is, bit for bit, the point last looked at and accepted; `y` is then its slack.

        None for any other point: look at it.
        """
        if self._accepted is None:
            return None
        return self._accepted if x is self.previous or x.tobytes() == self.previous.tobytes() else None

    def set_mark(self, x: Vector) -> None:
        """Remember this point: `from_mark` is zero when the iteration comes back to it."""
        np.copyto(self.mark, x)


def active_mask(problem: Problem, x: Vector, y: Vector) -> NDArray[np.int8]:
    """-1 for rows at their lower bound, 1 at their upper one, 0 between.

    A row is at a bound if x_i is that number; also if the natural map takes the bound (for the lower one: x_i - lower_i
    < s_i y_i, with s_i as above) and x_i is near it, as where a method from the inside has
    stopped at its tolerance. A fixed row, lower_i = upper_i, counts as at its lower bound. Contacts are told by the
    bounds that stand at x, each tangent by itself: those of a contact that does not press are fixed at zero.
    """
    lower, upper = problem.bounds(x)
    near = NEAR * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    with np.errstate(all="ignore"):  # a failed solve may have an x or y that is not finite: then rows are between
        push = problem.row_scales * y
        above, below = x - lower, upper - x
        at_lower = (x <= lower) | ((above <= near) & (above < push))
        at_upper = (x >= upper) | ((below <= near) & (below < -push))
    return np.where(at_lower, -1, at_upper).astype(np.int8)
