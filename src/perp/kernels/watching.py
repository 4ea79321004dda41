"""The few measures that the loop takes at every check, in one pass that costs less than a sweep.

Both functions return (residual, merit, active, changed, change, drift, from_mark, largest, probe):

* residual   max |x - clip(x - scale y, lower, upper)|, and the natural map of the disc or the cone of a contact
* merit      half the sum of squares of the Fischer-Burmeister function (in discs and cones: of the natural map)
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
from perp.kernels.cones import CONES, DISCS, FIXED_DISCS, cone_natural, tangent_limit
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
