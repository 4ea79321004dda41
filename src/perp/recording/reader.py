"""Recordings read back, frame by frame, with columns of bodies or of a liquid; `layout` says what is where."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from math import inf
from operator import index
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.files.guard import DEFAULT_MAX_BYTES, Budget, FileGuard
from perp.problems.inputs import Vector
from perp.recording.frame import ContactFrame, Description, Frame, LiquidFrame, LiquidGrid, Shape
from perp.recording.guarded_columns import ColumnGroup, blaming, open_columns
from perp.recording.layout import (
    BODIES,
    IS_LIQUID,
    IS_SEPARATING,
    LIQUID,
    STATE,
    column_types,
    contact_widths,
    shapes_of,
    state_width,
)

# Columns of bodies have their state, contacts and shapes, those of a liquid its grid, particles and pressure.


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


KINDS: dict[int, type[BodyColumns] | type[LiquidColumns]] = {BODIES: BodyColumns, LIQUID: LiquidColumns}
"""What each format holds."""


class Recording:
    """A sequence of frames in a file: of bodies (`Frame`), or of a liquid (`LiquidFrame`).

        with Recording("run.hdf5") as recording:
            recording[-1].position, recording.statistics["residual"], len(recording)

    A file is a stranger: whatever is wrong with it comes as one `FileFormatError` that names the place, and nothing is
    allocated before what the file declares has been compared with what it holds and with `max_bytes`, which limits each
    frame, and all columns of one number a frame together. Frames are read when they are asked for.

    Of a file that is still being written, or whose writer was killed, the frames are there that were whole when it was
    opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.path: Path = Path(path)
        self._guard = FileGuard(self.path, Budget(max_bytes))
        self._stack = ExitStack()
        try:
            self._root = open_columns(self._guard, self._stack)
            with blaming(self._guard):
                self._read_head(self._root)
        except BaseException:
            self._stack.close()
            raise

    def _read_head(self, root: ColumnGroup) -> None:
        version = root.whole("format")
        if version not in KINDS:
            known = " and ".join(map(str, KINDS))
            raise root.fault("format", f"the layout is number {version}; this perp reads numbers {known}")
        self.dimension: int = root.whole("dimension")
        if self.dimension not in (2, 3):
            raise root.fault("dimension", f"frames in {self.dimension} dimensions")
        dt = root.number("dt")
        if not 0.0 < dt < inf:
            raise root.fault("dt", f"the length of a step is {dt}; a positive number is needed")
        self.description: Description = Description(
            dt=dt,
            scene=root.text("scene"),
            options=_json(root, "options", dict),
            seed=_json(root, "seed", int),
            method=root.text("method"),
            versions=_json(root, "versions", dict),
        )
        count = root.read("frames", "int64", ())
        if count.size != 1 or count[0] < 0:
            raise root.fault("frames", f"one count is needed, found {count}")
        self._frames = int(count[0])
        self.step: NDArray[np.int64] = root.read("step", "int64", (), self._frames)
        """Steps taken, one number a frame."""
        self.time: Vector = root.read("time", "float64", (), self._frames)
        """[s], one number a frame."""
        self._columns = KINDS[version](root, self.dimension, self._frames)
        self.bodies: int = self._columns.bodies
        """How many; a liquid has none."""

    @property
    def grid(self) -> LiquidGrid | None:
        """The cells of a liquid, and the solid around it; None for bodies."""
        return self._columns.grid

    @property
    def scene(self) -> str:
        return self.description.scene

    @property
    def options(self) -> Mapping[str, Any]:
        return self.description.options

    @property
    def seed(self) -> int:
        return self.description.seed

    @property
    def dt(self) -> float:
        """The length of a step [s]."""
        return self.description.dt

    @property
    def method(self) -> str:
        return self.description.method

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """What the bodies look like."""
        with blaming(self._guard):
            return self._columns.shapes()

    @cached_property
    def statistics(self) -> dict[str, Vector]:
        """One column a name, one number a frame; NaN where a frame says nothing, as the one before the first step."""
        with blaming(self._guard):
            group = self._root.group("statistics")
            return {name: group.read(name, "float64", (), self._frames) for name in group.names()}

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, number: int) -> Frame | LiquidFrame:
        place = index(number)
        if not -self._frames <= place < self._frames:
            raise IndexError(f"frame {place} of {self._frames}")
        place %= self._frames
        with blaming(self._guard):
            return self._read_frame(place)

    def __iter__(self) -> Iterator[Frame | LiquidFrame]:
        return (self[number] for number in range(self._frames))

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Recording of {self.scene or 'a world'}: {self._frames} frames of {self._columns.things}>"

    def _read_frame(self, place: int) -> Frame | LiquidFrame:
        FileGuard(self.path, Budget(self._guard.budget.max_bytes)).spend(f"frame {place}", self._columns.size(place))
        said = {name: float(column[place]) for name, column in self.statistics.items() if not np.isnan(column[place])}
        return self._columns.read(place, self._guard, int(self.step[place]), float(self.time[place]), said)


def _json(root: ColumnGroup, name: str, kind: type) -> Any:
    try:
        value = json.loads(root.text(name))
    except (ValueError, RecursionError) as error:
        raise root.fault(f"attribute {name}", f"no JSON ({error})") from error
    if not isinstance(value, kind):
        raise root.fault(f"attribute {name}", f"a {kind.__name__} is needed, found a {type(value).__name__}")
    return value
