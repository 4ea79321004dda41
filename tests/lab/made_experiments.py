"""Experiments that no paper has, with rows that no run made, for tests of what is made of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from made_rows import row_of

from perp.lab.claims import parse_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

CLAIMS = """
[[claim]]
id = "half"
where = "Table 9"
says = "`fast` needs about half of the iterations of `slow` & no more."
measure = "ratio"
printed = { fast = 25, slow = 50 }
holds = { least = 0.35, most = 0.65 }

[[claim]]
id = "same"
where = "Table 9"
says = "Both take the same."
measure = "ratio"
holds = { least = 0.9, most = 1.1 }
why = "They do not."

[[claim]]
id = "proof"
where = "section 8"
says = "`fast` needs a tenth."
measure = "ratio"
holds = { most = 0.1 }
cannot = "The bound is one half."
instead = { least = 0.4, most = 0.6 }
"""


class MemoryStore:
    """Rows by key, as a folder of a run keeps them."""

    def __init__(self, rows: Iterable[LabRow] = ()) -> None:
        self.rows = {row.key: row for row in rows}

    def read(self, tasks: Sequence[Task]) -> Mapping[str, LabRow]:
        return {task.key: self.rows[task.key] for task in tasks if task.key in self.rows}


def make_tasks(quick: bool) -> list[Task]:
    """Two methods on two problems, or on six; the small ones belong to both sizes."""
    return [
        solve_task(gallery("fluid_like", 27, seed), method, {}, label=label, group="race")
        for seed in range(2 if quick else 6)
        for method, label in (("psor", "fast"), ("pgs", "slow"))
    ]


def made_rows(quick: bool = False, **changes: float) -> list[LabRow]:
    """What the tasks would have found: 10 iterations against 20."""
    return [
        row_of(task, **({"iterations": 10.0 if task.label == "fast" else 20.0} | changes)) for task in make_tasks(quick)
    ]


def measure(rows: Rows) -> dict[str, float]:
    fast, slow = (np.median([row["iterations"] for row in select(rows, label=label)]) for label in ("fast", "slow"))
    return {"ratio": float(fast / slow)} if slow else {}


def tabulate(rows: Rows) -> list[Table]:
    lines = tuple((row.name, row.task.seed, 25.0, row["iterations"]) for row in rows)
    return [
        Table("Iterations <all>", ("method", "problem", "iterations (paper)", "iterations (here)"), lines, "A note.")
    ]


def draw(rows: Rows) -> list[Picture]:
    from perp.lab.plots import draw_lines, name_axes, new_figure

    figure, (axes,) = new_figure()
    draw_lines(axes, {"fast": ([1, 2, 3], [1.0, 0.1, 0.01])})
    name_axes(axes, "iterations", "residual", log="y")
    return [Picture("lines", "A line & its `caption`.", figure)]


def raise_always(rows: Rows) -> list:
    raise LookupError("no <such> row")


def made_experiment(identity: str = "made-race", source: str = "NOTES", **changes: object) -> Experiment:
    values = {
        "id": identity,
        "source": source,
        "item": "Table 9",
        "title": f"A race called {identity}",
        "story": "Two methods, `psor` & `pgs`, race.",
        "size": "six problems",
        "minutes": 0.5,
        "claims": parse_claims(CLAIMS),
        "make_tasks": make_tasks,
        "measure": measure,
        "tabulate": tabulate,
        "draw": draw,
    }
    return Experiment(**(values | changes))
