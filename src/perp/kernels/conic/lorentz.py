"""One second-order cone: Nesterov and Todd's scaling, Jordan products, and the longest step.

For z, v inside the cone there is a symmetric T with T v = T^-1 z = lambda (Nesterov & Todd 1997; Vandenberghe 2010,
section 4). Its eigenvectors are (1, p), (1, -p) and (0, o) for o across p, with a unit vector p of the tail's space,

    T (1, p) = eta growth (1, p),   T (1, -p) = eta / growth (1, -p),   T (0, o) = eta (0, o),

and it is only ever applied in that basis: on a sliding contact growth^2 is the ratio of slip to tolerance, and the
entries of T^-2 would hide its small eigenvalue behind the large one. A cone without a tail is the half-line.
"""

from __future__ import annotations

from math import inf, sqrt

from perp.kernels.compile import inlined

LEAST = 1e-16
"""head - |tail| is kept above this share of the head: below, it is rounding alone."""


@inlined
def length(t, tail, count):
    total = 0.0
    for i in range(tail, tail + count):
        total += t[i] * t[i]
    return sqrt(total)


@inlined
def dot(a, b, tail, count):
    total = 0.0
    for i in range(tail, tail + count):
        total += a[i] * b[i]
    return total


@inlined
def determinant(head, norm):
    """head^2 - |tail|^2."""
    return max(head - norm, LEAST * head) * (head + norm)


@inlined
def scale(slot, tail, count, zh, zt, vh, vt, eta, growth, p, lh, lt):
    """T (eta, growth, p) and lambda (lh, lt) of one pair; returns z . v."""
    if count == 0:
        product = zh[slot] * vh[slot]
        eta[slot] = sqrt(zh[slot] / vh[slot])
        growth[slot] = 1.0
        lh[slot] = sqrt(product)
        return product
    root_z = sqrt(determinant(zh[slot], length(zt, tail, count)))
    root_v = sqrt(determinant(vh[slot], length(vt, tail, count)))
    z0, v0 = zh[slot] / root_z, vh[slot] / root_v
    product = zh[slot] * vh[slot] + dot(zt, vt, tail, count)
    gamma = sqrt(0.5 * (1.0 + max(product / (root_z * root_v), 1.0)))
    size = sqrt(root_z * root_v)
    total = 0.0
    for i in range(tail, tail + count):
        z_i, v_i = zt[i] / root_z, vt[i] / root_v
        p[i] = (z_i - v_i) / (2.0 * gamma)
        total += p[i] * p[i]
        lt[i] = size * ((gamma + z0) * v_i + (gamma + v0) * z_i) / (z0 + v0 + 2.0 * gamma)
    norm = sqrt(total)
    growth[slot] = sqrt(1.0 + total) + norm
    for i in range(tail, tail + count):
        p[i] = p[i] / norm if norm > 0.0 else 0.0
    lh[slot] = size * gamma
    eta[slot] = sqrt(root_z / root_v)
    return product


@inlined
def apply(tail, count, p, along, against, across, head, t, out):
    """The matrix with these eigenvalues times (head, t): returns the head, the tail is in `out`."""
    share = dot(p, t, tail, count)
    a, b = 0.5 * along * (head + share), 0.5 * against * (head - share)
    for i in range(tail, tail + count):
        out[i] = p[i] * (a - b) + across * (t[i] - share * p[i])
    return a + b


@inlined
def scale_slack(slot, tail, count, eta, growth, p, head, t, out):
    """T (head, t)."""
    return apply(tail, count, p, eta[slot] * growth[slot], eta[slot] / growth[slot], eta[slot], head, t, out)


@inlined
def scale_primal(slot, tail, count, eta, growth, p, head, t, out):
    """T^-1 (head, t)."""
    low = 1.0 / eta[slot]
    return apply(tail, count, p, low / growth[slot], low * growth[slot], low, head, t, out)


@inlined
def divide(slot, tail, count, lh, lt, head, t):
    """lambda \\ (head, t), in place: returns the head."""
    if count == 0:
        return head / lh[slot]
    norm = length(lt, tail, count)
    first = (lh[slot] * head - dot(lt, t, tail, count)) / determinant(lh[slot], norm)
    for i in range(tail, tail + count):
        t[i] = (t[i] - first * lt[i]) / lh[slot]
    return first


@inlined
def longest_step(slot, tail, count, head, t, dhead, dt):
    """The largest step along (dhead, dt) that stays in the cone."""
    if count == 0:
        return -head[slot] / dhead[slot] if dhead[slot] < 0.0 else inf
    norm, d_norm = length(t, tail, count), length(dt, tail, count)
    c = determinant(head[slot], norm)
    a = (dhead[slot] - d_norm) * (dhead[slot] + d_norm)
    b = head[slot] * dhead[slot] - dot(t, dt, tail, count)
    square = b * b - a * c
    if a < 0.0 or (b < 0.0 and square >= 0.0):
        below = sqrt(max(square, 0.0)) - b
        return c / below if below > 0.0 else inf
    return inf
