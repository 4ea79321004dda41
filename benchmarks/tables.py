"""Plain tables of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table

NOTHING = "-"


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
