"""Interior points until the index sets show, then block pivots to the last digit: a hybrid with a name of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from perp.kernels.newton import interior_point as kernels
from perp.linalg.free_systems import CoupledBlocks
from perp.problems.inputs import Vector, require_count, require_number
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.newton.interior.interior_point import InteriorPoint, InteriorState
from perp.solvers.options import ORDERING, SHIFTED_SPACE, About, option
from perp.solvers.pivoting.block_principal import BlockPrincipal
from perp.solvers.pivoting.pivot_state import PivotState
from perp.solvers.results import Status

CLEAR = 0.01
"""A row speaks clearly where, of distance to a bound and multiplier, one is below this share of the other (scaled)."""

MOST_VIOLATIONS = 0.02
"""Index sets with more violations than this share of the rows are not worth a second block pivot."""

LESS = 0.1
"""After a fruitless trial the next one waits for this share of the doubtful rows."""


@dataclass
class HybridState(State):
    inner: InteriorState
    allowed: float
    """Index sets are tried when at most so many rows are doubtful."""
    trial: PivotState | None = None
    last: float = np.inf
    """Violations that the trial had last."""


@dataclass(frozen=True)
class InteriorPivoting(Method[HybridState]):
    """`interior_point` finds the index sets, `block_principal` solves on them, to rounding error where it succeeds.

    Block pivots that begin cold go round in circles on ill-conditioned problems, and an interior point needs as many
    steps again for its last digits as for the index sets. So after each interior step the rows are asked where they
    want to be: at a bound where the multiplier outweighs the distance to it, free otherwise. Once at most the share
    `doubtful` of them does not answer clearly, block pivots are tried from there, at most `pivots` of them and only
    while violations become fewer. They end the solve, or the interior point goes on. One iteration is one interior
    step or one block pivot, that is one factorisation; the columns `interior_steps`, `block_pivots` and `trials` of
    the history tell them apart.

    `form`, `ordering` and `centrality` are those of `interior_point`.
    """

    name: ClassVar[str] = "interior_pivoting"
    family: ClassVar[str] = "newton"
    accepts: ClassVar[frozenset[str]] = InteriorPoint.accepts
    needs: ClassVar[frozenset[str]] = InteriorPoint.needs
    requires: ClassVar[str] = InteriorPoint.requires
    reference: ClassVar[str] = "SLIDES, interior point, finished by THESIS 2.5.3"
    scales_itself: ClassVar[bool] = True
    counted: ClassVar[tuple[str, ...]] = ("interior_steps", "block_pivots", "trials", "violations", "factorisations")

    doubtful: float = option(
        0.04, About("share of the rows that may not say clearly where they want to be", at_least=0.0, at_most=1.0)
    )
    pivots: int = option(4, About("most block pivots of a trial", at_least=1))
    centrality: int | None = option(
        None,
        About("further solves of an interior step; None: one, where a factor is much dearer than a solve", at_least=0),
    )
    form: str = option("auto", SHIFTED_SPACE)
    ordering: str = option("amd", ORDERING)

    def __post_init__(self) -> None:
        require_number(self.doubtful, "doubtful")
        if self.doubtful > 1.0:
            raise ValueError(f"doubtful is {self.doubtful}; it is a share of the rows, at most 1")
        require_count(self.pivots, "pivots", least=1)
        assert self._interior is not None  # its options are checked as it is made

    @cached_property
    def _interior(self) -> InteriorPoint:
        return InteriorPoint(centrality=self.centrality, form=self.form, ordering=self.ordering)

    @cached_property
    def _pivoting(self) -> BlockPrincipal:
        space = "auto" if self.form == "blocks" else self.form  # blocks need a shift on every row
        return BlockPrincipal(block_pivots=self.pivots, space=space, ordering=self.ordering)

    def objection(self, problem: Problem) -> str | None:
        return self._interior.objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return self._interior.default_iterations(problem)

    def start(self, problem: Problem, x: Vector) -> HybridState:
        inner = self._interior.start(problem, x)
        allowed = max(self.doubtful * problem.n, 1.0)
        counters = dict.fromkeys(self.counted, 0.0) | inner.system.counters()
        return HybridState(
            inner.x, inner, allowed, ended=inner.ended, repeatable=False, ends_itself=True, counters=counters
        )

    def step(self, problem: Problem, state: HybridState, count: int) -> None:
        done = 0
        while done < count and state.ended is None:
            if state.trial is None:
                self._step_inside(problem, state)
            else:
                self._pivot(problem, state, state.trial)
            done += 1
        state.unused = count - done
        state.counters.update(state.inner.system.counters())

    def _step_inside(self, problem: Problem, state: HybridState) -> None:
        inner, path = state.inner, state.inner.path
        self._interior.step(problem, inner, 1)
        state.counters["interior_steps"] += 1
        state.x, state.ended, state.certificate = inner.x, inner.ended, inner.certificate
        if state.ended is not None:
            return
        sets = np.full(problem.n, -1, dtype=np.int8)  # fixed rows rest at their only point
        unclear = int(kernels.guess_sets(path.moves, path.s, path.t, path.z, path.w, path.scale, CLEAR, sets))
        if unclear <= state.allowed:
            guess = np.where(sets < 0, path.lower, np.where(sets > 0, path.upper, path.x))
            state.trial = self._pivoting.start(problem, problem.project(guess))
            state.trial.sets = sets
            if not isinstance(inner.system, CoupledBlocks):
                state.trial.system = inner.system
            state.last, state.allowed = MOST_VIOLATIONS * problem.n, LESS * unclear
            state.counters["trials"] += 1

    def _pivot(self, problem: Problem, state: HybridState, trial: PivotState) -> None:
        """One block pivot; a trial whose violations do not become fewer is over."""
        self._pivoting.step(problem, trial, 1)
        state.counters["block_pivots"] += 1
        if not isinstance(state.inner.system, CoupledBlocks):
            state.inner.system = trial.system
        violations = state.counters["violations"] = trial.counters["violations"]
        if trial.ended is not None and (trial.ended[0] is Status.REDUCED_ACCURACY or trial.certificate is not None):
            state.x, state.ended, state.certificate = trial.x, trial.ended, trial.certificate
        elif trial.ended is not None or violations >= state.last:
            state.trial = None
        state.last = violations
