"""The grid problems have the matrices that they claim to have."""

from __future__ import annotations

import numpy as np
import pytest

from perp.gallery import closed_fluid, fluid_like, make, poisson_2d, poisson_3d
from perp.gallery.grid import smooth_field


def test_num4lcps_fluid_matrix_has_three_constant_bands_and_is_positive_definite() -> None:
    least = []
    for seed in range(20):
        A = fluid_like(343, seed).problem.A.to_dense()
        assert np.array_equal(A, A.T)
        for distance in range(1, 4):
            band = np.diagonal(A, distance)
            assert np.all(band == band[0])
            assert -1.0 < band[0] < 0.0
        assert not np.triu(A, 4).any()
        least.append(np.linalg.eigvalsh(A)[0])
    assert min(least) > 0
    assert np.median(least) == pytest.approx(0.5, abs=0.01)


def test_the_bands_can_follow_the_grid() -> None:
    A = fluid_like(64, 1, bands="grid").problem.A.to_dense()
    rows, columns = np.nonzero(np.triu(A, 1))
    assert set(columns - rows) == {1, 4, 16}
    assert A[3, 4] == 0.0  # the end of a line is no neighbour of the start of the next
    assert np.linalg.eigvalsh(A)[0] > 0


def test_a_thousand_cells_are_ten_by_ten_by_ten() -> None:
    assert fluid_like().problem.n == 1000
    assert fluid_like(900).problem.n == 1000
    assert poisson_3d(30).problem.n == 27
    assert poisson_2d(30).problem.n == 25


@pytest.mark.parametrize(("kind", "axes"), [("poisson_2d", 2), ("poisson_3d", 3)])
def test_the_laplacian_has_the_eigenvalues_of_the_textbook(kind: str, axes: int) -> None:
    k = 6
    A = make(kind, n=k**axes).problem.A.to_dense()
    line = 2.0 - 2.0 * np.cos(np.arange(1, k + 1) * np.pi / (k + 1))
    sums = sum(np.meshgrid(*[line] * axes))
    np.testing.assert_allclose(np.linalg.eigvalsh(A), np.sort(sums.reshape(-1)), atol=1e-12)


@pytest.mark.parametrize("kind", ["poisson_2d", "poisson_3d"])
@pytest.mark.parametrize("region", ["smooth", "random"])
def test_both_forms_state_the_same_problem(kind: str, region: str, misfit) -> None:
    forms = [make(kind, n=1000, seed=2, form=form, region=region) for form in ("sparse", "stencil")]
    assert [example.problem.A.form for example in forms] == ["sparse", "stencil"]
    np.testing.assert_array_equal(forms[0].problem.A.to_dense(), forms[1].problem.A.to_dense())
    np.testing.assert_array_equal(forms[0].problem.b, forms[1].problem.b)
    assert all(misfit(example) <= 1e-14 for example in forms)


@pytest.mark.parametrize("region", ["smooth", "random"])
def test_half_the_cells_are_active_unless_asked_otherwise(region: str, slack) -> None:
    assert np.count_nonzero(poisson_2d(900, region=region).x) == 450
    example = poisson_2d(900, region=region, active=0.2, degenerate=0.1)
    assert np.count_nonzero(example.x > 0) == 180
    assert np.count_nonzero((example.x == 0) & (slack(example) == 0)) == 90


def test_smooth_regions_are_connected_and_random_ones_are_not() -> None:
    def edges(region: str) -> int:
        wet = poisson_2d(10_000, 1, region=region).x.reshape(100, 100) > 0
        return np.count_nonzero(wet[1:] != wet[:-1]) + np.count_nonzero(wet[:, 1:] != wet[:, :-1])

    assert edges("smooth") < 2500
    assert edges("random") > 9000


def test_a_smooth_field_looks_alike_on_coarse_and_fine_grids() -> None:
    coarse = smooth_field((20, 30), np.random.default_rng(3))
    fine = smooth_field((40, 60), np.random.default_rng(3))
    np.testing.assert_allclose(coarse, fine[::2, ::2], atol=1e-12)


@pytest.mark.parametrize("n", [1, 4, 100])
def test_a_closed_vessel_has_its_certificate(n: int) -> None:
    problem = closed_fluid(n, 1).problem
    A = problem.A.to_dense()
    assert np.array_equal(A, A.T)
    assert not A.sum(axis=0).any()
    assert problem.b.sum() < 0


def test_one_cell_is_a_grid_too() -> None:
    for kind in ("fluid_like", "poisson_2d", "poisson_3d"):
        example = make(kind, n=1, active=1.0)
        assert example.problem.n == 1
        assert example.x[0] > 0
