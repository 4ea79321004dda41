"""Block Gauss-Seidel sweeps in the service of a Newton method: before its start, and where it stalls."""

from __future__ import annotations

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.splitting.block_sweeps import BlockSweeper, make_block_sweeper
from perp.solvers.splitting.orders import make_order


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
        self.possible: bool = bool((problem.diagonal[problem.normal_rows] > 0.0).all())
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
        """`count` sweeps from x, which stays as it is; x again where they run off to infinity."""
        self.load()
        if self._sweeper is None:
            return x.copy()
        np.copyto(self._sweeper.x, x)
        if self._sweeper.refresh is not None:
            self._sweeper.refresh()
        self._order.iterate(self._sweeper.sweep, count)
        self.done += count
        return self._sweeper.x.copy() if np.isfinite(self._sweeper.x).all() else x.copy()
