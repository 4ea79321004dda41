"""The part of a recording that is about a liquid: its grid, its particles and its pressure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from perp.problems.files.guard import FileGuard
from perp.recording.guarded_columns import ColumnGroup
from perp.recording.layout import IS_LIQUID, IS_SEPARATING
from perp.recording.liquid_frame import LiquidFrame, LiquidGrid
from perp.recording.shapes import Shape


class LiquidColumns:
    """Columns that were checked, and not yet read; the grid is."""

    bodies = 0

    def __init__(self, root: ColumnGroup, dimension: int, frames: int) -> None:
        self.dimension = dimension
        self.grid: LiquidGrid = _read_grid(root, dimension)
        cells = self.grid.cells
        particles = root.group("particles")
        self._ends = particles.ends(frames)
        total = int(self._ends[-1])
        self._particles = {
            name: particles.column(name, "float32", (dimension,), total) for name in ("position", "velocity")
        }
        on_grid = root.group("cells")
        self._pressure = on_grid.column("pressure", "float32", cells, frames)
        self._state = on_grid.column("state", "uint8", cells, frames)

    @property
    def things(self) -> str:
        """What the frames are of."""
        return f"a liquid in {' x '.join(map(str, self.grid.cells))} cells"

    def shapes(self) -> tuple[Shape, ...]:
        return ()

    def size(self, place: int) -> int:
        """Bytes of a frame, as it is handed out."""
        particles = int(self._ends[place + 1] - self._ends[place])
        return 16 * self.dimension * particles + 10 * math.prod(self.grid.cells)

    def read(self, place: int, guard: FileGuard, step: int, time: float, said: Mapping[str, float]) -> LiquidFrame:
        first, last = int(self._ends[place]), int(self._ends[place + 1])
        numbers: dict[str, Any] = {name: dataset[first:last] for name, dataset in self._particles.items()}
        numbers["pressure"] = self._pressure[place]
        for name, values in numbers.items():
            if not np.isfinite(values).all():
                raise guard.fault(f"{name} of frame {place}", "a number is not finite")
        state = np.asarray(self._state[place])
        if state.max(initial=0) > IS_LIQUID + IS_SEPARATING:
            raise guard.fault(f"cells/state of frame {place}", f"there is no state {state.max()}")
        marks: dict[str, Any] = {"liquid": (state & IS_LIQUID) > 0, "separating": (state & IS_SEPARATING) > 0}
        wide: dict[str, Any] = {name: np.asarray(values, dtype=np.float64) for name, values in numbers.items()}
        return LiquidFrame(step, time, **wide, **marks, statistics=said)


def _read_grid(root: ColumnGroup, dimension: int) -> LiquidGrid:
    group, spacing = root.group("grid"), root.number("spacing")
    counts, origin = group.read("cells", "int64", ()), group.read("origin", "float64", ())
    if counts.size != dimension or counts.min(initial=1) < 1:
        raise group.fault("cells", f"{dimension} counts of at least 1 are needed, found {counts.tolist()}")
    if origin.size != dimension or not np.isfinite(origin).all():
        raise group.fault("origin", f"{dimension} finite numbers are needed, found {origin.tolist()}")
    if not (math.isfinite(spacing) and spacing > 0.0):
        raise root.fault("attribute spacing", f"a length above 0 is needed, found {spacing}")
    first, *others = (int(count) + 1 for count in counts)
    solid = group.read("solid", "float64", tuple(others))
    if len(solid) != first:
        raise group.fault("solid", f"{len(solid)} rows of nodes; {first} are needed")
    if not np.isfinite(solid).all():
        raise group.fault("solid", "a number is not finite")
    return LiquidGrid(tuple(int(count) for count in counts), spacing, origin, solid)
