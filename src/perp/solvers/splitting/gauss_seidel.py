"""Projected Gauss-Seidel and its over-relaxed kin (NOTES 5.2-5.3; PGS-SM section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.options import About, option, require_choices
from perp.solvers.splitting.sweeps import (
    COLOURED_SYMMETRIC,
    ORDER,
    ORDER_SEED,
    RELAXATION,
    Sweeper,
    SweepMethod,
    SweepState,
    diagonal_objection,
    make_sweeper,
    require_order,
    require_relaxation,
    sweep_grid,
)

WAYS_THERE = ("forward", "coloured")
"""Orders that are swept both ways."""


@dataclass(frozen=True)
class _Relaxation(SweepMethod):
    """What PGS, PSOR and symmetric PSOR share:

        x_i <- clip(x_i - relaxation (A x + b)_i / A_ii, lower_i, upper_i),      i in order          (NOTES eq. 59)

    with the newest x throughout. Friction bounds stand at the newest normal impulse (PGS-SM eq. 17); the two tangents
    of a cone are moved together and projected on the disc of radius friction x_n.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box", "contact/box", "contact/cone"})
    requires: ClassVar[str] = "a positive diagonal; converges for symmetric positive semidefinite A and fixed bounds"

    def objection(self, problem: Problem) -> str | None:
        return diagonal_objection(problem)

    def start(self, problem: Problem, x: Vector) -> SweepState:
        relaxation, order, _ = self.settings
        iterate = sweep_grid(problem, relaxation, order, x)
        return super().start(problem, x) if iterate is None else SweepState(x, iterate)

    def make_sweeper(self, problem: Problem, x: Vector) -> Sweeper:
        return make_sweeper(problem, self.settings[0], x)


@dataclass(frozen=True)
class PGS(_Relaxation):
    """Projected Gauss-Seidel: each row is solved in turn for its own unknown, and clipped (NOTES eq. 56).

    `order` is forward, backward, symmetric (forward then backward, counted as one iteration), random (a new
    permutation each iteration, drawn from `seed`) or coloured (rows that do not touch each other together; on a grid
    red cells and then black ones, the fastest order by far).
    """

    name: ClassVar[str] = "pgs"
    synonyms: ClassVar[tuple[str, ...]] = (
        "projected Gauss-Seidel",
        "Gauss-Seidel",
        "sequential impulses",
        "sequential impulse",
        "Hildreth",
        "projected coordinate descent",
        "btSequentialImpulseConstraintSolver",
        "PgsBoxedLcpSolver",
        "SICONOS_LCP_PGS",
    )
    reference: ClassVar[str] = "NOTES 5.2-5.3, eq. 52 and 56; PGS-SM eq. 17"

    order: str = option("forward", ORDER)
    seed: int = option(0, ORDER_SEED)

    def __post_init__(self) -> None:
        require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return 1.0, self.order, self.seed


@dataclass(frozen=True)
class PSOR(_Relaxation):
    """Projected successive over-relaxation: Gauss-Seidel with each change multiplied by `relaxation` in (0, 2).

    NOTES section 7 finds 1.4 best on fluid-like problems; 1 is `pgs`.
    """

    name: ClassVar[str] = "psor"
    synonyms: ClassVar[tuple[str, ...]] = (
        "SOR",
        "projected SOR",
        "successive over-relaxation",
        "projected successive over-relaxation",
        "over-relaxed Gauss-Seidel",
        "dWorldQuickStep",
        "quickstep",
        "SICONOS_LCP_PSOR",
    )
    reference: ClassVar[str] = "NOTES 5.3, eq. 59 and the listing there"

    relaxation: float = option(1.4, RELAXATION)
    order: str = option("forward", ORDER)
    seed: int = option(0, ORDER_SEED)

    def __post_init__(self) -> None:
        require_relaxation(self.relaxation)
        require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), self.order, self.seed


@dataclass(frozen=True)
class SymmetricPSOR(_Relaxation):
    """An over-relaxed sweep and one back make one iteration, so that no end of the order is preferred.

    `order` is that of the first: forward or coloured.
    """

    name: ClassVar[str] = "symmetric_psor"
    synonyms: ClassVar[tuple[str, ...]] = (
        "SSOR",
        "PSSOR",
        "symmetric SOR",
        "symmetric successive over-relaxation",
        "symmetric Gauss-Seidel",
    )
    reference: ClassVar[str] = "NOTES 5.3, eq. 59, swept both ways (symmetric SOR: Cottle, Pang & Stone 1992, 5.3)"

    relaxation: float = option(1.2, RELAXATION)
    order: str = option("forward", About("that of the sweep forward, which the sweep back reverses", WAYS_THERE))

    def __post_init__(self) -> None:
        require_relaxation(self.relaxation)
        require_choices(self, order=WAYS_THERE)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), "symmetric" if self.order == "forward" else COLOURED_SYMMETRIC, 0
