"""Which columns blocks have, which blocks share them, and where their numbers belong in the matrix of the factor."""

from __future__ import annotations

import conic_problems
import numpy as np
import pytest
from conic_problems import MODELS
from numba import njit

import perp
from perp import gallery
from perp.kernels.conic import equations, layout
from perp.kernels.factors import body_space
from perp.linalg.free_systems.body import movable_parts

POINTERS = np.array([0, 2, 4, 5, 7, 9, 11])
INDICES = np.array([4, 1, 1, 6, 4, 6, 4, 6, 4, 2, 0])
ROW, WIDTH = np.array([0, 3, 4, 5]), np.array([3, 1, 1, 1])


@njit
def assemble(blocks, system, it, numbers):
    equations.assemble(blocks, system, it, numbers)


@njit
def assemble_in_contacts(blocks, system, it, numbers):
    equations.assemble_in_contacts(blocks, system, it, numbers)


@njit
def push(blocks, system, local, x, f):
    equations.push(blocks, system, local, x, f)


@njit
def pull(blocks, system, local, V, out):
    equations.pull(blocks, system, local, V, out)


def unions():
    pointers, columns = np.zeros(ROW.size + 1, dtype=np.int64), np.empty(INDICES.size, dtype=np.int64)
    body_space.union_columns(POINTERS, INDICES, ROW, WIDTH, pointers, columns, np.full(7, -1))
    return pointers, columns


def test_the_columns_of_a_block_are_those_of_its_rows_sorted():
    pointers, columns = unions()
    found = [columns[pointers[b] : pointers[b + 1]].tolist() for b in range(ROW.size)]
    assert found == [[1, 4, 6], [4, 6], [4, 6], [0, 2]]


@pytest.mark.parametrize(("merge", "group_of"), [(True, [0, 1, 1, 2]), (False, [0, 1, 2, 3])])
def test_neighbours_with_the_same_columns_are_one_group(merge, group_of):
    pointers, block_columns = unions()
    found, starts, columns = np.empty(4, dtype=np.int64), np.zeros(5, dtype=np.int64), np.empty_like(block_columns)
    count = body_space.gather_groups(pointers, block_columns, merge, found, starts, columns)
    assert found.tolist() == group_of
    assert count == group_of[-1] + 1
    for b, g in enumerate(group_of):
        mine = block_columns[pointers[b] : pointers[b + 1]]
        np.testing.assert_array_equal(columns[starts[g] : starts[g + 1]], mine)


def test_rows_are_full_in_the_columns_of_their_group():
    pointers, block_columns = unions()
    group_of, starts, columns = np.empty(4, dtype=np.int64), np.zeros(5, dtype=np.int64), np.empty_like(block_columns)
    body_space.gather_groups(pointers, block_columns, True, group_of, starts, columns)
    data = np.arange(1.0, 12.0)
    size = np.diff(starts)[group_of]
    start = np.append(0, np.cumsum(WIDTH * size))
    out = np.zeros(start[-1])
    body_space.spread_rows(POINTERS, INDICES, data, ROW, WIDTH, group_of, starts, columns, start, out)
    np.testing.assert_array_equal(out[:9].reshape(3, 3), [[2, 1, 0], [3, 0, 4], [0, 5, 0]])
    np.testing.assert_array_equal(out[9:], [7, 6, 9, 8, 11, 10])


def random_blocks(state):
    """Unsymmetric numbers for all blocks, and the same as one matrix."""
    blocks, n = state.conic.blocks, state.iterate.rows.shape[1]
    state.iterate.H[:] = np.random.default_rng(0).standard_normal(state.iterate.H.size)
    H = np.zeros((n, n))
    for row, d, at in zip(blocks.row, blocks.width, blocks.matrix, strict=True):
        H[row : row + d, row : row + d] = state.iterate.H[at : at + d * d].reshape(d, d)
    return H


def matrix_of(state, numbers):
    """Lower and upper numbers as a dense matrix, in the order of the problem."""
    plan = state.conic.plan
    n, lower = plan.symbolic.n, plan.lower.row.size
    column = np.repeat(np.arange(n), np.diff(plan.lower.start))
    K = np.zeros((n, n))
    K[plan.lower.row, column] = numbers[:lower]
    off = plan.lower.row != column
    K[column[off], plan.lower.row[off]] = numbers[lower:][off]
    natural = np.empty_like(K)
    natural[np.ix_(plan.symbolic.permutation, plan.symbolic.permutation)] = K
    return natural


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_the_matrix_of_body_space_is_that_of_bodies_and_blocks(model, dimension):
    problem = conic_problems.contacts(model, dimension)
    state = conic_problems.inner_state(problem, space="body")
    H = random_blocks(state)
    assemble(state.conic.blocks, state.conic.system, state.iterate, state.conic.factor.numbers)
    J, mass = (part.toarray() for part in movable_parts(problem.A))
    J = J / state.rows.unit[:, None]
    np.testing.assert_allclose(matrix_of(state, state.conic.factor.numbers), mass + J.T @ H @ J, atol=1e-12)


