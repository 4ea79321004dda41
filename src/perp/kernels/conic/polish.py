"""Newton's method on the states that a point shows: the last digits, exact up to rounding. In body space.

F = z - P(z - r v) for every cone, with P the projection on the cone, or on the ball of its head's radius where the head
is fixed or follows the normal (Alart & Curnier 1991), and r the ratio of impulse to speed that the block has at the
start. Its generalised derivative is E dx + G dy with dy = J dV + C dx, so that

    dx = dx0 - H J dV,    dx0 = -(E + G C)^-1 F,    H = (E + G C)^-1 G,    (M + J^T H J) dV = J^T dx0 + r_p.

All blocks are closed, as those of the path are. With p = s_t / |s_t| and s = z - r v, a contact that slides moves along
(1, p): its tangents follow its normal.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from perp.kernels.compile import inlined, part, piece, spliced
from perp.kernels.conic.equations import assemble, factor, multiply, pull, push, solve_factor
from perp.kernels.conic.layout import (
    BEST,
    BEST_V,
    DX,
    ED,
    EP,
    FOLLOWING,
    HX,
    LIFT,
    OWN,
    RATIO,
    ROOT,
    RP,
    VH,
    VT,
    WEIGHT,
    ZH,
    ZT,
    B,
    C,
    V,
    X,
    Y,
)
from perp.kernels.conic.path import FACTORISATIONS, read_cones
from perp.kernels.conic.pieces import call_linearise

SOFTNESS, SOFTEST = 1e-8, 1e-3
"""The compliance of rigid rows in the matrix, as a share of A_ii; the next step takes back what it leaves. Far from a
solution it is larger, in proportion to F over its unit, at most so large."""

HARDER, MOST_DAMPING = 10.0, 1e6
"""Where steps lead nowhere, it is so many times what it was, up to so much."""

# places in `marks` after those of the path
POLISHED, WORSE, DAMPING, IS_NEW = range(8, 12)


class Rules(NamedTuple):
    """How a polish goes on where F grows, and how soft the matrix of a step is."""

    patience: float
    goes_back: bool
    softer: float
    """The compliance over F, as shares of A_ii and of the unit."""


@inlined
def tail_argument(tail, count, r, zt, vt, out):
    """s = z_t - r v_t in `out`; returns |s|."""
    total = 0.0
    for i in range(tail, tail + count):
        out[i] = zt[i] - r * vt[i]
        total += out[i] * out[i]
    return sqrt(total)


@piece
def linearise(blocks, cones, it):
    """H, and dx0 in DX; returns the largest entry of F, impulses times sqrt(A_ii): the root of an energy."""
    H, R = it.H, it.rows
    dx, s, y = R[DX], R[HX], R[Y]
    zh, zt, vh, vt = R[ZH], R[ZT], R[VH], R[VT]
    largest = 0.0
    for i in range(dx.size):
        dx[i] = 0.0
    for b in range(blocks.row.size):
        row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
        first, last = blocks.cones[b], blocks.cones[b + 1]
        for e in range(at, at + d * d):
            H[e] = 0.0
        c_head = R[C, row] + R[LIFT, row]
        unit, r = sqrt(R[WEIGHT, row]), R[RATIO, row]
        if first == last:
            H[at] = 1.0 / c_head
            dx[row] = -y[row] / c_head
            largest = max(largest, abs(y[row]) / unit)
            continue
        radius, F_n, presses = 0.0, 0.0, False
        if cones.mode[first] == OWN:
            slot = cones.slot[first]
            if cones.count[first] > 0:
                largest = max(largest, unit * _linearise_own(slot, cones.tail[first], row, d, at, r, c_head, it))
                continue
            radius = zh[slot] - r * vh[slot]
            presses = radius > 0.0
            if presses:
                F_n = r * vh[slot]
                H[at] = 1.0 / c_head
                dx[row] = -cones.sign[first] * vh[slot] / c_head
            else:
                F_n = zh[slot]
                dx[row] = -cones.sign[first] * F_n
            largest = max(largest, abs(vh[slot]) / unit if presses else unit * abs(F_n))
            first += 1
        for k in range(first, last):
            tail, count = cones.tail[k], cones.count[k]
            follows = cones.mode[k] == FOLLOWING
            limit = max(radius, 0.0) if follows else cones.offset[k]
            norm = tail_argument(tail, count, r, zt, vt, s)
            c_tail = R[C, tail] + R[LIFT, tail]
            o = tail - row
            if norm <= limit and limit > 0.0:  # sticks
                for i in range(o, o + count):
                    H[at + i * d + i] = 1.0 / c_tail
                    dx[row + i] = -vt[row + i] / c_tail
                    largest = max(largest, abs(vt[row + i]) / unit)
                continue
            share = limit / norm if norm > 0.0 else 0.0
            below = 1.0 - share + share * r * c_tail
            along = 0.0
            for i in range(tail, tail + count):
                R[ED, i] = zt[i] - share * s[i]  # F
                largest = max(largest, unit * abs(R[ED, i]))
                s[i] = s[i] / norm if norm > 0.0 else 0.0
                along += s[i] * R[ED, i]
            led = dx[row] + F_n if follows and presses else 0.0  # the normal's part of d(limit)
            for i in range(o, o + count):
                p_i = s[row + i]
                dx[row + i] = p_i * (led - along) - (R[ED, row + i] - along * p_i) / below
                if follows and presses:
                    H[at + i * d] = p_i / c_head
                for j in range(o, o + count):
                    H[at + i * d + j] = -share * r / below * p_i * s[row + j]
                H[at + i * d + i] += share * r / below
    return largest


@inlined
def _linearise_own(slot, tail, row, d, at, r, c_head, it):
    """The cone of a convex contact; returns the largest entry of F."""
    H, R = it.H, it.rows
    dx, s, zt, vt = R[DX], R[HX], R[ZT], R[VT]
    z_head, v_head, count = R[ZH, slot], R[VH, slot], d - 1
    head = z_head - r * v_head
    norm = tail_argument(tail, count, r, zt, vt, s)
    c_tail = R[C, tail] + R[LIFT, tail]
    largest = 0.0
    if norm <= head:
        H[at] = 1.0 / c_head
        dx[row] = -v_head / c_head
        largest = abs(v_head) / R[WEIGHT, row]
        for i in range(1, d):
            H[at + i * d + i] = 1.0 / c_tail
            dx[row + i] = -vt[row + i] / c_tail
            largest = max(largest, abs(vt[row + i]) / R[WEIGHT, row])
        return largest
    if norm <= -head:
        dx[row] = -z_head
        largest = abs(z_head)
        for i in range(1, d):
            dx[row + i] = -zt[row + i]
            largest = max(largest, abs(zt[row + i]))
        return largest
    reach = 0.5 * (head + norm)
    kappa = reach / norm
    F_head, along = z_head - reach, 0.0
    largest = abs(F_head)
    for i in range(tail, tail + count):
        R[ED, i] = zt[i] - kappa * s[i]
        largest = max(largest, abs(R[ED, i]))
        s[i] /= norm
        along += s[i] * R[ED, i]
    mean, half = 0.5 * (c_head + c_tail), 0.5 * (c_head - c_tail)
    plus, minus = 0.5 * (F_head + along), 0.5 * (F_head - along)
    up, down = -(plus / (r * mean) - half / mean * minus), -minus
    below = 1.0 - kappa + kappa * r * c_tail
    dx[row] = up + down
    H[at] = 0.5 / mean
    for i in range(1, d):
        p_i = s[row + i]
        H[at + i] = H[at + i * d] = 0.5 / mean * p_i
        dx[row + i] = p_i * (up - down) - (R[ED, row + i] - along * p_i) / below
        for j in range(1, d):
            H[at + i * d + j] = (0.5 / mean - kappa * r / below) * p_i * s[row + j]
        H[at + i * d + i] += kappa * r / below
    return largest


@part
def measure(linearise_at, blocks, cones, system, it):
    """y = J V + C x + b, r_p, and the blocks there; returns the size of F, or of r_p where that is larger."""
    R, r_p = it.rows, it.bodies[RP]
    for i in range(r_p.size):
        r_p[i] = 0.0
    push(blocks, system, it.local, R[X], r_p)
    multiply(system, -1.0, it.bodies[V], r_p)
    for i in range(R.shape[1]):
        R[Y, i] = R[C, i] * R[X, i] + R[B, i]
    pull(blocks, system, it.local, it.bodies[V], R[Y])
    read_cones(cones, it)
    F = call_linearise(linearise_at, (blocks, cones, it))
    for i in range(r_p.size):
        F = max(F, abs(r_p[i]) * it.bodies[ROOT, i])
    return F


@spliced
def begin_polish(marks):
    """Newton steps from another point; marks[POLISHED] and its x stay."""
    marks[WORSE], marks[DAMPING], marks[IS_NEW] = 0.0, 1.0, 1.0


@piece
def polish(
    linearise_at,
    address,
    symmetric,
    most,
    patience,
    goes_back,
    softer,
    unit,
    enough,
    blocks,
    cones,
    system,
    fac,
    it,
    marks,
):
    """Up to `most` Newton steps from x and V, until F is `enough`; marks[POLISHED] is the least F, its x is in BEST.

    A step with a wrong state makes F larger and shows the right one; `patience` such steps in a row are allowed.
    Then all ends; or, with `goes_back`, the next step begins at the best point, with more compliance in its
    matrix. Returns whether there is more to try. All that the next call needs is in `marks`, in BEST and BEST_V.
    """
    R, dx, ep = it.rows, it.rows[DX], it.bodies[EP]
    n, m = dx.size, ep.size
    for k in range(most + 1):
        F = measure(linearise_at, blocks, cones, system, it)
        if marks[IS_NEW] > 0.0:
            marks[IS_NEW] = 0.0
            marks[WORSE] += 1.0
            if marks[POLISHED] > F:
                if 0.5 * marks[POLISHED] > F:
                    marks[DAMPING] = max(marks[DAMPING] / HARDER, 1.0)
                marks[POLISHED], marks[WORSE] = F, 0.0
                for i in range(n):
                    R[BEST, i] = R[X, i]
                for i in range(m):
                    it.bodies[BEST_V, i] = it.bodies[V, i]
        if marks[POLISHED] <= enough or not inf > marks[POLISHED]:
            return False
        if marks[WORSE] >= patience or not inf > F:
            marks[DAMPING] *= HARDER
            if not goes_back or marks[DAMPING] > MOST_DAMPING:
                return False
            marks[WORSE] = 0.0
            for i in range(n):
                R[X, i] = R[BEST, i]
            for i in range(m):
                it.bodies[V, i] = it.bodies[BEST_V, i]
            F = measure(linearise_at, blocks, cones, system, it)
        if k == most:
            return True
        softness = marks[DAMPING] * min(max(softer * F / unit, SOFTNESS), SOFTEST)
        for i in range(n):
            R[LIFT, i] = softness * R[WEIGHT, i]
        call_linearise(linearise_at, (blocks, cones, it))
        assemble(blocks, system, it, fac.numbers)
        marks[FACTORISATIONS] += 1.0
        if factor(address, symmetric, fac) == 0:
            return False
        for i in range(m):
            ep[i] = it.bodies[RP, i]
        push(blocks, system, it.local, dx, ep)
        solve_factor(fac, ep)
        for i in range(n):
            R[ED, i] = 0.0
        pull(blocks, system, it.local, ep, R[ED])
        for b in range(blocks.row.size):
            row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
            for i in range(d):
                for j in range(d):
                    dx[row + i] -= it.H[at + i * d + j] * R[ED, row + j]
        for i in range(n):
            R[X, i] += dx[i]
        for i in range(m):
            it.bodies[V, i] += ep[i]
        marks[IS_NEW] = 1.0
    return True
