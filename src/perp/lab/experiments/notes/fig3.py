"""NOTES Fig. 3: which element of the generalised Jacobian the Fischer-Newton method takes, and how it converges."""

from __future__ import annotations

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.notes.merit_readings import (
    ACCURATE,
    FAMILIES,
    FAMILIES_STORY,
    PLANTED,
    PUBLISHED,
    WORKS,
    cell,
    draw_merits,
    endings,
    final_merit,
    finite,
    follow,
    group_name,
    median,
    merit,
    reach,
    recipe,
    share,
)
from perp.lab.experiments.notes.papers_methods import PapersMethod, fischer
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task

SEEDS, QUICK_SEEDS = range(10), range(1)
ITERATIONS = 30

RANDOM, PERTURBATION, ZERO, APPROXIMATION = (
    fischer(strategy, strategy) for strategy in ("random", "perturbation", "zero", "approximation")
)
GMRES_OPTIONS = ("linear", "preconditioner", "forcing", "restart", "inner_limit")
FACTORED = PapersMethod(
    "perturbation, factored",
    "fischer",
    "fischer",
    {name: value for name, value in PERTURBATION.options.items() if name not in GMRES_OPTIONS},
    PERTURBATION.arguments,
)
"""As the code has it: its `perturbation` alone solves Newton's equation directly."""

CLEARLY = 2.0
"""A merit that many times as large is less accurate; rounding errors alone make smaller differences."""

STRATEGIES = (RANDOM, PERTURBATION, ZERO, APPROXIMATION)
METHODS = (*STRATEGIES, FACTORED)


def make_tasks(quick: bool) -> list[Task]:
    seeds, sizes = (QUICK_SEEDS, {"fluid": 125, "contact": 60}) if quick else (SEEDS, {"fluid": 1000, "contact": 180})
    return [
        follow(method, recipe(family, kind, n, seed), ITERATIONS, group_name(family, kind))
        for family in FAMILIES
        for kind, n in sizes.items()
        for seed in seeds
        for method in METHODS
    ]


def measure(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    for family, prefix in ((PUBLISHED, ""), (PLANTED, "planted_")):
        for kind in ("fluid", "contact"):
            found = _measure_kind(rows, group_name(family, kind))
            figures |= {f"{prefix}{kind}_{name}": value for name, value in found.items()}
    return finite(figures)


def _measure_kind(rows: Rows, group: str) -> dict[str, float]:
    """Problem by problem, of those on which all four strategies ran."""
    spreads, firsts, factored_firsts, least_accurate, lost = [], [], [], [], []
    for seed in sorted({row.task.seed for row in rows}):
        of = {row.name: row for row in select(rows, group=group, seed=seed) if merit(row).size > 1}
        if not all(method.label in of for method in METHODS):
            continue
        needed = {label: reach(row, ACCURATE) for label, row in of.items()}
        own = [needed[method.label] for method in STRATEGIES]
        others = min(needed[method.label] for method in (RANDOM, ZERO, APPROXIMATION))
        spreads.append(max(own) / min(own) if np.isfinite(min(own)) else np.inf)
        firsts.append(needed[PERTURBATION.label] < others)
        factored_firsts.append(needed[FACTORED.label] < others)
        last = final_merit(of[APPROXIMATION.label])
        worst = max(final_merit(of[method.label]) for method in (RANDOM, PERTURBATION, ZERO))
        least_accurate.append(last > CLEARLY * worst)
        lost.append(np.log10(max(last, 1e-300) / max(worst, 1e-300)))
    return {
        "spread": median(spreads),
        "perturbation_first": share(firsts),
        "factored_perturbation_first": share(factored_firsts),
        "approximation_least_accurate": share(least_accurate),
        "digits_lost": median(lost),
    }


def tabulate(rows: Rows) -> list[Table]:
    return [_table(rows, family) for family in FAMILIES]


def _table(rows: Rows, family: str) -> Table:
    lines = []
    for kind in ("fluid", "contact"):
        for method in METHODS:
            found = select(rows, group=group_name(family, kind), label=method.label)
            if found:
                lines.append((kind, method.label, len(found), *_numbers(found), endings(found)))
    return Table(
        f"Strategies on {family} problems",
        (
            "problem",
            "strategy",
            "problems",
            f"iterations to {WORKS:g}",
            f"iterations to {ACCURATE:g}",
            "merit after 30",
            "largest merit after 30",
            "endings",
        ),
        tuple(lines),
        "Medians over the problems; empty where most of them do not get there. The paper prints no numbers for "
        "its figure.",
    )


def _numbers(found: list[LabRow]) -> tuple[float | None, ...]:
    last = [final_merit(row) for row in found]
    needed = (median(reach(row, level) for row in found) for level in (WORKS, ACCURATE))
    return (*map(cell, needed), cell(median(last)), cell(max(last)))


def draw(rows: Rows) -> list[Picture]:
    caption = (
        "Half of the squared Fischer map after each iteration on the first problem of each kind, down to 1e-17. "
        "Lines that lie on one another are drawn in the order of the legend."
    )
    return [Picture("notes-fig3", caption, draw_merits(rows, [method.label for method in METHODS]))]


EXPERIMENT = Experiment(
    id="notes-fig3",
    source="NOTES",
    item="Fig. 3",
    title="Strategies of the Fischer-Newton method",
    story=(
        "The four ways of choosing an element of the generalised Jacobian where x_i = y_i = 0, 30 iterations each "
        "from zero. All solve Newton's equation by GMRES without a preconditioner, as section 6 says; the code "
        f"has a factorisation for perturbation alone, which is shown beside. {FAMILIES_STORY} The paper has one "
        "problem of each kind; here figures are shares of, or medians over, ten."
    ),
    size="1000-row fluid and 180-row contact problems, 10 of each in 2 families, 5 runs each",
    minutes=0.3,
    claims=read_claims(__package__, "fig3"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
