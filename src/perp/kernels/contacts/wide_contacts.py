"""Residuals of contacts whose rows have coefficients of their own, in units in which friction is round.

z = x / lever and u = lever y of each row (`perp.problems.contact_laws`); then a contact is like any other, with any
number of tangents. A row without a lever has x = 0 for its law, and takes no part in the rest.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.measures.projection import BOXES, CONES, SURFACE, box_merit, fischer, limited, natural, tangent_limit
from perp.kernels.measures.residuals import (
    ACTIVE,
    BOUND_VIOLATION,
    CONE_VIOLATION,
    DE_SAXCE,
    DISSIPATION_ERROR,
    DISTANCE_MERIT,
    GAP,
    MERIT_SQUARES,
    SLACK_VIOLATION,
    add_energy,
    add_natural,
    add_row,
)
from perp.kernels.measures.watching import ROUNDING, watch_rows


@inlined
def length_of(t):
    """|t| of the tangents, t[0] being the normal; no overflow on the way."""
    total = 0.0
    for i in range(1, t.size):
        total = math.hypot(total, t[i])
    return total


@part
def cone_map(strength, z, u, factor, lift, r):
    """r = z - P_K(z - factor u), with `lift` added to u_n; inside the cone it is factor u itself."""
    r[0] = limited(factor * (u[0] + lift))
    for i in range(1, z.size):
        r[i] = z[i] - limited(factor * u[i])
    normal, length = z[0] - r[0], length_of(r)
    cosine = 1.0 / math.hypot(1.0, strength)
    sine = strength * cosine
    if cosine * length <= SURFACE * sine * normal and normal >= 0.0:
        for i in range(1, z.size):
            r[i] = limited(factor * u[i])
        return
    along = max(cosine * normal + sine * length, 0.0)
    share = sine * along / length if length > 0.0 else 0.0
    r[0] = z[0] - cosine * along
    for i in range(1, z.size):
        r[i] = z[i] - share * r[i]


@part
def contact_map(law, strength, z, u, factor, r):
    """r = z - P(z - factor u) of one contact; limits that follow the normal impulse stand at that of z itself."""
    if law == CONES:
        cone_map(strength, z, u, factor, 0.0, r)
        return
    r[0] = natural(z[0], limited(factor * u[0]), 0.0, np.inf)
    limit = tangent_limit(law, strength, max(z[0], 0.0))
    if law == BOXES:
        for i in range(1, z.size):
            r[i] = natural(z[i], limited(factor * u[i]), -limit, limit)
        return
    for i in range(1, z.size):
        r[i] = z[i] - limited(factor * u[i])
    length = length_of(r)
    for i in range(1, z.size):
        r[i] = limited(factor * u[i]) if length <= limit else z[i] - limit / length * r[i]


@inlined
def measure_contact(n, levers, x, y, z, u):
    """z and u of the contact whose normal is row n."""
    for i in range(z.size):
        lever = levers[n + i]
        z[i] = x[n + i] / lever if lever > 0.0 else 0.0
        u[i] = lever * y[n + i]


@kernel
def measure_contacts(x, y, width, law, strength, levers, scale, diagonal, totals):
    """All measures of the contacts (`perp.kernels.measures.residuals`)."""
    z, u, r, plain = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for c in range(strength.size):
        n, s = c * width, strength[c]
        measure_contact(n, levers, x, y, z, u)
        stiffness = diagonal[n] if law == CONES else 0.0
        for i in range(n + 1, n + width):
            stiffness = max(stiffness, levers[i] * levers[i] * diagonal[i])
            if levers[i] == 0.0:
                add_row(x[i], y[i], 0.0, 0.0, scale[i], diagonal[i], totals)
                totals[CONE_VIOLATION] = max(totals[CONE_VIOLATION], abs(x[i]))
        limit = tangent_limit(law, s, max(z[0], 0.0))
        length, slip, work = length_of(z), length_of(u), 0.0
        for i in range(1, width):
            work += z[i] * u[i]
        first = 0
        if law != CONES:
            first = 1
            add_row(z[0], u[0], 0.0, np.inf, scale[n], diagonal[n], totals)
        if law == BOXES:
            for i in range(1, width):
                if levers[n + i] > 0.0:
                    own = levers[n + i] * levers[n + i] * diagonal[n + i]
                    add_row(z[i], u[i], -limit, limit, scale[n + i], own, totals)
        else:
            contact_map(law, s, z, u, 1.0, plain)
            contact_map(law, s, z, u, scale[n], r)
            for i in range(first, width):
                add_natural(plain[i], r[i], totals)
                totals[MERIT_SQUARES] += r[i] * r[i]
                totals[ACTIVE] += z[0] > 0.0 if i == 0 else levers[n + i] > 0.0 and length < limit
            if stiffness > 0.0:
                contact_map(law, s, z, u, 1.0 / stiffness, r)
                for i in range(first, width):
                    add_energy(r[i], stiffness, totals)
            if law == CONES:
                room = s * z[0] - length
                totals[DISTANCE_MERIT] += abs(room) / math.hypot(1.0, s) * math.hypot(u[0], slip)
                totals[GAP] += abs(z[0] * u[0] + work)
                totals[BOUND_VIOLATION] = max(totals[BOUND_VIOLATION], max(-room, -z[0]))
                totals[SLACK_VIOLATION] = max(totals[SLACK_VIOLATION], s * slip - u[0])
            else:
                totals[DISTANCE_MERIT] += abs(limit - length) * slip
                totals[GAP] += abs(limit * slip + work)
                totals[BOUND_VIOLATION] = max(totals[BOUND_VIOLATION], length - limit)
        violation = max(length - tangent_limit(law, s, z[0]), -z[0])
        totals[CONE_VIOLATION] = max(totals[CONE_VIOLATION], violation)
        totals[DISSIPATION_ERROR] = max(totals[DISSIPATION_ERROR], limit * slip + work)
        cone_map(s, z, u, 1.0, s * slip, r)
        for i in range(width):
            totals[DE_SAXCE] = max(totals[DE_SAXCE], abs(r[i]))


@kernel
def watch_contacts(x, y, width, law, strength, levers, lower, upper, scale, previous, mark, inside):
    """The measures of `perp.kernels.measures.watching`, whose tuple is returned."""
    first = np.uint64(strength.size * width)
    residual, half, active, changed, change, drift, from_mark, largest, probe = watch_rows(
        first, x, y, lower, upper, scale, previous, mark, inside
    )
    squares = 2.0 * half
    z, u, r = np.empty(width), np.empty(width), np.empty(width)
    for c in range(strength.size):
        n = c * width
        measure_contact(n, levers, x, y, z, u)
        contact_map(law, strength[c], z, u, scale[n], r)
        limit = tangent_limit(law, strength[c], max(z[0], 0.0))
        length = length_of(z)
        for k in range(width):
            i = n + k
            here = x[i]
            error = merit = r[k]
            between = z[0] > 0.0 if k == 0 else levers[i] > 0.0 and length < limit
            if levers[i] == 0.0:
                error = merit = here
            elif law != CONES and k == 0:
                merit = fischer(z[0], u[0])
            elif law == BOXES:
                merit = box_merit(z[k], u[k], -limit, limit)
                between = -limit < z[k] < limit
            residual = max(residual, abs(error))
            squares += merit * merit
            step = abs(here - previous[i])
            change = max(change, step)
            drift = max(drift, step - ROUNDING * abs(here))
            from_mark = max(from_mark, abs(here - mark[i]))
            largest = max(largest, abs(here))
            probe += 0.0 * here + 0.0 * y[i] + 0.0 * error
            active += between
            changed += between != inside[i]
            inside[i] = between
    return residual, 0.5 * squares, active, changed, change, drift, from_mark, largest, probe
