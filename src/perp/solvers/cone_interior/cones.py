"""A problem as second-order cones: which rows belong to which cone, in units where friction is one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perp.kernels.conic.layout import FIXED, FOLLOWING, OWN, Cones
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

EQUATION = -1
"""Stands for the length of the tail of rows that are in a block and in no cone."""


@dataclass(frozen=True, eq=False)
class ConeRows:
    """Cones and blocks of a problem (`perp.kernels.conic.layout`) whose x is `unit` times the caller's."""

    cones: Cones
    row: NDArray[np.int64]
    """The first row of each block."""
    width: NDArray[np.int64]
    first_cone: NDArray[np.int64]
    """The cones of block b are first_cone[b] to first_cone[b + 1]."""
    unit: Vector
    """The caller's y is y times this; inf where x is 0 in any case."""
    centre: Vector
    """The middle of rows with two bounds."""
    value: Vector
    """x of rows that are in no block, as they cannot move: tangents without friction, equal bounds."""
    symmetric: bool
    """Whether no cone follows the normal of a contact."""

    @cached_property
    def block_of_cone(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.row.size), np.diff(self.first_cone))

    @cached_property
    def block_of_row(self) -> NDArray[np.int64]:
        """-1 for rows that are in no block."""
        block = np.full(self.unit.size, -1, dtype=np.int64)
        for k in range(int(self.width.max(initial=0))):
            wide = np.flatnonzero(self.width > k)
            block[self.row[wide] + k] = wide
        return block

    def in_units(self, x: Vector) -> Vector:
        """The caller's x in the units of the cones; 0 where it is 0 in any case."""
        return np.multiply(x, self.unit, out=np.zeros(self.unit.size), where=np.isfinite(self.unit))

    def block_means(self, diagonal: Vector) -> Vector:
        """The mean A_ii of each block, for its rows; a row without one has a typical one."""
        block = self.block_of_row
        inside = block >= 0
        counts = np.maximum(np.bincount(block[inside], minlength=self.row.size), 1)
        means = np.bincount(block[inside], diagonal[inside], self.row.size) / counts
        typical = float(means.mean()) if means.any() else 1.0
        weight = np.full(diagonal.size, typical)
        weight[inside] = np.where(means > 0.0, means, typical)[block[inside]]
        return weight


class _Table:
    """Cones as they are found: columns slot, tail, count, mode, head, sign, offset, and row and width of the block."""

    def __init__(self) -> None:
        self._parts = [np.empty((0, 9))]

    def add(
        self,
        slot: NDArray[np.int64],
        count: int,
        mode: int,
        *,
        tail: int = 0,
        sign: float = 1.0,
        offset: Vector | float = 0.0,
        block: NDArray[np.int64] | None = None,
        width: int = 1,
    ) -> None:
        """Cones with heads at `slot`; `tail` counts from there. The block begins at `block`, by default at the slot."""
        if slot.size == 0:
            return
        first = slot if block is None else block
        part = np.empty((slot.size, 9))
        for k, column in enumerate((slot, slot + tail, count, mode, first, sign, offset, first, width)):
            part[:, k] = column
        self._parts.append(part)

    def sorted(self) -> NDArray[np.float64]:
        """By block, and there by slot: an OWN cone comes first."""
        table = np.concatenate(self._parts)
        return table[np.lexsort((table[:, 0], table[:, 7]))]


def list_cones(problem: Problem) -> ConeRows:
    n = problem.n
    unit, centre, value = np.ones(n), np.zeros(n), np.zeros(n)
    table = _Table()
    first, lower, upper = problem.contact_rows, problem.lower, problem.upper
    if problem.frictional is not None:
        _add_contacts(table, problem.frictional, unit)
    _add_rows(table, lower, upper, first, centre)
    equal = lower == upper
    value[first:][equal] = lower[equal]
    numbers = table.sorted()
    row, begin = np.unique(numbers[:, 7].astype(np.int64), return_index=True)
    is_cone = numbers[:, 2] != EQUATION
    counts = np.add.reduceat(is_cone, begin) if begin.size else np.zeros(0)
    first_cone = np.append(0, np.cumsum(counts)).astype(np.int64)
    width = numbers[begin, 8].astype(np.int64)
    numbers = numbers[is_cone]
    slot, tail, count, mode, head = (numbers[:, k].astype(np.int64) for k in range(5))
    cones = Cones(slot, tail, count, mode, head, numbers[:, 5].copy(), numbers[:, 6].copy())
    symmetric = not bool((cones.mode == FOLLOWING).any())
    return ConeRows(cones, row, width, first_cone, unit, centre, value, symmetric)


def _add_contacts(table: _Table, problem: ContactProblem, unit: Vector) -> None:
    d = problem.dimension
    rubs = problem.strength > 0.0
    smooth, rough = problem.normal_rows[~rubs], problem.normal_rows[rubs]
    strength = problem.strength[rubs]
    if problem.is_wide:  # a row without a lever moves nothing and stays where it is, at 0
        with np.errstate(divide="ignore"):
            unit[: problem.contact_rows] = 1.0 / problem.levers.reshape(-1)
    if problem.model != "disc":
        unit[rough] = strength
    table.add(smooth, 0, OWN)
    if problem.model == "convex":
        table.add(rough, d - 1, OWN, tail=1, width=d)
        return
    table.add(rough, 0, OWN, width=d)
    if problem.model == "disc":
        table.add(rough + 1, d - 1, FIXED, block=rough, offset=strength, width=d)
    elif problem.model == "box":
        for k in range(1, d):
            table.add(rough + k, 1, FOLLOWING, block=rough, width=d)
    else:
        table.add(rough + 1, d - 1, FOLLOWING, block=rough, width=d)


def _add_rows(table: _Table, lower: Vector, upper: Vector, first: int, centre: Vector) -> None:
    """Rows of their own, after the contacts."""
    row = first + np.arange(lower.size)
    below, above = np.isfinite(lower), np.isfinite(upper)
    both = below & above & (lower < upper)
    table.add(row[~below & ~above], EQUATION, OWN)
    table.add(row[below & ~above], 0, OWN, offset=lower[below & ~above])
    table.add(row[above & ~below], 0, OWN, sign=-1.0, offset=-upper[above & ~below])
    table.add(row[both], 1, FIXED, offset=0.5 * (upper[both] - lower[both]))
    centre[row[both]] = 0.5 * (lower[both] + upper[both])
