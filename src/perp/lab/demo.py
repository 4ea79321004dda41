"""The demonstration: boxes on boxes and a fluid, solved by every method that suits them."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from perp.extras import matplotlib
from perp.lab import report as reports
from perp.lab.results import write_results
from perp.lab.runs.process import perform
from perp.lab.runs.row import LabRow
from perp.lab.runs.runner import Here, Reporter, Runner, Trial
from perp.lab.work.recipes import gallery, make_instance
from perp.problems.problem import Problem
from perp.recording.description import package_versions
from perp.solvers.method import Method
from perp.solvers.roster import suitable_methods
from perp.solvers.stopping import Stopping

STOP = Stopping(max_iterations=10_000, max_seconds=5.0, check_every=1)
"""Every iteration is looked at, so that the figures show all of them."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with a name and a story, so that tables and reports can speak of it.

    `name` is the short word in tables, `title` the heading, `story` what the reader should know before looking.
    """

    name: str
    title: str
    story: str
    problem: Problem
    recipe: Mapping[str, Any]

    @property
    def command(self) -> str:
        """The command line that writes this very problem to a file."""
        kind, n, seed = (str(self.recipe[name]) for name in ("gallery", "n", "seed"))
        words = ["perp", "generate", kind, "--n", n, "--seed", seed]
        for key, value in self.recipe["options"].items():
            words += ["--option", f"{key}={value}"]
        return shlex.join([*words, "--out", f"{self.name}.npz"])


def from_gallery(name: str, title: str, story: str, *, kind: str, n: int, seed: int = 0, **options: Any) -> Instance:
    """An instance of a kind of the gallery."""
    recipe = gallery(kind, n, seed, **options)
    return Instance(name, title, story, make_instance(recipe).problem, recipe)


@dataclass(frozen=True)
class Demo:
    """What a demonstration made."""

    rows: list[LabRow]
    report: Path
    results: Path


def demo_instances(n: int = 1000) -> list[Instance]:
    """The problems of the demonstration, each of about n rows."""
    return [
        from_gallery(
            "stack",
            "A wall of boxes, friction in a box",
            "The first time step of a wall of rigid boxes that is almost at rest under gravity. Each face touches the "
            "next in four points; each point has a normal impulse and two friction impulses, each of which is bounded "
            "by itself, by the friction coefficient times the normal impulse. A face has twelve impulses for the six "
            "ways in which two boxes can move against each other, so that A is singular and the impulses are not "
            "unique. Every box leans on others, down to the ground, while a sweep hands impulses on from neighbour to "
            "neighbour: that is why sweeping methods, though quick at first, are slow in the end.",
            kind="box_stack",
            n=n,
            load="gravity",
        ),
        from_gallery(
            "stack-cone",
            "The same wall, friction in a cone",
            "Coulomb's law without the approximation: the two friction impulses of a point are bounded together, by a "
            "disc whose radius is the friction coefficient times the normal impulse, and they oppose the slip.",
            kind="box_stack",
            n=n,
            load="gravity",
            model="cone",
        ),
        from_gallery(
            "pile",
            "A pile of boxes, friction bounds known in advance",
            "Boxes of very different mass, each on four others, as a boxed problem: every friction impulse is bounded "
            "by the weight that rests above, which does not change during the solve. Half of the rows would be "
            "redundant but for a compliance of 1e-8, the heaviest box weighs a thousand times the lightest, and the "
            "condition number of A is some 1e9. Interior points take that in their stride; sweeps and gradients do "
            "not.",
            kind="boxed_pile",
            n=n,
            load="gravity",
        ),
        from_gallery(
            "fluid",
            "Pressure of a fluid with a free surface",
            "Where there is fluid the pressure is positive, where there is none it is zero, and which is which is part "
            "of the question: a linear complementarity problem with the seven-point Laplacian of a cube of cells. A is "
            "symmetric positive definite, so that there is exactly one solution.",
            kind="poisson_3d",
            n=n,
        ),
    ]


def run_demo(folder: Path, *, reporter: Reporter[LabRow] | None = None, n: int = 1000, stop: Stopping = STOP) -> Demo:
    """Solve, and write `report.html` and `results.json` into `folder`, which is made if need be."""
    matplotlib.require()
    folder.mkdir(parents=True, exist_ok=True)
    instances = demo_instances(n)
    rows = solve_all(instances, stop, reporter=reporter)
    machine = machine_facts()
    demo = Demo(rows, folder / "report.html", folder / "results.json")
    write_results(demo.results, rows, stop, machine)
    reports.write_report(demo.report, instances, rows, stop, machine)
    return demo


def solve_all(
    instances: Sequence[Instance],
    stop: Stopping,
    *,
    methods: Callable[[Problem], Iterable[Method]] = suitable_methods,
    reporter: Reporter[LabRow] | None = None,
) -> list[LabRow]:
    """Solve each instance with each method that `methods` names for it: by default every suitable one of the roster."""
    tasks = [
        Trial("solve", at.recipe, method.label, stop=asdict(stop), group=at.name, problem=at.problem, solver=method)
        for at in instances
        for method in methods(at.problem)
    ]
    runner = Runner(lambda: Here(perform), reporter)
    runner.reporter.planned(len(tasks), 0)
    return list(runner.run(tasks))


def machine_facts() -> dict[str, str]:
    """Where it was measured: versions and processor count, as a report shows them; nothing names the machine."""
    return {
        **package_versions(),
        "processors": f"{os.cpu_count()} x {platform.machine()}",
        "system": platform.system(),
    }
