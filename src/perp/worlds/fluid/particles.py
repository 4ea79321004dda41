"""What is asked of all particles at once. Column by column: sums and maxima along short rows take ten times as long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.worlds.answers import OVERFLOWING

Floats = NDArray[np.float64]


def is_sound(numbers: Floats) -> bool:
    """Whether every number is finite, and so are products of them."""
    return bool(numbers.min(initial=0.0) > -OVERFLOWING and numbers.max(initial=0.0) < OVERFLOWING)


def find_outside(position: Floats, lower: Vector, upper: Vector) -> int | None:
    """The number of a particle outside of a box, or None."""
    for along, first, last in zip(position.T, lower, upper, strict=True):
        if along.min(initial=first) < first or along.max(initial=first) > last:
            return int(np.argmax((along < first) | (along > last)))
    return None


def fastest_of(velocity: Floats) -> float:
    """The largest speed [m/s]; 0 without particles."""
    squares = np.zeros(len(velocity))
    for along in velocity.T:
        squares += along * along
    return float(np.sqrt(squares.max(initial=0.0)))


def mean_height(position: Floats, gravity: Vector) -> float:
    """Against gravity, or along the last axis where there is none [m]; 0 without particles."""
    if not len(position):
        return 0.0
    strength = float(np.linalg.norm(gravity))
    up = -gravity / strength if strength > 0.0 else np.eye(gravity.size)[-1]
    return float(np.array([along.mean() for along in position.T]) @ up)
