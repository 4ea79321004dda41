"""Lemke's complementary pivot method.

It pivots on a frame of the problem: scaled, mirrored where bounded from above only, without fixed rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import suggest
from perp.kernels.pivoting import lemke
from perp.kernels.pivoting import lemke_basis as layout
from perp.problems.inputs import Matrix, Vector, require_number
from perp.problems.operators.base import FILLING, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About, option
from perp.solvers.pivoting.scaled_problem import TABLES, warm_rows
from perp.solvers.results import Status
from perp.solvers.symmetry import symmetric_scales

if TYPE_CHECKING:
    from perp.kernels.pivoting.lemke_basis import Basis


LEAST_COVER = 2.0**-16
"""No row is covered less than this beside others: lifting it would drown the numbers of those in rounding errors."""

COVERINGS = ("ones", "diagonal")

LARGEST = 10_000
"""Rows up to which a dense copy of A, its factors and their inverse are thought to have room in memory."""

CONDITION = 1e10
"""A start whose basis has a worse condition number than this is given up for the cold one."""

REMOTE = 1e6
"""A bound farther away than this, where q and M have entries near 1, would cost its multiple in digits of q."""

CLAMPINGS = 5
"""How often rows of a warm start that leave their box may be put on its bounds and the others solved for again."""


@dataclass(frozen=True)
class Frame:
    """The way from the caller's problem to the one that is pivoted on, and back.

    Fixed rows are left out, a row bounded from above only is mirrored, and all are scaled with powers of two, so that
    x = sign unit D z for the rows kept. The scaled problem is

        w = gamma sign D (A x + b) / unit  =  M z + q,         max |M_ij| and max |q_i| in [1/2, 1).
    """

    kept: NDArray[np.intp]
    slope: Vector
    """sign unit D, for the rows kept."""
    matrix: Matrix
    """M by columns, and a last column for the covering vector."""
    reach: Vector
    """max |M_ij| of each row."""
    constant: Vector
    """q."""
    lower: Vector
    """The bounds of z: -inf only for rows without any."""
    upper: Vector
    cover: Vector
    """The covering vector in the scaled rows."""
    bounds: tuple[Vector, Vector]
    """Those of x, in all of the caller's rows."""

    @property
    def is_free(self) -> NDArray[np.bool_]:
        return np.isinf(self.lower)

    @property
    def is_boxed(self) -> NDArray[np.bool_]:
        return np.isfinite(self.upper)

    @property
    def is_finite(self) -> bool:
        """Whether scaling has left all numbers within the range of floats."""
        sizes = np.isfinite(self.reach).all() and np.isfinite(self.constant).all()
        lower, upper = (bound[self.kept] for bound in self.bounds)
        bounded = (np.isfinite(lower) | np.isfinite(upper)) == np.isfinite(self.lower)
        return bool(sizes and bounded.all() and ((np.isfinite(lower) & np.isfinite(upper)) == self.is_boxed).all())

    def recover(self, z: Vector) -> Vector:
        """x, within its bounds whatever rounding did to z."""
        lower, upper = self.bounds
        x = lower.copy()  # right for the fixed rows
        x[self.kept] = self.slope * z
        return np.clip(x, lower, upper)


def make_frame(problem: Problem, x: Vector, covering: str | tuple[float, ...]) -> Frame:
    lower, upper = problem.bounds(x)
    is_fixed = lower == upper
    kept = np.flatnonzero(~is_fixed)
    n = kept.size
    FILLING.require(TABLES * float(problem.n) ** 2)
    A = problem.A.to_dense()
    scales = _scales(problem, A)
    if covering == "diagonal":
        cover = np.ones(problem.n)
    elif isinstance(covering, tuple):
        cover = scales * np.array(covering)
    else:  # D d: the path is that of the unscaled rows
        cover = np.maximum(scales, LEAST_COVER * scales.max(initial=0.0))
    slack = problem.slack(np.where(is_fixed, lower, 0.0))
    if n < problem.n:
        A, scales, cover, slack = A[np.ix_(kept, kept)], scales[kept], cover[kept], slack[kept]

    is_mirrored = (np.isinf(lower) & np.isfinite(upper))[kept]
    factor = np.where(is_mirrored, -scales, scales)
    A *= factor
    A *= factor[:, None]
    reach = np.maximum(A.max(axis=1, initial=0.0), -A.min(axis=1, initial=0.0))
    gamma = _power_of_two(reach)
    matrix = np.zeros((n + 1, n))
    np.multiply(A.T, gamma, out=matrix[:n])
    constant = gamma * (factor * slack)
    unit = 1.0 / _power_of_two(constant)
    slope = factor * unit
    return Frame(
        kept=kept,
        slope=slope,
        matrix=matrix,
        reach=gamma * reach,
        constant=constant / unit,
        lower=np.where(is_mirrored, upper[kept], lower[kept]) / slope,
        upper=np.where(is_mirrored, -np.inf, upper[kept]) / slope,
        cover=cover * _power_of_two(cover),
        bounds=(lower, upper),
    )


