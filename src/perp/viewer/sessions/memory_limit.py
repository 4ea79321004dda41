"""A process takes no more than its share of the memory: a scene that is too large ends with a line, not the machine."""

from __future__ import annotations

import os
from pathlib import Path

SHARE = 0.5
"""Of the memory that there is: as much is left for the browser, for other pages and for everything else."""

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def limit_memory(share: float = SHARE) -> None:
    """From now on whatever asks for more gets a MemoryError; there is no limit where the system knows none."""
    size = memory_size()
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    if size is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([int(share * size), *known]), hard))


def memory_size() -> int | None:
    """Bytes of this machine, or of the container that this process is in; None where nobody tells."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(size, int(_CONTAINER.read_text("ascii")))
    except (OSError, ValueError):  # no container, or one that may take all
        return size
