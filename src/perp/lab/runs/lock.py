"""One run at a time in a folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "run.lock"

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What a file system that has no locks answers."""


class FolderInUse(ValueError):
    """Another run is writing to the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder; the system lets go of it when the process ends, however that happens.

    Where there are no such locks (Windows, some file systems of networks), nothing is held.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / NAME).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise FolderInUse(f"{folder}: another run is at work in this folder") from held
        except OSError as failure:
            if failure.errno not in NO_LOCKS:
                raise
        yield
