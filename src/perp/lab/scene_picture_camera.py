"""Space seen from afar at an angle: what pictures of bodies and of liquids share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perp.lab.palette import INK, MUTED
from perp.lab.scene_picture_view import DPI, Points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Picture = NDArray[np.float32]

AZIMUTH, ELEVATION = np.radians(-62.0), np.radians(21.0)
"""Where the viewer stands, counted from the x axis and from the horizon."""

AMBIENT, DIFFUSE = 0.5, 0.55
"""Light from all sides, and from the upper left."""

AROUND = (0.2, 0.6)
"""Inches beside a picture of space."""


def view_axes() -> Points:
    """Rows: to the right, upwards, and to the viewer."""
    c, s, e, up = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    return np.array([[-s, c, 0.0], [-up * c, -up * s, e], [e * c, e * s, up]])


LIGHT = np.array([-0.45, 0.75, 0.6]) / np.linalg.norm([-0.45, 0.75, 0.6])
"""Where the light comes from, along the rows of `view_axes`."""


def count_pixels(size: tuple[float, float]) -> tuple[int, int]:
    """Twice as many each way as are shown of a figure of this size [inches]: `average` makes edges smooth."""
    width, height = np.maximum(np.ceil((np.array(size) - AROUND) * DPI), 1)
    return 2 * int(width), 2 * int(height)


def average(picture: Picture) -> Picture:
    """Half as many pixels each way; colours weighted by how opaque they are."""
    height, width, _ = picture.shape
    blocks = picture.reshape(height // 2, 2, width // 2, 2, 4)
    opaque = blocks[..., 3:]
    total = opaque.sum(axis=(1, 3))
    colour = (blocks[..., :3] * opaque).sum(axis=(1, 3)) / np.where(total > 0.0, total, 1.0)
    return np.concatenate([colour, total / 4.0], axis=2)


def unit(vectors: NDArray[Any]) -> NDArray[Any]:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    length[length == 0.0] = 1.0
    of_length_one: NDArray[Any] = vectors / length
    return of_length_one


def draw_scale(axes: Axes, limits: Points) -> None:
    """A bar of a round length in the corner: there are no axes to read it from."""
    width, height = limits[1] - limits[0]
    length = round_length(0.2 * width)
    x, y = limits[0] + [0.02 * width, 0.02 * height]
    axes.plot([x, x + length], [y, y], color=INK.light, linewidth=1.6, solid_capstyle="butt", zorder=7)
    axes.annotate(f"{length:g} m", (x, y), (2, 4), textcoords="offset points", fontsize=9, color=MUTED.light, zorder=7)


def round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, not more than `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= length * (1.0 + 1e-12)))
