"""The caller's callback during a solve by "auto"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from perp.problems.inputs import Vector
from perp.solvers.auto.search import Search
from perp.solvers.progress import Callback, Progress


def translate(search: Search, recover: Callable[[Vector], Vector]) -> Callback | None:
    """The callback for the method that comes next: it sees the asked problem, and the iterations of all methods."""
    if search.callback is None:
        return None
    callback, done, seconds = search.callback, search.iterations, search.seconds

    def watch(progress: Progress) -> object:
        iteration, spent = done + progress.iteration, seconds + progress.seconds
        return callback(replace(progress, iteration=iteration, seconds=spent, x=recover(progress.x)))

    return watch
