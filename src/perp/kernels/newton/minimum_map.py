"""The natural map of a boxed problem, its index sets, and its derivative along a direction (NOTES eq. 74-78)."""

from __future__ import annotations

from perp.kernels.compile import kernel


@kernel
def measure(x, y, lower, upper, scale, unit, H, active):
    """Write H = x - clip(x - scale y, lower, upper) and the rows where it is scale y; returns sum (H / unit)^2.

    `active` is the set A of NOTES eq. 77. A row at a kink belongs to its bound, as there (y_i >= x_i: F).
    """
    squares = 0.0
    for i in range(x.size):
        slack = scale[i] * y[i]
        above_lower = x[i] - lower[i]
        above_upper = x[i] - upper[i]
        if slack >= above_lower:
            active[i] = False
            H[i] = above_lower
        elif slack <= above_upper:
            active[i] = False
            H[i] = above_upper
        else:  # also where y is not a number: the sum then is none either
            active[i] = True
            H[i] = slack
        part = H[i] / unit
        squares += part * part
    return squares


@kernel
def derive(dx, product, scale, unit, H, active):
    """From product = A dx: H^T BH(dx) and ||H + BH(dx)||^2 (NOTES eq. 68, 71, 78), both over unit^2.

    At a kink the B-derivative is min(dx_i, scale (A dx)_i) at a lower bound, and H_i >= 0 as x is within its bounds, so
    that what stands here is never less than the directional derivative: a direction of descent by this sum is one.
    """
    slope = 0.0
    left = 0.0
    for i in range(dx.size):
        change = (scale[i] * product[i] if active[i] else dx[i]) / unit
        here = H[i] / unit
        slope += here * change
        left += (here + change) * (here + change)
    return slope, left
