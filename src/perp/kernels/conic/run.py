"""What Python calls: the start, iterations with a polish where one is promising, and a polish from a given point."""

from __future__ import annotations

from functools import cache
from math import inf

from perp.kernels.by_address import address_of
from perp.kernels.compile import kernel, part, spliced
from perp.kernels.conic import lorentz, newton, path, pieces, polish
from perp.kernels.conic.layout import (
    DVH,
    DVT,
    DZH,
    DZT,
    ETA,
    GROWTH,
    HX,
    KEPT_V,
    KEPT_VH,
    KEPT_X,
    KEPT_Y,
    LH,
    LIFT,
    LT,
    RATIO,
    VH,
    WEIGHT,
    P,
    Pieces,
    V,
    X,
    Y,
)
from perp.kernels.conic.path import FACTORISATIONS, LONGEST, MARKS, POOR, SIGN, TAU, read_cones, stick_softly
from perp.kernels.conic.pieces import call_iterate, call_linearise, call_polish
from perp.kernels.conic.polish import POLISHED, Rules, begin_polish

START, FOLLOW, POLISH = 0, 1, 2
"""What to do."""

# places in `marks` after those of the path and of a polish
ERROR, TRIED, SHORT, ENDED, HELP, NUMBER, TURNS, LEAST, FLAT, SINCE = range(12, 22)
assert SINCE < MARKS

GOES_ON, DONE, STALLED, BROKEN = 0.0, 1.0, 2.0, 3.0

MOST_STEPS, MOST_LAST_STEPS, ROUNDS = 8, 20, 3
"""Newton steps of a polish on the path, and at its end; so many times that where they lead on."""

MOST_ITERATIONS = 300
"""Iterations of an attempt."""

SHORT_STEP = 0.05
"""Steps below this are short; `Options.most_short` of them in a row end an attempt."""

TWICE, EARLY, TINY_STEP = 2.0, 6, 1e-3
"""Two short steps in a row are a fold of the path; the first iterations may have them, unless they are tiny."""

RAISE, SPREAD, INVOLVED, BACK, GOOD_STEP = 1.5, 2.0, 0.003, 3.0, 0.3
"""At a fold the targets of blocks whose change (squared) is above `INVOLVED` times the largest are multiplied by
factors from `RAISE` / `SPREAD` to `RAISE` `SPREAD`, which differ from cone to cone and from fold to fold: the next path
is another one even where the same blocks are involved again. The iteration then goes on from the last point before that
had a good step and `BACK` times the tau."""

GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole parts, are spread evenly over the unit interval (Weyl 1916)."""

ROUNDING, FINE = 1e-13, 1e-11
"""F, as a share of its unit, that a polish need not go below, and at which it is not begun again."""

NEAR, BLOCKED_NEAR = 3e-5, 1e-3
"""A polish is tried where F is below this share of its unit (the second where the step was blocked)..."""

AGAIN, BLOCKED_AGAIN = 0.1, 0.5
"""...and below this share of what it was at the last try."""

CLOSE = 1e-5
STRICT, LOCAL, LAST = Rules(1.0, False, 0.1), Rules(4.0, False, 0.1), Rules(4.0, True, 1.0)
"""How a polish of a point on the path goes: the second where F is below the share `CLOSE` of its unit, the third at the
end of the path."""

GLOBAL = Rules(4.0, True, 1e-3)
"""How Newton steps from any point go."""

HARDER, EASIER, MOST_HELP = 10.0, 3.0, 1e4
"""Where a step could not be refined, the next matrix has so many times the lift, at most; else it falls again."""

SCALES = (1.0, 32.0, 1.0 / 32.0, 1024.0, 1.0 / 1024.0, 32768.0)
"""At the end of a path that rounding errors stop, states are told by other ratios of impulse to speed, too."""

MOST_FLAT = 12.0
"""So many iterations without half the error, the last of them poorly solved, are the end of a path."""

SUCCESS = 1e-3
"""F has fallen by this factor: the states were right."""

BLOCKED = 0.3


@spliced
def keep(cones, it, back):
    """Put the point aside, or take it back."""
    R = it.rows
    for i in range(R.shape[1]):
        if back:
            R[X, i], R[Y, i], R[VH, i] = R[KEPT_X, i], R[KEPT_Y, i], R[KEPT_VH, i]
        else:
            R[KEPT_X, i], R[KEPT_Y, i], R[KEPT_VH, i] = R[X, i], R[Y, i], R[VH, i]
    for i in range(it.bodies.shape[1]):
        if back:
            it.bodies[V, i] = it.bodies[KEPT_V, i]
        else:
            it.bodies[KEPT_V, i] = it.bodies[V, i]
    if back:
        read_cones(cones, it)


@spliced
def save(it, number):
    """Keep the point as number `number`; the oldest gives way."""
    R, line = it.rows, it.saved[number % it.saved.shape[0]]
    n = R.shape[1]
    line[0], line[1] = -1.0, 0.0
    for i in range(n):
        line[2 + i], line[2 + n + i], line[2 + 2 * n + i] = R[X, i], R[Y, i], R[VH, i]
    for i in range(it.bodies.shape[1]):
        line[2 + 3 * n + i] = it.bodies[V, i]


@spliced
def go_back(it, number, tau):
    """To the last point whose step was good and whose tau was larger by `BACK`; returns its number, or -1."""
    R = it.rows
    n = R.shape[1]
    for k in range(number, max(number - it.saved.shape[0], -1), -1):
        line = it.saved[k % it.saved.shape[0]]
        if line[0] >= BACK * tau and line[1] > GOOD_STEP:
            for i in range(n):
                R[X, i], R[Y, i], R[VH, i] = line[2 + i], line[2 + n + i], line[2 + 2 * n + i]
            for i in range(it.bodies.shape[1]):
                it.bodies[V, i] = line[2 + 3 * n + i]
            return k
    return -1


@spliced
def raise_targets(blocks, cones, it, turn):
    """Change the targets of the blocks that the last direction would change most: they are what blocks the path."""
    largest = 0.0
    for k in range(cones.slot.size):
        largest = max(largest, _change(k, cones, it))
    for b in range(blocks.row.size):
        involved = False
        for k in range(blocks.cones[b], blocks.cones[b + 1]):
            involved = involved or _change(k, cones, it) > INVOLVED * largest
        if involved:
            for k in range(blocks.cones[b], blocks.cones[b + 1]):
                share = (GOLDEN * (7919.0 * k + 104729.0 * turn)) % 1.0
                it.target[k] *= RAISE * SPREAD ** (2.0 * share - 1.0)


@part
def _change(k, cones, it):
    """How much a pair changes along the direction, relative to itself (the square of it)."""
    R = it.rows
    slot, tail, count = cones.slot[k], cones.tail[k], cones.count[k]
    hx = R[HX]
    a = lorentz.scale_primal(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DZH, slot], R[DZT], hx)
    total = a * a + lorentz.dot(hx, hx, tail, count)
    a = lorentz.scale_slack(slot, tail, count, R[ETA], R[GROWTH], R[P], R[DVH, slot], R[DVT], hx)
    total += a * a + lorentz.dot(hx, hx, tail, count)
    return total / (R[LH, slot] * R[LH, slot] + lorentz.dot(R[LT], R[LT], tail, count))


@kernel
def run(what, address, in_bodies, symmetric, options, cones, blocks, system, fac, it, marks, unit, count):
    """`what` to do; returns how many iterations were made. marks[ENDED] says how it stands."""
    polishes = options.polishes and in_bodies
    if what == START:
        weight = it.rows[WEIGHT]
        found = stick_softly(address, in_bodies, symmetric, options, blocks, cones, system, fac, it, weight)
        marks[ENDED] = GOES_ON if found else BROKEN
        return 0
    if what == POLISH:
        before = marks[FACTORISATIONS]
        more = _polish(address, symmetric, options, count, GLOBAL, unit, blocks, cones, system, fac, it, marks)
        marks[ENDED] = GOES_ON if more else STALLED
        return int(marks[FACTORISATIONS] - before)
    for k in range(count):
        for i in range(it.rows.shape[1]):
            it.rows[LIFT, i] = options.lift * marks[HELP] * it.rows[WEIGHT, i]
        read_cones(cones, it)
        number = int(marks[NUMBER])
        save(it, number)
        given = (address, in_bodies, symmetric, options, blocks, cones, system, fac, it, marks)
        if not call_iterate(options.pieces.iterate, given):
            marks[ENDED] = BROKEN
            return k + 1
        marks[HELP] = min(HARDER * marks[HELP], MOST_HELP) if marks[POOR] > 0.0 else max(marks[HELP] / EASIER, 1.0)
        it.saved[number % it.saved.shape[0], 0] = marks[TAU]
        it.saved[number % it.saved.shape[0], 1] = marks[LONGEST] if marks[SIGN] > 0.0 else 0.0
        marks[NUMBER] += 1.0
        marks[SINCE] += 1.0
        is_short = marks[LONGEST] < SHORT_STEP and (number >= EARLY or marks[LONGEST] < TINY_STEP)
        marks[SHORT] = marks[SHORT] + 1.0 if is_short else 0.0
        if marks[SHORT] >= TWICE and number >= EARLY and not symmetric:
            raise_targets(blocks, cones, it, marks[TURNS])
            back = go_back(it, number, marks[TAU])
            if back >= 0 and marks[SINCE] < MOST_ITERATIONS:
                marks[NUMBER], marks[SHORT] = back, 0.0
                marks[TURNS] += 1.0
                continue
        if marks[SHORT] >= options.most_short or marks[SINCE] >= MOST_ITERATIONS:
            marks[ENDED] = STALLED
        if not polishes:
            if marks[ENDED] == STALLED:
                return k + 1
            continue
        promising = _is_promising(options, cones, blocks, it, marks, unit)
        marks[FLAT] += 1.0
        if marks[ERROR] <= 0.5 * marks[LEAST]:
            marks[LEAST], marks[FLAT] = marks[ERROR], 0.0
        if marks[FLAT] >= MOST_FLAT and marks[POOR] > 0.0:
            marks[ENDED] = STALLED
        last = marks[ENDED] == STALLED and marks[ERROR] <= NEAR * unit
        if promising or last:
            keep(cones, it, False)
            before = marks[ERROR]
            marks[TRIED] = before
            rules, most = (LOCAL if before <= CLOSE * unit else STRICT), MOST_STEPS
            if last:
                rules, most = LAST, MOST_LAST_STEPS
            marks[POLISHED] = inf
            for scale in SCALES:
                _scale_ratios(it, scale)
                begin_polish(marks)
                for _ in range(ROUNDS):
                    more = _polish(
                        address, symmetric, options, most, rules, unit, blocks, cones, system, fac, it, marks
                    )
                    if not more or marks[POLISHED] > SUCCESS * before or marks[POLISHED] <= FINE * unit:
                        break
                _scale_ratios(it, 1.0 / scale)
                if marks[POLISHED] <= SUCCESS * before:
                    marks[ENDED] = DONE
                    return k + 1
                keep(cones, it, True)
                if not last:
                    break
        if marks[ENDED] == STALLED:
            return k + 1
    return count


@cache
def find_pieces() -> Pieces:
    """Where the pieces are in this process; those that are in no cache are compiled."""
    return Pieces(
        factor_path=address_of(path.factor_path, *pieces.FACTOR_PATH),
        solve_newton=address_of(newton.solve_newton, *pieces.SOLVE_NEWTON),
        iterate=address_of(path.iterate, *pieces.ITERATION),
        linearise=address_of(polish.linearise, *pieces.LINEARISE),
        polish=address_of(polish.polish, *pieces.POLISH),
    )


@part
def _scale_ratios(it, scale):
    for i in range(it.rows.shape[1]):
        it.rows[RATIO, i] *= scale


@spliced
def _polish(address, symmetric, options, most, rules, unit, blocks, cones, system, fac, it, marks):
    at, enough = options.pieces, ROUNDING * unit
    how = (at.linearise, address, symmetric, most, rules.patience, rules.goes_back, rules.softer, unit, enough)
    return call_polish(at.polish, (*how, blocks, cones, system, fac, it, marks))


@spliced
def _is_promising(options, cones, blocks, it, marks, unit):
    read_cones(cones, it)
    marks[ERROR] = call_linearise(options.pieces.linearise, (blocks, cones, it))
    blocked = marks[LONGEST] < BLOCKED
    near, again = (BLOCKED_NEAR, BLOCKED_AGAIN) if blocked else (NEAR, AGAIN)
    return marks[ERROR] <= near * unit and marks[ERROR] <= again * marks[TRIED]
