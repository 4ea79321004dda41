"""The demonstration: boxes on boxes and a fluid, solved by every method that suits them."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from perp.extras import matplotlib
from perp.lab.campaign import Instance, Reporter, from_gallery, run_campaign
from perp.lab.report import write_report
from perp.lab.results import write_results
from perp.lab.rows import Row
from perp.recording.frame import package_versions
from perp.solvers.stopping import Stopping

STOP = Stopping(max_iterations=10_000, max_seconds=5.0, check_every=1)
"""Every iteration is looked at, so that the figures show all of them."""


@dataclass(frozen=True)
class Demo:
    """What a demonstration made."""

    rows: list[Row]
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


def run_demo(folder: Path, *, reporter: Reporter | None = None, n: int = 1000, stop: Stopping = STOP) -> Demo:
    """Solve, and write `report.html` and `results.json` into `folder`, which is made if need be."""
    matplotlib.require()
    folder.mkdir(parents=True, exist_ok=True)
    instances = demo_instances(n)
    rows = run_campaign(instances, stop, reporter=reporter)
    machine = machine_facts()
    demo = Demo(rows, folder / "report.html", folder / "results.json")
    write_results(demo.results, rows, stop, machine)
    write_report(demo.report, instances, rows, stop, machine)
    return demo


def machine_facts() -> dict[str, str]:
    """Where it was measured: versions and processor count, as a report shows them; nothing names the machine."""
    return {
        **package_versions(),
        "processors": f"{os.cpu_count()} x {platform.machine()}",
        "system": platform.system(),
    }
