"""The condition that all splittings share: they divide by the diagonal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.problem import Problem


def diagonal_objection(problem: Problem) -> str | None:
    """Names the rows whose diagonal entry is zero or negative; None when all are positive, or fixed anyway."""
    assert problem.diagonal is not None
    if (problem.diagonal > 0.0).all():  # nobody needs to ask which rows are fixed
        return None
    return refuse_rows(problem, fixed_rows(problem))


def refuse_rows(problem: Problem, allowed: NDArray[np.bool_]) -> str | None:
    """The same, for rows that are not allowed to have such an entry."""
    assert problem.diagonal is not None
    bad = np.flatnonzero(~((problem.diagonal > 0.0) | allowed))
    if not bad.size:
        return None
    word = "zero" if problem.diagonal[bad[0]] == 0.0 else "negative"
    shown = ", ".join(str(i) for i in bad[:5]) + (", ..." if bad.size > 5 else "")
    return (
        f"it divides by the diagonal of A, which is not positive in {bad.size} "
        f"row{'s' if bad.size > 1 else ''} ({shown}; A[{bad[0]},{bad[0]}] is {word}: {problem.diagonal[bad[0]]:g})"
    )


def fixed_rows(problem: Problem) -> NDArray[np.bool_]:
    """Rows with lower == upper: x_i is known, y_i is free, and nothing is divided by A_ii."""
    fixed = np.zeros(problem.n, dtype=bool)
    fixed[problem.contact_rows :] = problem.lower == problem.upper
    return fixed
