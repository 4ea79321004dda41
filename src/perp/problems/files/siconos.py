"""Text files of Siconos' numerics: words and numbers with blanks between them, and nothing that says what they mean.

    siconos/lcp     n, M, q                                                0 <= x  ⊥  M x + q >= 0
    siconos/relay   n, M, q, lower, upper                                  boxed, y = M x + q
    siconos/mlcp    1, 1, n, m, block ends up to n + m, a 0 or 1 a block (1: complementary), M, q;
                    then A, B, C, D, a, b, the same numbers in parts       y = M x + q; n rows with y = 0, m with x >= 0
    siconos/fc      dimension, contacts, W, q, mu                          y = W x + q, Coulomb's law (model cone)
    siconos/gfc     dimension, contacts, M, H, f, w, mu                    A = H^T M^-1 H, b = H^T M^-1 f + w, the same

Which layout a file has is found by trying them all: sizes stand in each of them twice and more, so that numbers meant
for one hardly ever make sense in another. What may follow the last number needed is part of it: any text, and in `fc`
and `gfc` one more number (a flag of Siconos), in `mlcp` numbers without end (a former solution). A file that suits none
is refused with what the attempt that came furthest says, and one that suits several until the caller names the
`layout`; then whatever follows the last number is ignored.

A matrix begins with the number of its storage, its rows and its columns. Then

* 0, dense: rows and columns once more, and all entries, column by column;
* 1, blocks: how many blocks, block rows and block columns; where each block row ends, and each block column; the
  lengths of two index arrays and the arrays (compressed block rows); then each block: its number, and its entries
  column by column;
* 2, sparse, as CSparse prints it: a number for its origin, a line with CSparse's version, a line with the sizes, and
  the entries as `row column : value`, or by columns as `row : value`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import FileFormatError, InvalidProblem, suggest
from perp.problems.box import BoxLCP
from perp.problems.files.guard import Budget, FileGuard
from perp.problems.files.siconos_words import Words, open_words
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector
from perp.problems.lcp import LCP
from perp.problems.operators import DiagonalMass, FactoredOperator, SparseMass
from perp.problems.operators.sparse import as_csr
from perp.problems.problem import Problem

DENSE, BLOCKS, SPARSE = 0, 1, 2
_SIZES = re.compile(r"([0-9]{1,18})-by-([0-9]{1,18}),")
_BANNER_WORDS = 30
"""Version, date and copyright of CSparse take a dozen."""
Entries = tuple[NDArray[np.int64], NDArray[np.int64], Vector]


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

# -- matrices ----------------------------------------------------------------------------------------------------------


def read_matrix(
    words: Words, name: str, rows: int | None = None, columns: int | None = None
) -> Matrix | sparse.coo_array:
    """A matrix of the size that other parts of the file ask for; without one, a square one of its own size."""
    storage = words.integer(f"the storage of {name}")
    if storage not in (DENSE, BLOCKS, SPARSE):
        raise words.fault(f"{storage} names no storage of {name}: 0 (dense), 1 (blocks), 2 (sparse) are known", back=1)
    rows = _read_extent(words, "rows", rows, name)
    columns = _read_extent(words, "columns", rows if columns is None else columns, name)
    if storage == DENSE:
        _read_extent(words, "rows", rows, name)
        _read_extent(words, "columns", columns, name)
        dense: Matrix = words.numbers(rows * columns, name).reshape((rows, columns), order="F")
        return dense
    entries = (
        _read_blocks(words, rows, columns, name) if storage == BLOCKS else _read_sparse(words, rows, columns, name)
    )
    return sparse.coo_array((entries[2], entries[:2]), shape=(rows, columns))


def _read_extent(words: Words, meaning: str, expected: int | None, name: str) -> int:
    """Rows or columns; each goes with a vector of as many entries, for which the file must have room."""
    found = words.integer(f"the number of {meaning} of {name}")
    if expected is not None and found != expected:
        raise words.fault(f"{name} has {found} {meaning}; {expected} are needed", back=1)
    words.require_room(found, f"the {meaning} of {name}")
    return found


def _read_blocks(words: Words, rows: int, columns: int, name: str) -> Entries:
    blocks = words.integer(f"the number of blocks of {name}")
    block_rows = words.integer(f"the number of block rows of {name}")
    block_columns = words.integer(f"the number of block columns of {name}")
    row_ends = _read_ends(words, block_rows, rows, f"the block rows of {name}")
    column_ends = _read_ends(words, block_columns, columns, f"the block columns of {name}")
    pointer_count = words.integer(f"the number of row pointers of {name}")
    index_count = words.integer(f"the number of block indices of {name}")
    if not 1 <= pointer_count <= block_rows + 1 or index_count != blocks:
        raise words.fault(
            f"{name} has {block_rows} block rows and {blocks} blocks, but {pointer_count} row pointers and "
            f"{index_count} block indices",
            back=1,
        )
    pointers = np.array(words.integers(pointer_count, f"the row pointers of {name}"))
    if pointers[0] != 0 or pointers[-1] != blocks or (np.diff(pointers) < 0).any():
        raise words.fault(f"the row pointers of {name} do not rise from 0 to {blocks}", back=1)
    across = np.array(words.integers(blocks, f"the block indices of {name}"), dtype=np.int64)
    if blocks and across.max() >= block_columns:
        raise words.fault(f"a block of {name} stands in column {across.max()} of {block_columns}", back=1)
    down = np.repeat(np.arange(pointer_count - 1), np.diff(pointers))
    row_starts, column_starts = np.append(0, row_ends), np.append(0, column_ends)
    parts = []
    for k in range(blocks):
        number = words.integer(f"the number of block {k} of {name}")
        if number != k:
            raise words.fault(f"block {k} of {name} must stand here, found {number}", back=1)
        i, j = down[k], across[k]
        height, width = row_starts[i + 1] - row_starts[i], column_starts[j + 1] - column_starts[j]
        values = words.numbers(int(height * width), f"block {k} of {name}")
        inner = np.arange(height * width)
        parts.append((row_starts[i] + inner % height, column_starts[j] + inner // height, values))
    return _joined(parts)


def _read_ends(words: Words, count: int, last: int, meaning: str) -> NDArray[np.int64]:
    ends = np.array(words.integers(count, meaning), dtype=np.int64)
    if (np.diff(ends, prepend=0) <= 0).any() or (ends[-1] if count else 0) != last:
        raise words.fault(f"the ends of {meaning} do not rise to {last}", back=1)
    return ends


def _read_sparse(words: Words, rows: int, columns: int, name: str) -> Entries:
    words.integer(f"the origin of {name}")
    is_triplets = _find_sizes(words, rows, columns, name)
    words.expect("nzmax:")
    words.integer(f"the room of {name}")
    words.expect("nnz:")
    count = words.word(f"the number of entries of {name}").rstrip(",")
    if not re.fullmatch("[0-9]{1,18}", count):
        raise words.fault(f"the number of entries of {name} must stand here, found {count[:40]!r}", back=1)
    if words.peek() == "1-norm:":
        words.expect("1-norm:")
        words.number(f"the norm of {name}")
    words.require_room(int(count), name, len("0 : 1 "))
    if is_triplets:
        return _joined([_read_triplet(words, rows, columns, name) for _ in range(int(count))])
    entries = _joined([part for j in range(columns) for part in _read_column(words, j, rows, name)])
    if entries[2].size != int(count):
        raise words.fault(f"{name} has {entries[2].size} entries; {count} are declared")
    return entries


def _find_sizes(words: Words, rows: int, columns: int, name: str) -> bool:
    """Read up to `m-by-n,`; whether the word `triplet:` stood before it."""
    words.expect("CSparse")
    before = ""
    for _ in range(_BANNER_WORDS):
        word = words.word(f"the sizes of {name}, as 2-by-2")
        sizes = _SIZES.fullmatch(word)
        if sizes is None:
            before = word
            continue
        if (int(sizes[1]), int(sizes[2])) != (rows, columns):
            raise words.fault(f"{name} is {sizes[1]} x {sizes[2]}; {rows} x {columns} is needed", back=1)
        return before == "triplet:"
    raise words.fault(f"the sizes of {name}, as {rows}-by-{columns}, must stand before this word", back=1)


def _read_triplet(words: Words, rows: int, columns: int, name: str) -> Entries:
    i, j = _read_index(words, rows, "row", name), _read_index(words, columns, "column", name)
    words.expect(":")
    return np.array([i]), np.array([j]), words.numbers(1, name)


def _read_column(words: Words, j: int, rows: int, name: str) -> list[Entries]:
    words.expect("col", str(j), ":", "locations")
    first = words.integer(f"the first location of column {j} of {name}")
    words.expect("to")
    last = words.integer(f"the last location of column {j} of {name}", least=-1)
    words.require_room(last - first + 1, name)
    entries = []
    for _ in range(first, last + 1):
        i = _read_index(words, rows, "row", name)
        words.expect(":")
        entries.append((np.array([i]), np.array([j]), words.numbers(1, name)))
    return entries


def _read_index(words: Words, extent: int, meaning: str, name: str) -> int:
    index = words.integer(f"the {meaning} of an entry of {name}")
    if index >= extent:
        raise words.fault(f"{meaning} {index} is outside {name}, which has {extent}", back=1)
    return index


def _joined(parts: list[Entries]) -> Entries:
    if not parts:
        nowhere = np.empty(0, dtype=np.int64)
        return nowhere, nowhere, np.empty(0)
    rows, columns, values = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
