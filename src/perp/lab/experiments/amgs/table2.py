"""AMGS Table 2: the time of 1,000 steps of 200 sweeps."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.contestants import ALPHAS, FAMILY, HALF, PGS, TITLES, Contestant, scaled, whole
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.palette import SERIES
from perp.lab.plots import add_legend, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.amgs import amgs_run_task

if TYPE_CHECKING:
    from matplotlib.container import BarContainer

STEPS, QUICK_STEPS, SWEEPS = 1000, 30, 200
STEP_SECONDS = 1.0 / 60.0
FIRST = 60
"""The steps before are left out of residuals, as in Fig. 6-8."""

PRINTED = {
    "pool1": (2.639, 2.083, 1.974, 2.051, 1.996, 1.968, 2.022),
    "pool2": (2.093, 1.921, 1.907, 1.849, 1.904, 1.915, 1.915),
    "stacking": (0.095, 0.099, 0.081, 0.085, 0.085, 0.089, 0.082),
}
"""Seconds, of projected Gauss-Seidel and of alpha from 0.1 to 0.6."""


def make_tasks(quick: bool) -> list[Task]:
    return [
        amgs_run_task(
            whole(name, quick),
            each.method,
            options=each.options,
            steps=QUICK_STEPS if quick else STEPS,
            sweeps=SWEEPS,
            label=each.label,
            group=name,
            timed=True,
        )
        for name in TITLES
        for each in FAMILY
    ]


def measure(rows: Rows) -> dict[str, float]:
    found: dict[str, float] = {}
    shorter = []
    for name in TITLES:
        seconds = {each.label: _seconds(_row(rows, name, each)) for each in FAMILY}
        shorter += [seconds[scaled(alpha).label] / seconds[PGS.label] for alpha in ALPHAS]
        found[f"{name}_half_over_PGS"] = seconds[HALF.label] / seconds[PGS.label]
        found[f"{name}_res_fifth_over_PGS"] = _res(_row(rows, name, scaled(0.2))) / _res(_row(rows, name, PGS))
    found["shorter"] = float(np.sum(np.array(shorter) < 1.0)) if np.isfinite(shorter).all() else float("nan")
    found["res_fifth_over_PGS"] = max(found[f"{name}_res_fifth_over_PGS"] for name in TITLES)
    row = _row(rows, "pool1", HALF)
    if row is not None and row["steps"]:
        found["pool1_computed_over_shown"] = row["step_seconds"] / (row["steps"] * STEP_SECONDS)
    return {name: value for name, value in found.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    lines: list[tuple[Cell, ...]] = []
    for name, title in TITLES.items():
        for each, printed in zip(FAMILY, PRINTED[name], strict=True):
            row = _row(rows, name, each)
            if row is not None and row["row_sweeps"]:
                pace = 1e9 * row["seconds"] / row["row_sweeps"]
                res = _res(row)
                lines.append(
                    (title, each.label, printed, row["seconds"], row["step_seconds"], pace, row["contacts"], res)
                )
    headings = (
        "scene",
        "method",
        "s (paper)",
        "s in the solver (here)",
        "s in all (here)",
        "ns a row and sweep",
        "contacts",
        "median RES",
    )
    note = (
        "The paper does not say whether its times contain finding contacts. Every method makes 200 sweeps a step; what "
        "differs is how many contacts its own pool has, and the cost of one row."
    )
    return [Table(f"Seconds of {STEPS:,} steps of {SWEEPS} sweeps", headings, tuple(lines), note)]


def draw(rows: Rows) -> list[Picture]:
    if not any(isfinite(row["seconds"]) for row in rows):
        return []
    figure, panels = new_figure(1, 3, panel=(3.7, 3.2))
    bars: list[BarContainer] = []
    for axes, (name, title) in zip(panels, TITLES.items(), strict=True):
        here = [_seconds(_row(rows, name, each)) for each in FAMILY]
        place = np.arange(len(FAMILY))
        ours = axes.bar(place - 0.2, here, 0.4, color=SERIES[0].light, label="here, in the solver")
        theirs = axes.bar(place + 0.2, PRINTED[name], 0.4, color=SERIES[4].light, label="paper")
        axes.set_xticks(place, ["PGS", *(f"{alpha:g}" for alpha in ALPHAS)])
        name_axes(axes, "alpha in Omega = alpha D", "seconds" if axes is panels[0] else "", title=title)
        axes.grid(False, axis="x")
        bars = [ours, theirs]
    add_legend(figure, bars)
    caption = f"Seconds of {STEPS:,} steps of {SWEEPS} sweeps; the paper's are of a notebook of 2015."
    return [Picture("amgs-table2", caption, figure)]


def _row(rows: Rows, name: str, each: Contestant) -> LabRow | None:
    found = select(rows, name=each.label, group=name)
    return found[0] if found else None


def _seconds(row: LabRow | None) -> float:
    return float("nan") if row is None else row["seconds"]


def _res(row: LabRow | None) -> float:
    """The median RES, of the steps after the first sixty where there are so many."""
    res = () if row is None else row.series.get("res", ())
    return float(np.median(res[FIRST if len(res) > FIRST else 0 :])) if len(res) else float("nan")


EXPERIMENT = Experiment(
    id="amgs-table2",
    source="AMGS",
    item="Table 2",
    title="The time of 1,000 steps",
    story=(
        "Each scene for 1,000 steps of 1/60 s with friction, 200 sweeps a step and a simulation of its own for each "
        "method. The number of sweeps is given, so that a method can be quicker only by a cheaper sweep or by a pool "
        "with fewer contacts. Seconds are those of the solver with its preparation and two checks a step."
    ),
    size="the paper's: 21 simulations",
    minutes=0.9,
    claims=read_claims(__package__, "table2"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
