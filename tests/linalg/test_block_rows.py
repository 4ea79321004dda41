"""(E + G A) dx = r in every space, and the products of block-diagonal matrices."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

import perp
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.block_rows import BlockDiagonal, choose_block_system


def random_blocks(rng, contacts, width, others, shift=0.0):
    blocks = rng.standard_normal((contacts, width, width)) + shift * np.eye(width)
    return BlockDiagonal(blocks, rng.uniform(0.5, 1.0, others))


def full(matrix):
    return block_diag(*matrix.blocks, np.diag(matrix.diagonal)) if matrix.n else np.empty((0, 0))


@given(seed=st.integers(0, 2**31), width=st.sampled_from([2, 3]), contacts=st.integers(1, 4), others=st.integers(0, 3))
def test_block_diagonal_matrices_are_what_they_stand_for(seed, width, contacts, others):
    rng = np.random.default_rng(seed)
    one = random_blocks(rng, contacts, width, others, 4.0)
    two = random_blocks(rng, contacts, width, others)
    v, B = rng.standard_normal(one.n), rng.standard_normal((one.n, 5))
    np.testing.assert_allclose(one.apply(v), full(one) @ v, atol=1e-13)
    np.testing.assert_allclose(one.apply(B), full(one) @ B, atol=1e-13)
    np.testing.assert_allclose(full(one.times(two)), full(one) @ full(two), atol=1e-12)
    np.testing.assert_allclose(one.to_sparse().toarray(), full(one), atol=0.0)
    np.testing.assert_allclose(full(one.plus_scaled_columns(two, v)), full(one) + full(two) * v, atol=1e-13)
    if np.linalg.cond(full(one)) < 1e6:
        np.testing.assert_allclose(full(one.inverse()), np.linalg.inv(full(one)), atol=1e-6)


@pytest.mark.parametrize(
    ("form", "space"),
    [
        ("dense", "auto"),
        ("sparse", "sparse"),
        ("sparse", "dense"),
        ("factored", "body"),
        ("body pairs", "body"),
        ("body pairs", "sparse"),
        ("body pairs", "auto"),
    ],
)
def test_every_space_solves_the_same_equation(form, space):
    rng = np.random.default_rng(4)
    operator = strategies.factored_operator(rng, 5, 2)
    A = strategies.in_form(operator, form)
    E, G = random_blocks(rng, 5, 3, 2, 3.0), random_blocks(rng, 5, 3, 2, 2.0)
    r = rng.standard_normal(17)
    system = choose_block_system(A, space)
    for _ in range(2):
        system.factor(E, G)
    np.testing.assert_allclose(
        system.solve(r), np.linalg.solve(full(E) + full(G) @ operator.to_dense(), r), rtol=1e-9, atol=1e-10
    )
    assert system.factorisations == 2


def test_bodies_that_cannot_move_and_compliance_are_welcome_in_body_space():
    rng = np.random.default_rng(1)
    mass = perp.BodyMasses([1.0, np.inf, 2.0], [np.eye(3)] * 3)
    A = perp.FactoredOperator.from_body_pairs(
        [[0, 1], [0, 1], [0, 1], [1, 2], [1, 2], [1, 2]], rng.standard_normal((6, 2, 6)), mass, 0.1
    )
    E, G = random_blocks(rng, 2, 3, 0, 3.0), random_blocks(rng, 2, 3, 0, 2.0)
    r = rng.standard_normal(6)
    system = choose_block_system(A, "body")
    system.factor(E, G)
    np.testing.assert_allclose(system.solve(r), np.linalg.solve(full(E) + full(G) @ A.to_dense(), r), rtol=1e-9)


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_a_singular_matrix_is_told_not_solved(space):
    A = strategies.factored_operator(np.random.default_rng(0), 2, 0)
    nothing = BlockDiagonal(np.zeros((2, 3, 3)), np.empty(0))
    with pytest.raises(NotFinite):
        choose_block_system(A, space).factor(nothing, nothing)


def test_auto_takes_the_velocities_of_bodies_for_large_factored_matrices():
    stack = perp.gallery.make("box_stack", n=336).problem
    assert type(choose_block_system(stack.A, "auto")).__name__ == "BodyBlocks"
    assert type(choose_block_system(perp.DenseOperator(stack.A.to_dense()), "auto")).__name__ == "DenseBlocks"
    assert type(choose_block_system(perp.SparseOperator(stack.A.to_sparse()), "auto")).__name__ == "SparseBlocks"
