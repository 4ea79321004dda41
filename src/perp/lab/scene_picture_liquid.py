"""Pictures of liquids: particles in the plane, or in space the surface that they make, in colours of their speed.

The plane has the solid around the liquid and the cells that separate from it, with axes in metres. In space lines show
what holds the liquid, and each particle is a ball: of the balls at the surface the nearest to the viewer is found at
each pixel, and the heights of the pixels are smoothed before light falls on them, so that balls become a surface.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from contourpy import contour_generator
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion, gaussian_filter

from perp.lab.palette import INK, LINE, MUTED, PAPER, SERIES
from perp.lab.scene_picture import (
    AMBIENT,
    DIFFUSE,
    FIXED,
    LIGHT,
    FarView,
    Picture,
    Points,
    add_note,
    average,
    count_pixels,
    draw_metres,
    enclose,
    figure_size,
    neighbours,
)
from perp.recording.frame import LiquidFrame, LiquidGrid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
Floats = NDArray[np.float64]

COLOURS, DARKEST = "viridis", 0.2
"""Of speeds: even to the eye, also of those who are colour-blind; without the darkest, which shading would hide."""

OUTLIERS = 0.995
"""The share of the particles that the colours reach to: a single drop that flies does not make the others dark."""

DOT = 0.55
"""The width of a particle, in cells."""

AROUND_PLANE, AROUND_SPACE = (1.9, 1.1), (1.7, 0.6)
"""Inches beside the picture, with the bar of colours."""

RIM = 1e-6
"""How far outside the grid its rim is thought to be solid, in cells."""

RADIUS = 0.62
"""Of the ball of a particle, in cells."""

SMOOTH = 0.5
"""How far heights are averaged, in cells."""

EDGE, JUMP = 0.5, 2.5
"""How much an outline keeps of the colour; how far apart the pixels on both sides of it lie, in cells."""

SLICES, SHORTEST = 5, 0.2
"""Lines around a vessel, along each axis; shorter ones than this share of the grid's longest side are left out."""

SCALE_ROOM = 0.05
"""Below the vessel, for the bar that tells lengths: share of the picture's height."""


class LiquidPlaneView:
    """A picture of a liquid, with axes in metres."""

    frame: LiquidFrame
    grid: LiquidGrid

    def __init__(self, frame: LiquidFrame, grid: LiquidGrid) -> None:
        self.frame, self.grid = frame, grid
        corners = np.stack([grid.origin, grid.origin + grid.spacing * np.array(grid.cells)])
        self.limits: Points = enclose(corners, corners, 0.03)
        self.size: tuple[float, float] = figure_size(self.limits, AROUND_PLANE)

    def draw(self, axes: Axes) -> None:
        self._draw_solid(axes)
        colours = colours_of(speeds(self.frame))
        shown = 72.0 * (self.size[0] - AROUND_PLANE[0]) / float(self.limits[1, 0] - self.limits[0, 0])
        axes.scatter(
            self.frame.position[:, 0],
            self.frame.position[:, 1],
            s=max(DOT * self.grid.spacing * shown, 0.7) ** 2,
            c=colours.to_rgba(speeds(self.frame)),
            linewidths=0.0,
            rasterized=True,
            zorder=3,
        )
        self._draw_separating(axes)
        add_colour_bar(axes, colours)
        draw_metres(axes)

    def _draw_solid(self, axes: Axes) -> None:
        """What the signed distance calls solid, and all that lies outside the grid."""
        x, y = (rimmed_nodes(self.grid, axis) for axis in range(2))
        distance = rimmed_distance(self.grid).T
        axes.set_facecolor(FIXED)
        if distance.max() > 0.0:
            axes.contourf(x, y, distance, levels=[0.0, np.inf], colors=[PAPER.light], zorder=1)
            axes.contour(x, y, distance, levels=[0.0], colors=[INK.light], linewidths=1.2, zorder=4)

    def _draw_separating(self, axes: Axes) -> None:
        h = self.grid.spacing
        corner = self.grid.origin + h * np.argwhere(self.frame.separating)
        if not len(corner):
            return
        square = h * np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
        cells = PolyCollection(
            list(corner[:, None] + square), facecolors="none", edgecolors=SERIES[1].light, linewidths=0.9, zorder=5
        )
        axes.add_collection(cells)
        tell_separating(axes, len(corner))


