"""Vectors that prove that no x within its bounds has an admissible slack.

u is one number a row. Every admissible slack has u^T y >= 0 if

    only a lower bound:    y_i >= 0,        u_i >= 0            no bound:            y_i = 0,   any u_i
    only an upper bound:   y_i <= 0,        u_i <= 0            two finite bounds:   any y_i,   u_i = 0
    normals of contacts:   y_n >= 0,        u_n >= 0            tangents:            any y_t,   u_t = 0

and for convex contacts, where y is in K* = {friction |y_t| <= y_n}, if u is in K = {|u_t| <= friction u_n}. But

    u^T y  =  u^T (A x + b)  <=  b^T u  +  max of (A^T u)^T x over all x within bounds and cones  (`greatest_products`)

for every such x; so if the right side, the `margin`, is negative, no x has an admissible slack. For an LCP this is
Farkas' lemma (Cottle, Pang & Stone 1992, theorem 2.7.9): u >= 0, A^T u <= 0, b^T u < 0.

**Rounding.** A^T u is enclosed (`pull_sharply`), and the margin counts as negative only beyond (n + 4) eps of the sum
of its terms. Entries of A^T u that should be zero, where x is unbounded, seldom are, as A itself was rounded once. One
that is below (n + 4) eps of what it was added up from is let through as a stray g_j > 0. Then 0 <= u^T y <= margin +
max g_j sum |x_j|, so that a solution must have sum |x_j| >= -margin / max g_j, which is `reach`. The certificate is
refused unless that is 1e8 times as large as the sizes of A and b suggest for x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.certificates.certificate import Certificate, list_rows
from perp.problems.certificates.sharpening import NEARLY_ZERO
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze
from perp.problems.operators import Operator
from perp.problems.problem import Problem
from perp.problems.rounding import sum_columns, sum_products

# -- A^T u with bounds on its rounding errors, from the problem's own numbers ------------------------------------------


EPSILON = 2.0**-52
MOST_EXACT = 400_000
"""So many products are added up without rounding errors; of more, in extended precision."""
MOST_STENCIL_ROWS = 20_000
"""Rows of a stencil that are looked at one by one, so that nothing is formed."""
FORMING = 8.0
"""Rounding errors that a number of A may have where A is formed from factors, in units of the last place."""
CHUNK = 256
EXTENDED = 2.0 * max(float(np.finfo(np.longdouble).eps), 2.0**-63)
"""Rounding errors of a product and a sum in extended precision, which is double precision on some machines."""
Entries = tuple[NDArray[Any], NDArray[Any], Vector]

FAR = 1e8
"""A proof with strays must reach this many times as far as the sizes of A and b suggest for x."""
SAFE = 2.0**-100
"""u is made smaller by this where A^T u would overflow."""


@dataclass(frozen=True)
class Pulled:
    """A^T u, how far each of its entries may be off, and |A|^T |u|."""

    gain: Vector
    error: Vector
    size: Vector


def rounding_share(n: int) -> float:
    """The rounding errors of a sum of n products, as a share of the sum of their absolute values."""
    return (n + 4) * EPSILON


def pull_quickly(A: Operator, u: Vector) -> Pulled:
    """In plain double precision."""
    gain, size = A.pull(u)
    terms = int(np.count_nonzero(u))
    if A.stencil is not None:
        terms = min(terms, 2 * len(A.stencil.grid) + 1)
    return Pulled(gain, (terms + 2) * EPSILON * size, size)


def pull_sharply(A: Operator, u: Vector, quick: Pulled) -> Pulled:
    """Without rounding errors but the last one where A is stored, and as well as it goes where it must be formed."""
    support = np.flatnonzero(u)
    is_given = A.stored is not None or A.stencil is not None
    forming = 0.0 if is_given else FORMING * EPSILON * quick.size
    if A.stencil is not None:
        if support.size > MOST_STENCIL_ROWS:
            return quick
        return Pulled(*_round_once(*_entries_by_rows(A.stencil, support), u, A.n), quick.size)
    part: Any = A.written_out()[support]
    if (part.size if A.is_dense else part.nnz) > MOST_EXACT:
        gain, error = _extended(part, u[support])
        error += support.size * EXTENDED * quick.size
    else:
        gain, error = _round_once(*_entries_of(part, support), u, A.n)
    return Pulled(gain, error + forming, quick.size)


def _round_once(rows: NDArray[Any], columns: NDArray[Any], values: Vector, u: Vector, n: int) -> tuple[Vector, Vector]:
    gain = sum_columns(rows, columns, values, u, n)
    return gain, np.abs(gain) * EPSILON


def _extended(part: Any, u: Vector) -> tuple[Vector, Vector]:
    long = u.astype(np.longdouble)
    if isinstance(part, np.ndarray):
        total = np.zeros(part.shape[1], dtype=np.longdouble)
        for begin in range(0, u.size, CHUNK):
            here = slice(begin, begin + CHUNK)
            total += part[here].T.astype(np.longdouble) @ long[here]
    else:
        total = part.astype(np.longdouble).T @ long
    gain: Vector = total.astype(np.float64)
    return gain, np.abs(gain) * EPSILON


def _entries_of(part: Any, support: NDArray[np.intp]) -> Entries:
    if isinstance(part, np.ndarray):
        place, columns = np.nonzero(part)
        return support[place], columns, part[place, columns]
    entries = part.tocoo()
    return support[entries.row], entries.col, entries.data


def _entries_by_rows(A: Operator, support: NDArray[np.intp]) -> Entries:
    found = [A.row(int(i)) for i in support]
    lengths = [columns.size for columns, _ in found]
    columns = np.concatenate([columns for columns, _ in found])
    return np.repeat(support, lengths), columns, np.concatenate([values for _, values in found])


# -- vectors that separate ---------------------------------------------------------------------------------------------


def check_vector(problem: Problem, u: Vector) -> Certificate:
    """The verdict on u, which is finite and of the right length."""
    kind = "infeasible" if problem.frictional is None else "friction"
    vector = np.array(u)
    largest = np.abs(vector).max(initial=0.0)
    if largest == 0.0:
        return Certificate(freeze(vector), np.inf, False, "u is zero, which proves nothing", kind)
    vector = vector / largest
    objection = _clear_signs(problem, vector)
    if objection:
        return Certificate(freeze(vector), np.inf, False, objection, kind)

    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _judge(problem, vector, kind)


def _judge(problem: Problem, vector: Vector, kind: str) -> Certificate:
    weights, share = vector, rounding_share(problem.n)
    pulled = pull_quickly(problem.A, weights)
    if not np.isfinite(pulled.size).all():
        weights = SAFE * vector
        pulled = pull_quickly(problem.A, weights)
    quick = greatest_products(problem, pulled, share, loose=True)
    objection = _find_unbounded(quick, share) or _find_positive(problem, weights, quick, share)
    if objection is None:
        pulled = pull_sharply(problem.A, weights, pulled)
        verdicts = [_weigh(problem, vector, weights, pulled, kind, share, loose=loose) for loose in (False, True)]
        return verdicts[0] if verdicts[0].valid or not verdicts[1].valid else verdicts[1]
    margin, reason = objection
    return Certificate(freeze(vector), margin, False, reason, kind)


def _clear_signs(problem: Problem, u: Vector) -> str | None:
    """Set entries of the wrong sign at rounding level to zero; a sentence where one is larger than that."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    contacts = problem.frictional
    if contacts is not None:
        has_lower[: problem.contact_rows] = has_upper[: problem.contact_rows] = True
        has_upper[contacts.every(0)] = False
        if contacts.model == "convex":
            objection = _clear_cones(contacts, u)
            if objection:
                return objection
            has_lower[: problem.contact_rows] = has_upper[: problem.contact_rows] = False  # seen to
    wrong = np.where(has_lower & has_upper, np.abs(u), 0.0)
    wrong = np.maximum(wrong, np.where(has_lower & ~has_upper, -u, 0.0))
    wrong = np.maximum(wrong, np.where(~has_lower & has_upper, u, 0.0))
    worst = int(np.argmax(wrong))
    if wrong[worst] > NEARLY_ZERO:  # below that, zero takes its place, and all that follows is for that u
        return f"u[{worst}] = {u[worst]:.3g} has a sign that the bounds of its row do not allow"
    u[wrong > 0.0] = 0.0
    return None


