"""THESIS Table 6.5: adaptive regularisation of friction rows that pivot often."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Rows, Table
from perp.lab.experiments.thesis.frames import count_ratio
from perp.lab.experiments.thesis.scenes import BPP_PCG, SCENES, SIZE, STORY, frame_tasks, value
from perp.lab.runs.task import Task

LIMITS = (10, 5)
PAPER = {"chain": (68.0, 17.5, 14.8), "trucks": (47.6, 28.2, 19.6), "rocks": (17.5, 16.5, 17.1)}
"""Average outer iterations without regularisation and with the initial pivot limits 10 and 5."""
TIMES_FEWER = {"chain": (None, 3.9, 4.6), "trucks": (None, 1.7, 2.4), "rocks": (None, 1.1, 1.0)}
"""In brackets there."""
SOLVERS = (BPP_PCG, *(BPP_PCG.softened(limit) for limit in LIMITS))


def make_tasks(quick: bool) -> list[Task]:
    return frame_tasks(quick, PAPER, SOLVERS)


def measure(rows: Rows) -> dict[str, float]:
    plain, *softened = (solver.label for solver in SOLVERS)
    found = {}
    for name in PAPER:
        for limit, label in zip(LIMITS, softened, strict=True):
            found[f"{name}_{limit}"] = count_ratio(rows, name, plain, label, both=True)
        found[f"{name}_smaller_limit"] = count_ratio(rows, name, softened[0], softened[1], both=True)
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    lines: list[tuple[Cell, ...]] = []
    for name, numbers in PAPER.items():
        printed = zip((None, *LIMITS), SOLVERS, numbers, TIMES_FEWER[name], strict=True)
        for limit, solver, paper, papers_times in printed:
            outer, solved = (value(rows, name, solver.label, number) for number in ("outer", "solved"))
            times = count_ratio(rows, name, BPP_PCG.label, solver.label, both=True)
            times_here = times if limit and isfinite(times) else None
            lines.append((SCENES[name].title, limit, paper, outer, papers_times, times_here, solved))
    headings: tuple[str, ...] = ("scene", "pivot limit d", "outer iterations (paper)", "outer iterations (here)")
    headings += ("times fewer (paper)", "times fewer (here)", "share solved (here)")
    note = (
        "The shift is 1e-3 of A_ii here, 1e-3 there. It is taken back at the end, which costs further index sets: "
        "the answer is that of the problem asked. Claims are judged on the frames that both solved."
    )
    return [Table("Outer iterations of BPP+PCG, mean over frames", headings, tuple(lines), note)]


EXPERIMENT = Experiment(
    id="thesis-table6.5",
    source="THESIS",
    item="Table 6.5",
    title="Adaptive regularisation: index sets that BPP+PCG tries",
    story=STORY,
    size=SIZE,
    minutes=1.9,
    claims=read_claims(__package__, "table6_5"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
