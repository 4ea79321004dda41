"""Families of problems that a rule of "auto" can tell apart cheaply: by kind, size, form and signs of A.

A family makes a problem of about n rows from a seed. What the gallery has is taken from there; what it lacks
(P-matrices far from positive definite, copositive and indefinite A, quadratic programs, operators that only multiply)
is made here, with a planted solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import perp
from perp import gallery
from perp.gallery.dense import random_orthogonal, spectrum, symmetric
from perp.problems.inputs import Matrix, Vector
from perp.problems.operators import MatrixFreeOperator
from perp.problems.problem import Problem

DENSE = (3, 20, 100, 500, 2000)
SPARSE = (20, 100, 500, 2000, 10_000, 100_000)
FACTORED = (12, 100, 500, 2000, 10_000, 100_000)
CONTACTS = (12, 100, 500, 2000)
FREE_PRODUCTS = (20, 100, 500, 2000, 10_000)

SPREAD = 100.0
"""Rows and columns of a P-matrix are multiplied by numbers between 1/SPREAD and SPREAD."""


@dataclass(frozen=True)
class Family:
    """Problems of one kind. `about` says in a few words what A is."""

    name: str
    about: str
    make: Callable[[int, int], Problem]
    sizes: tuple[int, ...]
    start: Callable[[int, int], Vector] | None = None
    """Where solvers start, for the same n and seed; None: cold."""

    def starting_point(self, n: int, seed: int) -> Vector | None:
        return None if self.start is None else self.start(n, seed)


def _from_gallery(kind: str, **options: Any) -> Callable[[int, int], Problem]:
    def make(n: int, seed: int) -> Problem:
        return gallery.make(kind, n=n, seed=seed, **options).problem

    return make


# --- dense -----------------------------------------------------------------------------------------------------------


def p_matrix(n: int, seed: int) -> Problem:
    """D (S + K) E with S + K positive definite and D, E positive diagonals: a P-matrix, as a rule not definite.

    Every principal minor is that of S + K times positive numbers.
    """
    rng = np.random.default_rng(seed)
    S = symmetric(random_orthogonal(n, rng), spectrum(n, None))
    K = rng.standard_normal((n, n)) / np.sqrt(n)
    D, E = (SPREAD ** rng.uniform(-0.5, 0.5, n) for _ in range(2))
    return gallery.planted_lcp(D[:, None] * (S + 0.5 * (K - K.T)) * E, seed=rng).problem


def copositive(n: int, seed: int) -> Problem:
    """Symmetric, entries in [0, 1] and a diagonal in [0.5, 1]: strictly copositive, but indefinite from n = 3 on."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)), 1)
    A = A + A.T
    A[np.diag_indices(n)] = rng.uniform(0.5, 1.0, n)
    return gallery.planted_lcp(A, seed=rng).problem


def indefinite(n: int, seed: int) -> Problem:
    """Symmetric with eigenvalues of both signs, in the diagonal too: nothing is proven, a solution is there."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1.0, 1.0, n)
    return gallery.planted_lcp(symmetric(random_orthogonal(n, rng), values), seed=rng).problem


def quadratic_program(n: int, seed: int, *, free: bool, form: str = "dense") -> Problem:
    """The conditions for a minimum of 1/2 u^T Q u + c^T u with B u >= d, and u >= 0 or u free.

    A = | Q  -B^T |      positive semidefinite, not symmetric, zeros on the diagonal; two variables for each
        | B    0  |      constraint.
    """
    rng = np.random.default_rng(seed)
    variables = max(1, (2 * n) // 3)
    Q, B = (_dense_program if form == "dense" else _sparse_program)(variables, n - variables, rng)
    A = sparse.block_array([[Q, -B.T], [B, None]], format="csr")
    lower = np.zeros(n)
    if free:
        lower[:variables] = -np.inf
    operator = A.toarray() if form == "dense" else A
    if not free:
        return gallery.planted_lcp(operator, seed=rng).problem
    return gallery.planted_box(operator, lower, np.inf, active=0.3, seed=rng).problem


def _dense_program(variables: int, constraints: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    Q = symmetric(random_orthogonal(variables, rng), spectrum(variables, None))
    return Q, rng.standard_normal((constraints, variables)) / np.sqrt(variables)


def _sparse_program(
    variables: int, constraints: int, rng: np.random.Generator
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Three entries a row: Q couples neighbours, a constraint three variables near each other."""
    steps = np.ones(variables - 1)
    Q = sparse.diags_array([-steps, np.full(variables, 2.1), -steps], offsets=[-1, 0, 1], format="csr")
    first = rng.integers(0, max(1, variables - 3), constraints)
    columns = np.minimum(first[:, None] + np.arange(3), variables - 1).ravel()
    rows = np.repeat(np.arange(constraints), 3)
    entries = rng.standard_normal(3 * constraints)
    return Q, sparse.csr_array((entries, (rows, columns)), shape=(constraints, variables))


