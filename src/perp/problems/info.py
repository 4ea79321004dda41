"""What a problem looks like, before anybody tries to solve it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

CHOLESKY_LIMIT = 2000
"""The largest n for which definiteness is told by trying a dense Cholesky factor (a fraction of a second)."""


@dataclass(frozen=True)
class ProblemInfo:
    """The answer of `problem.info()`; None means that it could not be told cheaply."""

    kind: str
    n: int
    form: str
    nonzeros: int | None
    density: float | None
    symmetric: bool | None
    asymmetry: float | None
    positive_diagonal: int | None
    zero_diagonal: int | None
    negative_diagonal: int | None
    positive_definite: bool | None
    lower_bounds: int
    upper_bounds: int
    fixed: int
    free: int
    contacts: int

    def __str__(self) -> str:
        def tell(value: object) -> str:
            return "not known" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

        return "\n".join(f"{name.replace('_', ' '):>18}: {tell(value)}" for name, value in vars(self).items())


def describe(problem: Problem) -> ProblemInfo:
    """Size, density, symmetry, signs of the diagonal, definiteness where a Cholesky try is cheap, kinds of bounds."""
    n = problem.n
    nonzeros = problem.A.nonzeros()
    symmetric = problem.is_symmetric
    diagonal = problem.diagonal
    lower, upper = problem.bounds(np.ones(n))
    return ProblemInfo(
        kind=problem.kind,
        n=n,
        form=problem.A.form,
        nonzeros=nonzeros,
        density=None if nonzeros is None or n == 0 else nonzeros / n**2,
        symmetric=symmetric,
        asymmetry=problem.A.asymmetry,
        positive_diagonal=None if diagonal is None else int((diagonal > 0).sum()),
        zero_diagonal=None if diagonal is None else int((diagonal == 0).sum()),
        negative_diagonal=None if diagonal is None else int((diagonal < 0).sum()),
        positive_definite=_is_positive_definite(problem, symmetric, diagonal),
        lower_bounds=int(np.isfinite(lower).sum()),
        upper_bounds=int(np.isfinite(upper).sum()),
        fixed=int((lower == upper).sum()),
        free=int((np.isinf(lower) & np.isinf(upper)).sum()),
        contacts=problem.contacts,
    )


def _is_positive_definite(problem: Problem, symmetric: bool | None, diagonal: Vector | None) -> bool | None:
    """Of the symmetric A: no for a diagonal entry <= 0, yes for a Cholesky factor with pivots above rounding level."""
    if diagonal is not None and (diagonal <= 0).any():
        return False
    if not symmetric or problem.n > CHOLESKY_LIMIT or "to_sparse" not in problem.A.ability_set:
        return None
    try:
        factor = np.linalg.cholesky(problem.A.to_dense())
    except np.linalg.LinAlgError:
        return False
    pivots = factor.diagonal() ** 2
    return bool(pivots.min(initial=np.inf) > problem.n * np.finfo(float).eps * pivots.max(initial=0.0))
