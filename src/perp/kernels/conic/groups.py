"""Set-up: which columns the rows of each block of contacts have, and where they belong in the factor's matrix."""

from __future__ import annotations

from perp.kernels.compile import kernel
from perp.kernels.factors.body_space import search


@kernel
def union_columns(pointers, indices, row, width, block_pointers, block_columns, mark):
    """The sorted columns of all rows of each block; `mark` has -1 for every column."""
    at = 0
    for b in range(row.size):
        block_pointers[b] = at
        for i in range(row[b], row[b] + width[b]):
            for e in range(pointers[i], pointers[i + 1]):
                j = indices[e]
                if mark[j] != b:
                    mark[j] = b
                    k = at
                    while k > block_pointers[b] and block_columns[k - 1] > j:
                        block_columns[k] = block_columns[k - 1]
                        k -= 1
                    block_columns[k] = j
                    at += 1
    block_pointers[row.size] = at


@kernel
def gather_groups(block_pointers, block_columns, merge, group_of, group_columns, columns):
    """Neighbouring blocks with the same columns become one group; returns how many groups there are."""
    groups, at = 0, 0
    for b in range(block_pointers.size - 1):
        begin, end = block_pointers[b], block_pointers[b + 1]
        same = merge and b > 0 and end - begin == begin - block_pointers[b - 1]
        if same:
            for k in range(end - begin):
                if block_columns[begin + k] != block_columns[block_pointers[b - 1] + k]:
                    same = False
                    break
        if not same:
            group_columns[groups] = at
            for k in range(begin, end):
                columns[at] = block_columns[k]
                at += 1
            groups += 1
        group_of[b] = groups - 1
    group_columns[groups] = at
    return groups


@kernel
def find_places(group_columns, columns, column_start, row, group_places, places):
    """places of every pair of columns of a group: lower numbers, or (behind them) upper ones."""
    lower = row.size
    for g in range(group_columns.size - 1):
        begin, end = group_columns[g], group_columns[g + 1]
        at = group_places[g]
        for p in range(begin, end):
            for q in range(begin, end):
                i, j = columns[p], columns[q]
                if i >= j:
                    places[at] = search(row, column_start[j], column_start[j + 1], i)
                else:
                    places[at] = lower + search(row, column_start[i], column_start[i + 1], j)
                at += 1


@kernel
def spread_rows(pointers, indices, data, row, width, group_of, group_columns, columns, start, out):
    """The rows of J of each block, full in the columns of its group."""
    for b in range(row.size):
        begin, end = group_columns[group_of[b]], group_columns[group_of[b] + 1]
        size = end - begin
        for i in range(width[b]):
            for e in range(pointers[row[b] + i], pointers[row[b] + i + 1]):
                place = search(columns, begin, end, indices[e])
                out[start[b] + i * size + place - begin] = data[e]
