"""Vectors that prove that there is no solution: by least squares, and by a linear program.

What no x can take away from b: a proof where equations contradict each other, or where a region is closed.

r = b + A x with |r| as small as it gets is orthogonal to the range of A: A^T r = 0 and b^T r = |r|^2. So u = -r
separates where the signs of the rows allow it, as they always do for equations. LSMR (Fong & Saunders 2011) finds r
with products with A and A^T alone.

For a square A of moderate size, inverse iteration with an LU factor of A^T gives a u with A^T u = 0 at once. If there
is only one, it names the rows that depend on each other, or is the constant pressure of a closed vessel in any units.

The linear program of a separating vector (Farkas), sparse and scaled, by HiGHS.

`perp.problems.certificates.separation` says what u must satisfy. Written with g = A^T u and b' = b + A x', where x' has
each x at a finite bound (0 where there is none), the x beside it add

    (0, inf)   g_j <= 0                    (-inf, 0)   g_j >= 0            (-inf, inf)   g_j = 0
    (0, w)     w_j p_j   with p_j >= g_j, p_j >= 0                         contacts      g_n + friction |g_t| <= 0

to the margin b'^T u + w^T p. The program asks for a margin of -1 and makes sum |u_i| small, because then few rows are
in it; it has no solution if there is no separating vector. Discs and cones are replaced by polygons on the safe side:
what the program allows, the cone allows. It may miss a vector that leans on the roundness of a cone by less than 2 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, inf, pi
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import lsmr

from perp.problems.deadline import Pace, deadline, now, watched
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector
from perp.problems.problem import Problem

MOST_STEPS = 1500

REPEATS = 3
"""r is projected again: each time takes back the rounding errors of the one before."""

GONE = 1e-10
"""Below this share of b nothing is left of it."""

ORTHOGONAL = 1e-6
"""A^T r must be as small as this share of its terms for r to be worth a try."""


ELIMINATION = Pace(1e10)
"""Operations a second of LAPACK's LU."""

DIRECTIONS = 16
"""Corners of the polygons that stand for discs; cos(pi / 16) = 0.98."""

REMOTE = 1e12
"""Bounds this much larger than b / A are treated as infinite: safe, and better for the program's numbers."""

TOLERANCE = 1e-9

ASSEMBLY, OVERHEAD = Pace(3e6), Pace(1e6)
"""Entries of a program a second: to write them down, and for what HiGHS does with them when its time is over.

HiGHS looks at the clock between iterations, but not while it reads, presolves and clears up. Measured: 0.5 to 0.9
microseconds an entry beyond its limit.
"""

OVERTIME = 1
"""SciPy's status for a limit that was reached."""

LEAST_SECONDS = 1e-3
"""A shorter limit is none to HiGHS."""

ANY, NOT_NEGATIVE, NOT_POSITIVE, ZERO = range(4)


def leave_over(A: Any, b: Vector) -> Vector | None:
    """r, zero where b is in the range of A; None where the iteration comes to no end. A is sparse, of any shape."""
    scale = float(np.abs(b).max(initial=0.0))
    if scale == 0.0:
        return np.zeros(b.size)
    left = b / scale
    with np.errstate(all="ignore"):
        for _ in range(REPEATS):
            left = left - A @ lsmr(watched(A), left, atol=1e-14, btol=1e-14, maxiter=MOST_STEPS)[0]
            if not np.isfinite(left).all():
                return None
            if np.abs(left).max() <= GONE:
                return np.zeros(b.size)
        return left if _pull(A, left) <= ORTHOGONAL else None


def find_dependent_rows(A: Matrix) -> Vector | None:
    """A u with A^T u = 0 but for rounding, if A is singular; by two steps of inverse iteration (Wielandt 1944)."""
    largest = np.abs(A).max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return None
    with ELIMINATION.work(2.0 / 3.0 * A.shape[0] ** 3):
        factor, order, _ = dgetrf(A.T / largest)
    pivots = factor.diagonal()
    least = 2.0**-50 * np.abs(pivots).max()
    np.fill_diagonal(factor, np.where(np.abs(pivots) < least, least, pivots))
    u = np.cos(np.arange(A.shape[0]))  # nothing special, and the same every time
    for _ in range(2):
        u = dgetrs(factor, order, u)[0]
        if not np.isfinite(u).all() or not u.any():
            return None
        u = u / np.abs(u).max()
    return u if _pull(A, u) <= ORTHOGONAL else None


def _pull(A: Any, r: Vector) -> float:
    """|A^T r| as a share of the terms that it is added up from, at worst."""
    terms = abs(A).T @ np.abs(r)
    return float(np.divide(np.abs(A.T @ r), terms, out=np.zeros(terms.size), where=terms > 0.0).max(initial=0.0))


@dataclass(frozen=True)
class Ended:
    """u, or None; `excluded` where the program says that there is none, rather than that it ran out of time."""

    u: Vector | None
    excluded: bool
    message: str


