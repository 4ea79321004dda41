"""The few measures that the loop takes at every check, in one pass that costs less than a sweep.

Both functions return (residual, merit, active, changed, change, drift, from_mark, largest, probe):

* residual   max |x - clip(x - scale y, lower, upper)|, and the disc's natural map for cone friction
* merit      half the sum of squares of the Fischer-Burmeister function (cone tangents: of the natural map)
* active     rows strictly between their bounds (PGS-SM eq. 19c); changed: rows that moved in or out since the last look
* change     max |x - previous|; drift: max (|x - previous| - 1e-12 |x|), a row's move beyond its own rounding
* from_mark  max |x - mark|; largest: max |x|
* probe      0, or NaN when x or y holds a number that is not finite

`inside` is brought up to date on the way.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.fischer import box_merit, fischer
from perp.kernels.projection import disc_factor, limited, natural

ONE = np.uint64(1)
ROUNDING = 1e-12


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
def watch_contacts(x, y, width, cone, friction, lower, upper, scale, previous, mark, inside):
    """The same for a contact problem: the bounds of tangents stand at the normal impulse of x itself."""
    first = np.uint64(friction.size) * width
    residual, half, active, changed, change, drift, from_mark, largest, probe = watch_rows(
        first, x, y, lower, upper, scale, previous, mark, inside
    )
    squares = 2.0 * half
    for c in range(np.uint64(friction.size)):
        n = c * width
        limit = friction[c] * max(x[n], 0.0)
        factor, length = 1.0, 0.0
        if cone:
            p, q = n + ONE, n + ONE + ONE
            factor = disc_factor(x[p] - limited(scale[p] * y[p]), x[q] - limited(scale[q] * y[q]), limit)
            length = math.hypot(x[p], x[q])
        for i in range(n, n + width):
            here, slack, scaled = x[i], y[i], limited(scale[i] * y[i])
            if i == n:
                error = natural(here, scaled, 0.0, np.inf)
                merit = fischer(here, slack)
                between = here > 0.0
            elif cone:
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
