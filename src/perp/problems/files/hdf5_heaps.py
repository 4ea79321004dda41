"""A look at the local heaps of an HDF5 file before the HDF5 library sees them.

Groups of the classic layout keep the names of their members in local heaps. A heap lists its free blocks, each naming
the next. The library follows that list and takes memory for every block, without end if the list bites its own tail:
one changed byte makes a file of a few kilobytes eat all memory. The library has no limit to set, so the list is walked
here first. (Changing bytes at random is how this came to light.)

Layout (HDF5 file format specification, section III.D): 'HEAP', version 0, three zeros; then the size of the data
segment, the offset of the first free block in it, and its address, eight bytes each. A free block begins with the
offset of the next one and its own size; the offset 1 ends the list.
"""

from __future__ import annotations

import mmap
import struct

from perp.problems.files.guard import FileGuard

SIGNATURE = b"\x89HDF\r\n\x1a\n"

_HEAP = b"HEAP\0\0\0\0"
_HEAP_HEADER = struct.Struct("<8sQQQ")
_FREE_BLOCK = struct.Struct("<QQ")
_END_OF_LIST = 1
_BASE_ADDRESS = {0: 24, 1: 28, 2: 12, 3: 12}
"""Where a superblock of each version says what all addresses are counted from."""


def reject_broken_heaps(guard: FileGuard) -> None:
    """Refuse a file with a heap that reaches outside the file or whose list of free blocks does not end."""
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
