"""Interior points (SLIDES: the Kojima map), with Mehrotra's predictor and corrector."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from typing import ClassVar

import numpy as np

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
from perp.solvers.newton.interior.central_path import CentralPath
from perp.solvers.options.checks import require_choices, space_objection
from perp.solvers.options.docs import About, option
from perp.solvers.options.shared import ELIMINATION_ORDERS, ORDERING, SHIFTED_SPACE
from perp.solvers.results.status import Status
from perp.solvers.scaling import symmetric_scales

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
    (`perp.solvers.newton.interior.central_path` has the equations). One iteration is one factorisation of A + D, D
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
    centring: float = option(0.1, About("corrector none: gamma as a share of mu", above=0.0, below=1.0))
    boundary: float = option(
        0.9, About("share of the longest step inside; it approaches 1 as mu falls", above=0.0, below=1.0)
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
