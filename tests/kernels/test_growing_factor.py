"""The factor that grows and shrinks, against NumPy's Cholesky factor of the same rows from scratch."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from perp.kernels.factors import growing_factor as kernels

N = 14
STRIDE = np.uint64(N)


class Factor:
    """The arrays of a factor of some rows of A, in the order of `members`."""

    def __init__(self, A):
        self.A, self.members = A, []
        self.rows, self.pivots = np.full(N * N, np.nan), np.full(N, np.nan)

    @property
    def count(self):
        return np.uint64(len(self.members))

    def grow(self, j):
        w = np.append(self.A[j, self.members], np.full(N - len(self.members), np.nan))
        kernels.reduce_column(STRIDE, self.rows, self.count, w)
        pivot = self.A[j, j] - kernels.weigh(self.pivots, self.count, w)
        kernels.append(STRIDE, self.rows, self.pivots, self.count, w, pivot)
        self.members.append(j)

    def shrink(self, place):
        kernels.remove(STRIDE, self.rows, self.pivots, self.count, np.uint64(place), np.empty(N))
        del self.members[place]

    def solve(self, right):
        w, out = np.append(right, np.zeros(N - right.size)), np.empty(N)
        kernels.reduce_column(STRIDE, self.rows, self.count, w)
        kernels.finish_solve(STRIDE, self.rows, self.pivots, self.count, w, out)
        return out[: right.size]

    def as_cholesky(self):
        """diag(pivots)^(1/2) R, transposed: lower triangular, as NumPy gives it."""
        k = len(self.members)
        R = np.triu(self.rows.reshape(N, N)[:k, :k], 1)
        return ((R + np.eye(k)) * np.sqrt(self.pivots[:k, None])).T


def assert_right(factor):
    A = factor.A[np.ix_(factor.members, factor.members)]
    if factor.members:
        np.testing.assert_allclose(factor.as_cholesky(), np.linalg.cholesky(A), rtol=1e-10, atol=1e-12)
    right = np.arange(1.0, len(factor.members) + 1)
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(A, right), rtol=1e-9, atol=1e-11)


@given(strategies.SEEDS, st.lists(st.integers(0, N - 1), max_size=60))
def test_any_sequence_of_rows_that_enter_and_leave_gives_the_factor_from_scratch(seed, rows):
    factor = Factor(strategies.spd_matrix(np.random.default_rng(seed), N))
    for row in rows:  # a row that is there leaves, one that is not enters
        if row in factor.members:
            factor.shrink(factor.members.index(row))
        else:
            factor.grow(row)
        assert_right(factor)


@pytest.mark.parametrize("place", range(N))
def test_the_row_that_leaves_may_stand_anywhere(place):
    factor = Factor(strategies.spd_matrix(np.random.default_rng(place), N))
    for row in range(N):
        factor.grow(row)
    factor.shrink(place)
    assert_right(factor)


def test_the_pivot_of_a_row_is_its_schur_complement():
    A = strategies.spd_matrix(np.random.default_rng(1), N)
    factor = Factor(A)
    for row in range(5):
        factor.grow(row)
    complement = A[4, 4] - A[4, :4] @ np.linalg.solve(A[:4, :4], A[:4, 4])
    assert factor.pivots[4] == pytest.approx(complement, rel=1e-11)
