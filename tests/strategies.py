"""Hypothesis strategies for problems: small, with positive diagonal, in every form that A can take."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import perp

SEEDS = st.integers(0, 2**31)
FORMS = ("dense", "sparse runs", "sparse", "factored", "body pairs")


def spd_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    G = rng.standard_normal((n, n))
    return G @ G.T / max(n, 1) + 0.1 * np.eye(n)


@st.composite
def lcps(draw: st.DrawFn, max_n: int = 12) -> perp.LCP:
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.integers(1, max_n))
    A = spd_matrix(rng, n)
    return perp.LCP(explicit(A, draw(st.sampled_from(FORMS[:3]))), rng.standard_normal(n))


@st.composite
def box_lcps(draw: st.DrawFn, max_n: int = 12) -> perp.BoxLCP:
    """Rows with every mixture of finite, infinite and equal bounds."""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.integers(1, max_n))
    A = spd_matrix(rng, n)
    lower = rng.choice([-np.inf, -1.0, 0.0, 0.5], n)
    width = rng.choice([0.0, 1.0, 10.0, np.inf], n)
    upper = np.where(np.isinf(lower), rng.choice([0.0, 1.0, np.inf], n), np.maximum(lower, -1.0) + width)
    return perp.BoxLCP(explicit(A, draw(st.sampled_from(FORMS[:3]))), rng.standard_normal(n), lower, upper)


@st.composite
def contact_problems(draw: st.DrawFn, forms: tuple[str, ...] = FORMS) -> perp.ContactProblem:
    """Contacts between random pairs of bodies or a body and the world, perhaps with further rows, in any form of A."""
    rng = np.random.default_rng(draw(SEEDS))
    contacts, others = draw(st.integers(1, 4)), draw(st.sampled_from([0, 2]))
    model = draw(st.sampled_from(["box", "cone"]))
    operator = factored_operator(rng, contacts, others)
    return perp.ContactProblem(
        in_form(operator, draw(st.sampled_from(forms))),
        rng.standard_normal(3 * contacts + others),
        rng.choice([0.0, 0.3, 0.9], contacts),
        model,
        lower=rng.choice([-np.inf, -0.5], others),
        upper=rng.choice([np.inf, 0.5], others),
    )


def explicit(A: np.ndarray, form: str) -> perp.Operator:
    """A dense matrix as an array, as rows of runs of adjacent columns, or as plain compressed rows."""
    if form == "dense":
        return perp.DenseOperator(A)
    operator = perp.SparseOperator(sparse.csr_array(A))
    # Small matrices are full of runs; plain compressed rows are for matrices whose columns lie scattered.
    operator.__dict__["runs"] = perp.SparseOperator.runs.func(operator) if form == "sparse runs" else None
    return operator


def factored_operator(rng: np.random.Generator, contacts: int, others: int = 0) -> perp.FactoredOperator:
    bodies = 3
    pairs = np.array([rng.choice(bodies, 2, replace=False) for _ in range(contacts)]).reshape(-1, 2)
    pairs[rng.random(contacts) < 0.3, 1] = -1
    pairs = np.concatenate([np.repeat(pairs, 3, axis=0), np.array([[0, 1]] * others, dtype=int).reshape(-1, 2)])
    inertia = np.array([spd_matrix(rng, 3) for _ in range(bodies)])
    masses = perp.BodyMasses(rng.uniform(0.5, 5.0, bodies), inertia)
    jacobian = rng.standard_normal((len(pairs), 2, 6))
    return perp.FactoredOperator.from_body_pairs(pairs, jacobian, masses, compliance=rng.uniform(0.0, 0.1, len(pairs)))


def in_form(operator: perp.FactoredOperator, form: str) -> perp.Operator:
    """The same matrix A held in another way."""
    if form in FORMS[:3]:
        return explicit(operator.to_dense(), form)
    if form == "factored":
        return perp.FactoredOperator(operator.J, operator.mass.to_sparse(), operator.compliance)
    assert form == "body pairs"
    return operator


@st.composite
def convolutions(draw: st.DrawFn, symmetric: bool = False) -> perp.ConvolutionOperator:
    """Random kernels on grids of one to three axes, odd and even, with both boundaries, whole or short."""
    rng = np.random.default_rng(draw(SEEDS))
    grid = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    boundary = draw(st.sampled_from(["periodic", "free"]))
    most = [size if boundary == "periodic" else 2 * size - 1 for size in grid]
    sizes = [draw(st.sampled_from([size, *range(1, size, 2)])) for size in most]
    kernel = rng.standard_normal(sizes)
    if symmetric:
        axes = tuple(range(kernel.ndim))
        kernel = kernel + np.roll(np.flip(kernel, axes), 1, axes)
    added = draw(st.sampled_from([0.0, 0.5, None]))
    return perp.ConvolutionOperator(
        kernel, grid, boundary, added=rng.standard_normal(int(np.prod(grid))) if added is None else added
    )


def dense_convolution(A: perp.ConvolutionOperator) -> np.ndarray:
    """The matrix cell by cell, from the definition."""
    matrix = np.diag(A.added)
    for i, here in enumerate(np.ndindex(A.grid)):
        for j, there in enumerate(np.ndindex(A.grid)):
            matrix[i, j] += A.kernel[tuple(np.subtract(here, there))]
    return matrix
