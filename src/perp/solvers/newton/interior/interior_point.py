"""Interior points (SLIDES: the Kojima map), with Mehrotra's predictor and corrector.

Where an interior-point method stands: distances to the bounds and multipliers, all positive, and their Newton step.

With s = x - lower, t = upper - x and y = A x + b = z - w the problem is s z = 0, t w = 0, all four non-negative. The
Kojima map (SLIDES) asks for s z = t w = gamma instead; its Newton equation, with dz and dw eliminated, is

    (A + D) dx = -(y - z + w) + (gamma - s z)/s - (gamma - t w)/t,       D = z/s + w/t.

Rows with one bound lack the other pair; rows without bounds have D = 0; rows with lower = upper rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.kernels.newton import interior_point as kernels
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import (
    LEAST_COMPLIANCE,
    SHIFTED_SPACES,
    CoupledBlocks,
    FreeSystem,
    choose_shifted_system,
    choose_system,
    factor_or_exchange,
    purify,
)
from perp.problems.certificates import verify_certificate
from perp.problems.inputs import Vector, freeze, require_count, require_number
from perp.problems.operators.base import APPLY, DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import (
    ELIMINATION_ORDERS,
    ORDERING,
    SHIFTED_SPACE,
    About,
    option,
    require_choices,
    space_objection,
)
from perp.solvers.results import Status
from perp.solvers.symmetry import symmetric_scales

WORK = ("diagonal", "dual", "dx", "dz", "dw", "cross_s", "cross_t", "right")

LEAST_SHARE = 0.1
"""A start leaves at least this share of a box to each side."""

CORRECTORS = ("mehrotra", "none")

REFINEMENTS = 3
"""Steps of iterative refinement of a Newton step at most, each of which must halve what is left."""

ACCURACY = 1e-9
"""A Newton step is refined until its equation holds to this share of the right side."""

LAST_SHARE = 1e-3
"""How near to one the share of the longest step comes at last."""

NOTHING = 1e-32
"""Products below this share of the first ones have nothing left to give: what remains are rounding errors."""

SHORT, MOST_SHORT = 1e-5, 6
"""So many steps in a row that are shorter than this lead nowhere."""

FAR, AWAY = 1e10, 1e2
"""x has run away when it is so many times as large as the start. What it runs along may prove infeasibility: from
`AWAY` times on, that is looked at after 16, 32, 64, ... iterations."""

REACH, LOW, HIGH = 0.1, 0.1, 10.0
"""A further corrector aims at a step this much longer, and at products within these shares of the target."""

DEAR = 300.0
"""Operations of a factorisation for each entry of the factor from which on a corrector saves more than it costs:
measured on piles of boxes, 15 % of the time at 550 (20,000 rows), nothing at 160 (5,000 rows)."""

WORTHWHILE = 1.01
"""And is kept where it makes the step longer by this factor."""


@dataclass(frozen=True, eq=False)
class CentralPath:
    lower: Vector
    upper: Vector
    moves: NDArray[np.bool_]
    scale: Vector
    """x / scale and y * scale are of one size for all rows."""
    x: Vector
    s: Vector
    t: Vector
    z: Vector
    w: Vector
    y: Vector
    pairs: int
    """How many products s z and t w there are."""
    diagonal: Vector
    """D."""
    dual: Vector
    """y - z + w: not zero at an infeasible start."""
    dx: Vector
    dz: Vector
    dw: Vector
    cross_s: Vector
    """Second-order terms of the products s z, and of t w below."""
    cross_t: Vector
    right: Vector

    @staticmethod
    def begin(problem: Problem, x: Vector, scale: Vector) -> CentralPath:
        """Positive distances and multipliers near x, as large as what is to be changed there.

        That size is the mean of the scaled natural map at x; so a good x gives a start near the bounds. Where numbers
        are extreme the start may not be finite (see `measure`).
        """
        n = problem.n
        lower, upper = problem.bounds(x)
        y = problem.slack(x)
        moves = lower < upper
        has_lower, has_upper = np.isfinite(lower) & moves, np.isfinite(upper) & moves
        wrong = np.abs(np.clip(y * scale, (x - upper) / scale, (x - lower) / scale))
        size = float(wrong[moves].mean()) if moves.any() else 0.0
        size = size if size > 0.0 else 1.0
        room = np.maximum(size, wrong) * scale
        width = np.where(has_lower & has_upper, upper - lower, np.inf)
        room = np.minimum(room, 0.5 * width)
        inside = np.where(has_lower, np.maximum(x, lower + room), x)
        inside = np.where(has_upper, np.minimum(inside, upper - np.minimum(room, LEAST_SHARE * width)), inside)
        inside = np.where(moves, inside, x)
        y = problem.A.slack(inside, problem.b, np.empty(n))
        base = size / scale
        return CentralPath(
            lower=freeze(lower.copy()),
            upper=freeze(upper.copy()),
            moves=freeze(moves.copy()),
            scale=freeze(scale.copy()),
            x=inside,
            s=np.where(has_lower, inside - lower, np.inf),
            t=np.where(has_upper, upper - inside, np.inf),
            z=np.where(has_lower, np.maximum(y, 0.0) + base, 0.0),
            w=np.where(has_upper, np.maximum(-y, 0.0) + base, 0.0),
            y=y,
            pairs=int(has_lower.sum() + has_upper.sum()),
            **{name: np.zeros(n) for name in WORK},
        )

    def assemble(self) -> float:
        """D and the dual residual here; returns mu, the mean of the products (SLIDES: x^T y / n)."""
        total = kernels.assemble(self.moves, self.s, self.t, self.z, self.w, self.y, self.diagonal, self.dual)
        return float(total) / max(self.pairs, 1)

    def set_right_side(self, target: float) -> None:
        kernels.right_side(*self._pairs(), self.dual, target, self.cross_s, self.cross_t, self.right)

    def recover(self, target: float) -> float:
        """dz and dw of dx; returns the longest step, at most 1."""
        crosses = (self.cross_s, self.cross_t)
        return min(1.0, float(kernels.recover(*self._pairs(), self.dx, target, *crosses, self.dz, self.dw)))

    def look_ahead(self, step: float) -> float:
        """mu after that step; keeps the second-order terms."""
        total = kernels.look_ahead(*self._pairs(), self.dx, self.dz, self.dw, step, self.cross_s, self.cross_t)
        return float(total) / max(self.pairs, 1)

    def advance(self, problem: Problem, step: float) -> None:
        moved = (self.dx, self.dz, self.dw, self.s, self.t, self.z, self.w, self.x)
        kernels.advance(self.moves, self.lower, self.upper, step, *moved)
        problem.A.slack(self.x, problem.b, self.y)

    def measure(self) -> float:
        """The largest entry of x, scaled; NaN where x or y are not finite."""
        return float(kernels.survey(self.x, self.y, self.scale))

    def _pairs(self) -> tuple[Any, ...]:
        return self.moves, self.s, self.t, self.z, self.w


@dataclass
class InteriorState(State):
    path: CentralPath
    system: FreeSystem
    floor: Vector
    """What is at least added to the diagonal of A where it is not factored in body space, which has its own."""
    correctors: int
    """Of Gondzio's kind, an iteration."""
    first_mu: float
    size: float
    """The largest entry of x at the start, scaled."""
    done: int = 0
    short: int = 0
    """Short steps in a row."""


