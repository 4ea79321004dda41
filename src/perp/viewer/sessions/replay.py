"""A recording behind the commands of the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from perp.errors import FileFormatError
from perp.recording import Recording
from perp.viewer.frames.frame_encoding import encode_frame
from perp.viewer.frames.scene_message import describe_world
from perp.viewer.messages import Command, Reset, Save, TellCode
from perp.viewer.sessions.answers import Message, Outgoing, code, state, welcome
from perp.viewer.sessions.method_choice import MethodChoice
from perp.viewer.sessions.recorded_recipe import read_recipe, tell_lane
from perp.viewer.sessions.recorded_run import RecordedRun
from perp.viewer.sessions.refusals import Refusal, refusing
from perp.viewer.sessions.reproduction import tell_recorded_frame, tell_step
from perp.viewer.sessions.session import Session
from perp.viewer.sessions.step_log import StepLog

NO_PROBLEMS = (
    "a recording holds no problems: copy the Python that makes this step again, "
    "or run the scene once more with `perp simulate --dump-problems DIR`"
)


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
    """All frames of a recording; `on_frame` is told how many there are so far."""
    with closing(Replay(path)) as replay:
        frames = []
        for place in range(replay.last + 1):
            frames.append(replay.encode(place))
            if on_frame is not None:
                on_frame(place + 1)
        text = replay.tell_code(replay.last)
        return RecordedRun(welcome("replay"), replay.describe(), replay.tell_state(), frames, text)
