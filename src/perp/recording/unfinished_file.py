"""A recording that was never closed, as HDF5 would find it if it had been.

HDF5 marks a file as open in its superblock, and whoever is killed leaves the mark. HDF5 reads such a file only in the
mode for readers that follow a writer, and there it reads what looks damaged again and again, doubling its patience each
time, a hundred times: in a file that is damaged, for ever. So the file is shown to it with the mark taken away; nothing
on the disk is changed.

Superblock of version 3 (HDF5 file format specification, II.A): signature (8 bytes), version, size of offsets, size of
lengths, flags, base address, address of the extension, end of file, root (8 bytes each), and a checksum of all that.
"""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

from perp.problems.files.guard import FileGuard

_SUPERBLOCK = struct.Struct("<8s4B4QI")
_VERSION, _FOLLOWED = 3, 4
"""Of the superblock that has such flags; the flag of a writer that may be followed."""

_WORD = 0xFFFFFFFF

NO_END = 2**60
"""Bytes: farther than any file goes."""


def is_unfinished(path: Path) -> bool:
    """Whether a writer that may be followed has the file open, or was killed."""
    head = _read_head(path)
    return len(head) == _SUPERBLOCK.size and head[8] == _VERSION and bool(head[11] & _FOLLOWED)


class UnfinishedFile(io.RawIOBase):
    """The bytes of the file but for its superblock, which says that nobody writes to it and that it has no end.

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