class LiquidSpaceView(FarView):
    """A picture of a liquid in space."""

    frame: LiquidFrame
    grid: LiquidGrid

    def __init__(self, frame: LiquidFrame, grid: LiquidGrid) -> None:
        super().__init__()
        self.frame, self.grid = frame, grid
        self.lines: list[Points] = list(vessel_lines(grid))
        seen = self.project(_ends_of_room(grid))
        # with the balls of particles at walls
        self.limits = enclose(seen - grid.spacing, seen + grid.spacing, 0.03)
        self.limits[0, 1] -= SCALE_ROOM * (self.limits[1, 1] - self.limits[0, 1])
        self.size = figure_size(self.limits, AROUND_SPACE)

    def draw(self, axes: Axes) -> None:
        axes.set_axis_off()
        flat = [self.project(line) for line in self.lines]
        axes.add_collection(LineCollection(flat, colors=MUTED.light, linewidths=0.6, zorder=1))
        self.draw_rendered(axes)
        axes.add_collection(LineCollection(flat, colors=INK.light, linewidths=0.4, alpha=0.3, zorder=3))
        self._draw_separating(axes)
        add_colour_bar(axes, colours_of(speeds(self.frame)))

    def _draw_separating(self, axes: Axes) -> None:
        cells = np.argwhere(self.frame.separating)
        if len(cells):
            middle = self.project(self.grid.origin + self.grid.spacing * (cells + 0.5))
            axes.scatter(
                middle[:, 0],
                middle[:, 1],
                s=6.0,
                marker="s",
                facecolors="none",
                edgecolors=SERIES[1].light,
                linewidths=0.6,
                rasterized=True,
                zorder=5,
            )
            tell_separating(axes, len(cells))

    def render(self) -> Picture:
        width, height = count_pixels(self.size, AROUND_SPACE)
        scale = width / float(self.limits[1, 0] - self.limits[0, 0])
        picture = np.zeros((height, width, 4), dtype=np.float32)
        shown = in_sight(self.frame.position, self.grid, self.axes[2])
        place = (self.project(self.frame.position[shown]) - self.limits[0]) * scale
        depth = self.frame.position[shown] @ self.axes[2] * scale
        cell = self.grid.spacing * scale
        number, level = nearest_balls(place, depth, RADIUS * cell, width, height)
        covered = number >= 0
        if not covered.any():
            return average(picture)
        speed = np.where(covered, speeds(self.frame)[shown][number], 0.0)
        smooth, speed = _smoothed(level, speed, covered, SMOOTH * cell)
        picture[..., :3] = colours_of(speeds(self.frame)).to_rgba(speed)[..., :3]
        picture[..., :3] *= _brightness(smooth)[..., None]
        picture[_outlines(level, covered, JUMP * cell), :3] *= EDGE
        picture[..., 3] = covered
        return average(np.minimum(picture, 1.0))


def speeds(frame: LiquidFrame) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = np.linalg.norm(frame.velocity, axis=1)
    return found


def colours_of(speed: NDArray[np.float64]) -> ScalarMappable:
    """From rest to about the largest of these speeds."""
    shades = ListedColormap(colormaps[COLOURS](np.linspace(DARKEST, 1.0, 256)))
    most = float(np.quantile(speed, OUTLIERS)) if speed.size else 0.0
    return ScalarMappable(Normalize(0.0, most if np.isfinite(most) and most > 0.0 else 1.0), shades)


