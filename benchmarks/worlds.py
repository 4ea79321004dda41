"""Whole steps of worlds: pool 1 beside AMGS Table 2, boxes beside MuJoCo's own step, and where the time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import perp
from benchmarks.tables import add_row, make_table
from perp import scenes
from perp.extras import mujoco
from perp.solvers.method import Method
from perp.worlds import ContactWorld, Solve, StepReport
from perp.worlds.rigid3d import RigidWorld

POOL_STEPS, POOL_SWEEPS = 1_000, 200
BOX_SWEEPS = 50
BOX_STEPS = 60
WARM = 20
"""Steps before the clock starts: kernels are loaded, contacts and impulses have settled."""

TABLE_2: dict[str, tuple[Method, float]] = {
    "pgs": (perp.PGS(), 2.639),
    "amgs, 0.1 D": (perp.AMGS(alpha=0.1), 2.083),
    "amgs, 0.2 D": (perp.AMGS(alpha=0.2), 1.974),
    "amgs, 0.3 D": (perp.AMGS(alpha=0.3), 2.051),
    "amgs, 0.4 D": (perp.AMGS(alpha=0.4), 1.996),
    "amgs, 0.5 D": (perp.AMGS(alpha=0.5), 1.968),
    "amgs, 0.6 D": (perp.AMGS(alpha=0.6), 2.022),
}
"""AMGS Table 2, Pool 1: seconds for 1,000 steps of 200 iterations on its laptop."""


def measure_worlds(options: Any) -> Iterator[Table]:
    yield measure_pool()
    yield measure_boxes()
    yield measure_python_side()


def sweeping(method: Method, sweeps: int) -> Solve:
    """Exactly so many sweeps, one look at the end."""
    return lambda problem, x0: perp.solve(problem, method, x0=x0, tol=0.0, max_iterations=sweeps, check_every=sweeps)


def measure_pool() -> Table:
    """Pool 1 of AMGS from the beginning, 1,000 steps of 200 sweeps each."""
    headings = ("method", "contacts, mean", "seconds", "of it sweeps", "paper, s", "paper / ours", "last residual")
    title = "pool1: 221 discs, 1,000 steps of 200 sweeps (AMGS Table 2: an i7-5500U of 2015)"
    table = make_table(title, headings)
    methods: dict[str, tuple[Method, float | None]] = {
        **TABLE_2,
        "block_gauss_seidel": (perp.BlockGaussSeidel(), None),
    }
    for name, (method, paper) in methods.items():
        solve = sweeping(method, POOL_SWEEPS)
        measure_steps(_world("pool1"), 3, solve, _sweeps)  # loads the kernels
        world = _world("pool1")
        begun = perf_counter()
        sweeps, contacts = measure_steps(world, POOL_STEPS, solve, _sweeps).T
        seconds = perf_counter() - begun
        residual = world.step(1 / 60, solve).residuals.residual
        ratio = None if paper is None else paper / seconds
        add_row(table, (name, float(contacts.mean()), seconds, float(sweeps.sum()), paper, ratio, residual))
    return table


def measure_boxes() -> Table:
    """Standing stacks with 12,000 rows, beside MuJoCo's own step of the same model."""
    headings = (
        "who",
        "contacts",
        "ms/step",
        "steps/s",
        "collide",
        "assemble",
        "solve",
        "of it sweeps",
        "move",
        "c+a share",
    )
    table = make_table("boxes: 200 stacks of 5, 50 sweeps a step; medians", headings)
    for model in ("box", "cone"):
        world = _world("boxes", start="standing", model=model)
        solve = sweeping(perp.BlockGaussSeidel(), BOX_SWEEPS)
        measure_steps(world, WARM, solve, _parts)
        contacts, total, *parts = map(float, np.median(measure_steps(world, BOX_STEPS, solve, _parts), axis=0))
        share = (parts[0] + parts[1]) / total
        add_row(table, (f"perp, {model}", int(contacts), total, 1e3 / total, *parts, share))
    world = _world("boxes", start="standing")
    assert isinstance(world, RigidWorld)
    for name, solver in (("MuJoCo, its Newton", "NEWTON"), ("MuJoCo, 50 PGS sweeps", "PGS")):
        contacts, seconds = _mujoco_step(world, solver)
        add_row(table, (name, contacts, 1e3 * seconds, 1.0 / seconds))
    return table


def measure_python_side() -> Table:
    """What a step of about 1,000 contacts costs beside collisions and sweeps."""
    headings = ("scene", "contacts", "ms/step", "collisions", "sweeps", "the rest")
    table = make_table("the rest of a step: assembly, warm start, checks, motion [ms]; medians", headings)
    for name, options in (("boxes", {"stacks": 50, "start": "standing"}), ("pool1", {"discs": 441, "width": 8.4})):
        world = _world(name, **options)
        solve = sweeping(perp.BlockGaussSeidel(), BOX_SWEEPS)
        measure_steps(world, 4 * WARM if name == "boxes" else 15 * WARM, solve, _parts)
        contacts, total, *_, sweeps, _ = map(float, np.median(measure_steps(world, BOX_STEPS, solve, _parts), axis=0))
        collisions = 1e3 * median(_collision_seconds(world) for _ in range(BOX_STEPS))
        add_row(table, (name, int(contacts), total, collisions, sweeps, total - collisions - sweeps))
    return table


def measure_steps(
    world: ContactWorld, steps: int, solve: Solve, measure: Callable[[StepReport], tuple[float, ...]]
) -> NDArray[np.float64]:
    """Numbers of each step. Reports are not kept: with their problems they would fill the memory."""
    return np.array([measure(world.step(1 / 60, solve)) for _ in range(steps)])


def _world(name: str, **options: Any) -> ContactWorld:
    world = scenes.make(name, **options).world
    assert isinstance(world, ContactWorld)
    return world


def _sweeps(report: StepReport) -> tuple[float, ...]:
    return report.solution.seconds, int(report.measures()["contacts"])


def _parts(report: StepReport) -> tuple[float, ...]:
    """Contacts, and milliseconds: the step, collisions, assembly, solver, sweeps, motion."""
    seconds = report.seconds
    values = (
        seconds.total,
        seconds.collide,
        seconds.assemble,
        seconds.solve,
        report.solution.seconds,
        seconds.move,
    )
    return int(report.measures()["contacts"]), *(1e3 * value for value in values)


def _collision_seconds(world: ContactWorld) -> float:
    """The collision detection by itself: MuJoCo's, or our own for discs."""
    if isinstance(world, RigidWorld):
        shapes = world.shapes_and_masses
        return _seconds(lambda: mujoco.mj_collision(shapes.model, shapes.data))
    return _seconds(lambda: world.find_contacts(1 / 60))


def _mujoco_step(world: RigidWorld, solver: str) -> tuple[int, float]:
    """Contacts and median seconds of MuJoCo's step of the same bodies, with its soft contacts."""
    shapes = world.shapes_and_masses
    model = shapes.model
    data = mujoco.MjData(model)
    model.opt.timestep = 1 / 60
    model.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    if solver == "PGS":
        model.opt.iterations, model.opt.tolerance = BOX_SWEEPS, 0.0
    for _ in range(WARM):
        mujoco.mj_step(model, data)
    seconds = median(_seconds(lambda: mujoco.mj_step(model, data)) for _ in range(BOX_STEPS))
    return int(data.ncon), seconds


def _seconds(run: Callable[[], object]) -> float:
    begun = perf_counter()
    run()
    return perf_counter() - begun
