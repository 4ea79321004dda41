"""Discs and walls in the plane, with axes in metres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perp.lab.palette import INK, LINE, MUTED
from perp.lab.scene_picture_view import FIXED, Points, colour_of, enclose, figure_size, near
from perp.recording.frame import Frame
from perp.recording.shapes import Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

IN_SIGHT = 1.0
"""A half plane is shown when it is no farther from the bodies than so many times their extent."""


class PlaneView:
    """A picture of discs."""

    def __init__(self, frame: Frame, shapes: Sequence[Shape]) -> None:
        self.discs: list[Shape] = [shape for shape in shapes if shape.form == "disc"]
        self.radius: NDArray[np.float64] = np.array([shape.size[0] for shape in self.discs])
        poses = [_pose(frame, shape) for shape in self.discs]
        self.centre: NDArray[np.float64] = np.array([centre for centre, _ in poses]).reshape(-1, 2)
        self.angle: NDArray[np.float64] = np.array([angle for _, angle in poses])
        self.segments: list[Points] = [_placed(frame, shape) for shape in shapes if shape.form == "segment"]
        self.half_planes: list[NDArray[np.float64]] = [shape.vertices for shape in shapes if shape.form == "half_plane"]
        self.limits: Points = self._find_limits(frame)
        self.size: tuple[float, float] = figure_size(self.limits, (0.9, 1.1))
        span = float((self.limits[1] - self.limits[0]).max())
        typical = 2.0 * float(np.median(self.radius)) if self.discs else 0.1 * span
        self.force_length: float = float(np.clip(1.5 * typical, 0.05 * span, 0.25 * span))

    def _find_limits(self, frame: Frame) -> Points:
        if self.discs:
            shown = near(self.centre)
            reach = self.radius[shown, None]
            lower, upper = self.centre[shown] - reach, self.centre[shown] + reach
        else:
            lower = upper = frame.position[near(frame.position)]
        for ends in self.segments:
            lower, upper = np.vstack([lower, ends]), np.vstack([upper, ends])
        box = enclose(lower, upper, 0.0)
        middle, extent = box.mean(axis=0), float((box[1] - box[0]).max())
        for point, normal in self.half_planes:
            foot = middle - np.dot(middle - point, normal) * normal
            if np.abs(foot - middle).max() <= (0.5 + IN_SIGHT) * extent:
                lower, upper = np.vstack([lower, foot]), np.vstack([upper, foot])
        return enclose(lower, upper)

    def project(self, points: Points) -> Points:
        return points

    def draw(self, axes: Axes) -> None:
        self._draw_half_planes(axes)
        self._draw_discs(axes)
        self._draw_segments(axes)
        axes.set_xlabel("x [m]", color=INK.light)
        axes.set_ylabel("y [m]", color=INK.light)
        axes.tick_params(color=LINE.light, labelcolor=INK.light, labelsize=9)
        axes.grid(True, color=LINE.light, linewidth=0.6)
        axes.set_axisbelow(True)
        for spine in axes.spines.values():
            spine.set_color(LINE.light)

    def _draw_discs(self, axes: Axes) -> None:
        from matplotlib.collections import EllipseCollection, LineCollection

        if not self.discs:
            return
        shown = self.size[0] * 72.0 * 2.0 * float(np.median(self.radius)) / float(self.limits[1, 0] - self.limits[0, 0])
        edge = float(np.clip(0.04 * shown, 0.1, 0.8))
        width = 2.0 * self.radius
        axes.add_collection(
            EllipseCollection(
                width,
                width,
                np.zeros_like(width),
                units="xy",
                offsets=self.centre,
                offset_transform=axes.transData,
                facecolors=[colour_of(shape) for shape in self.discs],
                edgecolors=INK.light,
                linewidths=edge,
                zorder=2,
            )
        )
        rim = self.centre + self.radius[:, None] * np.column_stack([np.cos(self.angle), np.sin(self.angle)])
        marks = np.stack([self.centre, rim], axis=1)
        axes.add_collection(LineCollection(list(marks), colors=MUTED.light, linewidths=edge, zorder=3))

    def _draw_segments(self, axes: Axes) -> None:
        from matplotlib.collections import LineCollection

        axes.add_collection(LineCollection(self.segments, colors=INK.light, linewidths=2.0, capstyle="round", zorder=4))

    def _draw_half_planes(self, axes: Axes) -> None:
        """What lies behind the edge is solid: filled, as far as the picture goes."""
        from matplotlib.patches import Polygon

        reach = 2.0 * float((self.limits[1] - self.limits[0]).sum())
        middle = self.limits.mean(axis=0)
        for point, normal in self.half_planes:
            foot = middle - np.dot(middle - point, normal) * normal
            along = reach * np.array([-normal[1], normal[0]])
            corners = [foot - along, foot + along, foot + along - reach * normal, foot - along - reach * normal]
            axes.add_patch(Polygon(corners, facecolor=FIXED, edgecolor=INK.light, linewidth=1.2, zorder=1))


def _pose(frame: Frame, shape: Shape) -> tuple[Points, float]:
    """Where the origin of a shape is, and how its body is turned."""
    own = np.asarray(shape.position[:2])
    if shape.body < 0:
        return own, 0.0
    angle = float(frame.orientation[shape.body, 0])
    return frame.position[shape.body] + _turn(own[None], angle)[0], angle


def _placed(frame: Frame, shape: Shape) -> Points:
    centre, angle = _pose(frame, shape)
    return centre + _turn(shape.vertices, angle)


def _turn(points: Points, angle: float) -> Points:
    c, s = np.cos(angle), np.sin(angle)
    turned: Points = points @ np.array([[c, s], [-s, c]])
    return turned
