"""Rays: what it means, and what it does not, that Lemke's method ended on one.

Lemke's method follows points with 0 <= x ⊥ A x + b + z0 c >= 0, c > 0. It ends on a ray if x and z0 can go on for ever
in a direction (d, t) that keeps this:

    0 <= d  ⊥  A d + t c >= 0,      d != 0,      t >= 0                 (Cottle, Pang & Stone 1992, section 4.4)

* t > 0: d^T A d = -t c^T d < 0, so d shows that A is not copositive.
* t = 0: d solves the problem with b = 0, so d shows that A is not an R0-matrix.

Neither says that there is no solution: [[0, 1], [1, 0]], b = (-1, -1) ends on a ray and is solved by (1, 1). But if A
is copositive-plus, as all positive semidefinite matrices are, t = 0, (A + A^T) d = 0, hence A^T d = -A d <= 0, and with
b^T d < 0, which holds for the ray of a solve, d is a separating vector (theorem 4.4.11). In general, where a class of A
has the theorem that a ray means infeasible, Farkas' lemma gives a vector; so that vector is asked for, and no class.

For boxes d is zero in rows with two finite bounds, has the sign of its way out in rows with one, and is anything in
rows without; there the slack must not change, and z0 does not lift it (c_i = 0).
"""

from __future__ import annotations

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.certificates.certificate import PROVABLE, Certificate
from perp.problems.certificates.separation import rounding_share
from perp.problems.certificates.sharpening import NEARLY_ZERO
from perp.problems.inputs import Vector, VectorLike, as_vector, freeze
from perp.problems.problem import Problem


def certify_ray(problem: Problem, direction: VectorLike, cover: VectorLike | None = None) -> Certificate:
    """The verdict on a direction that Lemke's method ended on, as `result.ray` has it.

    `cover` is the covering vector c, in the rows of the problem; without it, one is made up that fits, if any does.
    """
    if problem.kind not in PROVABLE:
        raise InvalidProblem(f"rays are for 'lcp' and 'box' problems, and this one is '{problem.kind}'")
    d = np.array(as_vector(direction, "direction", problem.n))
    largest = np.abs(d).max(initial=0.0)
    if largest == 0.0:
        return Certificate(freeze(d), np.inf, False, "the direction is zero", "ray")
    d = d / largest
    sign, wrong = _signs(problem, d)
    if wrong is not None:
        return Certificate(freeze(d), np.inf, False, wrong, "ray")
    moving = np.abs(d) > NEARLY_ZERO
    d[~moving] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        change, size = problem.A.apply(d), problem.A.row_sizes() * np.abs(d).sum()
    if not np.isfinite(change).all():
        return Certificate(freeze(d), np.inf, False, "A times the direction is not finite", "ray")
    noise = np.where(size > 0.0, NEARLY_ZERO * size, rounding_share(problem.n) * np.abs(change).max())
    given = None if cover is None else np.where(sign == 0.0, 0.0, as_vector(cover, "cover", problem.n))
    if given is not None and (given < 0.0).any():
        raise InvalidProblem(f"cover[{int(np.argmin(given))}] is {given.min()}; a cover is positive")
    lift, c = _find_lift(sign * change, noise, moving & (sign != 0.0), sign != 0.0, given)
    v = change + lift * sign * c
    objection = _find_objection(v, sign, noise + NEARLY_ZERO * lift * c, moving)
    is_boxed = np.isnan(sign)
    if objection is not None:
        return Certificate(freeze(d), np.inf, False, objection, "ray", cover=freeze(c), lift=lift)
    shows = "A is not copositive" if lift > 0.0 else "d solves the problem with b = 0 (A is not an R0-matrix)"
    rows = tuple(int(i) for i in np.flatnonzero(moving & ~is_boxed))
    reason = f"0 <= d ⊥ A d + {lift:.3g} c >= 0: {shows}; for a general A that does not exclude a solution"
    return Certificate(freeze(d), float(problem.b @ d), True, reason, "ray", rows, cover=freeze(c), lift=lift)


def _signs(problem: Problem, d: Vector) -> tuple[Vector, str | None]:
    """The direction of growth of each row: 1 or -1, 0 without bounds, NaN with two finite ones, where d must rest."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    sign = np.where(has_lower, 1.0, np.where(has_upper, -1.0, 0.0))
    sign[has_lower & has_upper] = np.nan
    wrong = np.where(np.isnan(sign), np.abs(d), -np.nan_to_num(sign) * d)
    worst = int(np.argmax(wrong))
    if wrong[worst] > NEARLY_ZERO:
        return sign, f"direction[{worst}] = {d[worst]:.3g} leaves the bounds of its row"
    return sign, None


def _find_lift(
    change: Vector, noise: Vector, moving: np.ndarray, lifted: np.ndarray, cover: Vector | None
) -> tuple[float, Vector]:
    """t and c with change + t c = 0 where d moves; t = 0 if nothing falls there."""
    falls = moving & (change < -noise)
    if not falls.any():
        return 0.0, np.where(lifted & ~np.isnan(change), 1.0, 0.0) if cover is None else cover
    if cover is None:  # one that fits: exact where d moves, and enough elsewhere
        most = -change[falls].min()
        fitting = np.where(moving, -change, np.maximum(-change, most)) / most
        return float(most), np.where(lifted & ~np.isnan(change), fitting, 0.0)
    ratios = -change[falls] / cover[falls]
    return float(np.median(ratios)), cover


def _find_objection(v: Vector, sign: Vector, noise: Vector, moving: np.ndarray) -> str | None:
    free, lifted = sign == 0.0, np.abs(sign) == 1.0
    bad = np.flatnonzero(
        (lifted & (np.nan_to_num(sign) * v < -noise)) | ((free | moving & lifted) & (np.abs(v) > noise))
    )
    if not bad.size:
        return None
    i = bad[0]
    return f"the slack of row {i} changes by {v[i]:.3g} along the direction, and it must not"
