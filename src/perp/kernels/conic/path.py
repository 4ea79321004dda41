"""One iteration along the central path: Mehrotra's predictor and corrector, Gondzio's correctors, the step.

The path has z o v = tau target e for every cone (Jordan product, `lorentz`). A step aims at sigma tau with the
predictor's terms of second order (Mehrotra 1992); then products that lag behind or run ahead are led back (Gondzio
1996), with the same factor. Linear equations need not hold on the way; what is left of them falls by 1 - step.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt

from perp.kernels.compile import inlined, part, piece, spliced
from perp.kernels.conic import lorentz
from perp.kernels.conic.equations import assemble, assemble_in_contacts, factor, residuals
from perp.kernels.conic.layout import (
    CENTRE,
    DV,
    DVH,
    DVT,
    DX,
    DY,
    DZH,
    DZT,
    ED,
    ETA,
    FIXED,
    FOLLOWING,
    GH,
    GROWTH,
    GT,
    HX,
    JV,
    LH,
    LIFT,
    LT,
    OWN,
    QH,
    QT,
    RD,
    RHS,
    VH,
    VT,
    ZH,
    ZT,
    B,
    C,
    P,
    V,
    X,
    Y,
)
from perp.kernels.conic.newton import fill_blocks, fill_slopes, head_slope
from perp.kernels.conic.pieces import call_factor_path, call_solve_newton

LEAST_SIGMA = 1e-4

ENOUGH = 0.9
"""A longest step from which on no further corrector is tried."""

AT_THE_END = 0.99
"""The share of the longest step that is taken once that is `ENOUGH`."""

REACH, FURTHER = 1.08, 0.08
"""A further corrector aims at a step this much longer (factor and summand), and is worth it if it brings `WORTH`."""

WORTH = 1.01

LOW, HIGH = 0.1, 10.0
"""Products within these shares of their target are left alone by further correctors."""

# places in `marks`, the numbers that an iteration leaves
TAU, SIGMA, LONGEST, SIGN, FACTORISATIONS, SOLVES, LINEAR, POOR = range(8)
MARKS = 24


@part
def read_cones(cones, it):
    """z and v of every cone from x and y; heads of v that are multipliers stay."""
    x, y, zh, zt, vh, vt = it.rows[X], it.rows[Y], it.rows[ZH], it.rows[ZT], it.rows[VH], it.rows[VT]
    for k in range(cones.slot.size):
        slot, tail, count, mode = cones.slot[k], cones.tail[k], cones.count[k], cones.mode[k]
        if mode == OWN:
            zh[slot] = cones.sign[k] * x[cones.head[k]] - cones.offset[k]
            vh[slot] = cones.sign[k] * y[cones.head[k]]
        elif mode == FIXED:
            zh[slot] = cones.offset[k]
        else:
            zh[slot] = x[cones.head[k]]
        for i in range(tail, tail + count):
            zt[i] = x[i] - it.rows[CENTRE, i]
            vt[i] = y[i]


@part
def scale_cones(cones, it):
    """T and lambda of every cone; returns tau, the mean of the products over their targets."""
    R = it.rows
    total = 0.0
    for k in range(cones.slot.size):
        product = lorentz.scale(
            cones.slot[k], cones.tail[k], cones.count[k],
            R[ZH], R[ZT], R[VH], R[VT], R[ETA], R[GROWTH], R[P], R[LH], R[LT],
        )  # fmt: skip
        total += product / it.target[k]
    return total / max(cones.slot.size, 1)


@part
def right_side(cones, it, aim, second):
    """g = aim target z^-1 - v - T^-1 (lambda \\ q) of every cone, and q = g - r_d of the rows.

    The q of the cones (QH, QT) counts where `second` is set.
    """
    R = it.rows
    zh, zt, vh, vt, gh, gt, rhs = R[ZH], R[ZT], R[VH], R[VT], R[GH], R[GT], R[RHS]
    hx, ed = R[HX], R[ED]
    for i in range(rhs.size):
        rhs[i] = -R[RD, i]
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        share = aim * it.target[k] / lorentz.determinant(zh[slot], lorentz.length(zt, tail, count))
        gh[slot] = share * zh[slot] - vh[slot]
        for i in range(tail, tail + count):
            gt[i] = -share * zt[i] - vt[i]
        if second:
            for i in range(tail, tail + count):
                hx[i] = R[QT, i]
            head = lorentz.divide(slot, tail, count, R[LH], R[LT], R[QH, slot], hx)
            gh[slot] -= lorentz.scale_primal(slot, tail, count, R[ETA], R[GROWTH], R[P], head, hx, ed)
            for i in range(tail, tail + count):
                gt[i] -= ed[i]
        if cones.mode[k] == OWN:
            rhs[cones.head[k]] += cones.sign[k] * gh[slot]
        for i in range(tail, tail + count):
            rhs[i] += gt[i]


@part
def recover(in_bodies, cones, it):
    """dy, and dz and dv of every cone, from dx and J dV; returns the longest step, at most 1."""
    R = it.rows
    dx, dy, dzh, dzt, dvh, dvt = R[DX], R[DY], R[DZH], R[DZT], R[DVH], R[DVT]
    for i in range(dx.size):
        compliance = R[LIFT, i] + (R[C, i] if in_bodies else 0.0)
        dy[i] = R[RD, i] + R[JV, i] + compliance * dx[i]
    longest = 1.0
    for k in range(cones.slot.size):
        slot, tail, count, mode = cones.slot[k], cones.tail[k], cones.count[k], cones.mode[k]
        for i in range(tail, tail + count):
            dzt[i] = dx[i]
            dvt[i] = dy[i]
        if mode == OWN:
            dzh[slot] = cones.sign[k] * dx[cones.head[k]]
            dvh[slot] = cones.sign[k] * dy[cones.head[k]]
        else:
            dzh[slot] = dx[cones.head[k]] if mode == FOLLOWING else 0.0
            along = lorentz.dot(R[P], dzt, tail, count)
            dvh[slot] = R[GH, slot] - head_slope(R[ETA, slot], R[GROWTH, slot], dzh[slot], along)
        longest = min(longest, lorentz.longest_step(slot, tail, count, R[ZH], R[ZT], dzh, dzt))
        longest = min(longest, lorentz.longest_step(slot, tail, count, R[VH], R[VT], dvh, dvt))
    return longest


@part
def second_order(cones, it, weight):
    """q = weight (T^-1 dz) o (T dv) of every cone."""
    R = it.rows
    hx, ed = R[HX], R[ED]
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        a = lorentz.scale_primal(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DZH, slot], R[DZT], hx)
        b = lorentz.scale_slack(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DVH, slot], R[DVT], ed)
        R[QH, slot] = weight * (a * b + lorentz.dot(hx, ed, tail, count))
        for i in range(tail, tail + count):
            R[QT, i] = weight * (a * ed[i] + b * hx[i])


@part
def tau_after(cones, it, step):
    """tau after a step."""
    R = it.rows
    total = 0.0
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        product = (R[ZH, slot] + step * R[DZH, slot]) * (R[VH, slot] + step * R[DVH, slot])
        for i in range(tail, tail + count):
            product += (R[ZT, i] + step * R[DZT, i]) * (R[VT, i] + step * R[DVT, i])
        total += product / it.target[k]
    return total / max(cones.slot.size, 1)


@part
def centre(cones, it, step, aim):
    """q += what leads the products after that step back into [LOW, HIGH] times their target (Gondzio 1996).

    The product is moved by its two eigenvalues, as a cone's elements have them: head +- |tail|.
    """
    R = it.rows
    hx, ed = R[HX], R[ED]
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        a = lorentz.scale_primal(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DZH, slot], R[DZT], hx)
        b = lorentz.scale_slack(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DVH, slot], R[DVT], ed)
        z_head, v_head = R[LH, slot] + step * a, R[LH, slot] + step * b
        head, norm = z_head * v_head, 0.0
        for i in range(tail, tail + count):
            z_i, v_i = R[LT, i] + step * hx[i], R[LT, i] + step * ed[i]
            head += z_i * v_i
            hx[i] = z_head * v_i + v_head * z_i
            norm += hx[i] * hx[i]
        norm = sqrt(norm)
        low, high = _move(head - norm, aim * it.target[k]), _move(head + norm, aim * it.target[k])
        R[QH, slot] -= 0.5 * (low + high)
        factor = 0.5 * (high - low) / norm if norm > 0.0 else 0.0
        for i in range(tail, tail + count):
            R[QT, i] -= factor * hx[i]


@inlined
def _move(value, aim):
    if value < LOW * aim:
        return LOW * aim - value
    if value > HIGH * aim:
        return max(HIGH * aim - value, -HIGH * aim)
    return 0.0


@part
def stays_inside(cones, it, step):
    """Whether all pairs stay inside their cones by more than rounding errors."""
    R = it.rows
    for k in range(cones.slot.size):
        slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
        z, v = 0.0, 0.0
        for i in range(tail, tail + count):
            z += (R[ZT, i] + step * R[DZT, i]) ** 2
            v += (R[VT, i] + step * R[DVT, i]) ** 2
        if not (R[ZH, slot] + step * R[DZH, slot] > sqrt(z) and R[VH, slot] + step * R[DVH, slot] > sqrt(v)):
            return False
    return True


@part
def advance(cones, it, step):
    R = it.rows
    for i in range(R.shape[1]):
        R[X, i] += step * R[DX, i]
        R[Y, i] += step * R[DY, i]
    for i in range(it.bodies.shape[1]):
        it.bodies[V, i] += step * it.bodies[DV, i]
    for k in range(cones.slot.size):
        if cones.mode[k] != OWN:
            R[VH, cones.slot[k]] += step * R[DVH, cones.slot[k]]


@piece
def factor_path(address, in_bodies, symmetric, blocks, cones, system, fac, it):
    """K at this point; returns the sign of its determinant, or 0."""
    if in_bodies:
        fill_blocks(blocks, cones, it)
        assemble(blocks, system, it, fac.numbers)
    else:
        fill_slopes(blocks, cones, it)
        assemble_in_contacts(blocks, system, it, fac.numbers)
    return factor(address, symmetric, fac)


@piece
def iterate(address, in_bodies, symmetric, options, blocks, cones, system, fac, it, marks):
    """One iteration; returns whether there was a step to make."""
    rounds, correctors = options.refinements, options.correctors
    residuals(in_bodies, blocks, system, it)
    tau = scale_cones(cones, it)
    sign = 0
    if isfinite(tau):
        factor_at = options.pieces.factor_path
        sign = call_factor_path(factor_at, (address, in_bodies, symmetric, blocks, cones, system, fac, it))
    marks[TAU], marks[SIGN], marks[LONGEST] = tau, sign, 0.0
    marks[FACTORISATIONS] += 1.0
    if sign == 0:
        return False
    sigma, aim, longest, poor, solves = 1.0, 0.0, 0.0, 0.0, 0
    for stage in range(2 + correctors):  # predictor, corrector, further correctors
        right_side(cones, it, aim, stage > 0)
        made = call_solve_newton(
            options.pieces.solve_newton,
            (in_bodies, 1.0, rounds, options.accuracy, tau, blocks, cones, system, fac, it),
        )
        longer = recover(in_bodies, cones, it)
        solves += made
        if stage == 0:
            longest = longer
            if cones.slot.size == 0:
                break
            sigma = min(1.0, max(max(tau_after(cones, it, longest) / tau, 0.0) ** 3, LEAST_SIGMA))
            aim = sigma * tau
            second_order(cones, it, 1.0 if symmetric else longest)
            continue
        if stage == 1:
            poor = 1.0 if made > rounds > 0 else 0.0
        elif longer < WORTH * longest:
            longest = longer
            break
        longest = longer
        if longest >= ENOUGH or stage == 1 + correctors:
            break
        centre(cones, it, min(1.0, REACH * longest + FURTHER), aim)
    share = options.boundary if longest < ENOUGH else max(options.boundary, AT_THE_END)
    step = min(1.0, share * longest) if cones.slot.size > 0 else 1.0
    for _ in range(60):
        if stays_inside(cones, it, step):
            break
        step *= 0.9
    if not isfinite(tau_after(cones, it, step)):
        return False
    advance(cones, it, step)
    largest = 0.0
    for i in range(it.rows.shape[1]):
        largest = max(largest, abs(it.rows[RD, i]))
    marks[SIGMA], marks[LONGEST], marks[LINEAR], marks[POOR] = sigma, longest, largest, poor
    marks[SOLVES] += solves
    return step > 0.0 and isfinite(step)


@spliced
def stick_softly(address, in_bodies, symmetric, options, blocks, cones, system, fac, it, weight):
    """DX, DV = the impulses and velocities of contacts that all stick, with a compliance of softness A_ii.

    Infinite eta leave nothing of the cones but that compliance. Returns whether they exist.
    """
    R = it.rows
    for i in range(R.shape[1]):
        R[LIFT, i] = options.softness * weight[i]
        R[ETA, i], R[GROWTH, i], R[P, i], R[LH, i] = inf, 1.0, 0.0, 1.0
        R[RHS, i] = -R[B, i]
    pieces = options.pieces
    factorised = (address, in_bodies, symmetric, blocks, cones, system, fac, it)
    if call_factor_path(pieces.factor_path, factorised) == 0:
        return False
    call_solve_newton(pieces.solve_newton, (in_bodies, 0.0, 0, 0.0, 1.0, blocks, cones, system, fac, it))
    return True
