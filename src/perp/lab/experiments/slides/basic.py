"""SLIDES, basic programming: Lemke's method on random LCPs, and how many solutions an LCP has."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from perp.lab.analysis.rates import fit_exponent
from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.slides.shared import gather_by_size, mean_by_size, median_by_size
from perp.lab.palette import INK, SERIES, assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.sequence import GAUSSIAN, sequence, sequence_task, solutions_task

FAMILIES = {
    "positive definite": "dense_pd",
    "semidefinite, solvable": "dense_psd",
    "P, not symmetric": "dense_p",
    "no class (Gaussian)": GAUSSIAN,
}
*PROMISED, FAMILY_OF_NONE = FAMILIES
WORST = "worst case (Fathi)"
SOLVABLE = "no class (Gaussian), enumerated"
STOP = {"max_iterations": 5000}
ASYMPTOTIC = 128
"""Rows from which on the time of a pivot is that of its arithmetic."""

SIGNS = ("-", "0", "+")
PRINTED_COUNTS = {(-1, -1): 0, (-1, 0): 1, (-1, 1): 2, (0, -1): 0, (0, 0): np.inf, (0, 1): 1} | {
    (1, b): 1 for b in (-1, 0, 1)
}
"""Solutions of 0 <= x  ⊥  a x + b >= 0 by the signs of a and b, as printed."""


def make_tasks(quick: bool) -> list[Task]:
    seeds, powers = (range(3), range(2, 7)) if quick else (range(10), range(2, 11))
    sizes = [2**k for k in powers]
    tasks = [
        sequence_task(
            sequence(kind, sizes, seed), "lemke", STOP, label=label, group="lemke", timed=True, wall_seconds=60.0
        )
        for label, kind in FAMILIES.items()
        for seed in seeds
    ]
    worst = sequence("fathi", range(2, 9 if quick else 13))
    tasks.append(sequence_task(worst, "lemke", STOP, label=WORST, group="lemke"))
    return tasks + _counting_tasks(quick, seeds)


def _counting_tasks(quick: bool, seeds: range) -> list[Task]:
    draws, n = range(4 if quick else 10), 8
    lots = {
        "signs": [gallery("sign_table", 1, a=a, b=b) for a, b in PRINTED_COUNTS],
        "definite": [gallery("dense_pd", n, seed) for seed in draws],
        "semidefinite, rank 4, 4 active": [gallery("dense_psd", n, seed) for seed in draws],
        "semidefinite, rank 2, 4 active": [gallery("dense_psd", n, seed, zeros=0.75) for seed in draws],
        "semidefinite, contradictory": [gallery("infeasible_psd", n, seed, rank=3) for seed in draws],
    }
    tasks = [solutions_task(problems, label=label, group="counting") for label, problems in lots.items()]
    rows = range(6, 11) if quick else range(10, 19)
    growing = [gallery("dense_pd", m) for m in rows]
    small = [sequence(GAUSSIAN, [m], seed) for m in ((4, 8) if quick else (4, 8, 16)) for seed in seeds]
    tasks.append(solutions_task(small, label=SOLVABLE, group="counting"))
    return [*tasks, solutions_task(growing, label="guessing", group="counting", timed=True)]


def measure(rows: Rows) -> dict[str, float]:
    figures = {}
    if signs := _counts(rows, "signs"):
        figures["sign_cells"] = float(sum(np.equal(signs, list(PRINTED_COUNTS.values()))))
    if guessing := select(rows, label="guessing", work="solutions"):
        columns = guessing[0].series
        if "seconds" in columns:
            figures["doublings_per_row"] = float(np.polyfit(columns["n"], np.log2(columns["seconds"]), 1)[0])
    if definite := _counts(rows, "definite"):
        figures["unique_share"] = float(np.mean(np.equal(definite, 1.0)))
    semidefinite = _counts(rows, "semidefinite, rank 4, 4 active") + _counts(rows, "semidefinite, rank 2, 4 active")
    if semidefinite:
        figures["several_share"] = float(np.mean(np.greater(semidefinite, 1.0)))
    if contradictory := _counts(rows, "semidefinite, contradictory"):
        figures["contradictory_solved"] = float(np.mean(np.greater(contradictory, 0.0)))
    promised = [row["solved_share"] for row in _sequences(rows) if row.name in PROMISED]
    if promised:
        figures["promised_share"] = float(np.mean(promised))
    definite_rows = select(rows, label="positive definite", work="sequence")
    figures["pivot_exponent"] = fit_exponent(*median_by_size(definite_rows, "iterations", 8))
    figures["time_exponent"] = fit_exponent(*median_by_size(definite_rows, "seconds", ASYMPTOTIC))
    return {name: value for name, value in figures.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    counts = dict(zip(PRINTED_COUNTS, _counts(rows, "signs"), strict=False))
    signs = tuple(
        (f"a {SIGNS[a + 1]}, b {SIGNS[b + 1]}", _told(printed), _told(counts.get((a, b))))
        for (a, b), printed in PRINTED_COUNTS.items()
    )
    lots = tuple(
        (row.name, row.found.n, *_share_of_counts(row))
        for row in _enumerated(rows)
        if row.name not in ("signs", "guessing", SOLVABLE)
    )
    return [
        Table("Solutions of 0 ≤ x ⊥ a x + b ≥ 0 by signs", ("signs", "solutions (paper)", "solutions (here)"), signs),
        Table(
            "Solutions counted by trying every index set",
            ("problems", "rows", "none", "one", "several", "infinitely many"),
            lots,
            "Numbers of problems. Rank 4 with 4 active rows leaves A definite where it matters; rank 2 does not.",
        ),
        _guessing_table(rows),
        _solved_table(rows),
        _growth_table(rows),
    ]


def _guessing_table(rows: Rows) -> Table:
    lines: tuple[tuple[float, ...], ...] = ()
    for row in _enumerated(rows):
        if row.name == "guessing":
            columns = row.series
            lines = tuple(zip(columns["n"], columns["index_sets"], 1e3 * columns["seconds"], strict=True))
    return Table("The price of trying every index set", ("rows", "index sets", "time [ms]"), lines)


def _solved_table(rows: Rows) -> Table:
    solved = {label: mean_by_size(select(rows, label=label), "solved") for label in FAMILIES}
    pivots = {
        label: dict(zip(*median_by_size(select(rows, label=label), "iterations"), strict=True)) for label in FAMILIES
    }
    sizes = sorted({n for shares in solved.values() for n in shares})
    lines = tuple(
        (n, *(solved[label].get(n) for label in FAMILIES), *(pivots[label].get(n) for label in FAMILIES)) for n in sizes
    )
    headings = (*(f"solved: {label}" for label in FAMILIES), *(f"pivots: {label}" for label in FAMILIES))
    solvable = _solvable_by_size(rows)
    told = ", ".join(f"{share:.0%} of those with {n} rows" for n, share in solvable.items())
    note = f"Of the Gaussian problems, {told} have a solution, by enumeration." if told else ""
    return Table("Lemke's method: share solved, and the median of its pivots", ("rows", *headings), lines, note)


def _growth_table(rows: Rows) -> Table:
    lines = []
    for label in FAMILIES:
        chosen = select(rows, label=label)
        exponents = [
            fit_exponent(*median_by_size(chosen, "seconds", ASYMPTOTIC)),
            fit_exponent(*median_by_size(chosen, "iterations", 8)),
        ]
        lines.append((label, *(value if isfinite(value) else None for value in exponents)))
    n, pivots = median_by_size(select(rows, label=WORST), "iterations")
    counted = ", ".join(f"{count:g}" for count in pivots)
    note = f"On Fathi's definite matrices it takes {counted} pivots for {n[0]:g} to {n[-1]:g} rows." if n.size else ""
    headings = ("problems", f"exponent of time, from {ASYMPTOTIC} rows", "exponent of pivots, from 8 rows")
    return Table("How Lemke's method grows", headings, tuple(lines), note)


def draw(rows: Rows) -> list[Picture]:
    figure, (times, shares) = new_figure(1, 2, panel=(4.9, 3.7))
    strokes = assign_strokes(FAMILIES)
    medians = {label: median_by_size(select(rows, label=label), "seconds") for label in FAMILIES}
    medians = {label: (n, 1e3 * seconds) for label, (n, seconds) in medians.items() if n.size}
    name_axes(times, "number of variables", "time of a solve [ms]", log="xy", title="Time, median of the sequences")
    draw_lines(times, medians, strokes=strokes, marker="o")
    for label, (n, _) in medians.items():
        spread = gather_by_size(select(rows, label=label), "seconds").values()
        low, high = 1e3 * np.array([np.quantile(values, (0.25, 0.75)) for values in spread]).T
        times.fill_between(n, low, high, color=strokes[label].colour, alpha=0.12, linewidth=0)
    times.set_xscale("log", base=2)
    if medians:
        add_legend(times)
    _draw_shares(shares, rows)
    caption = (
        "Lemke's method on sequences of random problems. Bands have the middle half of the sequences. The share "
        "that is solved is one where theory promises it, and falls with size where A has no class; crosses mark the "
        "share of those that have a solution at all, as far as every index set can be tried."
    )
    return [Picture("slides-basic", caption, figure)]


def _draw_shares(axes: Any, rows: Rows) -> None:
    name_axes(axes, "number of variables", "share of problems solved", title="Fraction solved")
    width = 0.8 / len(FAMILIES)
    sizes: list[int] = sorted(
        {n for row in _sequences(rows) if row.name in FAMILIES for n in row.series["n"].astype(int)}
    )
    for place, label in enumerate(FAMILIES):
        solved = mean_by_size(select(rows, label=label), "solved")
        at = [sizes.index(n) + (place - 0.5 * (len(FAMILIES) - 1)) * width for n in solved]
        axes.bar(at, list(solved.values()), width, color=SERIES[place].light, label=label)
        if label == FAMILY_OF_NONE:
            solvable = {n: share for n, share in _solvable_by_size(rows).items() if n in solved}
            places = [at[list(solved).index(n)] for n in solvable]
            axes.plot(places, list(solvable.values()), "x", color=INK.light, markersize=5, label="has a solution")
    axes.set_xticks(range(len(sizes)), [str(n) for n in sizes])
    axes.set_ylim(0.0, 1.05)
    axes.grid(False, axis="x")


def _sequences(rows: Rows) -> list[LabRow]:
    return [row for row in select(rows, work="sequence") if "n" in row.series]


def _enumerated(rows: Rows) -> list[LabRow]:
    return [row for row in select(rows, work="solutions") if "isolated" in row.series]


def _counts(rows: Rows, label: str) -> list[float]:
    """Of the problems of a lot, how many solutions each has."""
    for row in _enumerated(rows):
        if row.name == label:
            return [
                float(np.inf) if families else float(alone)
                for alone, families in zip(row.series["isolated"], row.series["families"], strict=True)
            ]
    return []


def _solvable_by_size(rows: Rows) -> dict[int, float]:
    """The share of the Gaussian problems that have a solution at all, where every index set was tried."""
    for row in _enumerated(rows):
        if row.name == SOLVABLE:
            counts, n = np.array(_counts(rows, SOLVABLE)), row.series["n"]
            return {int(size): float(np.mean(counts[n == size] > 0.0)) for size in np.unique(n)}
    return {}


def _told(count: float | None) -> str | int | None:
    return count if count is None else int(count) if isfinite(count) else "infinitely many"


def _share_of_counts(row: LabRow) -> tuple[int, int, int, int]:
    counts = np.array(_counts([row], row.name))
    alone = np.isfinite(counts)
    several = int(np.sum(counts[alone] > 1.0))
    return int(np.sum(counts == 0.0)), int(np.sum(counts == 1.0)), several, int(np.sum(~alone))


EXPERIMENT = Experiment(
    id="slides-basic",
    source="SLIDES",
    item="basic programming assignment",
    title="Lemke's method on random problems of growing size",
    story=(
        "The assignment asks for sequences of random LCPs of 4, 8, ..., 1,024 variables, solved by Lemke's method: how "
        "long it takes, and what fraction is solved. It does not say how to draw them, so that four ways are shown: A "
        "with every entry normally distributed, which has no class, and three for which theory promises success; the "
        "right-hand side of those three is made from a known solution with half of its rows active. A run ends after "
        "5,000 pivots. Beside it stand what the slides say about the number of solutions, counted by trying every "
        "index set, and Fathi's matrices, which are positive definite and still take Lemke's method 2^n pivots."
    ),
    size="10 sequences of 4 to 1,024 variables for each of four families; problems of 1 to 18 rows enumerated",
    minutes=0.4,
    claims=read_claims(__package__, "basic"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