# --- sparse ----------------------------------------------------------------------------------------------------------


def sparse_spd(n: int, seed: int) -> Problem:
    """G G^T + 0.01 I with three random entries in each row of G, near the diagonal: couplings of both signs."""
    rng = np.random.default_rng(seed)
    columns = (np.arange(n)[:, None] + rng.integers(0, max(2, int(np.sqrt(n))), (n, 3))) % n
    G = sparse.csr_array((rng.standard_normal(3 * n), (np.repeat(np.arange(n), 3), columns.ravel())), shape=(n, n))
    return gallery.planted_lcp(sparse.csr_array(G @ G.T + 0.01 * sparse.eye_array(n)), seed=rng).problem


def upwind(n: int, seed: int) -> Problem:
    """Diffusion and strong flow on a square, upwind differences: an M-matrix that is not symmetric."""
    side = max(2, round(np.sqrt(n)))
    rng = np.random.default_rng(seed)
    ones = np.ones(side - 1)
    second = sparse.diags_array([-ones, np.full(side, 2.0), -ones], offsets=[-1, 0, 1])
    flow = sparse.diags_array([-ones, np.full(side, 1.0)], offsets=[-1, 0])
    along, across = (second + speed * flow for speed in rng.uniform(0.5, 5.0, 2))
    identity = sparse.eye_array(side)
    A = sparse.kron(along, identity) + sparse.kron(identity, across)
    return gallery.planted_lcp(sparse.csr_array(A), seed=rng).problem


def membrane(n: int, seed: int) -> Problem:
    """A membrane over a sphere, a paraboloid or a flat floor, which have no random numbers."""
    if seed % 3 == 2:
        return gallery.make("radial_obstacle", n=n, form="stencil").problem
    return gallery.make("membrane", n=n, form="stencil", obstacle=("sphere", "paraboloid")[seed % 3]).problem


# --- contacts --------------------------------------------------------------------------------------------------------


def assembled(n: int, seed: int, *, kind: str, form: str, **options: Any) -> Problem:
    """Contacts whose A = J M^-1 J^T is written out."""
    problem = gallery.make(kind, n=n, seed=seed, **options).problem
    A = problem.A.to_dense() if form == "dense" else problem.A.to_sparse()
    if isinstance(problem, perp.ContactProblem):
        return perp.ContactProblem(A, problem.b, problem.friction, problem.model, dimension=problem.dimension)
    assert isinstance(problem, perp.BoxLCP)
    return perp.BoxLCP(A, problem.b, problem.lower, problem.upper)


