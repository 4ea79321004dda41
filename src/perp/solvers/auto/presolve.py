"""What "auto" does to a problem before any method sees it, and the way back.

* `settle_rows`: rows whose x is known without solving anything, because its bounds are equal or because A has nothing
  in the row, which leaves y_i = b_i. Their x goes to the right-hand side of the others, which are a smaller problem.
* `write_products_out`: an A that is only a product becomes an array, by as many products as it has rows.
* `write_small_out`: so does an A of few rows in any other form.
* `find_islands`: parts that have nothing to do with one another are solved apart, each by "auto" for itself.
* `balance`: rows and columns of very unlike size, scaled by powers of two until all their largest entries are near 1
  (Ruiz 2001). With x = C z, C and R diagonal and positive, R y = (R A C) z + R b has its zeros and signs where y has;
  for symmetric A, R = C keeps it symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import OperatorFault
from perp.problems.inputs import Matrix, Vector
from perp.problems.islands import Island
from perp.problems.problem import Problem
from perp.problems.written_out import write_out
from perp.solvers.auto.small import is_small
from perp.solvers.islands.results import split_in_time

UNLIKE = 13
"""Largest entries of rows, or of columns, that differ by more than 2 to this power are of very unlike size."""

BALANCING_ROUNDS = 8

WORTH_SPLITTING = 1000
"""Rows below which nobody looks for islands: the look costs what it could save."""

WORTH_A_SOLVE = 64
"""Smaller islands are united."""

FEW_PRODUCTS, MANY_PRODUCTS = 200, 2000
"""Rows up to which a product is written out at once, and up to which when methods that need no more have failed."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem in the place of another one."""

    problem: Problem
    restrict: Callable[[Vector], Vector]
    """The unknowns of the smaller problem at a point of the asked one."""
    recover: Callable[[Vector], Vector]
    """The point of the asked problem that a point of the smaller one stands for."""
    spread: Callable[[Vector], Vector]
    """A vector of the rows of the smaller problem, such as a proof, as one of the rows of the asked problem."""
    told: str
    """What was done, in words."""
    shrinkage: float = 1.0
    """A residual of the smaller problem times this is at most one of the asked problem's."""


def settle_rows(problem: Problem) -> Reduced | None:
    """The problem without the rows whose x is known; None where there are none, or where some have no answer."""
    if problem.frictional is not None or problem.A.stored is None:
        return None
    lower, upper = problem.lower, problem.upper
    fixed = lower == upper
    empty = _find_empty_rows(problem.A.stored) & ~fixed
    # with b_i = 0, any x_i will do for the row itself, and others may need a certain one
    empty[empty] &= (problem.b[empty] != 0.0) | _are_empty_columns(problem.A.stored, np.flatnonzero(empty))
    known = fixed | empty
    if not known.any():
        return None
    values = np.clip(0.0, lower, upper)
    values[empty & (problem.b > 0.0)] = lower[empty & (problem.b > 0.0)]
    values[empty & (problem.b < 0.0)] = upper[empty & (problem.b < 0.0)]
    if not np.isfinite(values[known]).all():  # a slack that no bound allows: the proof is found where all proofs are
        return None
    kept = np.flatnonzero(~known)
    base = np.where(known, values, 0.0)
    b = problem.slack(base)[kept]
    A = problem.A.submatrix(kept, kept)
    smaller = problem.with_rows(A, b, lower[kept], upper[kept])

    def recover(z: Vector) -> Vector:
        x = base.copy()
        x[kept] = z
        return x

    def spread(u: Vector) -> Vector:
        whole = np.zeros(problem.n)
        whole[kept] = u
        return whole

    parts = [f"{mask.sum()} {word}" for mask, word in ((fixed, "fixed"), (empty, "empty")) if mask.any()]
    told = f"{' and '.join(parts)} of {problem.n} rows were settled beforehand"
    return Reduced(smaller, lambda x: x[kept], recover, spread, told)


def _find_empty_rows(matrix: Matrix | sparse.csr_array) -> NDArray[np.bool_]:
    """Rows without an entry. Only those with nothing on the diagonal are looked at."""
    if not isinstance(matrix, np.ndarray):
        return np.asarray(np.diff(matrix.indptr) == 0)  # zeros are not stored
    empty: NDArray[np.bool_] = matrix.diagonal() == 0.0
    empty[empty] = ~matrix[empty].any(axis=1)
    return empty


