"""The Newton step of the path: blocks W and H = (W + C)^-1, and solves refined by the equations themselves.

The complementarity of a block is linearised as W dx + dy = g. In body space dy = J dV + C dx + r_d and
M dV = J^T dx + r_p, so that

    (M + J^T H J) dV = J^T H q + r_p,    dx = H (q - J dV),    q = g - r_d,    H = (W + C)^-1;

in contact space (W + A) dx = q.

W has T^-2 of an OWN cone. Other cones have T^-2 of their tails there and, where their head follows the normal, its
column below the normal. So W is lower triangular by blocks, and every inverse is closed. W and H are applied in the
basis of T (`lorentz`); H as numbers, whose small eigenvalues rounding has eaten, serves the matrix K alone.
"""

from __future__ import annotations

from math import inf, sqrt

from perp.kernels.compile import inlined, part, piece, spliced
from perp.kernels.conic import lorentz
from perp.kernels.conic.equations import multiply, multiply_rows, pull, push, solve_factor
from perp.kernels.conic.layout import (
    DV,
    DX,
    ED,
    EP,
    ETA,
    FOLLOWING,
    GROWTH,
    HX,
    JV,
    LH,
    LIFT,
    LT,
    OWN,
    QX,
    RHS,
    ROOT,
    RP,
    C,
    P,
)


@inlined
def head_slope(eta, growth, head, along):
    """The head of T^-2 (head, t), where `along` is p . t."""
    low, square = 1.0 / (eta * eta), growth * growth
    return 0.5 * low * (square * (head - along) + (head + along) / square)


@inlined
def tail_slopes(eta, growth):
    """T^-2 in the tail, along p and across it; and minus its part between head and tail."""
    low, square = 1.0 / (eta * eta), growth * growth
    return 0.5 * low * (square + 1.0 / square), low, 0.5 * low * (square - 1.0 / square)


@inlined
def own_inverse(eta, growth, c_head, c_tail):
    """(T^-2 + C)^-1 of a cone with a head of its own: in the basis (1, p), (1, -p), and across."""
    low, square = 1.0 / (eta * eta), growth * growth
    soft, stiff = low / square, low * square
    mean, half = 0.5 * (c_head + c_tail), 0.5 * (c_head - c_tail)
    below = low * low + mean * (soft + stiff) + c_head * c_tail
    return (stiff + mean) / below, (soft + mean) / below, -half / below, 1.0 / (low + c_tail)


@part
def fill_blocks(blocks, cones, it):
    """H of every block as numbers."""
    H, c, lift, eta = it.H, it.rows[C], it.rows[LIFT], it.rows[ETA]
    for b in range(blocks.row.size):
        row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
        first, last = blocks.cones[b], blocks.cones[b + 1]
        for e in range(at, at + d * d):
            H[e] = 0.0
        c_head = c[row] + lift[row]
        if first == last:  # an equation
            H[at] = 1.0 / c_head
            continue
        slot = cones.slot[first]
        if cones.mode[first] == OWN:
            if cones.count[first] > 0:
                _fill_own(slot, cones.tail[first], d, at, c_head, it)
                continue
            H[at] = 1.0 / (1.0 / (eta[slot] * eta[slot]) + c_head)
            first += 1
        for k in range(first, last):
            _fill_tail(k, row, d, at, cones, it)


@inlined
def _fill_own(slot, tail, d, at, c_head, it):
    """The one cone of a convex contact."""
    H, p = it.H, it.rows[P]
    c_tail = it.rows[C, tail] + it.rows[LIFT, tail]
    aa, bb, ab, across = own_inverse(it.rows[ETA, slot], it.rows[GROWTH, slot], c_head, c_tail)
    H[at] = 0.5 * (aa + bb) + ab
    for i in range(1, d):
        p_i = p[tail + i - 1]
        H[at + i] = H[at + i * d] = 0.5 * (aa - bb) * p_i
        for j in range(1, d):
            H[at + i * d + j] = (0.5 * (aa + bb) - ab - across) * p_i * p[tail + j - 1]
        H[at + i * d + i] += across


@inlined
def _fill_tail(k, row, d, at, cones, it):
    """A cone whose head is fixed or follows the normal, the first row of the block."""
    H, p = it.H, it.rows[P]
    slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
    o = tail - row
    along, across, coupling = tail_slopes(it.rows[ETA, slot], it.rows[GROWTH, slot])
    compliance = it.rows[C, tail] + it.rows[LIFT, tail]
    along, across = 1.0 / (along + compliance), 1.0 / (across + compliance)
    for i in range(o, o + count):
        p_i = p[row + i]
        for j in range(o, o + count):
            H[at + i * d + j] = (along - across) * p_i * p[row + j]
        H[at + i * d + i] += across
        if cones.mode[k] == FOLLOWING:
            H[at + i * d] = coupling * along * p_i * H[at]


