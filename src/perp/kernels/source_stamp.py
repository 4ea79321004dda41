"""Which sources a compiled kernel was made of: the key under which it lies in Numba's cache on disk.

Numba's own key is the date of the file that holds the kernel. A kernel also contains compiled copies of what it imports
from other files here; machine code made of an old version of those reads arrays that have another layout today. So the
key is a hash of the file, of all files of `perp.kernels` that it imports, directly or not, and of NumPy's version.
(Numba keeps kernels of its own versions apart.)
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent

IMPORT = re.compile(r"^from perp\.kernels([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """The files of `perp.kernels` that a file imports by itself."""
    found = set()
    for package, names in IMPORT.findall(file.read_text(encoding="utf-8")):
        place = FOLDER.joinpath(*package.split(".")[1:])
        if place.is_dir():  # the names are modules
            found |= {place / f"{name}.py" for name in re.findall(r"\w+", names) if (place / f"{name}.py").exists()}
        else:
            found.add(place.with_suffix(".py"))
    return frozenset(found)


def all_files(file: Path) -> list[Path]:
    """A file and all that it imports, directly or not, sorted."""
    found, waiting = set(), [file]
    while waiting:
        here = waiting.pop()
        if here not in found:
            found.add(here)
            waiting.extend(imported_files(here))
    return sorted(found)


@cache
def source_stamp(file: Path) -> str:
    digest = sha256(np.__version__.encode())
    for source in all_files(file):
        digest.update(source.read_bytes())
    return digest.hexdigest()
