"""Other people's solvers on grids, each in a process of its own (`fluid_child`), with a limit of time that holds."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import perp
from benchmarks.fluid_methods import Run

DEBIAN = Path("/usr/lib/petscdir")
"""Where Debian keeps PETSc: one folder a version and number type, each with a petsc4py for Debian's own Python."""
DEBIAN_PYTHON = "/usr/bin/python3"
REMEDY = "not here: PETSc (Debian: apt install python3-petsc4py; or pip install petsc4py)"


@dataclass(frozen=True)
class GridPeer:
    name: str
    solver: str
    """What the child understands; after the colon a preconditioner or a tolerance."""
    largest: int = 10**9
    """Cells beyond which it is not asked."""

    @property
    def is_petsc(self) -> bool:
        return self.solver.startswith("petsc")


PEERS = (
    GridPeer("PETSc rsls, cg + icc", "petsc:icc"),
    GridPeer("PETSc rsls, cg + hypre", "petsc:hypre"),
    GridPeer("PETSc rsls, cg + gamg", "petsc:gamg"),
    GridPeer("SciPy L-BFGS-B", "lbfgsb"),
    GridPeer("PIQP", "piqp:1e-9", largest=5_000),
)
"""PIQP needs a minute and more for 32^3 cells, as it factors the whole matrix in each of its iterations."""


def split_by_presence() -> tuple[list[GridPeer], list[str]]:
    """The peers that can be run here, and a line for each package that is missing."""
    missing = []
    if find_petsc() is None:
        missing.append(REMEDY)
    if find_spec("piqp") is None:
        missing.append("not installed: pip install piqp")
    present = [
        peer
        for peer in PEERS
        if (find_petsc() is not None if peer.is_petsc else peer.solver == "lbfgsb" or find_spec("piqp") is not None)
    ]
    return present, missing


@cache
def find_petsc() -> tuple[str, str | None] | None:
    """An interpreter that can import petsc4py, and the PETSC_DIR that it needs: ours, or Debian's.

    Debian's petsc4py looks in /usr/lib/petsc, a link that only its development package makes; PETSC_DIR tells it
    where to look instead.
    """
    candidates: list[tuple[str, str | None]] = [(sys.executable, None), (DEBIAN_PYTHON, None)]
    found = sorted(DEBIAN.glob("*/*-real/lib/python3/dist-packages/petsc4py"), reverse=True)
    candidates += [(DEBIAN_PYTHON, str(folder.parents[3])) for folder in found]
    for interpreter, folder in candidates:
        command = [interpreter, "-c", "from petsc4py import PETSc"]
        try:
            if subprocess.run(command, env=_environment(folder), capture_output=True, timeout=60.0).returncode == 0:
                return interpreter, folder
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def write_problem(problem: perp.LCP, path: Path) -> None:
    A = problem.A.to_sparse()
    np.savez(path, indptr=A.indptr, indices=A.indices, values=A.data, b=problem.b)


def run_peer(peer: GridPeer, problem: perp.LCP, stored: Path, tol: float, limit: float) -> Run:
    """`stored` is what `write_problem` wrote. The answer is judged here, after its entries were put within bounds."""
    interpreter, folder = sys.executable, None
    if peer.is_petsc:
        found = find_petsc()
        assert found is not None
        interpreter, folder = found
    answer = stored.with_name("answer.npz")
    answer.unlink(missing_ok=True)
    child = Path(__file__).with_name("fluid_child.py")
    command = [interpreter, str(child), peer.solver, str(stored), str(answer), str(limit)]
    ended = subprocess.run(command, env=_environment(folder), capture_output=True, text=True, check=False)
    if ended.returncode == -signal.SIGALRM:
        return no_answer(f"none in {limit:.0f} s")
    if ended.returncode != 0:
        return no_answer(f"failed: {_find_exception(ended.stderr) or ended.returncode}")
    with np.load(answer) as data:
        x, setup, solve, iterations = data["x"], float(data["setup"]), float(data["solve"]), int(data["iterations"])
    if not np.isfinite(x).all():
        return no_answer("failed: not finite")
    residual = perp.verify(problem, problem.project(x)).natural_inf
    reached = residual <= tol
    return Run(reached, solve, setup, solve, iterations, None, residual, "converged" if reached else "missed")


def no_answer(ending: str) -> Run:
    return Run(False, np.nan, np.nan, np.nan, 0, None, np.inf, ending)


def _find_exception(stderr: str) -> str | None:
    """The last line that names one, without the module that it comes from."""
    named = [line for line in stderr.splitlines() if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return named[-1].rpartition("PETSc.")[2][:40] if named else None


def _environment(petsc_dir: str | None) -> dict[str, str]:
    return dict(os.environ) | ({} if petsc_dir is None else {"PETSC_DIR": petsc_dir})
