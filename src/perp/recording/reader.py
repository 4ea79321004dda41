"""Recordings read back, frame by frame; `layout` tells what lies where."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from operator import index
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.files.guard import DEFAULT_MAX_BYTES, Budget, FileGuard
from perp.problems.inputs import Vector
from perp.recording.description import Description
from perp.recording.frame import ContactFrame, Frame
from perp.recording.guarded_columns import ColumnGroup, blaming, open_columns
from perp.recording.layout import FORMAT, STATE, contact_widths, state_width
from perp.recording.shape_table import column_types, shapes_of
from perp.recording.shapes import Shape


class Recording:
    """A sequence of frames in a file.

        with Recording("run.hdf5") as recording:
            recording[-1].position, recording.statistics["residual"], len(recording)

    A file is a stranger: whatever is wrong with it comes as one `FileFormatError` that names the place, and nothing is
    allocated before what the file declares has been compared with what it holds and with `max_bytes`, which limits each
    frame, and all columns of one number a frame together. Frames are read when they are asked for.

    Of a file that is still being written, or whose writer was killed, the frames are there that were whole when it was
    opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.path = Path(path)
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
        if version != FORMAT:
            raise root.fault("format", f"the layout is number {version}; this perp reads number {FORMAT}")
        self.dimension, self.bodies = root.whole("dimension"), root.whole("bodies")
        if self.dimension not in (2, 3) or self.bodies < 1:
            raise root.fault("dimension", f"{self.bodies} bodies in {self.dimension} dimensions")
        self.description = Description(
            dt=root.number("dt"),
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
        self._state = {name: self._open_state(root, name) for name in STATE}
        contacts = root.group("contacts")
        self._ends = _ends(contacts, self._frames)
        total = int(self._ends[-1])
        widths = contact_widths(self.dimension)
        kinds = {name: "int32" if name == "bodies" else "float64" for name in widths}
        self._contacts = {name: contacts.column(name, kinds[name], width, total) for name, width in widths.items()}

    def _open_state(self, root: ColumnGroup, name: str) -> Any:
        return root.column(name, "float64", (self.bodies, state_width(name, self.dimension)), self._frames)

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
            group = self._root.group("shapes")
            types = column_types(self.dimension)
            columns = {name: group.read(name, kind, row) for name, (kind, row) in types.items()}
            for name, column in columns.items():
                if name not in ("vertices", "faces", "names") and len(column) != len(columns["form"]):
                    raise group.fault(name, f"{len(column)} rows; there are {len(columns['form'])} shapes")
            with group.building():
                return shapes_of(columns, self.bodies)

    @cached_property
    def statistics(self) -> dict[str, Vector]:
        """One column a name, one number a frame; NaN where a frame says nothing, as the one before the first step."""
        with blaming(self._guard):
            group = self._root.group("statistics")
            return {name: group.read(name, "float64", (), self._frames) for name in group.names()}

    def __len__(self) -> int:
        return self._frames

    def __getitem__(self, number: int) -> Frame:
        place = index(number)
        if not -self._frames <= place < self._frames:
            raise IndexError(f"frame {place} of {self._frames}")
        place %= self._frames
        with blaming(self._guard):
            return self._read_frame(place)

    def __iter__(self) -> Iterator[Frame]:
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
        return f"<Recording of {self.scene or 'a world'}: {self._frames} frames of {self.bodies} bodies>"

    def _read_frame(self, place: int) -> Frame:
        first, last = int(self._ends[place]), int(self._ends[place + 1])
        numbers = self.bodies * sum(state_width(name, self.dimension) for name in STATE)
        size = 8 * numbers + 8 * (last - first) * (3 + 3 * self.dimension)
        FileGuard(self.path, Budget(self._guard.budget.max_bytes)).spend(f"frame {place}", size)
        state = {name: np.asarray(dataset[place]) for name, dataset in self._state.items()}
        for name, values in state.items():
            if not np.isfinite(values).all():
                raise self._guard.fault(f"{name} of frame {place}", "a number is not finite")
        read = {name: np.asarray(dataset[first:last]) for name, dataset in self._contacts.items()}
        bodies = read.pop("bodies").astype(np.int64)
        if bodies.size and not (bodies.min() >= -1 and bodies.max() < self.bodies):
            raise self._guard.fault(f"contacts of frame {place}", f"there is no body {bodies.max()} or {bodies.min()}")
        said = {name: float(column[place]) for name, column in self.statistics.items() if not np.isnan(column[place])}
        contacts = ContactFrame(bodies, **read)
        return Frame(int(self.step[place]), float(self.time[place]), **state, contacts=contacts, statistics=said)


def _ends(contacts: ColumnGroup, frames: int) -> NDArray[np.int64]:
    """Where the contacts of each frame begin, and where the last ones end."""
    ends = np.concatenate([np.zeros(1, dtype=np.int64), contacts.read("end", "int64", (), frames)])
    if np.any(np.diff(ends) < 0):
        raise contacts.fault("end", f"frame {int(np.argmax(np.diff(ends) < 0))} ends before it begins")
    return ends


def _json(root: ColumnGroup, name: str, kind: type) -> Any:
    try:
        value = json.loads(root.text(name))
    except (ValueError, RecursionError) as error:
        raise root.fault(f"attribute {name}", f"no JSON ({error})") from error
    if not isinstance(value, kind):
        raise root.fault(f"attribute {name}", f"a {kind.__name__} is needed, found a {type(value).__name__}")
    return value
