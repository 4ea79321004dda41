"""A recording behind the commands of the page.

What a recording says of how it was made is read with care: files come from strangers, and each value is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from math import inf
from typing import Any, NamedTuple

from perp.errors import FileFormatError
from perp.gallery.options import SEED
from perp.linalg.contact_compliance import require_units
from perp.problems.inputs import require_number
from perp.recording import Description, Recording
from perp.scenes import kinds
from perp.solvers.options import read_words
from perp.solvers.roster import BY_NAME
from perp.viewer.choices import MethodChoice, Recipe, Refusal, choose_method, read_scene_options, refusing
from perp.viewer.frame_encoding import encode_frame
from perp.viewer.messages import Command, Message, Outgoing, Reset, Save, TellCode
from perp.viewer.scene_message import describe_world
from perp.viewer.scene_run import StepLog
from perp.viewer.session import Session, code, state, welcome
from perp.viewer.simulation import RecordedRun, tell_recorded_frame, tell_step
from perp.worlds.contact_world import LAWS

NO_PROBLEMS = (
    "a recording holds no problems: copy the Python that makes this step again, "
    "or run the scene once more with `perp simulate --dump-problems DIR`"
)

RUN = ("model", "warm_start", "islands", "tol", "max_iterations", "method_options")
"""What `perp simulate --record` writes under options["run"]; contact_compliance and compliance_units came later."""


class Replay(Session):
    """Places are numbers of frames in the file."""

    def __init__(self, path: str) -> None:
        super().__init__()
        with refusing(FileFormatError, ImportError, OSError):
            self._recording = Recording(path)
        if len(self._recording) == 0:
            raise Refusal(f"{path}: there are no frames in it; record a longer run")
        self._place = 0
        """Of the frame that was shown last."""
        self._sought = 0

    def close(self) -> None:
        self._recording.close()

    @property
    def last(self) -> int:
        return len(self._recording) - 1

    @property
    def step_seconds(self) -> float:
        return self._recording.dt

    def open(self) -> list[Outgoing]:
        return [self.describe(), self.tell_state()]

    def tell_state(self) -> Message:
        lanes = [tell_lane(self._recording.description)]
        return state(playing=self.playing, speed=self.speed, lanes=lanes, first=0, last=self.last, can_save=False)

    def tell_code(self, place: int) -> str:
        """The Python that makes this frame again; or else that which reads it."""
        recording = self._recording
        place = min(max(place, 0), self.last)
        known = read_recipe(recording.description)
        if known is None:
            return tell_recorded_frame(str(recording.path), place)
        recipe, method, version = known
        methods: StepLog[MethodChoice] = StepLog()
        methods.note(1, method)
        return tell_step(recipe, int(recording.step[place]), [methods], version=version)

    def encode(self, place: int) -> bytes:
        with refusing(FileFormatError, OSError, advice="this frame cannot be shown; go on with another one"):
            frame = self._recording[place]
        return encode_frame(frame, place=place, statistics=frame.statistics)

    def describe(self) -> Message:
        recording = self._recording
        options = {name: value for name, value in recording.options.items() if name != "run"}
        with refusing(FileFormatError, OSError):
            frame, shapes = recording[0], recording.shapes
        name, dt, seed = recording.scene, recording.dt, recording.seed
        return describe_world(name, frame, shapes, recording.grid, dt=dt, seed=seed, options=options)

    def _answer_further(self, command: Command) -> list[Outgoing]:
        match command:
            case Reset():
                self.halt()
                self._seek(0)
                return [self.tell_state()]
            case Save():
                raise Refusal(NO_PROBLEMS)
            case TellCode(place):
                return [code(self.tell_code(place))]
        raise Refusal("this is a recording, which cannot be changed: run the scene itself with `perp view SCENE`")

    def _play(self) -> None:
        """From the frame that is shown; after the last one, from the beginning."""
        super()._play()
        if self._place == self.last and self._sought is None:
            self._sought = 0

    def _seek(self, place: int) -> None:
        self._sought = self._place = min(max(place, 0), self.last)

    def _take_step(self) -> list[Outgoing]:
        if self._place == self.last:
            self.halt()
            return [self.tell_state()]
        self._place += 1
        frame = self.encode(self._place)
        if self.playing and self._place == self.last:
            self.halt()
            return [frame, self.tell_state()]
        return [frame]

    def _show(self, place: int) -> list[Outgoing]:
        self._place = place
        return [self.encode(place)]


def load_recording(path: str, on_frame: Callable[[int], object] | None = None) -> RecordedRun:
    """All frames of a recording; `on_frame` gets how many there are so far."""
    with closing(Replay(path)) as replay:
        frames = []
        for place in range(replay.last + 1):
            frames.append(replay.encode(place))
            if on_frame is not None:
                on_frame(place + 1)
        text = replay.tell_code(replay.last)
        return RecordedRun(welcome("replay"), replay.describe(), replay.tell_state(), frames, text)


class Known(NamedTuple):
    """What makes the run again."""

    recipe: Recipe
    method: MethodChoice
    version: str
    """Of the perp that it was made with."""


def tell_lane(about: Description) -> Message:
    """A `Lane` of `messages.ts`, as far as it is known."""
    run = _run(about)
    return {
        "method": about.method,
        "options": _words(about),
        "tol": _number(run.get("tol")),
        "max_iterations": _number(run.get("max_iterations")),
    }


def read_recipe(about: Description) -> Known | None:
    """What makes this run again; None where the description does not tell it, or tells what this perp has not."""
    run, known = _run(about), kinds()
    if about.scene not in known or any(name not in run for name in RUN):
        return None
    if run.get("max_seconds") is not None:  # no run of seconds repeats
        return None
    if run["model"] not in (None, *LAWS) or run["warm_start"] not in (None, True, False) or not 0.0 < about.dt < inf:
        return None
    try:
        compliance = _compliance(run.get("contact_compliance"), run.get("compliance_units"))
        options = read_scene_options(about.scene, {name: v for name, v in about.options.items() if name != "run"})
        SEED.check(about.seed)
        method = choose_method(
            about.method, _method_options(about), run["tol"], run["max_iterations"], islands=run["islands"] is True
        )
    except (ValueError, TypeError, Refusal):
        return None
    model = None if run["model"] == options.get("model") else run["model"]
    warm_start = None if run["warm_start"] is True else run["warm_start"]
    recipe = Recipe(about.scene, options, about.seed, model, warm_start, about.dt, compliance)
    return Known(recipe, method, str(about.versions.get("perp", "of another version")))


def _method_options(about: Description) -> dict[str, Any]:
    """What the words of the command line meant; they stay words where the method is none."""
    words = _words(about)
    return read_words(BY_NAME[about.method], words) if about.method in BY_NAME else words


def _words(about: Description) -> dict[str, str]:
    """Options of the method as the command line had them: `{"relaxation": "1.2"}`."""
    return {str(name): str(word) for name, word in _mapping(_run(about).get("method_options")).items()}


def _compliance(value: Any, units: Any) -> tuple[float, str] | None:
    """What the contacts of the world were given; None: nothing, as in recordings of the time before."""
    if value is None or value == 0.0:
        return None
    require_number(value, "contact_compliance")
    require_units(units)
    return float(value), units


def _run(about: Description) -> Mapping[str, Any]:
    return _mapping(about.options.get("run"))


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and abs(value) < inf else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
