"""A problem with a name and a story, so that tables and reports can speak of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from perp.gallery import Example, make
from perp.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Instance:
    """`name` is the short word in tables, `title` the heading, `story` what the reader should know before looking."""

    name: str
    title: str
    story: str
    example: Example
    command: str
    """The command line that writes this very problem to a file."""

    @property
    def problem(self) -> Problem:
        return self.example.problem


def from_gallery(name: str, title: str, story: str, *, kind: str, n: int, seed: int = 0, **options: Any) -> Instance:
    """An instance of a kind of the gallery."""
    words = ["perp", "generate", kind, "--n", str(n), "--seed", str(seed)]
    for key, value in options.items():
        words += ["--option", f"{key}={value}"]
    words += ["--out", f"{name}.npz"]
    return Instance(name, title, story, make(kind, n=n, seed=seed, **options), shlex.join(words))
