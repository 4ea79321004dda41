"""What Fig. 6, 7 and 8 share: RES at the end of every step of a simulation, for seven methods."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from perp.lab.claims import Claim, read_claims
from perp.lab.experiments.amgs.contestants import ALPHAS, FAMILY, HALF, PGS, STROKES, SWEEPS, TITLES, scaled, whole
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import Column, LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.amgs import amgs_run_task

STEPS, QUICK_STEPS = 1000, 110
FIRST, EARLY_END, LATE = 60, 160, 300
"""The paper leaves 60 steps out, speaks of the 100 after them, and of those from 300 on."""

SEEDS = {"pool1": (0, 1, 2, 3, 4), "pool2": (0, 1, 2, 3, 4), "stacking": (0,)}
"""Pools that differ in where the discs start; a stack has nothing to draw."""

WINDOW = 15
"""Steps over which the lines of a figure are smoothed: the median of as many."""

DEPTH = 1e-6
"""A figure shows so many times its largest RES, and no less: steps in flight have all but none."""


def make_runs(name: str, quick: bool) -> list[Task]:
    """The runs of one scene: each method, each seed."""
    return [
        amgs_run_task(
            whole(name, quick, seed),
            each.method,
            options=each.options,
            steps=QUICK_STEPS if quick else STEPS,
            sweeps=SWEEPS,
            label=each.label,
            group=name,
        )
        for seed in SEEDS[name][: 1 if quick else None]
        for each in FAMILY
    ]


def make_simulation_experiment(number: int, name: str, claims: tuple[Claim, ...], since: int) -> Experiment:
    """`since` is the step from which the paper's text on the figure compares methods."""
    title, seeds = TITLES[name], len(SEEDS[name])
    pools = f" Here {seeds} pools are simulated, which differ in where the discs start." if seeds > 1 else ""
    return Experiment(
        id=f"amgs-fig{number}",
        source="AMGS",
        item=f"Figure {number}",
        title=f"Residuals over the whole simulation of {title}",
        story=(
            f"{title} for {STEPS:,} steps of 1/60 s with friction, {SWEEPS} sweeps a step, each step starting where "
            "the last one ended, and a simulation of its own for each method. RES is that of the last sweep of a step "
            f"(eq. 24).{pools} A run is summed up by its median RES from step {since} on, several runs by their "
            "geometric mean. Omega = 0.5 D and projected Gauss-Seidel are one method: what tells their runs apart is "
            "rounding, which the motion of a pool multiplies until after some 200 steps the two are different pools. "
            "So the difference of these two lines is the error bar of every other."
        ),
        size=f"the paper's: {STEPS:,} steps of seven methods" + (f", in {seeds} pools for its one" if pools else ""),
        minutes=0.4 if seeds > 1 else 0.1,
        claims=claims,
        make_tasks=lambda quick: make_runs(name, quick),
        measure=lambda rows: measure_runs(rows, since),
        tabulate=lambda rows: [tabulate_runs(rows, since)],
        draw=lambda rows: draw_runs(rows, f"amgs-fig{number}", title),
    )


def levels(rows: Rows, label: str, first: int, last: int | None = None) -> list[float]:
    """The median RES of those steps in which there was something to solve, a run of that method each."""
    found = [_touching(row)[first:last] for row in select(rows, name=label) if "res" in row.series]
    return [float(np.nanmedian(res)) for res in found if np.isfinite(res).any()]


def _touching(row: LabRow) -> Column:
    """RES of each step, nan where it is 0 before the first sweep: so it is while a stack that hops is in the air."""
    res = row.series["res"]
    return np.where(res > 0.0, res, nan)


