"""Reading from an HDF5 file without following it out of itself.

An HDF5 file can name other files (external links, virtual datasets, external storage), and can declare terabytes in a
kilobyte (chunks that were never written). Only hard links are followed here, one name at a time and without asking HDF5
to resolve anything else; a dataset is read only if its numbers lie in this file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import FileFormatError, MissingExtra
from perp.problems.files.guard import FileGuard
from perp.problems.files.hdf5_heaps import reject_broken_heaps
from perp.problems.inputs import Vector

_DAMAGE = (OSError, RuntimeError, KeyError, OverflowError)
"""What h5py raises on damaged input, besides ValueError and TypeError, which `FileGuard.building` turns."""


def require_h5py() -> Any:
    """The module h5py, imported when an HDF5 file is first asked for."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("h5py", "an FCLIB file (.hdf5, .h5)", "hdf5") from error
    return h5py


@contextmanager
def open_hdf5(guard: FileGuard) -> Iterator[GuardedGroup]:
    """The root of the file; whatever h5py finds damaged on the way is the fault of the file."""
    h5py = require_h5py()
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
        """See `FileGuard.building`; the faults are told of this group."""
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
        h5py = require_h5py()
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
