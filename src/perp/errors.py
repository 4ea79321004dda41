"""What `perp` raises.

Bad input raises before any work is done. A solver that fails does not raise: it returns a `Result` whose status says
why. Every class here is a `ValueError`, so that a caller who knows nothing of perp can still catch it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from unicodedata import normalize


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


def suggest(word: str, known: Iterable[str], synonyms: Mapping[str, Iterable[str]] | None = None) -> str:
    """What to add to the refusal of a word: the known word for it, or `; did you mean 'psor'?` and every known word.

    `synonyms` has, for known words, what others call the same: `; 'nsgs' is known here as 'block_gauss_seidel'`.
    """
    names = sorted(known)
    close = find_meant(word, {name: (name,) for name in names})  # written otherwise
    meant = find_meant(word, {name: others for name, others in (synonyms or {}).items() if name in names})
    if meant:
        return f"; {word!r} is known here as {either([*close, *(name for name in meant if name not in close)])}"
    close = close or difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(name) for name in close)}?" if close else ""
    return f"{hint} (known: {', '.join(names)})" if names else hint


def find_meant(word: str, synonyms: Mapping[str, Iterable[str]]) -> list[str]:
    """The names that have this word as a synonym; capitals, spaces, hyphens and underscores do not count."""
    return [name for name, others in synonyms.items() if fold(word) in map(fold, others)]


def fold(word: str) -> str:
    """The letters and digits of a word: `Gauss-Seidel`, `gauss_seidel` and `GaussSeidel` are the same."""
    return "".join(filter(str.isalnum, normalize("NFKD", word.casefold())))


def either(names: Iterable[str]) -> str:
    """`'pgs', 'psor' or 'nncg'`."""
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last
