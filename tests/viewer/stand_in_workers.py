"""Processes that speak as the one that simulates does, and import next to nothing, so that they start at once.

Commands stay pickled: to unpickle one is to import perp.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any


def note(text: str) -> dict[str, Any]:
    return {"type": "note", "level": "info", "text": text}


def echo(connection, start) -> None:
    """Says its process id, sends a frame, and gives back what it hears."""
    connection.send({"type": "welcome", "pid": os.getpid(), "start": repr(start)})
    connection.send(b"frame" * 1000)
    try:
        while True:
            heard = connection.recv_bytes()
            if b"TellCode" in heard:
                os.kill(os.getpid(), signal.SIGKILL)
            elif b"Seek" in heard:
                raise SystemExit(7)
            elif b"Pause" in heard:
                time.sleep(600.0)
            else:
                connection.send(note(heard.hex()))
    except (EOFError, OSError):
        return


def deaf(connection, start) -> None:
    """Never listens, and does not end when it is asked to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection.send({"type": "welcome", "pid": os.getpid()})
    while True:
        time.sleep(600.0)


def chatter(connection, start) -> None:
    """Says more than anybody reads, and counts."""
    number = 0
    with suppress(OSError):
        while True:
            number += 1
            connection.send(number.to_bytes(8, "little") + bytes(200_000))


def slow(connection, start) -> None:
    """Takes its time before the first word."""
    time.sleep(0.7)
    echo(connection, start)
