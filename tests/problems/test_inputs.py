"""Whatever form the numbers come in, the problem is the same; what is wrong with them is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import perp
from perp.errors import InvalidProblem
from perp.problems.inputs import as_bound, as_vector, reject_non_finite

A = np.array([[4.0, -1.0], [-1.0, 4.0]])
B = np.array([-3.0, 2.0])
X = [0.75, 0.0]


class Table:
    """Has an `__array__`, as the tables of pandas have."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize(
    ("matrix", "vector"),
    [
        ([[4, -1], [-1, 4]], [-3, 2]),
        (((4, -1), (-1, 4)), (-3, 2)),
        (A.astype(np.float32), B.astype(np.float32)),
        (A.astype(np.int8), B.astype(np.int64)),
        (A.astype(">f8"), B.astype(">f4")),
        (np.asfortranarray(A), np.repeat(B, 2)[::2]),
        (Table(A), Table(B)),
        *((kind(A), B) for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.dia_array)),
        *((kind(A), B) for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.lil_matrix)),
        (sparse.csr_array(A.astype(np.float32)), B),
        (sparse.csr_array(A.astype(np.int32)), B),
    ],
    ids=[
        "lists",
        "tuples",
        "float32",
        "integers",
        "big endian",
        "other strides",
        "__array__",
        *("csr", "csc", "coo", "dia"),
        *("csr matrix", "csc matrix", "lil matrix"),
        "sparse float32",
        "sparse integers",
    ],
)
def test_every_form_of_the_same_numbers_is_the_same_problem(matrix, vector):
    problem = perp.LCP(matrix, vector)
    np.testing.assert_array_equal(problem.A.to_dense(), A)
    np.testing.assert_array_equal(problem.b, B)
    assert problem.b.dtype == np.float64
    result = perp.solve(problem)
    assert result.success
    np.testing.assert_allclose(result.x, X, atol=1e-8)


def test_a_product_is_enough_with_or_without_one_for_many_columns():
    with_many = LinearOperator((2, 2), matvec=lambda v: A @ v, matmat=lambda v: A @ v, dtype=np.float32)
    for operator in (LinearOperator((2, 2), matvec=lambda v: A @ v), with_many, aslinearoperator(A)):
        np.testing.assert_allclose(perp.solve(perp.LCP(operator, B)).x, X, atol=1e-7)


def test_single_precision_is_computed_in_double_precision():
    digits = np.array([[3.0]], dtype=np.float32)
    result = perp.solve(perp.LCP(digits, np.array([-1.0], dtype=np.float32)), tol=1e-14)
    assert result.success
    assert result.x.dtype == np.float64
    assert result.x[0] == pytest.approx(1.0 / 3.0, abs=1e-15)


@given(arrays.arrays(np.float64, st.integers(0, 5), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_numbers_are_refused_exactly_if_one_is_not_finite_and_the_first_is_named(values):
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        with pytest.raises(InvalidProblem, match=rf"^b\[{bad[0]}\] is"):
            as_vector(values, "b")
    else:
        np.testing.assert_array_equal(as_vector(values, "b"), values)
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        with pytest.raises(InvalidProblem, match=rf"^b\[{missing[0]}\] is nan"):
            reject_non_finite(values, "b", infinite=True)
    else:
        reject_non_finite(values, "b", infinite=True)


@pytest.mark.parametrize("value", [0.0, 1, np.float64(2.0), np.float32(0.5), -np.inf, np.array(3.0)], ids=repr)
def test_a_bound_may_be_any_number_for_all_rows(value):
    bound = as_bound(value, "lower", 3, forbidden=np.inf)
    np.testing.assert_array_equal(bound, np.full(3, float(value)))
    assert not bound.flags.writeable


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.inf, r"lower\[0\] is inf: no number"),
        (np.nan, r"lower\[0\] is nan"),
        ([0.0, np.inf, 0.0], r"lower\[1\] is inf: no number"),
        ([0.0, 0.0, np.nan], r"lower\[2\] is nan"),
        ([0.0, 0.0], "lower has length 2, but the problem has 3 rows"),
    ],
)
def test_a_bound_that_leaves_no_room_is_refused(value, words):
    with pytest.raises(InvalidProblem, match=words):
        as_bound(value, "lower", 3, forbidden=np.inf)


def test_problems_of_few_rows_share_bounds_that_nobody_can_change():
    first, second = perp.LCP(A, B), perp.LCP(A, -B)
    assert first.lower is second.lower
    np.testing.assert_array_equal(first.lower, np.zeros(2))
    np.testing.assert_array_equal(first.upper, np.full(2, np.inf))
    with pytest.raises(ValueError, match="read-only"):
        first.lower[0] = 1.0
    large = perp.LCP(sparse.eye_array(1000), np.ones(1000))
    np.testing.assert_array_equal(large.lower, np.zeros(1000))
    np.testing.assert_array_equal(large.upper, np.full(1000, np.inf))
