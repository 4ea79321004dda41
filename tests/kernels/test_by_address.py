"""Kernels that call one another by address."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from plain_kernels import needs_compiler

from perp.kernels.by_address import CONSTANTS, INTEGER, NUMBER, NUMBERS, address_of, called

TYPES = (CONSTANTS, NUMBERS, INTEGER)


@njit
def weighted(places, x, shift):
    total = 0.5
    for k in range(places.size):
        total += (k + 1) * x[places[k] + shift]
    x[0] = -1.0
    return total


call_weighted = called(TYPES, NUMBER)


@njit
def through_address(address, places, x, shift):
    return call_weighted(address, (places, x, shift))


@needs_compiler  # NumPy adds signed and unsigned integers as floats
def test_a_call_by_address_gets_its_arguments_in_order_and_gives_its_result():
    places, x = np.array([2, 0]), np.array([3.0, 5.0, 7.0, 11.0])
    assert through_address(address_of(weighted, TYPES, NUMBER), places, x, np.uint64(1)) == 0.5 + 11.0 + 2.0 * 5.0
    assert x[0] == -1.0


@needs_compiler
def test_the_address_of_a_kernel_that_returns_something_else_is_refused():
    with pytest.raises(TypeError, match="weighted returns float64, not int64"):
        address_of(weighted, TYPES, INTEGER)


@needs_compiler
def test_a_caller_that_gives_other_arrays_is_not_compiled():
    address = address_of(weighted, TYPES, NUMBER)
    with pytest.raises(TypingError, match="by address is array"):
        through_address(address, np.array([0]), np.array([1]), 0)


def test_a_constant_may_be_given_as_an_array_that_changes():
    fixed = np.array([0])
    fixed.setflags(write=False)
    address = address_of(weighted, TYPES, NUMBER)
    assert through_address(address, fixed, np.ones(2), 0) == through_address(address, np.array([0]), np.ones(2), 0)
