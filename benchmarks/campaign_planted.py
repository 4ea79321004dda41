"""LCPs and boxed LCPs with a planted solution: any matrix, in any form, well scaled or badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import perp
from benchmarks.campaign_matrices import Draw, MakeMatrix
from benchmarks.campaign_sample import Sample, draw_shares, draw_size
from perp.gallery.planted import planted_box, planted_lcp
from perp.problems.inputs import Matrix, Vector

SMALL = 16
"""Rows of an LCP without theory: 2^16 index sets can be looked through."""


def draw_lcp(make: MakeMatrix, rng: Draw, most: int) -> Sample:
    A = make(draw_size(rng, most), rng)
    active, degenerate = draw_shares(rng)
    form, words = draw_form(A, rng)
    example = planted_lcp(form, active=active, degenerate=degenerate, seed=rng)
    return Sample.of(example, f"{words}, active {active:.2g}, degenerate {degenerate:.2g}")


def draw_box(make: MakeMatrix, rng: Draw, most: int) -> Sample:
    """Rows bounded below, above, on both sides, not at all, or fixed."""
    A = make(draw_size(rng, most), rng)
    lower, upper = draw_bounds(len(A), rng)
    active, degenerate = draw_shares(rng)
    form, words = draw_form(A, rng)
    example = planted_box(form, lower, upper, active=active, degenerate=degenerate, seed=rng)
    return Sample.of(example, f"{words}, active {active:.2g}, degenerate {degenerate:.2g}")


def draw_bounds(n: int, rng: Draw) -> tuple[Vector, Vector]:
    shares = rng.dirichlet(np.ones(5)) if rng.random() < 0.8 else np.eye(5)[rng.integers(5)]
    part = rng.choice(5, n, p=shares)
    lower = rng.standard_normal(n) * (rng.random() < 0.7)
    upper = lower + rng.uniform(0.1, 2.0, n)
    upper[part == 4] = lower[part == 4]
    lower[(part == 1) | (part == 3)] = -np.inf
    upper[(part == 0) | (part == 3)] = np.inf
    return lower, upper


def draw_form(A: Matrix, rng: Draw) -> tuple[Any, str]:
    """The matrix as an array, in one of SciPy's formats, or out of order."""
    form = str(rng.choice(["dense", "dense", "csr", "csr", "csc", "coo", "fortran"]))
    if form == "dense":
        return A, form
    if form == "fortran":
        return np.asfortranarray(A), form
    return sparse.csr_array(A).asformat(form), form


def draw_badly_scaled(make: MakeMatrix, rng: Draw, most: int) -> Sample:
    """D A E z + D b with D and E spread over up to 1e8: rows in other units, unknowns in other units, or both."""
    A = make(draw_size(rng, most), rng)
    active, degenerate = draw_shares(rng)
    example = planted_lcp(A, active=active, degenerate=degenerate, seed=rng)
    assert example.x is not None
    spread = rng.uniform(1.0, 8.0)
    which = str(rng.choice(["rows", "columns", "both", "alike"]))
    D, E = 10.0 ** (spread * rng.uniform(-0.5, 0.5, (2, len(A))))
    D, E = {"rows": (D, np.ones(len(A))), "columns": (np.ones(len(A)), E), "both": (D, E), "alike": (D, D)}[which]
    form, words = draw_form(D[:, None] * A * E, rng)
    problem = perp.LCP(form, D * example.problem.b)
    return Sample(problem, True, f"{words}, {which} spread 1e{spread:.1f}, planted", example.x / E)


def draw_huge_or_tiny(make: MakeMatrix, rng: Draw, most: int) -> Sample:
    """The same numbers in other units: A, b, or both times a number between 1e-6 and 1e6."""
    A = make(draw_size(rng, most), rng)
    active, degenerate = draw_shares(rng)
    example = planted_lcp(A, active=active, degenerate=degenerate, seed=rng)
    assert example.x is not None
    of_A, of_x = 10.0 ** rng.uniform(-6.0, 6.0, 2)
    form, words = draw_form(of_A * A, rng)
    problem = perp.LCP(form, of_A * of_x * example.problem.b)
    return Sample(problem, True, f"{words}, A times {of_A:.1e}, x times {of_x:.1e}, planted", of_x * example.x)


