"""A line that moves while a long solve runs; on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from perp.solvers.loop import Progress

PATIENCE = 0.5
"""Seconds before the line appears: a short solve shows nothing."""

REFRESH = 0.1
"""Seconds between two changes of the line."""


@contextmanager
def watching(*, quiet: bool) -> Iterator[Callable[[Progress], object] | None]:
    """A callback for `solve`, or None where nobody would see it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    line = console.status("")
    begun = perf_counter()
    due = begun + PATIENCE

    def show(progress: Progress) -> None:
        nonlocal due
        now = perf_counter()
        if now < due:
            return
        due = now + REFRESH
        line.start()
        line.update(
            f"iteration {progress.iteration:,}   residual {progress.residual:.2e}   {now - begun:.1f} s   "
            "[dim]Ctrl-C keeps the best point[/dim]"
        )

    try:
        yield show
    finally:
        line.stop()
