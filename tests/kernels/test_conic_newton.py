"""The blocks W and H of cones, and whole Newton directions, against dense algebra."""

from __future__ import annotations

from copy import copy

import conic_problems
import conic_twins as twins
import numpy as np
import pytest
from conic_problems import MODELS
from numba import njit

import perp
from perp import gallery
from perp.kernels.conic import layout, newton, path, run
from perp.solvers.cone_interior import cone_interior
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.cone_interior.state import run_kernel


@njit
def scale(cones, it):
    path.read_cones(cones, it)
    return path.scale_cones(cones, it)


@njit
def slope_times(blocks, cones, it, with_compliance, x, sign, out):
    newton.slope_times(blocks, cones, it, with_compliance, x, sign, out)


@njit
def inverse_times(blocks, cones, it, x, out):
    newton.inverse_times(blocks, cones, it, x, out)


@njit
def fill_blocks(blocks, cones, it):
    newton.fill_blocks(blocks, cones, it)


CASES = [(model, dimension) for model in MODELS for dimension in (2, 3)]


def prepared(model, dimension, seed=0, spread=0.9):
    """A state with T of all cones, and W + C, dense, for the rows that are in blocks."""
    problem = conic_problems.contacts(model, dimension, compliance=0.4, seed=seed)
    state = conic_problems.inner_state(problem, seed, spread=spread)
    state.iterate.rows[layout.LIFT] = 0.05
    scale(state.rows.cones, state.iterate)
    inside = state.rows.block_of_row >= 0
    compliance = np.diag(state.conic.compliance + 0.05)
    return state, inside, twins.slope(state), compliance


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_tau_is_the_mean_of_the_products_over_their_targets(seed, model, dimension):
    problem = conic_problems.contacts(model, dimension, seed=seed)
    state = conic_problems.inner_state(problem, seed)
    cones = twins.pairs(state)
    expected = np.mean([cone.z @ cone.v / cone.target for cone in cones])
    assert scale(state.rows.cones, state.iterate) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("with_compliance", [True, False])
def test_the_slope_is_the_matrix_of_all_cones(model, dimension, with_compliance):
    state, inside, W, C = prepared(model, dimension)
    if not with_compliance:
        C = np.diag(np.full(inside.size, 0.05))  # the lift alone
    x = np.random.default_rng(1).standard_normal(inside.size)
    out = np.ones(inside.size)
    slope_times(state.conic.blocks, state.rows.cones, state.iterate, with_compliance, x, -2.0, out)
    expected = np.where(inside, 1.0 - 2.0 * (W + C) @ x, 1.0)
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_inverse_is_that_of_the_matrix(seed, model, dimension):
    state, inside, W, C = prepared(model, dimension, seed)
    x = np.where(inside, np.random.default_rng(seed).standard_normal(inside.size), 0.0)
    out = np.ones(inside.size)
    inverse_times(state.conic.blocks, state.rows.cones, state.iterate, x, out)
    rows = np.ix_(inside, inside)
    np.testing.assert_allclose(out[inside] - 1.0, np.linalg.solve((W + C)[rows], x[inside]), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(out[~inside], 1.0)


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("spread", [0.5, 1.0 - 1e-8])
def test_slope_and_inverse_undo_each_other(spread, model, dimension):
    """Also where growth is 1e4, as on contacts that slide."""
    state, inside, _, _ = prepared(model, dimension, spread=spread)
    blocks, cones, it = state.conic.blocks, state.rows.cones, state.iterate
    x = np.where(inside, np.random.default_rng(2).standard_normal(inside.size), 0.0)
    there, back = np.zeros(inside.size), np.zeros(inside.size)
    inverse_times(blocks, cones, it, x, there)
    slope_times(blocks, cones, it, True, there, 1.0, back)
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-13 * it.rows[layout.GROWTH].max() ** 2 + 1e-12)


@pytest.mark.parametrize(("model", "dimension"), CASES)
def test_the_blocks_as_numbers_are_the_inverse_as_it_is_applied(model, dimension):
    state, inside, _, _ = prepared(model, dimension)
    blocks, cones, it = state.conic.blocks, state.rows.cones, state.iterate
    fill_blocks(blocks, cones, it)
    for b in range(blocks.row.size):
        row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
        H = it.H[at : at + d * d].reshape(d, d)
        for j in range(d):
            unit, column = np.zeros(inside.size), np.zeros(inside.size)
            unit[row + j] = 1.0
            inverse_times(blocks, cones, it, unit, column)
            np.testing.assert_allclose(H[:, j], column[row : row + d], rtol=1e-12, atol=1e-13)


def test_normal_and_friction_of_the_exact_law_are_coupled_one_way():
    """Friction follows the normal, and nothing acts back: that tells the exact law from the convex one."""
    for model, acts_back in (("cone", False), ("convex", True)):
        state, _, _, _ = prepared(model, 3)
        blocks = state.conic.blocks
        fill_blocks(blocks, state.rows.cones, state.iterate)
        H = state.iterate.H[blocks.matrix[0] : blocks.matrix[0] + 9].reshape(3, 3)
        assert np.all(H[1:, 0] != 0.0)
        assert np.all(H[0, 1:] != 0.0) == acts_back


