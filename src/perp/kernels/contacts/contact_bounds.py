"""The point within the bounds of contacts that is nearest to x, normals first, in one pass.

Convex cones are no part of it: there normal and tangents move together.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.contacts.cones import DISCS, FIXED_DISCS, SURFACE, tangent_limit
from perp.kernels.measures.projection import clip

ONE = np.uint64(1)


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