@part
def fill_slopes(blocks, cones, it):
    """W of every block as numbers, in H: contact space."""
    unit, column = it.rows[HX], it.rows[ED]
    for b in range(blocks.row.size):
        row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
        for j in range(d):
            for i in range(row, row + d):
                unit[i] = 0.0
                column[i] = 0.0
            unit[row + j] = 1.0
            slope_of_block(b, blocks, cones, it, False, unit, 1.0, column)
            for i in range(d):
                it.H[at + i * d + j] = column[row + i]


@part
def slope_of_block(b, blocks, cones, it, with_compliance, x, sign, out):
    """out += sign (W + C) x for one block, with the lift in C, or with the lift alone for C."""
    row, d = blocks.row[b], blocks.width[b]
    c, lift, p = it.rows[C], it.rows[LIFT], it.rows[P]
    for i in range(row, row + d):
        out[i] += sign * ((c[i] if with_compliance else 0.0) + lift[i]) * x[i]
    for k in range(blocks.cones[b], blocks.cones[b + 1]):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        eta, growth = it.rows[ETA, slot], it.rows[GROWTH, slot]
        share = lorentz.dot(p, x, tail, count)
        head = 0.0
        if cones.mode[k] == OWN:
            head = x[cones.head[k]]
            out[row] += sign * head_slope(eta, growth, head, share)
        elif cones.mode[k] == FOLLOWING:
            head = x[cones.head[k]]
        low, square = 1.0 / (eta * eta), growth * growth
        along = 0.5 * low * (square * (share - head) + (share + head) / square)
        for i in range(tail, tail + count):
            out[i] += sign * (p[i] * along + low * (x[i] - share * p[i]))


@part
def slope_times(blocks, cones, it, with_compliance, x, sign, out):
    """The same for all blocks."""
    for b in range(blocks.row.size):
        slope_of_block(b, blocks, cones, it, with_compliance, x, sign, out)


@part
def inverse_times(blocks, cones, it, x, out):
    """out += H x = (W + C)^-1 x."""
    c, lift, p, eta, growth = it.rows[C], it.rows[LIFT], it.rows[P], it.rows[ETA], it.rows[GROWTH]
    for b in range(blocks.row.size):
        row = blocks.row[b]
        first, last = blocks.cones[b], blocks.cones[b + 1]
        c_head = c[row] + lift[row]
        if first == last:
            out[row] += x[row] / c_head
            continue
        slot, tail, count = cones.slot[first], cones.tail[first], cones.count[first]
        head = 0.0
        if cones.mode[first] == OWN:
            if count > 0:
                aa, bb, ab, across = own_inverse(eta[slot], growth[slot], c_head, c[tail] + lift[tail])
                share = lorentz.dot(p, x, tail, count)
                plus, minus = 0.5 * (x[row] + share), 0.5 * (x[row] - share)
                up, down = aa * plus + ab * minus, ab * plus + bb * minus
                out[row] += up + down
                for i in range(tail, tail + count):
                    out[i] += p[i] * (up - down) + across * (x[i] - share * p[i])
                continue
            head = x[row] / (1.0 / (eta[slot] * eta[slot]) + c_head)
            out[row] += head
            first += 1
        for k in range(first, last):
            slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
            along, across, coupling = tail_slopes(eta[slot], growth[slot])
            compliance = c[tail] + lift[tail]
            share = lorentz.dot(p, x, tail, count)
            led = coupling * head if cones.mode[k] == FOLLOWING else 0.0
            step = (share + led) / (along + compliance)
            for i in range(tail, tail + count):
                out[i] += p[i] * step + (x[i] - share * p[i]) / (across + compliance)


@part
def error_share(cones, it, e):
    """The largest |T e| / |lambda| of all cones: what an error e of W dx + dy = g is beside the pair itself."""
    lh, lt, hx = it.rows[LH], it.rows[LT], it.rows[HX]
    largest = 0.0
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        head = e[cones.head[k]] if cones.mode[k] == OWN else 0.0
        head = lorentz.scale_slack(slot, tail, count, it.rows[ETA], it.rows[GROWTH], it.rows[P], head, e, hx)
        total = head * head + lorentz.dot(hx, hx, tail, count)
        largest = max(largest, total / (lh[slot] * lh[slot] + lorentz.dot(lt, lt, tail, count)))
    return sqrt(largest)


@part
def weigh(cones, it, tau, a_d, a_p, b_d, b_p):
    """The inner product of residuals: (T a_d) . (T b_d) / |lambda|^2 by cones, and a_p b_p / (M_ii tau)."""
    R = it.rows
    lh, lt, one, other = R[LH], R[LT], R[HX], R[QX]
    total = 0.0
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        own = cones.mode[k] == OWN
        a = a_d[cones.head[k]] if own else 0.0
        b = b_d[cones.head[k]] if own else 0.0
        a = lorentz.scale_slack(slot, tail, count, R[ETA], R[GROWTH], R[P], a, a_d, one)
        b = lorentz.scale_slack(slot, tail, count, R[ETA], R[GROWTH], R[P], b, b_d, other)
        size = lh[slot] * lh[slot] + lorentz.dot(lt, lt, tail, count)
        total += (a * b + lorentz.dot(one, other, tail, count)) / size
    for i in range(a_p.size):
        total += a_p[i] * b_p[i] * it.bodies[ROOT, i] * it.bodies[ROOT, i] / tau
    return total


