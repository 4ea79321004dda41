"""Reading from an HDF5 file without following it out of itself.

An HDF5 file can name other files (external links, virtual datasets, external storage), and can declare terabytes in a
kilobyte (chunks that were never written). Only hard links are followed here, one name at a time and without asking HDF5
to resolve anything else; a dataset is read only if its numbers lie in this file. Heaps are looked at before the HDF5
library sees them (`reject_broken_heaps`).
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import FileFormatError
from perp.extras import h5py
from perp.problems.files.guard import FileGuard
from perp.problems.inputs import Vector

_DAMAGE = (OSError, RuntimeError, KeyError, OverflowError)
"""What h5py raises on damaged input, besides ValueError and TypeError, which `FileGuard.building` turns."""

SIGNATURE = b"\x89HDF\r\n\x1a\n"

_HEAP = b"HEAP\0\0\0\0"
_HEAP_HEADER = struct.Struct("<8sQQQ")
_FREE_BLOCK = struct.Struct("<QQ")
_END_OF_LIST = 1
_BASE_ADDRESS = {0: 24, 1: 28, 2: 12, 3: 12}
"""Where a superblock of each version says what all addresses are counted from."""


@contextmanager
def open_hdf5(guard: FileGuard) -> Iterator[GuardedGroup]:
    """The root of the file; whatever h5py finds damaged on the way is the fault of the file."""
    reject_broken_heaps(guard)
    try:
        with guard.building(), h5py.File(guard.path, "r") as file:
            yield GuardedGroup(file, "", guard)
    except _DAMAGE as error:
        raise guard.fault("HDF5", f"not an HDF5 file, or a damaged one ({error})") from error


class GuardedGroup:
    """A group of an HDF5 file that gives only what lies in that file."""

    def __init__(self, group: Any, where: str, guard: FileGuard) -> None:
        self._group = group
        self._where = where
        self._guard = guard

    def __contains__(self, name: str) -> bool:
        """Whether there is a link of this name; unlike h5py's own `in`, without looking where it leads."""
        return bool(self._group.id.links.exists(name.encode()))

    def fault(self, name: str, why: str) -> FileFormatError:
        return self._guard.fault(self._where + name, why)

    def spend(self, name: str, declared: int) -> None:
        """See `FileGuard.spend`."""
        self._guard.spend(self._where + name, declared)

    def building(self) -> AbstractContextManager[None]:
        """See `FileGuard.building`; faults are reported for this group."""
        return self._guard.building(self._where.rstrip("/"))

    def group(self, name: str) -> GuardedGroup:
        return GuardedGroup(self._open(name, "Group"), f"{self._where}{name}/", self._guard)

    def numbers(self, name: str) -> Vector:
        """A vector of real numbers, as float64."""
        return self._read(name, "fiu").astype(np.float64)

    def integers(self, name: str) -> NDArray[Any]:
        """A vector of integers, as they are stored."""
        return self._read(name, "iu")

    def integer(self, name: str) -> int:
        """A single integer (FCLIB writes vectors of length one)."""
        values = self._read(name, "iu")
        if values.size != 1:
            raise self.fault(name, f"one integer must stand here, found {values.size}")
        return int(values[0])

    def was_written(self, name: str) -> bool:
        """Whether a dataset holds any numbers; HDF5 would read one that was only declared as zeros."""
        return bool(self._open(name, "Dataset").id.get_storage_size() > 0)

    def _open(self, name: str, kind: str) -> Any:
        if name not in self:
            raise self.fault(name, "missing")
        if self._group.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:
            raise self.fault(name, "a soft or external link, which perp does not follow")
        found = self._group[name]
        if not isinstance(found, getattr(h5py, kind)):
            raise self.fault(name, f"a {kind.lower()} must stand here, found a {type(found).__name__.lower()}")
        return found

    def _read(self, name: str, kinds: str) -> NDArray[Any]:
        dataset = self._open(name, "Dataset")
        if dataset.is_virtual or dataset.external:
            raise self.fault(name, "its numbers lie in another file, which perp does not open")
        if dataset.dtype.kind not in kinds:
            raise self.fault(
                name, f"the type is {dataset.dtype}; {'numbers' if 'f' in kinds else 'integers'} are needed"
            )
        if dataset.shape is None or len(dataset.shape) > 1:
            raise self.fault(name, f"the shape is {dataset.shape}; one dimension is needed")
        self._require_stored(name, dataset)
        return np.atleast_1d(dataset[()])

    def _require_stored(self, name: str, dataset: Any) -> None:
        """Compare what is declared with what is allocated, and that with the size of the file, before reading.

        Filtered (compressed) data are refused: HDF5 unpacks a chunk to whatever it holds, not to what it declares.
        """
        declared = math.prod(dataset.shape) * dataset.dtype.itemsize
        self.spend(name, declared)
        if dataset.id.get_create_plist().get_nfilters():
            raise self.fault(name, "compressed or filtered; FCLIB writes plain data, and so does 'h5repack -f NONE'")
        stored = min(dataset.id.get_storage_size(), self._guard.path.stat().st_size)
        self._guard.require_stored(self._where + name, declared, stored)


def reject_broken_heaps(guard: FileGuard) -> None:
    """Refuse a file with a heap that reaches outside the file or whose list of free blocks does not end.

    Groups of the classic layout keep the names of their members in local heaps. A heap lists its free blocks, each
    naming the next. The library follows that list and takes memory for every block, without end if the list bites its
    own tail: one changed byte makes a file of a few kilobytes eat all memory. The library has no limit to set, so the
    list is walked here first. (Changing bytes at random is how this came to light.)

    Layout (HDF5 file format specification, section III.D): 'HEAP', version 0, three zeros; then the size of the data
    segment, the offset of the first free block in it, and its address, eight bytes each. A free block begins with the
    offset of the next one and its own size; the offset 1 ends the list.
    """
    if guard.path.stat().st_size < _HEAP_HEADER.size:
        raise guard.fault("HDF5", "the file is too short")
    with guard.path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        _require_plain_addresses(content, guard)
        place = content.find(_HEAP)
        while place >= 0:
            if not _is_sound(content, place):
                raise guard.fault("HDF5", f"the heap at byte {place:,} is damaged")
            place = content.find(_HEAP, place + 1)


def _require_plain_addresses(content: mmap.mmap, guard: FileGuard) -> None:
    """Addresses of eight bytes counted from the start of the file, which is what every writer gives by default."""
    if content[:8] != SIGNATURE:
        raise guard.fault("HDF5", "the file does not begin as an HDF5 file does")
    version = content[8]
    widths = content[13:15] if version < 2 else content[9:11]
    base = _BASE_ADDRESS.get(version)
    if base is None or widths != b"\x08\x08" or content[base : base + 8] != bytes(8):
        raise guard.fault("HDF5", "the superblock is damaged, or of a kind that perp does not read")


def _is_sound(content: mmap.mmap, place: int) -> bool:
    if place + _HEAP_HEADER.size > len(content):
        return False
    _, size, free, address = _HEAP_HEADER.unpack_from(content, place)
    if address + size > len(content):
        return False
    for _ in range(size // _FREE_BLOCK.size + 1):
        if free == _END_OF_LIST:
            return True
        if free + _FREE_BLOCK.size > size:
            return False
        free, _ = _FREE_BLOCK.unpack_from(content, address + free)
    return False
