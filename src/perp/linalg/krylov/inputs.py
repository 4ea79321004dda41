"""What a caller may hand to a Krylov method, and what it works on."""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.errors import InvalidProblem
from perp.linalg.krylov.outcome import Product
from perp.problems.deadline import Deadline, deadline, now
from perp.problems.inputs import Vector, require_count, require_real


def read_system(A: Any, b: Any, tolerance: float, max_iterations: int) -> tuple[Product, Vector]:
    """A as a function v -> A v (a function, or anything with `A @ v`), and b as a vector.

    Numbers need not be finite: what comes of an overflow elsewhere ends with NON_FINITE, and does not raise.
    """
    require_real(tolerance, "tolerance")
    if tolerance < 0.0:
        raise ValueError(f"tolerance is {tolerance}; it bounds ||b - A x||, which is not negative")
    require_count(max_iterations, "max_iterations")
    right = np.asarray(b, dtype=np.float64)
    if right.ndim != 1:
        raise InvalidProblem(f"b has shape {right.shape}; a vector is needed")
    product, held = as_product(A), deadline()
    return (_watch(product, held) if held.is_limited else product), right


def _watch(product: Product, held: Deadline) -> Product:
    """A product that is not begun where the one before took longer than is left."""
    last = 0.0

    def watched(v: Vector) -> Vector:
        nonlocal last
        held.require(last)
        begun = now()
        made = product(v)
        last = now() - begun
        return made

    return watched


def as_product(A: Any) -> Product:
    if callable(A):
        function: Product = A
        return function
    if not hasattr(A, "__matmul__"):
        raise TypeError(f"A is {type(A).__name__}; a matrix, an operator or a function v -> A v is needed")
    return lambda v: np.asarray(A @ v)
