"""Frames to an HDF5 file that stays readable whatever ends the program; `layout` tells what lies where."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import MissingExtra
from perp.problems.inputs import require_count, require_number
from perp.recording.description import Description
from perp.recording.disk_space import require_room
from perp.recording.frame import Frame
from perp.recording.layout import FORMAT, STATE, contact_widths, state_width
from perp.recording.shape_table import shape_columns
from perp.recording.shapes import Shape

FLUSH_SECONDS = 0.5
"""Frames wait in memory at most so long (a flush takes some milliseconds); only a killed process loses them."""

WAITING_BYTES = 16 * 2**20
"""Nor do more than these wait."""

CHUNK_BYTES = 2**18
"""HDF5 reads and writes pieces of about this size."""

INDEX_BYTES = 2**18
"""More than one flush adds to the tables by which HDF5 finds chunks."""


def require_h5py() -> Any:
    """The module h5py, imported when a recording is first asked for."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("h5py", "a recording", "hdf5") from error
    return h5py


class Recorder:
    """Writes the frames of one run.

        with Recorder("run.hdf5", world.shapes(), bodies=10, dimension=3, about=Description(dt=0.01)) as recorder:
            recorder.write(world.frame())

    `statistics` names the columns of `frame.statistics`, which cannot be told from the first frame. Every frame after a
    step must have them all (`world.frame(report)` has none; `dataclasses.replace(frame, statistics=...)` adds them);
    that of step 0 may lack what only a step can measure. An older file of that name is replaced. Leaving the block,
    however it is left, writes what still waits.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        shapes: Sequence[Shape],
        *,
        bodies: int,
        dimension: int,
        about: Description,
        statistics: Sequence[str] = (),
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        require_count(bodies, "bodies", least=1)
        require_number(about.dt, "dt", positive=True)
        if dimension not in (2, 3):
            raise ValueError(f"dimension is {dimension!r}; 2 or 3 is needed")
        self.path = Path(path)
        self.bodies, self.dimension = bodies, dimension
        self._flush_seconds = flush_seconds
        self._statistics = tuple(statistics)
        self._frames = self._contacts = 0
        self._waiting: list[dict[str, NDArray[Any]]] = []
        self._waiting_bytes = 0
        self._is_full = False
        columns = shape_columns(shapes, dimension)
        texts = _texts(about)
        h5py = require_h5py()
        with self.path.open("ab"):  # a folder that is missing or locked is told in the words that `open` has for it
            pass
        require_room(self.path, INDEX_BYTES + sum(column.nbytes for column in columns.values()))
        self._file = h5py.File(self.path, "w", libver=("v110", "v110"))
        try:
            self._write_head(about, texts, columns)
            self._datasets = self._make_datasets()
            self._count = self._file.create_dataset("frames", data=np.zeros(1, dtype=np.int64))
            self._file.swmr_mode = True
        except BaseException:
            self._file.close()
            raise
        self._flushed = monotonic()

    @property
    def frames(self) -> int:
        """How many frames were handed in."""
        return self._frames + len(self._waiting)

    def write(self, frame: Frame) -> None:
        """Keep a copy of the frame, and write it to the disk with others, soon."""
        if self._is_full or not self._file:
            raise ValueError(f"{self.path}: the recording is closed, or its disk is full")
        rows = self._rows(frame)
        self._waiting.append(rows)
        self._waiting_bytes += sum(row.nbytes for row in rows.values())
        if self._waiting_bytes > WAITING_BYTES or monotonic() - self._flushed > self._flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Bring every frame to the disk: the numbers first, then the count that makes them valid.

        An interrupt may come at any moment. What it leaves undone the next flush does again, from the same place. A
        disk that takes no more raises OSError; what was flushed before stays readable, and no more can be written.
        """
        if self._waiting:
            self._write_waiting()
        self._flushed = monotonic()

    def _write_waiting(self) -> None:
        last = self._frames + len(self._waiting)
        ends = self._contacts + np.cumsum([row["contacts/gap"].size for row in self._waiting])
        blocks = {name: self._block(name, ends) for name in self._datasets}
        try:
            require_room(self.path, sum(self._growth(name, *block) for name, block in blocks.items()) + INDEX_BYTES)
        except OSError:
            self._waiting, self._waiting_bytes, self._is_full = [], 0, True
            raise
        for name, (begin, values) in blocks.items():
            dataset = self._datasets[name]
            dataset.resize(begin + len(values), axis=0)
            dataset[begin:] = values
        self._file.flush()
        self._count[0] = last
        self._count.flush()
        self._contacts, self._frames, self._waiting, self._waiting_bytes = int(ends[-1]), last, [], 0

    def _block(self, name: str, ends: NDArray[np.int64]) -> tuple[int, NDArray[Any]]:
        """What a dataset gets, and from which row on."""
        if name == "contacts/end":
            return self._frames, ends
        if name.startswith("contacts/"):
            return self._contacts, np.concatenate([row[name] for row in self._waiting])
        return self._frames, np.stack([row[name] for row in self._waiting])

    def _growth(self, name: str, begin: int, values: NDArray[Any]) -> int:
        """Bytes of the chunks that these rows add."""
        chunk = self._datasets[name].chunks
        added = -(-(begin + len(values)) // chunk[0]) - -(-begin // chunk[0])
        return int(added * values.itemsize * prod(chunk))

    def close(self) -> None:
        """Write what waits, and let go of the file; a second call does nothing."""
        if self._file:
            try:
                self.flush()
            finally:
                self._file.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_head(self, about: Description, texts: dict[str, str], columns: dict[str, NDArray[Any]]) -> None:
        attributes = self._file.attrs
        for name, number in (("format", FORMAT), ("dimension", self.dimension), ("bodies", self.bodies)):
            attributes[name] = np.int64(number)
        attributes["dt"] = np.float64(about.dt)
        for name, text in texts.items():
            written = text.encode()
            attributes.create(name, written, dtype=f"S{max(1, len(written))}")
        for name, column in columns.items():
            self._file.create_dataset(f"shapes/{name}", data=column)

    def _make_datasets(self) -> dict[str, Any]:
        number, integer = np.float64, np.int64
        made = {"step": self._grown("step", (), integer), "time": self._grown("time", (), number)}
        for name in STATE:
            made[name] = self._grown(name, (self.bodies, state_width(name, self.dimension)), number)
        made["contacts/end"] = self._grown("contacts/end", (), integer)
        for part, width in contact_widths(self.dimension).items():
            name = f"contacts/{part}"
            made[name] = self._grown(name, width, np.int32 if part == "bodies" else number)
        for part in self._statistics:
            made[f"statistics/{part}"] = self._grown(f"statistics/{part}", (), number)
        self._file.require_group("statistics")
        return made

    def _grown(self, name: str, row: tuple[int, ...], kind: Any) -> Any:
        row_bytes = np.dtype(kind).itemsize * int(np.prod(row))
        rows = int(np.clip(CHUNK_BYTES // row_bytes, 1, 4096 if name.startswith("contacts/") else 512))
        return self._file.create_dataset(name, (0, *row), kind, maxshape=(None, *row), chunks=(rows, *row))

    def _rows(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Copies: a world may use its arrays again in the next step."""
        rows = {"step": np.array(frame.step), "time": np.array(frame.time, dtype=np.float64)}
        for name in STATE:
            rows[name] = self._copy(frame, name, (self.bodies, state_width(name, self.dimension)))
        contacts = frame.contacts
        for part, width in contact_widths(self.dimension).items():
            values = np.array(getattr(contacts, part), dtype=np.int32 if part == "bodies" else np.float64)
            if values.shape != (contacts.gap.size, *width):
                wanted = (contacts.gap.size, *width)
                raise ValueError(f"contacts.{part} has the shape {values.shape}; {wanted} is needed")
            rows[f"contacts/{part}"] = values
        for part in frame.statistics:
            if part not in self._statistics:
                raise ValueError(f"the recording has no column {part!r}: name it in Recorder(statistics=...)")
        for part in self._statistics:
            if frame.step > 0 and part not in frame.statistics:
                raise ValueError(
                    f"the frame of step {frame.step} lacks the statistic {part!r}, which the recording has a column "
                    f"for: dataclasses.replace(frame, statistics=...) adds it"
                )
            rows[f"statistics/{part}"] = np.array(frame.statistics.get(part, np.nan), dtype=np.float64)
        return rows

    def _copy(self, frame: Frame, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
        values = np.array(getattr(frame, name), dtype=np.float64)
        if values.shape != shape:
            raise ValueError(f"{name} of step {frame.step} has the shape {values.shape}; {shape} is needed")
        if not np.isfinite(values).all():
            body, place = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"{name}[{body}, {place}] of step {frame.step} is {values[body, place]}")
        return values


def _texts(about: Description) -> dict[str, str]:
    try:
        options, seed = json.dumps(dict(about.options), allow_nan=False), json.dumps(int(about.seed))
        versions = json.dumps(dict(about.versions))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the options cannot be written as JSON: {error}") from error
    return {"scene": about.scene, "method": about.method, "options": options, "seed": seed, "versions": versions}
