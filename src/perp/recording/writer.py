"""Frames of bodies to a file; `layout` tells what lies where."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import require_count
from perp.recording.description import Description
from perp.recording.frame import Frame, LiquidFrame
from perp.recording.frame_writer import FLUSH_SECONDS, Column, FrameWriter, Rows
from perp.recording.layout import BODIES, STATE, contact_widths, state_width
from perp.recording.shape_table import shape_columns
from perp.recording.shapes import Shape

CONTACTS_OF_A_CHUNK = 4096


class Recorder(FrameWriter):
    """Writes the frames of one run of bodies.

        with Recorder("run.hdf5", world.shapes(), bodies=10, dimension=3, about=Description(dt=0.01)) as recorder:
            recorder.write(world.frame())

    `statistics` names the columns of `frame.statistics`, which cannot be told from the first frame. Every frame after a
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
