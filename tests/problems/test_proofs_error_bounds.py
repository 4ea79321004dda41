"""Error bounds bound the error, and their assumptions are proved only where they are true."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from exact_enumeration import is_minor_positive
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.problems.proofs import error_bounds
from perp.problems.proofs.matrix_tests import (
    Orientation,
    find_orientation,
    is_exactly_definite,
    positive_witness,
    smallest_eigenvalue,
    spectral_norm,
)

INF = np.inf


def planted(rng, A, box):
    """x and a problem that it solves: whole numbers, so that it does so exactly where A is whole."""
    n = A.shape[0]
    x = rng.integers(0, 3, n).astype(float)
    y = np.where(x > 0, 0.0, rng.integers(0, 3, n))
    if not box:
        return x, perp.LCP(A, y - A @ x)
    upper = np.where(rng.random(n) < 0.5, x + rng.integers(0, 2, n), INF)
    lower = np.where(rng.random(n) < 0.3, -INF, 0.0)
    y = np.where((x == upper) & (rng.random(n) < 0.5), -1.0, y)
    y = np.where((x == 0.0) & np.isinf(lower) & (y > 0.0), 0.0, y)
    return x, perp.BoxLCP(A, y - A @ x, lower, upper)


def matrices(rng, n):
    """One of each class that a bound is known for."""
    J = rng.integers(-2, 3, (n, n))
    definite = (J @ J.T + np.eye(n)).astype(float)
    K = rng.integers(-2, 3, (n, n))
    off = rng.integers(-2, 3, (n, n))
    dominant = off - np.diag(off.diagonal()) + np.diag(np.abs(off).sum(axis=1) + 1.0)
    return {
        "symmetric": definite,
        "definite": definite + K - K.T,
        "H+": dominant,
        "P": np.triu(rng.integers(-3, 4, (n, n)), 1) + np.eye(n),
    }


@given(seed=strategies.SEEDS, n=st.integers(1, 8), box=st.booleans(), exponent=st.integers(-12, 1))
def test_every_proved_bound_holds(seed, n, box, exponent):
    rng = np.random.default_rng(seed)
    for A in matrices(rng, n).values():
        solution, problem = planted(rng, A, box)
        x = solution + 10.0**exponent * rng.standard_normal(n)
        bounds = error_bounds(problem, x)
        assert any(bound.proved for bound in bounds)
        error = np.abs(x - solution)
        for bound in bounds:
            if bound.proved:
                assert np.linalg.norm(error, {"2": 2, "inf": INF}[bound.norm]) <= bound.bound
                assert bound.bound <= bound.constant * bound.residual * (1.0 + 1e-12)
                assert bound.entries is None or (error <= bound.entries).all()


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "fluid_like"])
def test_bounds_of_larger_problems_hold(kind, n):
    example = gallery.make(kind, n=n)
    x = example.x + 1e-4 * np.random.default_rng(n).standard_normal(example.x.size)
    bounds = error_bounds(example.problem, x)
    assert bounds
    for bound in bounds:
        assert bound.proved
        assert np.linalg.norm(x - example.x, {"2": 2, "inf": INF}[bound.norm]) <= bound.bound + 1e-12


@pytest.mark.parametrize(
    ("size_of_A", "size_of_x"), [(-300, 0), (-200, -90), (-200, 200), (0, -250), (0, 250), (200, -200), (150, 90)]
)
def test_bounds_hold_at_any_scale(size_of_A, size_of_x):
    """Powers of two, so that the solution is exact."""
    unit_of_A, unit_of_x = 2.0 ** (3 * size_of_A), 2.0 ** (3 * size_of_x)
    for skew in (0.0, 1.0):
        A = np.array([[2.0, 1.0 + skew], [1.0 - skew, 3.0]])
        solution = np.array([1.0, 0.0])
        b = np.array([0.0, 1.0]) - A @ solution
        problem = perp.LCP(unit_of_A * A, unit_of_A * unit_of_x * b)
        for x in (np.zeros(2), 1.5 * unit_of_x * solution, np.array([1.0, 1.0])):
            bounds = error_bounds(problem, x)
            assert bounds
            error = np.abs(x - unit_of_x * solution)
            for bound in bounds:
                assert bound.proved
                assert (error.max() if bound.norm == "inf" else np.hypot(*error) * (1 - 1e-15)) <= bound.bound


def test_the_constant_of_the_corners_is_reached():
    """n = 1: the error is r at the bound and r / a off it, so max(1, 1 / a) is best; a = 1 / 4 is scaled to 1 first."""
    for a in (0.25, 1.0, 1.5):
        for b, solution in ((-a, 1.0), (a, 0.0)):
            best = error_bounds(perp.LCP([[a]], [b]), [solution + 1e-3])[0]
            reached = 1e-3 if solution == 0.0 else max(a, 1.0) * 1e-3
            assert best.bound == pytest.approx(reached, rel=1e-6)


def test_the_bound_of_symmetric_matrices_grows_with_the_square_root_only():
    x = np.array([1.0, 0.0])
    for largest in (1e2, 1e4, 1e6):
        problem = perp.LCP(np.diag([1.0, largest]), [-1.0, 1.0])
        constants = {b.name: b.bound / 1e-5 for b in error_bounds(problem, x + np.array([0.0, 1e-5]))}
        assert constants["symmetric positive definite"] <= 1.01 * (1.0 + 0.5 * np.sqrt(largest))
        assert constants["symmetric positive definite"] < constants["positive definite"]


@given(seed=strategies.SEEDS, n=st.integers(1, 4))
def test_P_matrices_are_proved_exactly_where_all_principal_minors_are_positive(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 4, (n, n))
    nothing = np.zeros(n, dtype=bool)
    found = find_orientation(A.astype(float), nothing, nothing)
    assert isinstance(found, Orientation) == is_minor_positive(A.tolist())


@given(seed=strategies.SEEDS, n=st.integers(1, 5))
def test_no_matrix_in_between_has_a_larger_inverse_than_the_corners(seed, n):
    rng = np.random.default_rng(seed)
    A = matrices(rng, n)["P"]
    found = find_orientation(A, np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))
    assert isinstance(found, Orientation)
    for _ in range(10):
        d = rng.random(n)
        inverse = np.linalg.inv(np.diag(1.0 - d) + d[:, None] * A)
        assert (np.abs(inverse) <= found.inverse * (1.0 + 1e-12)).all()
        assert np.abs(inverse).sum(axis=1).max() <= found.norm * (1.0 + 1e-12)


def test_free_and_fixed_rows_leave_fewer_corners():
    """The saddle point [[1, 1], [-1, 0]] is no P-matrix, but with the second row free it has one orientation."""
    A = np.array([[1.0, 1.0], [-1.0, 0.0]])
    none, second = np.array([False, False]), np.array([False, True])
    assert isinstance(find_orientation(A, none, none), str)
    assert isinstance(find_orientation(A, none, second), Orientation)
    assert isinstance(find_orientation(np.array([[1.0, 0.0], [0.0, -2.0]]), second, none), Orientation)


def test_a_saddle_point_with_free_rows_has_bounds():
    A = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [-1.0, -1.0, 0.5]])
    solution = np.array([1.0, 0.0, -1.0])
    y = np.array([0.0, 3.0, 0.0])
    problem = perp.BoxLCP(A, y - A @ solution, [0.0, 0.0, -INF], INF)
    x = solution + np.array([1e-3, -2e-3, 1e-3])
    (bound, *_) = error_bounds(problem, x)
    assert bound.proved
    assert np.abs(x - solution).max() <= bound.bound <= 0.1


@given(seed=strategies.SEEDS, n=st.integers(1, 12))
def test_bounds_of_eigenvalues_are_on_the_safe_side_and_close(seed, n):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    values = np.sort(10.0 ** rng.uniform(-6, 3, n))
    A = Q * values @ Q.T
    A = 0.5 * (A + A.T)
    slack = 1e-13 * values[-1] * n
    assert values[0] - 20 * slack <= smallest_eigenvalue(A) <= values[0] + slack
    assert values[-1] - slack <= spectral_norm(A) <= values[-1] + 20 * slack
    skewed = A + rng.standard_normal((n, n))
    assert np.linalg.norm(skewed, 2) * (1 - 1e-13) <= spectral_norm(skewed) <= np.linalg.norm(skewed, 2) * (1 + 1e-9)


def test_a_singular_matrix_is_never_proved_definite():
    for n in (2, 5, 40):
        ones = np.ones((n, n))
        assert not smallest_eigenvalue(ones) > 0.0
        assert not is_exactly_definite(ones)
        assert not is_exactly_definite(ones - np.eye(n))
    assert is_exactly_definite(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]))
    assert not smallest_eigenvalue(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])) > 0.0


@pytest.mark.parametrize(
    ("A", "is_h"),
    [
        ([[2.0, -1.0], [-1.0, 2.0]], True),
        ([[1.0, 1.0], [-1.0, 1.0]], False),
        ([[1.0, 4.0], [0.1, 1.0]], True),
        ([[-1.0, 0.0], [0.0, 1.0]], False),
        ([[0.0, 0.0], [0.0, 1.0]], False),
    ],
)
def test_H_matrices_are_told_by_a_witness(A, is_h):
    assert (positive_witness(np.array(A)) is not None) is is_h


def test_no_class_no_bound():
    assert error_bounds(perp.LCP([[-1.0]], [1.0]), [0.0]) == ()
    assert error_bounds(perp.LCP(np.ones((3, 3)), -np.ones(3)), np.zeros(3)) == ()
    assert error_bounds(perp.LCP(np.empty((0, 0)), []), []) == ()
    assert error_bounds(gallery.make("box_stack", n=48).problem, np.zeros(72)) == ()
    product = perp.MatrixFreeOperator(LinearOperator((2, 2), lambda x: x))
    assert error_bounds(perp.LCP(product, [1.0, 1.0]), [0.0, 0.0]) == ()


def test_a_matrix_that_is_definite_as_far_as_float64_can_tell_gets_an_estimate():
    A = np.array([[1.0 / (i + j + 1) for j in range(11)] for i in range(11)])
    bounds = error_bounds(perp.LCP(A, -A.sum(axis=1)), np.ones(11))
    assert bounds
    assert all("estimate" in str(bound) for bound in bounds if not bound.proved)
    assert not any(bound.proved for bound in bounds if "definite" in bound.assumption)


def test_bounds_come_sharpest_first_and_print_their_source():
    bounds = error_bounds(perp.LCP([[2.0, 1.0], [1.0, 3.0]], [-1.0, 2.0]), [0.6, 0.1])
    assert [b.bound for b in bounds] == sorted(b.bound for b in bounds)
    assert {"Mathias", "Chen", "Pang", "Cottle,"} <= {b.reference.split()[0] for b in bounds}
    assert "proved" in str(bounds[0])


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [[1.0, 1.0]]])
def test_an_x_without_sense_has_no_bound(bad):
    with pytest.raises(ValueError, match="x"):
        error_bounds(perp.LCP(np.eye(2), [-1.0, -1.0]), bad)
    with pytest.raises(TypeError, match="problem"):
        error_bounds(np.eye(2), [0.0, 0.0])
