"""Small problems with famous manners, and their solutions worked out by hand (tests enumerate them again).

None has random numbers in it: `make` accepts a seed and ignores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from perp.gallery.catalogue import Example, Expected, catalogued
from perp.gallery.options import About
from perp.problems.inputs import Matrix, Vector, freeze
from perp.problems.lcp import LCP

Sign = Annotated[int, About("-1, 0 or 1", -1, 1)]
DenseRows = Annotated[int, About("number of rows", 1, 5000)]


@catalogued(n=1)
def sign_table(*, a: Sign = 1, b: Sign = -1) -> Example:
    """One row, 0 <= x  ⊥  a x + b >= 0: a cell of the table of signs (SLIDES, 'How many solutions').

             b < 0    b = 0    b > 0
    a < 0      0        1        2
    a = 0      0       inf       1
    a > 0      1        1        1
    """
    if a <= 0 and b < 0:
        return _known([[a]], [b], "infeasible", note="u = 1 proves it.")
    at_zero = [[0.0]] if b >= 0 else []
    away = [[-b / a]] if a * b < 0 else []
    expected: Expected = "several" if at_zero and away else "infinitely_many" if a == b == 0 else "solvable"
    return _known([[a]], [b], expected, at_zero + away)


def all_signs() -> list[Example]:
    """The nine cells of the table of signs, row by row."""
    return [sign_table(a=a, b=b) for a in (-1, 0, 1) for b in (-1, 0, 1)]


@catalogued()
def murty(n: DenseRows = 8) -> Example:
    """Exponential for least-index pivoting: Murty's upper triangle, solved by the last unit vector.

    A is unit upper triangular with 2 above the diagonal, b = -1. With x = e_n, y = (1, ..., 1, 0). A is a P-matrix, so
    there is no other solution, but the least-index method finds it after 2^n - 1 pivots (Murty 1988, chapter 6).
    """
    return _known(2.0 * np.triu(np.ones((n, n)), 1) + np.eye(n), -np.ones(n), "solvable", [np.eye(n)[-1]])


@catalogued()
def fathi(n: DenseRows = 8) -> Example:
    """Exponential for Lemke's method, yet symmetric positive definite: Fathi's matrix, solved by the first unit vector.

    A = L L^T with L unit lower triangular and 2 below the diagonal, b = -1 (Fathi 1979). The first column of A is that
    of L, so x = e_1 has y = (0, 1, ..., 1).
    """
    L = 2.0 * np.tril(np.ones((n, n)), -1) + np.eye(n)
    return _known(L @ L.T, -np.ones(n), "solvable", [np.eye(n)[0]])


@catalogued()
def degenerate(n: Annotated[int, About("rows wanted; rounded up to an even number", 1, 5000)] = 6) -> Example:
    """Ties in every ratio test: rows in identical pairs and all b equal.

    A = (I + e e^T) ⊗ [[1, 1], [1, 1]] with m = n/2 pairs, b = -1. Each pair of x adds up to 1/(m + 1) in any split, and
    y = 0: with the whole of it on one side, the other has x = y = 0. Listed are the splits that treat all pairs alike.
    """
    pairs = (n + 1) // 2
    A = np.kron(np.eye(pairs) + np.ones((pairs, pairs)), np.ones((2, 2)))
    splits = [np.tile(split, pairs) / (pairs + 1) for split in ([0.5, 0.5], [1.0, 0.0], [0.0, 1.0])]
    return _known(A, -np.ones(2 * pairs), "infinitely_many", splits)


@catalogued(n=3)
def block_pivot_cycle() -> Example:
    """P-matrix on which block principal pivoting and the minimum-map Newton method go round in circles from x = 0.

    Rows 1 and 3 active: x_1 - 3 x_3 = -1 and 3 x_1 + x_3 = 2, so x = (1/2, 0, 1/2) and y_2 = 1/2. The least-index rule
    needs two pivots.
    """
    A = [[1.0, 2.0, -3.0], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]]
    return _known(A, [1.0, 1.0, -2.0], "solvable", [[0.5, 0.0, 0.5]])


@catalogued(n=3)
def newton_min_cycle(*, a: Annotated[float, About("off-diagonal entry; cycles for a > 1", 0.0)] = 2.0) -> Example:
    """P-matrix circulant on which the minimum-map Newton method cycles with period 3 from x = (1, 0, 0).

    A = [[1, 0, a], [a, 1, 0], [0, a, 1]], b = -1; x = (1, 1, 1)/(1 + a) has y = 0 (Ben Gharbia & Gilbert 2012).
    """
    A = [[1.0, 0.0, a], [a, 1.0, 0.0], [0.0, a, 1.0]]
    return _known(A, -np.ones(3), "solvable", [np.ones(3) / (1.0 + a)])


@catalogued(n=3)
def pgs_divergent() -> Example:
    """P-matrix on which projected Gauss-Seidel does not converge; solved by (1, 1, 1)/3."""
    A = [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]]
    return _known(A, -np.ones(3), "solvable", [np.ones(3) / 3.0])


@catalogued(n=2)
def infeasible() -> Example:
    """No x >= 0 has y >= 0: y_1 = -x_2 - 1 and y_2 = -x_1 - 1."""
    return _known([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0], "infeasible", note="u = (1, 1) proves it.")


@catalogued(n=2)
def unsolvable() -> Example:
    """Feasible but unsolvable: some x >= 0 has y >= 0, but none with x ⊥ y."""
    note = "x = (2, 0) has y = (6, 0): feasible, not complementary; each of the four index sets has a negative number."
    return _known([[2.0, 1.0], [1.0, -1.0]], [2.0, -2.0], "unsolvable", note=note)


@catalogued(n=2)
def lemke_ray() -> Example:
    """Lemke's method ends on a ray although (1, 1) solves it: a ray alone proves nothing."""
    return _known([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0], "solvable", [[1.0, 1.0]])


