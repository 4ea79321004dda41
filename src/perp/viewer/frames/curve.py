"""The convergence curve of a solve: iterations and residuals, few enough to travel with every frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.solvers.results.result import Result
from perp.viewer.layout import CURVE_NUMBERS

MOST_POINTS = 256


def convergence_curve(solution: Any) -> NDArray[np.float64]:
    """k x 2, the checks of a solve, the starting point first; none where the solver was not one of perp's."""
    if not isinstance(solution, Result):
        return np.empty((0, CURVE_NUMBERS))
    history = solution.history
    kept = thin(history.residual, MOST_POINTS)
    return np.column_stack([history.iteration[kept], history.residual[kept]])


def thin(values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of at most so many values, in order; the first, the last and the least are among them.

    The least and the largest of each stretch stay, so that peaks and dips do, whether an axis is logarithmic or not.
    """
    count = values.size
    if count <= most:
        return np.arange(count)
    stretches = most // 2 - 1  # two places are left for the ends
    begin = np.linspace(0, count, stretches, endpoint=False).astype(np.intp)
    low, high = np.where(np.isnan(values), np.inf, values), np.where(np.isnan(values), -np.inf, values)
    places = [0, count - 1]
    for first, last in zip(begin, [*begin[1:], count], strict=True):
        places += [first + np.argmin(low[first:last]), first + np.argmax(high[first:last])]
    return np.unique(np.array(places, dtype=np.intp))
