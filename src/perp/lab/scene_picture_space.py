"""Solid bodies in space, seen from afar at an angle: shaded, outlined, with shadows on the ground and a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perp.lab.palette import LINE
from perp.lab.scene_picture_camera import (
    AMBIENT,
    AROUND,
    DIFFUSE,
    LIGHT,
    Picture,
    average,
    count_pixels,
    draw_scale,
    round_length,
    unit,
    view_axes,
)
from perp.lab.scene_picture_raster import NOTHING, find_covered, find_nearest, linear_over
from perp.lab.scene_picture_surfaces import Surface, colours, make_surface
from perp.lab.scene_picture_view import Points, enclose, figure_size, near
from perp.recording.frame import Frame
from perp.recording.shapes import Shape, place_shapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = NDArray[np.int64]

SHARP = 0.75
"""Neighbouring pixels of one body whose normals have a smaller cosine between them lie on two sides of an edge."""

EDGE, SHADOW = 0.45, 0.13
"""How much an outline keeps of the colour, and how dark a shadow is."""

BAND = 64
"""Rows of pixels that are shaded at a time."""

LARGE = 3.0
"""What does not move and is so many times as large as all that does may be cut off at the side of the picture."""


class SpaceView:
    """A picture of solid bodies. Its axes are the plane that the viewer looks at, in metres."""

    limits: Points

    def __init__(self, frame: Frame, shapes: Sequence[Shape]) -> None:
        self.axes: Points = view_axes()
        self.light: NDArray[np.float64] = unit(LIGHT @ self.axes)
        self.shapes = shapes
        self.surface: Surface = make_surface(frame, shapes)
        self.ground: float | None = self._find_ground(frame)
        self.limits, typical = self._find_limits(frame)
        self.size: tuple[float, float] = figure_size(self.limits, AROUND)
        span = float((self.limits[1] - self.limits[0]).max())
        self.force_length: float = float(np.clip(0.9 * typical, 0.04 * span, 0.15 * span))

    def project(self, points: Points) -> Points:
        flat: Points = points @ self.axes[:2].T
        return flat

    def _find_ground(self, frame: Frame) -> float | None:
        """The height of a level plane, if there is one."""
        planes = [shape for shape in self.shapes if shape.form == "plane" and shape.body < 0]
        if not planes:
            return None
        origin, axes = place_shapes(frame, planes)
        level = np.flatnonzero(axes[:, 2, 2] > 1.0 - 1e-9)
        return float(origin[level, 2].max()) if level.size else None

    def _find_limits(self, frame: Frame) -> tuple[Points, float]:
        """Around all that moves, and what stands still unless it is very large; and the size of a typical body."""
        shown = near(frame.position)
        if not len(self.surface.shape):
            placed = self.project(frame.position[shown])
            return enclose(placed, placed), 0.0
        count = len(self.shapes)
        corner = self.project(self.surface.corner.reshape(-1, 3))
        owner = np.repeat(self.surface.shape, 3)
        lower, upper = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
        np.minimum.at(lower, owner, corner)
        np.maximum.at(upper, owner, corner)
        body = np.array([shape.body for shape in self.shapes])
        exists = np.isfinite(lower).all(axis=1)
        moving = exists & (body >= 0) & shown[body]
        if not moving.any():
            moving = exists
        box = enclose(lower[moving], upper[moving], 0.0)
        reach = LARGE * (box[1] - box[0]).max()
        fixed = exists & (body < 0) & ((upper - lower).max(axis=1) <= reach)
        kept = moving | fixed
        return enclose(lower[kept], upper[kept]), float(np.median((upper - lower)[moving].max(axis=1)))

    def draw(self, axes: Axes) -> None:
        axes.set_axis_off()
        if self.ground is not None:
            self._draw_grid(axes, self.ground)
        (left, bottom), (right, top) = self.limits.tolist()
        axes.imshow(self.render(), extent=(left, right, bottom, top), origin="lower", zorder=2)
        draw_scale(axes, self.limits)

    def render(self) -> Picture:
        """height x width x 4 (red, green, blue, opaqueness), from below upwards; clear where no body is."""
        width, height = count_pixels(self.size)
        extent = self.limits[1] - self.limits[0]
        to_pixels = np.array([width, height]) / extent
        seen = self._facing()
        corner = self.surface.corner[seen]
        flat = (self.project(corner) - self.limits[0]) * to_pixels
        number = find_nearest(flat, corner @ self.axes[2], width, height)
        picture = np.zeros((height, width, 4), dtype=np.float32)
        if self.ground is not None:
            picture[..., 3] = SHADOW * self._shadow(self.ground, to_pixels, width, height)
        self._shade(picture, number, flat, seen)
        return average(picture)

    def _facing(self) -> Numbers:
        """Numbers of the triangles that can be seen: of closed bodies those that face the viewer."""
        a, b, c = self.surface.corner.transpose(1, 0, 2)
        faces = np.cross(b - a, c - a) @ self.axes[2] > 0.0
        return np.flatnonzero(faces | ~self.surface.is_closed)

    def _shade(self, picture: Picture, number: Numbers, flat: Points, seen: Numbers) -> None:
        """Lambert's law with light from the upper left, and dark lines along the edges of bodies."""
        normal_over = linear_over(flat, self.surface.normal[seen]).astype(np.float32)
        to_viewer, light = self.axes[2].astype(np.float32), self.light.astype(np.float32)
        colour = colours(self.shapes).astype(np.float32)
        owner = np.full(number.shape, NOTHING, dtype=np.int32)
        slope = np.zeros((*number.shape, 3), dtype=np.float32)
        for band in range(0, len(number), BAND):
            y, x = np.nonzero(number[band : band + BAND] != NOTHING)
            y += band
            triangle = number[y, x]
            over = normal_over[triangle]
            across, up = (x + 0.5).astype(np.float32), (y + 0.5).astype(np.float32)
            normal = unit(over[:, 0] + over[:, 1] * across[:, None] + over[:, 2] * up[:, None])
            normal *= np.sign(normal @ to_viewer)[:, None]  # meshes may be turned inside out
            shape = self.surface.shape[seen][triangle]
            brightness = AMBIENT + DIFFUSE * np.maximum(normal @ light, 0.0)
            picture[y, x, :3] = np.minimum(colour[shape] * brightness[:, None], 1.0)
            picture[y, x, 3] = 1.0
            owner[y, x], slope[y, x] = shape, normal
        picture[_edges(owner, slope), :3] *= EDGE

    def _shadow(self, ground: float, to_pixels: Points, width: int, height: int) -> NDArray[np.bool_]:
        corner = self.surface.corner
        down = (corner[..., 2:] - ground) / self.light[2]
        fallen = self.project(corner - np.maximum(down, 0.0) * self.light)
        return find_covered((fallen - self.limits[0]) * to_pixels, width, height)

    def _draw_grid(self, axes: Axes, ground: float) -> None:
        """Lines on the ground at round distances, as far as the picture goes."""
        from matplotlib.collections import LineCollection

        corners = np.array([(x, y) for x in self.limits[:, 0] for y in self.limits[:, 1]])
        on_plane = self._onto_ground(corners, ground)
        pitch = round_length(0.12 * float((self.limits[1] - self.limits[0]).max()))
        first = np.floor(on_plane.min(axis=0) / pitch).astype(int)
        last = np.ceil(on_plane.max(axis=0) / pitch).astype(int)
        lines = [((k, first[1]), (k, last[1])) for k in range(first[0], last[0] + 1)]
        lines += [((first[0], k), (last[0], k)) for k in range(first[1], last[1] + 1)]
        flat = pitch * np.array(lines, dtype=np.float64).reshape(-1, 2)
        points = np.column_stack([flat, np.full(len(flat), ground)])
        drawn = self.project(points).reshape(-1, 2, 2)
        axes.add_collection(LineCollection(list(drawn), colors=LINE.light, linewidths=0.7, zorder=1))

    def _onto_ground(self, points: Points, ground: float) -> Points:
        """The x and y of those points of the ground that the viewer sees at these places."""
        system = np.array([self.axes[0], self.axes[1], [0.0, 0.0, 1.0]])
        right = np.column_stack([points, np.full(len(points), ground)])
        solved: Points = np.linalg.solve(system, right.T).T[:, :2]
        return solved


def _edges(owner: NDArray[np.int32], slope: Picture) -> NDArray[np.bool_]:
    """Pixels beside one of another body, or of another side of the same."""
    edge = np.zeros(owner.shape, dtype=np.bool_)
    for axis in (0, 1):
        here, there = _but_last(axis), _but_first(axis)
        cosine = np.einsum("ijk,ijk->ij", slope[here], slope[there])
        differs = (owner[here] != owner[there]) | (cosine < SHARP)
        edge[here] |= differs & (owner[here] != NOTHING)
        edge[there] |= differs & (owner[here] == NOTHING) & (owner[there] != NOTHING)
    return edge


def _but_last(axis: int) -> tuple[slice, ...]:
    return (slice(None),) * axis + (slice(None, -1),)


def _but_first(axis: int) -> tuple[slice, ...]:
    return (slice(None),) * axis + (slice(1, None),)
