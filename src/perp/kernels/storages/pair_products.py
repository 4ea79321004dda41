"""J v, and the diagonal blocks of J M^-1 J^T, where each row of J touches at most two bodies.

Layouts are those of `body_pairs.py` and `planar_pairs.py`; v has the immovable body at its end.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import inlined, kernel
from perp.kernels.storages.body_pairs import U2, U6, U8, U12, row_dot

U1, U3, U4, U5 = (np.uint64(k) for k in (1, 3, 4, 5))


@kernel
def times_bodies(bodies, jacobian, v, out):
    """Six velocities a body."""
    for i in range(np.uint64(out.size)):
        a, b = np.uint64(bodies[U2 * i]), np.uint64(bodies[U2 * i + U1])
        out[i] = row_dot(jacobian, U12 * i, v, U6 * a, U6 * b)


@kernel
def times_planar(bodies, jacobian, v, out):
    """Three velocities a body."""
    for i in range(np.uint64(out.size)):
        a, b = U3 * np.uint64(bodies[U2 * i]), U3 * np.uint64(bodies[U2 * i + U1])
        j = U6 * i
        of_a = jacobian[j] * v[a] + jacobian[j + U1] * v[a + U1] + jacobian[j + U2] * v[a + U2]
        j += U3
        out[i] = of_a + (jacobian[j] * v[b] + jacobian[j + U1] * v[b + U1] + jacobian[j + U2] * v[b + U2])


@inlined
def weigh(inverse_mass, m, jacobian, j):
    """M_body^-1 times one body's part of a row of J."""
    p, q, r = jacobian[j + U3], jacobian[j + U4], jacobian[j + U5]
    return (
        inverse_mass[m] * jacobian[j],
        inverse_mass[m] * jacobian[j + U1],
        inverse_mass[m] * jacobian[j + U2],
        inverse_mass[m + U1] * p + inverse_mass[m + U4] * q + inverse_mass[m + U5] * r,
        inverse_mass[m + U4] * p + inverse_mass[m + U2] * q + inverse_mass[m + U6] * r,
        inverse_mass[m + U5] * p + inverse_mass[m + U6] * q + inverse_mass[m + U3] * r,
    )


@inlined
def half_dot(weighted, jacobian, j):
    """The product of such a part with that of another row, which starts at j."""
    linear = weighted[0] * jacobian[j] + weighted[1] * jacobian[j + U1] + weighted[2] * jacobian[j + U2]
    return linear + (weighted[3] * jacobian[j + U3] + weighted[4] * jacobian[j + U4] + weighted[5] * jacobian[j + U5])


@kernel
def blocks_of_bodies(size, bodies, jacobian, inverse_mass, blocks):
    """Diagonal blocks of J M^-1 J^T, size x size each, flat; the rows of a block act on the same two bodies."""
    square = size * size
    for block in range(np.uint64(blocks.size) // square):
        first = block * size
        m_a, m_b = U8 * np.uint64(bodies[U2 * first]), U8 * np.uint64(bodies[U2 * first + U1])
        for p in range(size):
            row = U12 * (first + p)
            of_a, of_b = weigh(inverse_mass, m_a, jacobian, row), weigh(inverse_mass, m_b, jacobian, row + U6)
            for q in range(p + U1):
                other = U12 * (first + q)
                entry = half_dot(of_a, jacobian, other) + half_dot(of_b, jacobian, other + U6)
                blocks[square * block + size * p + q] = entry
                blocks[square * block + size * q + p] = entry
