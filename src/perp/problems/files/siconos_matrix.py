"""A matrix in a text file of Siconos, in one of its three storages.

It begins with the number of its storage, its rows and its columns. Then

* 0, dense: rows and columns once more, and all entries, column by column;
* 1, blocks: how many blocks, block rows and block columns; where each block row ends, and each block column; the
  lengths of two index arrays and the arrays (compressed block rows); then each block: its number, and its entries
  column by column;
* 2, sparse, as CSparse prints it: a number for its origin, a line with CSparse's version, a line with the sizes, and
  the entries as `row column : value`, or by columns as `row : value`.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.files.siconos_words import Words
from perp.problems.inputs import Matrix, Vector

DENSE, BLOCKS, SPARSE = 0, 1, 2

_SIZES = re.compile(r"([0-9]{1,18})-by-([0-9]{1,18}),")
_BANNER_WORDS = 30
"""Version, date and copyright of CSparse take a dozen."""


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


Entries = tuple[NDArray[np.int64], NDArray[np.int64], Vector]


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


Entry = tuple[NDArray[np.int64], NDArray[np.int64], Vector]


def _read_triplet(words: Words, rows: int, columns: int, name: str) -> Entry:
    i, j = _read_index(words, rows, "row", name), _read_index(words, columns, "column", name)
    words.expect(":")
    return np.array([i]), np.array([j]), words.numbers(1, name)


def _read_column(words: Words, j: int, rows: int, name: str) -> list[Entry]:
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


def _joined(parts: list[Entry]) -> Entries:
    if not parts:
        nowhere = np.empty(0, dtype=np.int64)
        return nowhere, nowhere, np.empty(0)
    rows, columns, values = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
