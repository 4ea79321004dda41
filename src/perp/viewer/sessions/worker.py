"""The process that simulates: it takes commands from a pipe, and sends words and frames into it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from multiprocessing.connection import Connection

from perp.viewer.messages import Acknowledge, Build, Command, Reset, Start
from perp.viewer.sessions.answers import Outgoing, note, welcome
from perp.viewer.sessions.inbox import Inbox, PipeEnded
from perp.viewer.sessions.pacing import Pace, Window
from perp.viewer.sessions.refusals import Refusal
from perp.viewer.sessions.replay import Replay
from perp.viewer.sessions.session import Session
from perp.viewer.sessions.simulation import Simulation

Receive = Callable[[float | None], Command | None]
"""The next command; None where there is none after so many seconds. Raises at the end."""

Send = Callable[[Outgoing], object]

LONGEST_DELAY = 1e6
"""Seconds between two steps beyond which nobody waits for the next one; clocks of the system know no such times."""


def run_worker(connection: Connection, start: Start) -> None:
    """Simulate, or replay, until the pipe ends; the target of a process.

    What comes in are commands of `messages`. What goes out are words (`dict`) and frames (`bytes`) with serial
    numbers: welcome, scene, state and the frame of step 0 first. The frames of at most `pacing.WINDOW` steps are under
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
