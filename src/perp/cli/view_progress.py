"""The bar that moves while a page is exported; on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

from perp.cli.simulation_progress import PATIENCE

OnCount: TypeAlias = Callable[[int], object]
"""Is told how many frames there are so far."""


class Frames(ProgressColumn):
    """Frames a second; before the first one is there, what takes so long."""

    def render(self, task: Task) -> Text:
        if task.completed:
            return Text(f"{task.speed or 0.0:.3g} frames/s")
        if (task.elapsed or 0.0) < PATIENCE:
            return Text("first frame", style="dim")
        return Text("compiling kernels (first run: a minute or two)", style="yellow")


@contextmanager
def counting(frames: int) -> Iterator[OnCount | None]:
    """A function that is told how many of the frames there are, or None where nobody would see the bar."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(bar_width=16), MofNCompleteColumn(), Frames(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=frames)
        yield lambda count: bar.update(task, completed=count)
