"""What the exact solve of a contact keeps of its block of A: the first eight numbers of `local_contacts.py`."""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, kernel

U = tuple(np.uint64(k) for k in range(9))


@inlined
def principal_axes(s_p, s_q, s_pq, least):
    """Eigenvalues of [[s_p, s_pq], [s_pq, s_q]], no smaller than `least`, and the turn to its eigenvectors."""
    angle = 0.5 * math.atan2(2.0 * s_pq, s_p - s_q)
    cosine, sine = math.cos(angle), math.sin(angle)
    mixed = 2.0 * cosine * sine * s_pq
    first = cosine * cosine * s_p + mixed + sine * sine * s_q
    second = sine * sine * s_p - mixed + cosine * cosine * s_q
    return max(first, least), max(second, least), cosine, sine


@kernel
def prepare(blocks, width, relaxation, is_box, least_share, strongest_coupling, cells, local):
    """Eight numbers a contact, every `cells` places, from blocks of width x width (2 or 3), divided by `relaxation`.

    Blocks are symmetrised. A planar contact gets a second tangent of stiffness 1.
    """
    share = 1.0 / relaxation
    size = width * width
    for contact in range(np.uint64(local.size) // cells):
        at, k = size * contact, cells * contact
        w_n, w_p, w_q = share * blocks[at], share * blocks[at + width + U[1]], share
        np_, nq, pq = 0.5 * share * (blocks[at + U[1]] + blocks[at + width]), 0.0, 0.0
        total = w_n + w_p
        if width == U[3]:
            w_q = share * blocks[at + U[8]]
            nq = 0.5 * share * (blocks[at + U[2]] + blocks[at + U[6]])
            pq = 0.5 * share * (blocks[at + U[5]] + blocks[at + U[7]])
            total += w_q  # the tangent that planar contacts are given has no say in it
        inverse = 1.0 / w_n if w_n > 0.0 else 0.0
        a_p, a_q = inverse * np_, inverse * nq
        s_p, s_q, s_pq = w_p - w_n * a_p * a_p, w_q - w_n * a_q * a_q, pq - w_n * a_p * a_q
        is_weak = max(abs(a_p), abs(a_q)) < strongest_coupling
        if not (is_weak and math.isfinite(s_p) and math.isfinite(s_q) and math.isfinite(s_pq)):
            a_p, a_q, s_p, s_q, s_pq = 0.0, 0.0, 1.0, 1.0, 0.0
        least = least_share * max(w_n, total / width)
        first, second, cosine, sine = principal_axes(s_p, s_q, s_pq, least)
        local[k] = w_n
        local[k + U[1]] = inverse
        if is_box:
            local[k + U[2]], local[k + U[3]] = a_p, a_q
            local[k + U[4]] = cosine * cosine * first + sine * sine * second
            local[k + U[5]] = sine * sine * first + cosine * cosine * second
            local[k + U[6]], local[k + U[7]] = 1.0, cosine * sine * (first - second)
        else:
            local[k + U[2]], local[k + U[3]] = cosine * a_p + sine * a_q, cosine * a_q - sine * a_p
            local[k + U[4]], local[k + U[5]] = first, second
            local[k + U[6]], local[k + U[7]] = cosine, sine
