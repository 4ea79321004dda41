"""Reading columns and attributes of a recording without trusting what they declare.

On top of `perp.problems.files.guarded_hdf5`: nothing outside the file is followed, and nothing is allocated that the
file does not hold. A recording may be larger than memory, so its columns are checked once and read piece by piece.

A recording that was never closed is shown to HDF5 as it would find it if it had been.
HDF5 marks a file as open in its superblock, and whoever is killed leaves the mark. HDF5 reads such a file only in the
mode for readers that follow a writer, and there it reads what looks damaged again and again, doubling its patience each
time, a hundred times: in a file that is damaged, for ever. So the file is shown to it with the mark taken away; nothing
on the disk is changed.

Superblock of version 3 (HDF5 file format specification, II.A): signature (8 bytes), version, size of offsets, size of
lengths, flags, base address, address of the extension, end of file, root (8 bytes each), and a checksum of all that.
"""

from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import FileFormatError
from perp.extras import h5py
from perp.problems.files.guard import FileGuard
from perp.problems.files.guarded_hdf5 import GuardedGroup, reject_broken_heaps

MOST_TEXT = 2**16
"""Bytes of an attribute; HDF5 keeps longer ones elsewhere."""

_DAMAGE = (OSError, RuntimeError, KeyError, OverflowError, ValueError, TypeError)

_SUPERBLOCK = struct.Struct("<8s4B4QI")
_VERSION, _FOLLOWED = 3, 4
"""Of the superblock that has such flags; the flag of a writer that may be followed."""

_WORD = 0xFFFFFFFF

NO_END = 2**60
"""Bytes: farther than any file goes."""


def open_columns(guard: FileGuard, stack: ExitStack) -> ColumnGroup:
    """The root of the file, open until the stack is closed; also of one that is still being written."""
    h5py.require()
    guard.path.open("rb").close()  # a file that cannot be read at all raises what `open` raises
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
        where = f"attribute {name}"
        if not h5py.h5a.exists(self._group.id, name.encode()):
            raise self.fault(where, "missing")
        attribute = h5py.h5a.open(self._group.id, name.encode())
        if attribute.shape != () or attribute.dtype.kind != kind or attribute.dtype.itemsize > most_bytes:
            raise self.fault(where, f"{attribute.shape} of {attribute.dtype}; one of kind {kind!r} is needed")
        value = np.empty((), dtype=attribute.dtype)
        attribute.read(value)
        return value[()]


def is_unfinished(path: Path) -> bool:
    """Whether a writer that may be followed has the file open, or was killed."""
    head = _read_head(path)
    return len(head) == _SUPERBLOCK.size and head[8] == _VERSION and bool(head[11] & _FOLLOWED)


class UnfinishedFile(io.RawIOBase):
    """The bytes of the file but for its superblock, which says that no program writes to it and that it has no end.

    A writer that is still at work adds to the file; what is not there yet is shown as zeros.
    """

    def __init__(self, guard: FileGuard) -> None:
        head = _read_head(guard.path)
        self._file = guard.path.open("rb", buffering=0)
        *fields, checksum = _SUPERBLOCK.unpack(head)
        if checksum != lookup3(head[:-4]):
            self._file.close()
            raise guard.fault("HDF5", "the superblock is damaged")
        fields[4], fields[7] = 0, NO_END
        mended = _SUPERBLOCK.pack(*fields, 0)[:-4]
        self._head = mended + struct.pack("<I", lookup3(mended))
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: NO_END}[whence]
        self._place = begin + offset
        return self._place

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        count = 0
        if self._place < os.fstat(self._file.fileno()).st_size:
            self._file.seek(self._place)
            while count < len(view) and (more := self._file.readinto(view[count:])):
                count += more
        view[count:] = bytes(len(view) - count)
        shown = self._head[self._place : self._place + len(view)]
        view[: len(shown)] = shown
        self._place += len(view)
        return len(view)

    def close(self) -> None:
        self._file.close()
        super().close()


def lookup3(data: bytes) -> int:
    """Jenkins' hash of 2006, `hashlittle` with a start of zero, of some bytes: the checksum of HDF5's metadata."""
    a = b = c = (0xDEADBEEF + len(data)) & _WORD
    padded = data + bytes(-len(data) % 12)
    words = struct.unpack(f"<{len(padded) // 4}I", padded)
    for place in range(0, len(words), 3):
        a, b, c = ((x + y) & _WORD for x, y in zip((a, b, c), words[place : place + 3], strict=True))
        if place + 3 < len(words):
            for turn in (4, 6, 8, 16, 19, 4):
                a = ((a - c) & _WORD) ^ _rotate(c, turn)
                c = (c + b) & _WORD
                a, b, c = b, c, a
    for turn in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _rotate(b, turn)) & _WORD
        a, b, c = b, c, a
    return b


def _rotate(word: int, count: int) -> int:
    return ((word << count) | (word >> (32 - count))) & _WORD


def _read_head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_SUPERBLOCK.size)