@dataclass(frozen=True)
class InteriorPoint(Method[InteriorState]):
    """Newton steps on s z = gamma, t w = gamma with gamma falling to zero, always strictly inside the bounds.

    s and t are the distances of x to its bounds, z and w the parts of y = z - w above and below zero
    (`perp.solvers.newton.interior.interior_point` has the equations). One iteration is one factorisation of A + D, D
    diagonal and positive, with two solves:

    * `corrector="mehrotra"`: a predictor with gamma = 0 tells how much can be gained, mu_p / mu, and the step aims at
      gamma = (mu_p / mu)^3 mu with the predictor's second-order terms (Mehrotra 1992); `centrality` further solves
      with the same factor then lead products that lag behind back to the path (Gondzio 1996; None: one, where a
      factor is much dearer than a solve);
    * `corrector="none"`: the framework of SLIDES, gamma = `centring` mu, with mu = x^T y / n.

    The step is the share `boundary` (alpha in SLIDES) of the longest one that keeps all four vectors positive, and that
    share approaches one as mu falls. The start need not be feasible: y = z - w holds at the end only.

    `form` says how A + D is factored: dense or sparse ("normal equations"), "body" for A = J M^-1 J^T + C through
    K = M + J^T (C + D)^-1 J, "augmented" through [[M, -J^T], [J, C + D]] or [[A, -I], [D, I]], "blocks" where groups of
    rows are coupled by low rank, or "auto", the cheapest.
    For singular A a small shift is added and taken back by iterative refinement.
    """

    name: ClassVar[str] = "interior_point"
    synonyms: ClassVar[tuple[str, ...]] = (
        "IPM",
        "interior point method",
        "primal-dual interior point",
        "Mehrotra",
        "predictor-corrector",
    )
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, TO_SPARSE})
    requires: ClassVar[str] = "a monotone A: positive semidefinite, symmetric or not; others sometimes work"
    reference: ClassVar[str] = "SLIDES, interior point with the Kojima map; Mehrotra 1992; Gondzio 1996"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("mu", "step_length", "factorisations", "solves")

    corrector: str = option("mehrotra", About("predictor and corrector, or none, as in SLIDES", CORRECTORS))
    centrality: int | None = option(
        None,
        About("corrector mehrotra: further solves; None: one, where a factor is much dearer than a solve", at_least=0),
    )
    centring: float = option(
        0.1, About("corrector none: gamma as a share of mu", above=0.0, below=1.0, synonyms=("centering", "sigma"))
    )
    boundary: float = option(
        0.9,
        About(
            "share of the longest step inside; it approaches 1 as mu falls",
            above=0.0,
            below=1.0,
            synonyms=("fraction_to_boundary", "step_fraction"),
        ),
    )
    form: str = option("auto", SHIFTED_SPACE)
    ordering: str = option("amd", ORDERING)

    def __post_init__(self) -> None:
        if self.centrality is not None:
            require_count(self.centrality, "centrality")
        for name in ("centring", "boundary"):
            require_number(getattr(self, name), name, positive=True)
            if getattr(self, name) >= 1.0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must lie strictly between 0 and 1")
        require_choices(self, corrector=CORRECTORS, form=SHIFTED_SPACES, ordering=ELIMINATION_ORDERS)

    def objection(self, problem: Problem) -> str | None:
        return space_objection(problem, "form", self.form)

    def default_iterations(self, problem: Problem) -> int:
        return 200

    def start(self, problem: Problem, x: Vector) -> InteriorState:
        path = CentralPath.begin(problem, x, symmetric_scales(problem))
        system = choose_shifted_system(problem, self.form, self.ordering)
        size = path.measure()
        fault = (Status.BREAKDOWN, "no point inside the bounds has a finite slack") if isnan(size) else None
        return InteriorState(
            problem.project(path.x) if fault is None else x,
            path=path,
            system=system,
            floor=LEAST_COMPLIANCE / path.scale**2,  # that share of A_ii, up to a factor of 2
            correctors=_count_correctors(system) if self.centrality is None else int(self.centrality),
            first_mu=path.assemble(),
            size=size or 1.0,
            ended=fault,
            repeatable=False,
            counters=dict.fromkeys(self.counted, 0.0) | system.counters(),
        )

    def step(self, problem: Problem, state: InteriorState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            try:
                self._iterate(problem, state)
            except NotFinite as fault:
                state.ended = Status.BREAKDOWN, str(fault)
            done += 1
        state.unused = count - done
        state.counters.update(state.system.counters())

    def _iterate(self, problem: Problem, state: InteriorState) -> None:
        path = state.path
        mu = path.assemble()
        if not isfinite(mu):
            state.ended = Status.BREAKDOWN, "products of distances and multipliers are out of the range of numbers"
            return
        _factor(problem, state)
        longest = self._find_direction(problem, state, mu)
        share = 1.0 - max((1.0 - self.boundary) * min(1.0, mu / (state.first_mu or 1.0)), LAST_SHARE)
        step = 1.0 if path.pairs == 0 else min(1.0, share * longest)
        path.advance(problem, step)
        state.counters["mu"], state.counters["step_length"] = mu, step
        self._judge(problem, state, step)

    def _find_direction(self, problem: Problem, state: InteriorState, mu: float) -> float:
        """dx, dz, dw in the path; returns the longest step along them."""
        path = state.path
        path.cross_s[:], path.cross_t[:] = 0.0, 0.0
        if self.corrector == "none":
            return _solve(problem, state, self.centring * mu)
        longest = _solve(problem, state, 0.0, refine=path.pairs == 0)  # it only tells how far one could go
        if path.pairs == 0:
            return longest
        gain = path.look_ahead(longest) / mu if mu > 0.0 else 0.0
        target = max(gain, 0.0) ** 3 * mu
        longest = _solve(problem, state, target)
        for _ in range(state.correctors):
            if longest >= 0.95:
                break
            longer = self._centre(problem, state, target, longest)
            if longer is None:
                break
            longest = longer
        return longest

    @staticmethod
    def _centre(problem: Problem, state: InteriorState, target: float, longest: float) -> float | None:
        """One corrector of Gondzio's; None where it did not pay, and the direction is the one before."""
        path = state.path
        before = tuple(part.copy() for part in (path.dx, path.dz, path.dw, path.cross_s, path.cross_t))
        aim = min(1.0, longest + REACH)
        moved = (path.moves, path.s, path.t, path.z, path.w, path.dx, path.dz, path.dw)
        kernels.centre_products(*moved, aim, target, LOW, HIGH, path.cross_s, path.cross_t)
        longer = _solve(problem, state, target)
        if longer >= WORTHWHILE * longest:
            return longer
        for part, old in zip((path.dx, path.dz, path.dw, path.cross_s, path.cross_t), before, strict=True):
            np.copyto(part, old)
        return None

    @staticmethod
    def _judge(problem: Problem, state: InteriorState, step: float) -> None:
        """Show x to the loop, unless it is not finite any more, has run away, or moves no longer."""
        path = state.path
        size = path.measure() / state.size
        if isnan(size):
            state.ended = Status.BREAKDOWN, "a Newton step is not finite: A + D is singular"
            return
        state.x = problem.project(path.x)
        state.done += 1
        if size > FAR or (size > AWAY and state.done >= 16 and state.done & (state.done - 1) == 0):
            direction = find_escape(problem, state, size)
            if size > FAR or verify_certificate(problem, direction).valid:
                state.ended, state.certificate = (Status.RAY, "x grows without bound"), direction
        if 0.0 < state.counters["mu"] <= NOTHING * state.first_mu and state.ended is None:
            state.ended = Status.REDUCED_ACCURACY, "the products of distances and multipliers are zero up to rounding"
        state.short = state.short + 1 if step < SHORT else 0
        if state.short >= MOST_SHORT and state.ended is None:
            state.ended = Status.BREAKDOWN, "steps within the bounds have become too short"
            state.certificate = find_escape(problem, state, size)


def _count_correctors(system: FreeSystem) -> int:
    known = system.counters()
    return int(known.get("factor_flops", 0.0) > DEAR * known.get("factor_nonzeros", np.inf))


def find_escape(problem: Problem, state: InteriorState, growth: float) -> Vector:
    """The direction in which x has run, on rows that could run so far: for a PSD A it may prove infeasibility.

    x has grown by the factor `growth`; a row belongs to the direction if it grew by more than the root of that. Of that
    direction the part that is a null vector is taken, or all of it where that proves nothing.
    """
    path = state.path
    has_two = np.isfinite(path.lower) & np.isfinite(path.upper)
    away = np.where(has_two | ~path.moves, 0.0, path.x - np.clip(0.0, path.lower, path.upper)) / path.scale
    support = np.abs(away) >= np.abs(away).max(initial=0.0) / np.sqrt(max(growth, 1.0))
    direction = np.where(support, away * path.scale, 0.0)
    state.system.factor(support, state.floor)
    if state.system.negative or state.system.dependent:
        return direction
    pure = purify(state.system, support, direction, state.floor)
    is_proof = np.isfinite(pure).all() and verify_certificate(problem, pure).valid
    return pure if is_proof else direction


def _factor(problem: Problem, state: InteriorState) -> None:
    path = state.path
    shift = path.diagonal if state.system.name == "body" else np.maximum(path.diagonal, state.floor)
    try:
        state.system = factor_or_exchange(problem, state.system, path.moves, shift)
    except NotFinite:
        if not isinstance(state.system, CoupledBlocks):
            raise
        state.system = choose_system(problem)  # a block may be singular where A is not
        state.system.factor(path.moves, shift)


def _solve(problem: Problem, state: InteriorState, target: float, *, refine: bool = True) -> float:
    """dx, dz and dw for the target and the crosses that stand in the path; returns the longest step."""
    path = state.path
    path.set_right_side(target)
    dx = state.system.solve(path.right)
    rest, product, before = np.empty(dx.size), np.empty(dx.size), np.inf
    nothing = freeze(np.zeros(dx.size))
    for _ in range(REFINEMENTS if refine else 0):
        problem.A.slack(dx, nothing, product)  # dx may be out of range, which `_judge` tells
        left, size = kernels.remainder(path.moves, path.right, product, path.diagonal, dx, path.scale, rest)
        if left <= ACCURACY * size or not left <= 0.5 * before:
            break
        before = left
        dx = dx + state.system.solve(rest)
    state.counters["solves"] += 1
    np.copyto(path.dx, dx)
    return path.recover(target)
