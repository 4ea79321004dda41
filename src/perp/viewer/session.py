"""What a simulation and a replay have in common: they play, pause, step and show again, and outlive what goes wrong.

What goes to the page in JSON has one function per word; `viewer/src/messages.ts` has their types.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Literal

from perp.errors import one_line
from perp.solvers.results import Status
from perp.version import __version__
from perp.viewer.choices import Refusal, method_forms, scene_forms
from perp.viewer.layout import LAYOUT
from perp.viewer.messages import Command, Compare, Message, Outgoing, Pause, Play, Seek, Speed, Step


def welcome(mode: Literal["live", "replay"]) -> Message:
    """The first word. A replay has nothing to choose, and so no forms."""
    is_live = mode == "live"
    return {
        "type": "welcome",
        "version": __version__,
        "layout": LAYOUT,
        "mode": mode,
        "statuses": {str(status.code): status.name for status in Status},
        "methods": method_forms() if is_live else [],
        "scenes": scene_forms() if is_live else [],
    }


def state(
    *,
    playing: bool,
    speed: float | None,
    lanes: Sequence[Message],
    first: int,
    last: int,
    can_save: bool,
    compare: Compare = "off",
    suitable: list[str] | None = None,
) -> Message:
    return {
        "type": "state",
        "playing": playing,
        "speed": speed,
        "compare": compare,
        "lanes": list(lanes),
        "first": first,
        "last": last,
        "suitable": suitable,
        "can_save": can_save,
    }


def note(level: Literal["info", "warning", "error"], text: str) -> Message:
    return {"type": "note", "level": level, "text": text}


def file(name: str, content: bytes) -> Message:
    return {"type": "file", "name": name, "base64": b64encode(content).decode("ascii")}


def code(text: str) -> Message:
    return {"type": "code", "text": text}


logger = logging.getLogger(__name__)


class Session(ABC):
    """Answers commands at once, with words; frames are asked for with `advance`, when the page is ready for them.

    Neither of them raises, nor `begin`: what cannot be done is a note, and what was shown last stays.
    """

    playing: bool
    speed: float | None
    """Simulated seconds in a second; None: as fast as it goes."""

    def __init__(self) -> None:
        self.playing, self.speed = False, 1.0
        self._owed = 0
        """Steps that were asked for and not yet taken."""
        self._sought: int | None = None
        """The place that is to be shown again; only the newest such wish counts."""

    @abstractmethod
    def open(self) -> list[Outgoing]:
        """What a connection begins with, after the welcome."""

    @abstractmethod
    def tell_state(self) -> Message:
        """The `State` of `messages.ts`."""

    @property
    @abstractmethod
    def step_seconds(self) -> float:
        """The length of a step [s]."""

    @property
    def is_urgent(self) -> bool:
        """Whether there is something to show that no pace holds back."""
        return self._sought is not None or self._owed > 0

    @property
    def interval(self) -> float:
        """Wall time between two steps while playing [s]."""
        return 0.0 if self.speed is None else self.step_seconds / self.speed

    def begin(self) -> list[Outgoing]:
        """What a connection begins with; or why there is nothing to show."""
        return self._guard(self.open)

    def handle(self, command: Command) -> list[Outgoing]:
        """The answer, in words."""
        return self._guard(lambda: self._answer(command))

    def advance(self) -> list[Outgoing]:
        """The next thing to show: the place that was sought, or a step. One frame a lane, and what goes with it."""
        return self._guard(self._show_next)

    def halt(self) -> None:
        self.playing, self._owed = False, 0

    @abstractmethod
    def _take_step(self) -> list[Outgoing]:
        """The frames of the next step, and what the page has to know beside."""

    @abstractmethod
    def _show(self, place: int) -> list[Outgoing]:
        """The frames at this place."""

    @abstractmethod
    def _answer_further(self, command: Command) -> list[Outgoing]:
        """The commands that a simulation and a replay answer differently."""

    def _seek(self, place: int) -> None:
        self._sought = place

    def _play(self) -> None:
        self.playing, self._owed = True, 0

    def _answer(self, command: Command) -> list[Outgoing]:
        before = self.playing, self.speed
        match command:
            case Play():
                self._play()
            case Pause():  # answered in any case: silence means a long solve
                self.halt()
                return [self.tell_state()]
            case Step(count):
                if self.playing:
                    self.halt()
                self._owed += count
            case Seek(place):
                self._seek(place)
            case Speed(factor):
                if factor is not None and not 0.0 < factor < float("inf"):
                    raise Refusal(f"speed is {factor}; a positive number is needed, or none")
                self.speed = factor
            case _:
                return self._answer_further(command)
        return [] if before == (self.playing, self.speed) else [self.tell_state()]

    def _show_next(self) -> list[Outgoing]:
        if self._sought is not None:
            place, self._sought = self._sought, None
            return self._show(place)
        if self._owed > 0:
            self._owed -= 1
        return self._take_step()

    def _guard(self, action: Callable[[], list[Outgoing]]) -> list[Outgoing]:
        try:
            return action()
        except Refusal as refusal:
            said: Message = note("error", str(refusal))
        except MemoryError:
            said = note("error", "there is not enough memory: choose a smaller scene, or another method")
        except Exception as error:
            logger.exception("unexpected, and survived")
            said = note(
                "error", f"unexpected {type(error).__name__}: {one_line(error)} (paused; the terminal has more)"
            )
        self.halt()
        return [said, self.tell_state()]
