"""NOTES Figure 5: the time of ten iterations against the size of the problem, and of all of Lemke's method."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

from perp.lab.analysis.rates import fit_exponent
from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FISCHER_APPROXIMATION,
    FREE_SHARE,
    MINIMUM_MAP,
    PGS,
    PSOR,
    PapersMethod,
)
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

ITERATIONS = 10
TEN_ITERATIONS = {"tol": 0.0, "max_iterations": ITERATIONS, "check_every": 1}
WHOLE_SOLVE = {"tol": 1e-8, "max_seconds": 60.0}

LEMKE = PapersMethod("Lemke", "lemke", "")
FLUID_METHODS = (FISCHER, FISCHER_APPROXIMATION, MINIMUM_MAP, PGS, PSOR, LEMKE)
CONTACT_METHODS = (FISCHER, MINIMUM_MAP, LEMKE)

FLUID_SIZES, CONTACT_SIZES = (8, 64, 216, 512, 1000), (60, 120, 180, 240, 300)
"""Of the paper (those of its code: grids of 2 to 10 cells a side, 10 to 50 contacts)."""
LARGER_FLUIDS, LARGER_CONTACTS = (2197, 8000, 27000), (600, 1200, 2400)
"""Ours: where the time is spent on the rows of the problem and not on the call."""
MOST_FOR_LEMKE = {"fluid": 1000, "contact": 2400}
QUICK_FLUIDS, QUICK_CONTACTS = (27, 64, 216), (60, 90, 120)


def make_tasks(quick: bool) -> list[Task]:
    fluids = QUICK_FLUIDS if quick else FLUID_SIZES + LARGER_FLUIDS
    contacts = QUICK_CONTACTS if quick else CONTACT_SIZES + LARGER_CONTACTS
    tasks = []
    for kind, sizes, methods in (
        ("fluid", fluids, FLUID_METHODS),
        ("contact", contacts, CONTACT_METHODS),
    ):
        for n in sizes:
            instance = gallery(f"{kind}_like", n, active=FREE_SHARE)
            chosen = (method for method in methods if method is not LEMKE or n <= MOST_FOR_LEMKE[kind])
            tasks += [timed_task(instance, method, kind) for method in chosen]
    return tasks


def timed_task(instance: Mapping[str, Any], method: PapersMethod, group: str) -> Task:
    """Ten iterations, or a whole solve of a pivoting method: the fastest of some, more of them where it is quick."""
    repeats = 9 if method.merit == PGS.merit else 3 if instance["n"] <= 1000 else 2
    return solve_task(
        instance,
        method.method,
        TEN_ITERATIONS if method.merit else WHOLE_SOLVE,
        options=method.options,
        arguments={"repeats": repeats},
        label=method.label,
        group=group,
        wall_seconds=120.0,
        timed=True,
    )


def seconds_of(row: LabRow) -> float:
    """Preparation and ten iterations, at the pace of those that were done; of a pivoting method all that it did."""
    if not isfinite(row.total_seconds) or row["iterations"] < 1.0:
        return nan
    if row.task.stop == WHOLE_SOLVE:
        return row.total_seconds if row.success else nan
    return row["setup_seconds"] + ITERATIONS * row["seconds"] / row["iterations"]


def times(rows: Rows, group: str, label: str, least: int = 0) -> tuple[list[int], list[float]]:
    """Sizes and times of a method, for problems of at least so many rows; what was not measured is left out."""
    found = select(rows, lambda row: row.name == label and row.found.n >= least, group=group)
    pairs = sorted((row.found.n, seconds_of(row)) for row in found if isfinite(seconds_of(row)))
    return [n for n, _ in pairs], [seconds for _, seconds in pairs]


def exponent(rows: Rows, group: str, label: str, least: int = 0) -> float:
    """nan from fewer than three sizes."""
    sizes, seconds = times(rows, group, label, least)
    return fit_exponent(sizes, seconds) if len(sizes) >= 3 else nan


def measure(rows: Rows) -> dict[str, float]:
    is_full = max((row.found.n for row in rows), default=0) > 1000
    fluid, contact = (1000, 300) if is_full else (0, 0)
    figures = {
        "lemke_exponent": exponent(rows, "contact", LEMKE.label, contact),
        "fischer_fluid_exponent": exponent(rows, "fluid", FISCHER.label, fluid),
        "approximation_fluid_exponent": exponent(rows, "fluid", FISCHER_APPROXIMATION.label, fluid),
        "lemke_over_fischer": _ratio_at_largest(rows),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _ratio_at_largest(rows: Rows) -> float:
    lemke, fischer = (dict(zip(*times(rows, "contact", label), strict=True)) for label in ("Lemke", "Fischer"))
    shared = sorted(lemke.keys() & fischer.keys())
    return lemke[shared[-1]] / fischer[shared[-1]] if shared else nan


def tabulate(rows: Rows) -> list[Table]:
    tables = []
    for group, methods, paper in (
        ("fluid", FLUID_METHODS, {"Fischer": "worse than linear"}),
        ("contact", CONTACT_METHODS, {"Lemke": "cubic"}),
    ):
        sizes = sorted({row.found.n for row in rows if row.group == group and row.found.n})
        lines = []
        for method in methods:
            found = dict(zip(*times(rows, group, method.label), strict=True))
            small = [n for n in found if n <= 1000]
            inside = fit_exponent(small, [found[n] for n in small]) if len(small) >= 3 else nan
            least = (1000 if group == "fluid" else 300) if max(sizes, default=0) > 1000 else 0
            beyond = exponent(rows, group, method.label, least)
            lines.append(
                (
                    method.label,
                    *(1e3 * found[n] if n in found else None for n in sizes),
                    paper.get(method.label, ""),
                    inside if isfinite(inside) else None,
                    beyond if isfinite(beyond) else None,
                )
            )
        lowest = "1000" if group == "fluid" else "300"
        headings = ("Method", *(f"n = {n} [ms]" for n in sizes), "scaling (paper)", "exponent to 1000 (here)")
        headings += (f"exponent from {lowest} (here)",)
        note = "Times of ten iterations, of Lemke's method of the whole solve. An exponent p means time = C n^p."
        tables.append(Table(f"Times on {group} problems (here)", headings, tuple(lines), note))
    return tables


def draw(rows: Rows) -> list[Picture]:
    figure, panels = new_figure(1, 2, sharey=True)
    strokes = assign_strokes(method.label for method in FLUID_METHODS)
    for axes, (group, methods) in zip(panels, (("fluid", FLUID_METHODS), ("contact", CONTACT_METHODS)), strict=True):
        name_axes(axes, "rows", "time [s]" if group == "fluid" else "", title=f"{group} problems", log="xy")
        lines = {method.label: times(rows, group, method.label) for method in methods}
        drawn = draw_lines(axes, {name: line for name, line in lines.items() if line[0]}, strokes=strokes, marker="o")
        if group == "fluid":
            handles = drawn
    add_legend(figure, handles)
    caption = (
        "Time of ten iterations, and of all of Lemke's method, against the number of rows. "
        "The paper ends at 1000 and 300 rows."
    )
    return [Picture("notes-fig5", caption, figure)]


EXPERIMENT = Experiment(
    id="notes-fig5",
    source="NOTES",
    item="Figure 5",
    title="Time against problem size",
    story=(
        "The wall-clock time of ten iterations of each iterative method, and of the whole of Lemke's, on fluid problems"
        " of 8 to 1000 rows and contact problems of 60 to 300, the sizes of the paper's code. A Newton method that is "
        "done in fewer iterations is counted at their pace. At those sizes a call costs perp as much as the arithmetic,"
        " so larger ones are added, and exponents are judged from 1000 rows (contacts: 300) on. The multilevel method "
        "of the paper's figure is not described there and is left out."
    ),
    size="fluid to 27,000 rows, contact to 2400: 69 rows, timed",
    minutes=0.5,
    claims=read_claims(__package__, "fig5"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