def add_colour_bar(axes: Axes, colours: ScalarMappable) -> None:
    bar = axes.figure.colorbar(colours, ax=axes, shrink=0.75, aspect=28, pad=0.02, extend="max")
    bar.set_label("speed [m/s]", color=INK.light)
    bar.ax.tick_params(color=LINE.light, labelcolor=INK.light, labelsize=9)
    bar.outline.set_edgecolor(MUTED.light)


def tell_separating(axes: Axes, count: int) -> None:
    sample = Patch(facecolor="none", edgecolor=SERIES[1].light, linewidth=1.2)
    add_note(axes, sample, f"separating: p = 0 in {count:,} cell{'s' if count > 1 else ''}")


def rimmed_distance(grid: LiquidGrid) -> NDArray[np.float64]:
    """The signed distance at the nodes and at one more node beyond each end: outside the grid everything is solid."""
    return np.pad(grid.solid, 1, constant_values=-grid.spacing)


def rimmed_nodes(grid: LiquidGrid, axis: int) -> NDArray[np.float64]:
    """Where these nodes are along an axis [m]; those outside the grid only just."""
    places = np.arange(-1.0, grid.cells[axis] + 2.0)
    places[0], places[-1] = -RIM, grid.cells[axis] + RIM
    along: NDArray[np.float64] = grid.origin[axis] + grid.spacing * places
    return along


def in_sight(position: Points, grid: LiquidGrid, viewer: Floats) -> NDArray[np.int64]:
    """Numbers of those particles that have a cell without particles between their own and the viewer.

    A cell is hidden by the seven that share a corner, an edge or a face with it on that side of it.
    """
    cell = np.floor((position - grid.origin) / grid.spacing)
    cell = np.clip(np.nan_to_num(cell), 0, np.array(grid.cells) - 1).astype(np.int64)
    flat = np.ravel_multi_index(tuple(cell.T), grid.cells)
    occupied = np.zeros(grid.cells, dtype=np.bool_)
    occupied.reshape(-1)[flat] = True
    hiding = np.zeros((3, 3, 3), dtype=np.bool_)
    hiding[tuple(slice(1, 3) if towards > 0.0 else slice(0, 2) for towards in viewer)] = True
    return np.flatnonzero(~binary_erosion(occupied, hiding).reshape(-1)[flat])


