"""Graphs of sparse symmetric matrices: twins, and nested dissection by level structures.

Twins are nodes with the same neighbours, themselves included, which can be eliminated together. Contact matrices are
full of them (all rows of all contacts between the same two bodies), and the graph of twins is smaller by that factor
squared.

A level structure has the nodes at distance 0, 1, 2, ... from a root. Where it is long and thin, its levels are small,
and each of them separates what is before it from what is behind it.

All arrays are int64. `pointers, indices` is the adjacency of an undirected graph without loops, `weights` says how many
rows each node stands for. Arrays named `work*` only lend their memory.
"""

from __future__ import annotations

from math import inf

import numpy as np

from perp.kernels.compile import inlined, kernel, part

# -- twins -------------------------------------------------------------------------------------------------------------


NONE = -1


@kernel
def hash_neighbourhoods(pointers, indices, hashes):
    """hashes[i] (uint64) = the sum of scrambled names of i and its neighbours: equal for twins, by luck for others."""
    for i in range(hashes.size):
        hashes[i] = scrambled(i)
        for at in range(pointers[i], pointers[i + 1]):
            hashes[i] += scrambled(indices[at])


@inlined
def scrambled(i):
    """Every bit of the result depends on every bit of i (the finaliser of Steele, Lea & Flood 2014)."""
    z = np.uint64(i) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def find_twins(pointers, indices, hashes, by_hash, twin, work_mark):
    """twin[i] = the node that stands for i, from the nodes in the order of their hashes."""
    work_mark[:] = NONE
    model = NONE
    for i in by_hash:
        twin[i] = i
        if model != NONE and hashes[i] == hashes[model] and has_neighbours(pointers, indices, i, work_mark, model):
            twin[i] = model
        else:
            model = i
            work_mark[i] = i
            for at in range(pointers[i], pointers[i + 1]):
                work_mark[indices[at]] = i


@inlined
def has_neighbours(pointers, indices, i, mark, model):
    """Whether i has the neighbours of the model, all of which carry its mark; equal hashes vouch for their number."""
    if mark[i] != model or pointers[i + 1] - pointers[i] != pointers[model + 1] - pointers[model]:
        return False
    for at in range(pointers[i], pointers[i + 1]):  # noqa: SIM110 - Numba knows no generators with closures
        if mark[indices[at]] != model:
            return False
    return True


@kernel
def quotient_graph(pointers, indices, models, number, new_pointers, new_indices):
    """The graph of the nodes that stand for all; number[i] = the new name of such a node, -1 for the others."""
    put = 0
    new_pointers[0] = 0
    for k in range(models.size):
        for at in range(pointers[models[k]], pointers[models[k] + 1]):
            if number[indices[at]] != NONE:
                new_indices[put] = number[indices[at]]
                put += 1
        new_pointers[k + 1] = put


# -- nested dissection -------------------------------------------------------------------------------------------------


DISSECTION_ROWS = 6  # of the work array of `dissect`
LEAST_SHARE = 0.2  # of a region on either side of a separator; without it, graphs without separators are peeled slowly
REFINING_PASSES = 8
FIRST_SIDE, SECOND_SIDE, SEPARATOR = 0, 1, 2


@part
def breadth_first(pointers, indices, label, mine, root, level, queue):
    """Fill `queue` with the nodes that the root reaches inside its label, by rising level; returns their number.

    Levels must be NONE before. They stay behind, for the caller to read and to clean.
    """
    queue[0] = root
    level[root] = 0
    count = 1
    at = 0
    while at < count:
        i = queue[at]
        at += 1
        for k in range(pointers[i], pointers[i + 1]):
            j = indices[k]
            if label[j] == mine and level[j] == NONE:
                level[j] = level[i] + 1
                queue[count] = j
                count += 1
    return count


@part
def from_the_edge(pointers, indices, label, mine, root, level, queue):
    """`breadth_first` from a pseudo-peripheral node: move the root to a far end as long as that deepens the structure.

    George & Liu 1979. Of the nodes in the last level, the one with the fewest neighbours is tried.
    """
    count = breadth_first(pointers, indices, label, mine, root, level, queue)
    while True:
        depth = level[queue[count - 1]]
        best = queue[count - 1]
        for at in range(count - 1, -1, -1):
            i = queue[at]
            if level[i] == depth and pointers[i + 1] - pointers[i] < pointers[best + 1] - pointers[best]:
                best = i
            level[i] = NONE
        breadth_first(pointers, indices, label, mine, best, level, queue)
        if level[queue[count - 1]] <= depth:
            return count


