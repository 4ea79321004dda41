"""A stencil is formed only on request, and who forms it is heard."""

from __future__ import annotations

import logging
import threading

import grid_operators as grids
import numpy as np
import pytest

import perp
from perp.problems.operators.base import listen_for_forming


def test_products_and_the_diagonal_of_a_stencil_form_nothing(caplog):
    A = grids.random_stencil(np.random.default_rng(0), (4, 5), "faces")
    with caplog.at_level(logging.INFO, logger="perp"):
        A @ np.ones(20)
        A.diagonal(), A.row(3), A.row_sizes(), perp.LCP(A, np.ones(20)).row_scales
    assert not caplog.messages


def test_forming_rows_or_the_full_matrix_is_logged_with_its_size(caplog):
    A = perp.StencilOperator((3, 4), 4.0)
    with caplog.at_level(logging.INFO, logger="perp"):
        A.to_sparse()
        A.to_dense()
    faces = 2 * 4 + 3 * 3
    assert caplog.messages == [
        f"A was formed from its stencil, as sparse rows with {12 + 2 * faces} numbers",
        "A was formed from its stencil, as a dense array of 144 numbers",
    ]


def test_listeners_may_be_nested_and_hear_a_sentence_once():
    outer, inner = [], []
    A = perp.StencilOperator((2,), 2.0)
    with listen_for_forming(outer):
        with listen_for_forming(inner):
            A.to_sparse()
            A.to_sparse()
        A.to_dense()
    A.to_sparse()
    assert len(inner) == 1
    assert outer[:1] == inner
    assert len(outer) == 2


def test_threads_do_not_hear_each_other():
    notes = []
    with listen_for_forming(notes):
        thread = threading.Thread(target=perp.StencilOperator((2,), 2.0).to_sparse)
        thread.start()
        thread.join()
    assert notes == []


@pytest.mark.parametrize("storage", grids.STORAGES)
def test_row_sizes_are_the_largest_entries_of_the_rows(storage):
    A = grids.random_stencil(np.random.default_rng(1), (3, 4, 2), storage)
    np.testing.assert_array_equal(A.row_sizes(), np.abs(A.to_dense()).max(axis=1))


def test_rows_without_a_diagonal_entry_are_measured_by_their_couplings():
    A = perp.StencilOperator((2, 2), 0.0, 2.0**30)
    np.testing.assert_array_equal(perp.LCP(A, np.ones(4)).row_scales, 2.0**-30)


def test_a_problem_takes_the_diagonal_of_a_stencil_without_a_copy():
    A = perp.StencilOperator((3, 3), 4.0)
    assert perp.LCP(A, np.ones(9)).diagonal is A.centre
    assert A.diagonal() is not A.centre


def test_a_grid_of_four_axes_has_products_but_no_kernels():
    A = grids.random_stencil(np.random.default_rng(2), (2, 3, 2, 3), "faces")
    assert not A.has_kernels
    x = np.arange(36.0)
    np.testing.assert_allclose(A @ x, A.to_dense() @ x, rtol=1e-13)
    problem = perp.LCP(A, np.linspace(-1.0, 1.0, 36))
    result = perp.solve(problem, perp.PSOR(order="coloured"), tol=1e-10)
    assert result.success
    assert any("sparse rows" in note for note in result.notes)


def test_a_grid_without_cells_has_an_empty_product():
    A = perp.StencilOperator((0, 3), 4.0)
    assert (A @ np.empty(0)).size == 0
    assert perp.solve(perp.LCP(A, np.empty(0)), perp.PSOR(order="coloured")).success
