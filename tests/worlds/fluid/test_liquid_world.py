"""A world of liquid: what it refuses, what it reports, copies, solvers that misbehave, runs that repeat."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import perp
from perp.errors import InvalidProblem, StateNotFinite
from perp.kernels.fluid import motion as fluid_motion
from perp.kernels.fluid import motion as fluid_walls
from perp.kernels.fluid import pressure as fluid_pressure
from perp.recording.frame import LiquidFrame
from perp.worlds.fluid import BallTank, BoxTank, LiquidReport, LiquidWorld, Turned, seed_particles

H = 1 / 60
CELLS = (12, 10)


def exactly(problem, x0):
    return perp.solve(problem, "block_principal", x0=x0, tol=1e-10)


def left_half(points):
    return points[:, 0] < 0.4


def dam(cells=CELLS, **options):
    spacing = 1.0 / cells[0]
    return LiquidWorld(seed_particles(left_half, cells, spacing), cells, spacing, **options)


def in_a_tank(**options):
    tank = Turned(BoxTank((0.15, 0.15), (0.85, 0.7)), 0.2, (0.5, 0.4))
    spacing = 1.0 / CELLS[0]
    points = seed_particles(lambda p: (p[:, 0] < 0.5) & (tank(p) > 0.0), CELLS, spacing)
    return LiquidWorld(points, CELLS, spacing, solid=tank, **options)


def in_space(**options):
    return dam((6, 5, 7), **options)


WORLDS = {"dam": dam, "tank": in_a_tank, "space": in_space}


@pytest.fixture(params=WORLDS)
def make_world(request):
    return WORLDS[request.param]


def run(world, steps, dt=H):
    return [world.step(dt, exactly) for _ in range(steps)]


# ---- inputs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": [[0.1, np.nan]]}, r"position\[0,1\] is nan"),
        ({"position": [[0.1, 0.1, 0.1]]}, r"position has shape \(1, 3\); n x 2"),
        ({"position": [[0.1, 0.1], [0.1, 1.5]]}, r"position\[1\] is \[0.1, 1.5\], outside of the grid"),
        ({"velocity": [[0.0, 0.0]] * 3}, r"velocity has shape \(3, 2\); 1 x 2"),
        ({"velocity": (0.0, np.inf)}, r"velocity\[0,1\] is inf"),
        ({"cells": (4, 0)}, r"cells\[1\] is 0"),
        ({"spacing": -1.0}, "spacing is -1.0"),
        ({"density": 0.0}, "density is 0.0"),
        ({"gravity": (0.0, 0.0, 1.0)}, r"gravity is \(0.0, 0.0, 1.0\); a number an axis is needed"),
        ({"gravity": -9.81}, r"gravity is -9.81; .* for example \(0.0, -9.81\)"),
        ({"flip": 1.5}, "flip is 1.5"),
        ({"separation": "wall"}, "separation is 'wall'; did you mean 'walls'"),
        ({"form": "dense"}, "form is 'dense'"),
        ({"volume_correction": -0.1}, "volume_correction is -0.1"),
        ({"per_axis": 0}, "per_axis is 0"),
        ({"solid": BallTank((0, 0, 0), 1.0)}, "has 3 axes; points have 2"),
    ],
)
def test_options_are_refused_by_name_and_value(options, message):
    given = {"position": [[0.1, 0.1]], "cells": (4, 4), "spacing": 0.25, **options}
    with pytest.raises(ValueError, match=message):
        LiquidWorld(given.pop("position"), given.pop("cells"), given.pop("spacing"), **given)


@pytest.mark.parametrize(("name", "bad"), [("flip", 2.0), ("separation", "no"), ("form", ""), ("volume_correction", 7)])
def test_options_are_checked_when_they_are_changed(name, bad):
    world = dam()
    before = getattr(world, name)
    with pytest.raises(ValueError, match=name):
        setattr(world, name, bad)
    assert getattr(world, name) == before


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("position", np.nan, "not finite"),
        ("velocity", np.inf, "not finite"),
        ("velocity", 1e200, "not finite"),
        ("position", 7.0, "outside of the grid"),
    ],
)
def test_a_state_set_by_hand_that_makes_no_sense_is_not_stepped_from(name, value, message):
    world = dam()
    run(world, 2)
    getattr(world, name)[3] = value
    before = world.fingerprint()
    with pytest.raises(ValueError, match=message):
        world.step(H, exactly)
    assert world.fingerprint() == before
    assert world.steps == 2


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf, 5e-324, 1e-200, 1e200])
def test_a_step_of_no_length_is_refused(dt):
    for gravity in ((0.0, -9.8), (0.0, 0.0)):
        with pytest.raises(ValueError, match="dt is"):
            dam(gravity=gravity).step(dt, exactly)


@pytest.mark.parametrize("value", [[["a", "b"]], [[1j, 0.0]]], ids=["words", "complex"])
def test_a_state_of_no_numbers_is_refused_by_name(value):
    world = dam()
    world.velocity = np.array(value)
    with pytest.raises(TypeError, match="velocity has dtype"):
        world.step(H, exactly)


def test_lists_may_be_set_by_hand():
    world = dam()
    world.position, world.velocity = [[0.5, 0.5]], [[1, 0]]
    world.step(H, exactly)
    assert world.position.shape == (1, 2)
    assert world.position[0, 0] > 0.5


def test_a_world_without_particles_stays_empty():
    for form in ("stencil", "sparse"):
        world = LiquidWorld(np.empty((0, 2)), (4, 4), 0.25, form=form)
        report = run(world, 2)[-1]
        assert report.measures()["liquid_cells"] == 0
        assert report.measures()["volume"] == 0.0
        assert world.energy() == 0.0


def test_particles_may_be_added_and_taken_away_between_steps():
    world = dam()
    run(world, 3)
    world.position = np.vstack([world.position, [[0.9, 0.7]]])
    with pytest.raises(InvalidProblem, match="velocity has shape"):
        world.step(H, exactly)
    world.velocity = np.vstack([world.velocity, [[0.0, 0.0]]])
    report = run(world, 2)[-1]
    assert report.measures()["particles"] == len(world.position)
    world.position, world.velocity = world.position[::2], world.velocity[::2]  # not contiguous
    run(world, 2)


# ---- solvers that misbehave


class Answer:
    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    ("solve", "error"),
    [
        (lambda problem, x0: Answer(np.full(problem.n, np.nan)), StateNotFinite),
        (lambda problem, x0: Answer(np.full(problem.n, 1e308)), StateNotFinite),
        (lambda problem, x0: Answer(np.linspace(0.0, 1e120, problem.n)), StateNotFinite),
        (lambda problem, x0: Answer(np.zeros(problem.n + 1)), InvalidProblem),
        (lambda problem, x0: Answer(np.zeros((problem.n, 1))), InvalidProblem),
        (lambda problem, x0: Answer(np.zeros(problem.n, dtype=complex)), TypeError),
        (lambda problem, x0: Answer(None), TypeError),
        (lambda problem, x0: None, TypeError),
        (lambda problem, x0: 1 / 0, ZeroDivisionError),
    ],
    ids=["nan", "huge", "large", "long", "column", "complex", "none", "nothing", "raises"],
)
def test_a_solver_that_misbehaves_leaves_the_world_as_it_was(make_world, solve, error):
    world, other = make_world(), make_world()
    run(world, 2), run(other, 2)
    before = world.fingerprint()
    with pytest.raises(error):
        world.step(H, solve)
    assert world.fingerprint() == before
    assert world.steps == 2
    run(world, 2), run(other, 2)
    assert world.fingerprint() == other.fingerprint()


def test_a_wrong_pressure_of_any_size_keeps_particles_inside_the_grid():
    world = dam()
    for _ in range(5):
        world.step(H, lambda problem, x0: Answer(problem.project(np.linspace(-1e6, 1e6, problem.n))))
        assert (world.position >= 0.0).all()
        assert (world.position <= [1.0, 10 / 12]).all()


# ---- copies and repeated runs


@pytest.mark.parametrize(
    "how",
    [copy.copy, copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_go_on_as_the_original_and_share_nothing_with_it(make_world, how):
    world = make_world()
    run(world, 3)
    compiled = [len(k.signatures) for k in (fluid_motion.advect, fluid_pressure.couple_cells, fluid_walls.keep_out)]
    twin = how(world)
    assert twin.fingerprint() == world.fingerprint()
    run(world, 3)
    assert twin.fingerprint() != world.fingerprint()
    run(twin, 3)
    assert twin.fingerprint() == world.fingerprint()
    again = [len(k.signatures) for k in (fluid_motion.advect, fluid_pressure.couple_cells, fluid_walls.keep_out)]
    assert again == compiled


def test_runs_repeat_bit_by_bit(make_world):
    worlds = [make_world(), make_world()]
    for world in worlds:
        run(world, 10)
    assert worlds[0].fingerprint() == worlds[1].fingerprint()


def test_both_forms_of_the_problem_move_the_liquid_alike(make_world):
    worlds = [make_world(form=form) for form in ("stencil", "sparse")]
    for world in worlds:
        run(world, 8)
    np.testing.assert_allclose(worlds[0].position, worlds[1].position, atol=1e-9)


# ---- reports, frames, warm starts


def test_a_report_tells_what_the_step_did(make_world):
    world = make_world(separation="walls")
    reports = run(world, 12)
    report = reports[-1]
    assert isinstance(report, LiquidReport)
    assert "particles" in repr(report)
    assert "liquid cells" in repr(report)
    told = report.measures()
    assert list(told) == [
        "particles",
        "liquid_cells",
        "separating",
        "divergence",
        "outflow",
        "volume",
        "height",
        "fastest",
    ]
    assert told["particles"] == len(world.position)
    assert told["liquid_cells"] == np.count_nonzero(report.liquid)
    assert told["separating"] == np.count_nonzero(report.separating)
    assert told["divergence"] * H <= 1e-9
    assert told["height"] == pytest.approx(world.position[:, -1].mean())
    assert told["fastest"] == pytest.approx(np.linalg.norm(world.velocity, axis=1).max())
    whole = len(world.position) * world.particle_volume
    assert 0.8 * whole < told["volume"] < 1.1 * whole
    assert report.residuals.residual <= 1e-9
    assert report.seconds.total > 0.0
    assert world.steps == report.step == 12


def test_pressure_in_pascal_is_that_of_the_depth():
    world = LiquidWorld(seed_particles(lambda p: p[:, 1] < 0.5, (8, 8), 0.125), (8, 8), 0.125, density=700.0)
    for separation in ("none", "walls", "everywhere"):
        world.separation = separation
        for dt in (0.01, 0.02):
            report = world.step(dt, exactly)
            depth = np.maximum(0.5 - 0.125 * (np.arange(8) + 0.5), 0.0)
            np.testing.assert_allclose(report.pressure, np.tile(700.0 * 9.80665 * depth, (8, 1)), rtol=1e-10)


def test_frames_have_the_state_and_the_fields_of_the_step(make_world):
    world = make_world()
    first = world.frame()
    assert isinstance(first, LiquidFrame)
    assert not first.liquid.any()
    report = run(world, 2)[-1]
    frame = world.frame(report)
    np.testing.assert_array_equal(frame.position, world.position)
    np.testing.assert_array_equal(frame.pressure, report.pressure)
    np.testing.assert_array_equal(frame.separating, report.separating)
    grid = world.grid()
    assert frame.liquid.shape == grid.cells == frame.pressure.shape
    assert grid.solid.shape == tuple(n + 1 for n in grid.cells)
    assert frame.step == 2
    assert world.shapes() == ()
    with pytest.raises(TypeError, match="report is a"):
        world.frame(object())


def test_a_warm_start_is_the_last_pressure_in_the_units_of_the_new_step():
    """Liquid at rest has the same pressure in every step, however long that is."""
    world = LiquidWorld(seed_particles(lambda p: p[:, 1] < 0.5, (8, 8), 0.125), (8, 8), 0.125)
    first = world.step(0.01, exactly)
    assert first.x0 is None
    second = world.step(0.03, exactly)
    np.testing.assert_allclose(second.x0, 9.0 * first.x, atol=1e-12)
    np.testing.assert_allclose(second.x, second.x0, atol=1e-9)
    world.forget_pressure()
    assert world.step(0.03, exactly).x0 is None
    world.warm_start = False
    assert world.step(0.03, exactly).x0 is None


def test_a_warm_start_saves_sweeps_and_a_start_that_puts_energy_in_is_not_taken():
    def sweeps(problem, x0):
        return perp.solve(problem, "pgs", x0=x0, tol=1e-6, max_iterations=5000)

    counts = []
    for warm in (True, False):
        world = dam(warm_start=warm)
        counts.append(sum(world.step(H, sweeps).iterations for _ in range(8)))
    assert counts[0] < 0.8 * counts[1]
    world = dam()
    run(world, 3)
    world.velocity[:, 1] += 30.0  # thrown upwards: the old pressure would throw it even farther
    assert world.step(H, exactly).x0 is None


def test_energy_is_that_of_its_particles():
    world = LiquidWorld([[0.1, 0.2], [0.3, 0.4]], (4, 4), 0.25, velocity=(3.0, 4.0), density=2.0, gravity=(1.0, -10.0))
    mass = 2.0 * 0.125**2
    assert world.energy() == pytest.approx(mass * (25.0 - 0.1 + 2.0 - 0.3 + 4.0))
    assert "2 particles" in repr(world)


def test_a_kernel_is_compiled_for_one_signature_in_the_plane_and_in_space():
    for make in WORLDS.values():
        for form in ("stencil", "sparse"):
            run(make(form=form), 1)
    for module in (fluid_motion, fluid_pressure, fluid_walls):
        for item in vars(module).values():
            if hasattr(item, "signatures") and "forceinline" not in item.targetoptions:
                assert len(item.signatures) <= 1
