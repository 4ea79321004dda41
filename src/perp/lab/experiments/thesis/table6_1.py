"""THESIS Table 6.1: how large, how uneven and how ill-conditioned the seven scenes are."""

from __future__ import annotations

from math import inf, isfinite, log10

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Rows, Table
from perp.lab.experiments.thesis.scenes import SCENES, SIZE, STORY, fact_tasks, find_row, value
from perp.lab.runs.task import Task

PAPER: dict[str, tuple[float | None, float, float]] = {
    "boxes": (None, 12_000, 1e8),
    "tower": (50, 1_300, 1e8),
    "spinner": (25_000, 2_920, 1e6),
    "chain": (2_000, 1_480, 1e8),
    "trucks": (8_000, 5_650, 1e10),
    "rocks": (250, 1_800, 1e9),
    "wall": (4, 1_006, 1e9),
}
"""Largest mass ratio, number of constraints and condition number of A."""


def make_tasks(quick: bool) -> list[Task]:
    return fact_tasks(quick, SCENES)


def measure(rows: Rows) -> dict[str, float]:
    sizes, masses, orders = [], [], []
    for name, (mass_ratio, constraints, condition) in PAPER.items():
        row = find_row(rows, name, "facts")
        if row is None:
            return {}
        sizes.append(_factor(row.found.n, constraints))
        orders.append(abs(log10(row["condition_worst"] / condition)))
        if mass_ratio is not None:
            masses.append(_factor(row["mass_ratio"], mass_ratio))
    conditions = {name: value(rows, name, "facts", "condition_worst") or inf for name in PAPER}
    found = {
        "size_factor": max(sizes),
        "mass_factor": max(masses),
        "condition_orders": max(orders),
        "least_condition": min(conditions.values()),
    }
    return {name: number for name, number in found.items() if isfinite(number)}


def _factor(here: float, paper: float) -> float:
    """How many times as large the one is as the other, whichever is larger."""
    return max(here / paper, paper / here)


def tabulate(rows: Rows) -> list[Table]:
    headings: tuple[str, ...] = (
        "scene",
        "mass ratio (paper)",
        "mass ratio (here)",
        "constraints (paper)",
        "constraints (here)",
    )
    lines = []
    for name, (mass_ratio, constraints, condition) in PAPER.items():
        row = find_row(rows, name, "facts")
        lines.append(
            (
                SCENES[name].title,
                mass_ratio,
                value(rows, name, "facts", "mass_ratio"),
                constraints,
                None if row is None else row.found.n,
                condition,
                value(rows, name, "facts", "condition_worst"),
                value(rows, name, "facts", "condition_scaled_worst"),
            )
        )
    note = "Largest of the frames that the solvers are given. Constraints are rows, three a contact."
    headings += ("condition (paper)", "condition (here)", "with unit diagonal (here)")
    return [Table("The scenes", headings, tuple(lines), note)]


EXPERIMENT = Experiment(
    id="thesis-table6.1",
    source="THESIS",
    item="Table 6.1",
    title="Size, mass ratio and condition number of seven scenes",
    story=STORY,
    size=SIZE,
    minutes=0.5,
    claims=read_claims(__package__, "table6_1"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
