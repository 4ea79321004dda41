"""Figures and matrices as text that stands inside a page: SVG that follows the page's colours, and PNG data."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING

import numpy as np

from perp.lab.palette import SERIES, SHADES
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATTERN_CELLS = 220
"""The largest number of dots along a side of a pattern picture."""


def figure_to_svg(figure: Figure, name: str) -> str:
    """An <svg> element. `name` must be unique in the page: the names of the clip paths are made from it."""
    import matplotlib

    sheet = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(sheet, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    drawing = sheet.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    for shade in SHADES:
        drawing = drawing.replace(shade.light, f"var({shade.variable})")
    drawing = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui, sans-serif", drawing)
    return re.sub(r' (width|height)="[^"]*"', "", drawing, count=2)  # of <svg>: the page sets the size


def pattern_to_png(problem: Problem) -> str | None:
    """The non-zero pattern of A as a data URI, darker where entries are denser; None where A knows no entries."""
    if TO_SPARSE not in problem.A.ability_set or problem.n == 0:
        return None
    from matplotlib.image import imsave

    entries = problem.A.to_sparse().tocoo()
    cells = min(problem.n, PATTERN_CELLS)
    count = np.zeros((cells, cells))
    np.add.at(count, (entries.row * cells // problem.n, entries.col * cells // problem.n), 1.0)
    share = count / max(count.max(), 1.0)
    picture = np.empty((cells, cells, 4))
    picture[..., :3] = [int(SERIES[0].light[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    picture[..., 3] = np.where(count > 0, 0.35 + 0.65 * share, 0.0)
    sheet = io.BytesIO()
    imsave(sheet, picture, format="png")
    return "data:image/png;base64," + base64.b64encode(sheet.getvalue()).decode("ascii")
