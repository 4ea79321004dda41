"""Supernodal Cholesky factors L L^T = P A P^T of sparse matrices: their structure, their numbers, and solves with them.

From the elimination tree follow the counts of the factor's columns, its supernodes and the structures of their rows.
Arrays of the structure are int64; -1 means "none". `pointers, indices` is the adjacency of a symmetric matrix, without
its diagonal, in the numbering of the matrix; `permutation[k]` is the row that is eliminated k-th and `inverse` undoes
it. Everything else is numbered by elimination. Arrays named `work_*` only lend their memory.

The numbers are found left-looking: a supernode collects what its descendants subtract from it, one matrix product each,
and is then factored as a dense trapezoid. Blocks are column-major: entry (i, j) of supernode s is at `values_start[s] +
j rows(s) + i`.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.blas import add_product_transposed
from perp.kernels.compile import inlined, kernel
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

# -- structure ---------------------------------------------------------------------------------------------------------


ALWAYS_WIDTH = 4
FIRST_WIDTH, FIRST_ZEROS = 16, 0.8
SECOND_WIDTH, SECOND_ZEROS = 48, 0.1
ANY_ZEROS = 0.05
"""A supernode joins its parent when together they have ALWAYS_WIDTH columns or fewer, FIRST_WIDTH and a share of zeros
below FIRST_ZEROS, SECOND_WIDTH and below SECOND_ZEROS, or a share below ANY_ZEROS: a few stored zeros cost less than
many small dense blocks (Chen, Davis, Hager & Rajamanickam 2008, whose thresholds these are)."""


@kernel
def elimination_tree(pointers, indices, permutation, inverse, parent, work_ancestor):
    """parent[j] = the row of the first nonzero of L below the diagonal in column j (Liu 1986).

    Row k of L is nonzero exactly on the paths that climb the tree from the nonzeros of row k of A. `work_ancestor` cuts
    those paths short: whoever has been climbed over points at the last root that was found.
    """
    for k in range(permutation.size):
        parent[k] = work_ancestor[k] = -1
        row = permutation[k]
        for at in range(pointers[row], pointers[row + 1]):
            j = inverse[indices[at]]
            while j != -1 and j < k:
                above = work_ancestor[j]
                work_ancestor[j] = k
                if above == -1:
                    parent[j] = k
                j = above


@kernel
def postorder(parent, order, work_child, work_sibling, work_stack):
    """order[k] = the k-th node when every node follows all of its descendants, and children keep their order."""
    n = parent.size
    work_child[:] = -1
    for j in range(n - 1, -1, -1):
        work_sibling[j] = -1
        if parent[j] != -1:
            work_sibling[j] = work_child[parent[j]]
            work_child[parent[j]] = j
    k = 0
    for root in range(n):
        if parent[root] != -1:
            continue
        depth = 0
        work_stack[0] = root
        while depth >= 0:
            child = work_child[work_stack[depth]]
            if child != -1:
                # Each child is forgotten as it is visited, so that the climb back finds its next sibling.
                work_child[work_stack[depth]] = work_sibling[child]
                depth += 1
                work_stack[depth] = child
            else:
                order[k] = work_stack[depth]
                k += 1
                depth -= 1


@inlined
def root_of(forest, j):
    """The root of j in a disjoint-set forest, after halving the path to it."""
    while forest[j] != j:
        forest[j] = forest[forest[j]]
        j = forest[j]
    return j


@kernel
def column_counts(
    pointers, indices, permutation, inverse, parent, counts, work_first, work_newest, work_previous, work_forest
):
    """counts[j] = nonzeros of column j of L, its diagonal included (Gilbert, Ng & Peyton 1994).

    The columns of L that meet row i are a subtree of the elimination tree with root i. Its leaves, met in postorder,
    tell how many subtrees contain j: +1 at each leaf, -1 at the least common ancestor of each leaf and the one before
    it, -1 above the root, and all summed over the descendants of j. Needs a postordered elimination tree.
    """
    n = permutation.size
    work_first[:] = -1
    for j in range(n):
        counts[j] = 1 if work_first[j] == -1 else 0  # a leaf of the whole tree is a leaf of its own row subtree
        if work_first[j] == -1:
            work_first[j] = j
        if parent[j] != -1 and work_first[parent[j]] == -1:
            work_first[parent[j]] = work_first[j]
        work_newest[j] = work_previous[j] = -1
        work_forest[j] = j
    for j in range(n):
        if parent[j] != -1:
            counts[parent[j]] -= 1
        row = permutation[j]
        for at in range(pointers[row], pointers[row + 1]):
            i = inverse[indices[at]]
            # j is a leaf of the subtree of row i when no earlier nonzero of that row lies below j.
            if i > j and work_first[j] > work_newest[i]:
                counts[j] += 1
                if work_previous[i] != -1:
                    counts[root_of(work_forest, work_previous[i])] -= 1
                work_newest[i] = work_first[j]
                work_previous[i] = j
        if parent[j] != -1:
            work_forest[j] = parent[j]
    for j in range(n):
        if parent[j] != -1:
            counts[parent[j]] += counts[j]


@kernel
def find_supernodes(parent, counts, start):
    """start[s] = the first column of the s-th run of columns with the same structure below them; returns how many."""
    n = parent.size
    s = 0
    for j in range(n):
        if j == 0 or parent[j - 1] != j or counts[j - 1] != counts[j] + 1:
            start[s] = j
            s += 1
    start[s] = n
    return s


@inlined
def is_worth_joining(width, zeros, size):
    """Whether a supernode of `width` columns and `size` entries, `zeros` of them zero, is better than its two parts."""
    if width <= ALWAYS_WIDTH or zeros == 0:
        return True
    share = zeros / size
    if width <= FIRST_WIDTH and share < FIRST_ZEROS:
        return True
    if width <= SECOND_WIDTH and share < SECOND_ZEROS:
        return True
    return share < ANY_ZEROS


@kernel
def join_supernodes(parent, counts, count, start, work_kept):
    """Join small supernodes with the parent that follows them directly; returns how many are left in `start`.

    From the last to the first, so that a supernode meets its parent as it has become. The rows of the child below its
    own columns are rows of the parent: the joined block has (columns of the child) + (rows of the parent) rows.
    """
    n = parent.size
    kept = 0  # work_kept[:kept] are the first columns of the supernodes that remain, from the last to the first
    stop, rows, zeros = n, 0, 0
    for s in range(count - 1, -1, -1):
        first, last = start[s], start[s + 1] - 1
        width = last + 1 - first
        if kept > 0:
            here = work_kept[kept - 1]
            if here <= parent[last] < stop:
                joined = stop - first
                more = zeros + width * (width + rows - counts[first])
                if is_worth_joining(joined, more, joined * (joined + 1) // 2 + joined * (rows - (stop - here))):
                    work_kept[kept - 1] = first
                    rows += width
                    zeros = more
                    continue
            stop = here
        work_kept[kept] = first
        kept += 1
        rows, zeros = counts[first], 0
    for s in range(kept):
        start[s] = work_kept[kept - 1 - s]
    start[kept] = n
    return kept


@kernel
def supernode_tree(parent, counts, start, column_to_super, super_parent, rows_start, values_start):
    """Who owns each column, the parent of each supernode, and where its rows and its dense block begin."""
    rows_start[0] = values_start[0] = 0
    for s in range(super_parent.size):
        width = start[s + 1] - start[s]
        rows = width + counts[start[s + 1] - 1] - 1
        column_to_super[start[s] : start[s + 1]] = s
        rows_start[s + 1] = rows_start[s] + rows
        values_start[s + 1] = values_start[s] + rows * width
    for s in range(super_parent.size):
        above = parent[start[s + 1] - 1]
        super_parent[s] = -1 if above == -1 else column_to_super[above]


@kernel
def row_structures(
    pointers, indices, permutation, inverse, start, column_to_super, super_parent, rows_start, rows, work_end, work_seen
):
    """rows[rows_start[s]:rows_start[s + 1]] = the rows of supernode s, sorted: its own columns, then those below.

    Row i climbs the tree of supernodes from each of its nonzeros until it meets itself. As i rises, each supernode
    receives its rows in order: no sorting.
    """
    for s in range(super_parent.size):
        work_end[s] = rows_start[s]
        work_seen[s] = -1
        for j in range(start[s], start[s + 1]):
            rows[work_end[s]] = j
            work_end[s] += 1
    for i in range(permutation.size):
        work_seen[column_to_super[i]] = i
        row = permutation[i]
        for at in range(pointers[row], pointers[row + 1]):
            j = inverse[indices[at]]
            if j < i:
                s = column_to_super[j]
                while work_seen[s] != i:
                    work_seen[s] = i
                    rows[work_end[s]] = i
                    work_end[s] += 1
                    s = super_parent[s]


# -- numbers -----------------------------------------------------------------------------------------------------------


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
