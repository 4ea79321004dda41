"""The problems that num4lcp, the public code behind NOTES section 7, really poses: recipes {"num4lcp": kind, ...}.

It draws x with a share of zeros and sets b_i = -(A x)_i where x_i > 0, but b_i = 0 elsewhere, so that x is no solution
wherever (A x)_i < 0 there. On its fluid matrices, whose couplings are all negative, that is everywhere: the solution
has every row free, and the complementarity problem is a system of linear equations. Its contact matrices have mu and e
in every block that is filled, so that the cone of one contact depends on the normal impulses of others. Its dense
matrices have as their basis the singular vectors of a matrix of numbers between 0 and 1, the first of which is all but
constant, and give that one the least eigenvalue, or zero: the direction in which x >= 0 is largest is the one that the
problem says least about, and with zero eigenvalues there need be no solution at all. `perp.gallery` has none of these
defects; these are for telling what the paper measured. The numbers drawn are ours, as its seeds are not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvals_banded

from perp.problems.inputs import Matrix
from perp.problems.lcp import LCP

ZEROS = 0.25
"""The share of x that is zero."""

BLOCK = 6
"""Rows of a contact: normal, four tangents, slack."""

FILL, FRICTION, BANDS, LEAST = 0.5, 0.5, 3, 0.5
"""Share of blocks that are filled; mu; bands beside the diagonal; the eigenvalue up to which the diagonal is raised."""


def num4lcp(kind: str, n: int, seed: int, *, zeros: float = 0.0) -> dict[str, Any]:
    """The recipe: kind is "fluid", "contact" (n a multiple of six), or "dense" with a share `zeros` of eigenvalues."""
    return {"num4lcp": kind, "n": n, "seed": seed, "options": {"zeros": zeros}}


def make_num4lcp(recipe: Mapping[str, Any]) -> LCP:
    """The problem of a recipe."""
    kind, n = recipe["num4lcp"], recipe["n"]
    if kind not in (*MATRICES, DENSE):
        raise ValueError(f"num4lcp is {kind!r}; {', '.join(MATRICES)} or {DENSE} is needed")
    rng = np.random.default_rng(recipe["seed"])
    A = _dense(n, recipe["options"]["zeros"], rng) if kind == DENSE else MATRICES[kind](n, rng)
    x = rng.random(n)
    x[x < ZEROS] = 0.0
    return LCP(A, np.where(x > 0.0, -(A @ x), 0.0))


def _fluid(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Ones on the diagonal and three random negative bands, then raised; even where it was positive definite.

    (The code takes the least entry of the matrix of eigenvalues, whose zeros off the diagonal count, too.)
    """
    couplings = -rng.random(BANDS)
    rows = np.stack([np.ones(n), *(np.full(n, value) for value in couplings)])
    raised = LEAST - min(0.0, float(eigvals_banded(rows, lower=True, select="i", select_range=(0, 0))[0]))
    bands = [np.full(n, 1.0 + raised)] + [np.full(n, value) for value in couplings for _ in range(2)]
    offsets = [0] + [sign * (band + 1) for band in range(BANDS) for sign in (1, -1)]
    return sparse.csr_array(sparse.dia_array((np.stack(bands), offsets), shape=(n, n)))


def _contact(n: int, rng: np.random.Generator) -> sparse.csr_array:
    """Random symmetric blocks, raised to be positive definite; then NOTES eq. 27 written into each of them."""
    if n % BLOCK:
        raise ValueError(f"n is {n}; contacts have {BLOCK} rows each")
    contacts = n // BLOCK
    R = rng.random((n, n))
    A: Matrix = 0.5 * (R + R.T)
    is_filled = A[BLOCK // 2 :: BLOCK, BLOCK // 2 :: BLOCK] <= FILL
    A *= np.kron(is_filled, np.ones((BLOCK, BLOCK)))
    A[np.diag_indices(n)] += LEAST - min(0.0, float(np.linalg.eigvalsh(A)[0]))
    blocks = A.reshape(contacts, BLOCK, contacts, BLOCK).transpose(0, 2, 1, 3)  # a view: [row, column] is one block
    there = blocks[:, :, 0, 0] != 0.0
    tangents = slice(1, 5)
    for row, column, value in ((5, 0, FRICTION), (5, tangents, -1.0), (tangents, 5, 1.0), (5, 5, 0.0), (0, 5, 0.0)):
        entries = blocks[:, :, row, column]
        entries[there] = value
    return sparse.csr_array(A)


def _dense(n: int, zeros: float, rng: np.random.Generator) -> Matrix:
    """U diag(d) U^T with d_i = i/n, the first ones zero, and U the left singular vectors of random positive numbers."""
    values = np.arange(1, n + 1) / n
    values[: int(n * zeros)] = 0.0
    U = np.linalg.svd(rng.random((n, n)))[0]
    A: Matrix = (U * values) @ U.T
    return 0.5 * (A + A.T)


DENSE = "dense"
MATRICES = {"fluid": _fluid, "contact": _contact}
