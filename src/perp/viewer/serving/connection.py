"""One socket and the process behind it, from welcome to farewell; one that does not answer is replaced by another."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.websockets import WebSocketDisconnect

from perp.viewer.messages import Build, ChooseCompare, ChooseMethod, Command, Pause, Reset, Speed, Start, TellCode
from perp.viewer.serving.commands import WRONG, BadMessage, read_command
from perp.viewer.serving.worker_process import Message, Overrun, Target, WorkerProcess
from perp.viewer.sessions.answers import note

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

    async def _say(self, message: Message) -> bool:
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
    """How a process that nobody ended has ended."""
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
        told = (self._methods.get(0), self._compare, self._methods.get(1), self._speed)
        return [command for command in told if command is not None]

    def _build(self, wish: Build) -> None:
        if wish.scene == self.start.scene:
            # the law of friction is an option of the scene, where it has one
            model = None if "model" in wish.options else self.start.model
            self.start = replace(self.start, options=wish.options, seed=wish.seed, model=model)
        else:  # another scene comes with its own method, step and law of friction
            self.start = Start(scene=wish.scene, options=wish.options, seed=wish.seed)
            self._methods.pop(0, None)
