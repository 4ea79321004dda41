"""The process that simulates, spawned as the server spawns it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from perp.viewer.layout import Header
from perp.viewer.messages import Acknowledge, Pause, Play, Speed, Start, Step
from perp.viewer.sessions.worker import run_worker
from tests.viewer_sessions import header, small_start, solve_for_ever

PATIENCE = 60.0
"""Seconds after which something that should come is not waited for any more."""

SILENCE = 0.3
"""Seconds in which nothing comes that should not."""


@contextmanager
def worker(target: Callable[[Connection, Start], None], start: Start) -> Iterator[tuple[Connection, BaseProcess]]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, start), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours, process
    finally:
        ours.close()
        process.join(PATIENCE)
        process.kill()
        process.join()


def hear(connection: Connection, *types: str) -> list[Any]:
    """The next messages, which must be of these types."""
    heard = [receive(connection) for _ in types]
    assert [type_of(each) for each in heard] == list(types)
    return heard


def hear_frame(connection: Connection) -> bytes:
    """The next frame, whatever words come before it."""
    while isinstance(message := receive(connection), dict):
        pass
    return message


def receive(connection: Connection) -> Any:
    assert connection.poll(PATIENCE), "nothing came"
    return connection.recv()


def type_of(message: Any) -> str:
    return "frame" if isinstance(message, bytes) else message["type"]


def is_still(connection: Connection) -> bool:
    """Whether words may come, but no frames."""
    while connection.poll(SILENCE):
        if isinstance(connection.recv(), bytes):
            return False
    return True


def acknowledge(connection: Connection, frame: bytes) -> None:
    connection.send(Acknowledge(int(header(frame, Header.SERIAL))))


def test_a_worker_plays_no_further_than_is_acknowledged_and_ends_with_the_pipe():
    with worker(run_worker, small_start()) as (connection, process):
        welcome, scene, _, frame = hear(connection, "welcome", "scene", "state", "frame")
        assert (welcome["mode"], scene["name"]) == ("live", "pool1")
        acknowledge(connection, frame)
        connection.send(Speed(None))
        connection.send(Play())
        first, second = hear_frame(connection), hear_frame(connection)
        assert [header(each, Header.STEP) for each in (first, second)] == [1, 2]
        assert is_still(connection)
        os.kill(process.pid, signal.SIGINT)  # Ctrl-C is not for the worker
        acknowledge(connection, first)
        third = hear_frame(connection)
        assert header(third, Header.STEP) == 3
        connection.send(Pause())
        acknowledge(connection, third)
        connection.send(Step(1))
        assert header(hear_frame(connection), Header.STEP) == 4
        assert is_still(connection)
    assert process.exitcode == 0


def test_the_end_of_the_pipe_ends_a_solve_that_takes_for_ever():
    with worker(solve_for_ever, small_start()) as (connection, process):
        hear(connection, "note")
        connection.send(Pause())
    assert process.exitcode == 0
