"""A liquid in the plane: particles by speed, the solid around them, and where the liquid lets go of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perp.lab.palette import INK, LINE, MUTED, PAPER, SERIES
from perp.lab.scene_picture_view import FIXED, Points, enclose, figure_size
from perp.recording.frame import LiquidFrame, LiquidGrid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

COLOURS, DARKEST = "viridis", 0.2
"""Of speeds: even to the eye, also of those who are colour-blind; without the darkest, which shading would hide."""

OUTLIERS = 0.995
"""The share of the particles that the colours reach to: a single drop that flies does not make the others dark."""

DOT = 0.55
"""The width of a particle, in cells."""

AROUND = (1.9, 1.1)
"""Inches beside the picture, with the bar of colours."""

RIM = 1e-6
"""How far outside the grid its rim is thought to be solid, in cells."""


class LiquidPlaneView:
    """A picture of a liquid, with axes in metres."""

    frame: LiquidFrame
    grid: LiquidGrid

    def __init__(self, frame: LiquidFrame, grid: LiquidGrid) -> None:
        self.frame, self.grid = frame, grid
        corners = np.stack([grid.origin, grid.origin + grid.spacing * np.array(grid.cells)])
        self.limits: Points = enclose(corners, corners, 0.03)
        self.size: tuple[float, float] = figure_size(self.limits, AROUND)

    def draw(self, axes: Axes) -> None:
        self._draw_solid(axes)
        colours = colours_of(speeds(self.frame))
        shown = 72.0 * (self.size[0] - AROUND[0]) / float(self.limits[1, 0] - self.limits[0, 0])
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
        axes.set_xlabel("x [m]", color=INK.light)
        axes.set_ylabel("y [m]", color=INK.light)
        axes.tick_params(color=LINE.light, labelcolor=INK.light, labelsize=9)
        for spine in axes.spines.values():
            spine.set_color(LINE.light)

    def _draw_solid(self, axes: Axes) -> None:
        """What the signed distance calls solid, and all that lies outside the grid."""
        x, y = (rimmed_nodes(self.grid, axis) for axis in range(2))
        distance = rimmed_distance(self.grid).T
        axes.set_facecolor(FIXED)
        if distance.max() > 0.0:
            axes.contourf(x, y, distance, levels=[0.0, np.inf], colors=[PAPER.light], zorder=1)
            axes.contour(x, y, distance, levels=[0.0], colors=[INK.light], linewidths=1.2, zorder=4)

    def _draw_separating(self, axes: Axes) -> None:
        from matplotlib.collections import PolyCollection

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


def speeds(frame: LiquidFrame) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = np.linalg.norm(frame.velocity, axis=1)
    return found


def colours_of(speed: NDArray[np.float64]) -> ScalarMappable:
    """From rest to about the largest of these speeds."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    shades = ListedColormap(colormaps[COLOURS](np.linspace(DARKEST, 1.0, 256)))
    most = float(np.quantile(speed, OUTLIERS)) if speed.size else 0.0
    return ScalarMappable(Normalize(0.0, most if np.isfinite(most) and most > 0.0 else 1.0), shades)


def add_colour_bar(axes: Axes, colours: ScalarMappable) -> None:
    bar = axes.figure.colorbar(colours, ax=axes, shrink=0.75, aspect=28, pad=0.02, extend="max")
    bar.set_label("speed [m/s]", color=INK.light)
    bar.ax.tick_params(color=LINE.light, labelcolor=INK.light, labelsize=9)
    bar.outline.set_edgecolor(MUTED.light)


def tell_separating(axes: Axes, count: int) -> None:
    from matplotlib.patches import Patch

    sample = Patch(facecolor="none", edgecolor=SERIES[1].light, linewidth=1.2)
    axes.figure.legend(
        handles=[sample],
        labels=[f"separating: p = 0 in {count:,} cell{'s' if count > 1 else ''}"],
        loc="outside lower right",
        frameon=False,
        fontsize=9,
        labelcolor=INK.light,
    )


def rimmed_distance(grid: LiquidGrid) -> NDArray[np.float64]:
    """The signed distance at the nodes and at one more node beyond each end: outside the grid everything is solid."""
    return np.pad(grid.solid, 1, constant_values=-grid.spacing)


def rimmed_nodes(grid: LiquidGrid, axis: int) -> NDArray[np.float64]:
    """Where these nodes are along an axis [m]; those outside the grid only just."""
    places = np.arange(-1.0, grid.cells[axis] + 2.0)
    places[0], places[-1] = -RIM, grid.cells[axis] + RIM
    along: NDArray[np.float64] = grid.origin[axis] + grid.spacing * places
    return along
