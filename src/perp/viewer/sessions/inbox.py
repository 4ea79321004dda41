"""Commands as they come out of the pipe, read by a thread, so that its end is seen in the middle of a long solve."""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, Full, Queue
from threading import Thread
from time import sleep

from perp.viewer.messages import Command

WAITING = 1000
"""So many commands wait here, and more of them in the pipe, until the sender has to wait."""

GRACE = 0.5
"""After the end of the pipe the process has so long [s] to end by itself."""


class PipeEnded(Exception):
    """Nobody is at the other end any more."""


class Inbox:
    """What the page said and nobody has yet answered."""

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
        os._exit(0)  # a solve may take minutes, and nobody waits for it
