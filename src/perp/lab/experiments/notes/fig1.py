"""NOTES Fig. 1: the fill patterns of a fluid and of a contact matrix."""

from __future__ import annotations

import numpy as np

from perp.extras import matplotlib
from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.notes.merit_readings import (
    FAMILIES,
    PLANTED,
    PUBLISHED,
    finite,
    group_name,
    median,
    recipe,
)
from perp.lab.palette import SERIES
from perp.lab.plots import name_axes, new_figure
from perp.lab.runs.row import select
from perp.lab.runs.task import Task
from perp.lab.work.fill import fill_task

SHOWN = {"fluid": 64, "contact": 60}
"""Rows of the matrices that the figure shows: a grid of 4 x 4 x 4 cells, and 10 contacts."""

USED = {"fluid": 1000, "contact": 300}
"""Rows of the problems of Fig. 2."""

SEEDS = range(5)


def make_tasks(quick: bool) -> list[Task]:
    """The first of each size with its pattern where it is shown."""
    sizes = (SHOWN,) if quick else (SHOWN, USED)
    return [
        fill_task(
            recipe(family, kind, n, seed),
            pattern=every is SHOWN and seed == 0,
            label=kind,
            group=group_name(family, kind),
        )
        for every in sizes
        for family in FAMILIES
        for kind, n in every.items()
        for seed in (range(1) if every is SHOWN and not quick else SEEDS)
    ]


NUMBERS = ("fill", "bands", "couplings", "asymmetry", "zero_diagonal", "least_eigenvalue")


def measure(rows: Rows) -> dict[str, float]:
    """Of the largest size that was run."""
    figures: dict[str, float] = {}
    for family, prefix in ((PUBLISHED, ""), (PLANTED, "planted_")):
        for kind in SHOWN:
            found = select(rows, group=group_name(family, kind))
            largest = max((row.found.n for row in found), default=0)
            used = [row for row in found if row.found.n == largest]
            figures |= {f"{prefix}{kind}_{name}": median(row[name] for row in used) for name in NUMBERS}
            lowest = min((row["least_eigenvalue"] for row in used), default=np.nan)
            figures[f"{prefix}{kind}_lowest"] = lowest
    return finite(figures)


def tabulate(rows: Rows) -> list[Table]:
    lines: list[tuple[Cell, ...]] = []
    for family in FAMILIES:
        for kind in SHOWN:
            found = select(rows, group=group_name(family, kind))
            for n in sorted({row.found.n for row in found if row.found.n}):
                of = [row for row in found if row.found.n == n]
                lines.append((family, kind, n, len(of), *(median(row[name] for row in of) for name in NUMBERS)))
    headings = (
        "family",
        "matrix",
        "rows",
        "matrices",
        "fill share",
        "diagonals that are not empty",
        "different values off the diagonal",
        "asymmetry",
        "share of zeros on the diagonal",
        "least eigenvalue of B",
    )
    note = (
        "Medians over the matrices. Asymmetry is max |A_ij - A_ji| / max |A_ij|. B is A without the rows whose "
        "diagonal is zero, made symmetric. num4lcp writes mu and e into every block that is filled, the planted "
        "problems into the blocks of one contact, which is why they are emptier. The paper prints no numbers for "
        "its figure."
    )
    return [Table("Matrices", headings, tuple(lines), note)]


def draw(rows: Rows) -> list[Picture]:
    figure, panels = new_figure(2, 2, panel=(4.0, 4.0))

    places = [(family, kind) for family in FAMILIES for kind in SHOWN]
    for axes, (family, kind) in zip(panels, places, strict=True):
        row = next((row for row in select(rows, group=group_name(family, kind)) if "row" in row.series), None)
        name_axes(axes, "column", "row", title=f"{kind}, {family}")
        axes.grid(False)
        if row is None:
            continue
        pattern = np.full((row.found.n, row.found.n), np.nan)
        pattern[row.series["row"].astype(int), row.series["column"].astype(int)] = 1.0
        axes.imshow(pattern, cmap=matplotlib.colors.ListedColormap([SERIES[0].light]), interpolation="nearest")
        axes.set_title(f"{kind}, {family}: {row['fill']:.0%} full")
    caption = (
        "Entries that are not zero of a fluid matrix of 64 rows and a contact matrix of 60. The bands of the "
        "fluid lie beside the diagonal, as in num4lcp, and not one row and one layer of the grid away from it."
    )
    return [Picture("notes-fig1", caption, figure)]


EXPERIMENT = Experiment(
    id="notes-fig1",
    source="NOTES",
    item="Fig. 1",
    title="Fill patterns of a fluid and a contact matrix",
    story=(
        "The matrices of the problems on which all of section 7 rests. The figure has those of num4lcp's own "
        "sizes for it, 64 and 60 rows; claims are judged on the sizes of Fig. 2, 1000 and 300 rows (a quick run: "
        "on the small ones). num4lcp's matrices stand beside those of the gallery, in which friction couples rows "
        "of one contact only, as NOTES eq. 27 has it."
    ),
    size="5 fluid matrices of 1000 rows and 5 contact matrices of 300, in 2 families",
    minutes=0.1,
    claims=read_claims(__package__, "fig1"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