@catalogued(n=2)
def skew() -> Example:
    """Skew-symmetric with a zero diagonal: x^T A x = 0 for all x; solved by (1/2, 1/2)."""
    return _known([[0.0, 2.0], [-2.0, 0.0]], [-1.0, 1.0], "solvable", [[0.5, 0.5]])


@catalogued()
def redundant_contacts(n: Annotated[int, About("number of legs", 2, 5000)] = 4) -> Example:
    """One weight on n legs: however they share it, the sum is one and the ground does not move.

    A = e e^T, b = -1: y = 0 is unique, x is any x >= 0 with sum 1. The `x` given shares the weight evenly and is the
    shortest; `solutions` adds the corners, where one leg carries all.
    """
    return _known(np.ones((n, n)), -np.ones(n), "infinitely_many", [np.ones(n) / n, *np.eye(n)])


@catalogued()
def several_solutions(n: Annotated[int, About("number of rows", 2, 12)] = 3) -> Example:
    """Symmetric but no P-matrix: every non-empty index set is a solution, 2^n - 1 in all.

    A = 2 e e^T - I, b = -1. With m rows active, x_i = 1/(2m - 1) in each, and y_i = 2m/(2m - 1) - 1 > 0 in the others.
    """
    sets = (chosen for m in range(1, n + 1) for chosen in combinations(range(n), m))
    solutions = [np.isin(np.arange(n), chosen) / (2.0 * len(chosen) - 1.0) for chosen in sets]
    return _known(2.0 * np.ones((n, n)) - np.eye(n), -np.ones(n), "several", solutions)


@catalogued()
def hilbert(n: DenseRows = 12) -> Example:
    """Hilbert's matrix, A_ij = 1/(i + j - 1): positive definite with a condition number beyond 1e16 from n = 12 on.

    b = -A (1, ..., 1), so that the exact solution is x = (1, ..., 1) up to the rounding of b; rounding moves it far.
    """
    A: Matrix = 1.0 / (np.arange(1.0, n + 1.0)[:, None] + np.arange(float(n)))
    return _known(A, -A.sum(axis=1), "solvable", [np.ones(n)])


def _known(
    A: Any, b: Any, expected: Expected, solutions: Iterable[Sequence[float] | Vector] = (), note: str = ""
) -> Example:
    """An example whose `x` is the first of its solutions."""
    vectors = tuple(freeze(np.array(solution, dtype=np.float64)) for solution in solutions)
    return Example(LCP(A, b), vectors[0] if vectors else None, expected, vectors, note)
