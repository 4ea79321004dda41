"""Solvers that misbehave, problems made by hand, copies of worlds, and worlds in threads."""

from __future__ import annotations

import copy
import pickle
from threading import Thread

import numpy as np
import pytest
from worlds_to_break import WORLDS, H, discs, rigid, sweeps, swing

from perp.errors import InvalidProblem, StateNotFinite
from perp.kernels.worlds import discs as disc_kernels
from perp.kernels.worlds import joints


@pytest.fixture(params=WORLDS)
def make_world(request):
    return WORLDS[request.param]


# ---- solvers that misbehave


class Answer:
    def __init__(self, x):
        self.x = x


def interrupted(problem, x0):
    raise KeyboardInterrupt


def mutating(problem, x0):
    if x0 is not None:
        x0[:] = np.nan
    problem.b[0] = 0.0


def reordering(problem, x0):
    """Works in place on its start."""
    answer = sweeps(problem, x0)
    if x0 is not None:
        x0[:] = np.nan
    return answer


@pytest.mark.parametrize(
    ("solve", "error"),
    [
        (lambda problem, x0: Answer(np.full(problem.n, np.nan)), StateNotFinite),
        (lambda problem, x0: Answer(np.full(problem.n, 1e308)), StateNotFinite),
        (lambda problem, x0: Answer(np.zeros(problem.n + 1)), InvalidProblem),
        (lambda problem, x0: Answer(np.zeros((problem.n, 1))), InvalidProblem),
        (lambda problem, x0: Answer(np.zeros(problem.n, dtype=complex)), TypeError),
        (lambda problem, x0: Answer(None), TypeError),
        (lambda problem, x0: Answer("impulses"), TypeError),
        (lambda problem, x0: 1 / 0, ZeroDivisionError),
        (mutating, ValueError),
        (interrupted, KeyboardInterrupt),
    ],
    ids=["nan", "huge", "long", "column", "complex", "none", "text", "raises", "mutates", "ctrl-c"],
)
def test_a_solver_that_misbehaves_leaves_the_world_as_it_was(make_world, solve, error):
    world, other = make_world(), make_world()
    for _ in range(3):
        world.step(H, sweeps), other.step(H, sweeps)
    before = world.fingerprint()
    with pytest.raises(error):
        world.step(H, solve)
    assert world.fingerprint() == before
    assert world.steps == 3
    for _ in range(3):
        world.step(H, sweeps), other.step(H, sweeps)
    assert world.fingerprint() == other.fingerprint()


def test_a_solver_may_work_in_place_on_its_start(make_world):
    world, other = make_world(), make_world()
    for _ in range(6):
        report, _ = world.step(H, reordering), other.step(H, sweeps)
        assert report.x0 is None or np.isfinite(report.x0).all()
    assert world.fingerprint() == other.fingerprint()


def test_a_problem_made_by_hand_between_steps_disturbs_nothing(make_world):
    """Rows of limits come and go with dt: impulses must find their rows all the same."""
    world, other = make_world(), make_world()
    for _ in range(60):
        world.make_problem(world.find_contacts(20.0 * H), 20.0 * H)
        world.step(H, sweeps), other.step(H, sweeps)
    assert world.fingerprint() == other.fingerprint()


# ---- copies, threads


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_a_copy_goes_on_as_the_original_would_and_shares_nothing_with_it(make_world, how):
    world, other = make_world(), make_world()
    for _ in range(10):
        world.step(H, sweeps), other.step(H, sweeps)
    twin = how(world)
    for _ in range(10):
        twin.step(H, sweeps)
    assert world.fingerprint() == other.fingerprint()
    for _ in range(10):
        world.step(H, sweeps)
    assert twin.fingerprint() == world.fingerprint()


def test_copies_bring_no_kernel_to_be_compiled_anew():
    for make, kernel in ((discs, disc_kernels.find_pairs), (swing, joints.follow_angle)):
        world = make()
        world.step(H, sweeps)
        copy.deepcopy(world).step(H, sweeps)
        pickle.loads(pickle.dumps(world)).step(H, sweeps)
        assert len(kernel.signatures) == 1


def test_worlds_in_two_threads_do_not_disturb_one_another():
    alone, together = {}, {}

    def run(name, ends):
        world = WORLDS[name]()
        for _ in range(30):
            world.step(H, sweeps)
        ends[name] = world.fingerprint()

    rigid()
    for name in WORLDS:
        run(name, alone)
    threads = [Thread(target=run, args=(name, together)) for name in WORLDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_a_fingerprint_tells_turns_of_a_hinge_and_time():
    first, second = swing(), swing()
    assert first.fingerprint() == second.fingerprint()
    second.joints.counted_angles[:] += 2.0 * np.pi
    assert first.fingerprint() != second.fingerprint()
