"""Block Gauss-Seidel over contacts: each contact in turn is solved exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.storages import body_pairs, planar_pairs
from perp.kernels.sweeps import blocked, blocked_pairs
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, SparseOperator
from perp.problems.operators.factored import BodyPairs, PlanarPairs
from perp.problems.problem import Problem, scale_data
from perp.solvers.options import RELAXATION_NAMES, About, option
from perp.solvers.splitting.sweeps import (
    ORDER,
    ORDER_SEED,
    Index,
    SweepMethod,
    fits_pairs,
    refuse_rows,
    require_order,
    require_relaxation,
    sweep_factored,
)

LEAST_SHARE = 1e-8
"""Of the stiffness of a contact. Directions that have less (a planar model has none across its plane) count as having
this much: an impulse there changes no velocity, so it should not be driven about by rounding errors."""

STRONGEST_COUPLING = 1e75
"""Of tangents to normals, W_nt / W_nn. Where it is stronger, W is far from semidefinite and numbers overflow: such a
contact is solved as if normal and tangents were not coupled."""

CELLS = {"box": 8, "cone": 8, "disc": 12, "convex": 20}
"""How many numbers a contact has, by model."""

LEAST_FILL = 0.5
"""Of blocks of 3 x 3: where fewer of their numbers are nonzeros, plain compressed rows read less."""

SAME = 1e-13
"""By how much, of their size, the rows of a contact may differ from those of a contact at a point."""

WIDEST_SCALE = 2.0**200
"""Contacts whose `row_scales` lie beyond it or its inverse have velocities whose squares overflow or vanish."""


def prepare_blocks(problem: ContactProblem, relaxation: float) -> tuple[np.uint64, Vector]:
    """How many numbers a contact has, and these numbers, flat."""
    cells = CELLS[problem.model]
    local = np.empty(problem.contacts * cells)
    width, blocks = np.uint64(problem.dimension), problem.contact_blocks.reshape(-1)
    limits = (LEAST_SHARE, STRONGEST_COUPLING)
    blocked.prepare(blocks, width, float(relaxation), problem.model == "box", *limits, np.uint64(cells), local)
    parts = local.reshape(-1, cells)
    if problem.model == "disc":
        parts[:, 8:] = _tangent_axes(problem, relaxation)
    if problem.model == "convex":
        frames, d = _frames_of_cones(_whiten(parts), problem.friction)
        parts[:, 8:17] = frames.transpose(0, 2, 1).reshape(-1, 9)
        parts[:, 17:] = d
    return np.uint64(cells), local


def _tangent_axes(problem: ContactProblem, relaxation: float) -> NDArray[np.float64]:
    """Eigenvalues of W_tt and the turn to its eigenvectors: what fixed discs need where there is no normal impulse."""
    W = padded_blocks(problem) / relaxation
    own = W[:, : problem.dimension, : problem.dimension]
    least = LEAST_SHARE * np.maximum(W[:, 0, 0], np.trace(own, axis1=1, axis2=2) / problem.dimension)
    values, vectors = np.linalg.eigh(W[:, 1:, 1:])
    vectors[np.linalg.det(vectors) < 0.0, :, 1] *= -1.0
    return np.concatenate([np.maximum(values, least[:, None]), vectors[:, :, 0]], axis=1)


def _whiten(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """K with K W K^T = 1, one a contact, for the W that the numbers of a contact stand for."""
    inverse, a, stiffness = parts[:, 1], parts[:, 2:4], parts[:, 4:6]
    cosine, sine = parts[:, 6], parts[:, 7]
    K = np.zeros((len(parts), 3, 3))
    K[:, 0, 0] = np.sqrt(inverse)
    K[:, 1:, 0] = -a / np.sqrt(stiffness)
    K[:, 1, 1], K[:, 1, 2] = cosine, sine
    K[:, 2, 1], K[:, 2, 2] = -sine, cosine
    K[:, 1:, 1:] /= np.sqrt(stiffness)[:, :, None]
    return K


def padded_blocks(problem: ContactProblem) -> NDArray[np.float64]:
    """The symmetric part of each contact's block, 3 x 3: planar contacts get a second tangent of stiffness 1."""
    blocks = problem.contact_blocks
    W = np.zeros((problem.contacts, 3, 3))
    W[:, 2, 2] = 1.0
    W[:, : problem.dimension, : problem.dimension] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
    return W


