"""Dense matrix products inside kernels: SciPy's own BLAS, called by address.

Numba's loops do a matrix product at a fifth of the speed of a tuned BLAS (measured: 10 against 50 GF/s on blocks of
64 x 64 x 64), and every block factorisation is made of such products. Kernels therefore take the address of `dgemm` as
their first argument, which keeps them cacheable: an address is another one in every process.

A BLAS may share a large product among threads, and its rounding then depends on their number. OpenBLAS, which SciPy's
wheels hold, uses one thread up to m n k = 2^18; so larger products are cut into pieces of at most that size, and the
same bits come out whatever the number of threads.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address

from perp.kernels.compile import inlined, machine_code

PIECE = 64
"""Products are cut into pieces of at most 64 x 64 x 64 = 2^18 (longer ones where they are narrower)."""

MOST = PIECE**3


@cache
def product_address() -> int:
    """Where SciPy's dgemm is in this process."""
    return int(get_cython_function_address("scipy.linalg.cython_blas", "dgemm"))


def _plain_dgemm(address, swap_b, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    left = a[a0 + np.arange(m)[:, None] + np.arange(k) * lda]
    down, across = (ldb, 1) if swap_b == ord("T") else (1, ldb)
    right = b[b0 + np.arange(k)[:, None] * down + np.arange(n) * across]
    places = c0 + np.arange(m)[:, None] + np.arange(n) * ldc
    c[places] = alpha * (left @ right) + (beta * c[places] if beta != 0.0 else 0.0)


@machine_code(_plain_dgemm)
def _dgemm(typing_context, address, swap_b, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    """dgemm on flat arrays from given places on, column-major: C = alpha A B + beta C, or with B^T where told."""
    whole = types.int64
    signature = types.void(
        *(whole, types.uint8, types.int32, types.int32, types.int32, types.float64),
        *(a, whole, types.int32, b, whole, types.int32, types.float64, c, whole, types.int32),
    )

    def generate(context, builder, signature, arguments):
        (address, swap_b, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc) = arguments
        character, integer, number = (t.as_pointer() for t in (ir.IntType(8), ir.IntType(32), ir.DoubleType()))
        function_type = ir.FunctionType(
            ir.VoidType(),
            (character, character, *[integer] * 3, number, number, integer, number, integer, number, number, integer),
        )

        def stored(value):
            return cgutils.alloca_once_value(builder, value)

        def place(array_type, array, offset):
            return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])

        plain = context.get_constant(types.uint8, ord("N"))
        builder.call(
            builder.inttoptr(address, function_type.as_pointer()),
            (
                *(stored(value) for value in (plain, swap_b, m, n, k, alpha)),
                *(place(signature.args[6], a, a0), stored(lda), place(signature.args[9], b, b0), stored(ldb)),
                *(stored(beta), place(signature.args[13], c, c0), stored(ldc)),
            ),
        )
        return context.get_dummy_value()

    return signature, generate


@inlined
def _add_product(address, swap_b, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    """C = alpha A B + beta C (B^T where `swap_b` is the letter T), in pieces that no BLAS shares among threads."""
    for k0 in range(0, k, PIECE):
        depth = min(PIECE, k - k0)
        factor = beta if k0 == 0 else 1.0
        for n0 in range(0, n, PIECE):
            width = min(PIECE, n - n0)
            height = max(1, MOST // (width * depth))
            b_at = b0 + (k0 * ldb + n0 if swap_b == 84 else n0 * ldb + k0)
            for m0 in range(0, m, height):
                rows = min(height, m - m0)
                a_at, c_at = a0 + k0 * lda + m0, c0 + n0 * ldc + m0
                _dgemm(address, swap_b, rows, width, depth, alpha, a, a_at, lda, b, b_at, ldb, factor, c, c_at, ldc)


@inlined
def add_product(address, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    """C = alpha A B + beta C, for column-major A (m x k), B (k x n) and C (m x n) that begin at a0, b0 and c0."""
    _add_product(address, 78, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc)


@inlined
def add_product_transposed(address, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc):
    """C = alpha A B^T + beta C, for column-major A (m x k), B (n x k) and C (m x n) that begin at a0, b0 and c0."""
    _add_product(address, 84, m, n, k, alpha, a, a0, lda, b, b0, ldb, beta, c, c0, ldc)
