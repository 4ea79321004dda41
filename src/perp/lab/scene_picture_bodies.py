"""Pictures of bodies: discs and walls in the plane, or solid bodies in space.

The plane has axes in metres. Space is seen from afar: shaded, outlined, with shadows on the ground and a scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from perp.lab.palette import INK, LINE, MUTED
from perp.lab.scene_picture import (
    AMBIENT,
    DIFFUSE,
    FIXED,
    LIGHT,
    FarView,
    Picture,
    Points,
    average,
    count_pixels,
    draw_metres,
    enclose,
    figure_size,
    neighbours,
    round_length,
)
from perp.lab.scene_picture_triangles import NOTHING, Surface, find_covered, find_nearest, linear_over, make_surface
from perp.recording.frame import Frame, Shape, place_shapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = NDArray[np.int64]

TINTS = ("#a9c4de", "#b7cdb4", "#dccba6", "#c7b9d4", "#aeb9c6", "#d9b8ae")
"""Of bodies to which the scene gave no colour; soft, so that forces stand out."""

AROUND_PLANE, AROUND_SPACE = (0.9, 1.1), (0.2, 0.6)
"""Inches beside a picture."""

FAR = 20.0
"""Bodies that are so many times as far away as the third quarter of them do not set the size of the picture."""

IN_SIGHT = 1.0
"""A half plane is shown when it is no farther from the bodies than so many times their extent."""

SHARP = 0.75
"""Neighbouring pixels of one body whose normals have a smaller cosine between them lie on two sides of an edge."""

EDGE, SHADOW = 0.45, 0.13
"""How much an outline keeps of the colour, and how dark a shadow is."""

BAND = 64
"""Rows of pixels that are shaded at a time."""

LARGE = 3.0
"""What does not move and is so many times as large as all that does may be cut off at the side of the picture."""


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
        self.size: tuple[float, float] = figure_size(self.limits, AROUND_PLANE)
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
        draw_metres(axes)
        axes.grid(True, color=LINE.light, linewidth=0.6)
        axes.set_axisbelow(True)

    def _draw_discs(self, axes: Axes) -> None:
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
        axes.add_collection(LineCollection(self.segments, colors=INK.light, linewidths=2.0, capstyle="round", zorder=4))

    def _draw_half_planes(self, axes: Axes) -> None:
        """What lies behind the edge is solid: filled, as far as the picture goes."""
        reach = 2.0 * float((self.limits[1] - self.limits[0]).sum())
        middle = self.limits.mean(axis=0)
        for point, normal in self.half_planes:
            foot = middle - np.dot(middle - point, normal) * normal
            along = reach * np.array([-normal[1], normal[0]])
            corners = [foot - along, foot + along, foot + along - reach * normal, foot - along - reach * normal]
            axes.add_patch(Polygon(corners, facecolor=FIXED, edgecolor=INK.light, linewidth=1.2, zorder=1))


class SpaceView(FarView):
    """A picture of solid bodies."""

    def __init__(self, frame: Frame, shapes: Sequence[Shape]) -> None:
        super().__init__()
        self.light: NDArray[np.float64] = _unit(LIGHT @ self.axes)
        self.shapes = shapes
        self.surface: Surface = make_surface(frame, shapes)
        self.ground: float | None = self._find_ground(frame)
        self.limits, typical = self._find_limits(frame)
        self.size = figure_size(self.limits, AROUND_SPACE)
        span = float((self.limits[1] - self.limits[0]).max())
        self.force_length: float = float(np.clip(0.9 * typical, 0.04 * span, 0.15 * span))

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
        self.draw_rendered(axes)

    def render(self) -> Picture:
        width, height = count_pixels(self.size, AROUND_SPACE)
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
        colour = np.array([colour_of(shape) for shape in self.shapes], dtype=np.float32).reshape(-1, 3)
        owner = np.full(number.shape, NOTHING, dtype=np.int32)
        slope = np.zeros((*number.shape, 3), dtype=np.float32)
        for band in range(0, len(number), BAND):
            y, x = np.nonzero(number[band : band + BAND] != NOTHING)
            y += band
            triangle = number[y, x]
            over = normal_over[triangle]
            across, up = (x + 0.5).astype(np.float32), (y + 0.5).astype(np.float32)
            normal = _unit(over[:, 0] + over[:, 1] * across[:, None] + over[:, 2] * up[:, None])
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
        here, there = neighbours(axis)
        cosine = np.einsum("ijk,ijk->ij", slope[here], slope[there])
        differs = (owner[here] != owner[there]) | (cosine < SHARP)
        edge[here] |= differs & (owner[here] != NOTHING)
        edge[there] |= differs & (owner[here] == NOTHING) & (owner[there] != NOTHING)
    return edge


def colour_of(shape: Shape) -> tuple[float, float, float]:
    if shape.color is not None:
        return shape.color

    return to_rgb(FIXED if shape.body < 0 else TINTS[shape.body % len(TINTS)])


def near(centres: Points) -> NDArray[np.bool_]:
    """Which of these points are not far away from most of them."""
    distance = np.abs(centres - np.median(centres, axis=0)).max(axis=1)
    usual = max(float(np.quantile(distance, 0.75, method="lower")), np.finfo(float).tiny)
    is_near: NDArray[np.bool_] = distance <= FAR * usual
    return is_near


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


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    length[length == 0.0] = 1.0
    of_length_one: NDArray[Any] = vectors / length
    return of_length_one
