"""The bar that moves while a world runs; on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from perp.simulation.run import OnStep
    from perp.worlds.report import StepReport

PATIENCE = 2.0
"""Seconds after which a first step is known to be compiling."""

REFRESH = 0.1
"""Seconds between two changes of the figures."""


THINGS = {"contacts": "contacts", "liquid_cells": "liquid cells"}
"""What a step deals with: statistics that only some worlds have, as the bar names them."""


class Figures(ProgressColumn):
    """Step rate, contacts or cells, and residual; before the first step is done, what takes so long."""

    def render(self, task: Task) -> Text:
        if task.completed == 0:
            if (task.elapsed or 0.0) < PATIENCE:
                return Text("first step", style="dim")
            return Text("compiling kernels (first run: a minute or two)", style="yellow")
        seen = task.fields
        return Text(f"{seen['rate']:.3g} steps/s  {seen['things']}residual {seen['residual']:.1e}")


@contextmanager
def following(steps: int, *, quiet: bool) -> Iterator[OnStep | None]:
    """A function for `simulate(callback=...)`, or None where nobody would see the bar."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (BarColumn(bar_width=16), MofNCompleteColumn(), Figures(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps, rate=0.0, things="", residual=0.0)
        begun = due = perf_counter()
        done = 0

        def show(report: StepReport, measured: Mapping[str, float]) -> None:
            nonlocal begun, due, done
            now = perf_counter()
            done += 1
            if done == 1:
                begun, due = now, now  # the rate is that of the steps after the first
            if now < due and done < steps:
                return
            due = now + REFRESH
            rate = (done - 1) / (now - begun) if done > 1 else 1.0 / max(measured["seconds"], 1e-9)
            things = "".join(f"{measured[name]:,.0f} {told}  " for name, told in THINGS.items() if name in measured)
            bar.update(task, completed=done, rate=rate, things=things, residual=measured["residual"])

        yield show
