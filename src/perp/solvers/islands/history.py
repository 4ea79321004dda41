"""The history of a whole problem from those of its islands, as if they were solved one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.solvers.results.history import History


def join_histories(histories: Sequence[History]) -> History:
    """At each check, islands before the one at work stand at their last check, those after it at their first.

    The residual of the whole is the largest of all islands', merit and active rows are sums. Where an island begins,
    the whole stands where the last one ended, which is not told twice.
    """
    told = [history for history in histories if len(history)]
    if not told:
        return History.from_rows([])
    lengths = np.array([len(history) for history in told])
    island = np.repeat(np.arange(lengths.size), lengths)
    begins = np.cumsum(lengths) - lengths
    ends = begins + lengths - 1
    keep = np.ones(island.size, dtype=bool)
    keep[begins[1:]] = False

    def together(name: str, join: np.ufunc) -> NDArray[Any]:
        here = np.concatenate([getattr(history, name) for history in told])
        before, after = _earlier(here[ends], join), _earlier(here[begins][::-1], join)[::-1]
        return np.asarray(join(join(here, before[island]), after[island])[keep])

    return History(
        together("iteration", np.add),  # first ones are 0
        together("seconds", np.add),
        together("residual", np.maximum),
        together("merit", np.add),
        together("active", np.add),
    )


def _earlier(values: NDArray[Any], join: np.ufunc) -> NDArray[Any]:
    """All values before each, joined; 0 for none."""
    return np.concatenate([np.zeros(1, values.dtype), join.accumulate(values)[:-1]])
