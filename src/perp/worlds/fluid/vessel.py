"""The room that a liquid has: a staggered grid, the solid in it, and how much of every face and cell is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.fluid import motion as fluid_motion
from perp.problems.inputs import Vector, as_vector, freeze, reject_non_finite, require_count, require_number
from perp.worlds.fluid.solids import Distance
from perp.worlds.read_only_arrays import KeepsReadOnly

# A staggered (marker-and-cell) grid: numbers in the middle of cells, velocities in the middle of their faces.
#
# Harlow & Welch 1965. Axes are coordinates in their order. The velocity across axis k has one place more along k than
# there are cells, and stands at the faces between them; the first and the last of these faces are the rim of the grid,
# outside which everything is solid. Kernels know three axes: in the plane, the first of theirs has one place only.

MOST_CELLS = 2**31
"""Cells are counted in 32 bits."""
COARSEST = 0.01
"""In cells: how far apart two numbers may be at the far end of the grid."""


@dataclass(frozen=True, eq=False)
class Places(KeepsReadOnly):
    """Where the numbers of a field stand: how many along three axes, and how far from the corner of their cell."""

    shape: NDArray[np.uint64]
    offset: Vector

    @property
    def size(self) -> int:
        return int(np.prod(self.shape.astype(np.int64)))


class StaggeredGrid(KeepsReadOnly):
    """`cells` along each axis, cubes with edges of `spacing` [m], the lower corner of the first one at `origin` [m]."""

    def __init__(self, cells: Sequence[int], spacing: float, origin: Any = None) -> None:
        if isinstance(cells, str | bytes) or not isinstance(cells, Sequence | np.ndarray):
            raise TypeError(f"cells is {cells!r}; (nx, ny) or (nx, ny, nz) is needed")
        if len(cells) not in (2, 3):
            raise InvalidProblem(f"cells has {len(cells)} numbers; (nx, ny) or (nx, ny, nz) is needed")
        for axis, count in enumerate(cells):
            require_count(count, f"cells[{axis}]", least=1)
        self.cells: tuple[int, ...] = tuple(int(count) for count in cells)
        require_number(spacing, "spacing", positive=True)
        self.spacing: float = float(spacing)
        if not np.isfinite(1.0 / self.spacing**2):
            raise InvalidProblem(f"spacing is {spacing}; a larger number is needed")
        self.dimension: int = len(self.cells)
        if int(np.prod(self.cells, dtype=object)) >= MOST_CELLS:
            raise InvalidProblem(f"cells is {self.cells}; fewer than {MOST_CELLS:,} are needed")
        self.origin: Vector = as_vector(
            np.zeros(self.dimension) if origin is None else origin, "origin", self.dimension
        )
        far = np.flatnonzero(np.spacing(np.maximum(np.abs(self.origin), np.abs(self.upper))) > COARSEST * self.spacing)
        if far.size:
            raise InvalidProblem(f"origin[{far[0]}] is {self.origin[far[0]]}; numbers there do not resolve cells")
        missing = 3 - self.dimension
        self.frame: Vector = freeze(np.array([0.0] * missing + [*self.origin, 1.0 / self.spacing]))
        self.middles: Places = self._places(None)
        self.faces: tuple[Places, ...] = tuple(self._places(axis) for axis in range(self.dimension))
        nodes = [1] * missing + [count + 1 for count in self.cells]
        self.nodes: NDArray[np.uint64] = freeze(np.array(nodes, dtype=np.uint64))

    def _places(self, axis: int | None) -> Places:
        missing = 3 - self.dimension
        shape = [1] * missing + [count + (k == axis) for k, count in enumerate(self.cells)]
        offset = [0.5] * missing + [0.0 if k == axis else 0.5 for k in range(self.dimension)]
        return Places(freeze(np.array(shape, dtype=np.uint64)), freeze(np.array(offset)))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.middles.size

    @property
    def shape(self) -> NDArray[np.uint64]:
        return self.middles.shape

    @property
    def upper(self) -> Vector:
        """The corner opposite to the origin [m]."""
        return self.origin + self.spacing * np.array(self.cells)

    def kernel_axis(self, axis: int) -> np.uint64:
        return np.uint64(axis + 3 - self.dimension)

    def face_shape(self, axis: int) -> tuple[int, ...]:
        return tuple(count + (k == axis) for k, count in enumerate(self.cells))

    def node_points(self) -> NDArray[np.float64]:
        """The corners of all cells, one a row, in C order [m]."""
        return self._points([np.arange(count + 1, dtype=np.float64) for count in self.cells])

    def middle_points(self) -> NDArray[np.float64]:
        """The middles of all cells, one a row, in C order [m]."""
        return self._points([np.arange(count) + 0.5 for count in self.cells])

    def face_points(self, axis: int) -> NDArray[np.float64]:
        """The middles of all faces across an axis, one a row, in C order [m]."""
        return self._points(
            [np.arange(n + (k == axis)) + (0.0 if k == axis else 0.5) for k, n in enumerate(self.cells)]
        )

    def _points(self, along: list[NDArray[Any]]) -> NDArray[np.float64]:
        lines = [self.origin[k] + self.spacing * places for k, places in enumerate(along)]
        return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, self.dimension)


# Open shares come from the distance to the solid at the corners of cells.
#
# Why areas of faces. The net outflow of a cell through a wall that cuts it is exactly the sum over its faces of open
# area times the mean velocity there, whatever the shape of the wall: nothing goes through the wall itself. With open
# areas A_f the pressure problem (Ng, Min & Gibou 2009)
#
#     sum over faces of A_f (u_f - dt / (rho h) (p_ahead - p_behind)) outward = 0
#
# is that balance. Batty, Bertails & Bridson 2007 minimise the kinetic energy with the open *volume* around each face in
# the place of A_f. For a wall along the grid the two agree; at a slanted one a uniform stream along the wall has a
# divergence then. Measured here in a disc, 32^2 to 128^2 cells, against a known field: with areas the pressure is of
# order 1.9, the velocity of order 1.9 in the mean and 1 at its worst; with volumes the velocity is of order 0.9 in the
# mean, and at its worst it does not converge at all. The energy argument holds for areas just as well: A = D M^-1 D^T
# with M = diag(A_f), so that the new velocity is the nearest one to u*, in the norm of M, without divergence (or, with
# separation, without inflow at walls).
#
# Areas are those of the linear interpolation of the distance: exact for plane walls.

POINTS_PER_AXIS = 4
"""In a cell that a wall goes through, to measure its room."""

LEAST_OPENING = 2.0**-10
"""Smaller shares of a face are closed. A cell that only such faces lead to would have a row with a diagonal entry so
small that it counts as extreme (`perp.problems.problem`); at most this share of a cell's face is neglected."""
TOUCHING = 1e-9
"""In cells: a node this near to the surface of the solid lies on it, so that a wall along faces closes them whatever
the rounding errors of its distance are."""


