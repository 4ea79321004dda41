"""Siconos on frictional problems, by the system's Python (Debian's `python3-siconos`, `python3-scipy`), through files.

Debian's build reads no FCLIB files: the sparse matrix goes over as arrays.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse

import perp
from benchmarks.friction_problems import Case
from benchmarks.friction_runs import Row, make_empty_row

PYTHON = Path("/usr/bin/python3")

SOLVERS = (
    "SICONOS_FRICTION_3D_NSGS",
    "SICONOS_FRICTION_3D_NSN_AC",
    "SICONOS_FRICTION_3D_ADMM",
    "SICONOS_FRICTION_3D_PROX",
)

PROGRAM = """
import json, sys, time
import numpy as np
import scipy.sparse as sparse
import siconos.numerics as sn
path, out, name, tol, iterations = sys.argv[1:]
given = np.load(path)
A = sparse.csc_matrix((given["data"], given["indices"], given["indptr"]))
problem = sn.FrictionContactProblem(3, given["friction"].size, A, given["b"], given["friction"])
options = sn.SolverOptions(getattr(sn, name))
options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = int(iterations)
options.dparam[sn.SICONOS_DPARAM_TOL] = float(tol)
n = problem.dimension * problem.numberOfContacts
reaction, velocity = np.zeros(n), np.zeros(n)
begun = time.perf_counter()
info = sn.fc3d_driver(problem, reaction, velocity, options)
seconds = time.perf_counter() - begun
np.save(out, reaction)
done = int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE])
print(json.dumps({"info": int(info), "seconds": seconds, "iterations": done}))
"""

MOST_ITERATIONS = 1_000_000

TIGHTER = 0.01
"""Of the tolerance: its criteria are relative to the size of b, and ours is not."""

LOADING = 5.0
"""Seconds that its process has beside the limit of a run."""


def find_missing() -> str | None:
    """Why Siconos cannot run here; None where it can."""
    if not PYTHON.exists():
        return f"Siconos is left out: there is no {PYTHON}"
    try:
        done = subprocess.run(
            [PYTHON, "-c", "import scipy.sparse, siconos.numerics"], capture_output=True, timeout=60.0
        )
    except subprocess.TimeoutExpired:
        return "Siconos is left out: it takes more than a minute to load"
    return (
        None
        if done.returncode == 0
        else "Siconos is left out: Debian's python3-siconos and python3-scipy are not installed"
    )


@dataclass(frozen=True)
class Siconos:
    """One of its solvers, in a process of its own that is ended after `limit` seconds."""

    solver: str
    limit: float

    @property
    def name(self) -> str:
        return f"siconos {self.solver.removeprefix('SICONOS_FRICTION_3D_').lower()}"

    def run(self, case: Case, tol: float) -> Row | None:
        """Cold, on the assembled matrix; None for what it is not made for: another law, other rows, the plane."""
        problem = case.problem
        if problem.model != "cone" or problem.contact_rows != problem.n or problem.dimension != 3:
            return None
        A = sparse.csc_array(problem.A.to_sparse())
        pointers = {"indices": A.indices.astype(np.int64), "indptr": A.indptr.astype(np.int64)}
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "problem.npz", Path(folder) / "answer.npy"
            np.savez(path, data=A.data, b=problem.b, friction=problem.friction, **pointers)
            command = [
                str(PYTHON),
                "-c",
                PROGRAM,
                str(path),
                str(out),
                self.solver,
                repr(TIGHTER * tol),
                str(MOST_ITERATIONS),
            ]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=self.limit + LOADING)
            except subprocess.TimeoutExpired:
                return make_empty_row(case, self.name, tol, "TIME_LIMIT", f"ended after {self.limit + LOADING:g} s")
            if done.returncode != 0 or not out.exists():
                words = done.stderr.strip().splitlines()
                return make_empty_row(case, self.name, tol, "BREAKDOWN", words[-1] if words else "no answer")
            told, x = json.loads(done.stdout.strip().splitlines()[-1]), np.load(out)
        return self._judge(case, tol, told, x)

    def _judge(self, case: Case, tol: float, told: dict[str, float], x: np.ndarray) -> Row:
        row = make_empty_row(case, self.name, tol, "CONVERGED" if told["info"] == 0 else "STOPPED", "")
        residual = perp.verify(case.problem, x).residual if np.isfinite(x).all() else np.nan
        return replace(row, residual=residual, seconds=float(told["seconds"]), iterations=int(told["iterations"]))
