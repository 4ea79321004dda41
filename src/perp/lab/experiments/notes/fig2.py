"""NOTES Fig. 2: how PGS, PSOR and the two Newton methods converge on a fluid and on a contact problem."""

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
    finite,
    follow,
    group_name,
    median,
    rate,
    reach,
    recipe,
    share,
    works,
)
from perp.lab.experiments.notes.papers_methods import (
    MINIMUM_MAP,
    MINIMUM_MAP_DIRECT,
    PGS,
    PSOR,
    PapersMethod,
)
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.solvers.results import Status

SEEDS, QUICK_SEEDS = range(10), range(2)
ITERATIONS = 50

FISCHER = PapersMethod(
    "Fischer",
    "fischer",
    "fischer",
    {
        "projected": True,
        "regularisation": 0.0,
        "memory": 1,
        "proximal": "never",
        "sufficient": 1e-3,
        "strategy": "perturbation",
    },
    {"gradient_steps": False},
)
"""With the strategy that num4lcp takes here, which alone solves Newton's equation by a factorisation."""

METHODS = (PGS, PSOR, MINIMUM_MAP, MINIMUM_MAP_DIRECT, FISCHER)
NEWTON = (MINIMUM_MAP, MINIMUM_MAP_DIRECT, FISCHER)


def make_tasks(quick: bool) -> list[Task]:
    """PGS and PSOR are asked once about contacts: they refuse a zero on the diagonal before they look at the rest."""
    seeds, sizes = (QUICK_SEEDS, {"fluid": 125, "contact": 60}) if quick else (SEEDS, {"fluid": 1000, "contact": 300})
    return [
        follow(method, recipe(family, kind, n, seed), ITERATIONS, group_name(family, kind))
        for family in FAMILIES
        for kind, n in sizes.items()
        for seed in seeds
        for method in (METHODS if kind == "fluid" or seed == 0 else NEWTON)
    ]


def measure(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    told = [row for row in rows if row.measured]
    for family, prefix in ((PUBLISHED, ""), (PLANTED, "planted_")):
        found = _measure_fluid(told, family) | _measure_contact(told, family)
        figures |= {prefix + name: value for name, value in found.items()}
    return finite(figures)


def _measure_fluid(rows: Rows, family: str) -> dict[str, float]:
    of = {method.label: _find(rows, family, "fluid", method) for method in METHODS}
    order = {label: median(rate(row).order for row in found) for label, found in of.items()}
    speed = {label: -np.log(median(rate(row).factor for row in of[label])) for label in (PGS.label, PSOR.label)}
    needed = {label: median(reach(row, ACCURATE) for row in of[label]) for label in (MINIMUM_MAP.label, FISCHER.label)}
    return {
        "pgs_order": order[PGS.label],
        "psor_order": order[PSOR.label],
        "fischer_order": order[FISCHER.label],
        "minimum_map_order": order[MINIMUM_MAP.label],
        "psor_speed_over_pgs": speed[PSOR.label] / speed[PGS.label],
        "minimum_map_over_fischer": needed[MINIMUM_MAP.label] / needed[FISCHER.label],
        "newton_iterations": max(needed.values()),
    }


def _measure_contact(rows: Rows, family: str) -> dict[str, float]:
    newton, direct, fischer = (_find(rows, family, "contact", method) for method in NEWTON)
    return {
        "contact_fischer_order": median(rate(row).order for row in fischer),
        "contact_fischer_works": share(map(works, fischer)),
        "contact_minimum_map_fails": share(not works(row) for row in newton),
        "contact_minimum_map_last": median(row["iterations"] for row in newton if not works(row)),
        "contact_singular": share(row.status == Status.BREAKDOWN.name for row in direct),
    }


def _find(rows: Rows, family: str, kind: str, method: PapersMethod) -> list[LabRow]:
    return select(rows, group=group_name(family, kind), label=method.label)


def tabulate(rows: Rows) -> list[Table]:
    return [_table(rows, family) for family in FAMILIES]


def _table(rows: Rows, family: str) -> Table:
    lines = []
    for kind in ("fluid", "contact"):
        for method in METHODS:
            found = _find(rows, family, kind, method)
            fits = [rate(row) for row in found]
            if found:
                lines.append(
                    (
                        kind,
                        method.label,
                        len(found),
                        share(map(works, found)),
                        cell(median(reach(row, ACCURATE) for row in found)),
                        cell(median(fit.order for fit in fits)),
                        cell(median(fit.factor for fit in fits)),
                        endings(found),
                    )
                )
    return Table(
        f"Convergence on {family} problems",
        (
            "problem",
            "method",
            "problems",
            f"share with merit below {WORKS:g}",
            f"iterations to {ACCURATE:g}",
            "order",
            "factor per iteration",
            "endings",
        ),
        tuple(lines),
        "Medians over the problems. The merit is x'|Ax + b| for PGS and PSOR; for the Newton methods it is half "
        "of the squared norm of their map, and order and factor are those of the norm. An order far above 2 means "
        "that a run ends exactly. The paper prints no numbers for its figure.",
    )


def draw(rows: Rows) -> list[Picture]:
    caption = (
        "The merit that NOTES takes for each method, after each iteration on the first problem of each kind, down "
        "to 1e-17. PGS and PSOR refuse contact problems, whose diagonal has zeros."
    )
    return [Picture("notes-fig2", caption, draw_merits(rows, [method.label for method in METHODS]))]


EXPERIMENT = Experiment(
    id="notes-fig2",
    source="NOTES",
    item="Fig. 2",
    title="Convergence rates on fluid and contact problems",
    story=(
        "PGS, PSOR with 1.4, the minimum map Newton method (GMRES without a preconditioner) and the Fischer-"
        "Newton method (strategy perturbation) take 50 iterations from zero, with the line search and the limits "
        f"of num4lcp, the code behind the paper. {FAMILIES_STORY} The paper has one problem of each kind; here "
        "figures are medians over ten. Ours beside it: the minimum map method with a factorisation in the place "
        "of GMRES."
    ),
    size="1000-row fluid and 300-row contact problems, 10 of each in 2 families",
    minutes=0.2,
    claims=read_claims(__package__, "fig2"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
