"""The elimination tree of a sparse Cholesky factor, and what follows from it: counts, supernodes, row structures.

All arrays are int64; -1 means "none". `pointers, indices` is the adjacency of a symmetric matrix, without its diagonal,
in the numbering of the matrix; `permutation[k]` is the row that is eliminated k-th and `inverse` undoes it. Everything
else is numbered by elimination. Arrays named `work_*` only lend their memory.
"""

from __future__ import annotations

from perp.kernels.compile import inlined, kernel

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
