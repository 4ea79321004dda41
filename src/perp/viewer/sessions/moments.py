"""The steps that were seen: frames to go back to, and the problems of the last ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem


@dataclass(frozen=True)
class Memory:
    """How much is kept; what is oldest goes first. The newest step is kept in any case."""

    frame_bytes: int = 512 << 20
    problems: int = 256
    """Of so many steps."""
    problem_bytes: int = 512 << 20
    """Estimated by the arrays in them."""


class Solved(NamedTuple):
    """The problem of a step, and what the solver found."""

    problem: Problem
    x: Vector


class Moments:
    """Encoded frames and problems by place, each a list with one entry a lane."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory: Memory = Memory() if memory is None else memory
        self._frames: OrderedDict[int, list[bytes]] = OrderedDict()
        self._solved: OrderedDict[int, tuple[Sequence[Solved], int]] = OrderedDict()
        self._frame_bytes = self._solved_bytes = 0

    @property
    def first(self) -> int:
        return next(iter(self._frames))

    @property
    def last(self) -> int:
        return next(reversed(self._frames))

    def add(self, place: int, frames: Sequence[bytes], solved: Sequence[Solved] = ()) -> None:
        """The next place; the oldest ones make room for it."""
        self._frames[place] = list(frames)
        self._frame_bytes += sum(map(len, frames))
        while self._frame_bytes > self.memory.frame_bytes and len(self._frames) > 1:
            self._frame_bytes -= sum(map(len, self._frames.popitem(last=False)[1]))
        if solved:
            size = sum(array_bytes(each) for each in solved)
            self._solved[place] = (solved, size)
            self._solved_bytes += size
        while len(self._solved) > 1 and (
            len(self._solved) > self.memory.problems or self._solved_bytes > self.memory.problem_bytes
        ):
            self._solved_bytes -= self._solved.popitem(last=False)[1][1]

    def show_beside(self, frame: bytes) -> None:
        """Put a frame of the second lane beside that of the first at the last place."""
        frames = self._frames[self.last]
        self._frame_bytes += len(frame) - sum(map(len, frames[1:]))
        frames[1:] = [frame]

    def frames(self, place: int) -> list[bytes]:
        """Those of the nearest place that is kept."""
        return list(self._frames[min(max(place, self.first), self.last)])

    def solved(self, place: int, lane: int) -> Solved | None:
        """None where it was dropped, or never was."""
        kept = self._solved.get(place, ((), 0))[0]
        return kept[lane] if lane < len(kept) else None

    def newest_problem(self) -> Problem | None:
        """Of the first lane."""
        return next(reversed(self._solved.values()))[0][0].problem if self._solved else None


def array_bytes(thing: object) -> int:
    """The memory of all arrays that can be reached from this object through attributes, tuples, lists and dicts."""
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            if isinstance(each.base, np.ndarray):
                waiting.append(each.base)
            else:
                total += each.nbytes
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, tuple | list):
            waiting.extend(each)
        elif hasattr(each, "__dict__") and not isinstance(each, type | ModuleType):
            waiting.extend(vars(each).values())
    return total
