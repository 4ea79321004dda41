"""NOTES Table 2: how many iterations absolute convergence takes, and how that varies."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Rows, Table
from perp.lab.experiments.notes.papers_methods import FISCHER, FLUID_METHODS, MINIMUM_MAP, PGS, PSOR, PapersMethod
from perp.lab.experiments.notes.robustness_runs import (
    CONTACT,
    CONTACT_METHODS,
    CONTACT_PUBLISHED,
    FLUID,
    FLUID_PUBLISHED,
    STORY,
    make_robustness_tasks,
    rows_of,
)

PRINTED = {
    (CONTACT, "Fischer"): (14.54, 9.00, 26.00, 2.79),
    (FLUID, "Fischer"): (5.00, 5.00, 5.00, 0.00),
    (FLUID, "Min. map"): (4.07, 3.00, 5.00, 0.29),
    (FLUID, "PGS"): (49.38, 9.00, 83.00, 17.48),
    (FLUID, "PSOR"): (25.29, 16.00, 35.00, 3.77),
}
"""Mean, min, max and standard deviation as they stand in the paper."""

STATISTICS = ("mean", "min", "max", "std")
Statistics = tuple[float, float, float, float]


def iteration_statistics(rows: Rows, group: str, method: PapersMethod) -> Statistics:
    """Mean, min, max, std (of a sample) of the iterations of those runs that converged absolutely; nan for none."""
    counts = np.array([row["iterations"] for row in rows_of(rows, group, method) if row.success])
    if not counts.size:
        return nan, nan, nan, nan
    std = float(counts.std(ddof=1)) if counts.size > 1 else nan
    return float(counts.mean()), float(counts.min()), float(counts.max()), std


def measure(rows: Rows) -> dict[str, float]:
    fluid = {method: iteration_statistics(rows, FLUID, method) for method in FLUID_METHODS}
    contact = iteration_statistics(rows, CONTACT, FISCHER)
    published = {method: iteration_statistics(rows, FLUID_PUBLISHED, method) for method in (PGS, PSOR)}
    figures = {
        "psor_over_pgs": fluid[PSOR][0] / fluid[PGS][0],
        "psor_over_pgs_published": published[PSOR][0] / published[PGS][0],
        "newton_spread": max(_spread(fluid[FISCHER]), _spread(fluid[MINIMUM_MAP]), _spread(contact)),
        "pgs_spread": _spread(fluid[PGS]),
        "pgs_spread_published": _spread(published[PGS]),
        "minimum_map_over_fischer": fluid[MINIMUM_MAP][0] / fluid[FISCHER][0],
        "fischer_contact_mean": contact[0],
        "fischer_contact_mean_published": iteration_statistics(rows, CONTACT_PUBLISHED, FISCHER)[0],
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _spread(statistics: Statistics) -> float:
    """The standard deviation as a share of the mean."""
    return statistics[3] / statistics[0]


def tabulate(rows: Rows) -> list[Table]:
    return [
        _table(
            rows,
            "(a) Contact problems: iterations to absolute convergence",
            CONTACT,
            CONTACT_PUBLISHED,
            CONTACT_METHODS,
        ),
        _table(rows, "(b) Fluid problems: iterations to absolute convergence", FLUID, FLUID_PUBLISHED, FLUID_METHODS),
    ]


def _table(rows: Rows, title: str, group: str, published: str, methods: tuple[PapersMethod, ...]) -> Table:
    headings: tuple[str, ...] = ("Method", "problems", "converged (here)")
    for name in STATISTICS:
        headings += (f"{name} (paper)", f"{name} (here)")
    lines = []
    for problems, chosen in (("planted", group), ("as num4lcp's", published)):
        for method in methods:
            printed = PRINTED.get((group, method.label), (None,) * 4)
            found = iteration_statistics(rows, chosen, method)
            line: list[Cell] = [method.label, problems, sum(row.success for row in rows_of(rows, chosen, method))]
            for paper, here in zip(printed, found, strict=True):
                line += [paper, here if isfinite(here) else None]
            lines.append(tuple(line))
    note = (
        "Here an iteration is a Newton step or a sweep. num4lcp counts its first look at the starting point as an "
        "iteration of a Newton method, so that the paper's figures for those are steps plus one."
    )
    return Table(title, headings, tuple(lines), note)


EXPERIMENT = Experiment(
    id="notes-table2",
    source="NOTES",
    item="Table 2",
    title="Iterations to absolute convergence",
    story=STORY + " The rows are those of Table 1; only runs that converged absolutely are counted.",
    size="the 1600 rows of Table 1, run once for both",
    minutes=1.3,
    claims=read_claims(__package__, "table2"),
    make_tasks=make_robustness_tasks,
    measure=measure,
    tabulate=tabulate,
)
