"""Recordings written frame by frame, of bodies or of a liquid; `layout` says what is where.

The HDF5 file stays readable whatever ends the program. HDF5 does not survive a write that fails (it crashes at exit):
whether the file can grow is found out before each one.
"""

from __future__ import annotations

import errno
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perp.extras import h5py
from perp.problems.inputs import require_count, require_number
from perp.recording.frame import Description, Frame, LiquidFrame, LiquidGrid, Shape
from perp.recording.layout import (
    BODIES,
    IS_LIQUID,
    IS_SEPARATING,
    LIQUID,
    STATE,
    contact_widths,
    shape_columns,
    state_width,
)

FLUSH_SECONDS = 0.5
"""Frames wait in memory at most so long (a flush takes some milliseconds); only a killed process loses them."""

WAITING_BYTES = 16 * 2**20
"""Nor do more than these wait."""

CHUNK_BYTES = 2**18
"""HDF5 reads and writes pieces of about this size."""

INDEX_BYTES = 2**18
"""More than one flush adds to the tables by which HDF5 finds chunks."""

Rows = dict[str, NDArray[Any]]

_NO_ANSWER = {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EACCES, errno.EPERM, errno.EROFS}
"""What is said where no room can be reserved; there the disk is believed to have it."""


@dataclass(frozen=True)
class Column:
    """What a dataset has for each frame: one row, or as many as the frame has things of a group."""

    row: tuple[int, ...]
    kind: Any
    group: str = ""
    """Where a frame may have any number of rows: the dataset `group`/end tells where they end."""
    most: int = 512
    """Rows of a chunk."""

    def chunk(self) -> tuple[int, ...]:
        row_bytes = np.dtype(self.kind).itemsize * prod(self.row)
        return (int(np.clip(CHUNK_BYTES // row_bytes, 1, self.most)), *self.row)


class FrameWriter(ABC):
    """Writes the frames of one run; what they are made of, the classes below it know."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        about: Description,
        columns: Mapping[str, Column],
        *,
        attributes: Mapping[str, np.generic],
        constants: Mapping[str, NDArray[Any]],
        statistics: Sequence[str],
        flush_seconds: float,
    ) -> None:
        require_number(about.dt, "dt", positive=True)
        self.path: Path = Path(path)
        self._flush_seconds = flush_seconds
        self._statistics = tuple(statistics)
        self._columns = _all_columns(columns, self._statistics)
        self._frames = 0
        self._ends = dict.fromkeys((column.group for column in columns.values() if column.group), 0)
        self._waiting: list[Rows] = []
        self._waiting_bytes = 0
        self._is_full = False
        texts = _texts(about)
        h5py.require()
        with self.path.open("ab"):  # a missing or locked folder raises what `open` raises
            pass
        require_room(self.path, INDEX_BYTES + sum(values.nbytes for values in constants.values()))
        self._file = h5py.File(self.path, "w", libver=("v110", "v110"))
        try:
            self._write_head({**attributes, "dt": np.float64(about.dt)}, texts, constants)
            self._datasets = {name: self._grown(name, column) for name, column in self._columns.items()}
            self._file.require_group("statistics")
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

    def write(self, frame: Frame | LiquidFrame) -> None:
        """Keep a copy of the frame, and write it to the disk with others, soon."""
        if self._is_full or not self._file:
            raise ValueError(f"{self.path}: the recording is closed, or its disk is full")
        rows = self._rows_of(frame) | self._common_rows(frame)
        self._waiting.append(rows)
        self._waiting_bytes += sum(row.nbytes for row in rows.values())
        if self._waiting_bytes > WAITING_BYTES or monotonic() - self._flushed > self._flush_seconds:
            self.flush()

    @abstractmethod
    def _rows_of(self, frame: Frame | LiquidFrame) -> Rows:
        """What each column gets of this frame. Copies: a world may use its arrays again in the next step."""

    def _common_rows(self, frame: Frame | LiquidFrame) -> Rows:
        rows = {"step": np.array(frame.step), "time": np.array(frame.time, dtype=np.float64)}
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
        ends = {group: begin + np.cumsum(self._counts(group)) for group, begin in self._ends.items()}
        blocks = {name: self._block(name, column, ends) for name, column in self._columns.items()}
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
        self._ends = {group: int(end[-1]) for group, end in ends.items()}
        self._frames, self._waiting, self._waiting_bytes = last, [], 0

    def _counts(self, group: str) -> list[int]:
        """How many rows of this group each frame has that waits."""
        name = next(name for name, column in self._columns.items() if column.group == group)
        return [len(rows[name]) for rows in self._waiting]

    def _block(self, name: str, column: Column, ends: Mapping[str, NDArray[Any]]) -> tuple[int, NDArray[Any]]:
        """What a dataset gets, and from which row on."""
        group, _, part = name.rpartition("/")
        if part == "end" and group in ends:
            return self._frames, ends[group]
        if column.group:
            return self._ends[column.group], np.concatenate([rows[name] for rows in self._waiting])
        return self._frames, np.stack([rows[name] for rows in self._waiting])

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_head(
        self, attributes: Mapping[str, np.generic], texts: Mapping[str, str], constants: Mapping[str, NDArray[Any]]
    ) -> None:
        for name, number in attributes.items():
            self._file.attrs[name] = number
        for name, text in texts.items():
            written = text.encode()
            self._file.attrs.create(name, written, dtype=f"S{max(1, len(written))}")
        for name, values in constants.items():
            self._file.create_dataset(name, data=values)

    def _grown(self, name: str, column: Column) -> Any:
        shape, most = (0, *column.row), (None, *column.row)
        return self._file.create_dataset(name, shape, column.kind, maxshape=most, chunks=column.chunk())


def _all_columns(columns: Mapping[str, Column], statistics: Sequence[str]) -> dict[str, Column]:
    """With those that every recording has."""
    made = {"step": Column((), np.int64), "time": Column((), np.float64)}
    for name, column in columns.items():
        if column.group:
            made.setdefault(f"{column.group}/end", Column((), np.int64))
        made[name] = column
    return made | {f"statistics/{name}": Column((), np.float64) for name in statistics}


def _texts(about: Description) -> dict[str, str]:
    try:
        options, seed = json.dumps(dict(about.options), allow_nan=False), json.dumps(int(about.seed))
        versions = json.dumps(dict(about.versions))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the options cannot be written as JSON: {error}") from error
    return {"scene": about.scene, "method": about.method, "options": options, "seed": seed, "versions": versions}


def require_room(path: Path, size: int) -> None:
    """Raise OSError unless so many bytes can be added to the file: limits, disk and quota have room for them.

    They are reserved for a nameless file beside it, and given back at once. (Not for the file itself: who reads it may
    rely on its not becoming shorter.) Another program may take them in the meantime, which is the blink of an eye.
    """
    if path.stat().st_size + size > _largest_file():
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    reserve = getattr(os, "posix_fallocate", None)
    if reserve is None:
        return
    try:
        with TemporaryFile(dir=path.parent) as stream:
            reserve(stream.fileno(), 0, size)
    except OSError as error:
        if error.errno not in _NO_ANSWER:
            raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error


def _largest_file() -> float:
    try:
        import resource
    except ImportError:  # a system without such limits
        return float("inf")
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return float("inf") if limit == resource.RLIM_INFINITY else float(limit)


# Frames of bodies.

CONTACTS_OF_A_CHUNK = 4096


class Recorder(FrameWriter):
    """Writes the frames of one run of bodies.

        with Recorder("run.hdf5", world.shapes(), bodies=10, dimension=3, about=Description(dt=0.01)) as recorder:
            recorder.write(world.frame())

    `statistics` names the columns of `frame.statistics`, which the first frame does not show. Every frame after a
    step must have them all (`world.frame(report)` has none; `dataclasses.replace(frame, statistics=...)` adds them);
    that of step 0 may lack what only a step can measure. An older file of that name is replaced. Leaving the block,
    however it is left, writes what still waits.
    """

    bodies: int

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
        if dimension not in (2, 3):
            raise ValueError(f"dimension is {dimension!r}; 2 or 3 is needed")
        self.bodies, self.dimension = bodies, dimension
        columns = {name: Column((bodies, state_width(name, dimension)), np.float64) for name in STATE}
        for part, width in contact_widths(dimension).items():
            kind = np.int32 if part == "bodies" else np.float64
            columns[f"contacts/{part}"] = Column(width, kind, "contacts", CONTACTS_OF_A_CHUNK)
        super().__init__(
            path,
            about,
            columns,
            attributes={name: np.int64(k) for name, k in _numbers(bodies, dimension).items()},
            constants={f"shapes/{name}": values for name, values in shape_columns(shapes, dimension).items()},
            statistics=statistics,
            flush_seconds=flush_seconds,
        )

    def _rows_of(self, frame: Frame | LiquidFrame) -> Rows:
        if not isinstance(frame, Frame):
            raise TypeError(f"the frame is a {type(frame).__name__}; this recording is of bodies and needs a Frame")
        rows: Rows = {name: self._copy(frame, name, (self.bodies, state_width(name, self.dimension))) for name in STATE}
        contacts = frame.contacts
        for part, width in contact_widths(self.dimension).items():
            values = np.array(getattr(contacts, part), dtype=np.int32 if part == "bodies" else np.float64)
            if values.shape != (contacts.gap.size, *width):
                wanted = (contacts.gap.size, *width)
                raise ValueError(f"contacts.{part} has the shape {values.shape}; {wanted} is needed")
            rows[f"contacts/{part}"] = values
        return rows

    def _copy(self, frame: Frame, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
        values = np.array(getattr(frame, name), dtype=np.float64)
        if values.shape != shape:
            raise ValueError(f"{name} of step {frame.step} has the shape {values.shape}; {shape} is needed")
        if not np.isfinite(values).all():
            body, place = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"{name}[{body}, {place}] of step {frame.step} is {values[body, place]}")
        return values


def _numbers(bodies: int, dimension: int) -> dict[str, int]:
    return {"format": BODIES, "dimension": dimension, "bodies": bodies}


# Frames of a liquid.

PARTICLES_OF_A_CHUNK = 2**15

PARTICLE_STATE = ("position", "velocity")


class LiquidRecorder(FrameWriter):
    """Writes the frames of one run of a liquid, as `Recorder` does those of bodies.

        with LiquidRecorder("run.hdf5", world.grid(), about=Description(dt=0.01)) as recorder:
            recorder.write(world.frame())

    Frames may have different numbers of particles. Positions, velocities and pressures are kept in single precision.
    """

    grid: LiquidGrid

    def __init__(
        self,
        path: str | os.PathLike[str],
        grid: LiquidGrid,
        *,
        about: Description,
        statistics: Sequence[str] = (),
        flush_seconds: float = FLUSH_SECONDS,
    ) -> None:
        d = len(grid.cells)
        if d not in (2, 3):
            raise ValueError(f"grid.cells has {d} numbers; 2 or 3 are needed")
        for axis, count in enumerate(grid.cells):
            require_count(count, f"grid.cells[{axis}]", least=1)
        require_number(grid.spacing, "grid.spacing", positive=True)
        cells = np.array(grid.cells, dtype=np.int64)
        origin, solid = (np.array(part, dtype=np.float64) for part in (grid.origin, grid.solid))
        for name, found, wanted in (
            ("origin", origin, (d,)),
            ("solid", solid, tuple(count + 1 for count in grid.cells)),
        ):
            if found.shape != wanted:
                raise ValueError(f"grid.{name} has the shape {found.shape}; {wanted} is needed")
            if not np.isfinite(found).all():
                raise ValueError(f"grid.{name}: a number is not finite")
        self.grid, self.dimension = grid, d
        particle = Column((d,), np.float32, "particles", PARTICLES_OF_A_CHUNK)
        columns = {f"particles/{name}": particle for name in PARTICLE_STATE}
        columns["cells/pressure"] = Column(tuple(grid.cells), np.float32)
        columns["cells/state"] = Column(tuple(grid.cells), np.uint8)
        super().__init__(
            path,
            about,
            columns,
            attributes={
                "format": np.int64(LIQUID),
                "dimension": np.int64(d),
                "spacing": np.float64(grid.spacing),
            },
            constants={"grid/cells": cells, "grid/origin": origin, "grid/solid": solid},
            statistics=statistics,
            flush_seconds=flush_seconds,
        )

    def _rows_of(self, frame: Frame | LiquidFrame) -> Rows:
        if not isinstance(frame, LiquidFrame):
            raise TypeError(
                f"the frame is a {type(frame).__name__}; this recording is of a liquid and needs a LiquidFrame"
            )
        cells = tuple(self.grid.cells)
        rows: Rows = {
            f"particles/{name}": _rounded(frame, name, (len(frame.position), self.dimension)) for name in PARTICLE_STATE
        }
        rows["cells/pressure"] = _rounded(frame, "pressure", cells)
        state = np.zeros(cells, dtype=np.uint8)
        for name, bit in (("liquid", IS_LIQUID), ("separating", IS_SEPARATING)):
            marked = np.asarray(getattr(frame, name))
            _require_shape(frame, name, marked.shape, cells)
            state[marked.astype(np.bool_)] |= bit
        rows["cells/state"] = state
        return rows


def _rounded(frame: LiquidFrame, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A copy in single precision; ValueError where a number is too large for it, or none."""
    given = np.asarray(getattr(frame, name), dtype=np.float64)
    _require_shape(frame, name, given.shape, shape)
    with np.errstate(over="ignore", under="ignore"):
        values = given.astype(np.float32)
    if not np.isfinite(values).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{name}[{', '.join(map(str, place))}] of step {frame.step} is {given[place]}")
    return values


def _require_shape(frame: LiquidFrame, name: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        raise ValueError(f"{name} of step {frame.step} has the shape {found}; {wanted} is needed")
