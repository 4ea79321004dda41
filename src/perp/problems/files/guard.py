"""Reading with limits that a file must keep, and one way to report its faults; writing files whole or not at all.

A few hundred bytes can declare terabytes. So every reader here first tells its guard how many bytes a file declares and
how many it stores for them, and allocates only afterwards.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perp.errors import FileFormatError

DEFAULT_MAX_BYTES = 8 * 2**30
"""How many bytes of numbers a problem may declare unless the caller says otherwise."""
COMPRESSION_LIMIT = 100
"""How many times larger than stored compressed data may be; perp's own files are not compressed."""
SMALL_BYTES = 16 * 2**20
"""Compressed data that unpack to no more than this are harmless at any ratio: constant arrays shrink a thousandfold."""


@dataclass
class Budget:
    """`max_bytes` for one problem, shared by all the files that make it up."""

    max_bytes: int
    declared: int = 0


class FileGuard:
    """Stands between one file and the memory of the machine."""

    def __init__(self, path: Path, budget: Budget) -> None:
        self.path = path
        self.budget = budget

    def beside(self, path: Path) -> FileGuard:
        """The guard of another file of the same problem: both spend from one budget."""
        return FileGuard(path, self.budget)

    def fault(self, where: str, why: str) -> FileFormatError:
        """The error to raise: file, place in the file, reason."""
        return FileFormatError(f"{self.path}: {where}: {why}")

    def spend(self, where: str, declared: int) -> None:
        """Count bytes that the file declares; refuse the file once they exceed the budget."""
        self.budget.declared += declared
        if self.budget.declared > self.budget.max_bytes:
            raise self.fault(
                where,
                f"the file declares {declared:,} bytes here, {self.budget.declared:,} so far; "
                f"max_bytes={self.budget.max_bytes:,} allows no more",
            )

    def require_stored(self, where: str, declared: int, stored: int, *, compressed: bool = False) -> None:
        """Refuse data that are declared and not there; compressed data may unpack to a reasonable multiple."""
        if not compressed and declared > stored:
            raise self.fault(where, f"the file declares {declared:,} bytes and holds only {stored:,} of them")
        if compressed and declared > max(SMALL_BYTES, COMPRESSION_LIMIT * stored):
            raise self.fault(
                where,
                f"{stored:,} bytes would unpack to {declared:,}, more than {COMPRESSION_LIMIT} times as many; "
                f"if you trust the file, write it again without compression",
            )

    @contextmanager
    def building(self, where: str = "") -> Iterator[None]:
        """What a constructor says about data from this file becomes the fault of the file.

        Numbers so large or small that a constructor overflows are refused too, not warned about.
        """
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                yield
        except FileFormatError:
            raise
        except (ValueError, TypeError, FloatingPointError) as error:
            raise FileFormatError(f"{self.path}: {f'{where}: ' if where else ''}{error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to: it takes the place of `path` if the block ends well, else it vanishes."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    temporary = path.with_name(f".perp-{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
