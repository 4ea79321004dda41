"""LCPs on regular grids: the pressure problem of NOTES section 4.2, 0 <= p  ⊥  A p + b >= 0 (eq. 35)."""

from __future__ import annotations

from functools import reduce
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.options import About
from perp.gallery.planted import Active, Degenerate, planted_lcp, right_hand_side
from perp.problems.inputs import Vector, freeze
from perp.problems.lcp import LCP
from perp.problems.operators import Operator, SparseOperator, StencilOperator

Square = Annotated[int, About("cells wanted; rounded to a square k x k", 1, 100_000_000)]
Cube = Annotated[int, About("cells wanted; rounded to a cube k x k x k", 1, 100_000_000)]
Form = Annotated[
    Literal["sparse", "stencil"], About("how A is held: compressed rows, or a stencil that stores nothing")
]
Region = Annotated[
    Literal["smooth", "random"],
    About("active cells in connected regions under a smooth x, or scattered at random"),
]

WAVES = 8
"""How many standing waves make a smooth field."""


@catalogued()
def fluid_like(
    n: Cube = 1000,
    seed: int = 0,
    *,
    bands: Annotated[
        Literal["adjacent", "grid"],
        About("off-diagonal bands at distance 1, 2, 3 (num4lcp), or along the axes of the grid"),
    ] = "adjacent",
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Sparse symmetric positive definite LCP with three bands on either side: num4lcp's fake fluid problem.

    The diagonal is 1 and band j is one random number, -r_j in (-1, 0). No eigenvalue is below 1 - 2 (r_1 + r_2 + r_3),
    and the least one tends to it for large n; where it is not positive, the diagonal is raised until it is 0.5. So the
    conditioning changes much from seed to seed, and with it the work of Gauss-Seidel (NOTES Table 2).
    num4lcp's bands lie beside the diagonal and not, as a fluid's would, k and k^2 away from it: `bands` chooses.
    """
    rng = np.random.default_rng(seed)
    k = _cells_a_side(n, 3)
    couplings = -rng.random(3)
    least = 1.0 + 2.0 * couplings.sum()
    diagonal = 1.0 if least > 0.0 else 1.5 - least
    if bands == "grid":
        A = StencilOperator((k, k, k), diagonal, couplings).to_sparse()
    else:
        A = _banded(diagonal, couplings, k**3)
    return planted_lcp(A, active=active, degenerate=degenerate, seed=rng)


@catalogued()
def poisson_2d(
    n: Square = 10_000,
    seed: int = 0,
    *,
    form: Form = "sparse",
    region: Region = "smooth",
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Poisson LCP on a square: the 5-point Laplacian (4, -1) with a free surface all around.

    The eigenvalues are 4 - 2 cos(i pi/(k+1)) - 2 cos(j pi/(k+1)), so the condition number grows as 0.4 n.
    """
    return _poisson((_cells_a_side(n, 2),) * 2, seed, form, region, active, degenerate)


@catalogued()
def poisson_3d(
    n: Cube = 8000,
    seed: int = 0,
    *,
    form: Form = "sparse",
    region: Region = "smooth",
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """Poisson LCP on a cube: the 7-point Laplacian (6, -1) with a free surface all around.

    The condition number grows as 0.4 n^(2/3).
    """
    return _poisson((_cells_a_side(n, 3),) * 3, seed, form, region, active, degenerate)


@catalogued()
def closed_fluid(n: Square = 400, seed: int = 0, *, form: Form = "sparse") -> Example:
    """Pressure LCP of a closed vessel into which more flows than out: infeasible.

    With walls all around, A is the Neumann Laplacian and u = (1, ..., 1) is in its null space; sum(b) < 0 then proves
    infeasibility (A^T u = 0, b^T u < 0).
    """
    k = _cells_a_side(n, 2)
    neighbours = np.full((k, k), 4.0)
    for edge in (0, -1):
        neighbours[edge, :] -= 1.0
        neighbours[:, edge] -= 1.0
    b = np.random.default_rng(seed).standard_normal(k * k)
    b -= b.mean() + 0.1
    problem = LCP(_hold(StencilOperator((k, k), neighbours, -1.0), form), b)
    return Example(problem, None, "infeasible", note="u = (1, ..., 1) proves it.")


def smooth_field(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """A sum of random standing waves of up to two periods along each axis."""
    field = np.zeros(shape)
    for _ in range(WAVES):
        lines = [
            np.cos(2.0 * np.pi * rng.uniform(0.5, 2.0) * np.arange(size) / size + rng.uniform(0.0, 2.0 * np.pi))
            for size in shape
        ]
        field += rng.uniform(0.5, 1.0) * reduce(np.multiply.outer, lines)
    return field


def _poisson(shape: tuple[int, ...], seed: int, form: str, region: str, active: float, degenerate: float) -> Example:
    """b is made by the stencil in either form, so that both forms state the same problem to the last bit."""
    rng = np.random.default_rng(seed)
    stencil = StencilOperator(shape, 2.0 * len(shape), -1.0)
    if region == "random":
        planted = planted_lcp(stencil, active=active, degenerate=degenerate, seed=rng)
        b, x = planted.problem.b, planted.x
    else:
        x, y = _draw_region(smooth_field(shape, rng).reshape(-1), active, degenerate)
        b, x = right_hand_side(stencil, x, y), freeze(x)
    return Example(LCP(_hold(stencil, form), b), x)


def _draw_region(field: Vector, active: float, degenerate: float) -> tuple[Vector, Vector]:
    """x rises above the shore where the field is highest, y where it is lowest; between the two both are zero."""
    if active + degenerate > 1.0 + 1e-12:
        raise ValueError(f"shares must not add up to more than 1: {active:g} + {degenerate:g}")
    n = field.size
    order = np.argsort(-field, kind="stable")
    wet, dry = order[: round(active * n)], order[round((active + degenerate) * n) :]
    x, y = np.zeros(n), np.zeros(n)
    scale = max(float(np.ptp(field)), 1e-300)
    x[wet] = (field[wet] - field[wet].min(initial=np.inf)) / scale + 1e-3
    y[dry] = (field[dry].max(initial=-np.inf) - field[dry]) / scale + 1e-3
    return x, y


def _banded(diagonal: float, couplings: Vector, n: int) -> sparse.csr_array:
    """The symmetric matrix with one number on its diagonal and one on each of the bands next to it."""
    A = diagonal * sparse.eye_array(n, format="csr")
    for distance, coupling in enumerate(couplings[: n - 1], start=1):
        band = sparse.eye_array(n, k=distance, format="csr")
        A = A + coupling * (band + band.T)
    return A


def _hold(stencil: StencilOperator, form: str) -> Operator:
    return stencil if form == "stencil" else SparseOperator(stencil.to_sparse())


def _cells_a_side(n: int, axes: int) -> int:
    side: float = n ** (1.0 / axes)
    return max(1, round(side))