def _clear_cones(problem: ContactProblem, u: Vector) -> str | None:
    """Move the parts of convex contacts that leave their cones at rounding level just inside."""
    contacts = u[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
    length = np.abs(contacts[:, 1]) if problem.dimension == 2 else np.hypot(contacts[:, 1], contacts[:, 2])
    limit = (1.0 - 8.0 * EPSILON) * problem.friction * np.maximum(contacts[:, 0], 0.0)
    outside = np.maximum(length - limit, -contacts[:, 0])
    worst = int(np.argmax(outside)) if outside.size else 0
    if outside.size and outside[worst] > NEARLY_ZERO:
        return f"u of contact {worst} is not in its cone |u_t| <= friction u_n"
    factor = np.divide(limit, length, out=np.ones(problem.contacts), where=length > limit)
    contacts[:, 1:] *= np.where(length > limit, (1.0 - 8.0 * EPSILON) * factor, 1.0)[:, None]
    contacts[:, 0] = np.maximum(contacts[:, 0], 0.0)
    return None


def _find_unbounded(found: Greatest, share: float) -> tuple[float, str] | None:
    """A stray that is more than rounding: the product with x grows with x."""
    over = np.flatnonzero(~(found.stray <= 2.0 * share * found.size))
    if not over.size:
        return None
    k = over[0]
    i = found.row[k]
    reason = f"(A^T u)[{i}] = {found.stray[k]:.3g}, and x[{i}] has no bound that keeps its product with it small"
    return np.inf, reason


def _find_positive(problem: Problem, u: Vector, found: Greatest, share: float) -> tuple[float, str] | None:
    """A margin that is positive beyond doubt: the quick look ends here."""
    margin, total, exponent = _add_up(problem, u, found)
    doubt = share * total + _spread(found, exponent)
    if margin - doubt < 0.0 and np.isfinite(margin):
        return None
    told = _told(margin, exponent, u)
    return told, f"the margin is {told:.3g}, which is not negative"


def _weigh(
    problem: Problem, vector: Vector, u: Vector, pulled: Pulled, kind: str, share: float, *, loose: bool
) -> Certificate:
    found = greatest_products(problem, pulled, share, loose=loose)
    rows = tuple(int(i) for i in np.flatnonzero(vector))
    unbounded = _find_unbounded(found, share)
    if unbounded is not None:
        return Certificate(freeze(vector), unbounded[0], False, unbounded[1], kind, rows)
    margin, total, exponent = _add_up(problem, u, found)
    surely = margin + share * total + _spread(found, exponent)
    told = _told(margin, exponent, u)
    if not surely < 0.0:
        reason = f"the margin is {told:.3g}, which is not negative"
        if margin < 0.0:
            reason += " beyond rounding errors"
        return Certificate(freeze(vector), told, False, reason, kind, rows)
    reach = np.inf
    if found.stray.any():
        relative = np.divide(found.stray, found.size, out=np.zeros(found.size.size), where=found.stray > 0.0).max()
        reach = float(np.ldexp(-surely / found.stray.max(), exponent))
        if not -surely >= FAR * relative * total:
            reason = (
                f"u proves only that solutions have a sum of |x_i| of {reach:.3g} or more: "
                f"A^T u is not zero beyond rounding errors where it should be"
            )
            return Certificate(freeze(vector), told, False, reason, kind, rows, reach)
    kind, reason = _name(problem, vector, pulled, share, kind, rows, told)
    return Certificate(freeze(vector), told, True, reason, kind, rows, reach)


def _name(
    problem: Problem, u: Vector, pulled: Pulled, share: float, kind: str, rows: tuple[int, ...], margin: float
) -> tuple[str, str]:
    """Equations that contradict each other whatever the bounds, or the bounds count, too."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    is_equation = np.isinf(lower) & np.isinf(upper)
    if is_equation[list(rows)].all() and (np.abs(pulled.gain) <= share * pulled.size).all():
        contradict = "contradicts itself" if len(rows) == 1 else "contradict each other"
        verb = f"{list_rows(rows)} {contradict}"
        return "inconsistent", f"{verb}: u^T (A x + b) = {margin:.3g} < 0 for every x, and y = 0 is asked for"
    place = "within its cone or bounds" if kind == "friction" else "within its bounds"
    return kind, f"u^T (A x + b) < 0 for every x {place}"


def _add_up(problem: Problem, u: Vector, found: Greatest) -> tuple[float, float, int]:
    return sum_products(np.concatenate([problem.b, found.gain]), np.concatenate([u, found.place]))


def _spread(found: Greatest, exponent: int) -> float:
    """How far the margin may be off for the errors of the gains, in units of 2^exponent."""
    spread, _, own = sum_products(found.error, found.farthest)
    return float(np.ldexp(spread, own - exponent))


def _told(margin: float, exponent: int, u: Vector) -> float:
    """The margin for the u that is reported, with max |u_i| = 1."""
    if np.abs(u).max() < 0.5:  # it was made smaller so as not to overflow
        exponent += 100
    return float(np.ldexp(margin, exponent))


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
    """Where g^T x is greatest for x within its bounds, cone or disc: what a separating vector has to beat.

    With g = A^T u known up to errors, each row or contact adds a term, or has no bound that keeps it small. Where g_j
    is zero but for rounding errors it then is a `stray`: g_j x_j <= stray_j |x_j|, which is nothing unless |x_j| is
    enormous.

    For contacts, with x_n >= 0 and |x_t| <= mu x_n,

        g_n x_n + g_t . x_t  <=  (g_n + mu |g_t|) x_n,

    where |g_t| is the dual norm: the length of g_t for a disc (models cone and convex), |g_p| + |g_q| for a box. The
    greatest value is 0 if the bracket is not positive (g is in the polar cone), and there is none otherwise. Discs of
    fixed radius r (model disc) add r |g_t|.

    With `loose`, gains below `share` of their size are strays even if x is bounded.
    """
    lower, upper = problem.bounds(np.zeros(problem.n))
    rows = np.arange(problem.n)
    if problem.frictional is None:
        return _ordinary(pulled.gain, pulled.error, pulled.size, lower, upper, rows, share, loose)
    others = slice(problem.contact_rows, problem.n)
    rest = _ordinary(
        pulled.gain[others], pulled.error[others], pulled.size[others], lower[others], upper[others], rows[others],
        share, loose,
    )  # fmt: skip
    return _joined(_contacts(problem.frictional, pulled), rest)


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
