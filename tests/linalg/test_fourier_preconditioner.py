"""The rough inverse of a convolution, and what it is worth as a preconditioner."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import assume, given

import perp
from perp.linalg.preconditioners import FourierPreconditioner
from perp.problems.operators.convolution import wrap_around


@given(strategies.convolutions(symmetric=True))
def test_the_circulant_has_the_mean_of_each_diagonal_of_the_matrix(A):
    dense = A.with_added_diagonal(-A.added).to_dense()
    places = np.indices(A.grid).reshape(len(A.grid), -1)
    offsets = (places[:, :, None] - places[:, None, :]) % np.reshape(A.grid, (-1, 1, 1))
    kernel = wrap_around(A.kernel, A.grid)
    for d in np.ndindex(A.grid):
        same = (offsets == np.reshape(d, (-1, 1, 1))).all(axis=0)
        assert kernel[d] == pytest.approx(dense[same].mean(), abs=1e-12)


@given(strategies.convolutions(symmetric=True), strategies.SEEDS)
def test_on_any_free_set_it_is_symmetric_and_positive_definite_where_a_is(A, seed):
    least = np.linalg.eigvalsh(A.to_dense())[0]
    A = A.with_added_diagonal(np.full(A.n, 0.1 + max(0.0, -least)))
    free = np.random.default_rng(seed).random(A.n) < 0.7
    assume(free.any())
    preconditioner = FourierPreconditioner().prepare(perp.LCP(A, np.zeros(A.n)))
    preconditioner.follow(free, np.zeros(A.n))
    P = np.array([preconditioner.apply(unit) for unit in np.eye(A.n)])
    assert not P[~free].any()
    assert not P[:, ~free].any()
    P = P[np.ix_(free, free)]
    np.testing.assert_allclose(P, P.T, atol=1e-12 * np.abs(P).max())
    assert np.linalg.eigvalsh(P)[0] > 0.0


def test_it_is_the_inverse_itself_of_a_definite_periodic_convolution():
    A = perp.ConvolutionOperator([2.5, -1.0, -0.1, 0.0, -0.1, -1.0], (6,))
    inverse = A.rough_inverse()
    x = np.cos(np.arange(6.0))
    np.testing.assert_allclose(inverse(A @ x), x, atol=1e-13)


@pytest.mark.parametrize(
    "A",
    [
        np.eye(3),
        perp.ConvolutionOperator([1.0, 2.0, 2.0], (3,)),  # eigenvalues of both signs
        perp.ConvolutionOperator([3.0, 1.0, 0.0], (3,)),  # not symmetric
    ],
)
def test_where_a_knows_no_definite_rough_inverse_it_is_refused(A):
    problem = perp.LCP(A, -np.ones(3))
    with pytest.raises(ValueError, match="'fourier' needs an A that knows a rough inverse"):
        perp.solve(problem, perp.PGCG(preconditioner="fourier"))


@pytest.mark.parametrize("kind", ["hertz", "rough_surface"])
def test_it_takes_a_third_of_the_steps_and_about_as_many_on_finer_grids(kind):
    steps = {}
    for k in (16, 64):
        problem = perp.gallery.make(kind, n=k * k).problem
        for name in ("jacobi", "fourier"):
            result = perp.solve(problem, perp.PGCG(preconditioner=name), tol=1e-9, check_every=1)
            assert result.success
            steps[name, k] = result.iterations
    assert steps["fourier", 64] < 0.6 * steps["jacobi", 64]
    assert steps["fourier", 64] <= 2 * steps["fourier", 16] + 5
