"""What a user writes, as a strict checker of types reads it: `make check` runs basedpyright on this file.

It is read, not run, so nothing here needs to make sense as a computation. What is public and typed is used once; an
expected type stands on the left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]

array: Vector = np.eye(3)
vector: Vector = np.ones(3)
product: Any = None  # a LinearOperator of SciPy, which has no types of its own


def problems() -> list[perp.LCP | perp.BoxLCP | perp.ContactProblem]:
    plain = perp.LCP([[4, -1], [-1, 4]], [-3, 2])
    single = perp.LCP(array.astype(np.float32), vector.astype(np.float32))
    free = perp.LCP(product, vector)
    box = perp.BoxLCP(array, vector, 0.0, np.inf)
    contact = perp.ContactProblem(array, vector, 0.5, "cone", dimension=3)
    written_out: perp.BoxLCP = plain.to_box()
    lower, upper = box.bounds(vector)
    inside: Vector = box.project(lower + upper)
    slack: Vector = plain.slack(inside)
    size: int = plain.n + slack.size
    operator: perp.Operator = perp.DenseOperator(array)
    rows: Vector = operator.diagonal()
    symmetric: bool | None = plain.is_symmetric
    fixed: perp.BoxLCP = perp.fixed_box(contact, vector)
    assert symmetric or size + rows.size
    return [plain, single, free, box, contact, written_out, fixed]


def hear(progress: perp.Progress) -> None:
    if progress.residual < 1e-3 or progress.nit > 10 or progress["merit"] == 0.0:
        raise StopIteration


def hear_by_name(*, intermediate_result: perp.Progress) -> None:
    hear(intermediate_result)


def answers(problem: perp.LCP) -> str:
    result: perp.Result = perp.solve(problem)
    result = perp.solve(problem, "psor", tol=1e-10, max_iterations=7, max_seconds=1.0, callback=hear, relaxation=1.2)
    result = perp.solve(problem, perp.PSOR(relaxation=1.4), x0=result, stop=perp.Stopping(relative=1e-3), check_every=2)
    x: Vector = result.x
    y: Vector = result.y
    status: perp.Status = result.status
    code: int = status.code + int(status)
    sentence: str = status.value
    success: bool = result.success
    residual: float = result.residual + result.scaled_residual + result.seconds
    nit: int = result.nit + result.iterations
    fun: float | None = result.fun
    mask: NDArray[np.int8] = result.active_mask
    names: list[str] = [attempt.method + attempt.why for attempt in result.methods]
    columns: Vector = result.history.residual
    certificate: perp.Certificate | None = result.certificate
    by_name: Any = result["x"]
    everything: dict[str, Any] = dict(result)
    measured: perp.Residuals = perp.verify(problem, x)
    again: float = measured.residual + result.verify().natural_2
    checked: perp.Certificate = perp.verify_certificate(problem, y)
    valid: bool = checked.valid
    told = (code, success, residual, nit, fun, mask, names, columns, certificate, by_name, everything, again, valid)
    return f"{sentence} {result.message} {told}"


def islands(problem: perp.LCP) -> tuple[perp.Island, ...]:
    result: perp.IslandsResult = perp.solve_islands(problem, workers=2)
    parts: tuple[perp.Result, ...] = result.parts
    solutions: perp.Solutions = perp.enumerate(problem)
    assert parts
    assert solutions
    perp.warm_up()
    return perp.split_islands(problem)


METHODS = (
    perp.Enumeration(),
    perp.Lemke(),
    perp.Dantzig(),
    perp.Principal(),
    perp.BlockPrincipal(),
    perp.Jacobi(damping=0.5),
    perp.PGS(order="backward"),
    perp.PSOR(),
    perp.SymmetricPSOR(),
    perp.AMGS(),
    perp.BlockGaussSeidel(),
    perp.NNCG(),
    perp.PGSSM(),
    perp.Staggering(),
    perp.MinimumMap(),
    perp.PolicyIteration(),
    perp.Multigrid(),
    perp.Fischer(),
    perp.InteriorPoint(),
    perp.InteriorPivoting(),
    perp.ConeNewton(),
    perp.PGCG(),
    perp.MPRGP(),
    perp.APGD(),
    perp.SPG(),
    perp.ADMM(),
    perp.QuadraticProgram(),
    perp.best_so_far(perp.PGS()),
)
