"""Random matrices of every structure that theory has a word for, and of some that it has none for.

Each takes the number of rows and a generator of random numbers. `HAS_THEORY` tells which of them a method is proven to
solve; for the others the campaign plants a solution and keeps n so small that looking for it is no gamble.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perp.gallery.dense import random_orthogonal, symmetric
from perp.problems.inputs import Matrix

Draw = np.random.Generator
MakeMatrix = Callable[[int, Draw], Matrix]


def spd(n: int, rng: Draw) -> Matrix:
    G = rng.standard_normal((n, n))
    return G @ G.T / n + 0.1 * np.eye(n)


def spd_ill(n: int, rng: Draw) -> Matrix:
    """Condition numbers from 1e2 to 1e12, the spectrum in geometric steps."""
    return symmetric(random_orthogonal(n, rng), np.geomspace(10.0 ** -rng.uniform(2.0, 12.0), 1.0, n))


def psd(n: int, rng: Draw) -> Matrix:
    """Singular: any rank from 0 to n - 1."""
    G = rng.standard_normal((n, int(rng.integers(0, n))))
    return np.asarray(G @ G.T / n)


def psd_integers(n: int, rng: Draw) -> Matrix:
    """Singular with exact arithmetic: a few small integers, so that dependent rows depend on each other to the bit."""
    G = rng.integers(-2, 3, (n, max(1, n // 3))).astype(float)
    return np.asarray(G @ G.T)


def pd(n: int, rng: Draw) -> Matrix:
    """Positive definite, the skew part up to ten times the symmetric one."""
    K = rng.standard_normal((n, n)) / np.sqrt(n)
    return np.asarray(spd(n, rng) + 10.0 ** rng.uniform(-2.0, 1.0) * (K - K.T))


def p_scaled(n: int, rng: Draw) -> Matrix:
    """P, as a rule not definite: rows and columns of a positive definite matrix times positive numbers."""
    rows, columns = 10.0 ** rng.uniform(-1.0, 1.0, (2, n))
    return np.asarray(rows[:, None] * pd(n, rng) * columns)


def p_triangular(n: int, rng: Draw) -> Matrix:
    """P whatever stands above the diagonal; so are Murty's matrices."""
    above = rng.uniform(-2.0, 2.0, (n, n)) * (rng.random((n, n)) < 3.0 / n)
    return np.triu(above, 1) + np.diag(rng.uniform(0.5, 2.0, n))


def m_matrix(n: int, rng: Draw) -> Matrix:
    """r I - B with B >= 0 sparse and r beyond its spectral radius; symmetric or not."""
    B = _nonnegative(n, rng)
    shift = _radius(B) * (1.0 + 10.0 ** -rng.uniform(0.0, 4.0)) + 1e-3
    return np.asarray(shift * np.eye(n) - B)


def z_singular(n: int, rng: Draw) -> Matrix:
    """The Laplacian of a graph, perhaps a directed one: Z, P0, singular."""
    B = np.rint(4.0 * _nonnegative(n, rng))
    np.fill_diagonal(B, 0.0)
    return np.diag(B.sum(axis=1)) - B


def h_plus(n: int, rng: Draw) -> Matrix:
    """Strictly dominant by rows after its columns were scaled, signs at random."""
    A = rng.uniform(-1.0, 1.0, (n, n)) * (rng.random((n, n)) < min(1.0, 6.0 / n))
    np.fill_diagonal(A, 0.0)
    np.fill_diagonal(A, 1.01 * np.abs(A).sum(axis=1) + 0.01)
    return A * 10.0 ** rng.uniform(-0.5, 0.5, n)


def copositive(n: int, rng: Draw) -> Matrix:
    """Entries >= 0 and a positive diagonal: strictly copositive; Lemke's method must end with a solution."""
    A = np.triu(rng.random((n, n)), 1)
    return A + A.T + np.diag(rng.uniform(0.1, 1.0, n))


def skew(n: int, rng: Draw) -> Matrix:
    """Zeros on the diagonal, x^T A x = 0: the conditions of a linear program look so."""
    K = np.triu(rng.standard_normal((n, n)), 1)
    return K - K.T


def quadratic_program(n: int, rng: Draw) -> Matrix:
    """[[Q, -B^T], [B, 0]] with Q positive semidefinite: conditions of a convex program."""
    variables = int(rng.integers(1, n + 1))
    A = np.zeros((n, n))
    A[:variables, :variables] = psd(variables, rng)
    B = rng.standard_normal((n - variables, variables)) / np.sqrt(variables)
    A[variables:, :variables], A[:variables, variables:] = B, -B.T
    return A


def zero(n: int, rng: Draw) -> Matrix:
    return np.zeros((n, n))


def empty_rows(n: int, rng: Draw) -> Matrix:
    """Definite, but for rows, columns, or both, that are zero."""
    A = spd(n, rng)
    chosen = rng.random(n) < 0.3
    which = int(rng.integers(3))
    if which != 1:
        A[chosen] = 0.0
    if which != 0:
        A[:, chosen] = 0.0
    return A


def islands(n: int, rng: Draw) -> Matrix:
    """Blocks of several structures that do not know of each other, their rows shuffled."""
    A = np.zeros((n, n))
    begin = 0
    while begin < n:
        size = min(n - begin, int(rng.integers(1, 12)))
        make = ISLANDS[int(rng.integers(len(ISLANDS)))]
        A[begin : begin + size, begin : begin + size] = make(size, rng)
        begin += size
    order = rng.permutation(n)
    return A[np.ix_(order, order)]


def indefinite(n: int, rng: Draw) -> Matrix:
    """Symmetric, eigenvalues of both signs."""
    G = rng.standard_normal((n, n))
    return np.asarray(0.5 * (G + G.T) / np.sqrt(n))


def gaussian(n: int, rng: Draw) -> Matrix:
    """Of no class at all."""
    return np.asarray(rng.standard_normal((n, n)) / np.sqrt(n))


def integers(n: int, rng: Draw) -> Matrix:
    """Of no class, small whole numbers: ties and singular blocks everywhere."""
    return rng.integers(-2, 3, (n, n)).astype(float)


ISLANDS: tuple[MakeMatrix, ...] = (spd, psd, pd, p_triangular, m_matrix, h_plus)

HAS_THEORY: tuple[MakeMatrix, ...] = (
    spd,
    spd_ill,
    psd,
    psd_integers,
    pd,
    p_scaled,
    p_triangular,
    m_matrix,
    z_singular,
    h_plus,
    copositive,
    skew,
    quadratic_program,
    zero,
    empty_rows,
    islands,
)
HAS_NONE: tuple[MakeMatrix, ...] = (indefinite, gaussian, integers)


def _nonnegative(n: int, rng: Draw) -> Matrix:
    B = rng.random((n, n)) * (rng.random((n, n)) < min(1.0, 4.0 / n))
    return B + B.T if rng.random() < 0.5 else B


def _radius(B: Matrix) -> float:
    return float(np.abs(np.linalg.eigvals(B)).max(initial=0.0))
