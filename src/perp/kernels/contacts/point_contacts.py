"""Contacts at points between rigid bodies: rows of J (THESIS eq. A.1-A.6), which contacts are the same, which was which
in the step before; from what a collision detector found to the contacts of a step, and from its impulses to the next.

A contact at point p between bodies a and b has arms r_a = p - c_a and r_b = p - c_b from the centres of mass, and a
unit normal that points from a to b. The velocity of b relative to a at p is

    u = (v_b + w_b x r_b) - (v_a + w_a x r_a),                                                               (A.1)

and along a unit direction d, the normal or a tangent, with d · (w x r) = w · (r x d),

    d · u = [ -d   -(r_a x d)   d   r_b x d ] · (v_a, w_a, v_b, w_b),                              (A.3, A.5, A.6)

which is the row of J. The six numbers of a body that is the world are zero.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

U = tuple(np.uint64(k) for k in range(12))
U2, U3, U6, U9, U12, U36 = (np.uint64(k) for k in (2, 3, 6, 9, 12, 36))


@inlined
def _write_side(sign, body, centre, point, p, frame, f, jacobian, j):
    """One body's half of a row: sign (d, r x d), or zeros for the world (body -1)."""
    if body < 0:
        for k in range(U6):
            jacobian[j + k] = 0.0
        return
    c = U3 * np.uint64(body)
    r_x, r_y, r_z = point[p] - centre[c], point[p + U[1]] - centre[c + U[1]], point[p + U[2]] - centre[c + U[2]]
    d_x, d_y, d_z = sign * frame[f], sign * frame[f + U[1]], sign * frame[f + U[2]]
    jacobian[j] = d_x
    jacobian[j + U[1]] = d_y
    jacobian[j + U[2]] = d_z
    jacobian[j + U[3]] = r_y * d_z - r_z * d_y
    jacobian[j + U[4]] = r_z * d_x - r_x * d_z
    jacobian[j + U[5]] = r_x * d_y - r_y * d_x


