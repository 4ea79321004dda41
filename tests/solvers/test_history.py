"""A history made of rows, whose columns appear when they are asked for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from perp.solvers.results.history import History

ROWS = [(0, 0.0, 3.0, 9.0, 1), (10, 0.5, 1.0, 1.0, 2)]
COUNTED = [{"pivots": 0.0}, {"pivots": 4.0, "factors": 2.0}]


def columns(history):
    return {one.name: getattr(history, one.name) for one in fields(history) if one.name != "counters"}


def test_rows_become_columns():
    history = History.from_rows(list(ROWS), list(COUNTED))
    for place, column in enumerate(columns(history).values()):
        np.testing.assert_array_equal(column, [row[place] for row in ROWS])
    assert history.iteration.dtype == history.active.dtype == np.int64
    assert history.residual.dtype == np.float64
    np.testing.assert_array_equal(history.counters["pivots"], [0.0, 4.0])
    np.testing.assert_array_equal(history.counters["factors"], [0.0, 2.0])
    assert history.residual is history.residual
    assert len(history) == 2


def test_no_rows_are_columns_without_entries():
    history = History.from_rows([])
    assert len(history) == 0
    assert history.counters == {}


def test_a_misspelt_column_is_no_attribute():
    for history in (History.from_rows(list(ROWS)), History(*columns(History.from_rows(list(ROWS))).values())):
        with pytest.raises(AttributeError, match="residuals"):
            _ = history.residuals


@pytest.mark.parametrize("asked_before", [False, True])
def test_copies_have_the_same_columns_whether_or_not_they_were_asked_for(asked_before):
    history = History.from_rows(list(ROWS), list(COUNTED))
    if asked_before:
        assert len(history) == 2
    for twin in (copy.copy(history), copy.deepcopy(history), pickle.loads(pickle.dumps(history)), replace(history)):
        for name, column in columns(history).items():
            np.testing.assert_array_equal(getattr(twin, name), column)
        assert twin.counters.keys() == history.counters.keys()
