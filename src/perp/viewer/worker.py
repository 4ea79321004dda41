"""The process that simulates: it takes commands from a pipe, and sends words and frames into it.

A thread reads the pipe (`Inbox`), so that its end is seen in the middle of a long solve. `Pace` says when the next step
of a run is due, `Window` how many steps may be under way to the page.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, Full, Queue
from threading import Thread
from time import perf_counter, sleep

from perp.viewer.choices import Refusal
from perp.viewer.frame_encoding import with_serial
from perp.viewer.layout import SERIALS
from perp.viewer.messages import Acknowledge, Build, Command, Outgoing, Reset, Start
from perp.viewer.replay import Replay
from perp.viewer.session import Session, note, welcome
from perp.viewer.simulation import Simulation

Receive = Callable[[float | None], Command | None]
"""The next command; None where there is none after so many seconds. Raises at the end."""

Send = Callable[[Outgoing], object]

LONGEST_DELAY = 1e6
"""Seconds between two steps beyond which the next one is not waited for; clocks of the system know no such times."""

WAITING = 1000
"""So many commands wait here, and more of them in the pipe, until the sender has to wait."""

GRACE = 0.5
"""After the end of the pipe the process has so long [s] to end by itself."""

WINDOW = 2
"""So many steps, each with a frame a lane, may be on their way to the page."""


def run_worker(connection: Connection, start: Start) -> None:
    """Simulate, or replay, until the pipe ends; the target of a process.

    What comes in are commands of `messages`. What goes out are words (`dict`) and frames (`bytes`) with serial
    numbers: welcome, scene, state and the frame of step 0 first. The frames of at most `WINDOW` steps are under
    way without an acknowledgement; until it comes nothing is simulated.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which closes the pipe
    inbox = Inbox(connection)
    try:
        connection.send(welcome("live" if start.replay is None else "replay"))
        Loop(begin_session(start, inbox.next, connection.send), inbox.next, connection.send).run()
    except (PipeEnded, OSError):
        return


def begin_session(start: Start, receive: Receive, send: Send) -> Session:
    """What was asked for; or, where that cannot be had, the first scene of those that the page asks for then."""
    while True:
        try:
            return Simulation(start) if start.replay is None else Replay(start.replay)
        except Refusal as refusal:
            why = note("error", str(refusal))
        send(why)
        command = receive(None)
        while not isinstance(command, Build) or start.replay is not None:
            if not isinstance(command, Acknowledge):  # silence would mean a long solve
                send(why)
            command = receive(None)
        start = Start(command.scene, command.options, command.seed)


class Loop:
    """Commands first, whatever they are; then what is due, if the page is ready for it."""

    def __init__(
        self,
        session: Session,
        receive: Receive,
        send: Send,
    ) -> None:
        self._session, self._receive, self._send = session, receive, send
        self._window, self._pace = Window(), Pace()

    def run(self) -> None:
        """Until `receive` raises."""
        self._say(self._session.begin())
        while True:
            self.turn()

    def turn(self) -> None:
        """Answer one command; or, if none came in time, show what is due."""
        session = self._session
        command = self._receive(self._patience())
        if isinstance(command, Acknowledge):
            self._window.acknowledge(command.serial)
        elif command is not None:
            if isinstance(command, Build | Reset):  # which may take a while: a sign of life first
                session.halt()
                self._say([session.tell_state()])
            self._say(session.handle(command))
        else:
            if not session.is_urgent:
                self._pace.begin_step(session.interval)
            self._say(session.advance())

    def _patience(self) -> float | None:
        """How long to wait for a command [s]; None: there is nothing else to do."""
        if not self._window.is_open:
            return None
        if self._session.is_urgent:
            return 0.0
        if not self._session.playing:
            return None
        delay = self._pace.delay(self._session.interval)
        return delay if delay < LONGEST_DELAY else None

    def _say(self, said: list[Outgoing]) -> None:
        """Frames first: the words of a step are about them."""
        for frame in self._window.stamp([each for each in said if isinstance(each, bytes)]):
            self._send(frame)
        for each in said:
            if not isinstance(each, bytes):
                self._send(each)


class PipeEnded(Exception):
    """Nobody is at the other end any more."""


class Inbox:
    """What the page said and is not yet answered."""

    def __init__(self, connection: Connection) -> None:
        self._commands: Queue[Command | None] = Queue(WAITING)
        Thread(target=self._read, args=(connection,), daemon=True).start()

    def next(self, seconds: float | None) -> Command | None:
        """The next command; None if there is none after so long. Raises `PipeEnded` at the end."""
        try:
            command = self._commands.get(timeout=seconds)
        except Empty:
            return None
        if command is None:
            raise PipeEnded
        return command

    def _read(self, connection: Connection) -> None:
        try:
            while True:
                self._commands.put(connection.recv())
        except (EOFError, OSError):
            with suppress(Full):
                self._commands.put(None, timeout=GRACE)
        sleep(GRACE)
        os._exit(0)  # a solve may take minutes, and nothing waits for it


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
