"""What `perp` raises.

Bad input raises before any work is done. A solver that fails does not raise: it returns a `Result` whose status says
why. Every class here is a `ValueError`, so that a caller who knows nothing of perp can still catch it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InvalidProblem(ValueError):
    """The data do not describe a complementarity problem; the message names the argument, the index and the value."""


class MethodRefused(ValueError):
    """A method was asked to solve a problem outside its class; the message says why and which methods would work."""


class MissingAbility(ValueError):
    """An operator was asked for something that it cannot do, as a bare matrix-vector product for its diagonal."""


class OperatorFault(ValueError):
    """A caller's own matrix-vector product returned the wrong shape; the loop turns this into a BREAKDOWN."""


class FileFormatError(ValueError):
    """A file is damaged, hostile, too large, or not of a format that perp reads."""


class StateNotFinite(ValueError):
    """A step of a world would have made its state infinite; the world is as it was before the step."""

    step: int
    time: float

    def __init__(self, step: int, time: float) -> None:
        super().__init__(f"the state is not finite after step {step} (the last good one is at t = {time:.6g} s)")
        self.step, self.time = step, time


class MissingExtra(ImportError):
    """An optional dependency is needed and not installed; the message gives the command that installs it."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install {package} (extra '{extra}')")


def one_line(error: BaseException) -> str:
    """What an error says, for a person who waits for one line: of a file, its name and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def suggest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'psor'?` for a misspelt word, followed by every known one."""
    names = sorted(known)
    close = difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(name) for name in close)}?" if close else ""
    return f"{hint} (known: {', '.join(names)})" if names else hint
