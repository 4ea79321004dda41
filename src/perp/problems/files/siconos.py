"""Text files of Siconos' numerics: words and numbers with blanks between them, and nothing that says what they mean.

    siconos/lcp     n, M, q                                                0 <= x  ⊥  M x + q >= 0
    siconos/relay   n, M, q, lower, upper                                  boxed, y = M x + q
    siconos/mlcp    1, 1, n, m, block ends up to n + m, a 0 or 1 a block (1: complementary), M, q;
                    then A, B, C, D, a, b, the same numbers in parts       y = M x + q; n rows with y = 0, m with x >= 0
    siconos/fc      dimension, contacts, W, q, mu                          y = W x + q, Coulomb's law (model cone)
    siconos/gfc     dimension, contacts, M, H, f, w, mu                    A = H^T M^-1 H, b = H^T M^-1 f + w, the same

Matrices are read by `siconos_matrix`. Which layout a file has is found by trying them all: sizes stand in each of them
twice and more, so that numbers meant for one hardly ever make sense in another. What may follow the last number needed
is part of it: any text, and in `fc` and `gfc` one more number (a flag of Siconos), in `mlcp` numbers without end (a
former solution). A file that suits none is refused with what the attempt that came furthest says, and one that suits
several until the caller names the `layout`; then whatever follows the last number is ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from perp.errors import FileFormatError, InvalidProblem, suggest
from perp.problems.box import BoxLCP
from perp.problems.files.guard import Budget, FileGuard
from perp.problems.files.siconos_matrix import read_matrix
from perp.problems.files.siconos_words import Words, open_words
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector
from perp.problems.lcp import LCP
from perp.problems.operators import DiagonalMass, FactoredOperator, SparseMass
from perp.problems.operators.sparse import as_csr
from perp.problems.problem import Problem


def load(path: Path, max_bytes: int, layout: str | None = None) -> Problem:
    """Read a problem in the named layout, or in the one that the numbers fit."""
    if layout is None:
        return _detect(path, max_bytes)
    if layout not in LAYOUTS:
        raise ValueError(f"layout {layout!r} is unknown{suggest(str(layout), LAYOUTS)}")
    with open_words(FileGuard(path, Budget(max_bytes))) as words:
        return LAYOUTS[layout].read(words)


def _detect(path: Path, max_bytes: int) -> Problem:
    found: dict[str, Problem] = {}
    furthest, complaint = -1, FileFormatError(f"{path}: the file is empty")
    for name, layout in LAYOUTS.items():
        with open_words(FileGuard(path, Budget(max_bytes))) as words:
            try:
                problem = layout.read(words)
                _require_end(words, layout.most_left_over)
                found[name] = problem
            except FileFormatError as error:
                if words.taken > furthest:
                    furthest = words.taken
                    complaint = FileFormatError(f"{error} (read as layout={name!r}, which comes closest)")
    if len(found) > 1:
        raise FileFormatError(f"{path}: the numbers suit {' and '.join(found)}: say which with layout=...")
    if not found:
        raise complaint
    return found.popitem()[1]


def _require_end(words: Words, most: int) -> None:
    place = words.place()
    if words.peek() == ":":  # only entries of sparse matrices have one
        raise words.guard.fault(place, "an entry of a matrix goes on here: it has more of them than it says")
    if words.count_numbers(most) > most:
        raise words.guard.fault(place, "more numbers follow than the layout has")


def _read_lcp(words: Words) -> LCP:
    n = _read_count(words, "n, the number of unknowns")
    M, q = read_matrix(words, "M", n, n), words.numbers(n, "q")
    with words.guard.building():
        return LCP(M, q)


def _read_relay(words: Words) -> BoxLCP:
    n = _read_count(words, "n, the number of unknowns")
    M, q = read_matrix(words, "M", n, n), words.numbers(n, "q")
    lower, upper = (words.numbers(n, name, infinite=True) for name in ("the lower bounds", "the upper bounds"))
    with words.guard.building():
        return BoxLCP(M, q, lower, upper)


def _read_mlcp(words: Words) -> BoxLCP:
    for flag in ("M is stored", "A, B, C, D are stored"):
        if words.integer(f"whether {flag}") != 1:
            raise words.fault(f"a 1 must stand here: {flag}", back=1)
    n, m = _read_count(words, "n, the number of equations"), _read_count(words, "m, the number of pairs")
    is_pair = _read_kinds(words, n + m)
    if is_pair[:n].any() or not is_pair[n:].all():
        raise words.fault(f"the first {n} rows must be equations and the other {m} complementary", back=1)
    M, q = read_matrix(words, "M", n + m, n + m), words.numbers(n + m, "q")
    _compare_parts(words, M, q, n, m)
    with words.guard.building():
        return BoxLCP(M, q, np.where(is_pair, 0.0, -np.inf), np.inf)


def _read_kinds(words: Words, rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """A row of `0 end end ... rows`, then a 0 or 1 a block; which rows are complementary."""
    ends = [words.integer("the start of the first block")]
    if ends[0] != 0:
        raise words.fault(f"the first block begins at 0, not at {ends[0]}", back=1)
    while ends[-1] < rows:
        ends.append(words.integer("the end of a block", least=ends[-1] + 1))
    if ends[-1] != rows:
        raise words.fault(f"the blocks end at {ends[-1]}, but there are {rows} rows", back=1)
    kinds = words.integers(len(ends) - 1, "the kinds of the blocks")
    if any(kind > 1 for kind in kinds):
        raise words.fault("the kind of a block is 0 (equations) or 1 (complementary)", back=1)
    return np.repeat(np.array(kinds, dtype=bool), np.diff(ends))


def _compare_parts(words: Words, M: Matrix | sparse.coo_array, q: Vector, n: int, m: int) -> None:
    """The same numbers follow in parts, row by row; two that differ would be two problems."""
    whole = M if isinstance(M, np.ndarray) else M.toarray()
    first, last = slice(0, n), slice(n, n + m)
    parts = {
        "A": whole[first, first],
        "B": whole[last, last],
        "C": whole[first, last],
        "D": whole[last, first],
        "a": q[first],
        "b": q[last],
    }
    for name, part in parts.items():
        again = words.numbers(part.size, name).reshape(part.shape)
        if not np.allclose(again, part, rtol=1e-12, atol=0.0):
            raise words.fault(f"{name} is not the part of M or q that it must repeat", back=1)


def _read_fc(words: Words) -> ContactProblem:
    dimension, contacts = _read_contacts(words)
    rows = dimension * contacts
    W, q, friction = read_matrix(words, "W", rows, rows), words.numbers(rows, "q"), words.numbers(contacts, "mu")
    with words.guard.building():
        return ContactProblem(W, q, friction, model="cone", dimension=dimension)


def _read_gfc(words: Words) -> ContactProblem:
    dimension, contacts = _read_contacts(words)
    rows = dimension * contacts
    M = read_matrix(words, "M")
    dofs = M.shape[0]
    H = read_matrix(words, "H", dofs, rows)
    f, w, friction = words.numbers(dofs, "f"), words.numbers(rows, "w"), words.numbers(contacts, "mu")
    with words.guard.building():
        A = FactoredOperator(sparse.csr_array(H.T), _as_mass(as_csr(M, "M")))
        b = A.J @ A.mass.solve(f) + w
        return ContactProblem(A, b, friction, model="cone", dimension=dimension)


def _read_count(words: Words, meaning: str) -> int:
    """A number of rows; there is a vector of that length, for which the file must have room."""
    count = words.integer(meaning)
    words.require_room(count, meaning)
    return count


def _read_contacts(words: Words) -> tuple[int, int]:
    dimension = words.integer("the dimension, 2 or 3,")
    if dimension not in (2, 3):
        raise words.fault(f"the dimension is {dimension}; 2 or 3 is needed", back=1)
    return dimension, _read_count(words, "the number of contacts")


def _as_mass(M: sparse.csr_array) -> DiagonalMass | SparseMass:
    """M as a mass. Without a full diagonal it is none, and SuperLU, which would be asked, writes where it must not."""
    n = M.shape[0]
    missing = np.flatnonzero(~(M.diagonal() > 0.0))
    if missing.size:
        i = missing[0]
        raise InvalidProblem(f"M[{i},{i}] is {M.diagonal()[i]}; the diagonal of a mass matrix is positive")
    is_diagonal = M.nnz == n and np.array_equal(M.indices, np.arange(n))
    return DiagonalMass(M.data) if is_diagonal else SparseMass(M)


class _Layout(NamedTuple):
    read: Callable[[Words], Problem]
    most_left_over: int
    """How many numbers may follow those that the layout has."""


LAYOUTS = {
    "siconos/lcp": _Layout(_read_lcp, 0),
    "siconos/relay": _Layout(_read_relay, 0),
    "siconos/mlcp": _Layout(_read_mlcp, sys.maxsize),
    "siconos/fc": _Layout(_read_fc, 1),
    "siconos/gfc": _Layout(_read_gfc, 1),
}
