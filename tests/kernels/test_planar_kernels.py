"""The kernels of planar pairs against readable twins: dense matrices, one visit after the other."""

from __future__ import annotations

import numpy as np
import planar_operators
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.storages import planar_pairs
from perp.kernels.sweeps import blocked_pairs, modulus
from perp.problems.inputs import freeze
from perp.solvers.splitting.block_gauss_seidel import make_block_sweeper
from perp.solvers.splitting.sweeps import make_sweeper

CLOSE = {"rtol": 1e-12, "atol": 1e-13}
SEEDS = st.integers(0, 10_000)


def parts(A):
    return A.planar.bodies, A.planar.jacobian, A.planar.inverse_mass


def dense_parts(A):
    J = A.J.toarray()
    return J, A.mass.solve(J.T)


@given(SEEDS, st.booleans())
def test_velocity_and_slack_are_products_with_dense_matrices(seed, fixed):
    rng = np.random.default_rng(seed)
    A = planar_operators.random_planar(rng, contacts=4, others=2, fixed=fixed)
    J, scaled = dense_parts(A)
    x, b, v, out = rng.standard_normal(A.n), freeze(rng.standard_normal(A.n)), np.full(18, np.nan), np.empty(A.n)
    planar_pairs.velocity(*parts(A), x, v)
    np.testing.assert_allclose(v[:-3], scaled @ x, **CLOSE)
    np.testing.assert_array_equal(v[-3:], 0.0)  # the world does not move
    v[:] = np.nan
    planar_pairs.slack(*parts(A), A.compliance, b, x, v, out)
    np.testing.assert_allclose(out, J @ scaled @ x + A.compliance * x + b, **CLOSE)


