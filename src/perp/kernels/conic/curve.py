"""A curve of exact solutions along which the data of a problem change from ones that a point solves to its own.

For cones whose tails have one entry, as in boxed friction. The point (x, V) shows states by s = x - r y
(`perp.kernels.conic.polish`), and with them a pair x0 = P(s), y0 = (x0 - s) / r that obeys the law. So it solves, at
t = 1, the problem

    y = J V + C x + b + t beta,    M V = J^T x + t phi,

with beta and phi what is missing at (x0, y0, V). As t changes, the solutions are a curve of straight pieces, one for
each set of states. At most folds a state changes and t begins to rise: there is no solution nearby for a smaller t, so
that Newton's method must fail. The curve itself goes on, and is followed until t = 0 (Lemke 1965 for LCPs; path search:
Ralph 1994).

A pivot follows one piece: its tangent for dt = 1,

    dx = -H (beta + J dV),    (M + J^T H J) dV = J^T dx + phi,    H = (W + C)^-1,

up to the first state that changes. Beyond, the curve goes to where the changed state lies, which says whether t falls
or rises. Rigid rows have a tiny compliance, so that the impulses of redundant contacts are determined.
"""

from __future__ import annotations

from math import inf

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.conic.equations import assemble, factor, multiply, pull, push, solve_factor
from perp.kernels.conic.layout import (
    CENTRE,
    DV,
    DX,
    DY,
    EP,
    FOLLOWING,
    GIVEN_C,
    HX,
    JV,
    LIFT,
    OWN,
    PHI,
    RATIO,
    ROOT,
    RP,
    SHIFT,
    STATE,
    STEP,
    TV,
    TX,
    TY,
    VH,
    VT,
    WEIGHT,
    ZH,
    ZT,
    C,
    V,
    X,
    Y,
)
from perp.kernels.conic.path import FACTORISATIONS
from perp.kernels.conic.polish import OPEN, PRESSES, SLIDES, STICKS, measure, solve_states, tail_argument

FIRM = 1e-10
"""The least compliance of rows on the curve, as a share of A_ii."""

EXACT, FINEST = 1e-9, 1e-14
"""F, as a share of its unit, that a point of the curve may have, and below which it need not go."""

CORRECTIONS, BETTER = 6, 0.3
"""Newton steps back to the curve, as long as each leaves no more than this share of the error."""

REFINEMENTS, FINE = 10, 1e-13
"""Of a solve, until the motion holds up to this share of its terms: near folds a factor alone is poor."""

FAR = 3.0
"""The t at which a curve is given up: it leads to no solution nearby."""

# places in `marks`
SHARE, EVENT_BLOCK, EVENT_CONE, EVENT_SIDE, PIVOTS, FOLDS, DIRECTION = range(22, 29)

FAILED, FINISHED, UNFINISHED = 0, 1, 2


@part
def begin(linearise_at, blocks, cones, system, it, marks):
    """SHIFT (beta) and PHI for which the point is a solution at t = 1; x becomes what the law allows."""
    R = it.rows
    for i in range(R.shape[1]):
        R[GIVEN_C, i] = R[C, i]
        R[C, i] = max(R[C, i], FIRM * R[WEIGHT, i])
        R[LIFT, i] = 0.0
    measure(linearise_at, True, 0.0, blocks, cones, system, it)
    for i in range(R.shape[1]):
        R[SHIFT, i] = 0.0
    for b in range(blocks.row.size):
        first, last = blocks.cones[b], blocks.cones[b + 1]
        r, limit = R[RATIO, blocks.row[b]], 0.0
        for k in range(first, last):
            if cones.mode[k] == OWN:
                slot, head, sign = cones.slot[k], cones.head[k], cones.sign[k]
                s = R[ZH, slot] - r * R[VH, slot]
                limit = max(s, 0.0)
                R[X, head] = sign * (limit + cones.offset[k])
                R[SHIFT, head] = sign * max(-s, 0.0) / r
                continue
            i = cones.tail[k]
            radius = limit if cones.mode[k] == FOLLOWING else cones.offset[k]
            norm = tail_argument(i, 1, r, R[ZT], R[VT], R[HX])
            share = min(radius / norm, 1.0) if norm > 0.0 else 1.0
            R[X, i] = share * R[HX, i] + R[CENTRE, i]
            R[SHIFT, i] = (share - 1.0) * R[HX, i] / r
    measure(linearise_at, False, 0.0, blocks, cones, system, it)
    for i in range(R.shape[1]):
        R[SHIFT, i] -= R[Y, i]
    for i in range(it.bodies.shape[1]):
        it.bodies[PHI, i] = -it.bodies[RP, i]
    marks[SHARE], marks[DIRECTION] = 1.0, -1.0
    marks[EVENT_BLOCK], marks[EVENT_CONE], marks[PIVOTS], marks[FOLDS] = -1.0, -1.0, 0.0, 0.0


