"""Discs in a plane: which of them touch one another or a wall, and the contacts that this makes.

Two discs belong together if their gap is at most a margin and what their velocities close of it within the step. No
disc gets farther than its reach: its radius, half the margin, and its way in the step, seen from one that moves as
most of them do. Cells of a uniform grid are as wide as the two largest reaches, so that such discs lie in the same cell
or in adjacent ones.

A cell is a pair of whole numbers, and its bucket the sum of its column and a hash of its row: memory grows with the
discs, not with the room between them, and three cells beside each other are one range of discs. Several cells may share
a bucket. What is found there is near or not, whatever its cell; only a pair that is found twice must be dropped.

A few discs that are much larger or much faster than the others would make the cells large, and every cell crowded.
Those with a reach above a limit (`far`) are in no cell: they are compared with all.

Walls do not move: half-planes, and segments with both sides and both ends.

Layout, all flat. A disc: two numbers in `position` and `cells`, three in `velocity` (x, y, spin); `sorted_discs` has x,
y and reach of the discs in the order of their buckets, `members` their numbers. A pair: two numbers in `pairs`. A wall:
four numbers, a point and the outward unit normal of a half-plane, the two ends of a segment. A contact: `bodies` 2,
`point` 2, `frame` 4 (normal, tangent), `gap`, `friction`, `restitution` and `identity` 1.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

U0, U1, U2, U3, U4, U6, U9, U12 = (np.uint64(k) for k in (0, 1, 2, 3, 4, 6, 9, 12))


# -- pairs of discs ----------------------------------------------------------------------------------------------------


FARTHEST = 2.0**40
"""Cells beyond this number are one: nearer ones are told apart although positions are rounded."""
ROUNDED = 1.0 + 2.0**-10
"""Cells are so much wider than need be, as the cell of a disc is found with rounding errors."""
SPREAD = np.uint64(0x9E3779B97F4A7C15)
WORD = np.uint64(64)


@inlined
def bucket_of(column, row, bits):
    """The top bits of a product spread the rows over all buckets (Knuth's multiplicative hashing)."""
    return ((np.uint64(np.int64(row)) * SPREAD >> (WORD - bits)) + np.uint64(np.int64(column))) & ((U1 << bits) - U1)


@inlined
def cell_of(place, origin, width):
    return np.int64(np.floor(min(max((place - origin) / width, -FARTHEST), FARTHEST)))


@inlined
def usual_speed(velocity, axis, n, sample):
    """The median along one axis of as many discs as fit in `sample`, taken at even distances from all of them."""
    size = min(n, np.uint64(sample.size))
    for k in range(size):
        speed = velocity[U3 * (k * n // size) + axis]
        place = k
        while place > U0 and sample[place - U1] > speed:
            sample[place] = sample[place - U1]
            place -= U1
        sample[place] = speed
    return sample[size // U2]


@kernel
def measure_reach(velocity, radius, margin, dt, limit, sample, reach, far):
    """The reach of each disc, and in `far` the numbers of those above the limit; how many, and the width of a cell."""
    n, count, widest = np.uint64(radius.size), U0, 0.0
    usual_x, usual_y = usual_speed(velocity, U0, n, sample), usual_speed(velocity, U1, n, sample)
    for i in range(n):
        vx, vy = velocity[U3 * i] - usual_x, velocity[U3 * i + U1] - usual_y
        reach[i] = radius[i] + 0.5 * margin + dt * np.sqrt(vx * vx + vy * vy)
        if reach[i] <= limit:
            widest = max(widest, reach[i])
        else:
            far[count] = i
            count += U1
    return count, 2.0 * ROUNDED * widest


@kernel
def sort_into_cells(position, reach, limit, width, bits, cells, starts, members, sorted_discs):
    """Counting sort: bucket k holds `members[starts[k]:starts[k + 1]]`.

    `starts` has 2^bits + 1 entries. Cells are counted from the first disc, so that a far place costs no accuracy.
    """
    starts[:] = 0
    for i in range(np.uint64(reach.size)):
        if reach[i] <= limit:
            cells[U2 * i] = cell_of(position[U2 * i], position[U0], width)
            cells[U2 * i + U1] = cell_of(position[U2 * i + U1], position[U1], width)
            starts[bucket_of(cells[U2 * i], cells[U2 * i + U1], bits)] += np.uint32(1)
    for k in range(U1, np.uint64(starts.size)):
        starts[k] += starts[k - U1]
    # each entry is the end of its bucket now; filled from the end, it becomes the beginning
    for i in range(np.uint64(reach.size)):
        if reach[i] <= limit:
            bucket = bucket_of(cells[U2 * i], cells[U2 * i + U1], bits)
            starts[bucket] -= np.uint32(1)
            k = np.uint64(starts[bucket])
            members[k] = i
            sorted_discs[U3 * k], sorted_discs[U3 * k + U1] = position[U2 * i], position[U2 * i + U1]
            sorted_discs[U3 * k + U2] = reach[i]


@inlined
def keep_if_near(i, j, position, velocity, radius, inverse_mass, margin, dt, pairs, count):
    """Write the pair (i, j) as number `count` if they belong together and one of them can move; the next number."""
    dx, dy = position[U2 * j] - position[U2 * i], position[U2 * j + U1] - position[U2 * i + U1]
    distance = np.sqrt(dx * dx + dy * dy)
    dvx, dvy = velocity[U3 * j] - velocity[U3 * i], velocity[U3 * j + U1] - velocity[U3 * i + U1]
    closing = -(dvx * dx + dvy * dy) / distance if distance > 0.0 else 0.0
    is_near = distance - (radius[i] + radius[j]) <= margin + dt * max(closing, 0.0)
    if not is_near or inverse_mass[i] + inverse_mass[j] == 0.0:
        return count
    if U2 * count < np.uint64(pairs.size):
        pairs[U2 * count] = i
        pairs[U2 * count + U1] = j
    return count + U1


@inlined
def sort_partners(pairs, first, last):
    """Order the pairs first..last of one disc by its partners (a handful: by insertion), each once; their new end."""
    end = first
    for k in range(first, last):
        partner = pairs[U2 * k + U1]
        place = end
        while place > first and pairs[U2 * place - U1] > partner:
            place -= U1
        if place > first and pairs[U2 * place - U1] == partner:
            continue
        for back in range(end - place):
            pairs[U2 * (end - back) + U1] = pairs[U2 * (end - back) - U1]
        pairs[U2 * place + U1] = partner
        end += U1
    return end


@kernel
def find_pairs(
    position,
    velocity,
    radius,
    reach,
    inverse_mass,
    margin,
    dt,
    limit,
    far,
    far_count,
    bits,
    cells,
    starts,
    members,
    sorted_discs,
    pairs,
):
    """All pairs i < j that touch or may touch within dt, ordered by i, then j; returns how many there are.

    Where there are more than `pairs` has room for, those that do not fit are counted only, and some of them twice.
    """
    n, count, room, buckets = np.uint64(radius.size), U0, np.uint64(pairs.size) // U2, U1 << bits
    for i in range(n):
        if not reach[i] <= limit:
            for j in range(i + U1, n):
                count = keep_if_near(i, j, position, velocity, radius, inverse_mass, margin, dt, pairs, count)
            continue
        first, x, y = count, position[U2 * i], position[U2 * i + U1]
        for k in range(far_count):
            j = np.uint64(far[k])
            if j > i:
                count = keep_if_near(i, j, position, velocity, radius, inverse_mass, margin, dt, pairs, count)
        for row in range(cells[U2 * i + U1] - 1, cells[U2 * i + U1] + 2):
            left = bucket_of(cells[U2 * i] - 1, row, bits)
            right = left + U3
            for part in range(U2):  # the last buckets are beside the first ones
                begin = starts[left] if part == U0 else starts[U0]
                end = starts[min(right, buckets)] if part == U0 else starts[max(right, buckets) - buckets]
                for k in range(np.uint64(begin), np.uint64(end)):
                    dx, dy = sorted_discs[U3 * k] - x, sorted_discs[U3 * k + U1] - y
                    both = reach[i] + sorted_discs[U3 * k + U2]
                    j = np.uint64(members[k])
                    if dx * dx + dy * dy <= both * both and j > i:
                        count = keep_if_near(i, j, position, velocity, radius, inverse_mass, margin, dt, pairs, count)
        if count <= room:
            count = sort_partners(pairs, first, count)
    return count


# -- walls -------------------------------------------------------------------------------------------------------------


COINCIDENT = 1e-150
"""Points nearer than this [m] have no direction from one to the other that could be computed."""


@inlined
def from_wall(x, y, walls, w, is_segment):
    """Distance of the point (x, y) from wall w, and the unit vector from the wall to it.

    A half-plane has negative distances inside. A point on a segment is taken to be on the left of its direction.
    """
    px, py, qx, qy = walls[U4 * w], walls[U4 * w + U1], walls[U4 * w + U2], walls[U4 * w + U3]
    dx, dy = x - px, y - py
    if not is_segment[w]:
        return dx * qx + dy * qy, qx, qy
    ex, ey = qx - px, qy - py
    squared = ex * ex + ey * ey
    along = min(max((dx * ex + dy * ey) / squared, 0.0), 1.0)
    dx -= along * ex
    dy -= along * ey
    distance = np.sqrt(dx * dx + dy * dy)
    if distance > COINCIDENT:
        return distance, dx / distance, dy / distance
    length = np.sqrt(squared)
    return 0.0, -ey / length, ex / length


@kernel
def find_touched_walls(position, velocity, radius, inverse_mass, walls, is_segment, margin, dt, pairs):
    """All (disc, wall) that touch or may touch within dt, ordered by disc, then wall; returns how many there are.

    They may if their gap is at most `margin` and what the velocity along the normal closes of it.

    Where there are more than `pairs` has room for, those that do not fit are counted only.
    """
    count = U0
    for i in range(np.uint64(radius.size)):
        if inverse_mass[i] > 0.0:
            for w in range(np.uint64(is_segment.size)):
                distance, nx, ny = from_wall(position[U2 * i], position[U2 * i + U1], walls, w, is_segment)
                closing = -(velocity[U3 * i] * nx + velocity[U3 * i + U1] * ny)
                if distance - radius[i] <= margin + dt * max(closing, 0.0):
                    if U2 * count < np.uint64(pairs.size):
                        pairs[U2 * count] = i
                        pairs[U2 * count + U1] = w
                    count += U1
    return count


# -- contacts: frames, gaps, surfaces, rows of J; and old contacts found among new ones --------------------------------


WORLD = np.int64(-1)


@inlined
def write_contact(c, a, b, x, y, nx, ny, gap, bodies, point, frame, gaps):
    """The tangent is the normal turned to the left by a right angle."""
    bodies[U2 * c], bodies[U2 * c + U1] = a, b
    point[U2 * c], point[U2 * c + U1] = x, y
    frame[U4 * c], frame[U4 * c + U1], frame[U4 * c + U2], frame[U4 * c + U3] = nx, ny, -ny, nx
    gaps[c] = gap


@kernel
def describe_pairs(
    pairs, count, position, radius, surface, bodies, point, frame, gaps, friction, restitution, identity
):
    """Contacts 0..count - 1, of discs i < j: normal from i to j, point midway between the two surfaces.

    Where the centres coincide, the normal is (0, 1). `surface` has friction and restitution of each disc. Identities,
    i n + j, grow from contact to contact.
    """
    for c in range(count):
        i, j = np.uint64(pairs[U2 * c]), np.uint64(pairs[U2 * c + U1])
        x, y = position[U2 * i], position[U2 * i + U1]
        nx, ny = position[U2 * j] - x, position[U2 * j + U1] - y
        distance = np.sqrt(nx * nx + ny * ny)
        if distance > COINCIDENT:
            nx /= distance
            ny /= distance
        else:
            nx, ny = 0.0, 1.0
        gap = distance - (radius[i] + radius[j])
        arm = radius[i] + 0.5 * gap
        write_contact(c, i, j, x + arm * nx, y + arm * ny, nx, ny, gap, bodies, point, frame, gaps)
        friction[c] = np.sqrt(surface[U2 * i] * surface[U2 * j])
        restitution[c] = max(surface[U2 * i + U1], surface[U2 * j + U1])
        identity[c] = i * np.uint64(radius.size) + j


@kernel
def describe_touched_walls(
    pairs,
    first,
    last,
    position,
    radius,
    surface,
    walls,
    is_segment,
    wall_surface,
    bodies,
    point,
    frame,
    gaps,
    friction,
    restitution,
    identity,
):
    """Contacts first..last - 1, of the world and a disc: normal from the wall to the disc, point on the disc's edge.

    Identities go on after those of pairs of discs: n n + i walls + wall.
    """
    n, count = np.uint64(radius.size), np.uint64(is_segment.size)
    for c in range(first, last):
        i, w = np.uint64(pairs[U2 * (c - first)]), np.uint64(pairs[U2 * (c - first) + U1])
        x, y, r = position[U2 * i], position[U2 * i + U1], radius[i]
        distance, nx, ny = from_wall(x, y, walls, w, is_segment)
        write_contact(c, WORLD, i, x - r * nx, y - r * ny, nx, ny, distance - r, bodies, point, frame, gaps)
        friction[c] = np.sqrt(surface[U2 * i] * wall_surface[U2 * w])
        restitution[c] = max(surface[U2 * i + U1], wall_surface[U2 * w + U1])
        identity[c] = n * n + i * count + w


@kernel
def write_rows(bodies, frame, gap, radius, row_bodies, jacobian):
    """The rows of J, normal and tangent a contact, with blocks (x, y, spin) for body a, then for body b.

    With arms p - c from the centres to the contact point, direction d gives the blocks -(d, arm_a × d), (d, arm_b × d)
    (THESIS A.3-A.6 in the plane). The arms lie along the normal: normals have no leverage, tangents the arm's length.
    The arms of two discs add up to the distance of the centres, so that no impulse changes the angular momentum.
    """
    for c in range(np.uint64(gap.size)):
        a, b = bodies[U2 * c], bodies[U2 * c + U1]
        nx, ny, tx, ty = frame[U4 * c], frame[U4 * c + U1], frame[U4 * c + U2], frame[U4 * c + U3]
        arm_b = radius[np.uint64(b)]
        k = U12 * c
        jacobian[k : k + U12] = 0.0
        if a >= 0:
            arm_a = radius[np.uint64(a)] + 0.5 * gap[c]
            arm_b += 0.5 * gap[c]
            jacobian[k], jacobian[k + U1] = -nx, -ny
            jacobian[k + U6], jacobian[k + U6 + U1], jacobian[k + U6 + U2] = -tx, -ty, -arm_a
        jacobian[k + U3], jacobian[k + U4] = nx, ny
        jacobian[k + U9], jacobian[k + U9 + U1], jacobian[k + U9 + U2] = tx, ty, -arm_b
        row_bodies[U4 * c], row_bodies[U4 * c + U1] = a, b
        row_bodies[U4 * c + U2], row_bodies[U4 * c + U3] = a, b


@kernel
def match_sorted(old, new, match):
    """For each of the new identities the place of the same one among the old, or -1; both lists grow."""
    k = U0
    for c in range(np.uint64(new.size)):
        while k < np.uint64(old.size) and old[k] < new[c]:
            k += U1
        match[c] = np.int64(k) if k < np.uint64(old.size) and old[k] == new[c] else np.int64(-1)
