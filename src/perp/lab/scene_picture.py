"""A frame as a picture: bodies and the forces between them, or a liquid. Drawn with Matplotlib, without pyplot.

Views of bodies are in `scene_picture_bodies`, of liquids in `scene_picture_liquid`. What they share is here: colours,
how much of the world they show, and how space is seen from afar.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from perp.extras import matplotlib
from perp.lab import scene_picture_bodies, scene_picture_liquid
from perp.lab.palette import INK, LINE, MUTED, PAPER, SERIES
from perp.recording.frame import Frame, LiquidFrame, LiquidGrid, Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = NDArray[np.float64]

Picture = NDArray[np.float32]

Scenery = Sequence[Shape] | LiquidGrid
"""What a frame does not tell, as it stays: the shapes of bodies (`world.shapes()`), or the vessel of a liquid
(`world.grid()`)."""

WEAKEST = 1e-3
"""Forces below this share of the largest are not drawn."""

FIXED = "#cdd2d9"
"""The colour of what does not move."""

WIDEST, TALLEST = 9.0, 8.0
"""Inches."""

DPI = 150
"""Pixels per inch."""

AZIMUTH, ELEVATION = np.radians(-62.0), np.radians(21.0)
"""Where the viewer stands, counted from the x axis and from the horizon."""

AMBIENT, DIFFUSE = 0.5, 0.55
"""Light from all sides, and from the upper left."""

LIGHT = np.array([-0.45, 0.75, 0.6]) / np.linalg.norm([-0.45, 0.75, 0.6])
"""Where the light comes from, along the rows of `view_axes`."""


def draw_frame(
    frame: Frame | LiquidFrame,
    scenery: Scenery,
    path: str | os.PathLike[str],
    *,
    dt: float | None = None,
    title: str = "",
) -> None:
    """Draw a frame to a file; its suffix chooses the format.

    Bodies: each contact force is a line through the contact, as long as the force is large beside the largest one.
    `dt`, the step that the impulses belong to [s], turns them into forces for the legend. A liquid: particles (in space
    the surface that they make) by speed, and cells that separate from a wall.
    """
    make_figure(frame, scenery, dt=dt, title=title).savefig(path, dpi=DPI, facecolor=PAPER.light)


def make_figure(frame: Frame | LiquidFrame, scenery: Scenery, *, dt: float | None = None, title: str = "") -> Figure:
    """The same as a Matplotlib figure."""
    matplotlib.require()
    view = _choose_view(frame, scenery)
    figure: Figure = matplotlib.figure.Figure(figsize=view.size)
    figure.set_layout_engine("constrained", h_pad=0.1, w_pad=0.1)
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.set_xlim(*view.limits[:, 0])
    axes.set_ylim(*view.limits[:, 1])
    view.draw(axes)
    if isinstance(frame, Frame):
        _draw_forces(axes, frame, cast("BodyView", view), dt)
    if title:
        axes.set_title(title, color=INK.light, fontsize=11, loc="left")
    return figure


def _choose_view(frame: Frame | LiquidFrame, scenery: Scenery) -> View:
    if not isinstance(frame, Frame | LiquidFrame):
        raise TypeError(f"frame is a {type(frame).__name__}; what world.frame(report) returns is needed")
    is_flat = frame.dimension == 2
    if isinstance(frame, LiquidFrame):
        if not isinstance(scenery, LiquidGrid):
            raise TypeError(f"a frame of a liquid is drawn with world.grid(), not with a {type(scenery).__name__}")
        return (scene_picture_liquid.LiquidPlaneView if is_flat else scene_picture_liquid.LiquidSpaceView)(
            frame, scenery
        )
    if isinstance(scenery, LiquidGrid):
        raise TypeError("a frame of bodies is drawn with world.shapes(), not with a LiquidGrid")
    return (scene_picture_bodies.PlaneView if is_flat else scene_picture_bodies.SpaceView)(frame, scenery)


def force_lines(frame: Frame, length: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """m x 2 x d ends of lines centred at the contacts, and the share of the largest impulse that each stands for.

    The largest has this length; impulses that are too small to be seen have no line.
    """
    impulse = frame.contacts.impulse
    with np.errstate(all="ignore"):
        size = np.linalg.norm(impulse, axis=1)
    size = np.where(np.isfinite(size), size, 0.0)
    largest = size.max(initial=0.0)
    drawn = np.flatnonzero(size > WEAKEST * largest)
    half = 0.5 * length * impulse[drawn] / largest
    point = frame.contacts.point[drawn]
    return np.stack([point - half, point + half], axis=1), size[drawn] / largest


def _draw_forces(axes: Axes, frame: Frame, view: BodyView, dt: float | None) -> None:
    if not len(frame.contacts.gap):
        return
    lines, share = force_lines(frame, view.force_length)
    if not len(lines):
        return
    drawn = view.project(lines.reshape(-1, frame.dimension)).reshape(-1, 2, 2)
    colour = SERIES[1].light
    width = 0.5 + 1.5 * share
    axes.add_collection(
        matplotlib.collections.LineCollection(
            list(drawn), colors=PAPER.light, linewidths=width + 1.2, alpha=0.7, zorder=5
        )
    )
    axes.add_collection(
        matplotlib.collections.LineCollection(list(drawn), colors=colour, linewidths=width, capstyle="round", zorder=6)
    )
    largest = float(np.linalg.norm(frame.contacts.impulse, axis=1).max())
    told = f"largest contact force {largest / dt:.3g} N" if dt else f"largest contact impulse {largest:.3g} N s"
    sample = matplotlib.lines.Line2D([], [], color=colour, linewidth=2.0, solid_capstyle="round")
    count = len(frame.contacts.gap)
    add_note(axes, sample, f"{told}; {count:,} contact{'s' if count > 1 else ''}")


class View(Protocol):
    """A picture of one frame: its size [inches], and its limits (lower and upper corner)."""

    size: tuple[float, float]
    limits: Points

    def draw(self, axes: Axes) -> None: ...


class BodyView(View, Protocol):
    """One of bodies, on which forces are drawn: how points come to stand, and how long the largest force is [m]."""

    force_length: float

    def project(self, points: Points) -> Points: ...


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


def draw_metres(axes: Axes) -> None:
    """The axes of the plane."""
    axes.set_xlabel("x [m]", color=INK.light)
    axes.set_ylabel("y [m]", color=INK.light)
    axes.tick_params(color=LINE.light, labelcolor=INK.light, labelsize=9)
    for spine in axes.spines.values():
        spine.set_color(LINE.light)


def add_note(axes: Axes, sample: Any, told: str) -> None:
    """A legend of one line, below the picture."""
    axes.figure.legend(
        handles=[sample], labels=[told], loc="outside lower right", frameon=False, fontsize=9, labelcolor=INK.light
    )


def view_axes() -> Points:
    """Rows: to the right, upwards, and to the viewer."""
    c, s, e, up = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    return np.array([[-s, c, 0.0], [-up * c, -up * s, e], [e * c, e * s, up]])


class FarView:
    """Space seen from afar at an angle. Its axes are the plane that the viewer looks at, in metres."""

    axes: Points
    limits: Points
    size: tuple[float, float]

    def __init__(self) -> None:
        self.axes = view_axes()

    def project(self, points: Points) -> Points:
        flat: Points = points @ self.axes[:2].T
        return flat

    def render(self) -> Picture:
        """height x width x 4 (red, green, blue, opaqueness), from below upwards; clear where nothing is."""
        raise NotImplementedError

    def draw_rendered(self, axes: Axes) -> None:
        """The picture, with a bar of a round length in the corner: there are no axes to read it from."""
        (left, bottom), (right, top) = self.limits.tolist()
        axes.imshow(self.render(), extent=(left, right, bottom, top), origin="lower", zorder=2)
        width, height = self.limits[1] - self.limits[0]
        length = round_length(0.2 * width)
        x, y = self.limits[0] + [0.02 * width, 0.02 * height]
        axes.plot([x, x + length], [y, y], color=INK.light, linewidth=1.6, solid_capstyle="butt", zorder=7)
        axes.annotate(
            f"{length:g} m", (x, y), (2, 4), textcoords="offset points", fontsize=9, color=MUTED.light, zorder=7
        )


def count_pixels(size: tuple[float, float], around: tuple[float, float]) -> tuple[int, int]:
    """Twice as many each way as are shown of a figure of this size with so much beside it [inches]: `average` makes
    edges smooth."""
    width, height = np.maximum(np.ceil((np.array(size) - around) * DPI), 1)
    return 2 * int(width), 2 * int(height)


def average(picture: Picture) -> Picture:
    """Half as many pixels each way; colours weighted by how opaque they are."""
    height, width, _ = picture.shape
    blocks = picture.reshape(height // 2, 2, width // 2, 2, 4)
    opaque = blocks[..., 3:]
    total = opaque.sum(axis=(1, 3))
    colour = (blocks[..., :3] * opaque).sum(axis=(1, 3)) / np.where(total > 0.0, total, 1.0)
    return np.concatenate([colour, total / 4.0], axis=2)


def neighbours(axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """All pixels but the last, and all but the first, along an axis of a picture."""
    before = (slice(None),) * axis
    return (*before, slice(None, -1)), (*before, slice(1, None))


def round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, not more than `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= length * (1.0 + 1e-12)))
