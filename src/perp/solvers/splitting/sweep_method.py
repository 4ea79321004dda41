"""What methods that sweep share: an order, rows they cannot divide by, a velocity that is recomputed in time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import suggest
from perp.kernels.sweeps import colouring
from perp.problems.inputs import Vector, freeze, require_count, require_real
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.options import About

Index = NDArray[np.uint32]
ORDERS = ("forward", "backward", "symmetric", "random", "coloured")
COLOURED_SYMMETRIC = "coloured symmetric"
"""All colours and back: what `symmetric` is to `forward`."""


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
    colouring.colour_greedily(pointers, neighbours, colours, taken)
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


REFRESH_EVERY = 64
"""Iterations after which a kept velocity is computed anew; it costs as much as half a sweep."""

RELAXATION = About("what each change is multiplied by; 1 is Gauss-Seidel", above=0.0, below=2.0)

ORDER = About(
    "in which contacts and rows are visited: as they come, backward, both (symmetric), by a new permutation each"
    " iteration (random), or those together that do not touch (coloured)",
    choices=ORDERS,
)

ORDER_SEED = About("of the random order", at_least=0)


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
