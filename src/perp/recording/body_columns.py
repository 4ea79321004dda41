"""The part of a recording that is about bodies: their state, their contacts and their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from perp.problems.files.guard import FileGuard
from perp.recording.frame import ContactFrame, Frame
from perp.recording.guarded_columns import ColumnGroup
from perp.recording.layout import STATE, contact_widths, state_width
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
