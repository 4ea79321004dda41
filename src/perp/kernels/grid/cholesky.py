"""Incomplete Cholesky factors of a 5- or 7-point stencil without entries: one number a cell (Dupont, Kendall & Rachford
1968; Gustafsson 1978).

With L the couplings of a cell to its neighbours with smaller numbers, as they stand in A, and E diagonal,

    P = (E + L) E^-1 (E + L^T)

agrees with A off the diagonal, but for the fill between two later neighbours of a cell. The diagonal E alone has to be
found, cell by cell; 1 / E is kept, zero for cells that are not free: they then drop out of the substitutions unasked.

A grid has three axes, the first of size one in a plane. Couplings are `wx[step * c]`, ...: with step = 1 one number a
face, laid out as `StencilOperator.faces`; with step = 0 one line of n_z + 1 numbers for all lines of cells, for `wz`
with a zero at either end.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel

ZERO, ONE = np.uint64(0), np.uint64(1)


@kernel
def factor(nx, ny, nz, step, wx, wy, wz, centre, free, shift, tau, least, mends, inverse):
    """inverse = 1 / E for A_FF + diag(shift); returns how many pivots are of no use, which leaves no factor.

    A cell p takes from E_c of each free neighbour c after it  A_cp (A_cp + tau sum of A_pm) / E_p, with m the other
    free neighbours after p: the fill A_cp A_pm / E_p, which P has at (c, m) and A has not, comes off the diagonal, by
    the share tau. With tau = 1 the row sums of P are those of A.

    A pivot that is not above `least` times |A_cc| becomes |A_cc| where `mends` allows it, else only where it is about
    zero and no later cell would see it: an exact factor of a closed region ends with such a cell.
    """
    sx, sy = ny * nz, nz
    lost = 0
    for c in range(nx * ny * nz):
        inverse[c] = centre[c] + shift[c] if free[c] else 0.0
    for i in range(nx):
        for j in range(ny):
            first = (i * ny + j) * nz
            base_x, base_y, base_z = step * (first + sx), step * (first + sy), step * first + ONE
            x_ahead, y_ahead = i + ONE < nx, j + ONE < ny
            for k in range(nz):
                c = first + k
                if not free[c]:
                    continue
                x = wx[base_x + k] if x_ahead and free[c + sx] else 0.0
                y = wy[base_y + k] if y_ahead and free[c + sy] else 0.0
                z = wz[base_z + k] if k + ONE < nz and free[c + ONE] else 0.0
                e = inverse[c]
                size = abs(centre[c] + shift[c])
                if not e > least * size:
                    is_unseen = x == 0.0 and y == 0.0 and z == 0.0 and e >= -least * size
                    lost += not (is_unseen or (mends and centre[c] + shift[c] > 0.0))
                    e = size if size > 0.0 else 1.0
                e = 1.0 / e
                inverse[c] = e
                if x != 0.0:
                    inverse[c + sx] -= x * (x + tau * (y + z)) * e
                if y != 0.0:
                    inverse[c + sy] -= y * (y + tau * (x + z)) * e
                if z != 0.0:
                    inverse[c + ONE] -= z * (z + tau * (x + y)) * e
    return lost


@kernel
def substitute(nx, ny, nz, step, wx, wy, wz, inverse, r, z):
    """z = P^-1 r: (E + L) u = r forwards, then (E + L^T) z = E u backwards; u lies in z.

    What comes from other lines is added up for a whole line first: it waits for nothing, while along a line each cell
    waits for the last one.
    """
    sx, sy = ny * nz, nz
    for i in range(nx):
        for j in range(ny):
            first = (i * ny + j) * nz
            base = step * first
            if i > ZERO and j > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] = inverse[c] * (r[c] - wx[base + k] * z[c - sx] - wy[base + k] * z[c - sy])
            elif i > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] = inverse[c] * (r[c] - wx[base + k] * z[c - sx])
            elif j > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] = inverse[c] * (r[c] - wy[base + k] * z[c - sy])
            else:
                for k in range(nz):
                    z[first + k] = inverse[first + k] * r[first + k]
            last = z[first]
            for k in range(ONE, nz):
                last = z[first + k] - (inverse[first + k] * wz[base + k]) * last
                z[first + k] = last
    for i_back in range(nx):
        for j_back in range(ny):
            i, j = nx - ONE - i_back, ny - ONE - j_back
            first = (i * ny + j) * nz
            base = step * first
            base_x, base_y = step * (first + sx), step * (first + sy)
            if i_back > ZERO and j_back > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] -= inverse[c] * (wx[base_x + k] * z[c + sx] + wy[base_y + k] * z[c + sy])
            elif i_back > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] -= inverse[c] * (wx[base_x + k] * z[c + sx])
            elif j_back > ZERO:
                for k in range(nz):
                    c = first + k
                    z[c] -= inverse[c] * (wy[base_y + k] * z[c + sy])
            last = z[first + nz - ONE]
            for k_back in range(ONE, nz):
                c = first + nz - ONE - k_back
                last = z[c] - (inverse[c] * wz[base + nz - k_back]) * last
                z[c] = last
