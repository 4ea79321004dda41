"""How fast a sequence of residuals falls, and how time grows with size: fits to what was measured.

A linear sequence has e_{k+1} = C e_k, one of order p has e_{k+1} = C e_k^p: a line of slope p through the points
(log e_k, log e_{k+1}). Both are fitted to the tail, the lower half of the residual's range on a logarithmic scale, and
above rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-14
"""A residual below this share of the largest is rounding error, or a solution."""

STANDSTILL = 2.0
"""From the first point within this factor of the least on, a sequence is held to stand still."""

TELLING = 10.0
"""A fall by less than this factor tells no order; nor is the end of one cut off as a standstill."""

LEAST_POINTS = 3
"""Of a tail: two pairs of successive residuals are a line."""

Column = NDArray[np.float64]


@dataclass(frozen=True)
class RateFit:
    """`factor` per iteration and `order` of the tail of a sequence; nan where the sequence does not tell."""

    factor: float
    """exp of the median of the slopes of log e between all pairs of points of the tail (Theil 1950, Sen 1968)."""
    order: float
    """p of e_{k+1} = C e_k^p by least squares; 1 is linear, 2 quadratic. A last drop into rounding errors gives a
    lower bound, which stands where it is above the fit without it: iterations that end exactly show high orders."""
    points: int
    """Of the tail."""


NO_RATE = RateFit(nan, nan, 0)


def fit_rate(iteration: ArrayLike, residual: ArrayLike) -> RateFit:
    """The rate of residuals at growing iterations, from the largest on; entries that are not finite are passed over.

    A merit function that is a square falls to the square of rounding: give its root.
    ValueError where the two have not the same length or the iterations do not grow.
    """
    k, e = _as_columns("iteration", iteration, "residual", residual)
    if np.any(np.diff(k) <= 0.0):
        raise ValueError("iteration must grow from entry to entry")
    is_there = np.isfinite(e) & (e >= 0.0)
    k, e = k[is_there], e[is_there]
    if not e.any():
        return NO_RATE
    summit = int(np.argmax(e))  # some merit functions are zero at a start that solves nothing (NOTES eq. 106)
    k, e = k[summit:], e[summit:]
    k, e, is_cut = _until_rounding(k, e)
    tail = _tail(e)
    if e[tail:].size < LEAST_POINTS:
        return RateFit(nan, nan, int(e[tail:].size))
    whole = _order(k[tail:], e[tail:])
    if not is_cut:
        return RateFit(_factor(k[tail:], e[tail:]), whole, int(e[tail:].size))
    before = _tail(e[:-1])
    without = _order(k[before:-1], e[before:-1])
    order = float(np.fmax(whole, without))
    if e[before:-1].size < LEAST_POINTS:
        return RateFit(_factor(k[tail:], e[tail:]), order, int(e[tail:].size))
    return RateFit(_factor(k[before:-1], e[before:-1]), order, int(e[before:-1].size))


def fit_exponent(n: ArrayLike, seconds: ArrayLike) -> float:
    """p of seconds = C n^p by least squares on logarithms; nan from fewer than two sizes with times above zero."""
    sizes, times = _as_columns("n", n, "seconds", seconds)
    is_there = np.isfinite(sizes) & np.isfinite(times) & (sizes > 0.0) & (times > 0.0)
    sizes, times = sizes[is_there], times[is_there]
    return _slope(np.log(sizes), np.log(times)) if np.unique(sizes).size >= 2 else nan


def _as_columns(first: str, x: ArrayLike, second: str, y: ArrayLike) -> tuple[Column, Column]:
    columns = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise ValueError(
            f"{first} and {second} must be of one length, and have the shapes {columns[0].shape}, {columns[1].shape}"
        )
    return columns


def _until_rounding(k: Column, e: Column) -> tuple[Column, Column, bool]:
    """Up to the first point at rounding level, raised to that level, and True; or up to a standstill, and False."""
    level = ROUNDING * e.max()
    if np.any(e <= level):
        end = int(np.argmax(e <= level)) + 1
        return k[:end], np.maximum(e[:end], level), True
    least = e.min()
    near = STANDSTILL * least if e.max() >= TELLING * least else least
    end = int(np.argmax(e <= near)) + 1
    return k[:end], e[:end], False


def _tail(e: Column) -> int:
    """Where the tail begins: one point before the lower half of the range, and early enough for the least points."""
    if e.size == 0:
        return 0
    middle = np.sqrt(e.max()) * np.sqrt(e.min())
    above = np.flatnonzero(e > middle)
    begin = int(above[-1]) if above.size else 0
    return max(0, min(begin, e.size - LEAST_POINTS))


def _factor(k: Column, e: Column) -> float:
    later, earlier = np.tril_indices(k.size, -1)
    return float(np.exp(np.median((np.log(e[later]) - np.log(e[earlier])) / (k[later] - k[earlier]))))


def _order(k: Column, e: Column) -> float:
    """Gaps between checks are evened out to the widest, g: over g iterations the order is p^g."""
    if e.size < LEAST_POINTS or e.max() < TELLING * e.min():
        return nan
    gap = float(np.diff(k).max())
    heights = np.interp(np.arange(k[-1], k[0] - 0.5 * gap, -gap)[::-1], k, np.log(e))
    if heights.size < LEAST_POINTS:
        return nan
    slope = _slope(heights[:-1], heights[1:])
    return float(slope ** (1.0 / gap)) if slope > 0.0 else nan


def _slope(x: Column, y: Column) -> float:
    away = x - x.mean()
    spread = float(np.sum(away * away))
    return float(np.sum(away * (y - y.mean()))) / spread if spread > 0.0 else nan
