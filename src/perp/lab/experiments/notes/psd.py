"""NOTES section 7, the study of zero eigenvalues: final states on positive semidefinite problems."""

from __future__ import annotations

from itertools import product
from math import isfinite, nan
from typing import Any

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FISCHER_APPROXIMATION,
    FREE_SHARE,
    MINIMUM_MAP,
    PGS,
    PSOR,
    Criteria,
    PapersMethod,
)
from perp.lab.experiments.notes.robustness_runs import NAMES, count_states, percentage
from perp.lab.palette import SERIES
from perp.lab.plots import add_legend, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.num4lcp_problems import num4lcp
from perp.lab.work.recipes import gallery

METHODS = (FISCHER_APPROXIMATION, FISCHER, MINIMUM_MAP, PGS, PSOR)
NAMED = {FISCHER: "Fischer, random"}
LEMKE = PapersMethod("Lemke", "lemke", "fischer")
"""Run to its own end: it proves that a problem has no solution, where that is so."""
PLANTED, PUBLISHED = "planted", "as num4lcp's"
RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9)
LARGE = 0.7
"""From this share of zero eigenvalues on the paper's words "large ratios" are taken to apply."""
CRITERIA = Criteria(absolute=1e-2, relative=1e-4, max_iterations=100)
TO_THE_END = Criteria(absolute=0.0, relative=0.0, max_iterations=2000)


def make_tasks(quick: bool) -> list[Task]:
    problems, rows, ratios = (2, 40, (0.1, 0.5, 0.9)) if quick else (20, 100, RATIOS)
    tasks = []
    for ratio in ratios:
        for seed in range(problems):
            planted = gallery("dense_psd", rows, seed, zeros=ratio, active=FREE_SHARE)
            published = num4lcp("dense", rows, seed, zeros=ratio)
            for group, instance in ((PLANTED, planted), (PUBLISHED, published)):
                shared: dict[str, Any] = {"group": group, "wall_seconds": 60.0}
                tasks += [
                    method.until(CRITERIA, instance, label=NAMED.get(method, method.label), **shared)
                    for method in METHODS
                ]
                tasks.append(LEMKE.until(TO_THE_END, instance, **shared))
    return tasks


def ratio_of(row: LabRow) -> float:
    return float(row.task.instance["options"]["zeros"])


def rows_of(rows: Rows, group: str, method: PapersMethod, least: float = 0.0, most: float = 1.0) -> list[LabRow]:
    label = NAMED.get(method, method.label)
    return select(rows, lambda row: row.name == label and least <= ratio_of(row) <= most, group=group)


