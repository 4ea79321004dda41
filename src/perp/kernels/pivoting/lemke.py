"""Lemke's pivots, many in one call: how far the entering variable goes, who leaves, the exchange (`lemke_basis`)."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel, part
from perp.kernels.pivoting.lemke_basis import (
    ABSENT,
    AGE,
    BEGUN,
    BROKEN,
    CHANGE,
    COLUMNS,
    DOUBTFUL,
    DRIFT,
    ENTERING,
    GOING_ON,
    HOPELESS,
    LEAST_AGE,
    LEXICOGRAPHIC,
    LOWER,
    ONE,
    ORDER,
    PIVOTS,
    PLACE_X,
    PLACE_Y,
    RAY,
    REACH,
    ROOM,
    ROWS,
    SCALE,
    SIGN,
    SIZE,
    SLACK,
    SMALL,
    SOLVED,
    SPEED,
    STEP_X,
    STEP_Y,
    TIE,
    TIES,
    TRIAL_X,
    TRIAL_Y,
    UPPER,
    VALUE,
    VERDICT,
    WEIGHTS,
    ZERO,
    add_columns,
    dimensions,
    evaluate,
    extent,
    invert,
    resting,
    shift_offset,
    terms,
)
from perp.kernels.storages.dense import dot

# ----------------------------------------------------------------------------------------------------------- directions


@part
def follow(basis, variable, sign, step_x, step_y):
    """How the basic variables answer when `variable` moves by `sign`; returns how far their equations are violated.

        x_e:  G dx = -sign A_Re,  dy = [A d]_:C dx + sign A_:e          y_e:  G dx = sign e_place,  dy = [A d]_:C dx

    dy of a row with y nonbasic must come out as zero (as `sign` for y_e itself); what it is instead tells how good the
    inverse is, and comes for free. Returned as a share of the terms that add up to it.
    """
    n, m, stride = dimensions(basis)
    columns, rows, w = basis.lists[COLUMNS], basis.lists[ROWS], basis.vectors[WEIGHTS]
    if variable <= n:
        start = n * variable
        for k in range(m):
            w[k] = basis.matrix[start + np.uint64(rows[k])]
            step_x[k] = 0.0
        add_columns(-sign, basis.inverse, stride, basis.lists[ORDER], w, ZERO, m, ZERO, m, step_x)
        for i in range(n):
            step_y[i] = sign * basis.matrix[start + i]
    else:
        own = variable - n - ONE
        start = stride * np.uint64(basis.lists[PLACE_Y, own])
        for k in range(m):
            step_x[k] = sign * basis.inverse[start + k]
        for i in range(n):
            step_y[i] = 0.0
        step_y[own] = -sign
    add_columns(1.0, basis.matrix, n, columns, step_x, ZERO, m, ZERO, n, step_y)
    largest, artificial = extent(basis, variable, step_x)
    worst = 0.0
    for k in range(m):
        i = np.uint64(rows[k])
        size = terms(basis, i, largest, artificial)
        if not abs(step_y[i]) <= worst * size:
            worst = abs(step_y[i]) / size
    return worst


@part
def correct(basis, variable, sign, step_x, step_y):
    """One step of iterative refinement of the direction that `follow` found."""
    n, m, stride = dimensions(basis)
    w = basis.vectors[WEIGHTS]
    for k in range(m):
        w[k] = step_y[basis.lists[ROWS, k]]
    add_columns(-1.0, basis.inverse, stride, basis.lists[ORDER], w, ZERO, m, ZERO, m, step_x)
    for i in range(n):
        step_y[i] = sign * basis.matrix[n * variable + i] if variable <= n else 0.0
    add_columns(1.0, basis.matrix, n, basis.lists[COLUMNS], step_x, ZERO, m, ZERO, n, step_y)


# ---------------------------------------------------------------------------------------------------------- ratio test


@inlined
def measure(basis, variable):
    """Fill SPEED and ROOM of every variable that the direction moves towards a bound."""
    n, m, _ = dimensions(basis)
    step_x, step_y, value, slack = (
        basis.vectors[STEP_X], basis.vectors[STEP_Y], basis.vectors[VALUE], basis.vectors[SLACK],
    )  # fmt: skip
    speed, room, lower, upper = basis.vectors[SPEED], basis.vectors[ROOM], basis.data[LOWER], basis.data[UPPER]
    largest, artificial = extent(basis, variable, step_x)
    for j in range(n + ONE):
        speed[j] = 0.0
    for k in range(m):
        j = np.uint64(basis.lists[COLUMNS, k])
        if step_x[k] < -SMALL * largest and lower[j] > -np.inf:
            speed[j], room[j] = -step_x[k], value[k] - lower[j]
        elif step_x[k] > SMALL * largest and upper[j] < np.inf:
            speed[j], room[j] = step_x[k], upper[j] - value[k]
    for i in range(n):
        side = -1.0 if basis.at_upper[i] else 1.0
        towards = -side * step_y[i]
        speed[n + ONE + i] = towards if towards > SMALL * terms(basis, i, largest, artificial) else 0.0
        room[n + ONE + i] = side * slack[i]
    for k in range(m):
        speed[n + ONE + np.uint64(basis.lists[ROWS, k])] = 0.0
    if variable <= n and upper[variable] < np.inf:  # the entering x may come to its own other bound first
        speed[variable], room[variable] = 1.0, upper[variable] - lower[variable]
        basis.vectors[SCALE, variable] = room[variable]


@part
def find_blocking(basis, variable):
    """The variable that reaches its bound first, ABSENT if none does; ties are decided lexicographically.

    While z0 enters, ROOM is negative where the start is infeasible, and the least ratio is that of the row that must be
    lifted most. Afterwards a room that is negative, or as small as rounding errors are, counts as zero.
    """
    n = np.uint64(basis.at_upper.size)
    speed, room, scale = basis.vectors[SPEED], basis.vectors[ROOM], basis.vectors[SCALE]
    measure(basis, variable)
    least, first = np.inf, np.uint64(ABSENT)
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if basis.whole[BEGUN] and room[code] <= TIE * scale[code]:
                room[code] = 0.0
            if room[code] / speed[code] < least:
                least, first = room[code] / speed[code], code
    if first == ABSENT:
        return first

    number = np.int64(0)
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if room[code] - least * speed[code] <= TIE * scale[code]:
                number += 1
            else:
                speed[code] = 0.0
    if number == 1:
        return first
    if speed[n] > 0.0:  # z0 can reach zero: done
        return n
    basis.whole[TIES] += 1
    return break_tie(basis, variable, number)


@inlined
def break_tie(basis, variable, number):
    """Perturb b_0 by e, b_1 by e^2, ... and then the upper bounds: whoever comes first for small e > 0 leaves.

    This is the lexicographic comparison of the rows of the basis inverse, divided by the speeds (Cottle, Pang & Stone
    1992, section 4.9): a column of that inverse is the effect of one perturbation on all basic variables, that is, a
    direction. One column after the other is computed until a single candidate is left; SPEED is positive for those.
    """
    n, m, _ = dimensions(basis)
    speed, trial_x, trial_y = basis.vectors[SPEED], basis.vectors[TRIAL_X], basis.vectors[TRIAL_Y]
    for t in range(n + n):
        if t < n:
            own = n + ONE + t
            if basis.lists[PLACE_Y, t] == ABSENT:  # y_t is basic: its perturbation moves y_t alone
                if speed[own] > 0.0:
                    if basis.at_upper[t]:
                        return own
                    speed[own] = 0.0
                    number -= 1
            else:  # to raise b_t while y_t stays zero is to lower y_t while b_t stays
                follow(basis, own, -1.0, trial_x, trial_y)
                number = keep_least(basis, variable, np.uint64(ABSENT))
        else:
            j = t - n
            if basis.at_upper[j]:  # the perturbation moves this x, and all that depend on it
                follow(basis, j, 1.0, trial_x, trial_y)
                number = keep_least(basis, variable, j)
            elif speed[j] > 0.0 and basis.data[UPPER, j] < np.inf:  # it only gives this x more room
                for k in range(m):
                    trial_x[k] = 0.0
                for i in range(n):
                    trial_y[i] = 0.0
                number = keep_least(basis, variable, j)
        if number == 1:
            break
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            return code
    return np.uint64(ABSENT)


@part
def keep_least(basis, variable, widened):
    """Keep the candidates whose room the perturbation in TRIAL_X, TRIAL_Y raises least for their speed; how many.

    `widened` is the x whose upper bound is perturbed: where it moves to that bound, its own room grows.
    """
    n = np.uint64(basis.at_upper.size)
    speed, change = basis.vectors[SPEED], basis.vectors[CHANGE]
    trial_x, trial_y = basis.vectors[TRIAL_X], basis.vectors[TRIAL_Y]
    largest, artificial = extent(basis, n + ONE, trial_x)
    least = np.inf
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            if code > n:
                i = code - n - ONE
                change[code] = -trial_y[i] if basis.at_upper[i] else trial_y[i]
            elif code == variable:
                change[code] = 1.0 if code == widened else 0.0
            else:
                k = basis.lists[PLACE_X, code]
                change[code] = trial_x[k]
                if basis.vectors[STEP_X, k] > 0.0:
                    change[code] = (1.0 if code == widened else 0.0) - trial_x[k]
            least = min(least, change[code] / speed[code])
    number = 0
    for code in range(ONE + n + n):
        if speed[code] > 0.0:
            size = terms(basis, code - n - ONE, largest, artificial) if code > n else largest
            if change[code] - least * speed[code] <= LEXICOGRAPHIC * (size + abs(least) * speed[code]):
                number += 1
            else:
                speed[code] = 0.0
    return number


# ------------------------------------------------------------------------------------------------------ change of basis


@part
def exchange(basis, entering, leaving, sign):
    """Change the lists and G^-1: a bordered, smaller or equally large G that differs in one row or column.

    With dx the answer to the entering variable moving by `sign`, G^-1 times its column is g = -sign dx for an entering
    x, and the column of G^-1 that leaves is g = sign dx for an entering y. All four cases subtract g f^T, where f is
    the row of G^-1 that leaves, or the row of [A d] that comes times G^-1, divided by the pivot.
    """
    n, m, stride = dimensions(basis)
    inverse, g, f, entries = basis.inverse, basis.vectors[STEP_X], basis.vectors[WEIGHTS], basis.vectors[TRIAL_X]
    columns, rows, place_x, place_y = (
        basis.lists[COLUMNS], basis.lists[ROWS], basis.lists[PLACE_X], basis.lists[PLACE_Y],
    )  # fmt: skip
    enters_x, leaves_x = entering <= n, leaving <= n
    place = row = gone = ZERO
    for k in range(m):
        g[k] *= -sign if enters_x else sign
    if leaves_x:
        place = np.uint64(place_x[leaving])
        pivot = g[place]
    else:
        row = leaving - n - ONE
        pivot = -sign * basis.vectors[STEP_Y, row] if enters_x else sign * basis.vectors[STEP_Y, row]
        for k in range(m):
            entries[k] = basis.matrix[n * np.uint64(columns[k]) + row]
    if not enters_x:
        gone = np.uint64(place_y[entering - n - ONE])

    for r in range(m):  # once over the inverse: f and the outer product together
        start = stride * r
        factor = (inverse[start + place] if leaves_x else dot(inverse, start, entries, m)) / pivot
        for k in range(m):
            inverse[start + k] -= g[k] * factor
        f[r] = factor

    if enters_x and leaves_x:  # another column of G in the place of one
        for r in range(m):
            inverse[stride * r + place] = f[r]
        columns[place] = entering
        place_x[entering] = place
    elif enters_x:  # a row and a column more: [G a; c s]^-1, where -pivot is the Schur complement s - c G^-1 a
        for r in range(m):
            inverse[stride * r + m] = f[r]
        for k in range(m):
            inverse[stride * m + k] = g[k] / pivot
        inverse[stride * m + m] = -1.0 / pivot
        columns[m], rows[m] = entering, row
        place_x[entering] = place_y[row] = m
        basis.whole[SIZE] += 1
    elif leaves_x:  # a row and a column less; the last ones take their places
        last = m - ONE
        for k in range(m):
            inverse[stride * gone + k] = inverse[stride * last + k]
        for r in range(last):
            inverse[stride * r + place] = inverse[stride * r + last]
        columns[place], rows[gone] = columns[last], rows[last]
        basis.vectors[VALUE, place] = basis.vectors[VALUE, last]
        place_x[columns[place]], place_y[rows[gone]] = place, gone
        basis.whole[SIZE] -= 1
    else:  # another row of G in the place of one
        for k in range(m):
            inverse[stride * gone + k] = g[k] / pivot
        rows[gone] = row
        place_y[row] = gone
    if leaves_x:
        place_x[leaving] = ABSENT
    if not enters_x:
        place_y[entering - n - ONE] = ABSENT


@inlined
def move(basis, entering, leaving, sign, length):
    """Go `length` along the direction, change the basis, and name the variable that enters next."""
    n, m, _ = dimensions(basis)
    value, slack, scale, whole = basis.vectors[VALUE], basis.vectors[SLACK], basis.vectors[SCALE], basis.whole
    step_x, step_y, place_x = basis.vectors[STEP_X], basis.vectors[STEP_Y], basis.lists[PLACE_X]
    for k in range(m):
        j = basis.lists[COLUMNS, k]
        value[k] += length * step_x[k]
        scale[j] = max(scale[j], abs(length * step_x[k]))
    for i in range(n):
        slack[i] += length * step_y[i]
        scale[n + ONE + i] = max(scale[n + ONE + i], abs(length * step_y[i]))
    for k in range(m):
        slack[basis.lists[ROWS, k]] = 0.0
    begins = resting(basis, entering) if entering <= n else 0.0

    if leaving == entering:  # from one bound to the other: G stays, and y of the same row enters
        basis.at_upper[entering] = not basis.at_upper[entering]
        shift_offset(basis, entering, resting(basis, entering) - begins)
        whole[ENTERING], whole[SIGN] = n + ONE + entering, -1 if basis.at_upper[entering] else 1
        return

    reaches_upper = leaving < n and step_x[place_x[leaving]] > 0.0
    exchange(basis, entering, leaving, sign)
    scale[entering] = abs(length) + abs(begins)
    if entering <= n:
        value[place_x[entering]] = begins + sign * length
        shift_offset(basis, entering, -begins)
        if entering < n:
            basis.at_upper[entering] = False
    else:
        slack[entering - n - ONE] = sign * length
    if leaving == n:
        whole[VERDICT] = SOLVED
    elif leaving < n:
        basis.at_upper[leaving] = reaches_upper
        shift_offset(basis, leaving, resting(basis, leaving))
        whole[ENTERING], whole[SIGN] = n + ONE + leaving, -1 if reaches_upper else 1
    else:
        i = leaving - n - ONE
        slack[i] = 0.0
        whole[ENTERING], whole[SIGN] = i, -1 if basis.at_upper[i] else 1


# --------------------------------------------------------------------------------------------------------- entry points


@inlined
def is_feasible(basis):
    """Whether every basic variable of the start is within its bounds, up to rounding."""
    n, m, _ = dimensions(basis)
    value, slack = basis.vectors[VALUE], basis.vectors[SLACK]
    largest, _ = extent(basis, n + ONE, value)
    for k in range(m):
        if value[k] < basis.data[LOWER, basis.lists[COLUMNS, k]] - TIE * largest:
            return False
    for i in range(n):
        if (-slack[i] if basis.at_upper[i] else slack[i]) < -TIE * basis.data[REACH, i] * largest:
            return False
    return True


@inlined
def is_doubtful(basis, entering, leaving):
    """Whether the pivot is so small beside its terms that errors of the inverse may have made it."""
    n = np.uint64(basis.at_upper.size)
    size, artificial = extent(basis, entering, basis.vectors[STEP_X])
    if leaving > n:
        size = terms(basis, leaving - n - ONE, size, artificial)
    return not basis.vectors[SPEED, leaving] > DOUBTFUL * size


@inlined
def find_pivot(basis, entering, sign):
    """The direction and the variable that blocks it, from a fresh inverse where an old one is in doubt."""
    step_x, step_y = basis.vectors[STEP_X], basis.vectors[STEP_Y]
    while True:
        is_fresh = basis.whole[AGE] == 0
        error = follow(basis, entering, sign, step_x, step_y)
        leaving = np.uint64(ABSENT)
        if is_fresh and not error <= HOPELESS:
            basis.whole[VERDICT] = BROKEN
            return leaving
        if is_fresh and error > DRIFT:
            correct(basis, entering, sign, step_x, step_y)
        if is_fresh or error <= DRIFT:
            leaving = find_blocking(basis, entering)
            if leaving != ABSENT and not is_doubtful(basis, entering, leaving):
                return leaving
            if is_fresh and leaving != ABSENT:  # refined, a speed that was rounding errors falls below SMALL
                correct(basis, entering, sign, step_x, step_y)
                leaving = find_blocking(basis, entering)
            if is_fresh:
                return leaving
        if not invert(basis):
            basis.whole[VERDICT] = BROKEN
            return leaving


@kernel
def begin(basis, lift, cover):
    """Invert the G of the first basis, and choose the covering vector.

    As z0 rises by one, the basic x shall rise by `lift` and the basic y by `cover`: for that d_R = -A_RC lift_C, and
    d_i = cover_i - A_iC lift_C in the other rows. Returns False where G is singular.
    """
    n, m, _ = dimensions(basis)
    whole, weights, d = basis.whole, basis.vectors[WEIGHTS], basis.vectors[TRIAL_Y]
    for k in range(m):
        weights[k] = lift[basis.lists[COLUMNS, k]]
    for i in range(n):
        d[i] = cover[i] if basis.lists[PLACE_Y, i] == ABSENT else 0.0
    add_columns(-1.0, basis.matrix, n, basis.lists[COLUMNS], weights, ZERO, m, ZERO, n, d)
    for i in range(n):
        basis.matrix[n * n + i] = d[i]
    whole[ENTERING], whole[SIGN], whole[BEGUN], whole[VERDICT] = n, -1, 0, GOING_ON
    return invert(basis)


@kernel
def advance(count, basis):
    """At most `count` pivots; returns how many were done. `whole[VERDICT]` tells whether there is an end."""
    whole = basis.whole
    if count > 0 and not whole[BEGUN] and is_feasible(basis):
        whole[VERDICT] = SOLVED
    for done in range(count):
        if whole[VERDICT] != GOING_ON:
            return done
        if whole[AGE] >= max(LEAST_AGE, 2 * whole[SIZE]) and not invert(basis):
            whole[VERDICT] = BROKEN
            return done
        entering, sign = np.uint64(whole[ENTERING]), float(whole[SIGN])
        leaving = find_pivot(basis, entering, sign)
        if whole[VERDICT] == BROKEN:
            return done
        if leaving == ABSENT:
            whole[VERDICT] = RAY
            correct(basis, entering, sign, basis.vectors[STEP_X], basis.vectors[STEP_Y])
            return done
        move(basis, entering, leaving, sign, basis.vectors[ROOM, leaving] / basis.vectors[SPEED, leaving])
        whole[BEGUN] = 1
        whole[PIVOTS] += 1
        whole[AGE] += 1
        if whole[VERDICT] == SOLVED and not evaluate(basis) <= DRIFT and not invert(basis):
            whole[VERDICT] = BROKEN
    return count
