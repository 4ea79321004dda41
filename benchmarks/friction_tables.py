"""Tables of the friction benchmark: how many, how many factorisations, how long, beside Clarabel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import isnan
from statistics import median

import numpy as np
from rich.table import Table

from benchmarks.friction_runs import PEER, SKIPPED, Row
from benchmarks.tables import add_row, make_table, tell

COLUMNS = ("solved", "scaled", "fact.", "worst", "ms", "most", "/Clar.", "resid.", "endings")

ENDINGS = {
    "CONVERGED": "conv",
    "ITERATION_LIMIT": "iter",
    "TIME_LIMIT": "time",
    "REDUCED_ACCURACY": "red",
    "STAGNATED": "stag",
    "BREAKDOWN": "brk",
}
"""Shorter words for tables; others are written out."""


def show(
    title: str,
    rows: Sequence[Row],
    labels: Sequence[str],
    key: Callable[[Row], tuple[Hashable, ...]],
    *,
    tail: bool = False,
) -> Table:
    """One line for each key and method, in the order in which they came. With `tail`, `worst` is the 95th percentile.

    The ratio is that of the median times over the problems that both have run on.
    """
    worst = "95 %" if tail else "worst"
    headings = [worst if name == "worst" else name for name in COLUMNS]
    table = make_table(title, [*labels, "method", *headings], labels=len(labels) + 1)
    groups: dict[tuple[Hashable, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*key(row), row.method), []).append(row)
    for told, group in groups.items():
        peer = groups.get((*told[:-1], PEER), []) if told[-1] != PEER else []
        add_row(table, [*told, *_summarise(group, peer, tail)])
    return table


def _summarise(group: Sequence[Row], peer: Sequence[Row], tail: bool) -> list[object]:
    ran = [row for row in group if row.status != SKIPPED]
    if not ran:
        return [f"0/{len(group)}", *[None] * (len(COLUMNS) - 2), "foretold"]
    seconds = _numbers(row.seconds for row in ran)
    factors = _numbers(row.factorisations for row in ran)
    residuals = _numbers(row.residual for row in ran)
    false = sum(row.is_false for row in ran)
    endings = Counter(ENDINGS.get(row.status, row.status.lower()) for row in ran)
    told = " ".join(f"{count} {name}" for name, count in endings.most_common())
    return [
        f"{sum(row.is_solved for row in ran)}/{len(group)}",
        f"{sum(row.scaled <= row.tol for row in ran)}/{len(group)}",
        median(factors) if factors else None,
        _worst(factors, tail),
        1e3 * median(seconds) if seconds else None,
        1e3 * max(seconds) if seconds else None,
        _compare(ran, peer),
        f"{max(residuals):.0e}" if residuals else None,
        told + (f" {false} FALSE" if false else ""),
    ]


def _numbers(values: Iterable[float]) -> list[float]:
    return [value for value in values if not isnan(value)]


def _worst(values: Sequence[float], tail: bool) -> float | None:
    if not values:
        return None
    return float(np.quantile(values, 0.95)) if tail else max(values)


def _compare(ours: Sequence[Row], peer: Sequence[Row]) -> str | None:
    """How many times as long as Clarabel, in the same process, on the same problems."""
    theirs = {_problem(row): row.seconds for row in peer}
    ratios = _numbers(row.seconds / theirs[_problem(row)] for row in ours if _problem(row) in theirs)
    return tell(median(ratios)) if ratios else None


def _problem(row: Row) -> tuple[Hashable, ...]:
    return row.part, row.model, row.name, row.wanted, row.ratio, row.seed, row.start
