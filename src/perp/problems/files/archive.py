"""An .npz archive of plain arrays: written without pickle, read with suspicion.

NumPy's own reader believes an array's header and allocates what it says; 128 bytes can ask for 32 GiB. Here the zip
directory is judged first, then each header against the size of its member. The grammar of headers knows numbers and
short words and nothing else, so that pickled objects and Python literals never reach an interpreter.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from perp.errors import FileFormatError
from perp.problems.files.guard import FileGuard
from perp.problems.inputs import Vector

SUFFIX = ".npy"

Meaning = Literal["numbers", "integers", "a word"]

_TYPES: dict[Meaning, re.Pattern[str]] = {
    "numbers": re.compile(r"[<>=]f8"),
    "integers": re.compile(r"[<>=]i[48]"),
    "a word": re.compile(r"[<>=]U[0-9]{1,2}"),
}
_HEADER = re.compile(r"\{\s*'descr':\s*(.*),\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([0-9, ]*)\),?\s*\}\s*")
_LONGEST_HEADER = 1000
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)
"""What zipfile raises on damaged input (RuntimeError: a member that is encrypted or of a newer make)."""


def write_archive(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Members in order, uncompressed and with a fixed date, so that equal problems give equal bytes."""
    with zipfile.ZipFile(path, "x", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name + SUFFIX), "w", force_zip64=True) as stream:
                npy.write_array(stream, array, allow_pickle=False)


@contextmanager
def open_archive(guard: FileGuard) -> Iterator[Archive]:
    """The archive, with its directory judged."""
    try:
        source = zipfile.ZipFile(guard.path)
    except _DAMAGE as error:
        raise guard.fault("zip directory", f"not a zip archive, or a damaged one ({error})") from error
    with source:
        yield Archive(source, guard)


class Archive:
    """The arrays of one file by name; a member that is not asked for, whatever its name, is never opened."""

    def __init__(self, source: zipfile.ZipFile, guard: FileGuard) -> None:
        self.guard = guard
        self._source = source
        self._members: dict[str, zipfile.ZipInfo] = {}
        file_bytes = guard.path.stat().st_size
        for member in source.infolist():
            name = member.filename
            if name in self._members:
                raise guard.fault(name, "the archive holds two members of this name")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise guard.fault(name, f"compression method {member.compress_type} is not one that NumPy writes")
            packed = member.compress_type == zipfile.ZIP_DEFLATED
            guard.spend(name, member.file_size)
            guard.require_stored(name, member.compress_size, file_bytes)
            guard.require_stored(name, member.file_size, member.compress_size, compressed=packed)
            self._members[name] = member

    def __contains__(self, name: str) -> bool:
        return name + SUFFIX in self._members

    def numbers(self, name: str, *dimensions: int) -> Vector:
        """A float64 array of so many dimensions, or of one of several numbers of them; default 1."""
        return self._array(name, "numbers", *(dimensions or (1,)))

    def integers(self, name: str, dimensions: int = 1) -> NDArray[Any]:
        """An array of signed integers of 32 or 64 bits."""
        return self._array(name, "integers", dimensions)

    def integer(self, name: str) -> int:
        return int(self._array(name, "integers", 0))

    def word(self, name: str) -> str:
        """A short text, decoded here: NumPy would make an impossible string of four bytes that are no character."""
        array = self._array(name, "a word", 0)
        with self.guard.building(name + SUFFIX):
            return array.astype(array.dtype.newbyteorder("<")).tobytes().decode("utf-32-le").rstrip("\0")

    def fault(self, name: str, why: str) -> FileFormatError:
        return self.guard.fault(name + SUFFIX, why)

    def _array(self, name: str, meaning: Meaning, *dimensions: int) -> NDArray[Any]:
        data = self._unpack(name)
        header = self._header(name, data)
        if not _TYPES[meaning].fullmatch(header.type):
            advice = "; pickled objects are never read" if "O" in header.type else ""
            raise self.fault(name, f"the type is '{header.type}', but {meaning} must stand here{advice}")
        if len(header.shape) not in dimensions:
            needed = " or ".join(map(str, dimensions))
            raise self.fault(name, f"the shape is {header.shape}; {needed} dimensions are needed")
        dtype = np.dtype(header.type)
        declared, held = math.prod(header.shape) * dtype.itemsize, len(data) - header.length
        if declared != held:
            raise self.fault(name, f"the header declares {declared:,} bytes of numbers, the member holds {held:,}")
        if max(header.shape, default=0) > len(data):  # only possible beside an extent of zero
            raise self.fault(name, f"the shape {header.shape} has an extent larger than the member itself")
        return np.ndarray(header.shape, dtype, data, header.length, order="F" if header.fortran else "C")

    def _unpack(self, name: str) -> bytes:
        """All bytes of a member, as many as the judged directory says and no more; zipfile compares the checksum."""
        member = self._members.get(name + SUFFIX)
        if member is None:
            raise self.fault(name, "the member is missing; this is no problem that perp saved, or a part of one")
        try:
            with self._source.open(member) as stream:
                data = stream.read(member.file_size)
        except _DAMAGE as error:
            raise self.fault(name, f"the member is damaged ({error})") from error
        if len(data) != member.file_size:
            raise self.fault(name, f"the member ends after {len(data):,} of {member.file_size:,} bytes")
        return data

    def _header(self, name: str, data: bytes) -> _Header:
        """The .npy header: magic, version, the length of a line of text, and that line."""
        if data[:6] != b"\x93NUMPY" or data[6:8] not in (b"\x01\x00", b"\x02\x00"):
            raise self.fault(name, "the member is not an array in .npy format 1.0 or 2.0")
        width = 2 if data[6] == 1 else 4
        start = 8 + width
        length = int.from_bytes(data[8:start], "little")
        text = data[start : start + min(length, _LONGEST_HEADER)]
        match = _HEADER.fullmatch(text.decode("latin-1"))
        if match is None or len(text) != length:
            raise self.fault(name, "the .npy header is damaged, or describes something else than a plain array")
        kind, order, extents = match.groups()
        try:
            shape = tuple(int(extent) for extent in extents.split(",") if extent.strip())
        except ValueError as error:
            raise self.fault(name, f"the .npy header has the shape ({extents:.40})") from error
        return _Header(kind.strip("'"), shape, order == "True", start + length)


class _Header(NamedTuple):
    type: str
    shape: tuple[int, ...]
    fortran: bool
    length: int
