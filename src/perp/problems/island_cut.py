"""Where A falls apart: rows that hang together have one label, and a cut sorts them into parts."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from perp.problems.inputs import Vector
from perp.problems.operators import Operator, SparseOperator

Numbers = NDArray[np.intp]

NOWHERE = -1
"""The part of a label that no row has."""


@dataclass(frozen=True)
class Cut:
    """Where A is cut: rows sorted by part, in their old order within each."""

    part_of_label: Numbers
    """Which part the rows (and velocities) with a label belong to, or NOWHERE."""
    part_of_row: Numbers
    rows: Numbers
    """All rows of part 0, then all of part 1, ..."""
    starts: list[int]
    """Where in `rows` each part begins, and the number of rows."""

    @staticmethod
    def make(part_of_label: Numbers, labels: Numbers, parts: int) -> Cut:
        part_of_row = part_of_label[labels]
        return Cut(part_of_label, part_of_row, np.argsort(part_of_row, kind="stable"), starts_of(part_of_row, parts))

    @property
    def parts(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def slices(self) -> list[slice]:
        """Where in `rows` each part lies."""
        return [slice(first, last) for first, last in itertools.pairwise(self.starts)]


class Couplings(ABC):
    """A seen as rows that hang together; `labels` has the same number for rows that do."""

    labels: Numbers
    count: int
    """Labels are below this."""

    @abstractmethod
    def cut(self, cut: Cut) -> list[Operator]:
        """The diagonal blocks of A that the cut leaves, in their own order of rows."""


def find_components(first: NDArray[Any], second: NDArray[Any], count: int) -> tuple[int, Numbers]:
    """How many components the graph of `count` nodes with an edge first[k] - second[k] for each k has, and whose."""
    edges = sparse.coo_array((np.ones(first.size), (first, second)), shape=(count, count))
    number, label = csgraph.connected_components(edges.tocsr(), directed=False)
    return int(number), label.astype(np.intp)


def starts_of(part: Numbers, parts: int) -> list[int]:
    """Where each part begins once the entries are sorted by part, and where the last one ends."""
    counts: list[int] = np.bincount(part, minlength=parts).cumsum().tolist()
    return [0, *counts]


def compliance_alone(compliance: Vector) -> SparseOperator:
    """A of rows on which nothing moves."""
    return SparseOperator(sparse.diags_array(compliance, format="csr"))
