"""What methods that sweep share: an order, rows they cannot divide by, and a sweeper for whatever form A has.

One function per storage binds its arrays to its compiled kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs
from perp.kernels.sweeps import sweeping
from perp.problems.inputs import Vector, freeze, require_count, require_real
from perp.problems.operators import FactoredOperator, SparseOperator
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, TO_SPARSE
from perp.problems.operators.factored import BodyPairs, PlanarPairs
from perp.problems.operators.sparse import unsigned_parts
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import RELAXATION_NAMES, About

Index = NDArray[np.uint32]
ORDERS = ("forward", "backward", "symmetric", "random", "coloured")
COLOURED_SYMMETRIC = "coloured symmetric"
"""All colours and back: what `symmetric` is to `forward`."""

REFRESH_EVERY = 64
"""Iterations after which a kept velocity is computed anew; it costs as much as half a sweep."""

RELAXATION = About(
    "what each change is multiplied by; 1 is Gauss-Seidel",
    above=0.0,
    below=2.0,
    synonyms=("omega", "w", *RELAXATION_NAMES),
)

ORDER = About(
    "in which contacts and rows are visited: as they come, backward, both (symmetric), by a new permutation each"
    " iteration (random), or those together that do not touch (coloured)",
    choices=ORDERS,
    synonyms=("sweep_order", "shuffle", "randomize", "randomize_constraint_order"),
)

ORDER_SEED = About("of the random order", at_least=0, synonyms=("random_state", "shuffle_seed"))

RED = np.uint64(0)
"""Cells whose coordinates have an even sum."""


class Sweep(Protocol):
    def __call__(self, count: int, contacts: Index, rows: Index, rows_first: bool, /) -> None:
        """`count` passes over the contacts and the rows, in the order given."""
        ...


class Order:
    """Drives sweeps; `random` draws a new permutation for each iteration from a seeded generator."""

    name: str
    contacts: Index
    rows: Index
    contacts_back: NDArray[np.uint32]
    rows_back: NDArray[np.uint32]

    def __init__(self, name: str, contacts: Index, rows: Index, seed: int) -> None:
        self.name, self.contacts, self.rows = name, contacts, rows
        if name in ("backward", "symmetric", COLOURED_SYMMETRIC):
            self.contacts_back, self.rows_back = contacts[::-1].copy(), rows[::-1].copy()
        if name == "random":
            self.generator: np.random.Generator = np.random.default_rng(seed)

    def iterate(self, sweep: Sweep, count: int) -> None:
        if self.name in ("forward", "coloured") or count == 0:
            sweep(count, self.contacts, self.rows, False)
        elif self.name == "backward":
            sweep(count, self.contacts_back, self.rows_back, True)
        elif self.name in ("symmetric", COLOURED_SYMMETRIC):
            for _ in range(count):
                sweep(1, self.contacts, self.rows, False)
                sweep(1, self.contacts_back, self.rows_back, True)
        else:
            for _ in range(count):
                contacts = self.generator.permutation(self.contacts)
                sweep(1, contacts, self.generator.permutation(self.rows), False)


def make_order(problem: Problem, name: str, seed: int = 0) -> Order:
    """The order of that name for the contacts and rows of a problem."""
    contacts, first = problem.contacts, problem.contact_rows
    if name not in ("coloured", COLOURED_SYMMETRIC):
        numbers = np.arange(contacts, dtype=np.uint32)
        return Order(name, numbers, np.arange(first, problem.n, dtype=np.uint32), seed)
    coloured = np.argsort(colour_contacts(problem, contacts, first), kind="stable").astype(np.uint32)
    rows = first + np.argsort(colour(_touching(problem, first, problem.n)), kind="stable")
    return Order(name, coloured, rows.astype(np.uint32), seed)


def colour_contacts(problem: Problem, contacts: int, contact_rows: int) -> NDArray[np.uint32]:
    """A colour for each contact, such that contacts of one colour do not touch."""
    touching = _touching(problem, 0, contact_rows).tocoo()
    size = contact_rows // contacts if contacts else 1
    pairs = (touching.row // size, touching.col // size)
    return colour(sparse.csr_array((np.ones(touching.nnz), pairs), (contacts, contacts)))


def colour(touching: sparse.csr_array) -> NDArray[np.uint32]:
    """Greedy colours of the graph whose edges are the nonzeros."""
    count = touching.shape[0]
    colours = np.zeros(count, dtype=np.uint32)
    taken = np.full(count + 1, -1, dtype=np.int64)
    pointers, neighbours = (freeze(part.astype(np.uint32)) for part in (touching.indptr, touching.indices))
    sweeping.colour_greedily(pointers, neighbours, colours, taken)
    return colours


def _touching(problem: Problem, first: int, last: int) -> sparse.csr_array:
    """Nonzero where two of the rows first..last influence each other; bodies stand for the rows of a factored A."""
    factored = problem.A.factored
    if factored is not None and factored.paired is not None:
        paired = factored.paired
        pairs = paired.bodies[2 * first : 2 * last].astype(np.int64)
        row, moves = np.repeat(np.arange(last - first), 2), pairs < paired.body_count
        part = (np.ones(int(moves.sum())), (row[moves], pairs[moves]))
        incidence = sparse.csr_array(part, (last - first, paired.body_count))
        return sparse.csr_array(incidence @ incidence.T)
    return sparse.csr_array(problem.A.to_sparse()[first:last, first:last])


def diagonal_objection(problem: Problem) -> str | None:
    """Names the rows whose diagonal entry is zero or negative; None when all are positive, or fixed anyway."""
    assert problem.diagonal is not None
    if (problem.diagonal > 0.0).all():  # nobody needs to ask which rows are fixed
        return None
    return refuse_rows(problem, fixed_rows(problem))


def refuse_rows(problem: Problem, allowed: NDArray[np.bool_]) -> str | None:
    """The same, for rows that are not allowed to have such an entry."""
    assert problem.diagonal is not None
    bad = np.flatnonzero(~((problem.diagonal > 0.0) | allowed))
    if not bad.size:
        return None
    word = "zero" if problem.diagonal[bad[0]] == 0.0 else "negative"
    shown = ", ".join(str(i) for i in bad[:5]) + (", ..." if bad.size > 5 else "")
    return (
        f"it divides by the diagonal of A, which is not positive in {bad.size} "
        f"row{'s' if bad.size > 1 else ''} ({shown}; A[{bad[0]},{bad[0]}] is {word}: {problem.diagonal[bad[0]]:g})"
    )


def fixed_rows(problem: Problem) -> NDArray[np.bool_]:
    """Rows with lower == upper: x_i is known, y_i is free, and nothing is divided by A_ii."""
    fixed = np.zeros(problem.n, dtype=bool)
    fixed[problem.contact_rows :] = problem.lower == problem.upper
    return fixed


class AnySweeper(Protocol):
    """Kernels of one storage bound to their arrays."""

    @property
    def x(self) -> Vector: ...

    @property
    def sweep(self) -> Sweep: ...

    @property
    def refresh(self) -> Callable[[], None] | None: ...


@dataclass
class SweepState(State):
    iterate: Callable[[int], None]
    """Does so many iterations; none of them loads the kernels."""
    recompute: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept."""
    done: int = 0


