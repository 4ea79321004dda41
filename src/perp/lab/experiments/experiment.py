"""An experiment of a paper as data: tasks to run, and what is made of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perp.lab.claims import Claim
from perp.lab.runs.row import LabRow
from perp.lab.runs.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[LabRow]
"""One row a task, in the order of the tasks; a task that was not run has none."""

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Headings and lines; numbers are written by the report, None is an empty cell.

    Where the paper prints a number, its column stands beside ours: headings end in "(paper)" and "(here)".
    """

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for line in self.lines:
            if len(line) != len(self.headings):
                raise ValueError(f"{self.title}: a line has {len(line)} cells under {len(self.headings)} headings")


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with the name of its files and a caption that says what the axes do not."""

    name: str
    caption: str
    figure: Figure


def no_tables(rows: Rows) -> list[Table]:
    return []


@dataclass(frozen=True)
class Experiment:
    """What one figure, table or section of a paper becomes.

    All functions take the rows that there are, also of a quick run, or of one in which some tasks failed: what cannot
    be told from them is left out of the numbers, shown as empty cells, and not drawn.
    """

    id: str
    source: str
    """NOTES, PGS-SM, AMGS, SLIDES or THESIS; OURS for what goes beyond them."""
    item: str
    """Figure, table or section."""
    title: str
    story: str
    """What is run, and in which the paper's set-up could not be followed; a few sentences."""
    size: str
    """How much the full run asks for, in words."""
    minutes: float
    """That the full run takes on two cores, about."""
    claims: tuple[Claim, ...]
    make_tasks: Callable[[bool], list[Task]]
    """The tasks of the full run, or with True those of the quick one."""
    measure: Callable[[Rows], dict[str, float]]
    """The figures that claims are judged on, by name."""
    tabulate: Callable[[Rows], list[Table]] = field(default=no_tables)
    draw: Callable[[Rows], list[Picture]] | None = None

    def facts(self) -> dict[str, Any]:
        """What the experiment says of itself, as plain data."""
        return {
            "id": self.id,
            "source": self.source,
            "item": self.item,
            "title": self.title,
            "story": self.story,
            "size": self.size,
            "rows": len(self.make_tasks(False)),
            "quick_rows": len(self.make_tasks(True)),
            "minutes": self.minutes,
            "claims": [
                {
                    "id": claim.id,
                    "where": claim.where,
                    "says": claim.says,
                    "printed": dict(claim.printed),
                    "measure": claim.measure,
                    "holds": str(claim.holds),
                    "instead": None if claim.instead is None else str(claim.instead),
                    "cannot": claim.cannot or None,
                    "unit": claim.unit or None,
                    "seen": claim.seen or None,
                }
                for claim in self.claims
            ],
        }
