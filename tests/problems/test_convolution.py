"""A as a convolution: what the fast Fourier transform computes is the matrix that the kernel means."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.errors import FileFormatError, MissingAbility

NEAR = {"rtol": 1e-9, "atol": 1e-9}


def large():
    return perp.ConvolutionOperator(perp.half_space_kernel((64, 48)), (64, 48), "free")


@given(strategies.convolutions(), strategies.SEEDS)
def test_product_transposed_product_and_parts_are_those_of_the_dense_matrix(A, seed):
    dense = strategies.dense_convolution(A)
    x, b = np.random.default_rng(seed).standard_normal((2, A.n))
    np.testing.assert_array_equal(A.to_dense(), dense)
    np.testing.assert_array_equal(A.to_sparse().toarray(), dense)
    np.testing.assert_allclose(A.slack(x, b, np.empty(A.n)), dense @ x + b, **NEAR)
    pulled, sizes = A.pull(x)
    np.testing.assert_allclose(pulled, dense.T @ x, **NEAR)
    assert (sizes >= np.abs(dense).T @ np.abs(x) - 1e-12).all()
    np.testing.assert_array_equal(A.diagonal(), dense.diagonal())
    np.testing.assert_array_equal(A.row(A.n - 1)[1], dense[-1])
    np.testing.assert_array_equal(A.submatrix([0], slice(None)), dense[:1])
    assert (A.row_sizes() >= np.abs(dense).max(axis=1)).all()
    assert A.norm_bound() >= np.linalg.norm(dense, 2) * (1.0 - 1e-9)


@given(strategies.convolutions(), st.booleans())
def test_the_asymmetry_is_that_of_the_matrix(A, is_made_symmetric):
    dense = A.to_dense()
    worst = np.abs(dense - dense.T).max() / np.abs(dense).max()
    assert A.asymmetry == pytest.approx(worst, rel=1e-12)


@given(strategies.convolutions(symmetric=True))
def test_a_symmetric_kernel_gives_an_exactly_symmetric_matrix_with_a_real_symbol(A):
    dense = A.to_dense()
    np.testing.assert_array_equal(dense, dense.T)
    assert A.asymmetry == 0.0
    assert A.spectrum.symbol.dtype == np.float64


@given(strategies.convolutions(), strategies.SEEDS)
def test_diagonals_scales_and_other_processes_keep_the_form(A, seed):
    added = np.random.default_rng(seed).standard_normal(A.n)
    more = A.with_added_diagonal(added)
    assert isinstance(more, perp.ConvolutionOperator)
    np.testing.assert_allclose(more.to_dense(), A.to_dense() + np.diag(added), **NEAR)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(more)).to_dense(), more.to_dense())
    scaled = A.scale_rows(np.full(A.n, 0.25))
    np.testing.assert_array_equal(scaled.to_dense(), 0.25 * A.to_dense())
    assert A.n == 1 or A.scale_rows(np.arange(1.0, A.n + 1)) is None


def test_rows_that_scaling_would_overflow_stay_as_they_are():
    assert perp.ConvolutionOperator([1e300], (2,)).scale_rows(np.full(2, 2.0**100)) is None


def test_what_leaves_a_free_grid_on_one_side_does_not_come_in_on_the_other():
    kernel = np.zeros(9)
    kernel[1] = 1.0  # y_i = x_(i-1)
    x = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(perp.ConvolutionOperator(kernel, (5,), "free") @ x, np.zeros(5), atol=1e-15)
    np.testing.assert_allclose(perp.ConvolutionOperator(kernel[:5], (5,)) @ x, [1, 0, 0, 0, 0], atol=1e-15)


def test_a_large_convolution_is_not_written_out_unless_it_is_asked_for():
    A = large()
    assert "to_sparse" not in A.ability_set
    with pytest.raises(MissingAbility, match="a convolution operator cannot give 'to_sparse'"):
        A.to_sparse()
    info = perp.LCP(A, -np.ones(A.n)).info()
    assert (info.form, info.nonzeros, info.symmetric, info.positive_diagonal) == ("convolution", None, True, A.n)


def test_auto_solves_a_large_convolution_by_products_alone(monkeypatch):
    for form in ("to_dense", "to_sparse", "submatrix", "row"):
        monkeypatch.setattr(perp.ConvolutionOperator, form, None)
    example = perp.gallery.make("rough_surface", n=64**2, boundary="free")
    result = perp.solve(example.problem)
    assert result.success
    assert result.method == "pgcg"


@pytest.mark.parametrize("boundary", ["periodic", "free"])
@pytest.mark.parametrize("method", ["auto", "lemke", "block_principal", "pgs", "mprgp"])
def test_methods_that_need_entries_solve_a_small_one(boundary, method):
    problem = perp.gallery.make("rough_surface", n=100, boundary=boundary, gap=0.5).problem
    result = perp.solve(problem, method, tol=1e-10)
    assert result.success
    gap = problem.A.to_dense() @ result.x + problem.b
    assert np.abs(np.minimum(result.x, gap)).max() < 1e-9


def test_a_kernel_that_is_not_symmetric_is_solved_too():
    kernel = np.array([3.0, 1.0, -0.5])
    problem = perp.LCP(perp.ConvolutionOperator(kernel, (3000,), "free"), np.cos(np.arange(3000.0)))
    assert problem.is_symmetric is False
    assert problem.A.rough_inverse() is None
    assert perp.verify(problem, perp.solve(problem)).residual < 1e-7


def test_a_large_one_goes_to_a_file_and_back(tmp_path):
    problem = perp.gallery.make("hertz", n=50**2).problem
    perp.save(problem, tmp_path / "hertz.npz")
    again = perp.load(tmp_path / "hertz.npz")
    np.testing.assert_array_equal(again.A.kernel, problem.A.kernel)
    with pytest.raises(MissingAbility, match="to_sparse"):
        perp.save(problem, tmp_path / "hertz.mtx")


@pytest.mark.parametrize(
    ("name", "value"),
    [("grid", [3, 2**40]), ("grid", [-3, 2]), ("grid", [0, 2]), ("boundary", "open"), ("kernel", np.ones((2, 2)))],
)
def test_a_file_whose_kernel_does_not_fit_its_grid_is_refused(tmp_path, name, value):
    path = tmp_path / "problem.npz"
    perp.save(perp.LCP(perp.ConvolutionOperator(np.eye(3, 2), (3, 2)), np.ones(6)), path)
    with np.load(path) as archive:
        arrays = dict(archive) | {name: np.array(value)}
    np.savez(path, **arrays)
    with pytest.raises(FileFormatError):
        perp.load(path)


def test_the_half_space_kernel_is_boussinesqs_far_away_and_known_in_the_middle():
    kernel = perp.half_space_kernel((40, 60), (0.5, 0.25), 3.0)
    assert kernel.shape == (79, 119)
    np.testing.assert_array_equal(kernel, np.roll(kernel[::-1, ::-1], 1, (0, 1)))
    far = 0.5 * 0.25 / (np.pi * 3.0 * np.hypot(30 * 0.5, 40 * 0.25))
    assert kernel[30, 40] == pytest.approx(far, rel=1e-3)
    middle = perp.half_space_kernel((1, 1), 2.0)[0, 0]  # Johnson 1985, eq. 3.25 at the middle of a square of side 2
    assert middle == pytest.approx(8.0 * np.log(1.0 + np.sqrt(2.0)) / np.pi, rel=1e-14)


def test_the_periodic_kernel_multiplies_a_wave_by_two_over_its_wave_number():
    shape, side, modulus = (12, 15), 0.2, 5.0
    A = perp.ConvolutionOperator(perp.periodic_half_space_kernel(shape, side, modulus, mean=0.75), shape)
    x, y = np.meshgrid(np.arange(12) * side, np.arange(15) * side, indexing="ij")
    q = 2.0 * np.pi * np.array([2.0 / (12 * side), 1.0 / (15 * side)])
    wave = np.cos(q[0] * x + q[1] * y).reshape(-1)
    np.testing.assert_allclose(A @ wave, 2.0 / (modulus * np.hypot(*q)) * wave, atol=1e-13)
    np.testing.assert_allclose(A @ np.ones(A.n), 0.75 * np.ones(A.n), atol=1e-13)
