"""Contact laws as equations F(x, y) = 0, contact by contact, and their generalised derivative dF = E dx + G dy.

    F = x - P(z),    z = base - rho y,

with P the projection on what the law allows, whose limits may follow z_n itself (Alart & Curnier 1991). `base` is x
(then E = 1 - P'(z)) or does not depend on it (then `carried` is false and E = 1); G = rho P'(z). E and G hold width^2
numbers a contact, row by row.

`strength` is what limits the tangents: a coefficient of friction, or, where limits follow nothing, the limit itself.
`lift` is added to y_n by the law CONES.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.measures.projection import clip, limited

FOLLOWING_BOXES = np.uint64(0)  #   x_n >= 0, and for each tangent an interval +-strength max(0, z_n)
FOLLOWING_DISCS = np.uint64(1)  #   x_n >= 0, and for both a disc of that radius
CONES = np.uint64(2)  #             the cone |x_t| <= strength x_n, with lift added to y_n
FIXED_DISCS = np.uint64(3)  #       x_n >= 0, and a disc of radius strength
FIXED_BOXES = np.uint64(4)  #       x_n >= 0, and intervals +-strength
LIFTED_CONES = np.uint64(5)  #      the cone, with strength |y_t| added to y_n (De Saxcé & Feng 1998)

ONE = np.uint64(1)


@inlined
def arguments(law, strength, lift, rho, n, p, q, y_n, y_p, y_q):
    """z = base - rho y for (n, p, q) = base, with what the law adds to y_n."""
    if law == CONES:
        y_n += lift
    elif law == LIFTED_CONES:
        y_n += strength * math.hypot(y_p, y_q)
    return n - limited(rho * y_n), p - limited(rho * y_p), q - limited(rho * y_q)


@inlined
def radius_of(law, strength, z_n):
    """What limits the tangents, where that is not the cone."""
    return strength if law in (FIXED_DISCS, FIXED_BOXES) else strength * max(z_n, 0.0)


@inlined
def place_in_cone(strength, z_n, z_p, z_q):
    """(case, cosine, sine, length, reach along the nearest line): 0 inside, 1 goes to the surface, 2 to the tip.

    A cone without friction is a line, which has no inside.
    """
    cosine = 1.0 / math.hypot(1.0, strength)
    sine = strength * cosine
    length = math.hypot(z_p, z_q)
    along = cosine * z_n + sine * length
    case = 1
    if cosine * length <= sine * z_n and z_n >= 0.0 and strength > 0.0:
        case = 0
    elif along <= 0.0:
        case = 2
    return case, cosine, sine, length, along


@inlined
def entries(law, strength, carried, x_n, x_p, x_q, z_n, z_p, z_q):
    """x - P(z); where P(z) = z = x - rho y, that is x - z, which the caller knows better: (F, whether n, whether t)."""
    if law in (CONES, LIFTED_CONES):
        case, cosine, sine, length, along = place_in_cone(strength, z_n, z_p, z_q)
        if case == 0:
            return x_n - z_n, x_p - z_p, x_q - z_q, carried, carried, carried
        if case == 2:
            return x_n, x_p, x_q, False, False, False
        factor = sine * along / length if length > 0.0 else 0.0
        on_line = carried and strength == 0.0
        return x_n - cosine * along, x_p - factor * z_p, x_q - factor * z_q, on_line, False, False
    F_n = x_n - max(z_n, 0.0)
    radius = radius_of(law, strength, z_n)
    if law in (FOLLOWING_BOXES, FIXED_BOXES):
        p, q = clip(z_p, -radius, radius), clip(z_q, -radius, radius)
        return F_n, x_p - p, x_q - q, carried and z_n > 0.0, carried and p == z_p, carried and q == z_q
    length = math.hypot(z_p, z_q)
    if length <= radius:
        return F_n, x_p - z_p, x_q - z_q, carried and z_n > 0.0, carried, carried
    factor = radius / length
    return F_n, x_p - factor * z_p, x_q - factor * z_q, carried and z_n > 0.0, False, False


@inlined
def slopes(law, strength, z_n, z_p, z_q):
    """P'(z), row by row; at a kink the side on which P(z) = z, or for z_n = 0 the one on which P_n = 0.

    Tangents whose limit is zero have no freedom at all.
    """
    if law in (CONES, LIFTED_CONES):
        case, cosine, sine, length, along = place_in_cone(strength, z_n, z_p, z_q)
        if case == 0:
            return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
        if case == 2:
            return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        p = q = turn = 0.0
        if length > 0.0:
            p, q, turn = z_p / length, z_q / length, sine * along / length
        pp, pq, qq = sine * sine * p * p, sine * sine * p * q, sine * sine * q * q
        mixed = cosine * sine
        return (
            cosine * cosine, mixed * p, mixed * q,
            mixed * p, pp + turn * q * q, pq - turn * p * q,
            mixed * q, pq - turn * p * q, qq + turn * p * p,
        )  # fmt: skip
    on = 1.0 if z_n > 0.0 else 0.0
    radius = radius_of(law, strength, z_n)
    growth = strength * on if law in (FOLLOWING_BOXES, FOLLOWING_DISCS) else 0.0
    if law in (FOLLOWING_BOXES, FIXED_BOXES):
        free_p, free_q = abs(z_p) <= radius and radius > 0.0, abs(z_q) <= radius and radius > 0.0
        by_p = 0.0 if free_p else math.copysign(growth, z_p)
        by_q = 0.0 if free_q else math.copysign(growth, z_q)
        return on, 0.0, 0.0, by_p, 1.0 * free_p, 0.0, by_q, 0.0, 1.0 * free_q
    length = math.hypot(z_p, z_q)
    if length <= radius and radius > 0.0:
        return on, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    if length == 0.0:
        return on, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    p, q, turn = z_p / length, z_q / length, radius / length
    return on, 0.0, 0.0, growth * p, turn * q * q, -turn * p * q, growth * q, -turn * p * q, turn * p * p


@kernel
def evaluate(law, width, strength, lift, carried, base, x, y, rho, unit, F):
    """F of every contact; returns half the sum of the squares of F over unit."""
    total = 0.0
    for c in range(np.uint64(strength.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE  # in two dimensions the same tangent
        wide = q > p
        x_q, y_q, base_q = (x[q], y[q], base[q]) if wide else (0.0, 0.0, 0.0)
        z_n, z_p, z_q = arguments(law, strength[c], lift[c], rho[n], base[n], base[p], base_q, y[n], y[p], y_q)
        F_n, F_p, F_q, exact_n, exact_p, exact_q = entries(law, strength[c], carried, x[n], x[p], x_q, z_n, z_p, z_q)
        if exact_n:  # rho y itself, which is not lost beside a large x
            added = lift[c] if law == CONES else strength[c] * math.hypot(y[p], y_q) if law == LIFTED_CONES else 0.0
            F_n = limited(rho[n] * (y[n] + added))
        F[n] = F_n
        F[p] = limited(rho[p] * y[p]) if exact_p else F_p
        total += (F[n] / unit[n]) ** 2 + (F[p] / unit[p]) ** 2
        if wide:
            F[q] = limited(rho[q] * y[q]) if exact_q else F_q
            total += (F[q] / unit[q]) ** 2
    return 0.5 * total


@kernel
def linearise(law, width, strength, lift, carried, base, y, rho, E, G):
    """E and G of every contact, width x width numbers each."""
    own = 1.0 if carried else 0.0
    for c in range(np.uint64(strength.size)):
        n = c * width
        p, q = n + ONE, n + width - ONE
        wide = q > p
        y_q, base_q = (y[q], base[q]) if wide else (0.0, 0.0)
        z_n, z_p, z_q = arguments(law, strength[c], lift[c], rho[n], base[n], base[p], base_q, y[n], y[p], y_q)
        nn, np_, nq, pn, pp, pq, qn, qp, qq = slopes(law, strength[c], z_n, z_p, z_q)
        first = c * width * width
        store(first, width, 1.0 - own * nn, -own * np_, -own * nq, E, ONE - ONE)
        store(first, width, -own * pn, 1.0 - own * pp, -own * pq, E, ONE)
        if wide:
            store(first, width, -own * qn, -own * qp, 1.0 - own * qq, E, ONE + ONE)
        if law == LIFTED_CONES:  # the lift turns with y_t
            slip = math.hypot(y[p], y_q)
            if slip > 0.0:
                by_p, by_q = strength[c] * y[p] / slip, strength[c] * y_q / slip
                np_, nq = np_ + nn * by_p, nq + nn * by_q
                pp, pq = pp + pn * by_p, pq + pn * by_q
                qp, qq = qp + qn * by_p, qq + qn * by_q
        store(first, width, rho[n] * nn, rho[n] * np_, rho[n] * nq, G, ONE - ONE)
        store(first, width, rho[n] * pn, rho[n] * pp, rho[n] * pq, G, ONE)
        if wide:
            store(first, width, rho[n] * qn, rho[n] * qp, rho[n] * qq, G, ONE + ONE)


@inlined
def store(first, width, by_n, by_p, by_q, out, row):
    """One row of a block."""
    at = first + row * width
    out[at], out[at + ONE] = by_n, by_p
    if width > ONE + ONE:
        out[at + ONE + ONE] = by_q


@kernel
def evaluate_rows(first, lower, upper, carried, base, x, y, rho, unit, F):
    """F_i = x_i - clip(base_i - rho_i y_i) of the rows after the contacts; returns what they add to the merit."""
    total = 0.0
    for k in range(np.uint64(lower.size)):
        i = first + k
        z = base[i] - limited(rho[i] * y[i])
        near = clip(z, lower[k], upper[k])
        F[i] = limited(rho[i] * y[i]) if carried and near == z else x[i] - near
        total += (F[i] / unit[i]) ** 2
    return 0.5 * total


@kernel
def linearise_rows(first, lower, upper, carried, base, y, rho, E, G):
    """Their derivatives: one number a row in E and one in G."""
    for k in range(np.uint64(lower.size)):
        i = first + k
        z = base[i] - limited(rho[i] * y[i])
        free = 1.0 if lower[k] < z < upper[k] else 0.0
        E[k] = 1.0 - free if carried else 1.0
        G[k] = rho[i] * free
