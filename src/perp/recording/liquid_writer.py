"""Frames of a liquid to a file; `layout` tells what lies where."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import require_count, require_number
from perp.recording.description import Description
from perp.recording.frame import Frame, LiquidFrame, LiquidGrid
from perp.recording.frame_writer import FLUSH_SECONDS, Column, FrameWriter, Rows
from perp.recording.layout import IS_LIQUID, IS_SEPARATING, LIQUID

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
