"""How the cost of a step grows with the number of contact rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse

import perp
from benchmarks.contact_steps import LAYOUTS, copy_operator, next_step, parts, stack
from benchmarks.contest import TIGHT, judge
from benchmarks.effort import Effort, Row
from benchmarks.tables import add_row, interleave, make_table, tell, tell_ms
from perp import linalg

TIMES = ("warm", "fresh A", "factor", "order", "analyse")
"""A warm step, the same with an A that was not analysed, one factor; ordering alone, and ordering with analysis."""

LIMIT = 20.0
"""Seconds for one warm step."""

REPEATS = 9


def body_matrix(A: perp.FactoredOperator) -> sparse.csr_array:
    """K = M + J^T C^-1 J, all rows free."""
    J = A.J
    return sort_rows(A.mass.to_sparse() + J.T @ sparse.diags_array(1.0 / A.compliance) @ J)


def sort_rows(matrix: Any) -> sparse.csr_array:
    """In the order in which `SparseCholesky.factor` expects its numbers."""
    rows = sparse.csr_array(matrix)
    rows.sum_duplicates()  # sorts as well
    return rows


def measure_growth(effort: Effort, rows: list[Row]) -> Iterator[Table]:
    headings = (
        "rows",
        "dofs",
        "it.",
        *(f"{name}, ms" for name in TIMES),
        "fill",
        "L / 1000",
        "Mflop",
        "GF/s",
        "impulse",
    )
    for layout in LAYOUTS:
        table = make_table(
            f"C. {layout}: a warm step (b scaled) and one whole factor of K, median of {REPEATS}", headings
        )
        measured = [_measure(layout, wanted) for wanted in effort.growth_rows]
        rows.extend({"part": "C", "layout": layout} | row for row in measured)
        for row in measured:
            add_row(table, _describe(row))
        powers = (f"m^{_fit(measured, name):.2f}" for name in ("an_iteration", *TIMES[1:]))
        add_row(table, ["fitted", None, None, *powers, None, None, f"m^{_fit(measured, 'flops'):.2f}", None, None])
        yield table


def _measure(layout: str, wanted: int) -> Row:
    example = stack(wanted, 0, layout)
    question = next_step(example, "scaled", 0, np.inf)
    problem, A = parts(example)
    b = question.problem.b
    answers: list[perp.Result] = []

    def solve(operator: perp.FactoredOperator) -> None:
        step = perp.BoxLCP(operator, b, problem.lower, problem.upper)
        answers.append(perp.solve(step, "block_principal", x0=example.x, tol=1e-12, max_seconds=LIMIT))

    fresh = [copy_operator(A) for _ in range(REPEATS + 1)]
    K = body_matrix(A)
    factor = linalg.SparseCholesky(K)
    seconds = interleave(
        {
            "warm": partial(solve, A),
            "fresh A": lambda: solve(fresh.pop()),
            "factor": partial(factor.factor, K.data, anew=True),
            "order": partial(linalg.order, K, "amd"),
            "analyse": partial(linalg.SparseCholesky, K, factored=False),
        },
        repeats=REPEATS,
    )
    counters = {name: float(column[-1]) for name, column in answers[0].history.counters.items()}
    judgement = judge(question.problem, answers[0].x)
    return {
        "rows": problem.n,
        "velocities": A.mass.dofs,
        "iterations": answers[0].iterations,
        **seconds,
        "an_iteration": seconds["warm"] / max(answers[0].iterations, 1),
        "flops": factor.report()["factor_flops"],
        "counters": counters,
        "impulse": judgement.impulse,
        "solved": TIGHT.is_reached(judgement),
    }


def _describe(row: Row) -> list[object]:
    counters, flops, factor = row["counters"], row["flops"], row["factor"]
    assert isinstance(counters, dict)
    assert isinstance(flops, float)
    assert isinstance(factor, float)
    times = [tell_ms(row[name]) for name in TIMES]  # type: ignore[arg-type]
    entries = counters.get("factor_nonzeros", 0.0) / 1e3
    size = [tell(counters.get("fill")), tell(entries), tell(flops / 1e6), tell(flops / factor / 1e9)]
    return [row["rows"], row["velocities"], row["iterations"], *times, *size, f"{row['impulse']:.0e}"]


def _fit(measured: list[Row], name: str) -> float:
    """The power of the row count that fits best.

    For a warm step by the time of an iteration: how many are needed is a matter of the seed, not of the size.
    """
    count, value = (np.array([row[key] for row in measured], dtype=np.float64) for key in ("rows", name))
    return float(np.polyfit(np.log(count), np.log(value), 1)[0])
