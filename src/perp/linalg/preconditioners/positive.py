"""Diagonals made positive, so that what is built on them is positive definite whatever the matrix is."""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector


def positive_diagonal(diagonal: Vector, shift: Vector) -> Vector:
    """|A_ii + shift_i|, and 1 where that is zero: a row without a diagonal entry is left as it is."""
    size = np.abs(diagonal + shift)
    size[size == 0.0] = 1.0
    return size