class Vessel(KeepsReadOnly):
    """Walls do not move: all this is found once."""

    def __init__(self, grid: StaggeredGrid, solid: Distance | None = None) -> None:
        self.grid = grid
        self.solid: Vector = sample_solid(solid, grid)
        """Signed distance at the nodes [m], in C order."""
        self._openings: Vector = freeze(np.concatenate(open_fractions(grid, self.solid)))
        room, capacity = np.zeros(grid.size), np.zeros(grid.size)
        fluid_motion.measure_room(grid.shape, grid.nodes, self.solid, np.uint64(POINTS_PER_AXIS), room, capacity)
        self.room: Vector = freeze(room)
        """The open share of each cell."""
        self.capacity: Vector = freeze(capacity)
        """How much liquid a full vessel has around the middle of each cell, with linear weights: 1 far from walls."""

    @property
    def fractions(self) -> tuple[Vector, ...]:
        """For each axis the open share of the faces across it, in C order."""
        ends = np.cumsum([faces.size for faces in self.grid.faces])
        return tuple(np.split(self._openings, ends[:-1]))

    def volume_below(self, level: Vector) -> float:
        """Of the liquid [m^d]; a cell is full if the surface is half a cell or more above its middle."""
        return float(np.sum(self.room * np.clip(0.5 - level, 0.0, 1.0))) * self.grid.spacing**self.grid.dimension


