"""What a process that measures may take: one thread, so much memory, no longer life than its parent, its own folder."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perp.lab.runs.circumstances import THREAD_VARIABLES

PR_SET_PDEATHSIG = 1
"""Of prctl(2): the signal that a process gets when its parent ends."""

NAME = "run.lock"

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What a file system that has no locks answers."""


def pinned_environment() -> dict[str, str]:
    """The environment of this process for one that measures: BLAS reads these variables when it is loaded."""
    return dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, "1")


@contextmanager
def limited_memory(megabytes: float) -> Iterator[None]:
    """Address space of so much more than the process has now: what asks for more gets a MemoryError.

    Within the block only, so that a row can still be written afterwards. Where the system does not tell how much a
    process has (anywhere but on Linux), there is no limit.
    """
    held = _address_space()
    if held is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    ceiling = held + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (ceiling if hard == resource.RLIM_INFINITY else min(ceiling, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def die_with_parent(parent: int) -> None:
    """End this process when `parent`, which started it, ends: also by SIGKILL, which leaves it no time to tell.

    Linux only; elsewhere processes watch a pipe to their parent.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)


def _address_space() -> int | None:
    """Bytes that this process has mapped; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


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
