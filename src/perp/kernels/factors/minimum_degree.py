"""Approximate minimum degree (Amestoy, Davis & Duff 1996, "An approximate minimum degree ordering algorithm").

Eliminating p joins its neighbours L_p into a clique. The quotient graph keeps the clique as one "element" p with its
list L_p; a variable i lists the elements E_i that contain it and the variables A_i that it touches by an edge of the
matrix. An element whose variables all lie in a new one is absorbed, so the lists never outgrow the graph given.

All arrays are int64. `pointers, indices` is the adjacency of an undirected graph without loops, `weights` says how many
rows each node stands for. Arrays named `work*` only lend their memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.kernels.compile import inlined, kernel, part

NONE, UNLISTED = -1, -2
DEAD, ALIVE = 0, 1  # marks of an element: absorbed by another one, or there; stamps are larger
DENSE_FACTOR, DENSE_LEAST = 10, 16  # nodes with more than 10 sqrt(n) neighbours are eliminated last, unseen
STATE_ROWS = 12  # of the work array of `minimum_degree`


class Quotient(NamedTuple):
    """The quotient graph. The list of a variable is E_i, then A_i; that of an element e is L_e."""

    lists: NDArray[np.int64]
    begin: NDArray[np.int64]
    length: NDArray[np.int64]
    elements: NDArray[np.int64]  # how many entries of the list are elements
    size: NDArray[np.int64]  # rows in a variable; 0 where it is not one (any more), negative inside the new element
    degree: NDArray[np.int64]  # bound on the degree of a variable; rows in L_e
    mark: NDArray[np.int64]  # of an element: DEAD, ALIVE or a stamp
    stage: NDArray[np.int64]
    head: NDArray[np.int64]  # first variable of each degree
    after: NDArray[np.int64]  # neighbours in the list of variables of one degree
    before: NDArray[np.int64]
    bucket: NDArray[np.int64]  # first variable of each hash
    hash: NDArray[np.int64]
    follower: NDArray[np.int64]  # who is eliminated right after a node, together with it
    tail: NDArray[np.int64]  # the last of those followers; NONE of a dense node


@kernel
def minimum_degree(pointers, indices, weights, stage, members, order, lists, work, work_head):
    """order[k] = the node that is eliminated k-th; stages one after another, by least approximate degree within each.

    `members` are the nodes by rising stage; with one stage for all this is plain minimum degree. Nodes of later stages
    take part as neighbours, so that the degrees in a stage are true ones. `lists` has room for the graph and its nodes;
    some more saves compressing it often.
    """
    n = weights.size
    q = Quotient(
        *(lists, work[0], work[1], work[2], work[3], work[4], work[5], stage, work_head),
        *(work[6], work[7], work[8], work[9], work[10], work[11]),
    )
    dense, left = set_up(q, pointers, indices, weights, order)
    free = indices.size
    stamp, largest = ALIVE + 1, 0
    upcoming = least = 0
    k = end_of_stage = 0
    while k < n - dense:
        while k == end_of_stage:
            end_of_stage, upcoming = admit_stage(q, members, upcoming, k)
            least = 0
        while q.head[least] == NONE:
            least += 1
        if free + n > lists.size:
            free = compress_lists(q, free)

        p = q.head[least]
        unlist(q, p)
        free = form_element(q, p, free)
        measure_outside(q, p, stamp)
        update_variables(q, p, stamp)
        left -= -q.size[p]
        largest = max(largest, q.degree[p])
        stamp = join_twins(q, p, stamp + largest + 1)
        least = min(least, settle_variables(q, p, left))
        q.mark[p] = ALIVE if q.length[p] > 0 else DEAD
        q.size[p] = 0
        while p != NONE:
            order[k] = p
            k += 1
            p = q.follower[p]


@part
def set_up(q, pointers, indices, weights, order):
    """The graph as it is given, without its dense nodes: these are put last in `order`. Their number, and rows left."""
    n = weights.size
    q.head[:] = NONE
    for e in range(indices.size):  # an assignment of slices would take Numba 5 s to compile
        q.lists[e] = indices[e]
    total = weights.sum()
    dense = max(DENSE_LEAST, DENSE_FACTOR * np.sqrt(total))
    count, left = 0, total
    for i in range(n):
        q.begin[i] = pointers[i]
        q.length[i] = pointers[i + 1] - pointers[i]
        q.elements[i] = q.mark[i] = 0
        q.size[i] = weights[i]
        q.bucket[i] = q.follower[i] = NONE
        q.before[i] = UNLISTED
        q.tail[i] = i
        q.degree[i] = 0
        for at in range(pointers[i], pointers[i + 1]):
            q.degree[i] += weights[indices[at]]
    for i in range(n - 1, -1, -1):
        if q.degree[i] > dense:
            count += 1
            order[n - count] = i
            q.size[i] = q.length[i] = 0
            q.tail[i] = NONE
            left -= weights[i]
    return count, left


@inlined
def admit_stage(q, members, upcoming, k):
    """List the variables of the next stage by degree; returns how many nodes will be gone after it, and who is next."""
    current = q.stage[members[upcoming]]
    while upcoming < members.size and q.stage[members[upcoming]] == current:
        i = members[upcoming]
        upcoming += 1
        if q.tail[i] != NONE:
            k += 1
        if q.size[i] > 0:
            enlist(q, i)
    return k, upcoming


@inlined
def enlist(q, i):
    first = q.head[q.degree[i]]
    q.after[i], q.before[i] = first, NONE
    if first != NONE:
        q.before[first] = i
    q.head[q.degree[i]] = i


@inlined
def unlist(q, i):
    if q.before[i] == UNLISTED:
        return
    if q.after[i] != NONE:
        q.before[q.after[i]] = q.before[i]
    if q.before[i] != NONE:
        q.after[q.before[i]] = q.after[i]
    else:
        q.head[q.degree[i]] = q.after[i]
    q.before[i] = UNLISTED


@part
def compress_lists(q, free):
    """Move all lists to the front. Each first entry is lent its owner's name, to be known when the sweep meets it."""
    for i in range(q.begin.size):
        if q.length[i] > 0:
            at = q.begin[i]
            q.begin[i] = q.lists[at]
            q.lists[at] = -1 - i
    at = put = 0
    while at < free:
        i = -1 - q.lists[at]
        at += 1
        if i >= 0:
            q.lists[put] = q.begin[i]
            q.begin[i] = put
            put += 1
            for _ in range(q.length[i] - 1):
                q.lists[put] = q.lists[at]
                put += 1
                at += 1
    return put


