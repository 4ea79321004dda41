"""How the page writes numbers and tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan

from perp.lab.experiments.experiment import Cell, Table
from perp.lab.page import Column, Markup, element, join, table

TALL = 24
"""Longer tables scroll by themselves."""


def show_number(value: Cell) -> str:
    """Four digits, thousands set apart, powers of ten outside 0.001 to a million; None is empty, nan a dash."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isnan(value):
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if value == 0.0:
        return "0"
    if not 1e-3 <= size < 1e6:
        digits, exponent = f"{value:.2e}".split("e")
        return f"{digits}e{int(exponent)}"
    return f"{value:,.0f}" if size >= 1000.0 else f"{value:.4g}"


def show_table(content: Table) -> Markup:
    """With its title above and its note below. A column of numbers is set to the right, ours on a tint."""
    columns = [
        Column(heading, _kind(heading, [line[place] for line in content.lines]))
        for place, heading in enumerate(content.headings)
    ]
    lines = [[show_number(cell) for cell in line] for line in content.lines]
    return join(
        element("h4", content.title) if content.title else "",
        table(columns, lines, tall=len(lines) > TALL),
        element("p", content.note, class_="quiet") if content.note else "",
    )


def _kind(heading: str, cells: Sequence[Cell]) -> str:
    told = [cell for cell in cells if cell is not None]
    words = ["number"] if told and not any(isinstance(cell, str) and cell not in ("", "–") for cell in told) else []
    if any(isinstance(cell, str) and len(cell) > 40 for cell in told):
        words.append("prose")
    if heading.endswith("(here)"):
        words.append("here")
    return " ".join(words)
