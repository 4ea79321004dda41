"""Tables and pictures of experiments: elements of the page, and files beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from math import isinf, isnan
from pathlib import Path

from perp.lab.experiments.experiment import Cell, Picture, Table
from perp.lab.page import Column, Markup, element, join, prose, table
from perp.lab.pictures import draw_svg, figure_to_png, svg_in_page, svg_on_paper
from perp.problems.files.guard import replacing

TALL = 24
"""Longer tables scroll by themselves."""

HEAVY = 400_000
"""Characters of SVG from which on the page shows the PNG in its place."""


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


def write_picture(picture: Picture, owner: str, folder: Path) -> Markup:
    """Write `owner`-`name`.svg and .png to the folder, and return the element for the page."""
    whole = picture.name if picture.name.startswith(owner) else f"{owner}-{picture.name}"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", whole)
    drawing = draw_svg(picture.figure, name)
    picture.figure.set_layout_engine("none")  # the places of all panels are found, which takes as long as drawing them
    bitmap = figure_to_png(picture.figure)
    for path, data in ((folder / f"{name}.svg", svg_on_paper(drawing).encode()), (folder / f"{name}.png", bitmap)):
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    if len(drawing) < HEAVY:
        shown = Markup(svg_in_page(drawing))
    else:
        letters = base64.b64encode(bitmap).decode("ascii")
        shown = Markup(f'<img src="data:image/png;base64,{letters}" alt="{name}">')
    width = picture.figure.get_figwidth()
    return element(
        "figure",
        shown,
        element("figcaption", prose(picture.caption)),
        class_="plot",
        style=f"max-width: {min(66.0, 6.4 * width):.1f}rem",
    )


def _kind(heading: str, cells: Sequence[Cell]) -> str:
    told = [cell for cell in cells if cell is not None]
    words = ["number"] if told and not any(isinstance(cell, str) and cell not in ("", "–") for cell in told) else []
    if any(isinstance(cell, str) and len(cell) > 40 for cell in told):
        words.append("prose")
    if heading.endswith("(here)"):
        words.append("here")
    return " ".join(words)
