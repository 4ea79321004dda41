"""What Fig. 3, 4 and 5 share: RES after each sweep of the hundredth step of a scene."""

from __future__ import annotations

import numpy as np

from perp.lab.claims import Claim, read_claims
from perp.lab.experiments.amgs.contestants import HALF, IDENTITY, PGS, STROKES, TITLES, one_step, scaled
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import Column
from perp.lab.runs.task import Task
from perp.lab.work.amgs import amgs_step_task

STEP, SWEEPS = 100, 200
CONTESTANTS = (PGS, IDENTITY, HALF, scaled(0.2))
"""The last is not in the paper's figures; section 5.2 has it."""

TOLD = (0, 1, 10, 50, 100, 150, 200)
"""Sweeps in the table."""


def make_step_experiment(number: int, name: str, claims: tuple[Claim, ...]) -> Experiment:
    title = TITLES[name]

    def make_tasks(quick: bool) -> list[Task]:
        recipe = one_step(name, STEP, quick)
        return [
            amgs_step_task(recipe, each.method, options=each.options, sweeps=SWEEPS, label=each.label, group=name)
            for each in CONTESTANTS
        ]

    return Experiment(
        id=f"amgs-fig{number}",
        source="AMGS",
        item=f"Figure {number}",
        title=f"Convergence in step {STEP} of {title}",
        story=(
            f"{title} is simulated with ten sweeps of projected Gauss-Seidel a step, each step starting where the last "
            f"one ended. The problem of step {STEP} then goes to every method, from the same start, for {SWEEPS} "
            "sweeps. RES is |min(x, A x + b)| (eq. 24); tangents, bounded by the newest normal impulse, enter with the "
            "natural map of their box. The paper prints neither the time step (here 1/60 s) nor how discs start, and "
            "does not say whether each method had a simulation of its own. Its figure has no line for Omega = 0.2 D."
        ),
        size="the paper's: one problem, 200 sweeps of four methods",
        minutes=0.1,
        claims=claims,
        make_tasks=make_tasks,
        measure=measure_curves,
        tabulate=tabulate_curves,
        draw=lambda rows: draw_curves(rows, f"amgs-fig{number}", f"{title}, step {STEP}"),
    )


def curves(rows: Rows) -> dict[str, tuple[Column, Column]]:
    """Sweep numbers and RES of each method that was run."""
    found = {row.name: (row.series.get("iteration"), row.series.get("res")) for row in rows}
    return {name: (k, res) for name, (k, res) in found.items() if k is not None and res is not None and len(k) > 1}


def measure_curves(rows: Rows) -> dict[str, float]:
    """`x_below_y` is the share of sweeps after which x has the smaller RES; `x_over_y` the ratio after the last."""
    found = {name: res for name, (_, res) in curves(rows).items()}
    pairs = {
        "half_PGS": (HALF.label, PGS.label),
        "mean_PGS": (IDENTITY.label, PGS.label),
        "half_mean": (HALF.label, IDENTITY.label),
        "fifth_PGS": (scaled(0.2).label, PGS.label),
    }
    measured = {}
    for name, (one, other) in pairs.items():
        if one in found and other in found:
            x, y = found[one][1:], found[other][1:]
            first, second = name.split("_")
            measured[f"{first}_below_{second}"] = float(np.mean(x < y))
            measured[f"{first}_over_{second}"] = float(x[-1] / y[-1])
            measured[f"{first}_from_{second}"] = float(np.max(np.abs(x / y - 1.0)))
    return measured


def tabulate_curves(rows: Rows) -> list[Table]:
    found = curves(rows)
    lines = []
    for name, (k, res) in found.items():
        at = dict(zip(k.astype(int).tolist(), res.tolist(), strict=True))
        lines.append((name, *(at.get(sweep) for sweep in TOLD)))
    size = next((row.found.n for row in rows if row.found.n), 0)
    note = f"{size:,} rows. The paper prints no numbers for its figure."
    return [Table("RES after so many sweeps", ("method", *(str(sweep) for sweep in TOLD)), tuple(lines), note)]


def draw_curves(rows: Rows, name: str, title: str) -> list[Picture]:
    found = curves(rows)
    if not found:
        return []
    figure, (axes,) = new_figure(panel=(7.2, 4.0))
    name_axes(axes, "sweeps", "RES", title=title, log="y")
    draw_lines(axes, found, strokes=STROKES)
    add_legend(axes)
    caption = (
        "RES after each sweep. The dashed line, Omega = D / gamma = 0.5 D, lies on that of PGS: they are one method."
    )
    return [Picture(name, caption, figure)]


FIG3 = make_step_experiment(3, "pool1", read_claims(__package__, "fig3"))
FIG4 = make_step_experiment(4, "pool2", read_claims(__package__, "fig4"))
FIG5 = make_step_experiment(5, "stacking", read_claims(__package__, "fig5"))
