"""What bounds the impulse of one contact: its law, and its second-order cone |(p, q)| <= friction n."""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined
from perp.kernels.measures.projection import limited

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
