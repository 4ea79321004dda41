"""What one row or one contact is measured by: projections on intervals, discs and cones, and Fischer-Burmeister.

The law of a contact says what bounds its impulse; its second-order cone is |(p, q)| <= friction n.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel

ONE = np.uint64(1)


# -- rows and discs ----------------------------------------------------------------------------------------------------


HUGE = 1e300


@inlined
def clip(value, low, high):
    """The nearest number of [low, high]; NaN stays NaN, so that the loop sees it."""
    if value < low:
        return low
    if value > high:
        return high
    return value


@inlined
def natural(x, y, low, high):
    """x - clip(x - y, low, high), written so that a small y is not lost beside a large x."""
    return clip(y, x - high, x - low)


@inlined
def limited(value):
    """An infinite slack as a huge one: its direction then survives a projection on the disc."""
    return clip(value, -HUGE, HUGE)


@inlined
def disc_factor(p, q, radius):
    """What (p, q) is multiplied by to land on the disc of that radius around 0; 1 inside. No overflow on the way."""
    largest = max(abs(p), abs(q))
    if largest <= 0.0:
        return 1.0
    length = math.hypot(p / largest, q / largest)
    return min((radius / largest) / length, 1.0)


# -- contacts: their laws and cones ------------------------------------------------------------------------------------


BOXES = np.uint64(0)  #         each tangent has an interval of its own, which stands at the normal impulse
DISCS = np.uint64(1)  #         the pair of tangents has a disc, whose radius stands at the normal impulse
CONES = np.uint64(2)  #         normal and tangents together have a convex cone
FIXED_DISCS = np.uint64(3)  #   the pair has a disc of a given radius, which takes the place of the coefficient
SURFACE = 1.0 + 2.0**-50
"""A point that leaves the cone by rounding alone counts as inside, so that projecting twice changes nothing."""


@inlined
def tangent_limit(law, friction, normal):
    """How long the tangential impulse of a contact may be."""
    return friction if law == FIXED_DISCS else friction * normal


@inlined
def project_on_cone(friction, n, p, q):
    """The nearest point of the cone. Sine and cosine of its opening are used, so that no friction overflows."""
    cosine = 1.0 / math.hypot(1.0, friction)
    sine = friction * cosine
    length = math.hypot(p, q)
    if cosine * length <= SURFACE * sine * n and n >= 0.0:
        return n, p, q
    along = cosine * n + sine * length  # how far the point reaches along the nearest line of the surface
    if along <= 0.0:
        return 0.0, 0.0, 0.0
    factor = sine * along / length if length > 0.0 else 0.0
    return cosine * along, factor * p, factor * q


@inlined
def cone_natural(friction, x_n, x_p, x_q, y_n, y_p, y_q):
    """x - P_K(x - y), entry by entry; inside the cone it is y itself, which is not lost beside a large x."""
    y_n, y_p, y_q = limited(y_n), limited(y_p), limited(y_q)
    n, p, q = x_n - y_n, x_p - y_p, x_q - y_q
    near_n, near_p, near_q = project_on_cone(friction, n, p, q)
    if near_n == n and near_p == p and near_q == q:
        return y_n, y_p, y_q
    return x_n - near_n, x_p - near_p, x_q - near_q


# -- all contacts ------------------------------------------------------------------------------------------------------


@kernel
def project_contacts(width, law, friction, lower, upper, x):
    """x_n to x_n >= 0, tangents to the interval or the disc that this normal allows, other rows to theirs; in place."""
    for c in range(np.uint64(friction.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE  # in two dimensions the same tangent
        normal = 0.0 if x[n] <= 0.0 else x[n]  # NaN stays NaN
        x[n] = normal
        limit = tangent_limit(law, friction[c], normal)
        if q > p and law in (DISCS, FIXED_DISCS):
            length = math.hypot(x[p], x[q])
            if length > SURFACE * limit:
                factor = limit / length
                x[p] *= factor
                x[q] *= factor
        else:
            for i in range(p, q + ONE):
                x[i] = clip(x[i], -limit, limit)
                if limit == 0.0 and x[i] == 0.0:
                    x[i] = 0.0  # and not -0
    first = np.uint64(friction.size) * width
    for k in range(np.uint64(lower.size)):
        x[first + k] = clip(x[first + k], lower[k], upper[k])


# -- Fischer-Burmeister ------------------------------------------------------------------------------------------------


@inlined
def fischer(a, b):
    """sqrt(a^2 + b^2) - a - b (NOTES eq. 17); for a + b > 0 in the form that does not cancel."""
    total = a + b
    length = math.sqrt(a * a + b * b)
    if length == np.inf:
        length = math.hypot(a, b)
    return -2.0 * a * (b / (length + total)) if total > 0.0 else length - total


@inlined
def box_merit(x, y, low, high):
    """Billups' form for boxes, fischer(x - low, fischer(high - x, -y)), with its limits where a bound is infinite."""
    above = y if high == np.inf else fischer(high - x, -y)
    return -above if low == -np.inf else fischer(x - low, above)
