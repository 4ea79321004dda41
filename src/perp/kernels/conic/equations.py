"""The linear side of `cone_interior`: products with J, M and A, the matrix K, its factor, and residuals.

In body space K = M + J^T H J, with a block H for every contact; in contact space K = A + W.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.by_address import called
from perp.kernels.compile import inlined, part
from perp.kernels.conic.layout import EP, RD, RP, B, C, V, X, Y
from perp.kernels.factors import supernodal_lu

_factor = called(supernodal_lu.FACTOR)
_factor_symmetric = called(supernodal_lu.FACTOR_SYMMETRIC)
_solve = called(supernodal_lu.SOLVE)


@inlined
def gather(system, g, V, local):
    """The velocities of a group, one after the other in `local`; returns how many."""
    begin = np.uint64(system.group_columns[g])
    size = np.uint64(system.group_columns[g + 1]) - begin
    for q in range(size):
        local[q] = V[np.uint64(system.columns[begin + q])]
    return size


@part
def push(blocks, system, local, x, f):
    """f += J^T x."""
    J = system.jacobian
    for g in range(system.group_blocks.size - 1):
        begin = np.uint64(system.group_columns[g])
        size = np.uint64(system.group_columns[g + 1]) - begin
        for q in range(size):
            local[q] = 0.0
        for b in range(system.group_blocks[g], system.group_blocks[g + 1]):
            at, row = np.uint64(blocks.jacobian[b]), np.uint64(blocks.row[b])
            for i in range(np.uint64(blocks.width[b])):
                line, factor = at + i * size, x[row + i]
                for q in range(size):
                    local[q] += J[line + q] * factor
        for q in range(size):
            f[np.uint64(system.columns[begin + q])] += local[q]


@part
def pull(blocks, system, local, V, out):
    """out += J V."""
    J = system.jacobian
    for g in range(system.group_blocks.size - 1):
        size = gather(system, g, V, local)
        for b in range(system.group_blocks[g], system.group_blocks[g + 1]):
            at, row = np.uint64(blocks.jacobian[b]), np.uint64(blocks.row[b])
            for i in range(np.uint64(blocks.width[b])):
                line, total = at + i * size, 0.0
                for q in range(size):
                    total += J[line + q] * local[q]
                out[row + i] += total


@part
def multiply(system, sign, V, out):
    """out += sign M V (or A V), in the order of the factor."""
    for i in range(system.pointers.size - 1):
        total = 0.0
        for e in range(system.pointers[i], system.pointers[i + 1]):
            total += system.values[e] * V[system.indices[e]]
        out[i] += sign * total


@part
def multiply_rows(system, x, work, out):
    """out = A x, in the order of the rows; contact space."""
    for i in range(x.size):
        work[i] = x[system.rows[i]]
    for i in range(x.size):
        total = 0.0
        for e in range(system.pointers[i], system.pointers[i + 1]):
            total += system.values[e] * work[system.indices[e]]
        out[system.rows[i]] = total


@part
def residuals(in_bodies, blocks, system, it):
    """r_d = J V + C x + b - y and r_p = J^T x - M V, or r_d = A x + b - y."""
    x, y, r_d, r_p = it.rows[X], it.rows[Y], it.rows[RD], it.bodies[RP]
    b, c = it.rows[B], it.rows[C]
    if in_bodies:
        for i in range(r_p.size):
            r_p[i] = 0.0
        push(blocks, system, it.local, x, r_p)
        multiply(system, -1.0, it.bodies[V], r_p)
        for i in range(x.size):
            r_d[i] = c[i] * x[i] + b[i] - y[i]
        pull(blocks, system, it.local, it.bodies[V], r_d)
    else:
        multiply_rows(system, x, it.bodies[EP], r_d)
        for i in range(x.size):
            r_d[i] += b[i] - y[i]


@part
def assemble(blocks, system, it, numbers):
    """K = M + J^T H J; lower numbers first, then upper ones."""
    base, local, H, J = system.base, it.local, it.H, system.jacobian
    for e in range(base.size):
        numbers[e] = base[e]
    for g in range(system.group_blocks.size - 1):
        wide = np.uint64(system.group_columns[g + 1] - system.group_columns[g])
        whole = wide * wide
        for e in range(whole):
            local[e] = 0.0
        for b in range(system.group_blocks[g], system.group_blocks[g + 1]):
            d, at, j_at = np.uint64(blocks.width[b]), np.uint64(blocks.matrix[b]), np.uint64(blocks.jacobian[b])
            for i in range(d):
                for q in range(wide):
                    local[whole + q] = 0.0
                for k in range(d):
                    factor, line = H[at + i * d + k], j_at + k * wide
                    for q in range(wide):
                        local[whole + q] += factor * J[line + q]
                for p in range(wide):
                    factor, line = J[j_at + i * wide + p], p * wide
                    for q in range(wide):
                        local[line + q] += factor * local[whole + q]
        first = np.uint64(system.group_places[g])
        for e in range(whole):
            numbers[np.uint64(system.places[first + e])] += local[e]


@part
def assemble_in_contacts(blocks, system, it, numbers):
    """K = A + W, for blocks W that stand in H."""
    base = system.base
    for e in range(base.size):
        numbers[e] = base[e]
    for b in range(blocks.row.size):
        first, at = system.group_places[b], blocks.matrix[b]
        for e in range(blocks.width[b] * blocks.width[b]):
            numbers[system.places[first + e]] += it.H[at + e]


@part
def factor(address, symmetric, fac):
    """Returns the sign of the determinant; 0 where the matrix has no factor."""
    lower = fac.numbers[: fac.target.size]
    if symmetric:
        _factor_symmetric(fac.factor_at, (
            address, fac.super_start, fac.rows_start, fac.rows, fac.values_start, fac.update_start, fac.giver,
            fac.first_row, fac.end_row, fac.column_start, fac.target, lower, fac.floor,
            fac.L, fac.U, fac.position, fac.spread, fac.product, fac.inverse, fac.work, fac.found,
        ))  # fmt: skip
    else:
        _factor(fac.factor_at, (
            address, fac.super_start, fac.rows_start, fac.rows, fac.values_start, fac.update_start, fac.giver,
            fac.first_row, fac.end_row, fac.column_start, fac.target, lower, fac.numbers[fac.target.size :], fac.floor,
            fac.L, fac.U, fac.position, fac.spread, fac.product, fac.product_upper, fac.inverse, fac.work, fac.found,
        ))  # fmt: skip
    return 0 if fac.found[0] < 0 else fac.found[1]


@part
def solve_factor(fac, x):
    _solve(fac.solve_at, (fac.super_start, fac.rows_start, fac.rows, fac.values_start, fac.L, fac.U, x, fac.work))
