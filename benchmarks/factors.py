"""Our sparse Cholesky factor beside SuperLU, CHOLMOD and qdldl: other numbers in a pattern that was seen before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from scipy.sparse.linalg import splu

from benchmarks.contact_steps import LAYOUTS, parts, stack
from benchmarks.effort import Effort, Row
from benchmarks.growth import body_matrix, sort_rows
from benchmarks.tables import add_row, interleave, make_table, tell_ms
from perp import linalg
from perp.problems.inputs import Vector


@dataclass(frozen=True)
class Factor:
    """A matrix that was analysed: `refactor` is timed, `solve` shows that the factor is one."""

    refactor: Callable[[], object]
    solve: Callable[[Vector], Vector]


def _ours(K: sparse.csr_array) -> Factor:
    factor = linalg.SparseCholesky(K)
    return Factor(lambda: factor.factor(K.data, anew=True), factor.solve)


def _superlu(K: sparse.csr_array) -> Factor:
    """SciPy has no way to reuse the analysis: it is in the time."""
    columns, options = sparse.csc_array(K), {"SymmetricMode": True}

    def refactor() -> Any:
        return splu(columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    return Factor(refactor, lambda right: np.asarray(refactor().solve(right)))


def _cholmod(K: sparse.csr_array) -> Factor:
    cvxopt, cholmod = import_module("cvxopt"), import_module("cvxopt.cholmod")
    entries = sparse.coo_array(sparse.tril(K))
    lower = cvxopt.spmatrix(entries.data, entries.row.tolist(), entries.col.tolist(), K.shape)
    factor = cholmod.symbolic(lower)

    def solve(right: Vector) -> Vector:
        x = cvxopt.matrix(right)
        cholmod.solve(factor, x)
        return np.array(x).reshape(-1)

    return Factor(lambda: cholmod.numeric(lower, factor), solve)


def _qdldl(K: sparse.csr_array) -> Factor:
    columns = sparse.csc_matrix(K)
    solver = import_module("qdldl").Solver(columns)
    return Factor(lambda: solver.update(columns), lambda right: np.asarray(solver.solve(right)))


CONTENDERS: dict[str, tuple[Callable[[sparse.csr_array], Factor], str]] = {
    "ours": (_ours, "perp"),
    "SuperLU": (_superlu, "scipy"),
    "CHOLMOD": (_cholmod, "cvxopt"),
    "qdldl": (_qdldl, "qdldl"),
}
"""How each is made, and the package that brings it."""


def missing_packages() -> list[str]:
    return sorted(package for _, package in CONTENDERS.values() if find_spec(package) is None)


def measure_factors(effort: Effort, rows: list[Row]) -> Iterator[Table]:
    present = {name: make for name, (make, package) in CONTENDERS.items() if find_spec(package) is not None}
    others = [name for name in present if name != "ours"]
    headings = ["matrix", "n", "nonzeros", *(f"{name}, ms" for name in present), *(f"ours / {name}" for name in others)]
    table = make_table("D. Numeric factor, pattern known (SuperLU: with its analysis), median of 5", headings)
    for label, K in _matrices(effort):
        factors = {name: make(K) for name, make in present.items()}
        seconds = interleave({name: factor.refactor for name, factor in factors.items()}, repeats=5)
        errors = {name: _error(K, factor.solve) for name, factor in factors.items()}
        row = {"part": "D", "matrix": label, "n": K.shape[0], "nonzeros": int(K.nnz)}
        rows.append(row | {"seconds": seconds, "errors": errors})
        ratios = (f"{seconds['ours'] / seconds[name]:.2f}" for name in others)
        add_row(table, [label, K.shape[0], int(K.nnz), *(tell_ms(value) for value in seconds.values()), *ratios])
        wrong = [name for name, error in errors.items() if error > 1e-8]
        if wrong:
            add_row(table, [f"  wrong: {', '.join(wrong)}", *([None] * (len(headings) - 1))])
    yield table


def _matrices(effort: Effort) -> Iterator[tuple[str, sparse.csr_array]]:
    for layout in LAYOUTS:
        for wanted in effort.contact_rows:
            problem, A = parts(stack(wanted, 0, layout))
            yield f"body, {layout}, {problem.n:,} rows", body_matrix(A)
    problem, A = parts(stack(min(effort.contact_rows, key=lambda rows: abs(rows - 5_000)), 0, "wall"))
    yield f"assembled, wall, {problem.n:,} rows", sort_rows(A.to_sparse())
    square, cube = effort.grids
    yield f"Poisson {square}^2", _poisson(square, 2)
    yield f"Poisson {cube}^3", _poisson(cube, 3)


def _poisson(edge: int, dimension: int) -> sparse.csr_array:
    line = sparse.diags_array([-np.ones(edge - 1), 2.0 * np.ones(edge), -np.ones(edge - 1)], offsets=[-1, 0, 1])
    total = line
    for _ in range(dimension - 1):
        total = sparse.kronsum(total, line)
    return sort_rows(total)


def _error(K: sparse.csr_array, solve: Callable[[Vector], Vector]) -> float:
    """|K x - r| against |K| |x|: backward, since the body matrices are ill-conditioned."""
    right = np.random.default_rng(0).standard_normal(K.shape[0])
    x = solve(right)
    size = abs(K).max() * np.abs(x).max() + np.abs(right).max()
    return float(np.abs(K @ x - right).max() / size)