def _scales(problem: Problem, A: Matrix) -> Vector:
    """D; rows without a diagonal entry go by the largest of their products with the others.

    D A D has entries near 1 there too, whatever the units of A: contact problems have such rows beside ordinary ones.
    """
    scales = symmetric_scales(problem)
    bare = np.flatnonzero(A.diagonal() == 0.0)
    if bare.size:
        others = np.delete(np.arange(problem.n), bare)
        for i in bare:
            products = np.maximum(np.abs(A[i, others]), np.abs(A[others, i])) * scales[others]
            scales[i] = _power_of_two(products)
    return scales


def _power_of_two(values: NDArray[np.float64]) -> float:
    """The power of two that brings the largest |value| into [1/2, 1); 1 where all are zero or one is not finite."""
    largest = float(np.abs(values).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 1.0
    return 2.0 ** min(max(-math.frexp(largest)[1], -1022), 1023)


@dataclass
class LemkeState(State):
    frame: Frame
    basis: Basis
    is_warm: bool = False
    restarts: int = 0
    """How often a warm start was given up, once it had begun, for the cold one."""


@dataclass(frozen=True)
class Lemke(Method[LemkeState]):
    """Lemke's method: relax all rows by the same artificial z0 d, then pivot along a path on which z0 changes.

        0 <= x  ⊥  y = A x + b + d z0 >= 0,        z0 >= 0

    z0 first rises until y >= 0 at x = 0. Then the complement of whatever left the basis enters it, until z0 itself
    leaves, which solves the problem, or nothing blocks the way: a ray. Ties are decided lexicographically, so that no
    basis comes twice. For P-matrices and for copositive-plus ones (all positive semidefinite ones) with a feasible
    problem the end is always a solution; the number of pivots is usually about n, and exponential in the worst case.

    Boxes are treated in place: an x that reaches its upper bound leaves the basis there and its slack enters with the
    other sign, which is what partner rows with zeros in d would do. Rows without bounds are basic from the start.

    `covering` is d: "ones", "diagonal" (sqrt|A_ii|, so that the path does not depend on the units of the rows) or one
    positive number a row (kept as a tuple).

    Where x0 is not zero and lies strictly between its bounds the run starts from the basis that has those x basic, the
    others at their nearest bound, with a d that covers what is infeasible there; a ray from there leads to a start
    without them. That basis is inverted before the first iteration and in one go: with thousands of such rows it takes
    seconds, in which neither a time limit nor an interrupt is heeded.
    """

    name: ClassVar[str] = "lemke"
    synonyms: ClassVar[tuple[str, ...]] = (
        "Lemke's algorithm",
        "Lemke algorithm",
        "complementary pivoting",
        "btLemkeSolver",
        "SICONOS_LCP_LEMKE",
    )
    family: ClassVar[str] = "pivoting"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({TO_SPARSE})
    requires: ClassVar[str] = "any A; sure to end well for P-matrices and positive semidefinite A (feasible problems)"
    reference: ClassVar[str] = "NOTES 5.1; Cottle, Pang & Stone 1992, algorithm 4.4.5 and section 4.9 (lexicographic)"
    check_every: ClassVar[int] = 100
    counted: ClassVar[tuple[str, ...]] = ("pivots", "refactorisations", "ties", "restarts")

    covering: str | tuple[float, ...] = option(
        "ones",
        About(
            "d, by which z0 relaxes the rows: ones, or sqrt|A_ii|; or one positive number a row",
            COVERINGS,
            synonyms=("d", "covering_vector"),
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.covering, str):
            if self.covering not in COVERINGS:
                raise ValueError(f"covering is {self.covering!r}{suggest(self.covering, COVERINGS)}")
            return
        given: Any = self.covering
        numbers = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(numbers, tuple | list):
            raise TypeError(f"covering is {given!r}; 'ones', 'diagonal' or a tuple of numbers is needed")
        for i, number in enumerate(numbers):
            require_number(number, f"covering[{i}]", positive=True)
        object.__setattr__(self, "covering", tuple(map(float, numbers)))

    def objection(self, problem: Problem) -> str | None:
        if problem.n > LARGEST:
            return f"it works on dense matrices of up to {LARGEST} rows, and A has {problem.n}"
        if isinstance(self.covering, tuple) and len(self.covering) != problem.n:
            return f"covering has {len(self.covering)} numbers, and the problem has {problem.n} rows"
        return None

    def default_iterations(self, problem: Problem) -> int:
        return max(10_000, 50 * problem.n)

    def start(self, problem: Problem, x: Vector) -> LemkeState:
        frame = make_frame(problem, x, self.covering)
        state = LemkeState(x, frame, _make_basis(frame), repeatable=False, ends_itself=True)
        if not frame.is_finite:
            state.ended = Status.BREAKDOWN, "once scaled, the problem has numbers that are too large to be written down"
        elif not _start_warm(state, x):
            _start_cold(state)
        _count(state)
        return state

    def step(self, problem: Problem, state: LemkeState, count: int) -> None:
        left = count
        while state.ended is None:
            left -= lemke.advance(left, state.basis)
            verdict = state.basis.whole[layout.VERDICT]
            if verdict == layout.GOING_ON:
                break
            if verdict == layout.SOLVED:
                state.ended = Status.REDUCED_ACCURACY, "z0 is zero, so the basis solves the problem up to rounding"
            elif state.is_warm:
                state.restarts += 1
                _start_cold(state)
            elif verdict == layout.RAY:
                state.ended = Status.RAY, _tell_ray(state)
                state.certificate = _find_certificate(state)
            else:
                size = int(state.basis.whole[layout.SIZE])
                state.ended = Status.BREAKDOWN, f"rounding has made the basis of {size} columns singular"
        state.unused = left
        if left < count or state.ended is not None:
            _expose(state)
        _count(state)


def _make_basis(frame: Frame) -> Basis:
    n = frame.kept.size
    stride = (n + 8) // 8 * 8  # room for n + 1 columns that begin at whole cache lines
    data = np.zeros((layout.DATA, n + 1))
    data[layout.CONSTANT, :n] = frame.constant
    data[layout.LOWER, :n] = frame.lower
    data[layout.UPPER] = np.inf
    data[layout.UPPER, :n] = frame.upper
    data[layout.REACH, :n] = frame.reach
    lists = np.full((layout.LISTS, stride), layout.ABSENT, dtype=np.uint32)
    lists[layout.ORDER] = np.arange(stride)
    return layout.Basis(
        matrix=frame.matrix.reshape(-1),
        inverse=np.empty(stride * stride),
        factors=np.empty(stride * stride),
        data=data,
        lists=lists,
        vectors=np.zeros((layout.VECTORS, 2 * n + 1)),
        at_upper=np.zeros(n, dtype=np.bool_),
        whole=np.zeros(layout.WHOLE, dtype=np.int64),
    )


def _start_cold(state: LemkeState) -> None:
    """Nothing is basic but the rows without bounds, which never leave."""
    frame = state.frame
    state.is_warm = False
    if not _begin(state, frame.is_free, np.zeros(frame.kept.size, dtype=np.bool_)):
        free = np.flatnonzero(frame.is_free)
        rank = np.linalg.matrix_rank(frame.matrix[np.ix_(free, free)])
        rows = f"the {free.size} rows without bounds have" if free.size > 1 else "the row without bounds has"
        state.ended = Status.BREAKDOWN, f"{rows} a matrix of rank {rank}, so that y = 0 does not determine x there"


def _start_warm(state: LemkeState, x: Vector) -> bool:
    """Those x basic that are `warm_rows`, the others at their nearest bound; False where that gives no basis.

    Two bounds that stand for infinity are no place to start from: an x between them is basic too, even if it is zero.
    Solving for them may put some outside their boxes. One that has a single bound is then lifted by z0 like any other
    infeasible row; one that has two is put on the bound that it went through, and the rest is solved for again.
    """
    frame, basis = state.frame, state.basis
    at, (lower, upper) = x[frame.kept], (bound[frame.kept] for bound in frame.bounds)
    is_warm = warm_rows(at, lower, upper)
    with np.errstate(over="ignore"):
        nearest = np.minimum(at - lower, upper - at)
        is_remote = (at == 0.0) & frame.is_boxed & (nearest > REMOTE * np.abs(frame.slope))
    is_warm |= is_remote
    is_basic = is_warm | frame.is_free
    at_upper = (upper - at < at - lower) & frame.is_boxed & ~is_basic
    if not (is_warm | at_upper).any():
        return False
    for _ in range(CLAMPINGS):
        if not _begin(state, is_basic, at_upper) or _condition(basis) > CONDITION:
            return False
        z = _unknowns(basis)[:-1]
        too_low, too_high = is_basic & frame.is_boxed & (z < frame.lower), is_basic & (z > frame.upper)
        if not (too_low | too_high).any():
            state.is_warm = True
            return True
        is_basic = is_basic & ~too_low & ~too_high
        at_upper = at_upper | too_high
    return False


def _begin(state: LemkeState, is_basic: NDArray[np.bool_], at_upper: NDArray[np.bool_]) -> bool:
    """Make these rows basic and these x lie at their upper bounds; False where that basis is singular."""
    frame, basis = state.frame, state.basis
    chosen = np.flatnonzero(is_basic)
    for listed, place in ((layout.COLUMNS, layout.PLACE_X), (layout.ROWS, layout.PLACE_Y)):
        basis.lists[listed, : chosen.size] = chosen
        basis.lists[place] = layout.ABSENT
        basis.lists[place, chosen] = np.arange(chosen.size)
    basis.at_upper[:] = at_upper
    basis.whole[layout.SIZE] = chosen.size
    # z0 lifts what may be infeasible: a y of the wrong sign, an x below its only bound
    lift = np.where(frame.is_boxed | frame.is_free, 0.0, 1.0)
    cover = np.where(at_upper, -frame.cover, frame.cover)
    return bool(lemke.begin(basis, lift, cover))


def _condition(basis: Basis) -> float:
    """The condition number of G in the 1-norm."""
    n, stride, size = basis.at_upper.size, basis.lists.shape[1], basis.whole[layout.SIZE]
    columns, rows = basis.lists[layout.COLUMNS, :size], basis.lists[layout.ROWS, :size]
    G = basis.matrix.reshape(n + 1, n)[np.ix_(columns, rows)]
    inverse = basis.inverse.reshape(stride, stride)[:size, :size]
    norms = [np.abs(part).sum(axis=1).max(initial=0.0) for part in (G, inverse)]
    return float(norms[0] * norms[1])


def _unknowns(basis: Basis) -> Vector:
    """z and z0: what is basic has its value, the rest is at one of its bounds."""
    size = basis.whole[layout.SIZE]
    z: Vector = basis.data[layout.LOWER].copy()
    z[:-1][basis.at_upper] = basis.data[layout.UPPER, :-1][basis.at_upper]
    z[basis.lists[layout.COLUMNS, :size]] = basis.vectors[layout.VALUE, :size]
    return z


def _expose(state: LemkeState) -> None:
    x = state.frame.recover(_unknowns(state.basis)[:-1])
    if np.isfinite(x).all():
        state.x = x


def _count(state: LemkeState) -> None:
    whole = state.basis.whole
    names = {"pivots": layout.PIVOTS, "refactorisations": layout.INVERSIONS, "ties": layout.TIES}
    state.counters = {name: float(whole[place]) for name, place in names.items()} | {"restarts": float(state.restarts)}


def _tell_ray(state: LemkeState) -> str:
    return (
        f"after {state.basis.whole[layout.PIVOTS]} pivots nothing blocks the entering variable; for a copositive-plus "
        f"A (any positive semidefinite one) that means infeasible, for a general A it proves nothing"
    )


def _find_certificate(state: LemkeState) -> Vector | None:
    """The direction of x along the ray: for copositive-plus A it is a proof of infeasibility.

    With u the ray's x, complementarity gives u^T A u = 0, hence A^T u = -A u <= 0, and b^T u = -z0 d^T u < 0 (Cottle,
    Pang & Stone 1992, theorem 4.4.11). An x with two bounds cannot move without end, so u_i = 0 there.
    """
    frame, basis = state.frame, state.basis
    size, entering = basis.whole[layout.SIZE], int(basis.whole[layout.ENTERING])
    n = frame.kept.size
    ray = np.zeros(n + 1)
    ray[basis.lists[layout.COLUMNS, :size]] = basis.vectors[layout.STEP_X, :size]
    if entering < n:
        ray[entering] = basis.whole[layout.SIGN]
    ray = np.where(frame.is_free, ray[:n], np.maximum(ray[:n], 0.0))
    ray[frame.is_boxed] = 0.0
    u = np.zeros(frame.bounds[0].size)
    u[frame.kept] = frame.slope * ray
    largest = np.abs(u).max(initial=0.0)
    return u / largest if 0.0 < largest < np.inf else None
