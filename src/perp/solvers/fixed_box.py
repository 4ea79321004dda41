"""Friction with bounds from a frictionless solve (THESIS 2.4.2): two convex problems, one after the other."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from perp.problems.friction import ContactProblem
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.solvers.api import solve
from perp.solvers.method import Method
from perp.solvers.results import Result


def solve_fixed_box(
    problem: ContactProblem,
    method: str | Method = "auto",
    *,
    normals_by: str | Method | None = None,
    tol: float | None = None,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
) -> Result:
    """Solve `perp.frictionless(problem)`, then `perp.fixed_box(problem, ...)` with the normal impulses found.

    `normals_by` is the method of the first solve, by default the same. The limits of iterations hold for each of the
    two, that of time for both together. The result is that of the fixed box problem, and `methods` lists both solves;
    where the first one fails there is nothing to take bounds from, and its own result comes back.

    How far the answer is from the Coulomb law is another question: `perp.verify(problem, result.x)`.
    """
    begun = perf_counter()
    first = solve(
        frictionless(problem),
        method if normals_by is None else normals_by,
        tol=tol,
        max_iterations=max_iterations,
        max_seconds=max_seconds,
    )
    if not first.success:
        return first
    left = None if max_seconds is None else max(0.0, max_seconds - (perf_counter() - begun))
    second = solve(
        fixed_box(problem, first), method, tol=tol, max_iterations=max_iterations, max_seconds=left, x0=first
    )
    return replace(second, methods=first.methods + second.methods)
