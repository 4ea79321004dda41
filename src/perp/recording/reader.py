"""Recordings read back, frame by frame; `layout` tells what lies where."""

from __future__ import annotations

import json
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
from perp.recording.columns import BodyColumns, LiquidColumns
from perp.recording.description import Description
from perp.recording.frame import Frame, LiquidFrame, LiquidGrid
from perp.recording.guarded_columns import ColumnGroup, blaming, open_columns
from perp.recording.layout import BODIES, LIQUID
from perp.recording.shapes import Shape

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