def sample_solid(solid: Distance | None, grid: StaggeredGrid) -> Vector:
    """The distance at the nodes, in C order; without a solid they are all far from one, and the rim is the only wall.

    Between nodes distances are interpolated: what is thinner than a cell, solid or room, is not seen.
    """
    if solid is None:
        nodes = int(np.prod(grid.nodes.astype(np.int64)))
        return freeze(np.full(nodes, float(np.linalg.norm(grid.upper - grid.origin))))
    points = grid.node_points()
    if not callable(solid):
        raise TypeError(f"solid is {solid!r}; a function of points that returns distances is needed")
    given = np.asarray(solid(points))
    if given.shape != (len(points),) or given.dtype.kind not in "iuf":
        raise InvalidProblem(
            f"solid returned an array of shape {given.shape} and type {given.dtype} for {len(points)} points; "
            "one distance each is needed"
        )
    distance = given.astype(np.float64)
    reject_non_finite(distance, "solid")
    return freeze(distance)


def open_fractions(grid: StaggeredGrid, solid: Vector) -> tuple[Vector, ...]:
    """For each axis the open share of the faces across it, in C order; 0 at the rim of the grid."""
    distance = np.where(np.abs(solid) <= TOUCHING * grid.spacing, 0.0, solid)
    nodes = distance.reshape([count + 1 for count in grid.cells])
    return tuple(freeze(_fractions(nodes, axis).reshape(-1)) for axis in range(grid.dimension))


def _fractions(nodes: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    others = [k for k in range(nodes.ndim) if k != axis]
    if len(others) == 1:
        share = _open_length(_lower(nodes, others[0]), _upper(nodes, others[0]))
    else:
        share = _open_square(nodes, *others)
    share[share < LEAST_OPENING] = 0.0
    share[share > 1.0 - LEAST_OPENING] = 1.0
    rim = np.moveaxis(share, axis, 0)
    rim[0] = rim[-1] = 0.0
    return share


def _lower(nodes: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return nodes[(slice(None),) * axis + (slice(None, -1),)]


def _upper(nodes: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return nodes[(slice(None),) * axis + (slice(1, None),)]


def _open_length(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of an edge on which the distance, linear between a and b, is positive."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    share = np.divide(high, high - low, out=np.ones_like(high), where=high > low)
    return np.where(high <= 0.0, 0.0, np.where(low >= 0.0, 1.0, share))


def _open_square(nodes: NDArray[np.float64], first: int, second: int) -> NDArray[np.float64]:
    """The positive share of squares: four triangles around the mean of the corners, the same from every side."""
    corners = [
        side_two(side_one(nodes, first), second)
        for side_one, side_two in ((_lower, _lower), (_lower, _upper), (_upper, _upper), (_upper, _lower))
    ]
    middle = (corners[0] + corners[2] + (corners[1] + corners[3])) / 4.0
    shares = [_open_triangle(corners[k], corners[(k + 1) % 4], middle) for k in range(4)]
    return (shares[0] + shares[2] + (shares[1] + shares[3])) / 4.0


def _open_triangle(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of a triangle on which a linear function with values a, b, c at its corners is positive.

    With values low <= mid <= high: if only high is positive, the corner there is cut off, of area
    high^2 / ((high - mid) (high - low)); if two are, all but the corner at low is left.
    """
    low, mid, high = np.sort(np.stack([a, b, c]), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tip = high / (high - mid) * (high / (high - low))
        rest = 1.0 - low / (low - mid) * (low / (low - high))
    share = np.where(mid <= 0.0, tip, rest)
    return np.where(high <= 0.0, 0.0, np.where(low >= 0.0, 1.0, share))