@dataclass(frozen=True)
class SweepMethod(Method[SweepState]):
    family: ClassVar[str] = "splitting"
    needs: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS})
    check_every: ClassVar[int] = 10

    @property
    @abstractmethod
    def settings(self) -> tuple[float, str, int]:
        """The relaxation, the order, and the seed of a random order."""

    @abstractmethod
    def make_sweeper(self, problem: Problem, x: Vector) -> AnySweeper: ...

    def start(self, problem: Problem, x: Vector) -> SweepState:
        _, name, seed = self.settings
        sweeper, order = self.make_sweeper(problem, x), make_order(problem, name, seed)
        iterate = partial(order.iterate, sweeper.sweep)
        return SweepState(sweeper.x, iterate, sweeper.refresh, repeatable=name != "random")

    def refresh(self, problem: Problem, state: SweepState) -> None:
        if state.recompute is not None:
            state.recompute()

    def step(self, problem: Problem, state: SweepState, count: int) -> None:
        last = state.done + count
        while True:  # also for count = 0, which loads the kernels and does nothing
            width = min(last - state.done, REFRESH_EVERY - state.done % REFRESH_EVERY)
            state.iterate(width)
            state.done += width
            if width and state.done % REFRESH_EVERY == 0:
                self.refresh(problem, state)
            if state.done == last:
                return


def require_relaxation(value: float) -> None:
    require_real(value, "relaxation")
    if not 0.0 < value < 2.0:
        raise ValueError(f"relaxation is {value}; it must lie strictly between 0 and 2 (NOTES eq. 57)")