def with_moments(n: int, seed: int, *, model: str, mass_ratio: float) -> Problem:
    """A stack whose contacts have six rows: friction 0.5 also against spin (2 cm) and rolling (1 mm)."""
    problem = gallery.make(
        "box_stack", n=max(n // 2, 12), seed=seed, model=model, mass_ratio=mass_ratio, **STACK
    ).problem
    assert isinstance(problem, perp.ContactProblem)
    assert isinstance(problem.A, perp.FactoredOperator)
    assert problem.A.pairs is not None
    bodies, jacobian = problem.A.pairs.as_given()
    turning = np.zeros_like(jacobian)
    turning[..., 3:] = jacobian[..., :3]  # a moment about the direction that its row pushes in
    shape = (problem.contacts, 3, *jacobian.shape[1:])
    blocks = np.concatenate([jacobian.reshape(shape), turning.reshape(shape)], axis=1).reshape(-1, *jacobian.shape[1:])
    mass: Any = problem.A.mass
    A = perp.FactoredOperator.from_body_pairs(np.repeat(bodies[::3], 6, axis=0), blocks, mass)
    b = np.zeros((problem.contacts, 6))
    b[:, :3] = problem.b.reshape(-1, 3)
    return perp.ContactProblem(A, b.ravel(), [[0.5, 0.5, 0.02, 0.001, 0.001]], model, dimension=6)


def single_contact(n: int, seed: int, *, model: str) -> Problem:
    """A sphere that slides or rolls (three rows), or a block on an incline (twelve)."""
    rng = np.random.default_rng(seed)
    if n < 12:
        throw: dict[str, Any] = {"speed": rng.uniform(0.0, 2.0), "heading": rng.uniform(0.0, 1.5)}
        return gallery.make("rolling_sphere", model=model, **throw).problem
    slope: dict[str, Any] = {"excess": rng.uniform(-0.1, 0.1), "heading": rng.uniform(0.0, 1.5)}
    return gallery.make("block_on_incline", model=model, **slope).problem


# --- warm starts -----------------------------------------------------------------------------------------------------


def step_after(n: int, seed: int, *, kind: str) -> Problem:
    """A planted problem whose b has changed by up to a hundredth, entry by entry."""
    problem = gallery.make(kind, n=n, seed=seed).problem
    b = problem.b * (1.0 + 0.01 * np.random.default_rng(seed).uniform(-1.0, 1.0, problem.n))
    if isinstance(problem, perp.BoxLCP):
        return perp.BoxLCP(problem.A, b, problem.lower, problem.upper)
    return perp.LCP(problem.A, b)


def step_before(n: int, seed: int, *, kind: str) -> Vector:
    """The solution before b changed."""
    x = gallery.make(kind, n=n, seed=seed).x
    assert x is not None
    return x


# --- operators that only multiply ------------------------------------------------------------------------------------


def only_products(n: int, seed: int, *, diagonal: bool) -> Problem:
    """Poisson's matrix behind a LinearOperator, with or without its diagonal."""
    problem = gallery.make("poisson_2d", n=n, seed=seed).problem
    A = problem.A.to_sparse()
    entries: Vector | None = A.diagonal() if diagonal else None
    return perp.LCP(MatrixFreeOperator(A, entries), problem.b)


STACK: dict[str, Any] = {"layout": "wall", "load": "gravity"}


def _contact_families() -> list[Family]:
    families = []
    for model in ("box", "cone", "convex", "disc"):
        make = partial(single_contact, model=model)
        families.append(Family(f"one body {model}", "a sphere or a block, factored", make, (3, 12)))
        for ratio in (1.0, 1000.0):
            words = f"stacked boxes, redundant, masses 1:{ratio:g}"
            make_stack = _from_gallery("box_stack", model=model, mass_ratio=ratio, **STACK)
            families.append(Family(f"stack 1:{ratio:g} {model}", words, make_stack, CONTACTS))
    for ratio in (1.0, 1000.0):
        words = f"the same with moments, masses 1:{ratio:g}"
        make = partial(with_moments, model="cone", mass_ratio=ratio)
        families.append(Family(f"wide stack 1:{ratio:g} cone", words, make, CONTACTS))
    for model in ("box", "cone"):
        make = partial(assembled, kind="box_stack", form="dense", model=model, **STACK)
        families.append(Family(f"dense stack {model}", "the same, A written out", make, (12, 100, 500)))
    return families


FAMILIES: tuple[Family, ...] = (
    Family("dense spd", "symmetric positive definite", _from_gallery("dense_pd"), DENSE),
    Family("dense spd ill", "condition 1e8", _from_gallery("dense_pd", condition=1e8), DENSE),
    Family("dense spd degenerate", "30 % of rows x = y = 0", _from_gallery("dense_pd", degenerate=0.3), DENSE),
    Family("dense psd", "symmetric, half of the eigenvalues zero", _from_gallery("dense_psd"), DENSE),
    Family("dense pd", "positive definite, not symmetric", _from_gallery("dense_p"), DENSE),
    Family("dense p", "P-matrix, not definite", p_matrix, DENSE),
    Family("dense copositive", "entries >= 0, indefinite", copositive, DENSE[:4]),
    Family("dense indefinite", "symmetric, eigenvalues of both signs", indefinite, DENSE[:4]),
    Family("dense qp", "Q, B of a program, x >= 0", partial(quadratic_program, free=False), DENSE[:4]),
    Family("dense qp free", "Q, B of a program, free rows", partial(quadratic_program, free=True), DENSE[:4]),
    Family("stewart-trinkle", "zeros on the diagonal, regular", _from_gallery("contact_like"), (6, 24, 96, 480)),
    Family(
        "stewart-trinkle bodies",
        "zeros on the diagonal, redundant",
        lambda n, seed: gallery.make("contact_like", n=n, seed=seed, bodies=max(2, n // 18)).problem,
        (6, 24, 96, 480),
    ),
    Family("dense box", "spd, bounds of all kinds", _from_gallery("boxed_pd"), DENSE),
    Family("dense box ill", "condition 1e8", _from_gallery("boxed_pd", condition=1e8), DENSE[:4]),
    Family("poisson csr", "M-matrix, 5 points", _from_gallery("poisson_2d"), SPARSE),
    Family("poisson stencil", "M-matrix, 5 points", _from_gallery("poisson_2d", form="stencil"), SPARSE),
    Family("cube stencil", "M-matrix, 7 points", _from_gallery("poisson_3d", form="stencil"), SPARSE[1:]),
    Family("membrane stencil", "M-matrix, stretched over an obstacle", membrane, SPARSE[1:5]),
    Family("bands csr", "M-matrix, three bands", _from_gallery("fluid_like"), SPARSE[:5]),
    Family("upwind csr", "M-matrix, not symmetric", upwind, SPARSE),
    Family("sparse spd", "definite, couplings of both signs", sparse_spd, SPARSE),
    Family("sparse qp free", "Q, B, free rows", partial(quadratic_program, free=True, form="sparse"), SPARSE[:5]),
    Family("sparse qp", "Q, B, x >= 0", partial(quadratic_program, free=False, form="sparse"), SPARSE[:5]),
    Family("pile 1:1", "boxed, factored", _from_gallery("boxed_pile", mass_ratio=1.0, load="gravity"), FACTORED[:5]),
    Family("pile 1:1000", "boxed, factored", _from_gallery("boxed_pile", load="gravity"), FACTORED[:5]),
    Family("boxed stack", "boxed, factored, redundant", _from_gallery("boxed_stack", **STACK), FACTORED),
    Family(
        "boxed stack csr",
        "the same, A written out",
        partial(assembled, kind="boxed_stack", form="sparse", **STACK),
        CONTACTS,
    ),
    Family("chain", "boxed, factored, condition 1e6", _from_gallery("hinged_chain"), FACTORED[1:5]),
    *_contact_families(),
    *(
        Family(
            f"warm {name}",
            "b changed by 1 %, started at the solution before",
            partial(step_after, kind=kind),
            sizes,
            partial(step_before, kind=kind),
        )
        for name, kind, sizes in (("dense spd", "dense_pd", DENSE), ("pile", "boxed_pile", FACTORED[:4]))
    ),
    Family("products", "spd, A x alone", partial(only_products, diagonal=False), FREE_PRODUCTS),
    Family("products with diagonal", "spd, A x and A_ii", partial(only_products, diagonal=True), FREE_PRODUCTS),
)

BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}
