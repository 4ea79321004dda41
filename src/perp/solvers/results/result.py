"""The answer of a solve, which can judge itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from perp.problems.certificates import Certificate
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.problems.residual_scale import scaled_residual
from perp.problems.residuals import Residuals, active_mask, verify
from perp.solvers.named_access import NamedAccess
from perp.solvers.results.history import History
from perp.solvers.results.status import Status


@dataclass(frozen=True)
class Attempt:
    """One method, or one step of "auto", that was tried, and how it ended."""

    method: str
    status: Status | None
    """How it ended; None for a step that solves nothing, such as presolve."""
    iterations: int
    seconds: float
    """Wall clock for steps of "auto"; for a method that was named its own time, without preparation and checks."""
    residual: float
    """Of the point that it ended with; `nan` where there was none to look at."""
    why: str = ""
    """Why it was tried, and what came of it where the status does not say so."""


@dataclass(frozen=True, repr=False, eq=False)
class Result(NamedAccess):
    """x and its slack y, how the solve ended, and the problem itself.

    `residual` was recomputed from the problem and x by `perp.problems.residuals`, never taken from the method.

    Who comes from SciPy finds `x`, `success`, `status`, `message`, `nit`, `fun` and `active_mask`; values can be read
    by name, `result["x"]`, and `print(result)` tells what matters. What costs something (`fun`, `active_mask`,
    `scaled_residual`, the columns of `history`) is computed when it is first asked for.
    """

    other_names: ClassVar[tuple[str, ...]] = ("success", "nit", "fun", "active_mask", "scaled_residual")

    problem: Problem
    method: str
    x: Vector
    y: Vector
    status: Status
    """An enum; `int(result.status)` is its number, 0 for success, which never changes its meaning."""
    message: str
    iterations: int
    residual: float
    seconds: float
    """The method's own time: neither preparation nor checks. With "auto", that of all its steps."""
    setup_seconds: float
    """Preparation: scaled copies, diagonals, and in the first call of a process the loading of compiled kernels."""
    history: History
    best_iteration: int
    """The iteration that x comes from: the last one, or for a failed solve the best that was checked."""
    methods: tuple[Attempt, ...]
    """Every method, or step of "auto", that was tried, in order."""
    certificate: Certificate | None
    """The proof that there is no solution, checked against the problem's own numbers; None without one."""
    ray: Vector | None
    """The direction that a pivoting method ended on, where it ended on one. By itself it proves nothing."""
    notes: tuple[str, ...]
    """What happened to the input on the way, for example a starting point that had to be projected."""

    @property
    def success(self) -> bool:
        return self.status.success

    @property
    def nit(self) -> int:
        """`iterations`, by the name that SciPy has for it."""
        return self.iterations

    @cached_property
    def fun(self) -> float | None:
        """1/2 x^T A x + b^T x (NOTES eq. 21) for symmetric A; others have no objective, and this is None."""
        return self.verify().objective

    @cached_property
    def active_mask(self) -> NDArray[np.int8]:
        """-1 for rows at their lower bound, 1 at their upper one, 0 between; see `perp.problems.residuals`."""
        return freeze(active_mask(self.problem, self.x, self.y))

    @cached_property
    def scaled_residual(self) -> float:
        """The residual as a share of the size of the data; see `perp.problems.residual_scale`."""
        return scaled_residual(self.problem, self.x, self.y, self.residual)

    def verify(self) -> Residuals:
        """Every residual of x, recomputed from the problem."""
        return verify(self.problem, self.x)

    def __repr__(self) -> str:
        return (
            f"<Result of {self.method}: {self.status.name}, residual {self.residual:.3e}, "
            f"{self.iterations} iterations, {self.seconds:.3g} s>"
        )

    def __str__(self) -> str:
        from perp.solvers.results.summary import summarise

        return summarise(self)
