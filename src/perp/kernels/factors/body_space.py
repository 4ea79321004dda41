"""K = M + sum over free rows of w_i j_i j_i^T, assembled into the known pattern of its lower triangle."""

from __future__ import annotations

from perp.kernels.compile import inlined, kernel


@inlined
def search(row, low, high, wanted):
    """Where `wanted` is among the rising numbers row[low:high]."""
    while low < high:
        middle = (low + high) // 2
        if row[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def find_pairs(pointers, indices, inverse, column_start, row, place):
    """Where each product J_ip J_iq, q <= p, of a row of J belongs in K (lower triangle, by columns, rows sorted)."""
    at = 0
    for i in range(pointers.size - 1):
        for p in range(pointers[i], pointers[i + 1]):
            for q in range(pointers[i], p + 1):
                a, b = inverse[indices[p]], inverse[indices[q]]
                column, wanted = min(a, b), max(a, b)
                place[at] = search(row, column_start[column], column_start[column + 1], wanted)
                at += 1


@kernel
def add_rows(pointers, values, weight, place, K):
    """K += sum_i weight_i j_i j_i^T; rows of weight zero are passed over."""
    at = 0
    for i in range(pointers.size - 1):
        begin, end = pointers[i], pointers[i + 1]
        length = end - begin
        if weight[i] == 0.0:
            at += length * (length + 1) // 2
            continue
        for p in range(begin, end):
            factor = weight[i] * values[p]
            for q in range(begin, p + 1):
                K[place[at]] += factor * values[q]
                at += 1


@kernel
def weigh(free, compliance, shift, least, weight, added):
    """weight = 1 / (C + shift), C + shift lifted to `least`; zero on rows not free. Says what was added."""
    for i in range(weight.size):
        whole = max(compliance[i] + shift[i], least[i])
        added[i] = whole - compliance[i]
        weight[i] = 1.0 / whole if free[i] else 0.0
