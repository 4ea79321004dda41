"""The answer of a solve, which can judge itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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

SHOWN = 6
"""Entries of x that are shown: as many as that, or the first and last half of them."""

LABEL = 17
"""Width of the column of labels."""


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
    reason: str = field(default="", kw_only=True)
    """What `message` tells beyond the sentence of the status; empty where there is nothing to add."""

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
        return summarise(self)


def make_message(sentence: str, reason: str, residual: float, iterations: int) -> str:
    """The message of a result: how the solve ended, why, and what it reached."""
    ending = f"{sentence}: {reason}" if reason else sentence
    return f"{ending} (residual {residual:.3e} after {iterations} iterations)"


def summarise(result: Result) -> str:
    """What `print` shows, in some ten lines: how it ended, by which methods, how good x is, and the notes."""
    return "\n".join(f"{label:>{LABEL}}: {text}" for label, text in _lines(result))


def _lines(result: Result) -> Iterator[tuple[str, str]]:
    yield "status", f"{result.status.name} ({result.status.code}), success {result.success}"
    yield "message", result.message
    yield "problem", f"{result.problem!r}, kind '{result.problem.kind}'"
    yield "method", result.method
    if len(result.methods) > 1 or any(attempt.why for attempt in result.methods):
        for number, attempt in enumerate(result.methods, start=1):
            yield f"attempt {number}", _tell_attempt(attempt)
    yield "residual", f"{result.residual:.3e}"
    yield "scaled residual", f"{result.scaled_residual:.3e}"
    yield "iterations", _tell_iterations(result)
    yield "seconds", f"{result.seconds:.3g}, and {result.setup_seconds:.3g} of preparation"
    yield "x", _abbreviate(result.x)
    yield "rows", _count_active(result)
    if result.certificate is not None:
        yield "certificate", result.certificate.reason
    for note in result.notes:
        yield "note", note


def _tell_attempt(attempt: Attempt) -> str:
    ending = "" if attempt.status is None else f"{attempt.status.name}, "
    text = f"{attempt.method}: {ending}residual {attempt.residual:.3e}, {attempt.seconds:.3g} s"
    return f"{text} ({attempt.why})" if attempt.why else text


def _tell_iterations(result: Result) -> str:
    text = str(result.iterations)
    return text if result.best_iteration == result.iterations else f"{text}, x is of iteration {result.best_iteration}"


def _count_active(result: Result) -> str:
    mask = result.active_mask
    lower, upper = (int(np.count_nonzero(mask == side)) for side in (-1, 1))
    return f"at lower bounds {lower}, at upper bounds {upper}, between {mask.size - lower - upper}"


def _abbreviate(x: Vector) -> str:
    half = SHOWN // 2
    shown = [f"{value + 0.0:.6g}" for value in (x if x.size <= SHOWN else (*x[:half], *x[-half:]))]  # -0.0 as 0
    if x.size > SHOWN:
        shown.insert(half, "...")
    return f"[{', '.join(shown)}]"
