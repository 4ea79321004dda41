"""Points of the central path next to a given point: products, places inside the cones, and what stays as it is."""

from __future__ import annotations

import conic_problems
import numpy as np
import pytest
from conic_problems import MODELS
from plain_kernels import plain

import perp
from perp import ConeInterior, gallery
from perp.kernels.conic import path, run
from perp.kernels.conic.layout import BEST, CENTRE, OWN, RATIO, VH, VT, ZH, ZT, X, Y
from perp.solvers.cone_interior import course
from perp.solvers.cone_interior.starting_points import begin_cold, begin_next_to, centre_pairs
from perp.solvers.cone_interior.state import answer as found
from perp.solvers.cone_interior.state import run_kernel


def centred(model, seed, tau, dimension=3):
    """A random point of a problem with contacts, joints and bounds, before and after."""
    problem = conic_problems.contacts(model, dimension, seed=seed)
    state = ConeInterior().start(problem, np.zeros(problem.n))
    rows, it = state.rows, state.iterate
    rng = np.random.default_rng(seed)
    moves = rows.block_of_row >= 0
    it.rows[X] = np.where(moves, rng.standard_normal(problem.n), it.rows[X])
    it.rows[Y] = np.where(moves, rng.standard_normal(problem.n), 0.0)
    it.rows[RATIO] = np.where(moves, np.exp(rng.standard_normal(rows.row.size))[rows.block_of_row], 1.0)
    it.target[:] = np.exp(rng.standard_normal(it.target.size))
    before = it.rows.copy()
    centre_pairs(rows, it, tau)
    plain(path.read_cones)(rows.cones, it)
    return rows, it, before


def pairs(rows, it):
    """head and tail of z and v, and the target, of each cone."""
    cones = rows.cones
    for k in range(cones.slot.size):
        slot, tail = cones.slot[k], slice(cones.tail[k], cones.tail[k] + cones.count[k])
        yield it.rows[ZH, slot], it.rows[ZT, tail], it.rows[VH, slot], it.rows[VT, tail], it.target[k]


@pytest.mark.parametrize("tau", [1.0, 1e-4, 1e-8])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_all_products_are_those_of_the_path_and_all_pairs_are_inside(model, dimension, tau):
    for seed in range(5):
        rows, it, _ = centred(model, seed, tau, dimension)
        for z, z_t, v, v_t, target in pairs(rows, it):
            assert z > np.linalg.norm(z_t)
            assert v > np.linalg.norm(v_t)
            assert z * v + z_t @ v_t == pytest.approx(tau * target, rel=1e-5)
            np.testing.assert_allclose(z * v_t + v * z_t, 0.0, atol=1e-12 * (z * v + 1.0))


@pytest.mark.parametrize("model", MODELS)
def test_what_tells_the_states_stays_as_it_is(model):
    """z - r v of half-lines and convex contacts; of other tails its direction, as their heads may have moved."""
    for seed in range(5):
        rows, it, before = centred(model, seed, 1e-3)
        cones, after = rows.cones, it.rows
        argument = [lines[X] - lines[CENTRE] - after[RATIO] * lines[Y] for lines in (before, after)]
        for k in range(cones.slot.size):
            tail = slice(cones.tail[k], cones.tail[k] + cones.count[k])
            old, new = argument[0][tail], argument[1][tail]
            if cones.mode[k] == OWN:
                head = cones.head[k]
                np.testing.assert_allclose(argument[1][head], argument[0][head], rtol=1e-8, atol=1e-10)
                np.testing.assert_allclose(new, old, rtol=1e-8, atol=1e-10)
            else:
                assert old @ new == pytest.approx(np.linalg.norm(old) * np.linalg.norm(new), rel=1e-10)


def test_a_point_on_the_path_stays_where_it_is():
    rows, it, _ = centred("cone", 0, 1e-3)
    once = it.rows.copy()
    centre_pairs(rows, it, 1e-3)
    np.testing.assert_allclose(it.rows[[X, Y, VH]], once[[X, Y, VH]], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", ["cone", "box", "convex"])
def test_where_newton_steps_from_a_start_lead_nowhere_the_path_begins_next_to_it(model):
    """And is shorter than a cold one, where what stands on the ground was pushed a little."""
    rigid = gallery.make("box_stack", n=336, model=model, mass_ratio=100.0, load="gravity", seed=1).problem
    problem = rigid.with_compliance(perp.contact_compliance(rigid, 1e-4))
    push = np.zeros(problem.A.J.shape[1])
    push[0::6] = 0.03 * np.abs(problem.b).max()
    start = perp.solve(problem.with_matrix(problem.A, problem.b + problem.A.J @ push), ConeInterior(), tol=1e-8)
    assert start.success
    cold, warm = (perp.solve(problem, ConeInterior(), tol=1e-8, x0=x0) for x0 in (None, start.x))
    assert cold.success
    assert warm.success
    np.testing.assert_allclose(problem.slack(warm.x), problem.slack(cold.x), atol=1e-6)
    spent = [result.history.counters["factorisations"][-1] for result in (cold, warm)]
    assert course.TRIALS < spent[1] < spent[0] + course.TRIALS


@pytest.mark.parametrize("model", MODELS)
def test_with_joints_and_fixed_rows_a_path_from_next_to_a_start_leads_to_the_solution(model):
    """Equations have no pair that would bring their y to zero, and rows that cannot move are in b already."""
    solved = 0
    for seed in range(6):
        problem = conic_problems.contacts(model, compliance=0.01, seed=seed)
        method = ConeInterior(attempts=1)
        answer = perp.solve(problem, method, tol=1e-10)
        assert answer.success
        state = method.start(problem, np.zeros(problem.n))
        rng = np.random.default_rng(seed)
        near = problem.project(answer.x * (1.0 + 0.01 * rng.standard_normal(problem.n)))
        assert begin_cold(state, method.friction_target, method.seed)
        begin_next_to(problem, state, near, 0.1)
        begun = state.marks[path.FACTORISATIONS]
        while state.marks[run.ENDED] == run.GOES_ON:
            run_kernel(state, run.FOLLOW, 1)
        solved += state.marks[run.ENDED] == run.DONE
        assert state.marks[path.FACTORISATIONS] - begun <= 20
        np.testing.assert_allclose(problem.slack(found(problem, state, BEST)), answer.y, atol=1e-6)
    assert solved == 6


@pytest.mark.parametrize("model", MODELS)
def test_a_solution_with_fixed_rows_is_known_at_once(model):
    problem = conic_problems.contacts(model, compliance=0.01)
    answer = perp.solve(problem, ConeInterior(), tol=1e-12)
    again = perp.solve(problem, ConeInterior(), tol=1e-10, x0=answer.x)
    assert again.success
    assert again.iterations <= 1


@pytest.mark.parametrize("model", MODELS)
def test_starts_that_are_very_far_away_do_no_harm(model):
    problem = gallery.make("box_stack", n=48, model=model).problem
    for size in (1e12, 1e54):
        start = problem.project(size * np.random.default_rng(0).standard_normal(problem.n))
        assert perp.solve(problem, ConeInterior(), tol=1e-8, x0=start).success
