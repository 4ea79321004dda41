"""Iterations of the nonsmooth nonlinear conjugate gradient method, a kernel a storage, on the sweeps of that storage.

`there` and `back` are the order in which a sweep visits the rows; `back` is swept too where `both` is true. `arrays`
are what the sweep takes after it, with the swept point for x, and its velocity where one is kept. `points` are x, the
swept point, that point before the sweep, and the direction; `velocities` the same three again for v = M^-1 J^T x,
which is linear in x and so needs no product of its own; they are empty where A is explicit. `memory` holds the square
of the last gradient, negative before the first, and the number of restarts.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel, uncounted
from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs

ONCE = np.int64(1)  # typed: for a plain 1 Numba would compile the callee a second time
U1, U2, U3, U4 = (np.uint64(k) for k in range(1, 5))


@uncounted
def measure(point, before, direction):
    """(|d|^2, d · direction) for d = point - before, with four partial sums each."""
    s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
    n = np.uint64(point.size)
    whole = n - n % U4
    for i in range(np.uint64(0), whole, U4):
        d0, d1 = point[i] - before[i], point[i + U1] - before[i + U1]
        d2, d3 = point[i + U2] - before[i + U2], point[i + U3] - before[i + U3]
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
        t0 += d0 * direction[i]
        t1 += d1 * direction[i + U1]
        t2 += d2 * direction[i + U2]
        t3 += d3 * direction[i + U3]
    for i in range(whole, n):
        d = point[i] - before[i]
        s0 += d * d
        t0 += d * direction[i]
    return (s0 + s1) + (s2 + s3), (t0 + t1) + (t2 + t3)


@uncounted
def move(beta, point, before, direction):
    """direction = beta direction + (what the sweep changed), point += beta (the old direction), before = point."""
    for i in range(np.uint64(point.size)):
        momentum = beta * direction[i]
        direction[i] = momentum + (point[i] - before[i])
        point[i] += momentum
        before[i] = point[i]


@uncounted
def stay(point, before, direction):
    """direction = 0, before = point."""
    for i in range(np.uint64(point.size)):
        direction[i] = 0.0
        before[i] = point[i]


@uncounted
def add_momentum(published, memory, is_last, points, velocities):
    """What follows a sweep. With d = PGS(point) - point, which is minus the gradient:

        beta = |d|^2 / |d of the last iteration|^2,   x = PGS(point),   point = x + beta p,   p = beta p + d.

    x is only written where somebody is going to read it, after the last iteration of a call.

    A restart leaves out the momentum and forgets the direction. `published`: where beta > 1; otherwise where the
    direction points uphill, d · p < 0, and a larger beta counts as 1.
    """
    x, point, before, direction = points
    square, slope = measure(point, before, direction)
    last = memory[0]
    beta, restarts = 0.0, False
    if last > 0.0:
        beta = square / last
        restarts = not beta <= 1.0 if published else slope < 0.0
        beta = 0.0 if restarts else min(beta, 1.0)
    memory[0] = square
    memory[1] += restarts
    if is_last:
        for i in range(np.uint64(x.size)):
            x[i] = point[i]
    velocity, velocity_before, velocity_direction = velocities
    if restarts:
        stay(point, before, direction)
        stay(velocity, velocity_before, velocity_direction)
    else:
        move(beta, point, before, direction)
        move(beta, velocity, velocity_before, velocity_direction)


@uncounted
def iterate(sweep, count, both, there, back, arrays, published, memory, points, velocities):
    """`count` iterations."""
    for k in range(count):
        sweep(ONCE, there, *arrays)
        if both:
            sweep(ONCE, back, *arrays)
        add_momentum(published, memory, k + ONCE == count, points, velocities)


@kernel
def dense_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(dense.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def dense_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(dense.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def csr_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(csr.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def csr_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(csr.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def runs_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(runs.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def runs_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(runs.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def factored_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(factored.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def factored_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(factored.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def body_pairs_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(body_pairs.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def body_pairs_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(body_pairs.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def planar_pairs_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(planar_pairs.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def planar_pairs_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    iterate(planar_pairs.sweep_contacts, count, both, there, back, arrays, published, memory, points, velocities)