def draw_products(make: MakeMatrix, rng: Draw, most: int) -> Sample:
    """An operator that only multiplies, with or without its diagonal; open or boxed."""
    A = make(draw_size(rng, most), rng)
    active, degenerate = draw_shares(rng)
    operator, words = hide(A, rng)
    if make.__name__ == "copositive" or rng.random() < 0.5:
        return Sample.of(planted_lcp(operator, active=active, degenerate=degenerate, seed=rng), words)
    lower, upper = draw_bounds(len(A), rng)
    example = planted_box(operator, lower, upper, active=active, degenerate=degenerate, seed=rng)
    return Sample.of(example, f"{words}, boxed")


def hide(A: Matrix, rng: Draw) -> tuple[perp.MatrixFreeOperator, str]:
    has_diagonal = rng.random() < 0.5
    operator = perp.MatrixFreeOperator(A, np.diagonal(A).copy() if has_diagonal else None)
    return operator, "products, diagonal" if has_diagonal else "products"


def draw_gamble(makers: tuple[MakeMatrix, ...], rng: Draw, most: int) -> Sample:
    """No class, and too many index sets to look through: a solution is there, and nobody promises to find it."""
    n = int(rng.integers(SMALL + 1, max(SMALL + 1, most) + 1))
    make = makers[int(rng.integers(len(makers)))]
    A = make(n, rng)
    active, degenerate = draw_shares(rng)
    form, words = draw_form(A, rng)
    if rng.random() < 0.5:
        example = planted_lcp(form, active=active, degenerate=degenerate, seed=rng)
    else:
        lower, upper = draw_bounds(n, rng)
        example = planted_box(form, lower, upper, active=active, degenerate=degenerate, seed=rng)
    return Sample(example.problem, None, f"{make.__name__}, {words}, planted, a gamble", example.x)


def draw_factored(rng: Draw, most: int) -> Sample:
    """J M^-1 J^T + C with a sparse J: redundant where there are more rows than velocities and C = 0."""
    n = draw_size(rng, most)
    dofs = int(rng.integers(1, 2 * n + 1))
    J = rng.standard_normal((n, dofs)) * (rng.random((n, dofs)) < 4.0 / dofs)
    compliance = float(rng.choice([0.0, 10.0 ** rng.uniform(-8.0, 0.0)]))
    operator = perp.FactoredOperator(sparse.csr_array(J), rng.uniform(0.1, 10.0, dofs), compliance)
    lower, upper = draw_bounds(n, rng)
    active, degenerate = draw_shares(rng)
    example = planted_box(operator, lower, upper, active=active, degenerate=degenerate, seed=rng)
    return Sample.of(example, f"{dofs} velocities, compliance {compliance:.1e}")


def draw_stencil(rng: Draw, most: int) -> Sample:
    """A grid in one to three dimensions, cells of unlike conductivity, perhaps closed regions, open or boxed."""
    dimension = int(rng.integers(1, 4))
    side = max(1, round(draw_size(rng, most) ** (1.0 / dimension)))
    grid = tuple(int(size) for size in np.maximum(1, side + rng.integers(-1, 2, dimension)))
    while np.prod(grid) > most:
        grid = tuple(max(1, size - 1) for size in grid)
    kappa = 10.0 ** (rng.uniform(0.0, 3.0) * rng.uniform(-1.0, 0.0, grid)) * (rng.random(grid) < 0.9)
    faces, diagonal = [], np.zeros(grid)
    for axis in range(dimension):
        low = tuple(slice(None, -1) if k == axis else slice(None) for k in range(dimension))
        high = tuple(slice(1, None) if k == axis else slice(None) for k in range(dimension))
        flow = np.sqrt(kappa[low] * kappa[high])
        diagonal[low] += flow
        diagonal[high] += flow
        faces.append(-flow)
    diagonal += np.where(rng.random(grid) < 0.2, 1.0, 0.0)
    operator = perp.StencilOperator(grid, diagonal, faces)
    active, degenerate = draw_shares(rng)
    if rng.random() < 0.5:
        return Sample.of(planted_lcp(operator, active=active, degenerate=degenerate, seed=rng), f"grid {grid}")
    lower, upper = draw_bounds(operator.n, rng)
    example = planted_box(operator, lower, upper, active=active, degenerate=degenerate, seed=rng)
    return Sample.of(example, f"grid {grid}, boxed")
