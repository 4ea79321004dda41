"""Schemes exactly as SLIDES print them, where the library has the corrected ones, and both side by side.

With A = L + D + U (strictly lower, diagonal, strictly upper), M = D + L and N = -U:

* `two_step`: z = M^-1 (N x - b), then x <- max(0, z), the closed form of the splitting method (also NOTES eq. 51-52).
  Rows i > j of z are made from z_j, not from max(0, z_j). At a fixed point A x + b = (L + D)(x - z), which solves the
  problem only if L (x - z) vanishes in all rows with x > 0; x - z is not zero where z < 0.
* `subproblem`: x <- the solution of 0 <= x  ⊥  M x + (b - N x_k) >= 0, the splitting method itself, by Lemke's method;
  and how far its iterates are from those of coordinate descent, x_i <- max(0, x_i - r_i / A_ii) (`pgs`).
* `direction`: Fischer-Newton steps with the projected direction, x + tau max(0, dx). No entry of x ever falls.
* `iterate`: the same with the projected iterate, max(0, x + tau dx).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.recipes import fingerprint, make_instance
from perp.lab.work.solve import free_share
from perp.problems.inputs import Matrix, Vector
from perp.problems.lcp import LCP
from perp.problems.residuals import verify
from perp.solvers.api import solve

SCHEMES = ("two_step", "subproblem", "direction", "iterate")

SUFFICIENT, REDUCTION, HALVINGS = 1e-4, 0.5, 60
"""beta and alpha of Armijo's rule, and the most reductions of a step."""

TINY = 1e-10
"""epsilon, in the place of x_i where x_i = y_i = 0."""


def printed_scheme_task(
    problems: Sequence[Mapping[str, Any]], scheme: str, *, iterations: int, tol: float = 1e-8, **others: Any
) -> Task:
    """A task of this work: `problems` are recipes of LCPs with known solutions."""
    arguments = {"scheme": scheme, "iterations": iterations, "tol": tol}
    return Task("printed_schemes", {"problems": list(problems)}, arguments=arguments, **others)


def perform(task: Task, folder: Path | None) -> Measurement:
    """Columns with an entry a problem: n, residual at the end, solved (1 or 0), iterations, and `gap`, how far the
    iterates of `subproblem` are from those of `pgs` (nan for the others). `solved_share` is the mean of `solved`.

    The Newton schemes start above the solution, at twice its largest entry in every row.
    """
    scheme, limit, tol = task.arguments["scheme"], task.arguments["iterations"], task.arguments["tol"]
    if scheme not in SCHEMES:
        raise ValueError(f"scheme is {scheme!r}, not one of {', '.join(SCHEMES)}")
    lines, problem = [], None
    for recipe in task.instance["problems"]:
        instance = make_instance(recipe, folder)
        problem, A, gap = instance.problem, instance.problem.A.to_dense(), float("nan")
        assert instance.x is not None
        if scheme == "two_step":
            x, taken = two_step(A, problem.b, limit)
        elif scheme == "subproblem":
            x, taken, gap = splitting_against_sweeps(problem, A, limit)
        else:
            start = np.full(problem.n, 2.0 * instance.x.max())
            x, taken = fischer_newton(A, problem.b, start, limit, tol, of_direction=scheme == "direction")
        residual = verify(problem, x).residual
        lines.append((problem.n, residual, residual <= tol, taken, gap, free_share(problem, x)))
    assert problem is not None
    names = ("n", "residual", "solved", "iterations", "gap", "active")
    columns = dict(zip(names, np.array(lines, dtype=np.float64).T, strict=True))
    numbers = {
        "residual": float(columns["residual"].max()),
        "iterations": float(columns["iterations"].sum()),
        "active": float(columns["active"].mean()),
        "solved_share": float(columns["solved"].mean()),
        "gap": float(columns["gap"].max()),
    }
    return Measurement(DONE, "", problem.n, fingerprint(problem), numbers, columns)


def two_step(A: Matrix, b: Vector, limit: int) -> tuple[Vector, int]:
    """From x = 0, until x no longer changes; and the number of iterations."""
    M, U, x = np.tril(A), np.triu(A, 1), np.zeros(b.size)
    for k in range(limit):
        z = solve_triangular(M, -U @ x - b, lower=True)
        last, x = x, np.maximum(0.0, z)
        if np.array_equal(last, x):
            return x, k + 1
    return x, limit


def splitting_against_sweeps(problem: Any, A: Matrix, limit: int) -> tuple[Vector, int, float]:
    """The iterate of the splitting method after `limit` iterations, and its largest distance to PGS on the way."""
    swept: list[Vector] = []
    solve(problem, "pgs", tol=0.0, max_iterations=limit, check_every=1, callback=lambda seen: swept.append(seen.x))
    M, U, x, gap = np.tril(A), np.triu(A, 1), np.zeros(problem.n), 0.0
    for after_sweep in swept[1:]:  # the first is the start
        x = solve(LCP(M, problem.b + U @ x), "lemke", tol=1e-12).x
        gap = max(gap, float(np.abs(x - after_sweep).max()))
    return x, len(swept) - 1, gap


def fischer_newton(
    A: Matrix, b: Vector, x: Vector, limit: int, tol: float, *, of_direction: bool
) -> tuple[Vector, int]:
    """Newton's method on phi(x_i, y_i) = 0 with Armijo's backtracking; ends where no step is long enough."""
    for k in range(limit):
        y = A @ x + b
        if np.abs(np.minimum(x, y)).max() <= tol:
            return x, k
        F = _fischer(x, y)
        at = np.where((x == 0.0) & (y == 0.0), TINY, x)
        length = np.hypot(at, y)
        J = np.diag(at / length - 1.0) + (y / length - 1.0)[:, None] * A
        try:
            direction = np.linalg.solve(J, -F)
        except LinAlgError:
            return x, k
        if of_direction:
            direction = np.maximum(0.0, direction)
        merit, slope, tau = 0.5 * float(F @ F), float((J.T @ F) @ direction), 1.0
        for _ in range(HALVINGS):
            trial = x + tau * direction if of_direction else np.maximum(0.0, x + tau * direction)
            G = _fischer(trial, A @ trial + b)
            if 0.5 * float(G @ G) <= merit + SUFFICIENT * tau * slope:
                break
            tau *= REDUCTION
        else:
            return x, k
        if np.array_equal(trial, x):
            return x, k
        x = trial
    return x, limit


def _fischer(a: Vector, b: Vector) -> Vector:
    value: Vector = np.hypot(a, b) - (a + b)
    return value
