"""The entry points of the packages around the solvers: gallery, linalg, worlds, scenes, recording, simulation.

`perp.scenes`, `perp.worlds`, `perp.recording` and `perp.simulation` are loaded when they are first asked for, so that a
checker of types knows them by `from perp import scenes` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import perp
from perp import recording, scenes, simulation, worlds

Vector = NDArray[np.float64]


def examples() -> perp.Result:
    example = perp.gallery.make("dense_pd", n=20, seed=1, active=0.3)
    assert_type(example, perp.gallery.Example)
    assert_type(example.x, Vector | None)
    assert_type(example.solutions, tuple[Vector, ...])
    assert_type(perp.gallery.kinds(), dict[str, perp.gallery.Kind])
    assert_type(perp.gallery.murty(5), perp.gallery.Example)
    return perp.solve(example.problem)


def factors() -> Vector:
    factor = perp.linalg.SparseCholesky(np.eye(3), ordering="amd")
    assert_type(factor.negative, int)
    assert_type(factor.flops, float)
    assert_type(factor.plan, perp.linalg.Plan)
    return factor.solve(np.ones(3))


def solve(problem: perp.ContactProblem, x0: Vector | None) -> perp.Result:
    return perp.solve(problem, "block_gauss_seidel", x0=x0)


def steps() -> list[worlds.StepReport]:
    scene = scenes.make("pool1", seed=1, discs=60)
    assert_type(scene, scenes.Scene)
    assert_type(scene.world, worlds.World)
    assert_type(scene.options, Mapping[str, Any])
    assert_type(scenes.kinds(), dict[str, scenes.SceneKind])
    assert_type(scene.world.energy(), float)
    assert_type(scene.world.time, float)
    assert_type(scene.world.steps, int)
    report = scene.world.step(scene.dt, solve)
    assert_type(report, worlds.StepReport)
    assert_type(report.x, Vector)
    assert_type(report.seconds, worlds.StepSeconds)
    assert_type(report.residuals, perp.Residuals)
    return [report, scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))]


def bodies(world: worlds.ContactWorld) -> worlds.Contacts:
    report = world.step(0.01, solve)
    assert_type(report, worlds.ContactReport)
    assert_type(world.find_contacts(0.01), worlds.Contacts)
    assert_type(world.frame(report), recording.Frame)
    return report.contacts


def watch(report: worlds.StepReport, statistics: Mapping[str, float]) -> None:
    if statistics["residual"] > 1.0:
        raise StopIteration


def many_steps(world: worlds.World) -> perp.SimulationResult:
    perp.simulate("pool1", 10, method="pgs", tol=1e-6, max_iterations=50, record="run.hdf5", dump="steps")
    perp.simulate(scenes.make("pool1"), 10, method=perp.PGS(), max_seconds=1.0, warm_start=False, callback=watch)
    result = perp.simulate(world, 10, dt=0.01, method=solve, islands=False)
    assert_type(result, perp.SimulationResult)
    assert_type(result.success, bool)
    assert_type(result.ended, simulation.Ending)
    assert_type(result.statistics, Mapping[str, Vector])
    assert_type(result.statuses, tuple[perp.Status | None, ...])
    assert_type(result.world, worlds.World)
    assert_type(result.report, worlds.StepReport | None)
    assert_type(result.summary(), simulation.Summary)
    assert_type(result.summary().as_row(), dict[str, Any])
    return result


def on_disk(world: worlds.ContactWorld) -> list[float]:
    about = recording.Description(dt=0.01, scene="mine", seed=1)
    with recording.Recorder("run.hdf5", world.shapes(), bodies=10, dimension=3, about=about) as recorder:
        recorder.write(world.frame())
    with recording.Recording("run.hdf5") as run:
        assert_type(run.dt, float)
        assert_type(run.dimension, int)
        assert_type(run.bodies, int)
        assert_type(run.description, recording.Description)
        assert_type(run.statistics, dict[str, Vector])
        assert_type(run[0], recording.Frame | recording.LiquidFrame)
        return [frame.time for frame in run]
