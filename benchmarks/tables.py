"""Plain tables of numbers, fair times, and what a long benchmark is doing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from time import perf_counter

from rich import box
from rich.table import Table

NOTHING = "-"

_BEGUN = perf_counter()


def make_table(title: str, headings: Sequence[str], labels: int = 1) -> Table:
    """A table whose first columns, `labels` of them, hold words, and the others numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.ASCII2, pad_edge=False)
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position < labels else "right", no_wrap=position < labels)
    return table


def add_row(table: Table, cells: Iterable[object]) -> None:
    table.add_row(*(tell(cell) for cell in cells))


def tell(value: object) -> str:
    """Three digits that matter, in the shortest way to write them."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:,.0f}" if 100.0 <= abs(value) < 1e7 else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def tell_ms(seconds: float) -> str:
    return tell(1e3 * seconds)


def interleave(runs: Mapping[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """The median seconds of each run; all are run in turn, `repeats` times, after one run to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            begun = perf_counter()
            run()
            seconds[name].append(perf_counter() - begun)
    return {name: median(values) for name, values in seconds.items()}


def say(what: str) -> None:
    print(f"[{perf_counter() - _BEGUN:5.0f} s] {what}", file=sys.stderr, flush=True)
