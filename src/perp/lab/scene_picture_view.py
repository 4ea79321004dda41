"""What pictures of the plane and of space share: how much of the world they show, and in which colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from perp.recording.shapes import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]

TINTS = ("#a9c4de", "#b7cdb4", "#dccba6", "#c7b9d4", "#aeb9c6", "#d9b8ae")
"""Of bodies to which the scene gave no colour; soft, so that forces stand out."""

FIXED = "#cdd2d9"
"""Of what does not move."""

WIDEST, TALLEST = 9.0, 8.0
"""Inches."""

DPI = 150
"""Pixels an inch."""

FAR = 20.0
"""Bodies that are so many times as far away as the third quarter of them do not set the size of the picture."""


class View(Protocol):
    """A picture of one frame: its size [inches], and its limits (lower and upper corner)."""

    size: tuple[float, float]
    limits: Points

    def draw(self, axes: Axes) -> None: ...


class BodyView(View, Protocol):
    """One of bodies, on which forces are drawn: how points come to stand, and how long the largest force is [m]."""

    force_length: float

    def project(self, points: Points) -> Points: ...


def colour_of(shape: Shape) -> tuple[float, float, float]:
    if shape.color is not None:
        return shape.color
    text = FIXED if shape.body < 0 else TINTS[shape.body % len(TINTS)]
    red, green, blue = (int(text[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue


def near(centres: Points) -> NDArray[np.bool_]:
    """Which of these points are not far away from most of them."""
    distance = np.abs(centres - np.median(centres, axis=0)).max(axis=1)
    usual = max(float(np.quantile(distance, 0.75, method="lower")), np.finfo(float).tiny)
    is_near: NDArray[np.bool_] = distance <= FAR * usual
    return is_near


def enclose(lower: Points, upper: Points, margin: float = 0.06) -> Points:
    """The corners of a rectangle around boxes, with a margin, and neither very flat nor very thin."""
    low, high = lower.min(axis=0), upper.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    half = np.maximum(half, max(float(half.max()), 1e-9) / 4.0)
    return np.stack([middle - (1.0 + margin) * half, middle + (1.0 + margin) * half])


def figure_size(limits: Points, around: tuple[float, float]) -> tuple[float, float]:
    """Inches for a picture with these limits, with so much room around it for what stands beside it."""
    width, height = limits[1] - limits[0]
    scale = min((WIDEST - around[0]) / width, (TALLEST - around[1]) / height)
    return max(5.0, float(scale * width) + around[0]), float(scale * height) + around[1]
