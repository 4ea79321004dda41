"""The table that Tables 6.2, 6.3 and 6.4 are: a number of three solvers on seven scenes."""

from __future__ import annotations

from collections.abc import Mapping

from perp.lab.experiments.experiment import Cell, Rows, Table
from perp.lab.experiments.thesis.scenes import OURS, PRINTED, SCENES, value


def compare_solvers(
    title: str,
    rows: Rows,
    printed: Mapping[str, tuple[float, float, float]],
    number: str,
    *,
    factor: float = 1.0,
    note: str = "",
) -> Table:
    """`printed` has BPP+PCG, PGCG and BPP of each scene; ours is `factor` times the `number` of a row."""
    headings = ["scene"]
    for solver in PRINTED:
        headings += [f"{solver.label} (paper)", f"{solver.label} (here)"]
    headings.append(OURS.label)
    lines: list[tuple[Cell, ...]] = []
    for name, numbers in printed.items():
        line: list[Cell] = [SCENES[name].title]
        for solver, paper in zip(PRINTED, numbers, strict=True):
            line += [paper, _scaled(value(rows, name, solver.label, number), factor)]
        lines.append((*line, _scaled(value(rows, name, OURS.label, number), factor)))
    return Table(title, tuple(headings), tuple(lines), note)


def share_solved(rows: Rows) -> Table:
    """On how many of the frames a solver found the index sets before its time was up."""
    solvers = (*PRINTED, OURS)
    lines = tuple(
        (scene.title, *(value(rows, name, solver.label, "solved") for solver in solvers))
        for name, scene in SCENES.items()
    )
    note = "All frames of a scene count that have tight rows."
    return Table("Share of frames solved (here)", ("scene", *(s.label for s in solvers)), lines, note)


def _scaled(number: float | None, factor: float) -> float | None:
    return None if number is None else factor * number
