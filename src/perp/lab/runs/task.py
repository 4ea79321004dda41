"""A task: one thing to measure, as plain data that any process can carry out and that names its own row."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perp.lab import work as works
from perp.solvers.stopping import Stopping
from perp.version import __version__

if TYPE_CHECKING:
    from perp.lab.runs.row import Measurement

WALL_SECONDS = 120.0
MEMORY_MEGABYTES = 4096


@dataclass(frozen=True)
class Task:
    """One row to be. Mappings hold plain data: words, numbers, truth values, None, and lists and mappings of those.

    The first block says what is measured and makes the `key`; the second how it is carried out and shown.
    """

    work: str
    """What to do: the name of a work (`perp.lab.work`), or the dotted name of another module with `perform`."""
    instance: Mapping[str, Any]
    """What to do it on: a recipe (`perp.lab.work.recipes`) that makes the same problem or scene everywhere."""
    method: str = ""
    """The name of a method of the roster; empty where the work needs none."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the method."""
    stop: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Stopping` that differ from its defaults: the stop preset."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else the work asks for."""

    label: str = ""
    """The line or column in which a table or figure shows the row; the method's name where it is empty."""
    group: str = ""
    """Rows that are compared with one another have the same: the unit that the guard of comparisons judges."""
    wall_seconds: float = WALL_SECONDS
    """The process is ended after so many seconds of wall clock, and the row is a TIME_OUT."""
    memory_megabytes: int = MEMORY_MEGABYTES
    """Address space that the process may take beyond what the interpreter holds at its start."""
    timed: bool = False
    """Its time is part of a claim: it runs while no other task does."""

    @property
    def seed(self) -> int:
        return int(self.instance.get("seed", 0))

    @property
    def name(self) -> str:
        return self.label or self.method or self.work

    @property
    def content(self) -> dict[str, Any]:
        """What the row depends on, this version of perp included."""
        return {
            "work": self.work,
            "instance": self.instance,
            "method": self.method,
            "options": self.options,
            "stop": self.stop,
            "arguments": self.arguments,
            "version": __version__,
        }

    @property
    def key(self) -> str:
        """The hash of the content: the name of the row."""
        return hashlib.sha256(canonical(self.content).encode()).hexdigest()[:32]

    @property
    def stopping(self) -> Stopping:
        return Stopping(**self.stop)

    def measure(self, folder: Path | None) -> Measurement:
        """What the work finds; `folder` keeps problems that are long in the making."""
        return find_work(self.work)(self, folder)

    def to_json(self) -> str:
        """All of it in one line, for another process."""
        return canonical({one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def from_json(cls, text: str) -> Task:
        return cls(**json.loads(text))


def find_work(name: str) -> Callable[[Task, Path | None], Measurement]:
    """The function that carries out tasks of this work."""
    file = works.SHARED_FILES.get(name)
    module = importlib.import_module(name if "." in name else f"perp.lab.work.{file or name}")
    perform: Callable[[Task, Path | None], Measurement] = getattr(module, f"perform_{name}" if file else "perform")
    return perform


def canonical(value: object) -> str:
    """One text for one value, whatever the order of its keys; ValueError for what JSON cannot say, TypeError likewise.

    Numbers that are equal may be written as 1 and 1.0, which are two texts: recipes say which they mean.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_as_plain)


def _as_plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a task holds plain data only, and {value!r} is a {type(value).__name__}")
