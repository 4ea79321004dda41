"""A staggered (marker-and-cell) grid: numbers in the middle of cells, velocities in the middle of their faces.

Harlow & Welch 1965. Axes are coordinates in their order. The velocity across axis k has one place more along k than
there are cells, and stands at the faces between them; the first and the last of these faces are the rim of the grid,
outside which everything is solid. Kernels know three axes: in the plane, the first of theirs has one place only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_vector, freeze, require_count, require_number
from perp.worlds.read_only_arrays import KeepsReadOnly

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