def in_joint_coordinates(model):
    """Contacts whose rows have different columns of J, as those of mechanisms have."""
    rng = np.random.default_rng(0)
    J = np.where(rng.random((12, 9)) < 0.4, rng.standard_normal((12, 9)), 0.0)
    return perp.ContactProblem(perp.FactoredOperator(J, np.ones(9)), rng.standard_normal(12), 0.5, model)


def between_several_bodies(model):
    """Rows of one contact that touch different pairs of bodies."""
    rng = np.random.default_rng(0)
    pairs = rng.permuted(np.tile(np.arange(4), (12, 1)), axis=1)[:, :2]
    masses = perp.BodyMasses(np.ones(4), [np.eye(3)] * 4)
    A = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((12, 2, 6)), masses)
    return perp.ContactProblem(A, rng.standard_normal(12), 0.5, model)


@pytest.mark.parametrize("make", [in_joint_coordinates, between_several_bodies])
@pytest.mark.parametrize("model", MODELS)
def test_the_rows_of_a_contact_may_have_different_columns(model, make):
    problem = make(model)
    state = conic_problems.inner_state(problem)
    H = random_blocks(state)
    assemble(state.conic.blocks, state.conic.system, state.iterate, state.conic.factor.numbers)
    J, mass = (part.toarray() for part in movable_parts(problem.A))
    J = J / state.rows.unit[:, None]
    np.testing.assert_allclose(matrix_of(state, state.conic.factor.numbers), mass + J.T @ H @ J, atol=1e-12)
    assert perp.solve(problem, "cone_interior", tol=1e-10).success


@pytest.mark.parametrize("model", MODELS)
def test_the_matrix_of_contact_space_is_A_and_blocks_where_rows_can_move(model):
    """On a stack, where the factor takes the rows of some contacts in another order than the problem has them."""
    stack = gallery.make("box_stack", n=48, model=model).problem
    friction = np.where(np.arange(stack.contacts) % 5 == 0, 0.0, stack.friction)
    problem = perp.ContactProblem(stack.A, stack.b, friction, model)
    state = conic_problems.inner_state(problem, space="contact")
    place = state.conic.plan.symbolic.inverse.reshape(-1, 3)[friction > 0.0]
    assert (np.diff(place, axis=1) < 0).any()
    W = random_blocks(state)
    assemble_in_contacts(state.conic.blocks, state.conic.system, state.iterate, state.conic.factor.numbers)
    unit, inside = state.rows.unit, state.rows.block_of_row >= 0
    expected = np.where(np.outer(inside, inside), problem.A.to_dense() / np.outer(unit, unit) + W, np.diag(~inside))
    np.testing.assert_allclose(matrix_of(state, state.conic.factor.numbers), expected, atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_products_with_J_are_those_of_the_rows_that_can_move(dimension):
    problem = conic_problems.contacts("cone", dimension)
    state = conic_problems.inner_state(problem)
    blocks, system, order = state.conic.blocks, state.conic.system, state.conic.system.rows
    inside = state.rows.block_of_row >= 0
    J = np.where(inside[:, None], movable_parts(problem.A)[0].toarray() / state.rows.unit[:, None], 0.0)
    rng = np.random.default_rng(0)
    x, V = rng.standard_normal(problem.n), rng.standard_normal(J.shape[1])
    f, out = np.ones(V.size), np.ones(x.size)
    push(blocks, system, state.iterate.local, x, f)
    np.testing.assert_allclose(f, 1.0 + (J.T @ x)[order], atol=1e-13)
    pull(blocks, system, state.iterate.local, V[order], out)
    np.testing.assert_allclose(out, 1.0 + J @ V, atol=1e-13)


def test_lines_have_the_names_of_the_layout():
    for names in (layout.ROW_LINES, layout.BODY_LINES):
        assert [getattr(layout, name) for name in names] == list(range(len(names)))