@inlined
def argument(i, it, x, y):
    return it.rows[x, i] - it.rows[RATIO, i] * it.rows[y, i]


@part
def gap(b, k, side, blocks, cones, it, x, y, is_point):
    """By how much s of a cone is inside its state, on one side of it; or the rate of that, along x and y.

    A linear function: s of a head, or limit - side s of a tail that sticks; minus that in the other state.
    """
    state = it.rows[STATE]
    if cones.mode[k] == OWN:
        value = cones.sign[k] * argument(cones.head[k], it, x, y) - (cones.offset[k] if is_point else 0.0)
        return value if state[cones.slot[k]] == PRESSES else -value
    i, limit = cones.tail[k], cones.offset[k] if is_point else 0.0
    if cones.mode[k] == FOLLOWING:
        first = blocks.cones[b]
        limit = cones.sign[first] * argument(cones.head[first], it, x, y) - (cones.offset[first] if is_point else 0.0)
    value = limit - side * (argument(i, it, x, y) - (it.rows[CENTRE, i] if is_point else 0.0))
    return value if state[i] == STICKS else -value


@part
def rate_of(b, k, side, blocks, cones, it):
    return gap(b, k, side, blocks, cones, it, TX, TY, False)


@part
def side_of(k, cones, it):
    """The sign of s of a tail."""
    if cones.mode[k] == OWN:
        return 1.0
    return 1.0 if argument(cones.tail[k], it, X, Y) >= it.rows[CENTRE, cones.tail[k]] else -1.0


@part
def switch(b, k, blocks, cones, it):
    """To the state on the other side."""
    state = it.rows[STATE]
    if cones.mode[k] != OWN:
        tail = cones.tail[k]
        state[tail] = SLIDES if state[tail] == STICKS else STICKS
        return
    slot = cones.slot[k]
    state[slot] = OPEN if state[slot] == PRESSES else PRESSES
    for j in range(k + 1, blocks.cones[b + 1]):
        state[cones.tail[j]] = SLIDES


@part
def refine(blocks, system, fac, it, dx, dV, jv, g):
    """Make M dV = J^T dx + g hold, with dx as dV asks."""
    R, e, step, moved = it.rows, it.bodies[DV], it.bodies[STEP], it.rows[JV]
    before = inf
    for _ in range(REFINEMENTS):
        for i in range(e.size):
            e[i] = 0.0
        multiply(system, -1.0, dV, e)
        size, error = 0.0, 0.0
        for i in range(e.size):
            size = max(size, abs(e[i]) * it.bodies[ROOT, i])
            e[i] += g[i]
        push(blocks, system, it.local, dx, e)
        for i in range(e.size):
            error = max(error, abs(e[i]) * it.bodies[ROOT, i])
            step[i] = e[i]
        if error <= FINE * size or not error < 0.5 * before:
            return
        before = error
        solve_factor(fac, step)
        for i in range(R.shape[1]):
            moved[i] = 0.0
        pull(blocks, system, it.local, step, moved)
        for b in range(blocks.row.size):
            row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
            for i in range(d):
                for j in range(d):
                    dx[row + i] -= it.H[at + i * d + j] * moved[row + j]
        for i in range(e.size):
            dV[i] += step[i]
        for i in range(R.shape[1]):
            jv[i] += moved[i]


@part
def newton_direction(blocks, system, fac, it):
    """DX, DY, EP: the Newton step with these states at this t; DX has dx0, RP what is left of the motion."""
    R = it.rows
    for i in range(it.bodies.shape[1]):
        it.bodies[EP, i] = it.bodies[RP, i]
    solve_states(blocks, system, fac, it, R[DX], it.bodies[EP], R[DY])
    refine(blocks, system, fac, it, R[DX], it.bodies[EP], R[DY], it.bodies[RP])
    for i in range(R.shape[1]):
        R[DY, i] += R[C, i] * R[DX, i]


@part
def tangent(blocks, system, fac, it):
    """TX, TY, TV: the change of the point with t."""
    R = it.rows
    for b in range(blocks.row.size):
        row, d, at = blocks.row[b], blocks.width[b], blocks.matrix[b]
        for i in range(d):
            total = 0.0
            for j in range(d):
                total += it.H[at + i * d + j] * R[SHIFT, row + j]
            R[TX, row + i] = -total
    for i in range(it.bodies.shape[1]):
        it.bodies[TV, i] = it.bodies[PHI, i]
    solve_states(blocks, system, fac, it, R[TX], it.bodies[TV], R[TY])
    refine(blocks, system, fac, it, R[TX], it.bodies[TV], R[TY], it.bodies[PHI])
    for i in range(R.shape[1]):
        R[TY, i] += R[C, i] * R[TX, i] + R[SHIFT, i]


