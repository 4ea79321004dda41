"""Regions of grids, against SciPy's connected components."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from perp.linalg.multigrid import find_grid_regions
from perp.problems.operators import StencilOperator

SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)


@given(shape=SHAPES, walls=st.sampled_from([0.0, 0.4, 0.7, 1.0]), seed=st.integers(0, 10**6))
def test_regions_are_what_couplings_hold_together_and_open_where_a_row_has_a_sum(shape, walls, seed):
    rng = np.random.default_rng(seed)
    sizes = [tuple(n - (k == axis) for k, n in enumerate(shape)) for axis in range(len(shape))]
    faces = [-np.where(rng.random(size) < walls, 0.0, rng.random(size)) for size in sizes]
    row_sums = -np.asarray(StencilOperator(shape, 0.0, faces).to_sparse().sum(axis=1)).reshape(shape)
    leaks = np.where(rng.random(shape) < 0.2, 0.5, 0.0)
    A = StencilOperator(shape, row_sums + leaks, faces)
    region, is_open = find_grid_regions(A, 1e-12)
    count, labels = sparse.csgraph.connected_components(A.to_sparse(), directed=False)
    firsts = np.array([np.flatnonzero(labels == one)[0] for one in range(count)])
    np.testing.assert_array_equal(region, firsts[labels])
    np.testing.assert_array_equal(is_open, leaks.reshape(-1) > 0.0)


def test_constant_couplings_make_one_region_or_as_many_as_there_are_lines():
    assert not find_grid_regions(StencilOperator((4, 3, 5), 6.0, -1.0), 1e-12)[0].any()
    region, is_open = find_grid_regions(StencilOperator((4, 5), 2.0, [0.0, -1.0]), 1e-12)
    np.testing.assert_array_equal(region, np.repeat(np.arange(0, 20, 5), 5))
    np.testing.assert_array_equal(is_open.reshape(4, 5), np.tile([1, 0, 0, 0, 1], (4, 1)).astype(bool))
