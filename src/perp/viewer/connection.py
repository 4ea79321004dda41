"""One socket and the process behind it, from welcome to farewell; one that does not answer is replaced by another.

What the page says is JSON, read into a command of `messages`.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from starlette.websockets import WebSocketDisconnect

from perp.viewer.layout import SERIALS
from perp.viewer.messages import (
    Acknowledge,
    Build,
    ChooseCompare,
    ChooseMethod,
    Command,
    OptionValue,
    Outgoing,
    Pause,
    Play,
    Reset,
    Save,
    Seek,
    Speed,
    Start,
    Step,
    TellCode,
)
from perp.viewer.session import note
from perp.viewer.worker_process import Overrun, Target, WorkerProcess

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

PATIENCE = 3.0
"""Seconds in which a process answers, or has begun to build a world; one that does not is in a long solve."""

ANSWERED = Pause | ChooseMethod | ChooseCompare | TellCode
"""What is always answered in words, as soon as the step that is being taken is there."""

LONGEST_REASON = 123
"""Bytes of the reason for closing a socket (RFC 6455, section 5.5)."""

_LEAVING, _FAULT = 1001, 1011


class Farewell(NamedTuple):
    """Why a socket is closed: a code of RFC 6455, section 7.4.1, and words for a person."""

    code: int
    reason: str


ENDED = Farewell(_LEAVING, "perp view was ended.")


class Connection:
    """What the page says goes to the process, what the process says to the page, until either is gone."""

    def __init__(self, socket: WebSocket, start: Start, target: Target, patience: float = PATIENCE) -> None:
        self._socket, self._target, self._patience = socket, target, patience
        self._wishes = Wishes(start)
        self._over = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self._hint: asyncio.Task[None] | None = None
        self._retired: set[asyncio.Task[int | None]] = set()

    def leave(self) -> None:
        """Say farewell, since the server ends."""
        self._over.set()

    async def run(self) -> None:
        """Serve an accepted socket to its end; the process ends with it."""
        self._process = WorkerProcess(self._target, self._wishes.start)
        try:
            farewell = await _first(self._listen(), self._speak(), self._await_the_end())
            if farewell is not None:
                await self._close(farewell)
        except Exception:
            await self._close(Farewell(_FAULT, "The server met an error; its terminal says more."))
            raise
        finally:
            for task in (self._watch, self._hint):
                if task is not None:
                    task.cancel()
            await asyncio.gather(self._process.end(), *self._retired)

    async def _await_the_end(self) -> Farewell:
        await self._over.wait()
        return ENDED

    async def _listen(self) -> Farewell | None:
        """From the page to the process; returns None when the page has gone."""
        while True:
            event = await self._socket.receive()
            if event["type"] == "websocket.disconnect":
                return None
            text = event.get("text")
            if text is None:
                return Farewell(WRONG, "a message is not a text")
            try:
                command = read_command(text)
                self._process.post(command, len(text))
            except BadMessage as error:
                return Farewell(error.code, str(error))
            except Overrun:
                return Farewell(WRONG, "more commands wait than a person can give")
            self._wishes.note(command)
            if isinstance(command, Build | Reset):
                self._expect_life()
            elif isinstance(command, ANSWERED) and (self._hint is None or self._hint.done()):
                self._hint = asyncio.ensure_future(self._hint_if_silent(self._process))

    async def _speak(self) -> Farewell | None:
        """From the process to the page; returns when the process has died, or None when the page has gone."""
        while True:
            process = self._process
            message = await process.next()
            if process is not self._process:
                continue  # it was replaced, and what it said is of no interest any more
            if message is None:
                words = _last_words(await process.end())
                await self._say(note("error", words))
                return Farewell(_FAULT, words)
            if not await self._say(message):
                return None

    def _expect_life(self) -> None:
        for task in (self._watch, self._hint):
            if task is not None:
                task.cancel()
        self._watch = asyncio.ensure_future(self._replace_if_silent(self._process))

    async def _replace_if_silent(self, process: WorkerProcess) -> None:
        """Put a new process in the place of one that says nothing for a while: it is in a solve that may take hours.

        One that has not said anything yet still begins, which may take a minute on the first run of all.
        """
        if not await self._stays_silent(process):
            return
        self._process = WorkerProcess(self._target, self._wishes.start)
        for command in self._wishes.commands():
            self._process.post(command)
        self._retired.add(asyncio.ensure_future(process.end()))
        await self._say(note("warning", "The solver was in a long solve, which was ended. The scene is built anew."))

    async def _hint_if_silent(self, process: WorkerProcess) -> None:
        """Tell who waits for an answer what it waits for."""
        if await self._stays_silent(process):
            words = (
                "Heard: this waits for a step, or a scene, that takes long. Reset, or another scene, ends that at once."
            )
            await self._say(note("info", words))

    async def _stays_silent(self, process: WorkerProcess) -> bool:
        """Whether a process that has begun, and is the one behind the page, says nothing for a while."""
        heard = process.heard
        await asyncio.sleep(self._patience)
        return heard == process.heard > 0 and process.is_heard_out and process is self._process

    async def _say(self, message: Outgoing) -> bool:
        """Whether the page is still there to hear it."""
        try:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_text(json.dumps(message, allow_nan=False, separators=(",", ":")))
        except (WebSocketDisconnect, RuntimeError):  # a RuntimeError where the socket was closed before
            return False
        return True

    async def _close(self, farewell: Farewell) -> None:
        reason = farewell.reason.encode()[:LONGEST_REASON].decode(errors="ignore")
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._socket.close(farewell.code, reason)


async def _first(*errands: Coroutine[Any, Any, Farewell | None]) -> Farewell | None:
    """What the errand returns that is done first; the others are dropped."""
    tasks = [asyncio.ensure_future(errand) for errand in errands]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _last_words(code: int | None) -> str:
    """How a process ended that was not ended from here."""
    if code is None:
        return "The simulation could not be started; the terminal says more."
    if code >= 0:
        return f"The simulation has ended by itself (exit code {code}); the terminal says more."
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    hint = "; perhaps memory ran out" if name == "SIGKILL" else ""
    return f"The simulation was ended from outside ({name}{hint})."


class Wishes:
    """What the page has asked for so far, as far as it outlasts the world: scene, methods, comparison and speed."""

    def __init__(self, start: Start) -> None:
        self.start = start
        """What a new process begins with."""
        self._methods: dict[int, ChooseMethod] = {}
        self._compare: ChooseCompare | None = None
        self._speed: Speed | None = None

    def note(self, command: Command) -> None:
        """The page has said this."""
        match command:
            case Build() if self.start.replay is None:
                self._build(command)
            case ChooseMethod():
                self._methods[command.lane] = command
            case ChooseCompare():
                self._compare = command
            case Speed():
                self._speed = command
            case _:
                pass

    def commands(self) -> list[Command]:
        """What a new process hears first; methods come as commands, since a wrong one is then no more than a note."""
        wishes = (self._methods.get(0), self._compare, self._methods.get(1), self._speed)
        return [command for command in wishes if command is not None]

    def _build(self, wish: Build) -> None:
        if wish.scene == self.start.scene:
            # the law of friction is an option of the scene, where it has one
            model = None if "model" in wish.options else self.start.model
            self.start = replace(self.start, options=wish.options, seed=wish.seed, model=model)
        else:  # another scene comes with its own method, step and law of friction
            self.start = Start(scene=wish.scene, options=wish.options, seed=wish.seed)
            self._methods.pop(0, None)


# A page is a stranger: anything odd is refused. A message is an object with a `type` and exactly the keys of that type,
# each of its kind and within its range.

LARGEST = 64 * 1024
"""Bytes of a message."""

WRONG, TOO_LARGE = 1008, 1009
"""Why a socket is closed (RFC 6455, section 7.4.1)."""

NAME = 100
"""Characters of a name."""

TEXT = 1000
"""Characters of an option that is a text."""

OPTIONS = 64
"""Options of a method or of a scene."""

NUMBERS = 1000
"""Entries of an option that is a list of numbers."""

WHOLE = 2**63 - 1
"""The largest seed and the largest whole number among options."""


class BadMessage(ValueError):
    """The page said what no page of ours says; `code` is why its socket is closed."""

    def __init__(self, reason: str, code: int = WRONG) -> None:
        super().__init__(reason)
        self.code = code


def read_command(text: str) -> Command:
    """The command that this JSON text means; anything wrong with it raises `BadMessage`."""
    if len(text) > LARGEST or len(text.encode(errors="surrogatepass")) > LARGEST:
        raise BadMessage(f"a message is longer than {LARGEST} bytes", TOO_LARGE)
    try:
        message = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_read_object)
    except BadMessage:
        raise
    except RecursionError:
        raise BadMessage("the message is nested too deeply") from None
    except ValueError:  # numbers with thousands of digits are one, too
        raise BadMessage("the message is not JSON") from None
    if not isinstance(message, dict):
        raise BadMessage("the message is not an object")
    kind = message.pop("type", None)
    if not isinstance(kind, str) or kind not in _WORDS:
        raise BadMessage("the type of the message is unknown")
    return _WORDS[kind].read(kind, message)


Reader = Callable[[Any], Any]
"""Checks a value and turns it into what the command has; raises `BadMessage` that says what would be right."""


@dataclass(frozen=True)
class _Word:
    """A type of message: what it becomes, and what each of its keys holds."""

    command: Callable[..., Command]
    keys: Mapping[str, Reader]
    optional: frozenset[str] = frozenset()

    def read(self, kind: str, message: dict[str, Any]) -> Command:
        if not message.keys() <= self.keys.keys():
            raise BadMessage(f"{kind}: a key is unknown")
        missing = self.keys.keys() - self.optional - message.keys()
        if missing:
            raise BadMessage(f"{kind}: {min(missing)} is missing")
        values = {}
        for name, value in message.items():
            try:
                values[name] = self.keys[name](value)
            except BadMessage as error:
                raise BadMessage(f"{kind}: {name} is not {error}") from None
        return self.command(**values)


def _whole(low: int, high: int) -> Reader:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise BadMessage(f"a whole number in {low}..{high}")
        return value

    return read


def _number(low: float, high: float, *, open_below: bool = False) -> Reader:
    def read(value: Any) -> float:
        if not _is_finite(value) or not low <= value <= high or (open_below and value == low):
            raise BadMessage(f"a number in {'(' if open_below else '['}{low:g}, {high:g}]")
        return float(value)

    return read


def _nullable(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= NAME or not value.isprintable():
        raise BadMessage(f"a name of at most {NAME} characters")
    return value


def _one_of(*choices: str) -> Reader:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise BadMessage(f"one of {', '.join(choices)}")
        return value

    return read


def _options(value: Any) -> dict[str, OptionValue]:
    if not isinstance(value, dict) or len(value) > OPTIONS:
        raise BadMessage(f"an object of at most {OPTIONS} options")
    return {_name(name): _option(entry) for name, entry in value.items()}


def _option(value: Any) -> OptionValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= TEXT and value.isprintable():
        return value
    if isinstance(value, list) and len(value) <= NUMBERS and all(map(_is_finite, value)):
        return tuple(float(entry) for entry in value)
    if not isinstance(value, str | list) and _is_finite(value):
        return value  # type: ignore[no-any-return]
    raise BadMessage(f"options that are finite numbers, up to {NUMBERS} of them, texts, true, false or null")


def _is_finite(value: Any) -> bool:
    if type(value) is int:
        return -WHOLE <= value <= WHOLE
    return type(value) is float and isfinite(value)


def _refuse_constant(name: str) -> NoReturn:
    raise BadMessage(f"{name} is not JSON")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise BadMessage("a key stands twice in an object")
    return made


_LANE = _whole(0, 1)
_PLACE = _whole(0, SERIALS - 1)
_FASTEST = 1000.0
"""Simulated seconds in a second."""

_WORDS: Mapping[str, _Word] = {
    "ack": _Word(Acknowledge, {"serial": _whole(0, SERIALS - 1)}),
    "play": _Word(Play, {}),
    "pause": _Word(Pause, {}),
    "step": _Word(Step, {"count": _whole(1, 1000)}, frozenset({"count"})),
    "reset": _Word(Reset, {}),
    "speed": _Word(Speed, {"factor": _nullable(_number(0.0, _FASTEST, open_below=True))}),
    "build": _Word(Build, {"scene": _name, "options": _options, "seed": _whole(0, WHOLE)}),
    "method": _Word(
        ChooseMethod,
        {
            "lane": _LANE,
            "name": _name,
            "options": _options,
            "tol": _nullable(_number(0.0, inf)),
            "max_iterations": _nullable(_whole(0, 10**9)),
        },
    ),
    "compare": _Word(ChooseCompare, {"mode": _one_of("off", "same_state", "own_ways")}),
    "seek": _Word(Seek, {"place": _PLACE}),
    "save": _Word(Save, {"format": _one_of("npz", "fclib"), "place": _PLACE, "lane": _LANE}),
    "code": _Word(TellCode, {"place": _PLACE}),
}