@part
def move(it, step, x, v):
    for i in range(it.rows.shape[1]):
        it.rows[X, i] += step * it.rows[x, i]
    for i in range(it.bodies.shape[1]):
        it.bodies[V, i] += step * it.bodies[v, i]


@part
def find_event(ds, blocks, cones, it, marks, longest):
    """The step, at most the longest, to the first state that changes, and its block, cone and side; -1: none does."""
    at_block, at_cone, at_side, step = -1, -1, 0.0, longest
    for b in range(blocks.row.size):
        presses = True
        for k in range(blocks.cones[b], blocks.cones[b + 1]):
            if cones.mode[k] == OWN:
                presses = it.rows[STATE, cones.slot[k]] == PRESSES
            elif cones.mode[k] == FOLLOWING and not presses:
                continue
            own = side_of(k, cones, it)
            both = cones.mode[k] != OWN and it.rows[STATE, cones.tail[k]] == STICKS
            is_new = b == marks[EVENT_BLOCK] and k == marks[EVENT_CONE]
            for turn in range(2 if both else 1):
                side = own if turn == 0 else -own
                if is_new and side == marks[EVENT_SIDE]:
                    continue
                rate = ds * rate_of(b, k, side, blocks, cones, it)
                if rate < 0.0:
                    h = max(gap(b, k, side, blocks, cones, it, X, Y, True), 0.0) / -rate
                    if h < step:
                        step, at_block, at_cone, at_side = h, b, k, side
    return step, at_block, at_cone, at_side


@part
def size_of(b, blocks, it):
    total = 0.0
    for i in range(blocks.row[b], blocks.row[b] + blocks.width[b]):
        total += abs(it.rows[X, i]) + abs(it.rows[RATIO, i] * it.rows[Y, i])
    return total


@kernel
def follow(begins, linearise_at, address, unit, most, blocks, cones, system, fac, it, marks):
    """Up to `most` pivots along the curve, from x and V where it `begins`; returns FINISHED at t = 0.

    Then, or where it fails, C is that of the problem again.
    """
    R = it.rows
    if begins:
        begin(linearise_at, blocks, cones, system, it, marks)
    outcome = UNFINISHED
    for _ in range(most):
        t = marks[SHARE]
        measure(linearise_at, False, t, blocks, cones, system, it)
        assemble(blocks, system, it, fac.numbers)
        marks[FACTORISATIONS] += 1.0
        if factor(address, False, fac) == 0:
            outcome = FAILED
            break
        tangent(blocks, system, fac, it)
        ds, block, cone = marks[DIRECTION], int(marks[EVENT_BLOCK]), int(marks[EVENT_CONE])
        if cone >= 0:
            ds = 1.0 if rate_of(block, cone, marks[EVENT_SIDE], blocks, cones, it) > 0.0 else -1.0
        marks[FOLDS] += 1.0 if ds != marks[DIRECTION] else 0.0
        marks[DIRECTION] = ds
        step, block, cone, side = find_event(ds, blocks, cones, it, marks, t if ds < 0.0 else inf)
        if not step < inf:
            outcome = FAILED
            break
        t += ds * step
        move(it, ds * step, TX, TV)
        F, before, off, off_before = inf, inf, 0.0, inf
        for _ in range(CORRECTIONS):
            F = measure(linearise_at, False, t, blocks, cones, system, it)
            size = 1.0
            if cone >= 0:
                off = gap(block, cone, side, blocks, cones, it, X, Y, True)
                size = size_of(block, blocks, it)
            if F <= FINEST * unit and abs(off) <= FINEST * size:
                break
            if not (F <= BETTER * before or abs(off) <= BETTER * off_before):
                break
            before, off_before = F, abs(off)
            newton_direction(blocks, system, fac, it)
            change = 0.0
            if cone >= 0:
                rate = rate_of(block, cone, side, blocks, cones, it)
                change = -(off + gap(block, cone, side, blocks, cones, it, DX, DY, False)) / rate
            t += change
            move(it, 1.0, DX, EP)
            move(it, change, TX, TV)
        marks[PIVOTS] += 1.0
        marks[SHARE], marks[EVENT_BLOCK], marks[EVENT_CONE], marks[EVENT_SIDE] = t, block, cone, side
        if not (F <= EXACT * unit and abs(t) <= FAR):
            outcome = FAILED
            break
        if cone < 0:
            outcome = FINISHED
            break
        switch(block, cone, blocks, cones, it)
    if outcome != UNFINISHED:
        for i in range(R.shape[1]):
            R[C, i] = R[GIVEN_C, i]
    return outcome
