"""Every scene of the list: small in the tests, at its own size where there is time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

import perp
from perp.solvers.roster import BY_NAME

HAS_MUJOCO = importlib.util.find_spec("mujoco") is not None
KINDS = perp.scenes.kinds()
SOURCES = {"AMGS": 3, "NOTES": 4, "PGS-SM": 8, "THESIS": 7, "SLIDES": 1}
WITHOUT_MUJOCO = ("discs", "liquids")


def build(name: str, **options: object) -> perp.scenes.Scene:
    if not HAS_MUJOCO and KINDS[name].group not in WITHOUT_MUJOCO:
        pytest.skip("MuJoCo is not installed")
    return perp.scenes.make(name, **options)


def own_solve(kind: perp.scenes.SceneKind):
    return lambda problem, x0: perp.solve(problem, kind.method, x0=x0, max_iterations=kind.iterations)


def test_there_are_the_scenes_of_the_papers_the_discs_of_the_slides_and_the_liquids_of_the_notes():
    counts = {source: sum(kind.source.startswith(source) for kind in KINDS.values()) for source in SOURCES}
    assert counts == SOURCES


@pytest.mark.parametrize("name", KINDS)
def test_a_scene_says_where_it_comes_from_and_what_its_options_mean(name):
    kind = KINDS[name]
    assert kind.source.split()[0].rstrip(",") in SOURCES
    assert len(kind.description) > 20
    assert all(option.doc for option in kind.options.values())
    assert set(kind.small) <= set(kind.options)
    assert kind.method in BY_NAME


@pytest.mark.parametrize("name", KINDS)
def test_a_small_scene_runs_and_repeats_bit_by_bit(name):
    kind = KINDS[name]
    prints = []
    for _ in range(2):
        world = build(name, **kind.small).world
        for _ in range(10):
            report = world.step(kind.dt, own_solve(kind))
        assert np.isfinite(report.residuals.residual)
        prints.append(world.fingerprint())
    assert prints[0] == prints[1]


@pytest.mark.parametrize("name", ["pool1", "snake_loaded", "boxes", "spinner", "dam_break"])
def test_a_scene_repeats_with_one_and_two_threads(name):
    build(name, **KINDS[name].small)
    code = (
        f"import perp; kind = perp.scenes.kinds()[{name!r}]; world = perp.scenes.make({name!r}, **kind.small).world\n"
        "for _ in range(10):\n"
        "    world.step(kind.dt, lambda p, x0: perp.solve(p, kind.method, x0=x0, max_iterations=kind.iterations))\n"
        "print(world.fingerprint())"
    )
    prints = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads}
        run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
        prints.add(run.stdout)
    assert len(prints) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_scene_runs_three_hundred_steps_at_its_own_size(name):
    kind = KINDS[name]
    world = build(name).world
    for _ in range(300):
        report = world.step(kind.dt, own_solve(kind))
    assert world.steps == 300
    assert np.isfinite(world.energy())
    assert np.isfinite(report.residuals.residual)
    # things that fell are still there: nothing went through the ground or flew away
    position = world.frame().position
    assert np.abs(position).max() < 100.0
    if name not in ("chain", "spinner", "trucks"):  # these hang in the air
        assert position[:, -1].min() > -0.5
