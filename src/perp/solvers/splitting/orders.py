"""The order in which a sweep visits contacts and rows.

A contact is visited as a whole, normal first. An iteration is one pass over all, or two for the symmetric order.
In the coloured order no contact touches another of its colour (A has zeros between them), nor does a row: within a
colour all could be visited at once, and the result depends on nothing but the colours.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.kernels.sweeps import colouring
from perp.problems.inputs import freeze
from perp.problems.problem import Problem

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
