"""Ours, after AMGS section 6: alpha chosen while the simulation, or the solve, runs."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.contestants import (
    ALPHAS,
    HALF,
    PGS,
    SCENES,
    SWEEPS,
    TITLES,
    Contestant,
    race_task,
    scaled,
    whole,
)
from perp.lab.experiments.amgs.whole_simulation import (
    FIRST,
    LATE,
    QUICK_STEPS,
    SEEDS,
    STEPS,
    geometric_mean,
    levels,
    make_runs,
    start_of,
)
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import select
from perp.lab.runs.task import Task
from perp.lab.work.amgs import amgs_run_task

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

TRIAL = {"every": 5, "factor": 1.25, "lowest": 0.05, "highest": 1.0}
"""Every fifth step tries a neighbour of alpha; alpha = 0.05 over-relaxes by 1.8, alpha = 1 under-relaxes by 2/3."""

BY_TRIAL = {
    measure: Contestant(f"3.1 [alpha D], trials by {told}", HALF.method, HALF.options)
    for measure, told in (("natural_2", "RES"), ("objective", "objective"))
}
"""What trials compare."""

WITHIN = Contestant("3.1 [alpha D], within the solve", "amgs", {"adaptive": True})
RACERS = (HALF, scaled(0.2), WITHIN)


def make_tasks(quick: bool) -> list[Task]:
    tasks = []
    for name in TITLES:
        tasks += make_runs(name, quick)
        tasks += [
            amgs_run_task(
                whole(name, quick, seed),
                each.method,
                options=each.options,
                steps=QUICK_STEPS if quick else STEPS,
                sweeps=SWEEPS,
                adapt=TRIAL | {"measure": measure},
                label=each.label,
                group=name,
            )
            for measure, each in BY_TRIAL.items()
            for seed in SEEDS[name][: 1 if quick else None]
        ]
    return tasks + [race_task(name, quick, each, timed=each is not WITHIN) for name in SCENES for each in RACERS]


def measure(rows: Rows) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in TITLES:
        of_scene = select(rows, group=name, work="amgs_run")
        first = start_of(of_scene, LATE)
        fixed = [geometric_mean(levels(of_scene, scaled(alpha).label, first)) for alpha in ALPHAS]
        for measured, each in BY_TRIAL.items():
            trial = geometric_mean(levels(of_scene, each.label, first))
            found[f"{name}_{measured}_over_half"] = trial / fixed[ALPHAS.index(0.5)]
            found[f"{name}_{measured}_over_best"] = trial / min(fixed)
        sweeps = [_sweeps(rows, name, each) for each in (WITHIN, HALF)]
        found[f"{name}_within_over_half"] = sweeps[0] / sweeps[1]
    for ratio in (*(f"{measured}_over_{one}" for measured in BY_TRIAL for one in ("half", "best")), "within_over_half"):
        found[ratio] = max(found[f"{name}_{ratio}"] for name in TITLES)
    return {name: value for name, value in found.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    runs: list[tuple[Cell, ...]] = []
    races: list[tuple[Cell, ...]] = []
    for name, title in TITLES.items():
        of_scene = select(rows, group=name, work="amgs_run")
        first = start_of(of_scene, LATE)
        for label in (
            PGS.label,
            *(scaled(alpha).label for alpha in ALPHAS),
            *(each.label for each in BY_TRIAL.values()),
        ):
            late = levels(of_scene, label, first)
            if late:
                found = select(of_scene, name=label)
                sweeps = float(np.mean([row["sweeps"] for row in found])) / found[0].task.arguments["steps"]
                last = [float(row.series["alpha"][-1]) for row in found if "alpha" in row.series]
                ends = f"{min(last):.2g} to {max(last):.2g}" if last else None
                runs.append((title, label, geometric_mean(late), min(late), max(late), sweeps, ends))
        for each in RACERS:
            sweeps_needed = _sweeps(rows, name, each)
            if isfinite(sweeps_needed):
                races.append((title, each.label, sweeps_needed, sweeps_needed / _sweeps(rows, name, HALF)))
    return [
        Table(
            "RES of late steps, ten sweeps a step",
            ("scene", "method", "RES", "least run", "worst run", "sweeps a step", "alpha at the end"),
            tuple(runs),
            f"Medians from step {LATE} on (quick runs: {FIRST}); geometric means over the pools. Trials cost sweeps.",
        ),
        Table(
            "Sweeps to RES below 1e-4 in step 100 without friction",
            ("scene", "method", "sweeps", "over 0.5 D"),
            tuple(races),
            "The search within a solve begins at alpha = 0.5.",
        ),
    ]


def draw(rows: Rows) -> list[Picture]:
    if not any("alpha" in row.series for row in rows):
        return []
    figure, panels = new_figure(2, 3, panel=(3.7, 2.5), sharex=True, sharey=True)
    strokes = assign_strokes([f"seed {seed}" for seed in SEEDS["pool1"]])
    lines: list[Line2D] = []
    places = [(each, name) for each in BY_TRIAL.values() for name in TITLES]
    for number, (axes, (each, name)) in enumerate(zip(panels, places, strict=True)):
        told = each.label.split(", ")[1]
        name_axes(axes, "step" if number > 2 else "", "alpha" if number % 3 == 0 else "", log="y")
        axes.set_title(f"{TITLES[name]}, {told}")
        found = {
            f"seed {row.task.seed}": (1.0 + np.arange(len(row.series["alpha"])), row.series["alpha"])
            for row in select(rows, group=name, name=each.label)
            if "alpha" in row.series
        }
        drawn = draw_lines(axes, found, strokes=strokes)
        lines = drawn if len(drawn) > len(lines) else lines
        axes.axhline(0.5, color="0.6", linewidth=0.8)
        axes.set_yticks([0.05, 0.1, 0.2, 0.5, 1.0], ["0.05", "0.1", "0.2", "0.5", "1"])
        axes.minorticks_off()
    add_legend(figure, lines)
    caption = "The alpha that trials choose, from 0.5 (grey: projected Gauss-Seidel) at the beginning."
    return [Picture("amgs-adaptive", caption, figure)]


def _sweeps(rows: Rows, name: str, each: Contestant) -> float:
    found = [row for row in select(rows, name=each.label, group=name, work="amgs_step") if row.success]
    return found[0]["iterations"] if found else float("nan")


EXPERIMENT = Experiment(
    id="amgs-adaptive",
    source="OURS",
    item="AMGS section 6",
    title="An alpha that adapts",
    story=(
        "AMGS leaves the choice of alpha as a future task. By trial: every fifth step of a simulation is solved twice "
        "from the same start, with alpha and with a neighbour (times or divided by 1.25, by turns); the better answer "
        "is taken, and its alpha stays. Better is a smaller RES, or a smaller 1/2 x^T A x + b^T x. Both begin at "
        "alpha = 0.5 and are compared with the fixed alphas of Fig. 6-8. Within the solve: the option adaptive=True, "
        "which compares how fast windows of sweeps contract and needs more than ten of them, on the problems of "
        "Table 1. None of the rules was tuned on these."
    ),
    size="the runs of Fig. 6-8, 22 more of the same, and nine solves",
    minutes=1.2,
    claims=read_claims(__package__, "adaptive"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
