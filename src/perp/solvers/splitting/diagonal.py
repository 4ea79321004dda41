"""The condition that all splittings share: they divide by the diagonal."""

from __future__ import annotations

import numpy as np

from perp.problems.problem import Problem


def diagonal_objection(problem: Problem) -> str | None:
    """Names the rows whose diagonal entry is zero or negative; None when all are positive.

    A row that is fixed (lower == upper) is never divided by anything that matters, but it is refused like the others:
    the method's class is 'positive diagonal'.
    """
    assert problem.diagonal is not None
    bad = np.flatnonzero(~(problem.diagonal > 0.0))
    if not bad.size:
        return None
    word = "zero" if problem.diagonal[bad[0]] == 0.0 else "negative"
    shown = ", ".join(str(i) for i in bad[:5]) + (", ..." if bad.size > 5 else "")
    return (
        f"it divides by the diagonal of A, and {bad.size} of its entries are not positive "
        f"(rows {shown}; A[{bad[0]},{bad[0]}] is {word}: {problem.diagonal[bad[0]]:g})"
    )
