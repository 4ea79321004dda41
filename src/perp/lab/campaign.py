"""Named problems x methods -> rows. A failure is a row, never the end of the campaign."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from perp.gallery import Example, make
from perp.lab.rows import Row, row_from_failure, row_from_result
from perp.problems.problem import Problem
from perp.solvers.api import solve
from perp.solvers.method import Method
from perp.solvers.roster import suitable_methods
from perp.solvers.stopping import Stopping

WARM_ITERATIONS = 3
"""Iterations of the run before the timed one: they load the compiled kernels and fill what the problem keeps."""

FAILURES = (ValueError, TypeError, ArithmeticError, LookupError, AssertionError, RuntimeError, MemoryError)
"""What a method in trouble raises. Anything else, Ctrl-C above all, ends the campaign."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with a name and a story, so that tables and reports can speak of it.

    `name` is the short word in tables, `title` the heading, `story` what the reader should know before looking.
    """

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


class Reporter(Protocol):
    """Told what happens while a campaign runs."""

    def planned(self, solves: int) -> None: ...

    def started(self, instance: Instance, method: str) -> None: ...

    def finished(self, row: Row) -> None: ...


class Silence:
    """The reporter that says nothing."""

    def planned(self, solves: int) -> None:
        pass

    def started(self, instance: Instance, method: str) -> None:
        pass

    def finished(self, row: Row) -> None:
        pass


def run_campaign(
    instances: Sequence[Instance],
    stop: Stopping,
    *,
    methods: Callable[[Problem], Iterable[Method]] = suitable_methods,
    reporter: Reporter | None = None,
) -> list[Row]:
    """Solve each instance with each method that `methods` names for it: by default every suitable one of the roster."""
    told = reporter or Silence()
    plan = [(instance, method) for instance in instances for method in methods(instance.problem)]
    told.planned(len(plan))
    rows = []
    for instance, method in plan:
        told.started(instance, method.label)
        row = run_one(instance, method, stop)
        told.finished(row)
        rows.append(row)
    return rows


def run_one(instance: Instance, method: Method, stop: Stopping) -> Row:
    """Warm up, then solve and time."""
    try:
        solve(instance.problem, method, stop=replace(stop, max_iterations=WARM_ITERATIONS, max_seconds=None))
        return row_from_result(instance.name, solve(instance.problem, method, stop=stop))
    except FAILURES as failure:
        return row_from_failure(instance.name, method.label, failure)
