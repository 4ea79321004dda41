"""Rows of J for contacts at points between rigid bodies (THESIS eq. A.1-A.6), which of the contacts are the same, and
which is which of the step before.

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
U2, U3, U6, U9, U12, U36 = U[2], U[3], U[6], U[9], np.uint64(12), np.uint64(36)


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
