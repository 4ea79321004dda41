"""SLIDES, intermediate programming: PGS, Fischer-Newton and a QP solver on random problems of growing size."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np

from perp.lab.analysis.rates import fit_exponent, fit_rate
from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.slides.shared import ASKED, DIFFERENCES, SOLVERS, Column, median_by_size
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.printed_schemes import printed_scheme_task
from perp.lab.work.recipes import gallery
from perp.lab.work.sequence import error_curve_task, sequence, sequence_task

STOP = {"tol": 1e-8, "max_iterations": 2000}
CURVE_STOP = {"tol": 1e-12, "max_iterations": 1000}
SWEEPS = {"tol": 0.0, "max_iterations": 200}
TOLERANCES = [10.0**-k for k in range(13)]
RELAXATIONS = (0.2, 0.6, 1.0, 1.4, 1.8, 1.95)
HARD = 1e4
"""Condition number of the harder problems; the others have a condition number of n."""
WITH_DIFFERENCES = "Fischer-Newton, differences"
ASYMPTOTIC = 128
MARKED = 50
"""Curves of fewer iterations have a mark at each."""
SCHEMES = {
    "x ← max(0, M⁻¹(N x − b)), as printed": ("two_step", 500),
    "splitting, subproblems solved": ("subproblem", 60),
    "Fischer-Newton, direction projected, as printed": ("direction", 200),
    "Fischer-Newton, iterate projected": ("iterate", 200),
}


def make_tasks(quick: bool) -> list[Task]:
    sizes = [2**k for k in (range(3, 7) if quick else range(4, 11))]
    seeds = range(1 if quick else 3)
    tasks = [
        sequence_task(
            sequence("dense_pd", sizes, seed),
            solver.method,
            STOP,
            options=solver.options,
            label=label,
            group="sequences",
            timed=True,
            wall_seconds=60.0,
        )
        for label, solver in SOLVERS.items()
        for seed in seeds
    ]
    tasks += [
        sequence_task(
            sequence("dense_pd", sizes, seed),
            DIFFERENCES.method,
            STOP,
            options=DIFFERENCES.options,
            label=WITH_DIFFERENCES,
            group="sequences",
        )
        for seed in seeds
    ]
    return tasks + _curve_tasks(48 if quick else 256, seeds) + _printed_tasks(4 if quick else 10)


def _curve_tasks(n: int, seeds: range) -> list[Task]:
    tasks = []
    for condition in (None, HARD):
        for label, solver in SOLVERS.items():
            for seed in seeds if label in ("PGS", "Fischer-Newton") else [0]:
                tasks.append(
                    error_curve_task(
                        gallery("dense_pd", n, seed, condition=condition),
                        solver.method,
                        CURVE_STOP,
                        options=solver.options,
                        arguments={"tolerances": TOLERANCES} if label == "QP" else {},
                        label=label,
                        group="curves",
                    )
                )
    tasks += [
        error_curve_task(
            gallery("dense_pd", n, condition=HARD),
            "psor",
            SWEEPS,
            options={"relaxation": relaxation},
            label=f"PSOR {relaxation:g}",
            group="relaxation",
        )
        for relaxation in RELAXATIONS
    ]
    return tasks


def _printed_tasks(problems: int) -> list[Task]:
    drawn = [gallery("dense_pd", 32, seed) for seed in range(problems)]
    return [
        printed_scheme_task(drawn, scheme, iterations=limit, label=label, group="printed")
        for label, (scheme, limit) in SCHEMES.items()
    ]


def measure(rows: Rows) -> dict[str, float]:
    found = {
        "splitting_gap": _of_scheme(rows, "subproblem", "gap"),
        "two_step_solved": _of_scheme(rows, "two_step", "solved_share"),
        "direction_solved": _of_scheme(rows, "direction", "solved_share"),
        "largest_rise": max((row["rise"] for row in select(rows, group="relaxation")), default=nan),
        "differences_solved": _mean([row["solved_share"] for row in select(rows, label=WITH_DIFFERENCES)]),
        "pgs_order": _median_order(rows, "PGS"),
        "newton_order": _median_order(rows, "Fischer-Newton"),
        "pgs_cost_exponent": fit_exponent(*cost_by_size(rows, "PGS", ASYMPTOTIC)),
        "newton_cost_exponent": fit_exponent(*cost_by_size(rows, "Fischer-Newton", ASYMPTOTIC)),
        "qp_cost_exponent": fit_exponent(*cost_by_size(rows, "QP", ASYMPTOTIC)),
    }
    return {name: value for name, value in found.items() if isfinite(value)}


def cost_by_size(rows: Rows, label: str, least: int = 0) -> tuple[Column, Column]:
    """Sizes, and seconds of one iteration (median of the sequences); of a QP solver those of its own iterations."""
    chosen = select(rows, label=label, group="sequences")
    n, seconds = median_by_size(chosen, "seconds", least)
    _, iterations = median_by_size(chosen, "backend_iterations" if label == "QP" else "iterations", least)
    return n, seconds / iterations


def tabulate(rows: Rows) -> list[Table]:
    return [_accuracy_table(rows), _rate_table(rows), _cost_table(rows), _printed_table(rows), _relaxation_table(rows)]


def _accuracy_table(rows: Rows) -> Table:
    lines = []
    for label in (*SOLVERS, WITH_DIFFERENCES):
        chosen = select(rows, label=label, group="sequences")
        n, error = median_by_size(chosen, "error")
        if n.size:
            _, iterations = median_by_size(chosen, "iterations")
            _, seconds = median_by_size(chosen, "seconds")
            solved = _mean([row["solved_share"] for row in chosen])
            kind = "the assignment" if label in ASKED else "the slides"
            lines.append((label, kind, solved, error.max(), n[-1], iterations[-1], 1e3 * seconds[-1]))
    headings = ("solver", "asked for by", "share solved", "largest error", "rows", "iterations", "time [ms]")
    note = (
        "Errors are max |x - x*| against the solution that the problem was made from, the largest median of any size."
    )
    return Table("Accuracy to a residual of 1e-8, and the largest problems", headings, tuple(lines), note)


def _rate_table(rows: Rows) -> Table:
    lines = []
    for label in SOLVERS:
        cells: list[str | float | None] = [label]
        for condition in (None, HARD):
            row = _curve(rows, label, condition)
            fit = fit_rate(row.series["iteration"], row.series["error"]) if row else None
            figures = (row["iterations"], fit.factor, fit.order) if row and fit else (nan, nan, nan)
            cells += [value if isfinite(value) else None for value in figures]
        lines.append(tuple(cells))
    names = ("iterations", "factor an iteration", "order")
    headings = ("solver", *(f"{name}, condition {word}" for word in ("n", "1e4") for name in names))
    return Table("Convergence rates, fitted to the tail of the error", headings, tuple(lines))


def _cost_table(rows: Rows) -> Table:
    lines = []
    for label, solver in SOLVERS.items():
        n, seconds = cost_by_size(rows, label)
        if n.size:
            exponent = fit_exponent(*cost_by_size(rows, label, ASYMPTOTIC))
            told = exponent if isfinite(exponent) else None
            lines.append((label, solver.power, told, 1e3 * seconds[0], 1e3 * seconds[-1]))
    ends = sorted({int(n) for row in select(rows, group="sequences") for n in row.series.get("n", ())})
    sizes = (f"{ends[0]} rows", f"{ends[-1]} rows") if ends else ("least", "most")
    headings = ("solver", "exponent of operations", f"exponent of time, from {ASYMPTOTIC} rows")
    return Table("Cost of one iteration", (*headings, *(f"time, {size} [ms]" for size in sizes)), tuple(lines))


def _printed_table(rows: Rows) -> Table:
    lines = []
    for label in SCHEMES:
        for row in select(rows, label=label):
            gap = row["gap"]
            residual = row.series.get("residual", np.array([nan]))
            lines.append((label, row["solved_share"], float(np.median(residual)), gap if isfinite(gap) else None))
    headings = ("scheme", "share solved", "median residual at the end", "distance to PGS")
    return Table("Schemes as printed, and corrected", headings, tuple(lines))


def _relaxation_table(rows: Rows) -> Table:
    lines = tuple(
        (row.name, float(row.series["residual"][-1]), row["rise"])
        for row in select(rows, group="relaxation")
        if "residual" in row.series
    )
    headings = (
        "solver",
        f"residual after {SWEEPS['max_iterations']} sweeps",
        "largest rise of the objective, of its range",
    )
    return Table("Relaxation between 0 and 2, condition number 1e4", headings, lines)


def draw(rows: Rows) -> list[Picture]:
    strokes = assign_strokes(SOLVERS)
    figure, panels = new_figure(1, 2, panel=(4.7, 3.7), sharey=True)
    handles: dict[str, Any] = {}
    for axes, condition, word in zip(panels, (None, HARD), ("n", "1e4"), strict=True):
        name_axes(axes, "iteration", "", log="xy", title=f"condition number {word}")
        curves = {label: _curve(rows, label, condition) for label in SOLVERS}
        for label, row in curves.items():
            if row:
                line = {label: (row.series["iteration"][1:], row.series["error"][1:])}
                marker = "." if row["iterations"] < MARKED else None
                handles[label] = draw_lines(axes, line, strokes=strokes, marker=marker)[0]
    panels[0].set_ylabel("error max |x − x*|")
    add_legend(figure, list(handles.values()))
    costs, (axes,) = new_figure(1, 1, panel=(6.2, 3.9))
    name_axes(axes, "number of variables", "time of one iteration [ms]", log="xy")
    lines = {label: cost_by_size(rows, label) for label in SOLVERS}
    shown = {label: (n, 1e3 * seconds) for label, (n, seconds) in lines.items() if n.size}
    drawn = draw_lines(axes, shown, strokes=strokes, marker="o")
    axes.set_xscale("log", base=2)
    add_legend(costs, drawn)
    return [
        Picture(
            "slides-intermediate-error",
            "The error of the iterates, both axes logarithmic. What converges linearly, a straight line over a linear "
            "axis, bends down ever more here; Newton's methods drop at the end. The points of the QP solver are its "
            "answers to ever smaller tolerances, at the number of iterations that it took.",
            figure,
        ),
        Picture(
            "slides-intermediate-cost", "One iteration on full matrices: n² for sweeps, n³ for what factors.", costs
        ),
    ]


def _curve(rows: Rows, label: str, condition: float | None) -> LabRow | None:
    for row in select(rows, label=label, group="curves", seed=0):
        if row.task.instance["options"]["condition"] == condition and "error" in row.series:
            return row
    return None


def _median_order(rows: Rows, label: str) -> float:
    curves = [row.series for row in select(rows, label=label, group="curves") if "error" in row.series]
    orders = [fit_rate(series["iteration"], series["error"]).order for series in curves]
    known = [order for order in orders if isfinite(order)]
    return float(np.median(known)) if known else nan


def _of_scheme(rows: Rows, scheme: str, number: str) -> float:
    return _mean([row[number] for row in select(rows, scheme=scheme)])


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else nan


EXPERIMENT = Experiment(
    id="slides-intermediate",
    source="SLIDES",
    item="intermediate programming assignment",
    title="PGS, Fischer-Newton and a QP solver on random problems",
    story=(
        "The assignment asks for a PGS solver, a Fischer-Newton solver and the QP reformulation (Matlab's quadprog), "
        "on random problems of growing size: their accuracy, the error over iterations with the rate of convergence, "
        "and the cost of an iteration. The problems are full, symmetric and positive definite, made from a known "
        "solution with half of its rows active. In the place of quadprog stands the QP solver that is installed (PIQP "
        "if it is), whose iterates cannot be seen: it is called with ever smaller tolerances. The other methods of the "
        "slides stand beside. Two schemes are run as the slides print them, next to their corrected forms."
    ),
    size="3 sequences of 16 to 1,024 variables for each of seven solvers; error curves of 256 variables",
    minutes=0.2,
    claims=read_claims(__package__, "intermediate"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
