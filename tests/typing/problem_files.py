"""Problems on disk."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]


def write(problem: perp.LCP, folder: Path) -> None:
    perp.save(problem, "problem.npz")
    perp.save(problem, folder / "problem.mtx", x=perp.solve(problem))
    perp.save(problem, folder / "problem.hdf5", x=problem.b)


def read(path: Path) -> perp.Result:
    problem = perp.load(path, max_bytes=2**20)
    assert_type(problem.n, int)
    assert_type(problem.kind, str)
    assert_type(perp.load_solution(str(path)), Vector | None)
    if isinstance(problem, perp.ContactProblem):
        assert_type(problem.friction, Vector)
    return perp.solve(perp.load("problem.dat", layout="siconos/lcp"))
