"""Stencils for the tests, in both storages, and readable twins of the sweeps over them."""

from __future__ import annotations

import numpy as np

import perp

STORAGES = ("constant", "faces")


def random_stencil(rng: np.random.Generator, grid: tuple[int, ...], storage: str) -> perp.StencilOperator:
    """Symmetric and strictly dominant."""
    if storage == "constant":
        couplings = list(-rng.uniform(0.2, 1.0, len(grid)))
    else:
        couplings = [-rng.random(face_shape(grid, axis)) for axis in range(len(grid))]
    return perp.StencilOperator(grid, 2.0 * len(grid) + rng.random(grid), couplings)


def face_shape(grid: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(size - (k == axis) for k, size in enumerate(grid))


def pressure_matrix(liquid: np.ndarray, storage: str = "faces", solid_diagonal: float = 1.0) -> perp.StencilOperator:
    """-1 between cells of liquid, minus their sum on the diagonal: no cell has a free surface, so A 1 = 0 in liquid."""
    diagonal, couplings = np.zeros(liquid.shape), []
    for axis in range(liquid.ndim):
        ahead = (slice(None),) * axis + (slice(1, None),)
        behind = (slice(None),) * axis + (slice(None, -1),)
        joined = (liquid[ahead] & liquid[behind]).astype(float)
        diagonal[ahead] += joined
        diagonal[behind] += joined
        couplings.append(-joined)
    diagonal[~liquid] = solid_diagonal
    assert storage == "faces" or liquid.all()
    return perp.StencilOperator(liquid.shape, diagonal, couplings if storage == "faces" else -1.0)


def parity(grid: tuple[int, ...]) -> np.ndarray:
    """0 for red cells, 1 for black ones."""
    return np.indices(grid).sum(axis=0).reshape(-1) % 2


def sweep_colours(A, b, lower, upper, relaxation, x, count, first=0, symmetric=False):
    """Red-black sweeps: all cells of a colour at once, from the formula of NOTES eq. 59."""
    matrix, colour = A.to_sparse(), parity(A.grid)
    for sweep in range(count):
        for half in (0, 1):
            now = (first + half + (sweep if symmetric else 0)) % 2
            moved = np.clip(x - relaxation * (matrix @ x + b) / A.diagonal(), lower, upper)
            x = np.where(colour == now, moved, x)
    return x


def sweep_in_order(A, b, lower, upper, relaxation, x, count, backward=False):
    """One cell after the other."""
    matrix, x = A.to_dense(), x.copy()
    for _ in range(count):
        for i in range(A.n)[::-1] if backward else range(A.n):
            x[i] = np.clip(x[i] - relaxation * (matrix[i] @ x + b[i]) / matrix[i, i], lower[i], upper[i])
    return x
