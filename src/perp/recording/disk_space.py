"""Whether a file can grow, found out before HDF5 tries: it does not survive a write that fails (it crashes at exit)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

_NO_ANSWER = {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EACCES, errno.EPERM, errno.EROFS}
"""What is said where no room can be reserved; there the disk is believed to have it."""


def require_room(path: Path, size: int) -> None:
    """Raise OSError unless so many bytes can be added to the file: limits, disk and quota have room for them.

    They are reserved for a nameless file beside it, and given back at once. (Not for the file itself: who reads it may
    rely on its not becoming shorter.) Another program may take them in the meantime, which is the blink of an eye.
    """
    if path.stat().st_size + size > _largest_file():
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is None:
        return
    try:
        with TemporaryFile(dir=path.parent) as stream:
            reserve(stream.fileno(), 0, size)
    except OSError as error:
        if error.errno not in _NO_ANSWER:
            raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error


def _largest_file() -> float:
    try:
        import resource
    except ImportError:  # a system without such limits
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)
