"""PGS-SM section 5.1: longer sweeps, regularisation, lazy bounds and staggering."""

from __future__ import annotations

from math import isfinite, nan, radians
from statistics import median
from typing import Any

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.pgssm.fig3 import COST, FIRST, QUICK_COST, SOLVED
from perp.lab.experiments.pgssm.figure2 import (
    AS_PRINTED,
    CASES,
    DAMPED,
    DAMPED_FRICTION,
    GAMMA,
    LAZY,
    PGS,
    QUICK_STEPS,
    STEPS,
    UNTIL,
    Contender,
    TestCase,
    blow_ups,
    count,
    one_run,
    run_of,
    simulations,
)
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.pgs_sm import pgs_units_task
from perp.lab.work.recipes import scene
from perp.lab.work.touching_rows import EQUATION_3, in_form

VARIANTS = (AS_PRINTED, UNTIL, DAMPED, DAMPED_FRICTION, LAZY)
RESTING = "cde"
"""Scenes in which nothing should move."""

SLOPE, SLIPPERY = 20.0, 0.3
"""Degrees and friction of the slope that boxes slide down: tan 20° = 0.36."""
SLIDING = "sliding down a slope"
STAGGERED = "staggering"


def make_tasks(quick: bool) -> list[Task]:
    tasks = simulations(VARIANTS, quick)
    small = {"rows": 1, "columns": 1} if quick else {}
    steep = scene("incline", angle=SLOPE, friction=SLIPPERY, **small)
    steps = QUICK_STEPS if quick else STEPS
    tasks += [one_run(steep, SLIDING, who, steps) for who in (PGS, AS_PRINTED, LAZY)]
    for case in CASES:
        tasks += step_tasks(case, quick)
    return tasks


def step_tasks(case: TestCase, quick: bool) -> list[Task]:
    """One step of a scene by each variant."""
    recipe, cost = in_form(case.step(quick), EQUATION_3), QUICK_COST if quick else COST
    tasks = [
        pgs_units_task(recipe, who.method, cost=cost, options=who.options, label=who.label, group=case.name)
        for who in VARIANTS
    ]
    stop = {"tol": 1e-8, "max_iterations": 10 if quick else 100, "max_seconds": 8.0}
    plain: dict[str, Any] = {"memory": 0, "proximal": 0.0}
    staggered = Task("pgs_units", recipe, "staggering", plain, stop, {"cost": 1e9}, STAGGERED, case.name)
    return [*tasks, staggered]


def step_of(rows: Rows, case: TestCase, label: str) -> LabRow | None:
    found = select(rows, lambda row: row.name == label and "merit" in row.series, group=case.name)
    return found[0] if found else None


