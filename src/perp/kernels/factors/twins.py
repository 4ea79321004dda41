"""Twins: nodes with the same neighbours, themselves included, which can be eliminated together.

Contact matrices are full of them (all rows of all contacts between the same two bodies), and the graph of twins is
smaller by that factor squared. Arrays are int64; `pointers, indices` is the adjacency of an undirected graph without
loops.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel

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
