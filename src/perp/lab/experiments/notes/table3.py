"""NOTES Table 3, the properties of the methods: time, rate and global convergence, measured."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from perp.lab.analysis.rates import fit_rate
from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Rows, Table
from perp.lab.experiments.notes import fig5
from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FREE_SHARE,
    MINIMUM_MAP,
    OWN,
    PGS,
    PSOR,
    Criteria,
    PapersMethod,
)
from perp.lab.experiments.notes.robustness_runs import percentage
from perp.lab.runs.row import select
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

FISCHER_DIRECT = PapersMethod("Fischer", "fischer", "fischer", {**OWN, "strategy": "random"})
MINIMUM_MAP_DIRECT = PapersMethod("Min. map", "minimum_map", "minimum_map", {"fallback": "none", "sufficient": 1e-3})
"""With factors: the table assumes direct methods for linear systems."""
DANTZIG = PapersMethod("Dantzig", "dantzig", "")

SWEEPS, NEWTON = (PGS, PSOR), (MINIMUM_MAP_DIRECT, FISCHER_DIRECT)
PIVOTING = (DANTZIG, fig5.LEMKE)
FLUID, DENSE, RATE = "fluid", "dense", "rate"
FAR = {"symmetric": "dense_pd", "non-symmetric": "dense_p", "contact": "contact_like"}
"""Groups of runs from far starts, and their problems."""
FAR_SWEEPS = Criteria(absolute=1e-10, relative=1e-12, max_iterations=5000)
FAR_STEPS = Criteria(absolute=1e-10, relative=1e-12, max_iterations=200)

PRINTED: tuple[tuple[PapersMethod, str, str, str, str, str, str], ...] = (
    (PGS, "(splitting) PGS", "nonzero diagonal", "O(n)", "O(n)", "linear", "no"),
    (PGS, "(QP) PGS", "symmetric PSD", "O(n)", "O(n)", "linear", "yes"),
    (PSOR, "(QP) PSOR", "symmetric PSD", "O(n)", "O(n)", "linear", "yes"),
    (DANTZIG, "Dantzig", "symmetric PD", "O(n^4)", "O(n^2)", "-", "-"),
    (fig5.LEMKE, "Lemke", "P-matrix", "O(2^n)", "O(n^2)", "-", "-"),
    (MINIMUM_MAP, "Minimum map Newton", "no assumptions", "O(n^3)", "O(n^2)", "quadratic", "yes"),
    (FISCHER, "Fischer-Newton", "no assumptions", "O(n^3)", "O(n^2)", "quadratic", "yes"),
)
"""The lines of the table: time is that of an iteration, for pivoting that of a whole solve."""


def make_tasks(quick: bool) -> list[Task]:
    return [*_timed_tasks(quick), *_rate_tasks(quick), *_far_tasks(quick)]


def _timed_tasks(quick: bool) -> list[Task]:
    fluids = fig5.QUICK_FLUIDS if quick else (1000, *fig5.LARGER_FLUIDS)
    dense = (50, 100, 200) if quick else (200, 400, 800, 1600)
    plan: list[tuple[str, int, str, tuple[PapersMethod, ...]]] = [("fluid_like", n, FLUID, SWEEPS) for n in fluids]
    plan += [("dense_pd", n, DENSE, (*SWEEPS, *NEWTON, *PIVOTING)) for n in dense]
    return [
        fig5.timed_task(gallery(kind, n, active=FREE_SHARE), method, group)
        for kind, n, group, methods in plan
        for method in methods
    ]


def _rate_tasks(quick: bool) -> list[Task]:
    """To the last digit, so that the end of the sequence shows its order."""
    cells, problems = (216, 2) if quick else (1000, 10)
    return [
        solve_task(
            gallery("fluid_like", cells, seed, active=FREE_SHARE),
            method.method,
            {"tol": 1e-14, "max_iterations": 400, "check_every": 1},
            options=method.options,
            label=method.label,
            group=RATE,
            wall_seconds=60.0,
        )
        for seed in range(problems)
        for method in (*SWEEPS, *NEWTON)
    ]


def _far_tasks(quick: bool) -> list[Task]:
    problems, rows = (2, 60) if quick else (20, 180)
    tasks = []
    for seed in range(problems):
        for group, kind in FAR.items():
            instance = gallery(kind, rows, seed, active=FREE_SHARE)
            for method in (MINIMUM_MAP, FISCHER) if group == "contact" else (PGS, PSOR, MINIMUM_MAP, FISCHER):
                criteria = FAR_SWEEPS if method in SWEEPS else FAR_STEPS
                tasks.append(method.until(criteria, instance, {"start": "far"}, group=group, wall_seconds=60.0))
    return tasks


def order_and_factor(rows: Rows, method: PapersMethod) -> tuple[float, float]:
    """Medians over the problems whose residuals tell."""
    fits = [
        fit_rate(row.series["iteration"], row.series["residual"])
        for row in select(rows, lambda row: row.name == method.label, group=RATE)
        if "residual" in row.series
    ]
    return _median([fit.order for fit in fits]), _median([fit.factor for fit in fits])


def _median(values: Sequence[float]) -> float:
    told = [value for value in values if isfinite(value)]
    return float(np.median(told)) if told else nan


def solved(rows: Rows, group: str, method: PapersMethod) -> float:
    """The share of far starts from which the solution was reached [%]."""
    return percentage(select(rows, lambda row: row.name == method.label, group=group), "absolute")


def measure(rows: Rows) -> dict[str, float]:
    newton_far = [solved(rows, group, method) for group in FAR for method in (MINIMUM_MAP, FISCHER)]
    figures = {
        "sweep_fluid_exponent": fig5.exponent(rows, FLUID, PGS.label),
        "sweep_dense_exponent": fig5.exponent(rows, DENSE, PGS.label),
        "newton_dense_exponent": _largest([fig5.exponent(rows, DENSE, method.label) for method in NEWTON]),
        "dantzig_dense_exponent": fig5.exponent(rows, DENSE, DANTZIG.label),
        "sweeps_off_linear": _largest([abs(order_and_factor(rows, method)[0] - 1.0) for method in SWEEPS]),
        "newton_order": -_largest([-order_and_factor(rows, method)[0] for method in NEWTON]),
        "sweeps_solve_symmetric": -_largest([-solved(rows, "symmetric", method) for method in SWEEPS]),
        "sweeps_solve_non_symmetric": solved(rows, "non-symmetric", PGS),
        "newton_solves": -_largest([-share for share in newton_far]),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def _largest(values: Sequence[float]) -> float:
    """nan where one of them is not known."""
    return max(values) if all(map(isfinite, values)) else nan


def tabulate(rows: Rows) -> list[Table]:
    lines = []
    for method, name, matrices, time, storage, rate, everywhere in PRINTED:
        order, factor = order_and_factor(rows, method)
        # a line is about the class of matrices that it names
        groups: tuple[str, ...] = ("non-symmetric",) if name.startswith("(splitting)") else ("symmetric",)
        groups = tuple(FAR) if matrices == "no assumptions" else groups
        shares = [solved(rows, group, method) if group in groups else nan for group in FAR]
        numbers = (
            fig5.exponent(rows, FLUID, method.label),
            fig5.exponent(rows, DENSE, method.label),
            order,
            factor,
            *shares,
        )
        cells: list[Cell] = [value if isfinite(value) else None for value in numbers]
        lines.append((name, matrices, time, *cells[:2], storage, rate, *cells[2:4], everywhere, *cells[4:]))
    headings: tuple[str, ...] = (
        "Method",
        "A-matrix (paper)",
        "time (paper)",
        "exponent, fluid (here)",
        "exponent, dense (here)",
    )
    headings += ("storage (paper)", "rate (paper)", "order (here)", "factor (here)", "global (paper)")
    headings += tuple(f"{group} solved [%] (here)" for group in FAR)
    note = (
        "Exponent p: time = C n^p, of an iteration or, for pivoting, of a whole solve; worst cases in the paper, "
        "random problems here. Order and factor of the last residuals, medians over ten fluid problems; an "
        "iteration that ends exactly has a high order. Solved: from random starts up to ten times as large as the "
        "solution. Storage is not measured, as it follows from the data structures."
    )
    return [Table("Properties of the methods", headings, tuple(lines), note)]


EXPERIMENT = Experiment(
    id="notes-table3",
    source="NOTES",
    item="Table 3",
    title="Properties of the methods, measured",
    story=(
        "Times of ten iterations, or of a whole solve by pivoting, on fluid problems (sparse, those of Figure 5) and on"
        " dense positive definite ones of 200 to 1600 rows, with factors for the Newton equations, as the table "
        "assumes. Rates from residuals on fluid problems of 1000 rows, run to rounding. Global convergence from random "
        "starts far from the solution: dense symmetric positive definite problems, dense positive definite ones with a "
        "skew part, and contact problems, of 180 rows each."
    ),
    size="32 timed rows (8 of them of Figure 5), 40 for rates, 200 from far starts",
    minutes=0.5,
    claims=read_claims(__package__, "table3"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
