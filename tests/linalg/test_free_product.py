"""What large systems are solved with: products on free rows, and vectors that are kept from solve to solve."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.linalg.krylov import FreeProduct, Workspace, cg
from perp.problems.inputs import freeze


@given(seed=strategies.SEEDS, n=st.integers(1, 20), is_scaled=st.booleans(), is_shifted=st.booleans())
def test_a_product_on_free_rows_is_that_with_the_part_of_the_matrix(seed, n, is_scaled, is_shifted):
    rng = np.random.default_rng(seed)
    A, free = strategies.spd_matrix(rng, n), rng.random(n) < 0.6
    rows, columns = (rng.uniform(0.5, 2.0, (2, n))) if is_scaled else (None, None)
    shift = rng.random(n) if is_shifted else None
    product = FreeProduct(perp.DenseOperator(A), rows, columns)
    product.follow(free, shift)
    z = np.where(free, rng.standard_normal(n), 0.0)
    left, right = (np.ones(n), np.ones(n)) if rows is None else (rows, columns)
    whole = np.diag(left) @ (A + np.diag(np.zeros(n) if shift is None else shift)) @ np.diag(right)
    found = product(z)
    np.testing.assert_allclose(found, np.where(free, whole @ z, 0.0), atol=1e-12)
    assert product(z) is found


@pytest.mark.parametrize("has_start", [False, True])
def test_kept_vectors_change_nothing_but_where_x_lies(has_start):
    rng = np.random.default_rng(0)
    A, work = strategies.spd_matrix(rng, 30), Workspace.for_rows(30)
    for _ in range(3):
        b = rng.standard_normal(30)
        x0 = rng.standard_normal(30) if has_start else None
        plain = cg(A, b, x0=x0, tolerance=1e-9, max_iterations=200)
        kept = cg(A, freeze(b.copy()), x0=x0, tolerance=1e-9, max_iterations=200, work=work)
        assert kept.x is work.x
        assert plain.iterations == kept.iterations
        np.testing.assert_array_equal(plain.x, kept.x)