def _frames_of_cones(K: NDArray[np.float64], friction: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """T with T^T W T = 1 and T^T D T = diag(d), D = diag(-friction^2, 1, 1) / (1 + friction^2); T_0 within the cone.

    K W K^T = 1.
    """
    cosine = 1.0 / np.hypot(1.0, friction)
    D = np.zeros_like(K)
    D[:, 0, 0] = -((friction * cosine) ** 2)
    D[:, 1, 1] = D[:, 2, 2] = cosine**2
    d, vectors = np.linalg.eigh(K @ D @ K.transpose(0, 2, 1))
    frames = K.transpose(0, 2, 1) @ vectors
    frames[frames[:, 0, 0] < 0.0, :, 0] *= -1.0
    return frames, d


@dataclass(frozen=True)
class BlockSweeper:
    """A compiled sweep and the arrays that it reads; x is changed in place."""

    x: Vector
    kernel: Callable[..., None]
    contact: tuple[Any, ...]
    """The law of the contacts, and what is known of each of them."""
    storage: tuple[Any, ...]
    """What the kernel knows of A."""
    vectors: tuple[Vector, ...]
    """step, b, lower, upper, x and its velocity; where none is kept, x stands in its place."""
    refresh: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept."""

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        """`count` passes over the contacts and the other rows, in the order given."""
        self.kernel(count, (contacts, rows, rows_first), self.contact, self.storage, self.vectors)


def make_block_sweeper(problem: ContactProblem, relaxation: float, x: Vector) -> BlockSweeper:
    """The sweeper for the form of A. It may take another array for x: go on with `sweeper.x`."""
    problem = _within_range(problem)
    width, law, _ = problem.law
    vectors = (_row_steps(problem, relaxation), problem.b, problem.lower, problem.upper, x)
    A = problem.A.factored
    if A is not None and A.planar is not None and fits_pairs(problem, A.planar, 2):
        prepare = _prepare_planar_blocks if problem.model in ("box", "cone") else prepare_blocks
        cells, local = prepare(problem, relaxation)
        return _sweep_planar_pairs(A, A.planar, (law, cells, problem.friction, local), vectors)
    cells, local = prepare_blocks(problem, relaxation)
    plain = (law, cells, width, problem.friction, local)
    if A is not None:
        if A.pairs is not None and fits_pairs(problem, A.pairs, 3):
            return _sweep_body_pairs(A, A.pairs, problem, (law, cells, problem.friction, local), vectors)
        return _sweep_factored(A, plain, vectors)

    if problem.A.is_dense:
        return BlockSweeper(x, blocked.sweep_dense, plain, (problem.A.array().reshape(-1),), (*vectors, x))
    rows = problem.A.compressed()
    compressed = (rows.pointers, rows.indices, rows.values)
    blocks = _find_blocks(rows, problem)
    if blocks is None:
        return BlockSweeper(x, blocked.sweep_compressed, plain, compressed, (*vectors, x))
    padded = np.zeros(3 * -(-problem.n // 3))
    padded[: problem.n] = x
    swept = (*vectors[:-1], padded, padded)
    return BlockSweeper(padded[: problem.n], blocked.sweep_blocks, (plain, blocks), compressed, swept)


def _row_steps(problem: ContactProblem, relaxation: float) -> Vector:
    """relaxation / A_ii for the rows after the contacts, which need none; what is not positive is fixed."""
    assert problem.diagonal is not None
    step = np.zeros(problem.n)
    rows = slice(problem.contact_rows, None)
    np.divide(relaxation, problem.diagonal[rows], out=step[rows], where=problem.diagonal[rows] > 0.0)
    return step


def _within_range(problem: ContactProblem) -> ContactProblem:
    """The problem, or one with the same solutions whose rows are scaled where no square of a velocity has a number."""
    scales = problem.row_scales
    if np.all((scales < WIDEST_SCALE) & (scales > 1.0 / WIDEST_SCALE)):
        return problem
    scaled = scale_data(problem)
    if scaled is None:
        return problem
    return ContactProblem(
        *scaled, problem.friction, problem.model, dimension=problem.dimension, lower=problem.lower, upper=problem.upper
    )


def _find_blocks(A: SparseOperator, problem: ContactProblem) -> tuple[Any, ...] | None:
    """The rows of the contacts in blocks of 3 x 3: pointers, columns and values; None where that wastes memory."""
    if problem.dimension != 3:
        return None
    rows = A.to_sparse()[: problem.contact_rows]
    wide = -(-problem.n // 3) * 3
    blocks = sparse.bsr_array(
        sparse.csr_array((rows.data, rows.indices, rows.indptr), (problem.contact_rows, wide)), blocksize=(3, 3)
    )
    if rows.nnz < LEAST_FILL * blocks.data.size:
        return None
    return (
        blocks.indptr.astype(np.uint32),
        blocks.indices.astype(np.uint32),
        np.ascontiguousarray(blocks.data, dtype=np.float64).reshape(-1),
    )


def _sweep_factored(A: FactoredOperator, contact: tuple[Any, ...], vectors: tuple[Vector, ...]) -> BlockSweeper:
    """J and W = J M^-1 in compressed rows, with the velocity v = W^T x kept up to date, as PGS has them."""
    rows = sweep_factored(A, vectors, None)
    return BlockSweeper(rows.x, blocked.sweep_factored, contact, rows.storage, rows.vectors, rows.refresh)


def _sweep_body_pairs(
    A: FactoredOperator,
    pairs: BodyPairs,
    problem: ContactProblem,
    contact: tuple[Any, ...],
    vectors: tuple[Vector, ...],
) -> BlockSweeper:
    """Two rigid bodies a row. Contacts apply M^-1 on the fly; other rows read a scaled copy of their part of J.

    Contacts at points, which is what rigid bodies have, are recognised and swept with less to read.
    """
    x, velocity = vectors[-1], np.empty(6 * (pairs.body_count + 1))
    refresh = partial(body_pairs.velocity, pairs.bodies, pairs.jacobian, pairs.inverse_mass, x, velocity)
    refresh()
    scaled, _ = pairs.scaled(first=problem.contact_rows)
    storage = (pairs.bodies, pairs.jacobian, pairs.inverse_mass, scaled, A.compliance)
    points, kernel = np.empty(15 * problem.contacts), blocked_pairs.sweep_pairs
    if blocked_pairs.find_points(pairs.bodies, pairs.jacobian, np.uint64(pairs.body_count), SAME, points):
        _, cells, _, local = contact
        sticking = np.empty(9 * problem.contacts)
        blocked_pairs.prepare_sticking(problem.model == "box", cells, local, sticking)
        contact, kernel = (*contact, sticking, points), blocked_pairs.sweep_points
    return BlockSweeper(x, kernel, contact, storage, (*vectors, velocity), refresh)


def _sweep_planar_pairs(
    A: FactoredOperator, planar: PlanarPairs, contact: tuple[Any, ...], vectors: tuple[Vector, ...]
) -> BlockSweeper:
    """Two bodies in a plane a row; M^-1 is applied on the fly."""
    x, velocity = vectors[-1], np.empty(3 * (planar.body_count + 1))
    parts = (planar.bodies, planar.jacobian, planar.inverse_mass)
    refresh = partial(planar_pairs.velocity, *parts, x, velocity)
    refresh()
    storage = (*parts, A.compliance)
    return BlockSweeper(x, blocked_pairs.sweep_planar_pairs, contact, storage, (*vectors, velocity), refresh)


def _prepare_planar_blocks(problem: ContactProblem, relaxation: float) -> tuple[np.uint64, Vector]:
    """The four numbers that `perp.kernels.sweeps.blocked_pairs` keeps of a contact with one tangent."""
    local = np.empty(4 * problem.contacts)
    blocks = problem.contact_blocks.reshape(-1)
    blocked_pairs.prepare_planar(blocks, float(relaxation), LEAST_SHARE, STRONGEST_COUPLING, local)
    return np.uint64(4), local


@dataclass(frozen=True)
class BlockGaussSeidel(SweepMethod):
    """Each contact in turn gets the impulse that obeys its law exactly while the others rest.

        x_c <- the solution of   x_c and y_c + W_c (x_c - x_c^old) obey the law,    W_c the 3 x 3 block of A

    It separates, sticks (x_c = x_c^old - W_c^-1 y_c) or slides. Sliding in Coulomb's disc is one equation for alpha in
    y_t = -alpha x_t, solved by Newton steps inside a bracket; convex cones and discs of given radii likewise; of boxes
    the nine cases are tried. Rows after the contacts are swept as in `psor`.

    `relaxation` in (0, 2) divides the blocks W_c, which for a single row is over-relaxation. `order` is forward,
    backward, symmetric, random (from `seed`) or coloured.
    """

    name: ClassVar[str] = "block_gauss_seidel"
    synonyms: ClassVar[tuple[str, ...]] = (
        "NSGS",
        "nonsmooth Gauss-Seidel",
        "block PGS",
        "contact by contact",
        "NLGS",
        "nonlinear Gauss-Seidel",
        "SICONOS_FRICTION_3D_NSGS",
    )
    accepts: ClassVar[frozenset[str]] = frozenset({"contact/box", "contact/cone", "contact/convex", "contact/disc"})
    requires: ClassVar[str] = "positive diagonal entries in the normal rows and in the rows after the contacts"
    reference: ClassVar[str] = (
        "Jourdan, Alart & Jean 1998; sliding: Bonnefon & Daviet 2011; NOTES 5.3 for the other rows"
    )

    relaxation: float = option(
        1.0,
        About(
            "divides the blocks of contacts, multiplies the changes of other rows",
            above=0.0,
            below=2.0,
            synonyms=("omega", "w", *RELAXATION_NAMES),
        ),
    )
    order: str = option("forward", ORDER)
    seed: int = option(0, ORDER_SEED)

    def __post_init__(self) -> None:
        require_relaxation(self.relaxation)
        require_order(self.order, self.seed)

    @property
    def settings(self) -> tuple[float, str, int]:
        return float(self.relaxation), self.order, self.seed

    def objection(self, problem: Problem) -> str | None:
        problem = problem.as_contacts()
        assert problem.diagonal is not None
        if (problem.diagonal > 0.0).all():  # nobody needs to ask which rows are fixed
            return None
        fixed = np.zeros(problem.n, dtype=bool)
        fixed[problem.contact_rows :] = problem.lower == problem.upper
        for tangent in range(1, problem.dimension):
            fixed[problem.normal_rows + tangent] = problem.diagonal[problem.normal_rows + tangent] >= 0.0
        return refuse_rows(problem, fixed)

    def make_sweeper(self, problem: Problem, x: Vector) -> BlockSweeper:
        return make_block_sweeper(problem.as_contacts(), float(self.relaxation), x)
