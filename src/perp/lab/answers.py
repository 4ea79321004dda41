"""A solver's answer on disk: x, y and how the solve went, as plain arrays in an .npz archive."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from perp.problems.files import DEFAULT_MAX_BYTES
from perp.problems.files.archive import open_archive, write_archive
from perp.problems.files.guard import Budget, FileGuard, replacing
from perp.problems.inputs import Vector
from perp.solvers.results import Result
from perp.version import __version__


def save_answer(result: Result, path: Path) -> None:
    """Write x, y, the scalars of a result and, if there is one, the u of its certificate; nothing is pickled."""
    arrays = {
        "x": result.x,
        "y": result.y,
        "status": np.array(result.status.name),
        "method": np.array(result.method),
        "residual": np.array(result.residual),
        "iterations": np.array(result.iterations, dtype=np.int64),
        "seconds": np.array(result.seconds),
        "setup_seconds": np.array(result.setup_seconds),
        "perp_version": np.array(__version__),
    }
    if result.certificate is not None:
        arrays["u"] = result.certificate.u
    with replacing(path) as temporary:
        write_archive(temporary, arrays)


def load_answer(path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Vector:
    """The x of such a file, or of any .npz archive that has one; raises FileFormatError if it does not."""
    guard = FileGuard(path, Budget(max_bytes))
    with open_archive(guard) as archive:
        if "x" not in archive:
            raise guard.fault("x.npy", "the archive holds no x")
        return archive.numbers("x")


def distance(x: Vector, known: Vector) -> float:
    """The largest difference of two entries."""
    return float(np.abs(x - known).max(initial=0.0))