@inlined
def take_variable(q, p, i, put):
    """Append variable i to the new element p, unless it is there or gone. A negative size says that it is there."""
    if q.size[i] <= 0:
        return put
    q.degree[p] += q.size[i]
    q.size[i] = -q.size[i]
    q.lists[put] = i
    unlist(q, i)
    return put + 1


@part
def form_element(q, p, free):
    """L_p = A_p and all L_e, e in E_p, without p: in place of A_p where there are no elements, else in free memory."""
    begin, middle, end = q.begin[p], q.begin[p] + q.elements[p], q.begin[p] + q.length[p]
    is_in_place = q.elements[p] == 0
    put = begin if is_in_place else free
    q.begin[p] = put
    q.size[p] = -q.size[p]
    q.degree[p] = 0
    for at in range(begin, middle):
        e = q.lists[at]
        for k in range(q.begin[e], q.begin[e] + q.length[e]):
            put = take_variable(q, p, q.lists[k], put)
        q.mark[e], q.length[e] = DEAD, 0
    for at in range(middle, end):
        put = take_variable(q, p, q.lists[at], put)
    q.length[p] = put - q.begin[p]
    return free if is_in_place else put


@part
def measure_outside(q, p, stamp):
    """mark[e] = stamp + |L_e \\ L_p| for each element e that meets L_p (the paper's Algorithm 2)."""
    for at in range(q.begin[p], q.begin[p] + q.length[p]):
        i = q.lists[at]
        for k in range(q.begin[i], q.begin[i] + q.elements[i]):
            e = q.lists[k]
            if q.mark[e] >= stamp:
                q.mark[e] += q.size[i]  # the size is negative now
            elif q.mark[e] != DEAD:
                q.mark[e] = q.degree[e] + stamp + q.size[i]


