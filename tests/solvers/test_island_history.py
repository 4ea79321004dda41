"""The history of a whole from those of its islands, beside a slow twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perp.solvers.islands.history import join_histories
from perp.solvers.results.history import History

CHECKS = st.lists(
    st.tuples(st.integers(1, 9), st.floats(0, 1), st.floats(0, 9), st.floats(0, 9), st.integers(0, 5)), max_size=5
)


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