@kernel
def dissect(pointers, indices, weights, leaf, nodes, stage, work):
    """Nested dissection (George 1973): nodes = first part, second part, separator; the parts again, down to the leaves.

    stage[i] = where the leaf or the separator of node i begins in `nodes`: an order of elimination, since no edge joins
    two parts. Regions of at most `leaf` rows are not divided, nor are those without a small enough separator.
    """
    label, level, queue, side, first, last = work[0], work[1], work[2], work[3], work[4], work[5]
    label[:] = 0
    level[:] = NONE
    for i in range(nodes.size):
        nodes[i] = i
    first[0], last[0] = 0, nodes.size
    regions = 1
    mine = 0
    while regions > 0:
        regions -= 1
        begin, end = first[regions], last[regions]
        region = nodes[begin:end]
        mine += 1
        total = 0
        for i in region:
            label[i] = mine
            total += weights[i]
        if total <= leaf:
            stage[region] = begin
            continue

        done = 0
        for i in region:  # one component after another
            if level[i] == NONE:
                first[regions] = begin + done
                done += breadth_first(pointers, indices, label, mine, i, level, queue[done:])
                last[regions] = begin + done
                regions += 1
        for at in range(done):
            level[queue[at]] = NONE
        region[:] = queue[:done]
        if first[regions - 1] > begin:
            continue

        regions -= 1
        from_the_edge(pointers, indices, label, mine, region[0], level, queue)
        is_cut = choose_level(weights, level, queue[:done], total, side)
        for i in region:
            level[i] = NONE
        if not is_cut:
            stage[region] = begin
            continue
        refine_separator(pointers, indices, weights, label, mine, region, total, side)
        middle = begin + gather(region, side, FIRST_SIDE, queue)
        border = middle + gather(nodes[middle:end], side, SECOND_SIDE, queue)
        stage[nodes[border:end]] = border
        label[nodes[border:end]] = NONE
        first[regions], last[regions] = begin, middle
        first[regions + 1], last[regions + 1] = middle, border
        regions += 2


@part
def choose_level(weights, level, queue, total, side):
    """Put each node on its side of the level with the least (its weight) / (weight before x weight behind).

    Only levels with enough on either side are looked at; returns whether there is one.
    """
    best, chosen = inf, NONE
    before = at = 0
    while at < queue.size:
        here, weight = level[queue[at]], 0
        while at < queue.size and level[queue[at]] == here:
            weight += weights[queue[at]]
            at += 1
        behind = total - before - weight
        if min(before, behind) >= LEAST_SHARE * total and weight / (float(before) * behind) < best:
            best, chosen = weight / (float(before) * behind), here
        before += weight
    for i in queue:
        side[i] = FIRST_SIDE if level[i] < chosen else (SECOND_SIDE if level[i] > chosen else SEPARATOR)
    return chosen != NONE


@part
def refine_separator(pointers, indices, weights, label, mine, nodes, total, side):
    """Move nodes out of the separator while that makes it lighter, or as light and the sides more equal.

    A node that moves to one side pulls its neighbours of the other side into the separator; a node without such
    neighbours was needless.
    """
    first_share = second_share = 0
    for i in nodes:
        if side[i] == FIRST_SIDE:
            first_share += weights[i]
        elif side[i] == SECOND_SIDE:
            second_share += weights[i]
    for _ in range(REFINING_PASSES):
        moved = False
        for i in nodes:
            if side[i] != SEPARATOR:
                continue
            first = second = 0  # the weights of the neighbours on each side
            for at in range(pointers[i], pointers[i + 1]):
                j = indices[at]
                if label[j] == mine and side[j] == FIRST_SIDE:
                    first += weights[j]
                elif label[j] == mine and side[j] == SECOND_SIDE:
                    second += weights[j]
            to_first = second < first or (second == first and first_share < second_share)
            pulled = min(first, second)
            here, there = (first_share, second_share) if to_first else (second_share, first_share)
            here, there = here + weights[i], there - pulled
            if pulled > 0 and (there < LEAST_SHARE * total or pulled > weights[i] - (here > there)):
                continue
            moved = True
            first_share, second_share = (here, there) if to_first else (there, here)
            side[i] = FIRST_SIDE if to_first else SECOND_SIDE
            for at in range(pointers[i], pointers[i + 1]):
                j = indices[at]
                if label[j] == mine and side[j] == 1 - side[i]:
                    side[j] = SEPARATOR
        if not moved:
            break


@part
def gather(nodes, side, wanted, queue):
    """Move the nodes of the wanted side to the front, all others keeping their order; returns how many they are."""
    put = waiting = 0
    for i in nodes:
        if side[i] == wanted:
            nodes[put] = i
            put += 1
        else:
            queue[waiting] = i
            waiting += 1
    for k in range(waiting):
        nodes[put + k] = queue[k]
    return put