def nearest_balls(
    place: Points, depth: Floats, radius: float, width: int, height: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """height x width: the number of the ball that is nearest to the viewer (-1: none), and how near it is there.

    Pixel by pixel of a ball, all balls at once: those that come later are nearer, and so win over others in the pixel.
    """
    reach = int(np.ceil(max(radius, 1.0)))
    order = np.argsort(depth, kind="stable").astype(np.int32)
    column, row = np.floor(place[order]).T
    inside = (column >= -reach) & (column < width + reach) & (row >= -reach) & (row < height + reach)
    order, column, row = order[inside], column[inside].astype(np.int32), row[inside].astype(np.int32)
    rim = 2 * reach  # room for all of a ball that reaches into the picture
    wide, tall = width + 2 * rim, height + 2 * rim
    pixel, near = (row + rim) * np.int32(wide) + (column + rim), depth[order].astype(np.float32)
    number, level = np.full(tall * wide, -1, dtype=np.int32), np.full(tall * wide, -np.inf, dtype=np.float32)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            bulge = radius**2 - dx**2 - dy**2
            if bulge >= 0.0 or dx == dy == 0:
                higher = near + np.sqrt(max(bulge, 0.0), dtype=np.float32)
                there = pixel + np.int32(dy * wide + dx)
                wins = np.flatnonzero(higher > level[there])
                level[there[wins]], number[there[wins]] = higher[wins], order[wins]
    shown = slice(rim, rim + height), slice(rim, rim + width)
    return number.reshape(tall, wide)[shown], level.reshape(tall, wide)[shown]


def _smoothed(
    level: NDArray[np.float32], speed: Floats, covered: NDArray[np.bool_], width: float
) -> tuple[Floats, Floats]:
    """Averages over what is covered, so that nothing leaks in from where there is no liquid."""
    weight = gaussian_filter(covered.astype(np.float64), width)
    weight[weight <= 1e-12] = 1.0
    found = [
        gaussian_filter(np.where(covered, values, 0.0), width, mode="constant") / weight for values in (level, speed)
    ]
    return found[0], found[1]


def _brightness(level: Floats) -> Floats:
    """Lambert's law for a surface of these heights over the picture."""
    along_y, along_x = np.gradient(level)
    slope = np.sqrt(along_x**2 + along_y**2 + 1.0)
    towards = (LIGHT[2] - along_x * LIGHT[0] - along_y * LIGHT[1]) / slope
    brightness: Floats = AMBIENT + DIFFUSE * np.maximum(towards, 0.0)
    return brightness


def _outlines(level: NDArray[np.float32], covered: NDArray[np.bool_], jump: float) -> NDArray[np.bool_]:
    """Pixels in front of others that lie much farther away, or of nothing."""
    here = np.where(covered, level, -np.inf)
    edge = np.zeros(level.shape, dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        for axis in (0, 1):
            ahead = np.diff(here, axis=axis)
            first, last = neighbours(axis)
            edge[first] |= ahead < -jump
            edge[last] |= ahead > jump
    return edge & covered


def vessel_lines(grid: LiquidGrid) -> Iterator[Points]:
    """Lines on the surface of the solid: cuts across each axis, from one end of the room for liquid to the other."""
    distance, surface = rimmed_distance(grid), -RIM * grid.spacing  # nodes on a wall count as open
    nodes = [rimmed_nodes(grid, axis) for axis in range(3)]
    for axis in range(3):
        others = [k for k in range(3) if k != axis]
        for place in _places_of_cuts(distance, axis, surface, grid.spacing):
            cut = np.take(distance, place, axis=axis)
            for found in contour_generator(nodes[others[0]], nodes[others[1]], cut.T).lines(surface):
                line = np.array(found, dtype=np.float64)
                if np.ptp(line, axis=0).max() < SHORTEST * grid.spacing * max(grid.cells):
                    continue
                points = np.empty((len(line), 3))
                points[:, others], points[:, axis] = line, nodes[axis][place]
                yield points


def _places_of_cuts(distance: Floats, axis: int, surface: float, cell: float) -> NDArray[np.int64]:
    """Planes of nodes across an axis from one end of the room to the other.

    A plane just inside a wall is as near to it all over: where the other walls are is told wrongly by distances there,
    and lines would be wavy. The next plane is cut instead.
    """
    largest = distance.max(axis=tuple(k for k in range(3) if k != axis))
    is_open = np.flatnonzero(largest > surface)
    if not is_open.size:
        return is_open
    first, last = int(is_open[0]), int(is_open[-1])
    if last - first > SLICES:
        first += int(-surface < largest[first] < cell)
        last -= int(-surface < largest[last] < cell)
    return np.unique(np.linspace(first, last, SLICES).round().astype(np.int64))


def _ends_of_room(grid: LiquidGrid) -> Points:
    """Where the room for liquid ends along the last axis, at both sides of it; all of the grid where there is none."""
    is_open = rimmed_distance(grid) > -RIM * grid.spacing
    across = np.argwhere(is_open.any(axis=2))
    if not len(across):
        is_open, across = np.ones_like(is_open), np.argwhere(np.ones(is_open.shape[:2], dtype=np.bool_))
    columns = is_open[across[:, 0], across[:, 1]]
    last = columns.shape[1] - 1
    ends = [columns.argmax(axis=1), last - columns[:, ::-1].argmax(axis=1)]
    places = np.concatenate([np.column_stack([across, end]) for end in ends])
    return np.stack([rimmed_nodes(grid, axis)[places[:, axis]] for axis in range(3)], axis=1)
