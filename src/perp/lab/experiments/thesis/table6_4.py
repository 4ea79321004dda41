"""THESIS Table 6.4: the time that each solver takes for a frame."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Rows, Table
from perp.lab.experiments.thesis.frames import compare_solvers, share_solved, time_ratio
from perp.lab.experiments.thesis.scenes import (
    BPP,
    BPP_PCG,
    OURS,
    PGCG,
    PRINTED,
    SCENES,
    SIZE,
    STORY,
    frame_tasks,
)
from perp.lab.runs.task import Task

PAPER = {
    "boxes": (2.2e1, 2.7e1, 6.8e1),
    "tower": (6.7e1, 1.6e2, 3.5e1),
    "spinner": (1.3e0, 1.0e0, 5.3e0),
    "chain": (1.1e3, 1.4e3, 5.1e2),
    "trucks": (9.3e3, 5.1e3, 9.8e2),
    "rocks": (2.0e4, 5.0e4, 6.3e2),
    "wall": (5.4e4, 6.0e2, 4.7e3),
}
"""Average solve time [ms] of BPP+PCG, PGCG and BPP."""

SPEED_UPS = {
    "boxes": (3.1, 2.6),
    "tower": (0.5, 0.2),
    "spinner": (4.1, 5.6),
    "chain": (0.5, 0.4),
    "trucks": (0.1, 0.2),
    "rocks": (0.03, 0.01),
    "wall": (0.09, 7.9),
}
"""Of BPP+PCG and PGCG against BPP, in brackets there."""

SLOW = ("tower", "chain", "trucks", "rocks")
NUMBER = "frame_seconds"


def make_tasks(quick: bool) -> list[Task]:
    return frame_tasks(quick, SCENES, (*PRINTED, OURS))


def speed_up(rows: Rows, scene: str, label: str) -> float:
    """Of a solver against BPP, on the frames that one of the two solved."""
    return time_ratio(rows, scene, BPP.label, label)


def measure(rows: Rows) -> dict[str, float]:
    both = {name: (speed_up(rows, name, BPP_PCG.label), speed_up(rows, name, PGCG.label)) for name in SCENES}
    found = {f"{name}_bpp_pcg": pair[0] for name, pair in both.items()}
    found |= {f"{name}_pgcg": pair[1] for name, pair in both.items()}
    found |= {f"{name}_lesser": min(both[name]) for name in ("boxes", "spinner")}
    if all(isfinite(each) for name in SLOW for each in both[name]):
        found["slow_pairs"] = float(sum(each < 1.0 for name in SLOW for each in both[name]))
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    labels = (BPP_PCG.label, PGCG.label)
    headings = ("scene", *(f"{label} {where}" for label in labels for where in ("(paper)", "(here)")))
    lines = tuple(
        (
            SCENES[name].title,
            *(cell for label, paper in zip(labels, pair, strict=True) for cell in (paper, _told(rows, name, label))),
        )
        for name, pair in SPEED_UPS.items()
    )
    note = "Machines differ: compare solvers on a scene, not the paper with us."
    return [
        compare_solvers("Solve time of a frame, mean [ms]", rows, PAPER, NUMBER, factor=1e3, note=note),
        Table(
            "Speed-up against BPP",
            headings,
            lines,
            "BPP as in the THESIS, not ours; frames that neither of the two solved are left out.",
        ),
        share_solved(rows),
    ]


def _told(rows: Rows, scene: str, label: str) -> float | None:
    found = speed_up(rows, scene, label)
    return found if isfinite(found) else None


EXPERIMENT = Experiment(
    id="thesis-table6.4",
    source="THESIS",
    item="Table 6.4",
    title="Solve time of BPP+PCG, PGCG and BPP",
    story=STORY,
    size=SIZE,
    minutes=2.2,
    claims=read_claims(__package__, "table6_4"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
)
