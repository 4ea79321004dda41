"""Spectra, ranks and definiteness are those asked for."""

from __future__ import annotations

import numpy as np
import pytest

from perp.gallery import boxed_pd, dense_p, dense_pd, dense_psd, infeasible_psd
from perp.gallery.dense import random_orthogonal


def matrix(example) -> np.ndarray:
    return example.problem.A.to_dense()


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_the_default_spectrum_is_linear(n: int) -> None:
    A = matrix(dense_pd(n, 1))
    assert np.array_equal(A, A.T)
    np.testing.assert_allclose(np.linalg.eigvalsh(A), np.arange(1, n + 1) / n, rtol=1e-12)


def test_the_condition_number_can_be_chosen() -> None:
    A = matrix(dense_pd(50, 1, condition=1e6))
    assert np.linalg.cond(A) == pytest.approx(1e6, rel=1e-8)
    assert np.linalg.norm(A, 2) == pytest.approx(1.0)


@pytest.mark.parametrize("zeros", [0.0, 0.3, 1.0])
def test_the_share_of_zero_eigenvalues_can_be_chosen(zeros: float, misfit) -> None:
    example = dense_psd(50, 2, zeros=zeros)
    A = matrix(example)
    values = np.linalg.eigvalsh(A)
    assert np.array_equal(A, A.T)
    assert np.count_nonzero(values < 1e-12) == round(50 * zeros)
    assert values.min() > -1e-12
    assert misfit(example) <= 1e-12


def test_the_p_matrix_is_positive_definite_but_not_symmetric() -> None:
    A = matrix(dense_p(41, 3, skew=2.0))
    np.testing.assert_allclose(np.linalg.eigvalsh(0.5 * (A + A.T)), np.arange(1, 42) / 41, rtol=1e-12)
    assert np.linalg.norm(0.5 * (A - A.T), 2) == pytest.approx(2.0)


def test_every_principal_minor_of_the_p_matrix_is_positive() -> None:
    A = matrix(dense_p(6, 4, skew=5.0))
    for number in range(1, 2**6):
        chosen = [i for i in range(6) if number >> i & 1]
        assert np.linalg.det(A[np.ix_(chosen, chosen)]) > 0


def test_one_row_has_no_skew_part() -> None:
    np.testing.assert_array_equal(matrix(dense_p(1, 0)), [[1.0]])


def test_bounds_are_mixed_as_asked(misfit) -> None:
    example = boxed_pd(200, 5, free=0.1, fixed=0.2, one_sided=0.3, degenerate=0.1)
    lower, upper = example.problem.lower, example.problem.upper
    below, above = np.isfinite(lower), np.isfinite(upper)
    assert np.count_nonzero(~below & ~above) == 20
    assert np.count_nonzero(lower == upper) == 40
    assert np.count_nonzero(below & ~above) == 30
    assert np.count_nonzero(above & ~below) == 30
    assert misfit(example) <= 1e-12


def test_the_infeasible_problem_has_its_certificate() -> None:
    problem = infeasible_psd(30, 6, rank=8).problem
    A = problem.A.to_dense()
    assert np.linalg.matrix_rank(A) == 8
    assert np.abs(A.T @ np.ones(30)).max() < 1e-12
    assert problem.b.sum() < -1.0


def test_orthogonal_matrices_are_orthogonal_and_evenly_drawn() -> None:
    rng = np.random.default_rng(7)
    Q = random_orthogonal(20, rng)
    np.testing.assert_allclose(Q @ Q.T, np.eye(20), atol=1e-14)
    # Under the Haar measure every entry has mean 0 and variance 1/n; a raw QR would fix the signs of the diagonal.
    draws = np.array([random_orthogonal(3, rng) for _ in range(4000)])
    assert np.abs(draws.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose((draws**2).mean(axis=0), np.full((3, 3), 1 / 3), atol=0.03)
    assert abs(np.linalg.det(draws).mean()) < 0.08
