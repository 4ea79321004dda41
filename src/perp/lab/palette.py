"""Colours that colour-blind readers can tell apart (Okabe & Ito), in a light and a dark variant.

Figures are drawn in the light variant. In a report each colour becomes a CSS variable, so that a picture follows the
reader's choice of a light or a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Dash = str | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class Shade:
    """One colour of the page: the name of its CSS variable, and its two values."""

    variable: str
    light: str
    dark: str


INK = Shade("--ink", "#1f2328", "#e6e8eb")
MUTED = Shade("--muted", "#667085", "#98a2b3")
LINE = Shade("--line", "#d8dde4", "#343a43")
PAPER = Shade("--paper", "#fffffe", "#15181d")
TINT = Shade("--tint", "#f4f6f9", "#1d2229")

SERIES = (
    Shade("--series-1", "#0072b2", "#4aa8e0"),
    Shade("--series-2", "#d55e00", "#f0803a"),
    Shade("--series-3", "#009e73", "#2cc295"),
    Shade("--series-4", "#b4578f", "#dd8fbd"),
    Shade("--series-5", "#d99400", "#f2b93b"),
    Shade("--series-6", "#45a5dd", "#8fd0f5"),
    Shade("--series-7", "#5b616b", "#a9b0bb"),
)

DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.4)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (10, 2)),
)

SHADES = (INK, MUTED, LINE, PAPER, TINT, *SERIES)


@dataclass(frozen=True)
class Stroke:
    """How the line of one method looks."""

    colour: str
    dash: Dash


def assign_strokes(names: Iterable[str]) -> dict[str, Stroke]:
    """A stroke a name, in order: seven colours in solid lines, then the same colours dashed, and so on."""
    strokes = {}
    for index, name in enumerate(dict.fromkeys(names)):
        lap, place = divmod(index, len(SERIES))
        strokes[name] = Stroke(SERIES[place].light, DASHES[lap % len(DASHES)])
    return strokes