def separate(problem: Problem, equations: NDArray[np.bool_] | None = None) -> Ended:
    """A vector that separates, up to the tolerances of the program; or one of these equations, whatever the bounds.

    Within the deadline that holds: `OutOfTime` is raised where the program would be begun in vain.
    """
    if not (_kinds(problem) != ZERO).any():
        return Ended(None, True, "every row may have any slack")
    program = _Program.of(problem, equations)
    if program is None:
        return Ended(None, False, "its numbers have no common scale")
    overhead = OVERHEAD.predict(program.entries)
    OVERHEAD.require(2.0 * program.entries)
    seconds = max(deadline().left - overhead, LEAST_SECONDS)
    options = {
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    if seconds < inf:
        options["time_limit"] = seconds
    begun = now()
    with np.errstate(all="ignore"):
        found = scipy.optimize.linprog(
            program.cost, program.A_ub, program.b_ub, program.A_eq, program.b_eq, program.bounds,
            method="highs", options=options,
        )  # fmt: skip
    if found.status == OVERTIME:
        OVERHEAD.learn(program.entries, now() - begun - seconds)
    if found.status != 0 or found.x is None:
        return Ended(None, found.status == 2, str(found.message).split(".")[0])
    return Ended(program.recover(found.x), False, "found")


@dataclass(frozen=True)
class _Program:
    cost: Vector
    A_ub: Any
    b_ub: Vector | None
    A_eq: Any
    b_eq: Vector
    bounds: NDArray[np.float64]
    rows: NDArray[np.intp]
    """The row of each of the first unknowns."""
    signs: Vector
    scales: Vector
    n: int

    @property
    def entries(self) -> int:
        return int(self.A_eq.nnz) + (0 if self.A_ub is None else int(self.A_ub.nnz))

    def recover(self, z: Vector) -> Vector:
        """u in the rows of the problem; where both signs of a row are in use, they are added."""
        u = np.zeros(self.n)
        np.add.at(u, self.rows, self.signs * z[: self.rows.size])
        used = u != 0.0
        if not used.any():
            return u
        _, exponent = np.frexp(self.scales[used])
        scales = np.ldexp(self.scales, -int(exponent.max()))  # powers of two: nothing is lost, nothing overflows
        return u * scales

    @classmethod
    def of(cls, problem: Problem, equations: NDArray[np.bool_] | None) -> _Program | None:
        lower, upper = problem.bounds(np.zeros(problem.n))
        A = sparse.csr_array(problem.A.to_sparse())
        scales = _row_scales(A, problem.b)
        A = sparse.diags_array(scales) @ A
        b = problem.b * scales
        if equations is not None:
            kind = np.where(equations, ANY, ZERO)
            lower, upper = np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
            model = None
        else:
            model = problem.frictional
            lower, upper = _drop_remote(A, b, lower, upper)
            kind = _kinds(problem)
        at = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
        if model is not None:
            at[: model.contact_rows] = 0.0
        b = b + A @ at
        if not (np.isfinite(b).all() and np.isfinite(A.data).all()):
            return None
        with ASSEMBLY.work(_count_entries(A, kind, model)):
            return _assemble(problem.n, A, b, lower, upper, kind, scales, model)


def _count_entries(A: Any, kind: NDArray[np.int64], contacts: ContactProblem | None) -> float:
    """About, before any is written down: each unknown pulls at the rows of A, and at a contact in all directions."""
    columns = (np.count_nonzero(kind != ZERO) + np.count_nonzero(kind == ANY)) / max(kind.size, 1)
    directions = 1.0 if contacts is None else 1.0 + len(_directions(contacts)) / contacts.dimension
    return float(A.nnz) * columns * directions


def _kinds(problem: Problem) -> NDArray[np.int64]:
    """What u_i may be."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    one_sided = np.where(has_lower, NOT_NEGATIVE, np.where(has_upper, NOT_POSITIVE, ANY))
    kind = np.where(has_lower & has_upper, ZERO, one_sided)
    contacts = problem.frictional
    if contacts is not None:
        kind[: contacts.contact_rows] = ANY if contacts.model == "convex" else ZERO
        kind[contacts.every(0)] = NOT_NEGATIVE
    return kind


def _assemble(
    n: int, A: Any, b: Vector, lower: Vector, upper: Vector, kind: NDArray[np.int64], scales: Vector,
    contacts: ContactProblem | None,
) -> _Program:  # fmt: skip
    up, down = (np.flatnonzero((kind == ANY) | (kind == way)) for way in (NOT_NEGATIVE, NOT_POSITIVE))
    rows, signs = np.concatenate([up, down]), np.concatenate([np.ones(up.size), -np.ones(down.size)])
    pull = (sparse.diags_array(signs) @ A[rows]).T.tocsr()  # g = pull z
    first = 0 if contacts is None else contacts.contact_rows
    others = np.arange(first, n)
    has_lower, has_upper = np.isfinite(lower[others]), np.isfinite(upper[others])
    zero, falling, rising = (
        others[which] for which in (~has_lower & ~has_upper, has_lower & ~has_upper, ~has_lower & has_upper)
    )
    boxed = others[has_lower & has_upper & (lower[others] < upper[others])]
    discs = contacts.contacts if contacts is not None and contacts.model == "disc" else 0
    extra = boxed.size + discs
    blank = sparse.csr_array((0, rows.size + extra))
    above = [_widen(pull[falling], extra), _widen(-pull[rising], extra)]
    if boxed.size:
        above.append(_with_unknowns(pull[boxed], np.arange(boxed.size), extra))
    if contacts is not None:
        above += _contact_rows(contacts, pull, rows, signs, scales, boxed.size, extra)
    A_ub = _scaled_rows(sparse.vstack([blank, *above]).tocsr())
    price = np.concatenate([upper[boxed] - lower[boxed], contacts.friction if discs and contacts is not None else []])
    margin = sparse.csr_array(np.concatenate([signs * b[rows], price])[None, :])
    equal = sparse.vstack([_scaled_rows(_widen(pull[zero], extra).tocsr()), margin]).tocsr()
    cost = np.concatenate([np.ones(rows.size), np.zeros(extra)])
    bounds = np.column_stack([np.zeros(cost.size), np.full(cost.size, np.inf)])
    right = np.append(np.zeros(zero.size), -1.0)
    has_rows = A_ub.shape[0] > 0
    return _Program(
        cost, A_ub if has_rows else None, np.zeros(A_ub.shape[0]) if has_rows else None, equal, right, bounds,
        rows, signs, scales, n,
    )  # fmt: skip


def _contact_rows(
    contacts: ContactProblem, pull: Any, rows: NDArray[np.intp], signs: Vector, scales: Vector, offset: int, extra: int
) -> list[Any]:
    """g_n + friction |g_t| <= 0 for each contact (fixed discs: p >= |g_t| and g_n <= 0), and u in K for convex ones."""
    normal = pull[contacts.normal_rows]
    tangents = [pull[contacts.normal_rows + k] for k in range(1, contacts.dimension)]
    friction = sparse.diags_array(contacts.friction)
    made = [_widen(normal, extra)] if contacts.model == "disc" else []
    for weights, factor in _directions(contacts):
        along = sum(weight * tangent for weight, tangent in zip(weights, tangents, strict=True)) * factor
        if contacts.model == "disc":
            made.append(_with_unknowns(along, offset + np.arange(contacts.contacts), extra))
        else:
            made.append(_widen(normal + friction @ along, extra))
    if contacts.model == "convex":
        place = sparse.csr_array((signs * scales[rows], (rows, np.arange(rows.size))), shape=(contacts.n, rows.size))
        u_normal = place[contacts.normal_rows]
        u_tangents = [place[contacts.normal_rows + k] for k in range(1, contacts.dimension)]
        for weights, factor in _directions(contacts):
            along = sum(weight * tangent for weight, tangent in zip(weights, u_tangents, strict=True)) * factor
            made.append(_widen(along - friction @ u_normal, extra))
    return made


def _directions(contacts: ContactProblem) -> list[tuple[tuple[float, ...], float]]:
    """Directions t_k and a factor f with max f t_k . g >= |g|, the dual length that the model has."""
    if contacts.dimension == 2:
        return [((1.0,), 1.0), ((-1.0,), 1.0)]
    if contacts.model == "box":
        return [((one, other), 1.0) for one in (1.0, -1.0) for other in (1.0, -1.0)]
    angles = 2.0 * pi * np.arange(DIRECTIONS) / DIRECTIONS
    return [((float(np.cos(angle)), float(np.sin(angle))), 1.0 / cos(pi / DIRECTIONS)) for angle in angles]


def _row_scales(A: Any, b: Vector) -> Vector:
    """Powers of two that bring the largest number of each row of A and b near 1."""
    sizes = np.abs(b).copy()
    np.maximum.at(sizes, np.repeat(np.arange(b.size), np.diff(A.indptr)), np.abs(A.data))
    _, exponent = np.frexp(np.where(sizes > 0.0, sizes, 1.0))
    return np.asarray(np.ldexp(1.0, np.clip(-exponent, -1020, 1020)))


def _drop_remote(A: Any, b: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    largest = float(np.abs(A.data).max(initial=0.0))
    with np.errstate(over="ignore"):
        far = REMOTE * max(np.abs(b).max(initial=0.0) / largest, 1.0) if largest > 0.0 else np.inf
    return np.where(lower < -far, -np.inf, lower), np.where(upper > far, np.inf, upper)


def _scaled_rows(matrix: Any) -> Any:
    if not matrix.nnz:
        return matrix
    return sparse.diags_array(_row_scales(matrix, np.zeros(matrix.shape[0]))) @ matrix


def _widen(matrix: Any, extra: int) -> Any:
    return sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], extra))]) if extra else matrix


def _with_unknowns(matrix: Any, places: NDArray[np.intp], extra: int) -> Any:
    """matrix z - p <= 0, with the p of these places among the further unknowns."""
    count = matrix.shape[0]
    return sparse.hstack(
        [matrix, sparse.csr_array((-np.ones(count), (np.arange(count), places)), shape=(count, extra))]
    )
