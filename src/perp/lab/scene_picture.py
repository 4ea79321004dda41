"""A frame as a picture: bodies and the forces between them, or a liquid. Drawn with Matplotlib, without pyplot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from perp.lab.figures import require_matplotlib
from perp.lab.palette import INK, PAPER, SERIES
from perp.lab.scene_picture_view import DPI, BodyView, View
from perp.recording.frame import Frame, LiquidFrame, LiquidGrid
from perp.recording.shapes import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WEAKEST = 1e-3
"""Forces below this share of the largest are not drawn."""


Scenery = Sequence[Shape] | LiquidGrid
"""What a frame does not tell, as it stays: the shapes of bodies (`world.shapes()`), or the vessel of a liquid
(`world.grid()`)."""


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
    require_matplotlib()
    from matplotlib.figure import Figure

    view = _choose_view(frame, scenery)
    figure = Figure(figsize=view.size)
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
    from perp.lab.scene_picture_liquid import LiquidPlaneView
    from perp.lab.scene_picture_liquid_space import LiquidSpaceView
    from perp.lab.scene_picture_plane import PlaneView
    from perp.lab.scene_picture_space import SpaceView

    if not isinstance(frame, Frame | LiquidFrame):
        raise TypeError(f"frame is a {type(frame).__name__}; what world.frame(report) returns is needed")
    is_flat = frame.dimension == 2
    if isinstance(frame, LiquidFrame):
        if not isinstance(scenery, LiquidGrid):
            raise TypeError(f"a frame of a liquid is drawn with world.grid(), not with a {type(scenery).__name__}")
        return (LiquidPlaneView if is_flat else LiquidSpaceView)(frame, scenery)
    if isinstance(scenery, LiquidGrid):
        raise TypeError("a frame of bodies is drawn with world.shapes(), not with a LiquidGrid")
    return (PlaneView if is_flat else SpaceView)(frame, scenery)


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
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    if not len(frame.contacts.gap):
        return
    lines, share = force_lines(frame, view.force_length)
    if not len(lines):
        return
    drawn = view.project(lines.reshape(-1, frame.dimension)).reshape(-1, 2, 2)
    colour = SERIES[1].light
    width = 0.5 + 1.5 * share
    axes.add_collection(LineCollection(list(drawn), colors=PAPER.light, linewidths=width + 1.2, alpha=0.7, zorder=5))
    axes.add_collection(LineCollection(list(drawn), colors=colour, linewidths=width, capstyle="round", zorder=6))
    largest = float(np.linalg.norm(frame.contacts.impulse, axis=1).max())
    told = f"largest contact force {largest / dt:.3g} N" if dt else f"largest contact impulse {largest:.3g} N s"
    sample = Line2D([], [], color=colour, linewidth=2.0, solid_capstyle="round")
    count = len(frame.contacts.gap)
    axes.figure.legend(
        handles=[sample],
        labels=[f"{told}; {count:,} contact{'s' if count > 1 else ''}"],
        loc="outside lower right",
        frameon=False,
        fontsize=9,
        labelcolor=INK.light,
    )
