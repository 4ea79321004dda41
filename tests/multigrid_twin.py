"""Readable twins of the grid hierarchy: matrices P, A_c and cycles written down for small grids, cell by cell."""

from __future__ import annotations

from itertools import product

import numpy as np

THROUGH, INTO, CLOSED = 2.0 / 3.0, 4.0 / 3.0, 0.05


class TwinLevel:
    """A matrix on a grid: couplings between free cells, what leaks to zero values, and masses; all dense."""

    def __init__(self, shape, couplings, leak, mass, free):
        self.shape, self.couplings, self.leak, self.mass, self.free = shape, couplings, leak, mass, free
        self.halved = tuple(size > 1 for size in shape)
        self.cells = list(product(*(range(size) for size in shape)))
        self.number = {cell: i for i, cell in enumerate(self.cells)}
        linked = couplings.sum(axis=1)
        self.A = np.diag(linked + leak + mass) - couplings
        self.A[~free] = self.A[:, ~free] = 0.0
        self.linked = linked

    def parent(self, cell):
        return tuple(i // 2 if half else i for i, half in zip(cell, self.halved, strict=True))

    def has_all_siblings(self, cell):
        """Whether the cell beside it in the same coarse cell is free, along every halved axis."""
        for axis, half in enumerate(self.halved):
            sibling = (*cell[:axis], cell[axis] ^ 1, *cell[axis + 1 :])
            if half and not (sibling in self.number and self.free[self.number[sibling]]):
                return False
        return True

    def coarsen(self):
        """P and the next level."""
        taking_part = self.free & (self.linked > 0.0)
        shape = tuple((size + 1) // 2 if half else size for size, half in zip(self.shape, self.halved, strict=True))
        coarse_cells = {cell: i for i, cell in enumerate(product(*(range(size) for size in shape)))}
        count = len(coarse_cells)
        couplings, leak, mass, alive = np.zeros((count, count)), np.zeros(count), np.zeros(count), np.zeros(count, bool)
        for cell, i in self.number.items():
            if not taking_part[i]:
                continue
            to = coarse_cells[self.parent(cell)]
            alive[to] = True
            leak[to] += self.leak[i] * (THROUGH if self.has_all_siblings(cell) else INTO)
            mass[to] += self.mass[i]
            for other, j in self.number.items():
                beside = coarse_cells[self.parent(other)]
                if self.couplings[i, j] > 0.0 and beside != to:
                    axis = next(k for k in range(len(cell)) if cell[k] != other[k])
                    couplings[to, beside] += self.couplings[i, j] * (0.5 if self.halved[axis] else 1.0)
        alive &= couplings.sum(axis=1) + leak + mass > 0.0
        return self._interpolation(taking_part, coarse_cells, alive), TwinLevel(shape, couplings, leak, mass, alive)

    def _interpolation(self, taking_part, coarse_cells, alive):
        P = np.zeros((len(self.cells), len(coarse_cells)))
        for cell, i in self.number.items():
            if not taking_part[i]:
                continue
            lines = []
            for k, half in zip(cell, self.halved, strict=True):
                lines.append([(k // 2, 0.75), (k // 2 + (1 if k % 2 else -1), 0.25)] if half else [(k, 1.0)])
            for choice in product(*lines):
                coarse = tuple(place for place, _ in choice)
                if coarse in coarse_cells and alive[coarse_cells[coarse]]:
                    P[i, coarse_cells[coarse]] = np.prod([weight for _, weight in choice])
            if self.leak[i] < CLOSED * self.linked[i] and P[i].sum() > 0.0:
                P[i] /= P[i].sum()
        return P

    def sweep(self, v, r, first):
        colour = np.array([sum(cell) % 2 for cell in self.cells])
        for parity in (first, 1 - first):
            for i in np.flatnonzero(self.free & (colour == parity)):
                v[i] += (r[i] - self.A[i] @ v) / self.A[i, i]


def finest_level(A, free, shift):
    """The twin of a stencil of which some cells are free."""
    dense = A.to_dense()
    couplings = np.maximum(-(dense - np.diag(np.diag(dense))), 0.0)
    total = couplings.sum(axis=1)
    excess = np.diag(dense) - total
    excess[excess <= 1e-12 * np.diag(dense)] = 0.0
    inside = couplings * np.outer(free, free)
    leak = np.where(free, total - inside.sum(axis=1), 0.0)
    is_full = (couplings > 0.0).sum(axis=1) == 2 * sum(size > 1 for size in A.grid)
    leak += np.where(free & ~is_full, excess, 0.0)
    mass = np.where(free, shift + np.where(is_full, excess, 0.0), 0.0)
    level = TwinLevel(tuple(size for size in A.grid if size > 1), inside, leak, mass, free)
    level.A[np.diag_indices_from(level.A)] = np.where(free, np.diag(dense) + shift, 0.0)
    return level


def twin_cycle(level, r, sweeps, coarsest):
    """One V-cycle from zero; a level of at most `coarsest` cells that is not the finest is solved."""
    return _cycle(level, r, sweeps, coarsest, finest=True)


def _cycle(level, r, sweeps, coarsest, finest):
    v = np.zeros(r.size)
    if len(level.cells) <= coarsest and not finest:
        return np.linalg.pinv(level.A, hermitian=True) @ r
    for _ in range(sweeps):
        level.sweep(v, r, 0)
    P, coarse = level.coarsen()
    residual = np.where(level.free, r - level.A @ v, 0.0)
    v += P @ _cycle(coarse, P.T @ residual, sweeps, coarsest, finest=False)
    for _ in range(sweeps):
        level.sweep(v, r, 1)
    return v


RELAXATION, LENGTH, LONGER, LONGEST = 1.15, 1.5, 1.2, 4.0


def twin_projected_cycle(problem, x, sweeps, coarsest, length):
    """One cycle of projected multigrid with a truncated basis from x, which is changed: the new x and length.

    `length` is that of the proposal: LENGTH in the first cycle.
    """
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)
    colour = np.indices(problem.A.grid).sum(axis=0).reshape(-1) % 2

    def sweep(first):
        for parity in (first, 1 - first):
            for i in np.flatnonzero(colour == parity):
                x[i] = np.clip(x[i] - RELAXATION * (A[i] @ x + b[i]) / A[i, i], lower[i], upper[i])

    for _ in range(sweeps):
        sweep(0)
    y = A @ x + b
    held = ((x == lower) & (y >= 0.0)) | ((x == upper) & (y <= 0.0)) | (lower == upper)
    P, coarse = finest_level(problem.A, ~held, np.zeros(x.size)).coarsen()
    d = -P @ _cycle(coarse, P.T @ y, sweeps, coarsest, finest=False)
    d = np.clip(x + length * d, lower, upper) - x
    best = -(y @ d) / (d @ A @ d)
    x += min(best, 1.0) * d
    for _ in range(sweeps):
        sweep(1)
    return x, min(LONGER * best * length, LONGEST)
