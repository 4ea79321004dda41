"""Block Gauss-Seidel: what it solves, its orders, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp import BlockGaussSeidel
from perp.errors import MethodRefused
from perp.solvers.splitting.sweeps import ORDERS, colour, colour_contacts, make_order

MODELS = ["box", "cone", "convex", "disc"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_planted_contacts_are_solved_in_every_model(model, dimension):
    rng = np.random.default_rng(3)
    n = 20 * dimension
    G = rng.standard_normal((n, n))
    example = perp.gallery.planted_contacts(G @ G.T / n + np.eye(n), 0.5, model, dimension=dimension, seed=1)
    result = perp.solve(example.problem, BlockGaussSeidel(), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-8)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("relaxation", [0.8, 1.0, 1.2])
def test_every_order_and_relaxation_ends_at_the_same_motion(order, relaxation):
    problem = perp.gallery.make("box_stack", n=96, model="cone").problem
    result = perp.solve(problem, BlockGaussSeidel(relaxation, order), tol=1e-9, max_iterations=100_000)
    other = perp.solve(problem, "pgs", tol=1e-9, max_iterations=100_000)
    assert result.success
    assert other.success
    np.testing.assert_allclose(result.y, other.y, atol=1e-6)


@pytest.mark.parametrize("model", ["box", "cone"])
def test_contacts_that_do_not_touch_take_one_sweep_where_rows_take_many(model):
    rng = np.random.default_rng(0)
    blocks = [G @ G.T + 0.1 * np.eye(3) for G in rng.standard_normal((20, 3, 3))]
    problem = perp.ContactProblem(sparse.block_diag(blocks, format="csr"), rng.standard_normal(60), 0.5, model)
    assert perp.solve(problem, BlockGaussSeidel(), check_every=1, tol=1e-12).iterations == 1
    assert perp.solve(problem, "pgs", check_every=1, tol=1e-12).iterations > 20


def test_steps_may_be_cut_anywhere():
    problem = perp.gallery.make("box_stack", n=96, model="cone").problem
    method = BlockGaussSeidel(order="random", seed=4)
    together, apart = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
    method.step(problem, together, 70)
    for width in (1, 62, 7):
        method.step(problem, apart, width)
    np.testing.assert_array_equal(together.x, apart.x)


def test_a_tangent_that_moves_nothing_is_allowed():
    A = np.diag([1.0, 1.0, 0.0])  # a planar model seen in three dimensions
    for model in MODELS:
        result = perp.solve(perp.ContactProblem(A, [-1.0, -0.2, 0.0], 0.5, model), BlockGaussSeidel())
        assert result.success
        np.testing.assert_allclose(result.x, [1.0, 0.2, 0.0], atol=1e-12)


def test_a_normal_that_moves_nothing_is_refused_with_its_row():
    with pytest.raises(MethodRefused, match=r"row \(3; A\[3,3\] is zero"):
        perp.solve(perp.ContactProblem(np.diag([1.0, 1, 1, 0, 1, 1]), -np.ones(6), 0.5), BlockGaussSeidel())


@pytest.mark.parametrize("model", MODELS)
def test_nothing_to_solve_is_solved(model):
    assert perp.solve(perp.ContactProblem(np.zeros((0, 0)), [], 0.5, model), BlockGaussSeidel()).success


@pytest.mark.parametrize("friction", [0.0, 1e6])
@pytest.mark.parametrize("model", MODELS)
def test_extreme_friction_is_solved_or_honest(model, friction):
    problem = perp.gallery.make("box_stack", n=48, model=model, friction=friction).problem
    result = perp.solve(problem, BlockGaussSeidel(), tol=1e-7, max_iterations=20_000)
    assert np.isfinite(result.x).all()
    assert result.success or result.residual > 1e-7
    if friction == 0.0:
        assert result.success


def test_bad_options_are_refused():
    for options in ({"relaxation": 2.0}, {"relaxation": 0.0}, {"order": "sideways"}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            BlockGaussSeidel(**options)


def test_contacts_of_one_colour_share_no_body_and_have_zeros_between_them():
    problem = perp.gallery.make("box_stack", n=300, model="cone").problem
    for A in (problem.A, perp.SparseOperator(problem.A.to_sparse())):
        held = perp.ContactProblem(A, problem.b, problem.friction, "cone")
        colours = colour_contacts(held, held.contacts, held.contact_rows)
        blocks = abs(problem.A.to_sparse()).tocoo()
        same = colours[blocks.row // 3] == colours[blocks.col // 3]
        assert (blocks.row // 3 == blocks.col // 3)[same & (blocks.data > 0.0)].all()
        assert colours.max() < held.contacts / 2
        order = make_order(held, "coloured")
        assert (np.diff(colours[order.contacts].astype(int)) >= 0).all()
        np.testing.assert_array_equal(np.sort(order.contacts), np.arange(held.contacts))


def test_a_grid_takes_two_colours():
    across, along = (sparse.diags_array([1.0, 2.0, 1.0], offsets=[-1, 0, 1], shape=(k, k)) for k in (6, 5))
    grid = sparse.csr_array(sparse.kron(across, sparse.eye_array(5)) + sparse.kron(sparse.eye_array(6), along))
    assert set(colour(grid)) == {0, 1}


def test_pgs_takes_the_coloured_order_too():
    problem = perp.gallery.make("poisson_2d", n=100).problem
    assert perp.solve(problem, "pgs", order="coloured").success


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_units_do_not_change_the_number_of_sweeps(model, dimension):
    """Planar contacts are given a tangent of stiffness 1, beside which those of heavy bodies are nothing."""
    rng = np.random.default_rng(5)
    n = 4 * dimension
    G = rng.standard_normal((n, 2 * n))
    A, b = G @ G.T, np.where(np.arange(n) % dimension, rng.standard_normal(n), -3.0)
    plain = perp.solve(perp.ContactProblem(A, b, 0.4, model, dimension=dimension), BlockGaussSeidel())
    for factor in (2.0**-40, 2.0**40):
        scaled = perp.ContactProblem(A * factor, b * factor, 0.4, model, dimension=dimension)
        result = perp.solve(scaled, BlockGaussSeidel())
        assert result.success
        assert result.iterations <= plain.iterations + 10
        np.testing.assert_allclose(result.x, plain.x, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("coupling", [1e9, 1e30, 1e100, 1e200])
def test_contacts_whose_block_is_far_from_semidefinite_end_with_a_status(model, coupling):
    A = np.array([[1.0, coupling, -1.0], [coupling, 2.0, 0.3], [-1.0, 0.3, 1.0]])
    result = perp.solve(perp.ContactProblem(A, [-1.0, 0.5, 0.2], 0.5, model), BlockGaussSeidel(), max_iterations=50)
    assert np.isfinite(result.x).all()
    assert result.success == (perp.verify(result.problem, result.x).residual <= 1e-8)