@kernel
def write_rows(bodies, point, frame, centre, jacobian):
    """Three rows a contact, 12 numbers each, from its two bodies, its point and its frame (nine numbers)."""
    for contact in range(np.uint64(bodies.size) // U2):
        a, b = bodies[U2 * contact], bodies[U2 * contact + U[1]]
        for axis in range(U3):
            f = U9 * contact + U3 * axis
            j = U36 * contact + U12 * axis
            _write_side(-1.0, a, centre, point, U3 * contact, frame, f, jacobian, j)
            _write_side(1.0, b, centre, point, U3 * contact, frame, f, jacobian, j + U6)


@inlined
def _distance(one, i, other, j):
    """The square of the distance of two points."""
    x, y, z = one[i] - other[j], one[i + U[1]] - other[j + U[1]], one[i + U[2]] - other[j + U[2]]
    return x * x + y * y + z * z


@inlined
def keep_apart(pair, point, gap, distance, farthest, keep):
    """Of contacts of one pair that are nearer to one another than `distance`, keep the deepest (of equals the first).

    The contacts of a pair follow one another. Those with a gap of more than `farthest` are not kept.
    """
    square, start = distance * distance, U[0]
    for new in range(np.uint64(pair.size)):
        if pair[new] != pair[start]:
            start = new
        keep[new] = gap[new] <= farthest
        if not keep[new]:
            continue
        for old in range(start, new):
            if keep[old] and _distance(point, U3 * new, point, U3 * old) < square:
                if gap[new] < gap[old]:
                    keep[old] = False
                else:
                    keep[new] = False
                    break


@kernel
def match_points(old_order, old_pair, old_point, new_order, new_pair, new_point, is_taken, match):
    """For each new contact the old one of the same pair that it continues, or -1.

    Within a pair the two contacts that are nearest to one another belong together, then the nearest of those that are
    left, and so on: a corner that was there keeps its impulse when others appear beside it. `old_order` and `new_order`
    list the contacts by rising pair. Points are coordinates in a frame that moves with the pair.
    """
    olds, news = np.uint64(old_order.size), np.uint64(new_order.size)
    old_start = new_start = U[0]
    while new_start < news:
        pair = new_pair[np.uint64(new_order[new_start])]
        new_stop = new_start
        while new_stop < news and new_pair[np.uint64(new_order[new_stop])] == pair:
            match[np.uint64(new_order[new_stop])] = -1
            new_stop += U[1]
        while old_start < olds and old_pair[np.uint64(old_order[old_start])] < pair:
            old_start += U[1]
        old_stop = old_start
        while old_stop < olds and old_pair[np.uint64(old_order[old_stop])] == pair:
            old_stop += U[1]
        for _ in range(min(new_stop - new_start, old_stop - old_start)):
            nearest, best_new, best_old = np.inf, U[0], U[0]
            for i in range(new_start, new_stop):
                new = np.uint64(new_order[i])
                if match[new] >= 0:
                    continue
                for k in range(old_start, old_stop):
                    old = np.uint64(old_order[k])
                    if not is_taken[old]:
                        distance = _distance(new_point, U3 * new, old_point, U3 * old)
                        if distance < nearest:
                            nearest, best_new, best_old = distance, new, old
            if nearest < np.inf:
                match[best_new] = np.int64(best_old)
                is_taken[best_old] = True
        new_start = new_stop


# -- from a detector to a step, and from one step to the next ----------------------------------------------------------


@kernel
def collect(
    geoms,
    point,
    frame,
    distance,
    dimension,
    friction,
    rounding,
    body_of_geom,
    restitution,
    centre,
    rotation,
    least_friction,
    merged,
    farthest,
    keep,
    pair,
    gap,
    bodies,
    new_point,
    new_frame,
    new_friction,
    new_restitution,
    local,
):
    """The contacts that count, one after the other; returns how many.

    `gap` is the distance less the layers of rounding. Left out are contacts that `keep_apart` does not keep, and those
    that move nothing. `bodies` are those of the geoms, `local` the point in the axes of the first body that moves. A
    contact of one dimension has no friction; the coefficient of a pair is that of the detector, its restitution the
    larger of the two.
    """
    count = np.uint64(distance.size)
    for k in range(count):
        first, second = np.uint64(geoms[U2 * k]), np.uint64(geoms[U2 * k + U[1]])
        pair[k] = first * np.uint64(body_of_geom.size) + second
        gap[k] = distance[k] - (rounding[first] + rounding[second])
    keep_apart(pair, point, gap, merged, farthest, keep)
    kept = U[0]
    for k in range(count):
        first, second = np.uint64(geoms[U2 * k]), np.uint64(geoms[U2 * k + U[1]])
        a, b = body_of_geom[first], body_of_geom[second]
        if not keep[k] or a == b:
            continue
        pair[kept], gap[kept] = pair[k], gap[k]
        bodies[U2 * kept], bodies[U2 * kept + U[1]] = a, b
        is_rough = dimension[k] != 1 and friction[k] > least_friction
        new_friction[kept] = friction[k] if is_rough else 0.0
        new_restitution[kept] = max(restitution[first], restitution[second])
        for i in range(U9):
            new_frame[U9 * kept + i] = frame[U9 * k + i]
        carrier = np.uint64(a if a >= 0 else b)
        x, y, z = (
            point[U3 * k] - centre[U3 * carrier],
            point[U3 * k + U[1]] - centre[U3 * carrier + U[1]],
            point[U3 * k + U[2]] - centre[U3 * carrier + U[2]],
        )
        for i in range(U3):
            new_point[U3 * kept + i] = point[U3 * k + i]
            r = U9 * carrier + i
            local[U3 * kept + i] = rotation[r] * x + rotation[r + U3] * y + rotation[r + U[6]] * z
        kept += U[1]
    return kept


@kernel
def carry(width, match, x, old_frame, new_frame, start):
    """Impulses x of old contacts at new ones: normals as numbers, friction as a vector that is projected anew.

    A frame has `width` unit vectors of `width` numbers, the normal first; `match` names an old contact, or is -1.
    """
    square = width * width
    for new in range(np.uint64(match.size)):
        at = width * new
        for k in range(width):
            start[at + k] = 0.0
        if match[new] < 0:
            continue
        old = np.uint64(match[new])
        start[at] = x[width * old]
        for k in range(U[1], width):
            for j in range(U[1], width):
                along = 0.0
                for i in range(width):
                    along += new_frame[square * new + width * k + i] * old_frame[square * old + width * j + i]
                start[at + k] += along * x[width * old + j]
