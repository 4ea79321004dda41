"""Where the levels of a grid hierarchy lie.

All levels but the finest lie one after the other in flat arrays; a row of `table` (numpy.uint64) says where:

    table[l] = (nz, ny, nx,  first cell,  first face across z, y, x,  whether z, y, x are halved for the next level)

(After a change here touch the other `multigrid_*.py`: see compile.py.)
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined

ONE = np.uint64(1)


@inlined
def level_sizes(table, level):
    return table[level, 0], table[level, 1], table[level, 2]


@inlined
def level_halved(table, level):
    return table[level, 7], table[level, 8], table[level, 9]


@inlined
def level_cells(table, level, array):
    start = table[level, 3]
    return array[start : start + table[level, 0] * table[level, 1] * table[level, 2]]


@inlined
def level_faces(table, level, faces_z, faces_y, faces_x):
    nz, ny, nx = level_sizes(table, level)
    n = nz * ny * nx
    z, y, x = table[level, 4], table[level, 5], table[level, 6]
    return faces_z[z : z + n + ny * nx], faces_y[y : y + n + nx], faces_x[x : x + n + ONE]
