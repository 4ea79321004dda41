"""When the next step of a run that is played is due, and how many steps may be under way to the page."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter

from perp.viewer.frames.frame_encoding import with_serial
from perp.viewer.layout import SERIALS

WINDOW = 2
"""So many steps, each with a frame a lane, may be on their way to the page."""


class Pace:
    """Steps at equal distances of wall time. A step that comes late is not made up for by others that come early."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._beat = -float("inf")
        """When the last step was due."""

    def delay(self, interval: float) -> float:
        """Until the next step is due, so many seconds after the last one [s]."""
        return max(0.0, self._beat + interval - self._clock())

    def begin_step(self, interval: float) -> None:
        """A step begins now. One that is late by less than an interval keeps the beat, others begin a new one."""
        now, due = self._clock(), self._beat + interval
        self._beat = due if now - due < interval else now


class Window:
    """Gives frames their serial numbers, and knows which of them the page has not acknowledged."""

    def __init__(self, steps: int = WINDOW) -> None:
        self._steps = steps
        self._serial = 0
        self._under_way: deque[tuple[int, bool]] = deque()
        """Serial number, and whether it is the last frame of its step."""

    @property
    def is_open(self) -> bool:
        """Whether the frames of one more step may be sent."""
        return sum(is_last for _, is_last in self._under_way) < self._steps

    def stamp(self, frames: Sequence[bytes]) -> list[bytes]:
        """The frames of one step, with the numbers by which they will be acknowledged."""
        stamped = []
        for place, frame in enumerate(frames, start=1):
            stamped.append(with_serial(frame, self._serial))
            self._under_way.append((self._serial, place == len(frames)))
            self._serial = (self._serial + 1) % SERIALS
        return stamped

    def acknowledge(self, serial: int) -> None:
        """The page has this frame, and so all that came before it. Numbers that are not under way say nothing."""
        if any(each == serial for each, _ in self._under_way):
            while self._under_way.popleft()[0] != serial:
                pass