def check_directions(problem, monkeypatch, at, accuracy=1e-8, **options):
    """The direction of iterations `at`, refined as far as it goes, is that of the dense twin."""
    monkeypatch.setattr(cone_interior, "ACCURACY", 1e-13)
    method = ConeInterior(correctors=0, refinements=12, polish=False, **options)
    state = method.start(problem, np.zeros(problem.n))
    for k in range(max(at) + 1):
        before = copy(state)
        before.iterate = layout.Iterate(*(part.copy() for part in state.iterate))
        run_kernel(state, run.FOLLOW, 1)
        if k not in at:
            continue
        R = state.iterate.rows
        expected, sigma = twins.mehrotra(problem, before, R[layout.LIFT].copy(), path.LEAST_SIGMA)
        inside = state.rows.block_of_row >= 0
        assert state.marks[path.SIGMA] == pytest.approx(sigma, rel=1e-6)
        for line, numbers in ((layout.DX, expected.dx), (layout.DY, expected.dy)):
            scale_of_line = np.abs(numbers[inside]).max()
            np.testing.assert_allclose(R[line, inside], numbers[inside], rtol=0, atol=accuracy * scale_of_line)
        for slot, dv in zip(state.rows.cones.slot, expected.dv, strict=True):
            assert R[layout.DVH, slot] == pytest.approx(dv[0], rel=1e-6, abs=accuracy * np.abs(dv).max())
        if state.conic.in_bodies:
            moved = state.iterate.bodies[layout.DV]
            np.testing.assert_allclose(
                moved, expected.dV[state.conic.system.rows], rtol=0, atol=accuracy * np.abs(moved).max()
            )
        step = (R[layout.X] - before.iterate.rows[layout.X])[inside] / R[layout.DX, inside]
        assert step.min() == pytest.approx(step.max(), rel=1e-6)
        assert 0.0 < step.min() <= 1.0


@pytest.mark.parametrize("space", ["body", "contact"])
@pytest.mark.parametrize("model", MODELS)
def test_an_iteration_on_a_stack_solves_the_whole_linearised_system(model, space, monkeypatch):
    problem = gallery.make("box_stack", n=48, model=model).problem
    check_directions(problem, monkeypatch, at=(0, 5), space=space)


@pytest.mark.parametrize("compliance", [0.0, 0.1])
@pytest.mark.parametrize("space", ["body", "contact"])
@pytest.mark.parametrize(("model", "dimension"), CASES)
def test_joints_bounds_and_smooth_contacts_are_in_the_same_system(model, dimension, space, compliance, monkeypatch):
    problem = conic_problems.contacts(model, dimension, compliance=compliance)
    # dx of a rigid equation is what rounding leaves of J dV, over its lift
    eps = np.finfo(float).eps
    accuracy = eps / cone_interior.SYMMETRIC_LIFT if space == "body" and compliance == 0.0 else 1e-8
    check_directions(problem, monkeypatch, at=(0, 4), accuracy=accuracy, space=space)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("model", MODELS)
def test_a_given_matrix_has_the_same_directions(model, form, monkeypatch):
    stack = conic_problems.contacts(model, extra=False, compliance=0.2)
    A = stack.A.to_dense() if form == "dense" else stack.A.to_sparse()
    check_directions(perp.ContactProblem(A, stack.b, stack.friction, model), monkeypatch, at=(0, 3))


def test_an_unsymmetric_matrix_has_its_own_directions(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    A = A @ A.T / 12 + np.eye(12) + 0.3 * (A - A.T)
    check_directions(perp.LCP(A, rng.standard_normal(12)), monkeypatch, at=(0, 3))
    check_directions(perp.ContactProblem(A, rng.standard_normal(12), 0.5, "convex"), monkeypatch, at=(0, 3))


@pytest.mark.parametrize("model", MODELS)
def test_what_is_left_of_the_linear_equations_falls_with_the_step(model, monkeypatch):
    """r_d becomes (1 - step) r_d - step lift dx, and r_p (1 - step) r_p."""
    monkeypatch.setattr(cone_interior, "ACCURACY", 1e-13)
    problem = conic_problems.contacts(model, compliance=0.1)
    method = ConeInterior(polish=False, refinements=12)
    state = method.start(problem, np.zeros(problem.n))
    R, inside = state.iterate.rows, state.rows.block_of_row >= 0
    nothing = np.zeros(problem.n)
    for _ in range(4):
        before, x = twins.whole(problem, state, nothing), R[layout.X].copy()
        run_kernel(state, run.FOLLOW, 1)
        moved = (R[layout.X] - x)[inside]
        step = float(np.median(moved / R[layout.DX, inside]))
        after = twins.whole(problem, state, nothing)
        expected = (1.0 - step) * before.r_d[inside] - R[layout.LIFT, inside] * moved
        size = np.abs(before.r_d).max() + np.abs(before.r_p).max()
        np.testing.assert_allclose(after.r_d[inside], expected, rtol=0, atol=1e-9 * size)
        np.testing.assert_allclose(after.r_p, (1.0 - step) * before.r_p, rtol=0, atol=1e-9 * size)