@part
def precondition(blocks, cones, system, fac, it, e_d, e_p, z, w, jw):
    """z, w = the answer of the factor to what is left of both equations, and jw = J w."""
    n, m = e_d.size, e_p.size
    for i in range(n):
        z[i] = 0.0
        jw[i] = 0.0
    inverse_times(blocks, cones, it, e_d, z)
    for i in range(m):
        w[i] = e_p[i]
    push(blocks, system, it.local, z, w)
    solve_factor(fac, w)
    pull(blocks, system, it.local, w, jw)
    for i in range(n):
        z[i] = 0.0
        e_d[i] -= jw[i]
    inverse_times(blocks, cones, it, e_d, z)
    for i in range(n):
        e_d[i] += jw[i]


@part
def subtract_image(blocks, cones, system, it, z, w, jw, e_d, e_p):
    """e -= the equations' left sides at (z, w)."""
    slope_times(blocks, cones, it, True, z, -1.0, e_d)
    for i in range(e_d.size):
        e_d[i] -= jw[i]
    multiply(system, -1.0, w, e_p)
    push(blocks, system, it.local, z, e_p)


@piece
def solve_newton(in_bodies, linear, rounds, accuracy, tau, blocks, cones, system, fac, it):
    """dx and dV for the right sides RHS (q) and `linear` r_p; returns the solves that were made.

    The factor alone leaves errors where contacts are redundant and tau is small. They are taken back by generalised
    conjugate residuals (Eisenstat, Elman & Schultz 1983) on both equations, which the factor preconditions: a few
    directions that it answers badly do not spoil the others, as they would in plain iterative refinement.
    """
    if not in_bodies:
        return solve_in_contacts(rounds, accuracy, blocks, cones, system, fac, it)
    R = it.rows
    dx, e_d, jv = R[DX], R[ED], R[JV]
    dV, e_p = it.bodies[DV], it.bodies[EP]
    n, m = dx.size, dV.size
    for i in range(n):
        e_d[i] = R[RHS, i]
    for i in range(m):
        e_p[i] = linear * it.bodies[RP, i] if linear != 0.0 else 0.0
    precondition(blocks, cones, system, fac, it, e_d, e_p, dx, dV, jv)
    if rounds == 0:
        return 1
    subtract_image(blocks, cones, system, it, dx, dV, jv, e_d, e_p)
    for k in range(rounds):
        if error_share(cones, it, e_d) <= accuracy:
            return k + 1
        line = it.krylov[k]
        z, jw, q_d = line[:n], line[n : 2 * n], line[2 * n : 3 * n]
        w, q_p = line[3 * n : 3 * n + m], line[3 * n + m :]
        precondition(blocks, cones, system, fac, it, e_d, e_p, z, w, jw)
        for i in range(n):
            q_d[i] = 0.0
        for i in range(m):
            q_p[i] = 0.0
        subtract_image(blocks, cones, system, it, z, w, jw, q_d, q_p)
        for j in range(k):
            old = it.krylov[j]
            share = weigh(cones, it, tau, q_d, q_p, old[2 * n : 3 * n], old[3 * n + m :])
            for i in range(line.size):
                line[i] -= share * old[i]
        size = weigh(cones, it, tau, q_d, q_p, q_d, q_p)
        if not 0.0 < size < inf:
            return k + 2
        size = 1.0 / sqrt(size)
        for i in range(line.size):
            line[i] *= size
        step = -weigh(cones, it, tau, e_d, e_p, q_d, q_p)  # q is minus the image
        for i in range(n):
            dx[i] += step * z[i]
            jv[i] += step * jw[i]
            e_d[i] += step * q_d[i]
        for i in range(m):
            dV[i] += step * w[i]
            e_p[i] += step * q_p[i]
    return rounds + 1


@spliced
def solve_in_contacts(rounds, accuracy, blocks, cones, system, fac, it):
    """The same in contact space, with plain refinement."""
    dx, e_d, jv, e_p = it.rows[DX], it.rows[ED], it.rows[JV], it.bodies[EP]
    n = dx.size
    for i in range(n):
        dx[i] = 0.0
        jv[i] = 0.0
    for k in range(rounds + 1):
        for i in range(n):
            e_d[i] = it.rows[RHS, i] - jv[i]
        if k > 0:
            slope_times(blocks, cones, it, False, dx, -1.0, e_d)
            if error_share(cones, it, e_d) <= accuracy:
                return k
        for i in range(n):
            e_p[i] = e_d[system.rows[i]]
        solve_factor(fac, e_p)
        for i in range(n):
            dx[system.rows[i]] += e_p[i]
        multiply_rows(system, dx, e_p, jv)
    return rounds + 1
