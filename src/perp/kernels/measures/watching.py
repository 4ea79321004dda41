"""The few measures that the loop takes at every check, in one pass that costs less than a sweep.

All kernels return (residual, merit, active, changed, change, drift, from_mark, largest, probe):

* residual   max |x - clip(x - scale y, lower, upper)|, and the natural map of the disc or the cone of a contact
* merit      half the sum of squares of the Fischer-Burmeister function (in discs and cones: of the natural map)
* active     rows strictly between their bounds (PGS-SM eq. 19c); changed: rows that moved in or out since the last look
* change     max |x - previous|; drift: max (|x - previous| - 1e-12 |x|), a row's move beyond its own rounding
* from_mark  0 if x = mark, else positive; largest: max |x|
* probe      0, or NaN when x or y holds a number that is not finite

`watch_quickly` keeps LANES sums and maxima of each kind side by side in `lanes`, so that vector units work on them and
no addition waits for the last one: the merit is their sum at the end, in an order that depends on nothing but n.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import (
    CONES,
    DISCS,
    FIXED_DISCS,
    box_merit,
    cone_natural,
    disc_factor,
    fischer,
    limited,
    natural,
    tangent_limit,
)

ONE = np.uint64(1)
ZERO = np.uint64(0)
ROUNDING = 1e-12

LANES = np.uint64(256)
RESIDUAL, SQUARES, CHANGE, DRIFT, LARGEST, ACTIVE, CHANGED = (np.uint64(k) for k in range(7))
KINDS = np.uint64(7)


@inlined
def larger(a, b):
    """max(a, b) for numbers, in the form that vector units know; NaN is caught by the sum of squares."""
    return b if b > a else a


@inlined
def quick_fischer(a, b):
    """`fischer` for numbers whose squares do not overflow."""
    total = a + b
    length = math.sqrt(a * a + b * b)
    return -2.0 * a * (b / (length + total)) if total > 0.0 else length - total


@inlined
def quick_merit(x, y, low, high):
    """`box_merit` with it; both branches are computed, and one is taken."""
    inner = quick_fischer(high - x, -y)
    above = y if high == np.inf else inner
    outer = quick_fischer(x - low, above)
    return -above if low == -np.inf else outer


@inlined
def add_rows(start, stop, x, y, bounded, lower, upper, scaled, scale, previous, lanes):
    """Add the rows start, ..., stop - 1, a lane each. What is not `bounded` has 0 <= x < inf."""
    for i in range(start, stop):
        k = i - start
        here, slack, before = x[i], y[i], previous[i]
        low, high = (lower[i], upper[i]) if bounded else (0.0, np.inf)
        if bounded:
            merit = quick_merit(here, slack, low, high)
            between, was_between = (low < here) & (here < high), (low < before) & (before < high)
        else:
            merit = quick_fischer(here, slack)
            between, was_between = (here > 0.0) & (here < np.inf), (before > 0.0) & (before < np.inf)
        error = abs(natural(here, scale[i] * slack if scaled else slack, low, high))
        step, size = abs(here - before), abs(here)
        lanes[RESIDUAL * LANES + k] = larger(lanes[RESIDUAL * LANES + k], error)
        lanes[SQUARES * LANES + k] += merit * merit
        lanes[CHANGE * LANES + k] = larger(lanes[CHANGE * LANES + k], step)
        lanes[DRIFT * LANES + k] = larger(lanes[DRIFT * LANES + k], step - ROUNDING * size)
        lanes[LARGEST * LANES + k] = larger(lanes[LARGEST * LANES + k], size)
        lanes[ACTIVE * LANES + k] += 1.0 if between else 0.0
        lanes[CHANGED * LANES + k] += 1.0 if between != was_between else 0.0


@kernel
def watch_quickly(x, y, bounded, lower, upper, scaled, scale, previous, mark, lanes):
    """The measures of all rows; where `scaled` or `bounded` is false, that array is not read. `lanes`: see above.

    For numbers whose squares do not overflow: otherwise the merit is not finite, and `watch_rows` should be asked.
    """
    n = np.uint64(x.size)
    width = min(n, LANES)
    for kind in range(KINDS):
        for k in range(width):
            lanes[kind * LANES + k] = 0.0
    from_mark = 0.0
    for start in range(ZERO, n, LANES):
        stop = min(start + LANES, n)
        if scaled:
            add_rows(start, stop, x, y, True, lower, upper, True, scale, previous, lanes)
        elif bounded:
            add_rows(start, stop, x, y, True, lower, upper, False, scale, previous, lanes)
        else:
            add_rows(start, stop, x, y, False, lower, upper, False, scale, previous, lanes)
        if from_mark == 0.0:
            for i in range(start, stop):
                from_mark = larger(from_mark, abs(x[i] - mark[i]))
    residual = squares = change = drift = largest = active = changed = 0.0
    for k in range(width):
        residual = larger(residual, lanes[RESIDUAL * LANES + k])
        squares += lanes[SQUARES * LANES + k]
        change = larger(change, lanes[CHANGE * LANES + k])
        drift = larger(drift, lanes[DRIFT * LANES + k])
        largest = larger(largest, lanes[LARGEST * LANES + k])
        active += lanes[ACTIVE * LANES + k]
        changed += lanes[CHANGED * LANES + k]
    return residual, 0.5 * squares, int(active), int(changed), change, drift, from_mark, largest, 0.0


@kernel
def watch_rows(first, x, y, lower, upper, scale, previous, mark, inside):
    """The measures of the rows first, first + 1, ...; lower and upper start at row `first`."""
    residual = squares = change = drift = from_mark = largest = probe = 0.0
    active = changed = 0
    for k in range(np.uint64(lower.size)):
        i = first + k
        here, slack, low, high = x[i], y[i], lower[k], upper[k]
        residual = max(residual, abs(natural(here, scale[i] * slack, low, high)))
        merit = box_merit(here, slack, low, high)
        squares += merit * merit
        step = abs(here - previous[i])
        change = max(change, step)
        drift = max(drift, step - ROUNDING * abs(here))
        from_mark = max(from_mark, abs(here - mark[i]))
        largest = max(largest, abs(here))
        probe += 0.0 * here + 0.0 * slack
        between = low < here < high
        active += between
        changed += between != inside[i]
        inside[i] = between
    return residual, 0.5 * squares, active, changed, change, drift, from_mark, largest, probe


@kernel
def watch_contacts(x, y, width, law, friction, lower, upper, scale, previous, mark, inside):
    """The same for a contact problem: bounds of tangents that follow the normal impulse stand at that of x itself."""
    first = np.uint64(friction.size) * width
    residual, half, active, changed, change, drift, from_mark, largest, probe = watch_rows(
        first, x, y, lower, upper, scale, previous, mark, inside
    )
    squares = 2.0 * half
    for c in range(np.uint64(friction.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE  # in two dimensions the same tangent
        limit = tangent_limit(law, friction[c], max(x[n], 0.0))
        has_disc = q > p and law in (DISCS, FIXED_DISCS)
        factor, length = 1.0, 0.0
        error_n = error_p = error_q = 0.0
        if law == CONES:
            x_q, y_q = (x[q], scale[n] * y[q]) if q > p else (0.0, 0.0)
            error_n, error_p, error_q = cone_natural(
                friction[c], x[n], x[p], x_q, scale[n] * y[n], scale[n] * y[p], y_q
            )
            length = math.hypot(x[p], x_q)
        elif has_disc:
            factor = disc_factor(x[p] - limited(scale[p] * y[p]), x[q] - limited(scale[q] * y[q]), limit)
            length = math.hypot(x[p], x[q])
        for i in range(n, n + width):
            here, slack, scaled = x[i], y[i], limited(scale[i] * y[i])
            if law == CONES:
                error = error_n if i == n else error_p if i == p else error_q
                merit = error
                between = here > 0.0 if i == n else length < limit
            elif i == n:
                error = natural(here, scaled, 0.0, np.inf)
                merit = fischer(here, slack)
                between = here > 0.0
            elif has_disc:
                error = scaled if factor == 1.0 else here - factor * (here - scaled)
                merit = error
                between = length < limit
            else:
                error = natural(here, scaled, -limit, limit)
                merit = box_merit(here, slack, -limit, limit)
                between = -limit < here < limit
            residual = max(residual, abs(error))
            squares += merit * merit
            step = abs(here - previous[i])
            change = max(change, step)
            drift = max(drift, step - ROUNDING * abs(here))
            from_mark = max(from_mark, abs(here - mark[i]))
            largest = max(largest, abs(here))
            probe += 0.0 * here + 0.0 * slack + 0.0 * error
            active += between
            changed += between != inside[i]
            inside[i] = between
    return residual, 0.5 * squares, active, changed, change, drift, from_mark, largest, probe
