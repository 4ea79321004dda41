"""Columns of a recording: of bodies their state, contacts and shapes; of a liquid its grid, particles and pressure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from perp.problems.files.guard import FileGuard
from perp.recording.frame import ContactFrame, Frame, LiquidFrame, LiquidGrid
from perp.recording.guarded_columns import ColumnGroup
from perp.recording.layout import IS_LIQUID, IS_SEPARATING, STATE, contact_widths, state_width
from perp.recording.shape_table import column_types, shapes_of
from perp.recording.shapes import Shape


class BodyColumns:
    """Columns that were checked, and not yet read."""

    grid = None
    """Of a liquid."""
    dimension: int
    bodies: int

    def __init__(self, root: ColumnGroup, dimension: int, frames: int) -> None:
        self.dimension, self.bodies = dimension, root.whole("bodies")
        if self.bodies < 1:
            raise root.fault("bodies", f"{self.bodies} bodies in {dimension} dimensions")
        self._root = root
        self._state = {
            name: root.column(name, "float64", (self.bodies, state_width(name, dimension)), frames) for name in STATE
        }
        contacts = root.group("contacts")
        self._ends = contacts.ends(frames)
        total = int(self._ends[-1])
        widths = contact_widths(dimension)
        kinds = {name: "int32" if name == "bodies" else "float64" for name in widths}
        self._contacts = {name: contacts.column(name, kinds[name], width, total) for name, width in widths.items()}

    @property
    def things(self) -> str:
        """What the frames are of."""
        return f"{self.bodies} bodies"

    def shapes(self) -> tuple[Shape, ...]:
        group = self._root.group("shapes")
        types = column_types(self.dimension)
        columns = {name: group.read(name, kind, row) for name, (kind, row) in types.items()}
        for name, column in columns.items():
            if name not in ("vertices", "faces", "names") and len(column) != len(columns["form"]):
                raise group.fault(name, f"{len(column)} rows; there are {len(columns['form'])} shapes")
        with group.building():
            return shapes_of(columns, self.bodies)

    def size(self, place: int) -> int:
        """Bytes of a frame."""
        contacts = int(self._ends[place + 1] - self._ends[place])
        numbers = self.bodies * sum(state_width(name, self.dimension) for name in STATE)
        return 8 * numbers + 8 * contacts * (3 + 3 * self.dimension)

    def read(self, place: int, guard: FileGuard, step: int, time: float, said: Mapping[str, float]) -> Frame:
        first, last = int(self._ends[place]), int(self._ends[place + 1])
        state: dict[str, Any] = {name: np.asarray(dataset[place]) for name, dataset in self._state.items()}
        for name, values in state.items():
            if not np.isfinite(values).all():
                raise guard.fault(f"{name} of frame {place}", "a number is not finite")
        read = {name: np.asarray(dataset[first:last]) for name, dataset in self._contacts.items()}
        bodies = read.pop("bodies").astype(np.int64)
        if bodies.size and not (bodies.min() >= -1 and bodies.max() < self.bodies):
            raise guard.fault(f"contacts of frame {place}", f"there is no body {bodies.max()} or {bodies.min()}")
        return Frame(step, time, **state, contacts=ContactFrame(bodies, **read), statistics=said)


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
