"""Islands: the parts of a problem that have nothing to do with one another, each a problem of its own.

Where A is block diagonal, up to the order of its rows, the complementarity conditions of a block speak of its own x
alone, and blocks can be solved apart (THESIS 6.1: "unconnected systems are split into multiple islands"). Heaps of
bodies that do not touch are such blocks: the ground between them, and any other body that cannot move, couples nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.errors import InvalidProblem
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import PointLike, Vector, as_vector, freeze, require_count
from perp.problems.island_matrices import NOWHERE, Cut, Numbers, find_components
from perp.problems.lcp import LCP
from perp.problems.operators import Operator
from perp.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class Island:
    """A part of a problem that can be solved by itself."""

    problem: Problem
    rows: Numbers
    """The rows of the whole problem that are the rows 0, 1, 2, ... of this one; they rise."""


def split_islands(problem: Problem, at_least: int = 1) -> tuple[Island, ...]:
    """The islands of an `LCP`, `BoxLCP` or `ContactProblem`, ordered by their lowest rows.

    The rows of a contact stay together, whether A couples them or not, and rows keep their order: contacts first, then
    the others. Each island has A in the form of the whole (a grid's stencil becomes compressed rows), with its own
    bodies or velocities only, and compliance, friction and bounds of its rows. Rows on which nothing moves, because all
    their bodies have infinite mass, are one island together, with the compliance alone for A.

    A solve has a cost of its own, however small the problem is: islands of fewer than `at_least` rows are united, in
    order, until each union has that many. If all small islands together have fewer rows, their union has fewer, too.

    A problem that is one island comes back as it is, the same object; so does one with an operator that offers
    products alone. Islands of a problem that was made of contacts (`perp.stewart_trinkle`, ...) do not know of those.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    require_count(at_least, "at_least", least=1)
    couplings = problem.A.coupled_rows() if problem.n > at_least else None
    if couplings is not None:
        labels = _tie_blocks(problem, couplings.labels, couplings.count)
        part_of_label, parts = _number_parts(labels[couplings.labels], couplings.count, at_least)
        if parts > 1:
            cut = Cut.make(part_of_label[labels], couplings.labels, parts)
            return _cut_problem(problem, cut, couplings.cut(cut))
    return (Island(problem, freeze(np.arange(problem.n))),)


def gather(islands: Sequence[Island], parts: Sequence[PointLike]) -> Vector:
    """x of the whole problem from those of its islands, vectors or `Result`s, in the order of the islands."""
    if len(islands) != len(parts):
        raise InvalidProblem(f"there are {len(islands)} islands, but {len(parts)} parts")
    x = np.empty(sum(island.rows.size for island in islands))
    for number, (island, part) in enumerate(zip(islands, parts, strict=True)):
        x[island.rows] = as_vector(getattr(part, "x", part), f"parts[{number}]", island.rows.size)
    return x


def _tie_blocks(problem: Problem, labels: Numbers, count: int) -> Numbers:
    """The label that takes the place of each label once rows that belong together have the same one."""
    if problem.frictional is not None:
        row, width = np.arange(problem.n), problem.frictional.dimension
        lead = np.where(row < problem.contact_rows, row - row % width, row)
    elif problem.A.row_groups is not None:
        _, first, group = np.unique(problem.A.row_groups, return_index=True, return_inverse=True)
        lead = first[group]
    else:
        return np.arange(count)
    apart = np.flatnonzero(labels[lead] != labels)
    if apart.size == 0:
        return np.arange(count)
    return find_components(labels[lead[apart]], labels[apart], count)[1]


def _number_parts(labels: Numbers, count: int, at_least: int) -> tuple[Numbers, int]:
    """The number of the part that the rows with each label go to, and how many parts there are."""
    known, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.argsort(first)
    parts = _unite(sizes[order].tolist(), at_least)
    part_of_label = np.full(count, NOWHERE)
    part_of_label[known[order]] = parts
    return part_of_label, max(parts) + 1


def _unite(sizes: list[int], at_least: int) -> list[int]:
    """Numbers 0, 1, ... for islands of these sizes, in their order; small ones share a number."""
    union: list[int] = []
    count, closed, opened, rows = 0, NOWHERE, NOWHERE, 0
    for size in sizes:
        if size >= at_least:
            union.append(count)
            count += 1
            continue
        if opened == NOWHERE:
            opened, rows, count = count, 0, count + 1
        union.append(opened)
        rows += size
        if rows >= at_least:
            closed, opened = opened, NOWHERE
    if opened != NOWHERE and closed != NOWHERE:  # what is left over joins the last union
        union = [closed if one == opened else one - (one > opened) for one in union]
    return union


def _cut_problem(problem: Problem, cut: Cut, operators: list[Operator]) -> tuple[Island, ...]:
    """One problem an operator; vectors are sorted by island once, and sliced."""
    rows, b = freeze(cut.rows), freeze(problem.b[cut.rows])
    pieces = cut.slices
    if isinstance(problem, ContactProblem):
        problems = _cut_contacts(problem, cut, b, operators)
    elif isinstance(problem, BoxLCP):
        lower, upper = freeze(problem.lower[rows]), freeze(problem.upper[rows])
        problems = [
            _make(BoxLCP, A=A, b=b[own], lower=lower[own], upper=upper[own])
            for A, own in zip(operators, pieces, strict=True)
        ]
    else:
        problems = [_make(LCP, A=A, b=b[own]) for A, own in zip(operators, pieces, strict=True)]
    return tuple(Island(part, rows[own]) for part, own in zip(problems, pieces, strict=True))


def _cut_contacts(problem: ContactProblem, cut: Cut, b: Vector, operators: list[Operator]) -> list[Problem]:
    """Contacts and other rows are two lists of their own, each sorted by island."""
    contacts = Cut.make(cut.part_of_row, problem.normal_rows, cut.parts)
    others = Cut.make(cut.part_of_row, np.arange(problem.contact_rows, problem.n), cut.parts)
    friction = freeze(problem.friction[contacts.rows])
    compliance = freeze(problem.contact_compliance[contacts.rows])
    lower, upper = freeze(problem.lower[others.rows]), freeze(problem.upper[others.rows])
    return [
        _make(
            ContactProblem,
            A=A,
            b=b[own],
            friction=friction[touching],
            model=problem.model,
            dimension=problem.dimension,
            lower=lower[further],
            upper=upper[further],
            contact_compliance=compliance[touching],
        )
        for A, own, touching, further in zip(operators, cut.slices, contacts.slices, others.slices, strict=True)
    ]


def _make(kind: type[Problem], **fields: Any) -> Problem:
    """A problem of fields that were checked when the whole was made."""
    part = kind.__new__(kind)
    vars(part).update(fields)
    return part
