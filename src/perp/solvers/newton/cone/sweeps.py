"""Block Gauss-Seidel sweeps in the service of a Newton method: before its start, and where it stalls."""

from __future__ import annotations

import numpy as np

from perp.problems.deadline import deadline, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.splitting.block_sweeps import BlockSweeper, make_block_sweeper
from perp.solvers.splitting.orders import make_order

FEW = 4
"""Sweeps in a row under a time limit, at first; then as many as fit into `SECONDS_A_LOOK`."""

SECONDS_A_LOOK = 0.01
"""Between two looks at the clock."""


class ConeSweeps:
    """Sweeps from any point; made when they are first needed."""

    def __init__(self, problem: ContactProblem, more: int) -> None:
        assert problem.diagonal is not None
        self._problem = problem
        self._order = make_order(problem, "forward")
        self._sweeper: BlockSweeper | None = None
        self.done: int = 0
        self.more = more
        """How many are done where Newton's method stalls."""
        self.possible: bool = bool((problem.diagonal[problem.normal_rows] > 0.0).all()) and not problem.is_wide
        """A contact whose normal row has no diagonal entry cannot be solved for its own impulse."""

    @property
    def can_help(self) -> bool:
        return self.possible and self.more > 0

    def load(self) -> None:
        """Make what is needed, and compile."""
        if self._sweeper is None and self.possible:
            self._sweeper = make_block_sweeper(self._problem, 1.0, np.zeros(self._problem.n))
            self._order.iterate(self._sweeper.sweep, 0)

    def run(self, x: Vector, count: int) -> Vector:
        """`count` sweeps from x, which stays as it is; x again where they run off to infinity.

        Fewer where the time is over: what was swept is an answer, too.
        """
        self.load()
        if self._sweeper is None:
            return x.copy()
        np.copyto(self._sweeper.x, x)
        if self._sweeper.refresh is not None:
            self._sweeper.refresh()
        self._sweep(self._sweeper, count)
        return self._sweeper.x.copy() if np.isfinite(self._sweeper.x).all() else x.copy()

    def _sweep(self, sweeper: BlockSweeper, count: int) -> None:
        held = deadline()
        width, pace = (FEW if held.is_limited else count), 0.0
        while count > 0 and held.allows(pace):
            width = min(width, count)
            begun = now()
            self._order.iterate(sweeper.sweep, width)
            pace = (now() - begun) / width
            count -= width
            self.done += width
            width = max(1, int(min(SECONDS_A_LOOK, held.left) / pace)) if pace > 0.0 else 2 * width
