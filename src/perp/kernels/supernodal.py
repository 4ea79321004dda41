"""The numbers of a supernodal Cholesky factor L L^T = P A P^T, and solves with it (structure: `perp.linalg.symbolic`).

Left-looking: a supernode collects what its descendants subtract from it, one matrix product each, and is then factored
as a dense trapezoid. Blocks are column-major: entry (i, j) of supernode s is at `values_start[s] + j rows(s) + i`.
"""

from __future__ import annotations

from perp.kernels.blas import add_product_transposed
from perp.kernels.cholesky import DEPENDENT, dot_column, factor_trapezoid, solve_lower, solve_upper
from perp.kernels.compile import kernel


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
        for e in range(base, base + height * width):
            L[e] = 0.0
        for e in range(column_start[start], column_start[start + width]):
            L[target[e]] = numbers[e]
        for update in range(update_start[s], update_start[s + 1]):
            d, low = giver[update], first_row[update]
            d_height, d_width = rows_start[d + 1] - rows_start[d], super_start[d + 1] - super_start[d]
            m, n = d_height - low, end_row[update] - low
            at = values_start[d] + low
            add_product_transposed(address, m, n, d_width, 1.0, L, at, d_height, L, at, d_height, 0.0, product, 0, m)
            d_rows = rows_start[d] + low
            for i in range(m):
                spread[i] = base + position[rows[d_rows + i]]
            for j in range(n):
                column = (rows[d_rows + j] - start) * height
                for i in range(j, m):
                    L[column + spread[i]] -= product[j * m + i]
        factor_trapezoid(address, L, base, height, width, floor, start, inverse, work, found)
        if found[DEPENDENT] < 0:
            return


@kernel
def solve(super_start, rows_start, rows, values_start, L, x, work):
    """x = (L L^T)^-1 x, in the order of L."""
    last = super_start.size - 1
    for s in range(last):
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base = rows_start[s + 1] - rows_start[s], values_start[s]
        below = height - width
        solve_lower(L, base, width, height, x, start)
        for i in range(below):
            work[i] = 0.0
        for j in range(width):
            value, column = x[start + j], base + j * height + width
            for i in range(below):
                work[i] += L[column + i] * value
        for i in range(below):
            x[rows[rows_start[s] + width + i]] -= work[i]
    for s in range(last - 1, -1, -1):
        start, width = super_start[s], super_start[s + 1] - super_start[s]
        height, base = rows_start[s + 1] - rows_start[s], values_start[s]
        below = height - width
        for i in range(below):
            work[i] = x[rows[rows_start[s] + width + i]]
        for j in range(width):
            x[start + j] -= dot_column(L, base + j * height + width, work, 0, below)
        solve_upper(L, base, width, height, x, start)
