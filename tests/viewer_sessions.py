"""What the tests of the viewer's sessions share: small scenes, and ways to read what was said."""

from __future__ import annotations

from collections.abc import Iterable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from perp.scenes import kinds
from perp.viewer.layout import Header
from perp.viewer.messages import Command, Start, Step
from perp.viewer.session import Session, note
from perp.viewer.worker import Inbox


def small_start(scene: str = "pool1", **others: Any) -> Start:
    return Start(scene, kinds()[scene].small, **others)


def header(frame: bytes, number: Header) -> float:
    return float(np.frombuffer(frame, "<f4", count=number + 1)[number])


def frames_of(said: Iterable[Any]) -> list[bytes]:
    return [each for each in said if isinstance(each, bytes)]


def words_of(said: Iterable[Any], word: str) -> list[dict[str, Any]]:
    return [each for each in said if isinstance(each, dict) and each["type"] == word]


def do(session: Session, *commands: Command) -> list[Any]:
    """Hand over these commands, and let the session show all that is due at once."""
    said: list[Any] = []
    for command in commands:
        said += session.handle(command)
    while session.is_urgent:
        said += session.advance()
    return said


def solve_for_ever(connection: Connection, start: Start) -> None:
    """The target of a process that is never done with its first solve."""
    Inbox(connection)
    connection.send(note("info", "it begins"))
    while True:
        pass


def take(session: Session, steps: int) -> list[Any]:
    return do(session, Step(steps))


def fingerprints(run):
    """Of the worlds of a `SceneRun` that go on from here: the first lane's, and the second's where it has its own."""
    return [world.fingerprint() for world in (run.world, run._second) if world is not None]