@given(SEEDS)
def test_diagonal_blocks_are_those_of_the_product(seed):
    A = planar_operators.random_planar(np.random.default_rng(seed), contacts=4)
    J, scaled = dense_parts(A)
    whole = J @ scaled
    for size in (1, 2):
        blocks = np.empty((A.n // size, size, size))
        planar_pairs.diagonal_blocks(np.uint64(size), *parts(A), blocks.reshape(-1))
        expected = [whole[i : i + size, i : i + size] for i in range(0, A.n, size)]
        np.testing.assert_allclose(blocks, expected, **CLOSE)


@given(SEEDS, st.floats(0.2, 1.9), st.booleans())
def test_sweeps_over_contacts_and_rows_are_those_of_the_twin(seed, relaxation, rows_first):
    problem = planar_operators.random_contacts(seed)
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    sweeper = make_sweeper(problem, relaxation, x.copy())
    assert sweeper.kernels is planar_pairs
    rng = np.random.default_rng(seed + 1)
    for _ in range(4):
        contacts = rng.permutation(np.arange(problem.contacts, dtype=np.uint32))
        rows = rng.permutation(np.arange(problem.contact_rows, problem.n, dtype=np.uint32))
        sweeper.sweep(1, contacts, rows, rows_first)
        x = twins.sweep(problem, x, relaxation, contacts, rows, rows_first)
        np.testing.assert_allclose(sweeper.x, x, **CLOSE)


@given(SEEDS, st.floats(0.2, 1.9))
def test_sweeps_over_plain_rows_are_those_of_the_twin(seed, relaxation):
    rng = np.random.default_rng(seed)
    A = planar_operators.random_planar(rng, contacts=3, others=3)
    problem = perp.BoxLCP(A, rng.standard_normal(A.n), rng.choice([-np.inf, -1.0, 0.0], A.n), rng.uniform(0, 1, A.n))
    x = problem.project(np.zeros(A.n))
    sweeper = make_sweeper(problem, relaxation, x.copy())
    assert sweeper.kernels is planar_pairs
    for _ in range(4):
        sweeper.sweep(1, np.empty(0, dtype=np.uint32), np.arange(A.n, dtype=np.uint32), False)
        x = twins.sweep(problem, x, relaxation)
        np.testing.assert_allclose(sweeper.x, x, **CLOSE)


def solve_locally(W, friction, q):
    """Coulomb's law for y = W x + q with one tangent, by its cases: x = 0, stick, slide to either side."""
    if q[0] >= 0.0:
        return np.zeros(2)
    stick = -np.linalg.solve(W, q)
    if stick[0] >= 0.0 and abs(stick[1]) <= friction * stick[0]:
        return stick
    found = []
    for share in (friction, -friction):
        n = -q[0] / (W[0, 0] + W[0, 1] * share)
        slip = W[1] @ [n, share * n] + q[1]
        if n >= 0.0 and (slip * share <= 0.0 or friction == 0.0):
            found.append(np.array([n, share * n]))
    assert len(found) == 1 or friction == 0.0
    return found[0]


def block_twin(problem, x, rows_first):
    A, x = problem.A.to_dense(), x.copy()
    if rows_first:
        x = twins.sweep(problem, x, 1.0, contact_order=np.empty(0, dtype=int))
    for c in range(problem.contacts):
        own = slice(2 * c, 2 * c + 2)
        W = A[own, own]
        x[own] = solve_locally(W, problem.friction[c], A[own] @ x + problem.b[own] - W @ x[own])
    return x if rows_first else twins.sweep(problem, x, 1.0, contact_order=np.empty(0, dtype=int))


@given(SEEDS, st.sampled_from(["box", "cone"]), st.booleans())
def test_block_sweeps_solve_every_contact_exactly(seed, model, rows_first):
    problem = planar_operators.random_contacts(seed, model)
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    sweeper = make_block_sweeper(problem, 1.0, x.copy())
    assert sweeper.kernel is blocked_pairs.sweep_planar_pairs
    contacts = np.arange(problem.contacts, dtype=np.uint32)
    rows = np.arange(problem.contact_rows, problem.n, dtype=np.uint32)
    for _ in range(3):
        sweeper.sweep(1, contacts, rows, rows_first)
        x = block_twin(problem, x, rows_first)
        np.testing.assert_allclose(sweeper.x, x, rtol=1e-9, atol=1e-10)  # W may be nearly singular


def modulus_twin(problem, u, step, keep, drop):
    """AMGS eq. 14 row by row, with the bounds that the newest normals give."""
    A, u = problem.A.to_dense(), u.copy()
    contact_rows = problem.contact_rows if isinstance(problem, perp.ContactProblem) else 0
    x = np.zeros(problem.n)
    for c in range(contact_rows // 2):
        x[2 * c] = max(u[2 * c], 0.0)
        x[2 * c + 1] = np.clip(u[2 * c + 1], -problem.friction[c] * x[2 * c], problem.friction[c] * x[2 * c])
    lower, upper = problem.bounds(x)
    x[contact_rows:] = np.clip(u[contact_rows:], lower[contact_rows:], upper[contact_rows:])
    for i in range(problem.n):
        y = A[i] @ x + problem.b[i]
        u[i] = x[i] + (keep - drop * step[i]) * (u[i] - x[i]) - step[i] * y
        low, high = (bound[i] for bound in problem.bounds(x))
        x[i] = min(max(u[i], low), high)
    return u, x


@given(SEEDS, st.floats(0.0, 1.0), st.floats(0.0, 0.5), st.booleans())
def test_modulus_sweeps_are_those_of_the_twin(seed, keep, drop, plain):
    problem = planar_operators.random_contacts(seed)
    rng = np.random.default_rng(seed)
    if plain:
        problem = perp.BoxLCP(problem.A, problem.b, -0.5, 1.0)
    u = rng.standard_normal(problem.n)
    bound = make_sweeper(problem, 0.7, np.zeros(problem.n))
    contact = (freeze(np.empty(0)), np.empty(0)) if bound.contact is None else bound.contact
    step, _, _, _, x, v = bound.vectors
    _, x[:] = modulus_twin(problem, u, 0.0 * step, 1.0, 0.0)  # x = clip(u), which is what v must belong to
    ours = u.copy()
    planar_pairs.velocity(*parts(problem.A), x, v)
    for _ in range(3):
        modulus.sweep_planar_pairs(1, (keep, drop), contact, ours, bound.storage, bound.vectors)
        u, expected = modulus_twin(problem, u, step, keep, drop)
        np.testing.assert_allclose(ours, u, **CLOSE)
        np.testing.assert_allclose(x, expected, **CLOSE)


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
def test_a_block_sweep_leaves_a_single_contact_solved(model):
    """One contact alone is solved by one visit, whatever its law, its friction and the push."""
    rng = np.random.default_rng(7)
    masses = perp.problems.operators.PlanarMasses([1.0, 3.0], [0.2, 0.5])
    for trial in range(60):
        A = perp.FactoredOperator.from_body_pairs([[0, 1]] * 2, rng.standard_normal((2, 2, 3)), masses)
        friction = [0.0, 0.1, 0.7][trial % 3]
        problem = perp.ContactProblem(A, rng.standard_normal(2), friction, model, dimension=2)
        x = np.zeros(2)
        make_block_sweeper(problem, 1.0, x).sweep(1, np.zeros(1, dtype=np.uint32), np.empty(0, dtype=np.uint32), False)
        assert perp.verify(problem, x).residual < 1e-12 * (1.0 + np.abs(x).max())


def test_numbers_that_are_not_finite_show_in_x():
    problem = planar_operators.random_contacts(0)
    x = np.zeros(problem.n)
    sweeper = make_sweeper(problem, 1.0, x)
    sweeper.vectors[-1][:] = np.nan  # the velocity
    sweeper.sweep(1, np.arange(6, dtype=np.uint32), np.arange(12, 14, dtype=np.uint32), False)
    assert np.isnan(x).all()


def test_what_a_block_sweep_keeps_of_a_contact_has_limits():
    """Ordinary, a tangent that nothing moves, one that the normal moves alone, and a coupling beyond all numbers."""
    blocks = np.array([[[2.0, 0.5], [0.5, 4.0]], [[2.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1e80]] * 2])
    local = np.empty(16)
    blocked_pairs.prepare_planar(freeze(blocks.reshape(-1)), 0.5, 1e-8, 1e75, local)
    W = blocks[0] / 0.5
    expected = [W[0, 0], 1 / W[0, 0], W[0, 1] / W[0, 0], 1 / (W[1, 1] - W[0, 1] ** 2 / W[0, 0])]
    np.testing.assert_allclose(local[:4], expected, rtol=1e-15)
    np.testing.assert_allclose(local[4:8], [4.0, 0.25, 0.0, 1 / (1e-8 * 4.0)], rtol=1e-15)
    np.testing.assert_allclose(local[8:12], [2.0, 0.5, 1.0, 1 / (1e-8 * 2.0)], rtol=1e-15)
    np.testing.assert_array_equal(local[12:15], [2.0, 0.5, 0.0])
    assert np.isfinite(local).all()