def require_order(order: str, seed: int) -> None:
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}{suggest(str(order), ORDERS)}")
    require_count(seed, "seed")


def sweep_grid(problem: Problem, relaxation: float, order: str, x: Vector) -> Callable[[int], None] | None:
    """A function that does so many iterations on x in that order; None where there is no kernel for it.

    The kernels move x_c to (1 - relaxation) x_c - relaxation (the sum of all but A_cc x_c) / A_cc, and clip it: NOTES
    eq. 59 with its own term taken out of the sum, which saves an array that would have to be read. A cell whose A_cc is
    not positive is fixed, and a step of zero times anything leaves it so.
    """
    A = problem.A.stencil
    if A is None or not A.has_kernels or not A.n or order == "random":
        return None
    if problem.frictional is not None:
        return None
    bounded = problem.kind != "lcp"
    lower, upper = problem.bounds(x) if bounded else (problem.b, problem.b)  # of an LCP the kernels read no bounds
    inverse, line = freeze(steps(problem, 1.0)), np.empty(A.grid[-1])
    arrays = (*A.kernel_arguments, relaxation, inverse, problem.b, bounded, lower, upper, x, line)
    if order in ("coloured", COLOURED_SYMMETRIC):
        return partial(_sweep_colours, A.kernels.sweep_colours, order == COLOURED_SYMMETRIC, arrays)
    return partial(_sweep_in_order, A.kernels.sweep_in_order, order, arrays)


def _sweep_colours(kernel: Callable[..., None], there_and_back: bool, arrays: tuple[Any, ...], count: int) -> None:
    kernel(2 * count if there_and_back else count, RED, there_and_back, *arrays)


def _sweep_in_order(kernel: Callable[..., None], order: str, arrays: tuple[Any, ...], count: int) -> None:
    if order != "symmetric" or count == 0:
        kernel(count, order == "backward", *arrays)
        return
    for _ in range(count):
        kernel(1, False, *arrays)
        kernel(1, True, *arrays)


@dataclass(frozen=True)
class Sweeper:
    """Kernels of one storage and the arrays that they read; x is changed in place."""

    kernels: ModuleType
    storage: tuple[Any, ...]
    """What the kernels know of A."""
    vectors: tuple[Vector, ...]
    """step, b, lower, upper, x and its velocity; where none is kept, x stands in its place."""
    contact: tuple[Any, ...] | None
    """For contact problems: the shape of a contact, where it matters, and the coefficients of friction."""
    refresh: Callable[[], None] | None = None
    """Computes the velocity anew from x, where one is kept: after 1e12 has come and gone, rounding has spoilt it."""

    @property
    def x(self) -> Vector:
        """What is swept."""
        return self.vectors[4]

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        """`count` passes over the contacts and the other rows, in the order given."""
        if self.contact is None:
            self.kernels.sweep_rows(count, rows, self.storage, self.vectors)
        else:
            order = (contacts, rows, rows_first)
            self.kernels.sweep_contacts(count, order, self.contact, self.storage, self.vectors)


def make_sweeper(problem: Problem, relaxation: float, x: Vector) -> Sweeper:
    """The sweeper for the form of A: row i moves by -relaxation y_i / A_ii and is clipped (NOTES eq. 59)."""
    contact, contacts = None, problem.frictional
    if contacts is not None:
        contact = (np.uint64(contacts.dimension), contacts.has_discs, contacts.friction)
    vectors = (steps(problem, relaxation), problem.b, problem.lower, problem.upper, x)
    A = problem.A
    if A.is_dense:
        return Sweeper(dense, (A.array().reshape(-1),), (*vectors, x), contact)
    if (factored := A.factored) is not None:
        if factored.pairs is not None and fits_pairs(problem, factored.pairs, 3):
            return _sweep_body_pairs(problem, factored, factored.pairs, vectors)
        if factored.planar is not None and fits_pairs(problem, factored.planar, 2):
            return _sweep_planar_pairs(problem, factored, factored.planar, vectors)
        return sweep_factored(factored, vectors, contact)
    return _sweep_compressed_rows(A.compressed(), vectors, contact)


