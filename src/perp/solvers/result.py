"""The answer of a solve, which can judge itself."""

from __future__ import annotations

from dataclasses import dataclass

from perp.problems.certificates import Certificate
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import Residuals, verify
from perp.solvers.history import History
from perp.solvers.status import Status


@dataclass(frozen=True)
class Attempt:
    """One method, or one step of "auto", that was tried, and how it ended."""

    method: str
    status: Status
    iterations: int
    seconds: float
    """Wall clock for steps of "auto"; for a method that was named its own time, without preparation and checks."""
    residual: float
    """Of the best point that it knew; `nan` where there was none to look at."""
    why: str = ""
    """Why it was tried, and what came of it where the status does not say so."""


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """x and its slack y, how the solve ended, and the problem itself.

    `residual` was recomputed from the problem and x by `perp.problems.residuals`, never taken from the method.
    """

    problem: Problem
    method: str
    x: Vector
    y: Vector
    status: Status
    message: str
    iterations: int
    residual: float
    seconds: float
    """The method's own time: neither preparation nor checks."""
    setup_seconds: float
    """Preparation: scaled copies, diagonals, and in the first call of a process the loading of compiled kernels."""
    history: History
    best_iteration: int
    """The iteration that x comes from: the last one, or for a failed solve the best that was checked."""
    methods: tuple[Attempt, ...]
    """Every method, or step of "auto", that was tried, in order."""
    certificate: Certificate | None
    """For INFEASIBLE the proof, checked against the problem's own numbers; None otherwise."""
    ray: Vector | None
    """The direction that a pivoting method ended on, where it ended on one. By itself it proves nothing."""
    notes: tuple[str, ...]
    """What happened to the input on the way, for example a starting point that had to be projected."""

    @property
    def success(self) -> bool:
        return self.status.success

    def verify(self) -> Residuals:
        """Every residual of x, recomputed from the problem."""
        return verify(self.problem, self.x)

    def __repr__(self) -> str:
        return (
            f"<Result of {self.method}: {self.status.name}, residual {self.residual:.3e}, "
            f"{self.iterations} iterations, {self.seconds:.3g} s>"
        )
