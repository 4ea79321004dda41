"""Every measure of a point x with slack y, in one pass over the rows.

Sums and maxima go to `totals`, in the order of the names below; `perp.problems.residuals` gives them their words.
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
    limited,
    natural,
    project_on_cone,
    tangent_limit,
)

RESIDUAL = 0  #             max |natural map| with each row's slack scaled: what a solver stops by
NATURAL_MAX = 1  #          max |x - clip(x - y)|
NATURAL_SQUARES = 2  #      the sum of its squares (AMGS eq. 24 is the root of it)
MERIT_SQUARES = 3  #        the sum of squares of the Fischer-Burmeister function (NOTES eq. 17; Billups for boxes)
DISTANCE_MERIT = 4  #       the sum of (distance to the nearest bound) |y| (NOTES eq. 106)
GAP = 5  #                  the sum of |x - lower| y+ + |upper - x| y-, over finite bounds
BOUND_VIOLATION = 6  #      max of lower - x and x - upper
SLACK_VIOLATION = 7  #      max of the part of y that no finite bound answers for
ACTIVE = 8  #               rows strictly between their bounds (PGS-SM eq. 19c)
CONE_VIOLATION = 9  #       max of |x_t| - friction x_n and of -x_n; fixed discs: of |x_t| - radius and of -x_n
DISSIPATION_ERROR = 10  #   max of (friction x_n or radius) |y_t| + x_t · y_t: what friction could take and does not
DE_SAXCE = 11  #            max |x - P_K(x - (y + friction |y_t| e_n))|; means nothing for fixed discs
ENERGY_MAX = 12  #          max of 1/2 A_ii r_i^2, r_i = x_i - clip(x_i - y_i / A_ii): the unit-consistent error
ENERGY_SUM = 13
COUNT = 14

ONE = np.uint64(1)


@inlined
def add_natural(plain, scaled, totals):
    totals[RESIDUAL] = max(totals[RESIDUAL], abs(scaled))
    totals[NATURAL_MAX] = max(totals[NATURAL_MAX], abs(plain))
    totals[NATURAL_SQUARES] += plain * plain


@inlined
def add_energy(impulse, diagonal, totals):
    """1/2 A_ii r^2 in joules, r an impulse."""
    energy = 0.5 * diagonal * impulse * impulse
    totals[ENERGY_MAX] = max(totals[ENERGY_MAX], energy)
    totals[ENERGY_SUM] += energy


@inlined
def add_row(x, y, low, high, scale, diagonal, totals):
    """One row with bounds low <= x <= high."""
    add_natural(natural(x, y, low, high), natural(x, scale * y, low, high), totals)
    if diagonal > 0.0:
        add_energy(natural(x, y / diagonal, low, high), diagonal, totals)
    merit = box_merit(x, y, low, high)
    totals[MERIT_SQUARES] += merit * merit
    nearest = min(abs(x - low), abs(high - x))
    totals[DISTANCE_MERIT] += abs(y) * (nearest if nearest < np.inf else 1.0)
    if y > 0.0 and low > -np.inf:
        totals[GAP] += abs(x - low) * y
    elif y < 0.0 and high < np.inf:
        totals[GAP] -= abs(high - x) * y
    else:
        totals[SLACK_VIOLATION] = max(totals[SLACK_VIOLATION], abs(y))
    totals[BOUND_VIOLATION] = max(totals[BOUND_VIOLATION], max(low - x, x - high))
    totals[ACTIVE] += low < x < high


@inlined
def disc_natural(x_p, x_q, y_p, y_q, radius):
    """x_t - P(x_t - y_t) with P the projection on the disc |x_t| <= radius."""
    factor = disc_factor(x_p - y_p, x_q - y_q, radius)
    if factor == 1.0:
        return y_p, y_q
    return x_p - factor * (x_p - y_p), x_q - factor * (x_q - y_q)


@inlined
def add_disc(x_p, x_q, y_p, y_q, radius, scale, stiffness, totals):
    """The two tangents of a contact whose friction lies in a disc."""
    plain_p, plain_q = disc_natural(x_p, x_q, limited(y_p), limited(y_q), radius)
    scaled_p, scaled_q = disc_natural(x_p, x_q, limited(scale * y_p), limited(scale * y_q), radius)
    add_natural(plain_p, scaled_p, totals)
    add_natural(plain_q, scaled_q, totals)
    totals[MERIT_SQUARES] += scaled_p * scaled_p + scaled_q * scaled_q
    length = math.hypot(x_p, x_q)
    slip = math.hypot(y_p, y_q)
    totals[DISTANCE_MERIT] += abs(radius - length) * slip
    totals[GAP] += abs(radius * slip + x_p * y_p + x_q * y_q)
    totals[BOUND_VIOLATION] = max(totals[BOUND_VIOLATION], length - radius)
    totals[ACTIVE] += 2.0 * (length < radius)
    if stiffness > 0.0:
        impulse_p, impulse_q = disc_natural(x_p, x_q, limited(y_p / stiffness), limited(y_q / stiffness), radius)
        add_energy(impulse_p, stiffness, totals)
        add_energy(impulse_q, stiffness, totals)


@inlined
def add_cone(friction, x_n, x_p, x_q, y_n, y_p, y_q, scale, stiffness, width, totals):
    """The rows of a contact with the convex cone K for its impulse and the dual one, y_n >= friction |y_t|, for y."""
    plain_n, plain_p, plain_q = cone_natural(friction, x_n, x_p, x_q, y_n, y_p, y_q)
    scaled_n, scaled_p, scaled_q = cone_natural(friction, x_n, x_p, x_q, scale * y_n, scale * y_p, scale * y_q)
    add_natural(plain_n, scaled_n, totals)
    add_natural(plain_p, scaled_p, totals)
    add_natural(plain_q, scaled_q, totals)
    totals[MERIT_SQUARES] += scaled_n * scaled_n + scaled_p * scaled_p + scaled_q * scaled_q
    length = math.hypot(x_p, x_q)
    slip = math.hypot(y_p, y_q)
    room = friction * x_n - length
    totals[DISTANCE_MERIT] += abs(room) / math.hypot(1.0, friction) * math.hypot(y_n, slip)
    totals[GAP] += abs(x_n * y_n + x_p * y_p + x_q * y_q)
    totals[BOUND_VIOLATION] = max(totals[BOUND_VIOLATION], max(-room, -x_n))
    totals[SLACK_VIOLATION] = max(totals[SLACK_VIOLATION], friction * slip - y_n)
    totals[ACTIVE] += (x_n > 0.0) + (width - 1.0) * (length < friction * x_n)
    if stiffness > 0.0:
        impulses = cone_natural(friction, x_n, x_p, x_q, y_n / stiffness, y_p / stiffness, y_q / stiffness)
        for impulse in impulses:
            add_energy(impulse, stiffness, totals)


@inlined
def de_saxce(friction, x_n, x_p, x_q, y_n, y_p, y_q):
    """max |x - P_K(x - u)|, u = y + friction |y_t| e_n, K the cone |x_t| <= friction x_n."""
    lifted = x_n - (y_n + friction * math.hypot(y_p, y_q))
    n, p, q = project_on_cone(friction, lifted, x_p - y_p, x_q - y_q)
    return max(abs(x_n - n), max(abs(x_p - p), abs(x_q - q)))


@kernel
def measure_rows(first, x, y, lower, upper, scale, diagonal, totals):
    """All measures of the rows first, first + 1, ...; lower and upper start at row `first`."""
    for k in range(np.uint64(lower.size)):
        i = first + k
        add_row(x[i], y[i], lower[k], upper[k], scale[i], diagonal[i], totals)


@kernel
def measure_contacts(x, y, width, law, friction, scale, diagonal, totals):
    """All measures of the contacts: bounds of tangents that follow the normal impulse stand at that of x itself."""
    for c in range(np.uint64(friction.size)):
        n = c * width
        p = n + ONE
        q = n + width - ONE  # in two dimensions the only tangent, whose second component is then zero
        x_q, y_q = (x[q], y[q]) if q > p else (0.0, 0.0)
        limit = tangent_limit(law, friction[c], max(x[n], 0.0))
        if law == CONES:
            stiffness = max(diagonal[n], max(diagonal[p], diagonal[q]))
            add_cone(friction[c], x[n], x[p], x_q, y[n], y[p], y_q, scale[n], stiffness, float(width), totals)
        else:
            add_row(x[n], y[n], 0.0, np.inf, scale[n], diagonal[n], totals)
            if q > p and law in (DISCS, FIXED_DISCS):
                add_disc(x[p], x_q, y[p], y_q, limit, scale[p], max(diagonal[p], diagonal[q]), totals)
            else:
                for t in range(p, n + width):
                    add_row(x[t], y[t], -limit, limit, scale[t], diagonal[t], totals)
        length = math.hypot(x[p], x_q)
        dissipated = limit * math.hypot(y[p], y_q) + x[p] * y[p] + x_q * y_q
        violation = max(length - tangent_limit(law, friction[c], x[n]), -x[n])
        totals[CONE_VIOLATION] = max(totals[CONE_VIOLATION], violation)
        totals[DISSIPATION_ERROR] = max(totals[DISSIPATION_ERROR], dissipated)
        totals[DE_SAXCE] = max(totals[DE_SAXCE], de_saxce(friction[c], x[n], x[p], x_q, y[n], y[p], y_q))
