"""Anderson's acceleration: the textbook steps where they help, plain steps where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.solvers.anderson import GROWTH, RESTS, TRIES, Anderson, least_squares, norm


def accelerated(memory, damping=1.0, n=1):
    return Anderson(memory, damping, np.ones(n))


def run(T, z, mixer, most=1000, tol=1e-12):
    """Iterate until |T(z) - z| <= tol; the points, the last one included."""
    points = [np.array(z, dtype=float)]
    while len(points) <= most:
        f = T(points[-1]) - points[-1]
        if norm(f) <= tol:
            break
        points.append(mixer.propose(points[-1], f))
    return points


def affine(n, seed, largest=0.95):
    """z -> M z + c with eigenvalues spread over 0..largest, and its fixed point."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    M = Q @ np.diag(np.linspace(0.0, largest, n)) @ Q.T
    solution = rng.standard_normal(n)
    return (lambda z: M @ z + solution - M @ solution), solution


def textbook_step(points, residuals, damping):
    """Type II by NumPy's least squares, all differences at once."""
    z, f = points[-1], residuals[-1]
    d_z, d_f = np.diff(points, axis=0).T, np.diff(residuals, axis=0).T
    c = np.linalg.lstsq(d_f, f, rcond=None)[0]
    return z + damping * f - (d_z + damping * d_f) @ c


@pytest.mark.parametrize("damping", [1.0, 0.4])
def test_without_memory_every_step_is_plain(damping):
    mixer = accelerated(0, damping)
    z = np.array([3.0])
    for f in (np.array([-7.0]), np.array([100.0])):
        np.testing.assert_array_equal(mixer.propose(z, f), z + damping * f)
    assert mixer.restarts == 0


@pytest.mark.parametrize("damping", [1.0, 0.6])
def test_steps_that_keep_their_promise_are_those_of_the_textbook(damping):
    T, _ = affine(8, 0, largest=0.7)
    mixer = accelerated(8, damping, n=8)
    points, residuals, agreed = [np.zeros(8)], [], 0
    for _ in range(7):
        residuals.append(T(points[-1]) - points[-1])
        points.append(mixer.propose(points[-1], residuals[-1]))
        if len(residuals) > 1 and mixer.stretch == 1.0 and mixer.on_probation:
            twin = textbook_step(points[:-1], residuals, damping)
            np.testing.assert_allclose(points[-1], twin, rtol=1e-9, atol=1e-12)
            agreed += 1
    assert agreed >= 3


def test_an_affine_map_is_solved_in_as_many_steps_as_it_has_unknowns():
    for seed in range(5):
        T, solution = affine(6, seed)
        points = run(T, np.zeros(6), accelerated(6, n=6), tol=1e-10)
        plain = run(T, np.zeros(6), accelerated(0, n=6), tol=1e-10)
        np.testing.assert_allclose(points[-1], solution, atol=1e-8)
        assert len(points) <= 14
        assert len(plain) > 300


def test_one_unknown_is_found_by_the_secant_though_plain_steps_run_away():
    def steep(z):
        return -3.0 * z + 4.0

    points = run(steep, [0.0], accelerated(1))
    np.testing.assert_allclose(points[-1], 1.0)
    assert len(points) <= 4
    assert np.abs(run(steep, [0.0], accelerated(0), most=50)[-1]) > 1e20


def test_a_drift_is_followed_in_steps_that_double_up_to_the_kink():
    def drifting(z):
        return np.minimum(z + 1e-3, 1.0)

    points = run(drifting, [0.0], accelerated(5))
    assert points[-1] == pytest.approx(1.0)
    assert len(points) <= 40
    assert len(run(drifting, [0.0], accelerated(0), most=2000)) > 900


def test_a_point_with_a_greater_residual_is_rejected_and_a_plain_step_goes_on():
    mixer = accelerated(3)
    z, f = np.array([0.0]), np.array([1.0])
    first = mixer.propose(z, f)
    second = mixer.propose(first, 0.5 * f)  # the secant leads to z = 2
    np.testing.assert_allclose(second, 2.0)
    np.testing.assert_array_equal(mixer.propose(second, 0.5 * GROWTH * 1.01 * f), first + 0.5 * f)
    assert mixer.restarts == 1
    assert len(mixer.points) == 1


def test_a_point_on_probation_with_a_residual_that_is_not_a_number_is_rejected():
    mixer = accelerated(3)
    first = mixer.propose(np.array([0.0]), np.array([1.0]))
    second = mixer.propose(first, np.array([0.5]))
    assert np.isfinite(mixer.propose(second, np.array([np.nan]))).all()


def test_acceleration_that_leads_nowhere_lets_plain_steps_have_their_turn():
    mixer, rng = accelerated(2, damping=0.5, n=3), np.random.default_rng(0)
    mixer.propose(np.zeros(3), np.full(3, 1e-3))  # never as small again
    plain = []
    for _ in range(2 * (TRIES + RESTS)):
        z, f = rng.standard_normal(3), rng.standard_normal(3)
        plain.append(np.array_equal(mixer.propose(z, f), z + 0.5 * f))
    assert all(plain[2 * TRIES : TRIES + RESTS])
    assert not all(plain[:TRIES])
    assert not all(plain[TRIES + RESTS + 1 :])


def test_forgetting_makes_the_next_step_a_plain_one():
    mixer = accelerated(3)
    mixer.propose(np.array([0.0]), np.array([1.0]))
    mixer.forget()
    np.testing.assert_array_equal(mixer.propose(np.array([1.0]), np.array([0.5])), [1.5])


def test_the_weight_makes_units_irrelevant():
    T, _ = affine(4, 3)
    units = np.array([1e-3, 1.0, 50.0, 1e4])

    def scaled(z):
        return units * T(z / units)

    plain = run(T, np.zeros(4), accelerated(3, n=4))
    other = run(scaled, np.zeros(4), Anderson(3, 1.0, 1.0 / units), tol=1e-8)
    assert min(len(plain), len(other)) >= 6
    for z, same in zip(plain, other, strict=False):
        np.testing.assert_allclose(same / units, z, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(6, 30))
def test_least_squares_agree_with_lapack(seed, count, size):
    rng = np.random.default_rng(seed)
    columns, target = list(rng.standard_normal((count, size))), rng.standard_normal(size)
    expected = np.linalg.lstsq(np.array(columns).T, target, rcond=None)[0]
    np.testing.assert_allclose(least_squares(columns, target), expected, rtol=1e-7, atol=1e-9)


def test_a_column_that_repeats_a_newer_one_is_left_out():
    a, b = np.array([1.0, 2.0, 0.0]), np.array([0.0, 1.0, 1.0])
    c = least_squares([2.0 * b, a, b], a + 3.0 * b)
    np.testing.assert_allclose(c, [0.0, 1.0, 3.0], atol=1e-12)
    np.testing.assert_array_equal(least_squares([np.zeros(3)], a), [0.0])
    assert least_squares([], a).size == 0