def steps(problem: Problem, relaxation: float) -> Vector:
    """relaxation / A_ii, and for the two tangents of a disc relaxation over the larger eigenvalue of their block.

    Where A cannot show that block, the sum of its diagonal stands in: it is no smaller for a semidefinite A.
    """
    assert problem.diagonal is not None
    stiffness = problem.diagonal
    contacts = problem.frictional
    if contacts is not None and contacts.has_discs:
        stiffness = stiffness.copy()
        p, q = contacts.every(1), contacts.every(2)
        if TO_SPARSE in problem.A.ability_set:
            stiffness[p] = stiffness[q] = _larger_eigenvalues(contacts.contact_blocks[:, 1:, 1:])
        else:
            stiffness[p] = stiffness[q] = stiffness[p] + stiffness[q]
    positive = stiffness > 0.0
    if positive.all():
        return relaxation / stiffness
    return np.divide(relaxation, stiffness, out=np.zeros(problem.n), where=positive)  # what is not positive is fixed


def _larger_eigenvalues(blocks: NDArray[np.float64]) -> Vector:
    """Of the symmetric part of each 2 x 2 block: mean of the diagonal + |(half its difference, coupling)|."""
    first, second = 0.5 * blocks[:, 0, 0], 0.5 * blocks[:, 1, 1]
    coupling = 0.5 * blocks[:, 0, 1] + 0.5 * blocks[:, 1, 0]
    larger: Vector = first + second + np.hypot(first - second, coupling)
    return larger


def _sweep_compressed_rows(A: SparseOperator, vectors: tuple[Vector, ...], contact: tuple[Any, ...] | None) -> Sweeper:
    if A.runs is not None:
        return Sweeper(runs, (*A.runs, A.values), (*vectors, vectors[-1]), contact)

    return Sweeper(csr, (A.pointers, A.indices, A.values), (*vectors, vectors[-1]), contact)


def sweep_factored(A: FactoredOperator, vectors: tuple[Vector, ...], contact: tuple[Any, ...] | None) -> Sweeper:
    """J and W = J M^-1 in compressed rows, with the velocity v = W^T x kept up to date."""
    J, W = unsigned_parts(A.J), unsigned_parts(A.scaled_rows)
    velocity = np.empty(A.mass.dofs)
    refresh = partial(factored.velocity, *W, vectors[-1], velocity)
    refresh()
    return Sweeper(factored, (*J, *W, A.compliance), (*vectors, velocity), contact, refresh)


def _sweep_body_pairs(problem: Problem, A: FactoredOperator, pairs: BodyPairs, vectors: tuple[Vector, ...]) -> Sweeper:
    """Two rigid bodies a row. Contacts apply M^-1 on the fly; other rows read a scaled copy of their part of J."""
    velocity = np.empty(6 * (pairs.body_count + 1))
    refresh = partial(body_pairs.velocity, pairs.bodies, pairs.jacobian, pairs.inverse_mass, vectors[-1], velocity)
    refresh()
    contact, contacts = None, problem.frictional
    if contacts is not None:
        blocks = contacts.contact_blocks
        coupling = np.stack([blocks[:, 0, 1], blocks[:, 0, 2], blocks[:, 1, 2]], axis=1).reshape(-1)
        contact = (contacts.has_discs, contacts.friction, coupling)
    scaled = pairs.scaled(first=problem.contact_rows)[0]
    storage = (pairs.bodies, pairs.jacobian, pairs.inverse_mass, scaled, A.compliance)
    return Sweeper(body_pairs, storage, (*vectors, velocity), contact, refresh)


def _sweep_planar_pairs(
    problem: Problem, A: FactoredOperator, planar: PlanarPairs, vectors: tuple[Vector, ...]
) -> Sweeper:
    """Two bodies in a plane a row; M^-1 is applied on the fly."""
    velocity = np.empty(3 * (planar.body_count + 1))
    parts = (planar.bodies, planar.jacobian, planar.inverse_mass)
    refresh = partial(planar_pairs.velocity, *parts, vectors[-1], velocity)
    refresh()
    contact, contacts = None, problem.frictional
    if contacts is not None:
        contact = (contacts.friction, contacts.contact_blocks[:, 0, 1].copy())
    return Sweeper(planar_pairs, (*parts, A.compliance), (*vectors, velocity), contact, refresh)


def fits_pairs(problem: Problem, pairs: BodyPairs | PlanarPairs, size: int) -> bool:
    """The kernels assume `size` rows a contact, all on one pair of bodies; plain rows are always welcome."""
    contacts = problem.frictional
    return contacts is None or (contacts.dimension == size and contacts.has_pairs_of_bodies)
