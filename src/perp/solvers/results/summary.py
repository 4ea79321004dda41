"""What `print(result)` shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from perp.problems.inputs import Vector
from perp.solvers.results.result import Attempt, Result

SHOWN = 6
"""Entries of x that are shown: as many as that, or the first and last half of them."""

LABEL = 17
"""Width of the column of labels."""


def summarise(result: Result) -> str:
    """Some ten lines: how it ended, by which methods, how good x is, and what happened on the way."""
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
    told = f"{attempt.method}: {ending}residual {attempt.residual:.3e}, {attempt.seconds:.3g} s"
    return f"{told} ({attempt.why})" if attempt.why else told


def _tell_iterations(result: Result) -> str:
    told = str(result.iterations)
    return told if result.best_iteration == result.iterations else f"{told}, x is of iteration {result.best_iteration}"


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
