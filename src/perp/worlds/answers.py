"""What a step is handed as a solver, and what that returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.problems.inputs import Vector, require_real_dtype

SOLVE_HINT = (
    "solve must be a callable solve(problem, x0) that returns an object with x, "
    'for example lambda problem, x0: perp.solve(problem, "pgs", x0=x0)'
)

OVERFLOWING = 1e100
"""Numbers of a state beyond this one make products that are infinite, or nearly so."""


def require_callable(solve: Any) -> None:
    """Refuse what is no solver."""
    if not callable(solve):
        raise TypeError(f"solve is {solve!r}; {SOLVE_HINT}")


def read_answer(solution: Any) -> Vector:
    """A copy of the solver's x; its length is checked where it meets the problem, its values by the step."""
    if not hasattr(solution, "x"):
        raise TypeError(
            f"solve returned {'None' if solution is None else f'a {type(solution).__name__}'}; {SOLVE_HINT}"
        )
    given = np.asarray(solution.x)
    require_real_dtype(given.dtype, "x of the solution")
    return np.array(given, dtype=np.float64)