@part
def update_variables(q, p, stamp):
    """Clean the list of each i in L_p, put p in it, and bound the degree outside L_p: |A_i \\ L_p| + sum |L_e \\ L_p|.

    An element with nothing outside L_p is absorbed even if p was not in it ("aggressive"), and a variable with nothing
    outside L_p is eliminated together with p ("mass elimination").
    """
    for at in range(q.begin[p], q.begin[p] + q.length[p]):
        i = q.lists[at]
        begin, middle, end = q.begin[i], q.begin[i] + q.elements[i], q.begin[i] + q.length[i]
        put, outside, name = begin, 0, 0
        for k in range(begin, middle):
            e = q.lists[k]
            if q.mark[e] > stamp:
                outside += q.mark[e] - stamp
                q.lists[put] = e
                name += e
                put += 1
            else:
                q.mark[e], q.length[e] = DEAD, 0
        variables = put
        for k in range(middle, end):
            j = q.lists[k]
            if q.size[j] > 0:
                outside += q.size[j]
                q.lists[put] = j
                name += j
                put += 1
        if put == begin and q.stage[i] == q.stage[p]:
            q.degree[p] += q.size[i]
            join(q, i, p)
        else:
            # There is room: i came into L_p by an edge to p or by an element, and that entry has just gone.
            q.lists[put] = q.lists[variables]
            q.lists[variables] = p
            q.elements[i] = variables + 1 - begin
            q.length[i] = put + 1 - begin
            q.degree[i] = min(q.degree[i], outside)
            q.hash[i] = name % q.bucket.size
            q.after[i] = q.bucket[q.hash[i]]
            q.bucket[q.hash[i]] = i


@inlined
def join(q, j, i):
    """Variable j becomes part of i."""
    q.size[i] += q.size[j]
    q.size[j] = q.length[j] = 0
    q.follower[q.tail[i]] = j
    q.tail[i] = q.tail[j]


@part
def join_twins(q, p, stamp):
    """Join the variables of L_p that have equal lists: they can only have equal degrees from now on."""
    for at in range(q.begin[p], q.begin[p] + q.length[p]):
        if q.size[q.lists[at]] == 0:
            continue
        h = q.hash[q.lists[at]]
        i = q.bucket[h]
        q.bucket[h] = NONE
        while i != NONE and q.after[i] != NONE:
            for k in range(q.begin[i], q.begin[i] + q.length[i]):
                q.mark[q.lists[k]] = stamp
            last, j = i, q.after[i]
            while j != NONE:
                if has_list_of(q, j, i, stamp):
                    join(q, j, i)
                    q.after[last] = q.after[j]
                else:
                    last = j
                j = q.after[j]
            stamp += 1
            i = q.after[i]
    return stamp


@inlined
def has_list_of(q, j, i, stamp):
    if q.length[j] != q.length[i] or q.elements[j] != q.elements[i] or q.stage[j] != q.stage[i]:
        return False
    for k in range(q.begin[j], q.begin[j] + q.length[j]):  # noqa: SIM110 - Numba knows no generators with closures
        if q.mark[q.lists[k]] != stamp:
            return False
    return True


@part
def settle_variables(q, p, left):
    """Give the variables of L_p their new degrees (the paper's equation 4); returns the least of this stage."""
    least = q.head.size
    put = q.begin[p]
    for at in range(q.begin[p], q.begin[p] + q.length[p]):
        i = q.lists[at]
        if q.size[i] == 0:
            continue
        size = -q.size[i]
        q.size[i] = size
        q.degree[i] = min(q.degree[i] + q.degree[p], left) - size
        q.lists[put] = i
        put += 1
        if q.stage[i] == q.stage[p]:
            enlist(q, i)
            least = min(least, q.degree[i])
    q.length[p] = put - q.begin[p]
    return least
