"""The diagonal of a problem, and the powers of two that its extreme entries call for."""

from __future__ import annotations

import math

import numpy as np
import planar_operators
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp


def scale_of(entry):
    """The definition: outside [2^-10, 2^20) the power of two that brings the entry into [1, 2), else 1."""
    if entry == 0.0 or 2.0**-10 <= abs(entry) < 2.0**20:
        return 1.0
    return 2.0 ** (1 - math.frexp(entry)[1])


ENTRIES = st.sampled_from(
    [1.0, -1.0, 3.0, 2.0**-10, np.nextafter(2.0**-10, 0.0), 2.0**20, np.nextafter(2.0**20, 0.0), -(2.0**-11), 1e9, 1e-9]
)


@given(st.lists(ENTRIES, max_size=5))
def test_rows_are_scaled_where_their_diagonal_entry_is_extreme_and_nowhere_else(entries):
    problem = perp.LCP(np.diag(entries).reshape(len(entries), len(entries)), np.zeros(len(entries)))
    np.testing.assert_array_equal(problem.row_scales, [scale_of(entry) for entry in entries])
    assert not problem.row_scales.flags.writeable


@given(st.lists(ENTRIES, min_size=3, max_size=3), st.sampled_from([2, 3]))
def test_the_rows_of_a_contact_have_the_scale_of_its_normal(entries, dimension):
    diagonal = np.ones(3 * dimension + 1)
    diagonal[: 3 * dimension : dimension] = entries
    problem = perp.ContactProblem(np.diag(diagonal), np.zeros(diagonal.size), 0.5, dimension=dimension, extra_rows=1)
    expected = [*np.repeat([scale_of(entry) for entry in entries], dimension), 1.0]
    np.testing.assert_array_equal(problem.row_scales, expected)


def test_extreme_tangents_alone_scale_nothing():
    problem = perp.ContactProblem(np.diag([1.0, 1e9, 1e-9]), np.zeros(3), 0.5)
    np.testing.assert_array_equal(problem.row_scales, np.ones(3))


@given(strategies.contact_problems())
def test_the_diagonal_of_contacts_is_that_of_a_bit_for_bit(problem):
    np.testing.assert_array_equal(problem.diagonal, problem.A.diagonal())
    assert not problem.diagonal.flags.writeable
    assert problem.diagonal.flags.c_contiguous


@given(strategies.SEEDS)
def test_so_it_is_in_a_plane(seed):
    rng = np.random.default_rng(seed)
    A = planar_operators.random_planar(rng, contacts=3)
    problem = perp.ContactProblem(A, np.zeros(A.n), 0.5, dimension=2)
    np.testing.assert_array_equal(problem.diagonal, A.diagonal())


def test_contacts_whose_rows_act_on_different_bodies_are_not_taken_for_pairs():
    rng = np.random.default_rng(0)
    masses = perp.BodyMasses(np.ones(3), np.broadcast_to(np.eye(3), (3, 3, 3)))
    bodies, jacobian = np.array([[0, 1], [0, 2], [0, 1]]), rng.standard_normal((3, 2, 6))
    A = perp.FactoredOperator.from_body_pairs(bodies, jacobian, masses)
    problem = perp.ContactProblem(A, np.zeros(3), 0.5)
    assert not problem.has_pairs_of_bodies
    np.testing.assert_array_equal(problem.diagonal, A.diagonal())
    np.testing.assert_allclose(problem.contact_blocks[0], A.to_dense(), rtol=1e-14)


@pytest.mark.parametrize("bound", [None, "none", 1j, np.empty((0, 2)), np.empty(0, dtype=complex), np.zeros(2)])
@pytest.mark.parametrize("name", ["lower", "upper"])
def test_bounds_of_no_rows_are_checked_all_the_same(name, bound):
    bounds = {"lower": -np.inf, "upper": np.inf} | {name: bound}
    with pytest.raises((TypeError, ValueError)):
        perp.BoxLCP(np.empty((0, 0)), np.empty(0), **bounds)
