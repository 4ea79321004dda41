"""The order in which a sweep visits contacts and rows.

A contact is visited as a whole, normal first. An iteration is one pass over all, or two for the symmetric order.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.uint32]
ORDERS = ("forward", "backward", "symmetric", "random")


class Sweep(Protocol):
    def __call__(self, count: int, contacts: Index, rows: Index, rows_first: bool, /) -> None:
        """`count` passes over the contacts and the rows, in the order given."""
        ...


class Order:
    """Drives sweeps; `random` draws a new permutation for each iteration from a seeded generator."""

    def __init__(self, name: str, contacts: int, first_row: int, n: int, seed: int) -> None:
        self.name = name
        self.contacts: Index = np.arange(contacts, dtype=np.uint32)
        self.rows: Index = np.arange(first_row, n, dtype=np.uint32)
        if name in ("backward", "symmetric"):
            self.contacts_back, self.rows_back = self.contacts[::-1].copy(), self.rows[::-1].copy()
        if name == "random":
            self.generator = np.random.default_rng(seed)

    def iterate(self, sweep: Sweep, count: int) -> None:
        if self.name == "forward" or count == 0:
            sweep(count, self.contacts, self.rows, False)
        elif self.name == "backward":
            sweep(count, self.contacts_back, self.rows_back, True)
        elif self.name == "symmetric":
            for _ in range(count):
                sweep(1, self.contacts, self.rows, False)
                sweep(1, self.contacts_back, self.rows_back, True)
        else:
            for _ in range(count):
                contacts = self.generator.permutation(self.contacts)
                sweep(1, contacts, self.generator.permutation(self.rows), False)
