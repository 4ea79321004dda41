"""Greedy colours: no two neighbours have the same."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel

ONE = np.uint64(1)


@kernel
def colour_greedily(pointers, neighbours, colours, taken):
    """Each item in turn gets the least colour that no neighbour before it has; returns how many colours there are.

    `taken` (one number an item more) remembers for which item a colour was last found taken; it starts below zero.
    """
    used = 0
    for i in range(np.uint64(colours.size)):
        for k in range(np.uint64(pointers[i]), np.uint64(pointers[i + ONE])):
            j = np.uint64(neighbours[k])
            if j < i:
                taken[colours[j]] = i
        colour = np.uint64(0)
        while taken[colour] == i:
            colour += ONE
        colours[i] = colour
        used = max(used, colour + ONE)
    return used
