"""What the experiments of THESIS chapter 6 share: seven scenes, three solvers, and the frames that they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from perp.lab.experiments.experiment import Rows
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.contact_frames import contact_frames, frame_facts_task
from perp.lab.work.solve_frames import solve_frames_task

STEP = 1.0 / 60.0
"""[s], THESIS chapter 6."""


@dataclass(frozen=True)
class ThesisScene:
    """A scene of THESIS 6.1 and the frames that are taken from it, at full and at quick size."""

    name: str
    title: str
    frames: tuple[int, ...]
    quick_frames: tuple[int, ...]
    quick_options: Mapping[str, Any]
    dt: float | None = STEP
    frame_seconds: float = 1.5
    """After which a solver is stopped, frame by frame."""
    inner_iterations: int = 5000
    """Of one solve by conjugate gradients, at most; the THESIS has 20,000."""
    compliance: float = 1e-7
    """[(m/s)/(N s)]; the one between 1e-10 and 1e-7 (THESIS 6.1) whose condition numbers are nearest to Table 6.1."""

    def recipe(self, quick: bool) -> dict[str, Any]:
        if quick:
            options = {**self.quick_options, "compliance": self.compliance}
            return contact_frames(self.name, self.quick_frames, dt=self.dt, **options)
        return contact_frames(self.name, self.frames, dt=self.dt, compliance=self.compliance)


SMALL_TRUCKS = {"rows": 1, "columns": 1, "long_cables": 3, "cross_cables": 3, "long_links": 30, "cross_links": 14}

SCENES = {
    scene.name: scene
    for scene in (
        ThesisScene("boxes", "Boxes", tuple(range(8, 21)), (10, 12), {"stacks": 4, "height": 3}),
        ThesisScene("tower", "Tower", tuple(range(45, 196, 15)), (21, 24), {"logs": 12, "drop": 0.2}, compliance=1e-8),
        ThesisScene(
            "spinner", "Spinner", tuple(range(6, 61, 6)), (8, 12), {"cables": 4, "links": 8, "ball_mass": 1000.0}
        ),
        ThesisScene("chain", "Chain", tuple(range(60, 301, 24)), (16, 24), {"links": 20, "speed": 6.0}, None),
        ThesisScene("trucks", "Trucks", (20, 32, 44), (4,), SMALL_TRUCKS | {"drop": 0.0}, STEP, 3.0, 1500),
        ThesisScene("rocks", "Rocks", tuple(range(30, 151, 12)), (24, 30), {"count": 8}),
        ThesisScene("wall", "Wall", tuple(range(4, 61, 4)), (6, 10), {"columns": 3, "courses": 3}),
    )
}


@dataclass(frozen=True)
class ThesisSolver:
    """A method of the roster with the options of the THESIS, and the most iterations that it may take."""

    label: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 20_000
    """Outer ones (THESIS chapter 6); PGCG counts its steps."""

    def options_for(self, scene: ThesisScene) -> dict[str, Any]:
        """With the limit of conjugate gradients that the scene has, where there are any."""
        inner = {"inner_iterations": scene.inner_iterations} if "inner_tolerance" in self.options else {}
        return {**self.options, **inner}

    def softened(self, pivot_limit: int) -> ThesisSolver:
        """With adaptive regularisation (THESIS Algorithm 9)."""
        options = {**self.options, "regularisation": SHIFT, "pivot_limit": pivot_limit}
        return ThesisSolver(f"{self.label}, d = {pivot_limit}", self.method, options, self.iterations)

    def preconditioned(self, label: str, preconditioner: str | Mapping[str, Any]) -> ThesisSolver:
        options = {**self.options, "preconditioner": preconditioner}
        return ThesisSolver(label, self.method, options, self.iterations)


ORDERING = "cuthill_mckee"
"""THESIS 2.5.4; the THESIS does not say whether incomplete factors were ordered, too. Here they are."""
IMAGINARY = {"name": "imaginary_ic0", "ordering": ORDERING}
SHIFT = 1e-3
"""Of Algorithm 9 (Table 6.5); as a share of A_ii here, added to A_ii itself there."""
INNER: dict[str, Any] = {"preconditioner": IMAGINARY, "inner_tolerance": 1e-6}

BPP = ThesisSolver("BPP", "block_principal", {"fallback": "progress", "space": "sparse", "ordering": ORDERING})
BPP_PCG = ThesisSolver("BPP+PCG", "block_principal", {"fallback": "progress", "linear": "pcg", **INNER})
PGCG = ThesisSolver("PGCG", "pgcg", {"at_bounds": "stop", "free_start": "zero", **INNER}, 1_000_000)
OURS = ThesisSolver("BPP with paths (ours)", "block_principal")

PRINTED = (BPP_PCG, PGCG, BPP)
"""In the order of the columns of Tables 6.2 to 6.4."""

TOLERANCE = 1e-8
WALL_SECONDS = 240.0


def frame_tasks(
    quick: bool, scenes: Iterable[str], solvers: Iterable[ThesisSolver], *, timed: bool = True
) -> list[Task]:
    """Every solver on the frames of every scene; one row has them all, frame by frame."""
    listed = tuple(solvers)
    return [
        solve_frames_task(
            SCENES[name].recipe(quick),
            solver.method,
            {"tol": TOLERANCE, "max_iterations": solver.iterations, "max_seconds": SCENES[name].frame_seconds},
            options=solver.options_for(SCENES[name]),
            label=solver.label,
            group=name,
            timed=timed,
            wall_seconds=WALL_SECONDS,
        )
        for name in scenes
        for solver in listed
    ]


def fact_tasks(quick: bool, scenes: Iterable[str]) -> list[Task]:
    """Size and condition number of the frames of every scene."""
    return [
        frame_facts_task(SCENES[name].recipe(quick), label="facts", group=name, wall_seconds=WALL_SECONDS)
        for name in scenes
    ]


def find_row(rows: Rows, scene: str, label: str) -> LabRow | None:
    """The row of a solver on a scene that measured something."""
    found = [row for row in select(rows, group=scene) if row.name == label and len(row.series.get("step", ()))]
    return found[0] if found else None


def value(rows: Rows, scene: str, label: str, name: str) -> float | None:
    """A number of that row, or None."""
    row = find_row(rows, scene, label)
    found = float("nan") if row is None else row[name]
    return found if found == found else None


def ratio(top: float | None, bottom: float | None) -> float:
    """nan where one of the two is missing."""
    return float("nan") if top is None or not bottom else top / bottom


STORY = (
    "Each scene is simulated once, at h = 1/60 s (the chain at 1/240 s, as its links bounce off the rod otherwise), "
    "with the compliance of the THESIS' range that comes nearest to the condition numbers of Table 6.1. "
    "In every step friction is bounded by the normal impulses of a frictionless solve (2.4.2), so that a frame is a "
    "convex problem with one solution; interior points and pivots solve it exactly, and the bodies move on. Some "
    "frames, spread over the run, then go to all solvers, with the index sets of the step before (5.3); the THESIS "
    "took every frame of a simulation per solver. Frames without tight rows are left out, as there. Islands below 512 "
    "rows are united. Factors, complete or not, follow the Cuthill-McKee order. PCG ends at 1e-6 of its right-hand "
    "side, after 5,000 iterations (trucks 1,500; 20,000 there) at the latest, but a solve on the final index sets is "
    "refined to rounding. A solver is stopped after 1.5 s a frame (3 s for the trucks), so that means over frames "
    "that were not solved are lower limits."
)
SIZE = "scenes as large as printed; 3 to 15 frames of each in place of all"
