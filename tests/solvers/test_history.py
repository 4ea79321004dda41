"""A history made of rows, whose columns appear when they are asked for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.solvers.results import History, join_histories

ROWS = [(0, 0.0, 3.0, 9.0, 1), (10, 0.5, 1.0, 1.0, 2)]
COUNTED = [{"pivots": 0.0}, {"pivots": 4.0, "factors": 2.0}]

CHECKS = st.lists(
    st.tuples(st.integers(1, 9), st.floats(0, 1), st.floats(0, 9), st.floats(0, 9), st.integers(0, 5)), max_size=5
)


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


def as_history(checks) -> History:
    """Iterations and seconds that rise from zero."""
    rows, iteration, seconds = [], 0, 0.0
    for step, time, residual, merit, active in checks:
        rows.append((iteration, seconds, residual, merit, active))
        iteration, seconds = iteration + step, seconds + time
    return History.from_rows(rows)


def join_slowly(histories):
    """Follow the islands one after the other, and look at all of them at every check."""
    histories = [history for history in histories if len(history)]
    now = [0] * len(histories)
    rows = []
    for island, history in enumerate(histories):
        for check in range(len(history)):
            now[island] = check
            if check == 0 and island > 0:
                continue

            def values(name, now=now):
                return [getattr(one, name)[at] for one, at in zip(histories, now, strict=True)]

            totals = [sum(values(name)) for name in ("iteration", "seconds", "merit", "active")]
            rows.append((totals[0], totals[1], max(values("residual")), totals[2], totals[3]))
    return History.from_rows(rows)


@given(st.lists(CHECKS, max_size=5))
def test_the_whole_is_followed_from_island_to_island(lists):
    histories = [as_history(checks) for checks in lists]
    joined, slow = join_histories(histories), join_slowly(histories)
    assert len(joined) == len(slow)
    for name in ("iteration", "seconds", "residual", "merit", "active"):
        np.testing.assert_allclose(getattr(joined, name), getattr(slow, name), rtol=1e-12)
        assert getattr(joined, name).dtype == getattr(slow, name).dtype
    assert joined.counters == {}
