"""Sums of the rows of a matrix, with the sign that they have in exact arithmetic."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.linalg.classes.subject import UNIT
from perp.problems.inputs import Vector

SECONDS_A_ROW = 1e-5
"""About what a sum by `fsum` takes."""


def sum_rows(C: Any, seconds: float) -> Vector | None:
    """The sums, each with the right sign; None where that takes longer than `seconds`."""
    sums: Vector = np.asarray(C.sum(axis=1)).reshape(-1)
    sizes = np.asarray(abs(C).sum(axis=1)).reshape(-1)
    doubtful = np.flatnonzero(np.abs(sums) <= 2.0 * (C.shape[1] + 2) * UNIT * sizes)
    if not doubtful.size or _adds_up_exactly(C if isinstance(C, np.ndarray) else C.data, float(sizes.max())):
        return sums
    if doubtful.size * SECONDS_A_ROW > seconds:
        return None
    for i in doubtful:  # `fsum` rounds once
        sums[i] = fsum(C[i] if isinstance(C, np.ndarray) else C.data[C.indptr[i] : C.indptr[i + 1]])
    return sums


def _adds_up_exactly(data: NDArray[np.float64], largest: float) -> bool:
    """Whether all are multiples of a power of two so large that no sum up to `largest` has more than 53 bits."""
    numbers = data[data != 0.0]
    if numbers.size == 0:
        return True
    mantissa, exponent = np.frexp(numbers)
    digits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    _, lowest_bit = np.frexp((digits & -digits).astype(np.float64))
    last_digit = int((exponent - 53 + lowest_bit - 1).min())
    return bool(np.isfinite(largest)) and np.frexp(largest)[1] - last_digit <= 53
