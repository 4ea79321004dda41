"""What Python calls: the start, iterations with a polish where one is promising, and a polish from a given point."""

from __future__ import annotations

from perp.kernels.compile import kernel, part
from perp.kernels.conic.layout import KEPT_V, KEPT_VH, KEPT_X, KEPT_Y, LIFT, VH, WEIGHT, V, X, Y
from perp.kernels.conic.path import LONGEST, MARKS, POOR, iterate, read_cones, stick_softly
from perp.kernels.conic.polish import linearise, polish

START, FOLLOW, POLISH = 0, 1, 2
"""What to do."""

# places in `marks` after those of the path
ERROR, TRIED, POLISHED, SHORT, ENDED, HELP = 8, 9, 10, 11, 12, 13
assert HELP < MARKS

GOES_ON, DONE, STALLED, BROKEN = 0.0, 1.0, 2.0, 3.0

MOST_STEPS = 8
"""Newton steps of a polish."""

SHORT_STEP = 0.1
"""Steps below this are short; options[7] of them in a row end an attempt."""

ROUNDING = 1e-13
"""F, as a share of its unit, that a polish need not go below."""

NEAR, BLOCKED_NEAR = 3e-5, 1e-3
"""A polish is tried where F is below this share of its unit (the second where the step was blocked)..."""

AGAIN, BLOCKED_AGAIN = 0.1, 0.5
"""...and below this share of what it was at the last try."""

CLOSE, PATIENCE = 1e-5, 4
"""Where F is below that share of its unit, it may grow for so many Newton steps."""

HARDER, EASIER, MOST_HELP = 10.0, 3.0, 1e4
"""Where a step could not be refined, the next matrix has so many times the lift, at most; else it falls again."""

SUCCESS = 1e-3
"""F has fallen by this factor: the states were right."""

BLOCKED = 0.3


@part
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


@kernel
def run(what, address, in_bodies, symmetric, options, cones, blocks, system, fac, it, marks, unit, count):
    """`what` to do; returns how many iterations were made. marks[ENDED] says how it stands."""
    lift, polishes = options[4], options[5] > 0.0 and in_bodies
    if what == START:
        found = stick_softly(
            address, in_bodies, symmetric, options[6], blocks, cones, system, fac, it, it.rows[WEIGHT]
        )
        marks[ENDED] = GOES_ON if found else BROKEN
        return 0
    if what == POLISH:
        marks[POLISHED] = polish(
            address, symmetric, count, PATIENCE, ROUNDING * unit, blocks, cones, system, fac, it, marks
        )
        return 0
    for k in range(count):
        for i in range(it.rows.shape[1]):
            it.rows[LIFT, i] = lift * marks[HELP] * it.rows[WEIGHT, i]
        read_cones(cones, it)
        if not iterate(address, in_bodies, symmetric, options, blocks, cones, system, fac, it, marks):
            marks[ENDED] = BROKEN
            return k + 1
        marks[HELP] = min(HARDER * marks[HELP], MOST_HELP) if marks[POOR] > 0.0 else max(marks[HELP] / EASIER, 1.0)
        marks[SHORT] = marks[SHORT] + 1.0 if marks[LONGEST] < SHORT_STEP else 0.0
        if marks[SHORT] >= options[7]:
            marks[ENDED] = STALLED
        if polishes and _is_promising(cones, blocks, it, marks, unit):
            keep(cones, it, False)
            before = marks[ERROR]
            patience = PATIENCE if before <= CLOSE * unit else 1
            after = polish(
                address, symmetric, MOST_STEPS, patience, ROUNDING * unit, blocks, cones, system, fac, it, marks
            )
            marks[TRIED], marks[POLISHED] = before, after
            if after <= SUCCESS * before:
                marks[ENDED] = DONE
                return k + 1
            keep(cones, it, True)
        if marks[ENDED] == STALLED:
            return k + 1
    return count


@part
def _is_promising(cones, blocks, it, marks, unit):
    read_cones(cones, it)
    marks[ERROR] = linearise(blocks, cones, it)
    blocked = marks[LONGEST] < BLOCKED
    near, again = (BLOCKED_NEAR, BLOCKED_AGAIN) if blocked else (NEAR, AGAIN)
    return marks[ERROR] <= near * unit and marks[ERROR] <= again * marks[TRIED]
