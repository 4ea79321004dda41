"""Numbers of bodies and walls as a caller gives them: one for all or one each; checked, then read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_matrix, as_vector, freeze


def one_each(value: Any, name: str, count: int, *, infinite: bool = False) -> Vector:
    """A number for all, or `count` of them."""
    return as_vector(np.full(count, value) if np.ndim(value) == 0 else value, name, count, infinite=infinite)


def one_each_within(value: Any, name: str, count: int, least: float, most: float = np.inf) -> Vector:
    """The same, each of at least `least` and at most `most`."""
    numbers = one_each(value, name, count)
    bad = np.flatnonzero((numbers < least) | (numbers > most))
    if bad.size:
        limits = f"at least {least:g}" if np.isinf(most) else f"in {least:g}..{most:g}"
        raise InvalidProblem(f"{name}[{bad[0]}] is {numbers[bad[0]]}; a number {limits} is needed")
    return numbers


def one_each_positive(value: Any, name: str, count: int, *, infinite: bool = False) -> Vector:
    """The same, each above zero, and not so near to it that its inverse would be infinite."""
    numbers = one_each(value, name, count, infinite=infinite)
    with np.errstate(divide="ignore", over="ignore"):
        bad = np.flatnonzero(~((numbers > 0.0) & np.isfinite(1.0 / numbers)))
    if bad.size:
        raise InvalidProblem(f"{name}[{bad[0]}] is {numbers[bad[0]]}; a positive number is needed")
    return numbers


def points(value: Any, name: str, count: int | None = None) -> NDArray[np.float64]:
    """One point (x, y) each; for a given count also one vector for all, or the number zero."""
    if count is not None and np.ndim(value) < 2:
        given = np.asarray(value)
        if given.ndim == 0 and given != 0:
            raise TypeError(f"{name} is {value!r}; vectors (x, y) are needed")
        value = np.tile(given if given.ndim else np.zeros(2), (count, 1))
    matrix = as_matrix(value, name)
    if matrix.shape[1] != 2 or (count is not None and matrix.shape[0] != count):
        raise InvalidProblem(f"{name} has shape {matrix.shape}; {'n' if count is None else count} x 2 is needed")
    return matrix


def one_point(value: Any, name: str) -> Vector:
    return as_vector(value, name, 2)


def pack(*columns: Vector) -> Vector:
    """Columns side by side, flat and read-only: what kernels read."""
    return freeze(np.column_stack(columns).reshape(-1).astype(np.float64))
