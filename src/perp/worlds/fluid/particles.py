"""Particles: those to begin with, as many an axis in every cell, and what is asked of all of them at once.

Questions go column by column: sums and maxima along short rows take ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, require_count, require_share
from perp.worlds.fluid.grid import StaggeredGrid
from perp.worlds.world import OVERFLOWING

Floats = NDArray[np.float64]


def seed_particles(
    inside: Callable[[NDArray[np.float64]], Any],
    cells: Sequence[int],
    spacing: float,
    origin: Any = None,
    per_axis: int = 2,
    jitter: float = 0.0,
    seed: int = 0,
) -> NDArray[np.float64]:
    """n x d positions [m]: the middles of `per_axis`^d parts of every cell, where `inside` says so.

    `inside` takes m x d points and returns m truth values, or m distances, which are negative inside. Each point is
    moved by up to `jitter` halves of its part along each axis, at random (it stays in its part).
    """
    if not callable(inside):
        raise TypeError(f"inside is {inside!r}; a function of points is needed")
    require_count(per_axis, "per_axis", least=1)
    require_share(jitter, "jitter")
    require_count(seed, "seed")
    grid = StaggeredGrid(cells, spacing, origin)
    parts = StaggeredGrid([per_axis * count for count in grid.cells], grid.spacing / per_axis, grid.origin)
    points = parts.middle_points()
    if jitter:
        draw = np.random.default_rng(seed)
        points += 0.5 * jitter * parts.spacing * draw.uniform(-1.0, 1.0, points.shape)
    answer = np.asarray(inside(points))
    if answer.shape != (len(points),) or answer.dtype.kind not in "biuf":
        raise InvalidProblem(
            f"inside returned an array of shape {answer.shape} and type {answer.dtype} for {len(points)} points; "
            "one truth value or distance each is needed"
        )
    if np.isnan(answer).any():
        raise InvalidProblem(f"inside returned NaN for {points[int(np.isnan(answer).argmax())].tolist()}")
    return np.ascontiguousarray(points[answer if answer.dtype.kind == "b" else answer < 0.0])


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