def measure(rows: Rows) -> dict[str, float]:
    printed = count(blow_ups(rows, AS_PRINTED))
    damped = count(blow_ups(rows, DAMPED))
    ratios = [ratio(rows, case, DAMPED, "cg_iterations", "subspace_steps") for case in CASES]
    sweeps = [ratio(rows, case, UNTIL, "sweeps", "iterations") for case in CASES]
    ways = [way_ratio(rows, case, DAMPED) for case in CASES if case.letter in RESTING]
    staggered = [row for case in CASES if (row := step_of(rows, case, STAGGERED)) is not None]
    figures = {
        "printed": printed,
        "until_fewer": printed - count(blow_ups(rows, UNTIL)),
        "damped_fewer": printed - damped,
        "friction_extra": count(blow_ups(rows, DAMPED_FRICTION)) - damped,
        "lazy_fewer": printed - count(blow_ups(rows, LAZY)),
        "until_sweeps": _median(sweeps),
        "damped_cg": _median(ratios),
        "damped_way": _median(ways),
        "lazy_slide": slide(rows, LAZY),
        "printed_slide": slide(rows, AS_PRINTED),
        "pgs_slide": slide(rows, PGS),
        "staggering": float(sum(row.success for row in staggered)) if len(staggered) == len(CASES) else nan,
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _median(values: list[float]) -> float:
    told = [value for value in values if isfinite(value)]
    return median(told) if told else nan


def ratio(rows: Rows, case: TestCase, who: Contender, above: str, below: str) -> float:
    """Of one counter to another, over the same as printed."""
    own, other = step_of(rows, case, who.label), step_of(rows, case, AS_PRINTED.label)
    if own is None or other is None or not own[below] or not other[above]:
        return nan
    return (own[above] / own[below]) / (other[above] / other[below])


def way_ratio(rows: Rows, case: TestCase, who: Contender) -> float:
    """How far bodies go, over what they do as printed (at least 1e-9 m)."""
    own, other = run_of(rows, case.name, who), run_of(rows, case.name, AS_PRINTED)
    return nan if own is None or other is None else own["way"] / max(other["way"], 1e-9)


def slide(rows: Rows, who: Contender) -> float:
    """The way down the slope over that of Coulomb's law, a h^2 n (n + 1) / 2 with a = g (sin - friction cos)."""
    row = run_of(rows, SLIDING, who)
    if row is None or row["blown_up"]:
        return nan
    angle, steps = radians(SLOPE), row["steps"]
    acceleration = 9.81 * (np.sin(angle) - SLIPPERY * np.cos(angle))
    return float(row["way"] / (acceleration * row["dt"] ** 2 * steps * (steps + 1.0) / 2.0))


def tabulate(rows: Rows) -> list[Table]:
    lines: list[tuple[Cell, ...]] = []
    for who in VARIANTS:
        blown = blow_ups(rows, who)
        letters = "" if blown is None else ", ".join(letter for letter, is_blown in blown.items() if is_blown)
        steps = [row for case in CASES if (row := step_of(rows, case, who.label)) is not None]
        solved = float(sum(row["least_merit"] <= SOLVED for row in steps)) if steps else None
        cg = _median([row["cg_iterations"] / row["subspace_steps"] for row in steps if row["subspace_steps"]])
        sweeps = _median([row["sweeps"] / row["iterations"] for row in steps if row["iterations"]])
        way = _median([run["way"] for case in CASES if case.letter in RESTING
                       and (run := run_of(rows, case.name, who)) is not None])  # fmt: skip
        lines.append((who.label, count(blown) if blown else None, letters, solved, *map(_told, (cg, sweeps, way))))
    headings = (
        "variant",
        "blow-ups of 8",
        "scenes",
        "steps solved of 8",
        "CG iterations a subspace step",
        "sweeps an iteration",
        "way in (c), (d), (e) [m]",
    )
    first = Table("Variants of PGS-SM", headings, tuple(lines), "Medians over scenes. The paper prints no numbers.")
    sliding: list[tuple[Cell, ...]] = [
        (who.label, None if (row := run_of(rows, SLIDING, who)) is None else row["way"], _told(slide(rows, who)))
        for who in (PGS, AS_PRINTED, LAZY)
    ]
    second = Table("Sliding down a slope", ("method", "way [m]", "over Coulomb's law"), tuple(sliding))
    staggered: list[tuple[Cell, ...]] = []
    for case in CASES:
        row = step_of(rows, case, STAGGERED)
        if row is not None:
            staggered.append((case.name, row.status, row["iterations"], row["residual"]))
    third = Table(
        "Plain staggering on a step of each scene",
        ("scene", "ending", "turns", "residual [N s]"),
        tuple(staggered),
        "Exact halves by block principal pivoting, no acceleration, no proximal term.",
    )
    return [first, second, third]


def _told(value: float) -> float | None:
    return value if isfinite(value) else None


def draw(rows: Rows) -> list[Picture]:
    strokes = assign_strokes(who.label for who in VARIANTS)
    figure, panels = new_figure(4, 2, panel=(4.4, 2.6), sharex=True, sharey=True)
    handles: dict[str, object] = {}
    for place, (axes, case) in enumerate(zip(panels, CASES, strict=True)):
        x_name = "cost [PGS iterations]" if place >= len(CASES) - 2 else ""
        name_axes(axes, x_name, "merit ψ" if place % 2 == 0 else "", title=case.name, log="xy")
        curves = {
            who.label: (np.maximum(row.series["cost"], FIRST), row.series["merit"])
            for who in VARIANTS
            if (row := step_of(rows, case, who.label)) is not None
        }
        for line in draw_lines(axes, curves, strokes=strokes):
            handles.setdefault(str(line.get_label()), line)
        axes.set_ylim(1e-18, 1e6)
        axes.axhline(SOLVED, color="#98a2b3", linewidth=0.8)
    add_legend(figure, [handles[who.label] for who in VARIANTS if who.label in handles])
    caption = "Fischer's merit against cost on step 100 of each scene, for the variants of section 5.1."
    return [Picture("pgssm-5.1", caption, figure)]


EXPERIMENT = Experiment(
    id="pgssm-5.1",
    source="PGS-SM",
    item="section 5.1",
    title="Variants that should make PGS-SM more stable",
    story=(
        f"Each variant in whole simulations of the eight scenes ({STEPS} steps, two iterations a step, cold), and on "
        "one step of each. Sweeps until ψ rests go on, 25 at a time, until these change it by less than 1 %, 1,000 at "
        f"most. γ is {GAMMA:g}/kg; the paper names no value. Friction is judged on a slope of {SLOPE:g}° with a "
        f"coefficient of {SLIPPERY:g}, where Coulomb's law says how far boxes slide. Staggering takes turns between "
        "exact halves on one step of each scene."
    ),
    size=f"8 scenes x 5 variants x {STEPS} steps; 8 steps x 6 methods up to {COST:,} PGS iterations of cost",
    minutes=1.2,
    claims=read_claims(__package__, "variants"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
