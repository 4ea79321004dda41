"""The numbers of a supernodal Cholesky factor L L^T = P A P^T, and solves with it (structure: `perp.linalg.symbolic`).

Left-looking: a supernode collects what its descendants subtract from it, one matrix product each, and is then factored
as a dense trapezoid. Blocks are column-major: entry (i, j) of supernode s is at `values_start[s] + j rows(s) + i`.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.blas import add_product_transposed
from perp.kernels.compile import kernel
from perp.kernels.factors.dense_factors import (
    BLOCK,
    DEPENDENT,
    combine_columns,
    factor_trapezoid,
    solve_lower,
    solve_upper,
    subtract_dots,
)
from perp.kernels.factors.lanes import subtract_run


@kernel
def count_updates(super_start, column_to_super, rows_start, rows, counts):
    """counts[s + 1] = how many supernodes subtract something from supernode s; returns the largest product (m n)."""
    largest = 0
    for d in range(super_start.size - 1):
        end = rows_start[d + 1]
        low = rows_start[d] + super_start[d + 1] - super_start[d]
        while low < end:
            s = column_to_super[rows[low]]
            high = low
            while high < end and rows[high] < super_start[s + 1]:
                high += 1
            counts[s + 1] += 1
            largest = max(largest, (end - low) * (high - low))
            low = high
    return largest


@kernel
def list_updates(super_start, column_to_super, rows_start, rows, next_place, giver, first_row, end_row):
    """Of each update of s: who gives it, and which of its rows, counted from its first, are columns of s."""
    for d in range(super_start.size - 1):
        begin, end = rows_start[d], rows_start[d + 1]
        low = begin + super_start[d + 1] - super_start[d]
        while low < end:
            s = column_to_super[rows[low]]
            high = low
            while high < end and rows[high] < super_start[s + 1]:
                high += 1
            place = next_place[s]
            giver[place], first_row[place], end_row[place] = d, low - begin, high - begin
            next_place[s] += 1
            low = high


@kernel
def count_lower(pointers, indices, permutation, inverse, count):
    """count[j + 1] = entries of column j in the lower triangle of P A P^T."""
    for i in range(permutation.size):
        for e in range(pointers[permutation[i]], pointers[permutation[i] + 1]):
            if inverse[indices[e]] <= i:
                count[inverse[indices[e]] + 1] += 1


@kernel
def list_lower(pointers, indices, permutation, inverse, next_place, row, source):
    """The lower triangle of P A P^T by columns: row numbers, which rise as i does, and where the entry is in A."""
    for i in range(permutation.size):
        for e in range(pointers[permutation[i]], pointers[permutation[i] + 1]):
            j = inverse[indices[e]]
            if j <= i:
                row[next_place[j]], source[next_place[j]] = i, e
                next_place[j] += 1


@kernel
def find_targets(super_start, column_to_super, rows_start, rows, values_start, column_start, row, target):
    """Where each entry of the lower triangle of P A P^T, given by columns, has its place among the blocks."""
    for j in range(column_to_super.size):
        s = column_to_super[j]
        begin, height = rows_start[s], rows_start[s + 1] - rows_start[s]
        base = values_start[s] + (j - super_start[s]) * height
        for e in range(column_start[j], column_start[j + 1]):
            low, high = begin, begin + height  # rows are sorted: halve the search
            while low < high:
                middle = (low + high) // 2
                if rows[middle] < row[e]:
                    low = middle + 1
                else:
                    high = middle
            target[e] = base + low - begin


@kernel
def mark_changes(super_start, super_parent, column_start, old, new, anew, marked):
    """Mark the supernodes that must be factored again: those with a changed number, and all their ancestors."""
    count = 0
    for s in range(super_start.size - 1):
        changed = anew or marked[s]
        if not changed:
            for e in range(column_start[super_start[s]], column_start[super_start[s + 1]]):
                if old[e] != new[e]:
                    changed = True
                    break
        marked[s] = changed
        if changed:
            count += 1
            if super_parent[s] >= 0:
                marked[super_parent[s]] = True  # a parent follows its children
    return count


@kernel
def factor(
    address,
    super_start,
    rows_start,
    rows,
    values_start,
    update_start,
    giver,
    first_row,
    end_row,
    column_start,
    target,
    numbers,
    marked,
    floor,
    L,
    position,
    spread,
    product,
    inverse,
    work,
    found,
):
    """Factor the marked supernodes anew; the others keep what they have."""
    for s in range(super_start.size - 1):
        if not marked[s]:
            continue
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base = rows_start[s + 1] - rows_start[s], values_start[s]
        for i in range(height):
            position[rows[rows_start[s] + i]] = i
        for e in range(np.uint64(base), np.uint64(base + height * width)):
            L[e] = 0.0
        for e in range(np.uint64(column_start[start]), np.uint64(column_start[start + width])):
            L[np.uint64(target[e])] = numbers[e]
        for update in range(update_start[s], update_start[s + 1]):
            d, low = giver[update], first_row[update]
            d_height, d_width = rows_start[d + 1] - rows_start[d], super_start[d + 1] - super_start[d]
            m, n = d_height - low, end_row[update] - low
            at = values_start[d] + low
            add_product_transposed(address, m, n, d_width, 1.0, L, at, d_height, L, at, d_height, 0.0, product, 0, m)
            d_rows, tall, runs = np.uint64(rows_start[d] + low), np.uint64(m), np.uint64(0)
            before = -1
            for i in range(tall):  # spread = where runs of rows without a gap begin
                here = position[np.uint64(rows[d_rows + i])]
                if here != before + 1 or i == 0:
                    spread[runs] = i
                    runs += np.uint64(1)
                before = here
            spread[runs] = m  # there is room for it: a giver has a row of its own
            for j in range(np.uint64(n)):
                column = np.uint64(base + (rows[d_rows + j] - start) * height)
                for r in range(runs):  # what this does above the diagonal is not used
                    first, end = np.uint64(spread[r]), np.uint64(spread[r + np.uint64(1)])
                    if end > j:
                        to = column + np.uint64(position[np.uint64(rows[d_rows + first])])
                        subtract_run(L, to, product, j * tall + first, end - first)
        factor_trapezoid(address, L, base, height, width, floor, start, inverse, work, found)
        if found[DEPENDENT] < 0:
            return


@kernel
def solve(super_start, rows_start, rows, values_start, L, x, work):
    """x = (L L^T)^-1 x, in the order of L; a few columns of a supernode at a time."""
    last = super_start.size - 1
    for s in range(last):
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base, listed = rows_start[s + 1] - rows_start[s], values_start[s], rows_start[s]
        for j in range(0, width, BLOCK):
            size = min(BLOCK, width - j)
            here, done = base + j * height + j, j + size
            solve_lower(L, here, size, height, x, start + j)
            combine_columns(L, here + size, height, height - done, size, x, start + j, work)
            for i in range(np.uint64(height - done)):
                x[np.uint64(rows[np.uint64(listed + done) + i])] -= work[i]
    for s in range(last - 1, -1, -1):
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base, listed = rows_start[s + 1] - rows_start[s], values_start[s], rows_start[s]
        for j in range(BLOCK * ((width - 1) // BLOCK), -1, -BLOCK):
            size = min(BLOCK, width - j)
            here, done = base + j * height + j, j + size
            for i in range(np.uint64(height - done)):
                work[i] = x[np.uint64(rows[np.uint64(listed + done) + i])]
            subtract_dots(L, here + size, height, height - done, size, work, x, start + j)
            solve_upper(L, here, size, height, x, start + j)