def _are_empty_columns(matrix: Matrix | sparse.csr_array, columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    if not isinstance(matrix, np.ndarray):
        return np.asarray(np.bincount(matrix.indices, minlength=matrix.shape[1])[columns] == 0)
    return np.asarray(~matrix[:, columns].any(axis=0))


def write_products_out(problem: Problem, most_rows: int) -> Reduced | None:
    """The problem with A as an array; None where it is more than a product already, or has more rows."""
    try:
        formed = write_out(problem, most_rows)
    except OperatorFault:  # whoever is asked next will say so
        return None
    if formed is problem or not problem.n:
        return None
    told = f"A is only a product, and was written out by {problem.n} of them"
    return Reduced(formed, _same, _same, _same, told)


def write_small_out(problem: Problem) -> Reduced | None:
    """A small problem with A as an array, whichever form it had: methods for arrays are the quickest there."""
    A = problem.A
    if not is_small(problem) or A.is_dense or problem.n == 0:
        return None
    matrix = A.to_dense()
    return Reduced(problem.with_matrix(matrix), _same, _same, _same, f"A is {A.form} and small, and was written out")


def find_islands(problem: Problem) -> tuple[Island, ...]:
    """The islands of a problem that is large enough for it to matter, if there are several."""
    matrix = problem.A.stored
    if problem.n < WORTH_SPLITTING or (matrix is None and problem.A.factored is None):
        return ()
    if isinstance(matrix, np.ndarray) and matrix[0].all():  # row 0 is coupled with all others
        return ()
    islands = split_in_time(problem, WORTH_A_SOLVE)
    return islands if len(islands) > 1 else ()


def balance(problem: Problem) -> Reduced | None:
    """The problem with its rows and columns balanced; None where they are of like size."""
    if problem.frictional is not None or problem.A.stored is None:
        return None
    A = problem.A.to_sparse()
    rows, columns = balancing_exponents(A, bool(problem.is_symmetric))
    if max(np.ptp(rows), np.ptp(columns)) < UNLIKE:
        return None
    matrix = sparse.csr_array(sparse.diags_array(np.exp2(rows)) @ A @ sparse.diags_array(np.exp2(columns)))
    factors = np.exp2(columns)
    with np.errstate(over="ignore"):
        b = problem.b * np.exp2(rows)
        lower, upper = problem.lower / factors, problem.upper / factors
    if not (np.isfinite(b).all() and np.isfinite(matrix.data).all()):
        return None
    form = problem.A.in_this_form(matrix)
    balanced = problem.with_rows(form, b, lower, upper)
    return Reduced(
        balanced,
        lambda x: np.clip(x / factors, lower, upper),
        lambda z: np.clip(z * factors, problem.lower, problem.upper),
        lambda u: u * np.exp2(rows),
        f"rows were scaled by 2^{rows.min():.0f} to 2^{rows.max():.0f}, columns by 2^{columns.min():.0f} "
        f"to 2^{columns.max():.0f}",
        shrinkage=float(min(1.0, 1.0 / max(np.exp2(-rows).max(), factors.max()))),
    )


def balancing_exponents(A: sparse.csr_array, symmetric: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whole numbers r and c such that the largest entries of the rows and columns of 2^r A 2^c are near 1."""
    sizes = abs(A)
    rows, columns = np.zeros((2, A.shape[0]))
    for _ in range(BALANCING_ROUNDS):
        scaled = sparse.csr_array(sparse.diags_array(np.exp2(rows)) @ sizes @ sparse.diags_array(np.exp2(columns)))
        by_row, by_column = (_exponents(scaled.max(axis=axis).toarray().ravel()) for axis in (1, 0))
        change = (by_row, by_row) if symmetric else (by_row, by_column)
        rows, columns = rows - 0.5 * change[0], columns - 0.5 * change[1]
        if max(np.abs(change[0]).max(initial=0.0), np.abs(change[1]).max(initial=0.0)) < 1.0:
            break
    return np.clip(np.rint(rows), -500, 500), np.clip(np.rint(columns), -500, 500)


def _exponents(sizes: Vector) -> Vector:
    """log2 of the sizes; 0 for nothing."""
    return np.log2(np.where((sizes > 0.0) & np.isfinite(sizes), sizes, 1.0))


def as_asked(problem: Problem) -> Reduced:
    """The problem itself."""
    return Reduced(problem, _same, _same, _same, "")


def one_after_the_other(first: Reduced, second: Reduced) -> Reduced:
    """What `second` made of the problem that `first` made."""
    return Reduced(
        second.problem,
        lambda x: second.restrict(first.restrict(x)),
        lambda z: first.recover(second.recover(z)),
        lambda u: first.spread(second.spread(u)),
        second.told,
        first.shrinkage * second.shrinkage,
    )


def _same(vector: Vector) -> Vector:
    return vector
