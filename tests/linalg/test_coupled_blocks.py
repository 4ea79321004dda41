"""Systems of groups of rows that are coupled by blocks of low rank: the same answers as a full matrix gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp.gallery import contact_like
from perp.linalg.free_systems import coupled_blocks
from perp.linalg.free_systems.coupled_blocks import CoupledBlocks, find_blocks


def reduced_matrix_of_twin(T, C, active, rank):
    """I + T C over the rows of the active groups."""
    rows = np.concatenate([np.arange(rank) + g * rank for g in active])
    block_diagonal = sparse.block_diag(list(T)).toarray()
    return np.eye(rows.size) + block_diagonal @ C[np.ix_(rows, rows)]


def test_the_kernel_makes_the_reduced_matrix_of_its_twin():
    from perp.kernels.factors import body_space as kernels

    rng = np.random.default_rng(0)
    rank, active = 3, np.array([0, 2, 3], dtype=np.intp)
    T, C = rng.standard_normal((3, rank, rank)), rng.standard_normal((15, 15))
    transposed = np.ascontiguousarray(C.T)
    transposed.flags.writeable = False
    out = np.empty(15 * 15)
    kernels.assemble_coupled(T, transposed, active, rank, out)
    found = out[:81].reshape(9, 9).T
    np.testing.assert_allclose(found, reduced_matrix_of_twin(T, C, active, rank), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("is_dense", [True, False])
@pytest.mark.parametrize("bodies", [None, 4])
@pytest.mark.parametrize("directions", [4, 6, 8])
@given(seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_solution_is_that_of_the_full_matrix(directions, bodies, is_dense, seed, share):
    A = contact_like(12 * (directions + 2), seed % 5, directions=directions, bodies=bodies).problem.A
    coupling = find_blocks(A)
    assert coupling is not None
    assert coupling.U.shape == coupling.V.shape == (12, directions + 2, 3)
    before, coupled_blocks.DENSE_SIZE = coupled_blocks.DENSE_SIZE, 2500 if is_dense else 0
    share_before, coupled_blocks.DENSE_SHARE = coupled_blocks.DENSE_SHARE, 0.25 if is_dense else 2.0
    try:
        system = CoupledBlocks(coupling)
    finally:
        coupled_blocks.DENSE_SIZE, coupled_blocks.DENSE_SHARE = before, share_before
    rng = np.random.default_rng(seed)
    free = rng.random(A.n) < share
    shift, r = np.exp(2.0 * rng.standard_normal(A.n)), rng.standard_normal(A.n)
    system.factor(free, shift)
    expected = np.zeros(A.n)
    expected[free] = np.linalg.solve((A.to_dense() + np.diag(shift))[np.ix_(free, free)], r[free])
    np.testing.assert_allclose(system.solve(r), expected, atol=1e-7 * (1.0 + np.abs(expected).max()))


def test_groups_are_found_whatever_the_order_of_the_rows():
    A = contact_like(120, 1, bodies=5).problem.A.to_sparse()
    mixed = np.random.default_rng(0).permutation(120)
    coupling = find_blocks(perp.SparseOperator(A[mixed][:, mixed]))
    assert coupling is not None
    contacts = mixed[coupling.members] // 6
    assert np.all(contacts == contacts[:, :1])


def test_contacts_of_different_sizes_are_padded():
    few, many = (contact_like(10 * (k + 2), 1, directions=k).problem.A.to_sparse() for k in (4, 6))
    A = perp.SparseOperator(sparse.block_diag([few, many], format="csr"))
    coupling = find_blocks(A)
    assert coupling is not None
    system = CoupledBlocks(coupling)
    shift, r = np.ones(A.n), np.linspace(-1.0, 1.0, A.n)
    system.factor(np.ones(A.n, dtype=bool), shift)
    np.testing.assert_allclose(system.solve(r), np.linalg.solve(A.to_dense() + np.eye(A.n), r), atol=1e-10)


@pytest.mark.parametrize("kind", ["dense_p", "fluid_like", "murty"])
def test_where_there_are_no_such_groups_none_are_made_up(kind):
    example = perp.gallery.make(kind, n=30)
    assert find_blocks(example.problem.A) is None
    assert find_blocks(perp.SparseOperator(example.problem.A.to_dense())) is None