def geometric_mean(values: Sequence[float]) -> float:
    """nan of nothing."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(values)))) if len(values) else nan


def start_of(rows: Rows, since: int) -> int:
    """`since`, or for runs that end before it (quick ones) the first step that the paper shows."""
    longest = max((len(row.series.get("res", ())) for row in rows), default=0)
    return since if longest > since else FIRST


def measure_runs(rows: Rows, since: int) -> dict[str, float]:
    first = start_of(rows, since)
    level = {each.label: geometric_mean(levels(rows, each.label, first)) for each in FAMILY}
    early = {each.label: geometric_mean(levels(rows, each.label, FIRST, EARLY_END)) for each in FAMILY}
    of_alpha = np.array([level[scaled(alpha).label] for alpha in ALPHAS])
    base, all_of_them = level[PGS.label], np.array(list(level.values()))
    measured = {f"{alpha:g}_over_PGS": value / base for alpha, value in zip(ALPHAS, of_alpha, strict=True)}
    measured |= {
        "slowest_small_over_PGS": np.max(of_alpha[:4]) / base,
        "fifth_over_next": of_alpha[1] / np.min(np.delete(of_alpha, 1)),
        "spread": np.max(all_of_them) / np.min(all_of_them),
        "rank_correlation": rank_correlation(of_alpha),
        "early_tenth_over_PGS": early[scaled(0.1).label] / early[PGS.label],
        "early_half_over_PGS": early[HALF.label] / early[PGS.label],
    }
    return {name: float(value) for name, value in measured.items() if np.isfinite(value)}


def rank_correlation(values: NDArray[np.float64]) -> float:
    """Spearman's, of the values with their places: 1 where they grow all the way."""
    places, count = np.argsort(np.argsort(values)), len(values)
    return (
        nan
        if np.isnan(values).any()
        else 1.0 - 6.0 * float(np.sum((places - np.arange(count)) ** 2)) / (count * (count**2 - 1))
    )


def tabulate_runs(rows: Rows, since: int) -> Table:
    first = start_of(rows, since)
    base = geometric_mean(levels(rows, PGS.label, first))
    lines = []
    for each in FAMILY:
        late, early = levels(rows, each.label, first), levels(rows, each.label, FIRST, EARLY_END)
        if late:
            mean = geometric_mean(late)
            contacts = float(np.mean([row["contacts"] for row in select(rows, name=each.label)]))
            lines.append((each.label, geometric_mean(early), mean, min(late), max(late), mean / base, contacts))
    headings = (
        "method",
        f"RES, steps {FIRST}-{EARLY_END}",
        f"RES from step {first}",
        "least run",
        "worst run",
        "over PGS",
        "contacts",
    )
    note = (
        "Medians over steps, geometric means over runs; contacts are means. The paper prints no numbers for its "
        "figure; its J has 516 rows on average in a pool, 14 in Stacking."
    )
    return Table("RES after the last sweep of a step", headings, tuple(lines), note)


def draw_runs(rows: Rows, name: str, title: str) -> list[Picture]:
    """The runs of the first seed, smoothed."""
    found = {}
    for each in FAMILY:
        runs = [_touching(row) for row in select(rows, name=each.label, seed=0) if "res" in row.series]
        if runs and len(runs[0]) > FIRST + WINDOW:
            found[each.label] = _smoothed(runs[0])
    if not found:
        return []
    figure, (axes,) = new_figure(panel=(9.0, 4.2))
    name_axes(axes, "step", "RES after the last sweep", title=title, log="y")
    lines = draw_lines(axes, found, strokes=STROKES)
    highest = max(float(np.nanmax(res)) for _, res in found.values())
    axes.set_ylim(bottom=max(axes.get_ylim()[0], DEPTH * highest))
    add_legend(figure, lines)
    caption = (
        f"RES of each step from {FIRST} on, the median of {WINDOW} steps, seed 0, where something touches. Dashed: "
        "Omega = D / gamma."
    )
    return [Picture(name, caption, figure)]


def _smoothed(res: Column) -> tuple[Column, Column]:
    windows = np.lib.stride_tricks.sliding_window_view(res[FIRST:], WINDOW)
    middle: Column = FIRST + 1.0 + WINDOW // 2 + np.arange(len(windows), dtype=np.float64)
    touches = np.isfinite(windows).all(axis=1)
    return middle[touches], np.median(windows[touches], axis=1)


FIG6 = make_simulation_experiment(6, "pool1", read_claims(__package__, "fig6"), since=LATE)
FIG7 = make_simulation_experiment(7, "pool2", read_claims(__package__, "fig7"), since=FIRST)
FIG8 = make_simulation_experiment(8, "stacking", read_claims(__package__, "fig8"), since=FIRST)
