"""Runs of 8 and 32 numbers: against NumPy, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from perp.kernels.factors import lanes

LENGTH = 400


@njit(error_model="numpy")
def subtract(y, y0, x, x0, count):
    lanes.subtract_run(y, y0, x, x0, count)


@njit(error_model="numpy")
def copy(y, y0, x, x0, count):
    lanes.copy_run(y, y0, x, x0, count)


@njit(error_model="numpy")
def divide(y, y0, divisor):
    lanes.divide(y, y0, divisor)


@njit(error_model="numpy")
def subtract_multiples(y, y0, ld, factor0, step, count, x0):
    lanes.subtract_multiples(y, y0, ld, factor0, step, count, x0)


@njit(error_model="numpy")
def combine(long, listed, sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
    if long and listed:
        lanes.combine_long_listed(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif long:
        lanes.combine_long(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif listed:
        lanes.combine_listed(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    else:
        lanes.combine(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)


def numbers_of(seed):
    return np.random.default_rng(seed).standard_normal(LENGTH)


@pytest.mark.parametrize("count", range(41))
def test_runs_of_any_length_are_copied_and_subtracted_and_no_number_beyond(count):
    x, y = numbers_of(0), numbers_of(1)
    copied, reduced = y.copy(), y.copy()
    copy(copied, 7, x, 11, count)
    subtract(reduced, 7, x, 11, count)
    expected = y.copy()
    expected[7 : 7 + count] = x[11 : 11 + count]
    np.testing.assert_array_equal(copied, expected)
    expected = y.copy()
    expected[7 : 7 + count] -= x[11 : 11 + count]
    np.testing.assert_array_equal(reduced, expected)


def test_eight_numbers_are_divided():
    y = numbers_of(2)
    expected = y.copy()
    expected[5:13] /= 3.0
    divide(y, 5, 3.0)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_multiples_of_a_run_are_subtracted_from_columns(count):
    y = numbers_of(3)
    expected = y.copy()
    for c in range(count):
        expected[100 + 20 * c : 108 + 20 * c] -= y[300 + 3 * c] * y[40:48]
    subtract_multiples(y, 100, 20, 300, 3, count, 40)
    np.testing.assert_allclose(y, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("sides", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8])
def test_columns_are_combined_for_one_to_four_right_sides(long, listed, sides, count):
    width = lanes.MANY if long else lanes.LANES
    A, x, out = numbers_of(4), numbers_of(5), numbers_of(6)
    numbers = np.random.default_rng(7).permutation(50).astype(np.int64)
    expected = out.copy()
    for c in range(sides):
        at = numbers[3 : 3 + count] if listed else np.arange(3, 3 + count)
        columns = np.array([A[9 + 40 * k : 9 + 40 * k + width] for k in range(count)]).reshape(count, width)
        expected[2 + 70 * c : 2 + 70 * c + width] = x[at + 60 * c] @ columns
    combine(long, listed, sides, A, 9, 40, x, numbers, 3, 60, count, out, 2, 70)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
