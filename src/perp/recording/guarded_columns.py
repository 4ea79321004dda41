"""Reading columns and attributes of a recording without trusting what they declare.

On top of `perp.problems.files.guarded_hdf5`: nothing outside the file is followed, and nothing is allocated that the
file does not hold. A recording may be larger than memory, so its columns are checked once and read piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import FileFormatError
from perp.problems.files.guard import FileGuard
from perp.problems.files.guarded_hdf5 import GuardedGroup
from perp.problems.files.hdf5_heaps import reject_broken_heaps
from perp.recording.frame_writer import require_h5py
from perp.recording.unfinished_file import UnfinishedFile, is_unfinished

MOST_TEXT = 2**16
"""Bytes of an attribute; HDF5 keeps longer ones elsewhere."""

_DAMAGE = (OSError, RuntimeError, KeyError, OverflowError, ValueError, TypeError)


def open_columns(guard: FileGuard, stack: ExitStack) -> ColumnGroup:
    """The root of the file, open until the stack is closed; also of one that is still being written."""
    h5py = require_h5py()
    guard.path.open("rb").close()  # what cannot be read at all is told in the words that `open` has for it
    with blaming(guard):
        reject_broken_heaps(guard)
        source = stack.enter_context(UnfinishedFile(guard)) if is_unfinished(guard.path) else guard.path
        return ColumnGroup(stack.enter_context(h5py.File(source, "r")), "", guard)


@contextmanager
def blaming(guard: FileGuard) -> Iterator[None]:
    """Whatever goes wrong inside is the fault of the file."""
    try:
        yield
    except FileFormatError:
        raise
    except _DAMAGE as error:
        reason = " ".join(str(error).split())
        raise guard.fault("HDF5", f"not a recording, or a damaged one ({reason})") from error


class ColumnGroup(GuardedGroup):
    """A group of a recording."""

    def group(self, name: str) -> ColumnGroup:
        return ColumnGroup(self._open(name, "Group"), f"{self._where}{name}/", self._guard)

    def names(self) -> list[str]:
        return sorted(self._group)

    def column(self, name: str, kind: str, row: tuple[int, ...], rows: int | None = None) -> Any:
        """A dataset whose first `rows` rows (default all) have this type and shape and lie in the file."""
        dataset = self._open(name, "Dataset")
        if dataset.is_virtual or dataset.external:
            raise self.fault(name, "its numbers lie in another file, which perp does not open")
        if dataset.dtype != np.dtype(kind):
            raise self.fault(name, f"the type is {dataset.dtype}; {kind} is needed")
        if dataset.shape is None or len(dataset.shape) != 1 + len(row) or dataset.shape[1:] != row:
            wanted = ", ".join(["any", *map(str, row)])
            raise self.fault(name, f"the shape is {dataset.shape}; ({wanted}) is needed")
        if dataset.id.get_create_plist().get_nfilters():
            raise self.fault(name, "compressed or filtered; perp writes plain data, and so does 'h5repack -f NONE'")
        count = dataset.shape[0] if rows is None else rows
        if dataset.shape[0] < count:
            raise self.fault(name, f"{dataset.shape[0]} rows are there; {count} are needed")
        declared = count * math.prod(row) * dataset.dtype.itemsize
        stored = min(dataset.id.get_storage_size(), self._guard.path.stat().st_size)
        self._guard.require_stored(self._where + name, declared, stored)
        return dataset

    def read(self, name: str, kind: str, row: tuple[int, ...], rows: int | None = None) -> NDArray[Any]:
        """All of a column, counted against `max_bytes`."""
        dataset = self.column(name, kind, row, rows)
        count = dataset.shape[0] if rows is None else rows
        self.spend(name, count * math.prod(row) * dataset.dtype.itemsize)
        return np.asarray(dataset[:count])

    def ends(self, frames: int) -> NDArray[np.int64]:
        """Where the rows of each frame begin that this group has any number of, and where the last ones end."""
        ends = np.concatenate([np.zeros(1, dtype=np.int64), self.read("end", "int64", (), frames)])
        if np.any(np.diff(ends) < 0):
            raise self.fault("end", f"frame {int(np.argmax(np.diff(ends) < 0))} ends before it begins")
        return ends

    def text(self, name: str) -> str:
        """A text attribute."""
        value = self._attribute(name, "S", MOST_TEXT)
        return bytes(value).decode(errors="replace")

    def number(self, name: str) -> float:
        return float(self._attribute(name, "f", 8))

    def whole(self, name: str) -> int:
        return int(self._attribute(name, "i", 8))

    def _attribute(self, name: str, kind: str, most_bytes: int) -> Any:
        h5py = require_h5py()
        where = f"attribute {name}"
        if not h5py.h5a.exists(self._group.id, name.encode()):
            raise self.fault(where, "missing")
        attribute = h5py.h5a.open(self._group.id, name.encode())
        if attribute.shape != () or attribute.dtype.kind != kind or attribute.dtype.itemsize > most_bytes:
            raise self.fault(where, f"{attribute.shape} of {attribute.dtype}; one of kind {kind!r} is needed")
        value = np.empty((), dtype=attribute.dtype)
        attribute.read(value)
        return value[()]
