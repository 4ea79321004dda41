"""One peer, one problem, one process: `python fluid_child.py SOLVER PROBLEM.npz ANSWER.npz SECONDS`.

Run by an interpreter that has the peer, which need not have perp: Debian's PETSc comes with Debian's Python. The
problem is 0 <= x  ⊥  A x + b >= 0 with A in compressed rows. Every peer stops as soon as max |x - max(x - y, 0)| is at
most 1e-6 (PIQP, which cannot be told so, by its own tolerance). The answer has x and the seconds of set-up and solve.
A solve that takes longer than SECONDS is ended by an alarm signal, whatever library it is in.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

TOLERANCE = 1e-6
Solve = Callable[[], tuple[Any, int]]
"""The part that is timed as the solve: x and iterations."""


def main(solver: str, problem: str, answer: str, seconds: str) -> None:
    with np.load(problem) as data:
        indptr, indices, values, b = (data[name] for name in ("indptr", "indices", "values", "b"))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    family, _, variant = solver.partition(":")
    begun = perf_counter()
    solve = {"petsc": set_up_petsc, "lbfgsb": set_up_lbfgsb, "piqp": set_up_piqp}[family](
        (indptr, indices, values), b, variant
    )
    ready = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    x, iterations = solve()
    done = perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    np.savez(answer, x=x, setup=ready - begun, solve=done - ready, iterations=iterations)


def natural_residual(x: Any, y: Any) -> float:
    return float(np.abs(np.minimum(x, y)).max())


def set_up_petsc(rows: tuple[Any, Any, Any], b: Any, preconditioner: str) -> Solve:
    """Reduced-space active sets, each equation by conjugate gradients (SNESVINEWTONRSLS).

    A hundredth of the residual is left in each equation: of 1e-1, ..., 1e-5 (its default) that is the fastest here.
    """
    options = {"ksp_type": "cg", "pc_type": preconditioner, "ksp_rtol": "1e-2", "snes_max_it": "10000"}
    import_module("petsc4py").init([word for name, value in options.items() for word in (f"-{name}", value)])
    PETSc = import_module("petsc4py.PETSc")

    n = b.size
    indptr, indices, values = rows
    A = PETSc.Mat().createAIJ((n, n), csr=(indptr.astype(np.int32), indices.astype(np.int32), values))
    A.setOption(PETSc.Mat.Option.SPD, True)
    right, x, residual = PETSc.Vec().createWithArray(b), A.createVecRight(), A.createVecRight()
    lower, upper = A.createVecRight(), A.createVecRight()
    lower.set(0.0)
    upper.set(PETSc.INFINITY)

    def evaluate(snes: Any, point: Any, out: Any) -> None:
        A.multAdd(point, right, out)

    def check(snes: Any, iteration: int, norms: Any) -> Any:
        point = snes.getSolution()
        A.multAdd(point, right, residual)
        small = natural_residual(point.getArray(readonly=True), residual.getArray(readonly=True)) <= TOLERANCE
        return PETSc.SNES.ConvergedReason.CONVERGED_FNORM_ABS if small else PETSc.SNES.ConvergedReason.ITERATING

    snes = PETSc.SNES().create()
    snes.setType("vinewtonrsls")
    snes.setFunction(evaluate, A.createVecRight())
    snes.setJacobian(lambda snes, point, J, P: None, A)
    snes.setVariableBounds(lower, upper)
    snes.setConvergenceTest(check)
    snes.setFromOptions()
    x.set(0.0)

    def solve() -> tuple[Any, int]:
        snes.solve(None, x)
        return x.getArray().copy(), snes.getIterationNumber()

    return solve


def set_up_lbfgsb(rows: tuple[Any, Any, Any], b: Any, variant: str) -> Solve:
    """The bounded quasi-Newton method on 1/2 x^T A x + b^T x; its `gtol` is the natural residual."""
    from scipy import sparse
    from scipy.optimize import minimize

    A = sparse.csr_array((rows[2], rows[1], rows[0]), shape=(b.size, b.size))

    def objective(x: Any) -> tuple[float, Any]:
        y = A @ x + b
        return 0.5 * float(x @ (y + b)), y

    options = {"gtol": TOLERANCE, "ftol": 0.0, "maxiter": 10**6, "maxfun": 10**7, "maxcor": 20}

    def solve() -> tuple[Any, int]:
        found = minimize(
            objective, np.zeros(b.size), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * b.size, options=options
        )
        return found.x, int(found.nit)

    return solve


def set_up_piqp(rows: tuple[Any, Any, Any], b: Any, tolerance: str) -> Solve:
    """An interior-point method; its analysis of the matrix belongs to the set-up."""
    import piqp
    from scipy import sparse

    n = b.size
    A = sparse.csc_matrix(sparse.csr_matrix((rows[2], rows[1], rows[0]), shape=(n, n)))
    solver = piqp.SparseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = float(tolerance), 0.0
    solver.settings.eps_duality_gap_abs, solver.settings.eps_duality_gap_rel = float(tolerance), 0.0
    solver.settings.max_iter = 60
    solver.setup(A, b, None, None, None, None, None, np.zeros(n), np.full(n, np.inf))

    def solve() -> tuple[Any, int]:
        solver.solve()
        return np.array(solver.result.x), int(solver.result.info.iter)

    return solve


if __name__ == "__main__":
    main(*sys.argv[1:])