def measure(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, group in {"": PLANTED, "_published": PUBLISHED}.items():
        sweeps = rows_of(rows, group, PGS) + rows_of(rows, group, PSOR)
        fallen = [_fall(row) for row in sweeps if isfinite(_fall(row))]
        best, random, minimum_map = (_converged(rows_of(rows, group, method)) for method in METHODS[:3])
        newton = (FISCHER_APPROXIMATION, MINIMUM_MAP)
        trouble = [100.0 - _converged(rows_of(rows, group, method, LARGE)) for method in newton]
        proofs = [100.0 * (row.status == "INFEASIBLE") for row in rows_of(rows, group, LEMKE)]
        figures |= {
            f"sweeps_at_limit{name}": percentage(sweeps, "max iteration"),
            f"sweeps_fall{name}": float(np.median(fallen)) if fallen else nan,
            f"fischer_lead{name}": best - minimum_map,
            f"strategy_lead{name}": best - random,
            f"newton_trouble{name}": min(trouble) if all(map(isfinite, trouble)) else nan,
            f"infeasible{name}": float(np.mean(proofs)) if proofs else nan,
        }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _converged(rows: list[LabRow]) -> float:
    return percentage(rows, "absolute", "relative")


def _fall(row: LabRow) -> float:
    """The residual at the end as a share of that at the start."""
    column = row.series.get("residual")
    return row["residual"] / float(column[0]) if column is not None and column.size and column[0] > 0.0 else nan


def tabulate(rows: Rows) -> list[Table]:
    ratios = sorted({ratio_of(row) for row in rows})
    lines: list[tuple[Cell, ...]] = []
    for group, method, ratio in product((PLANTED, PUBLISHED), METHODS, ratios):
        found = rows_of(rows, group, method, ratio, ratio)
        counted = count_states(found)
        falls = [_fall(row) for row in found if isfinite(_fall(row))]
        fall = float(np.median(falls)) if falls else None
        lines.append((group, NAMED.get(method, method.label), ratio, *(counted[name] for name in NAMES), fall))
    headings = ("Problems", "Method", "zero eigenvalues", *(f"{name} (here)" for name in NAMES), "residual / at start")
    note = "The paper leaves the histograms out for want of space. The last column is the median over the problems."
    proofs = [
        (group, ratio, len(found), sum(row.status == "INFEASIBLE" for row in found))
        for group, ratio in product((PLANTED, PUBLISHED), ratios)
        if (found := rows_of(rows, group, LEMKE, ratio, ratio))
    ]
    return [
        Table("Final states by the share of zero eigenvalues", headings, tuple(lines), note),
        Table(
            "Whether there is a solution at all",
            ("Problems", "zero eigenvalues", "problems (here)", "infeasible (here)"),
            tuple(proofs),
            "Infeasible: Lemke's method ended on a ray, and the certificate that it left was checked.",
        ),
    ]


def draw(rows: Rows) -> list[Picture]:
    ratios = sorted({ratio_of(row) for row in rows})
    width = 0.8 * min(np.diff(ratios), default=0.2)
    drawn = (FISCHER_APPROXIMATION, MINIMUM_MAP, PGS, PSOR)
    figure, panels = new_figure(2, 4, panel=(2.9, 2.6), sharey=True, sharex=True)
    colour = {name: SERIES[place].light for place, name in enumerate(NAMES)}
    seen = [name for name, count in count_states(row for row in rows if row.name != LEMKE.label).items() if count]
    for axes, (group, method) in zip(panels, product((PLANTED, PUBLISHED), drawn), strict=True):
        bottom = np.zeros(len(ratios))
        for name in seen:
            found = [percentage(rows_of(rows, group, method, ratio, ratio), name) for ratio in ratios]
            height = np.nan_to_num(np.array(found))
            axes.bar(ratios, height, width, bottom=bottom, color=colour[name], label=name)
            bottom += height
        is_low, is_left = group == PUBLISHED, method is drawn[0]
        name_axes(axes, "zero eigenvalues" if is_low else "", f"{group}: runs [%]" if is_left else "")
        axes.set_title(method.label if not is_low else "")
        axes.set_xticks(ratios)
    add_legend(figure, panels[0].get_legend_handles_labels()[0])
    caption = (
        "In which state each method ends, by the share of eigenvalues that are zero: above, problems that have a "
        "solution; below, problems made as the paper's code makes them, which have none."
    )
    return [Picture("notes-psd", caption, figure)]


EXPERIMENT = Experiment(
    id="notes-psd",
    source="NOTES",
    item="Section 7, zero eigenvalues",
    title="Semidefinite problems: what zero eigenvalues do",
    story=(
        "Dense problems whose eigenvalues are i/n, a growing share of them set to zero. Criteria of the paper: merit "
        "below 1e-2, relative change below 1e-4, 100 iterations, each method with the merit function of its own. "
        "Fischer's method uses the approximation strategy, as there; the random one stands beside it because the text "
        "compares them. The paper names neither the size nor the ratios: 100 rows, as in its test of warm starts, and "
        "five ratios with 20 problems each, 100 in all. They are planted, so that each has a solution, with a quarter "
        "of x at zero. Those that the paper's code makes have zero eigenvalues in the direction (1, ..., 1) and a b "
        "that does not belong to the x drawn: Lemke's method proves that they have no solution. Problems of that kind "
        "are run as well, with claims of their own."
    ),
    size="5 ratios x 20 problems of two kinds x 6 methods: 1200 rows",
    minutes=0.9,
    claims=read_claims(__package__, "psd"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
