"""The process that simulates, spawned as the server spawns it."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Event, Thread
from typing import Any

import pytest

from perp.viewer import worker as worker_module
from perp.viewer.layout import SERIALS, Header
from perp.viewer.messages import Acknowledge, Build, Pause, Play, Seek, Speed, Start, Step
from perp.viewer.simulation import Simulation
from perp.viewer.worker import Inbox, Loop, Pace, PipeEnded, Window, begin_session, run_worker
from tests.viewer_sessions import frames_of, header, small_start, solve_for_ever, words_of

PATIENCE = 60.0
"""Seconds after which something that should come is not waited for any more."""

SILENCE = 0.3
"""Seconds in which nothing comes that should not."""

MANY = 20_000

"""Commands that no pipe holds."""

FRAME = bytes(4 * 32)


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


@pytest.fixture
def gone(monkeypatch) -> Event:
    """Set in the place of the end of the process."""
    ended = Event()
    monkeypatch.setattr(worker_module, "GRACE", 0.02)
    monkeypatch.setattr(worker_module.os, "_exit", lambda code: ended.set())
    return ended


def test_who_floods_has_to_wait_and_nothing_is_lost(monkeypatch, gone):
    monkeypatch.setattr(worker_module, "WAITING", 3)
    ours, theirs = Pipe()
    inbox = Inbox(theirs)

    def flood():
        for place in range(MANY):
            ours.send(Seek(place))
        ours.close()

    sender = Thread(target=flood)
    sender.start()
    sender.join(0.2)
    assert sender.is_alive()
    assert [inbox.next(20.0) for _ in range(MANY)] == [Seek(place) for place in range(MANY)]
    with pytest.raises(PipeEnded):
        inbox.next(20.0)
    sender.join()
    assert gone.wait(20)
    theirs.close()


def test_the_end_of_the_pipe_is_the_end_of_the_process_though_nobody_takes_the_commands(monkeypatch, gone):
    monkeypatch.setattr(worker_module, "WAITING", 3)
    ours, theirs = Pipe()
    Inbox(theirs)
    for place in range(3):
        ours.send(Seek(place))
    ours.close()
    assert gone.wait(20)
    theirs.close()


def test_no_command_in_time_is_none(gone):
    ours, theirs = Pipe()
    assert Inbox(theirs).next(0.0) is None
    ours.close()
    assert gone.wait(20)
    theirs.close()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def serial(frame: bytes) -> int:
    return int(header(frame, Header.SERIAL))


def test_steps_keep_the_beat_though_they_begin_a_little_late():
    clock = Clock()
    pace = Pace(clock)
    assert pace.delay(0.5) == 0.0
    pace.begin_step(0.5)
    clock.now += 0.75
    pace.begin_step(0.5)
    assert pace.delay(0.5) == 0.25


def test_a_slow_step_is_not_made_up_for():
    clock = Clock()
    pace = Pace(clock)
    pace.begin_step(0.5)
    clock.now += 10.0
    pace.begin_step(0.5)
    assert pace.delay(0.5) == 0.5


def test_a_new_speed_holds_at_once():
    clock = Clock()
    pace = Pace(clock)
    pace.begin_step(1000.0)
    assert pace.delay(1000.0) == 1000.0
    assert pace.delay(0.0) == 0.0


def test_the_window_counts_steps_and_not_frames():
    window = Window(2)
    first, second = window.stamp([FRAME, FRAME]), window.stamp([FRAME])
    assert [serial(frame) for frame in first + second] == [0, 1, 2]
    assert not window.is_open
    window.acknowledge(0)
    assert not window.is_open
    window.acknowledge(1)
    assert window.is_open


def test_an_acknowledgement_holds_for_all_earlier_frames_and_an_unknown_one_for_none():
    window = Window(2)
    window.stamp([FRAME, FRAME])
    window.stamp([FRAME, FRAME])
    window.acknowledge(77)
    assert not window.is_open
    window.acknowledge(3)
    window.stamp([FRAME])
    assert window.is_open
    window.acknowledge(3)
    window.stamp([FRAME])
    assert not window.is_open


def test_serial_numbers_begin_again():
    window = Window(2)
    window._serial = SERIALS - 1
    last, next_one = window.stamp([FRAME, FRAME])
    assert (serial(last), serial(next_one)) == (SERIALS - 1, 0)
    window.acknowledge(0)
    assert window.is_open


class Page:
    """A pipe without a process: says what it was told to say, and hears."""

    def __init__(self, *commands) -> None:
        self.commands, self.heard = deque(commands), []

    def receive(self, seconds):
        assert self.commands or seconds == 0.0, "the loop would wait here"
        return self.commands.popleft() if self.commands else None

    def serials(self) -> list[int]:
        return [serial(frame) for frame in frames_of(self.heard)]


@pytest.fixture
def page() -> Page:
    return Page()


@pytest.fixture
def loop(page: Page) -> Loop:
    return Loop(Simulation(small_start()), page.receive, page.heard.append)


def turn(loop: Loop, page: Page, *commands) -> float | None:
    """Let the loop answer these commands, and show what is due, if anything; how long it would wait then."""
    page.commands.extend(commands)
    while page.commands or loop._patience() == 0.0:
        loop.turn()
    return loop._patience()


def test_without_acknowledgements_two_steps_come_and_then_nothing_however_long_one_waits(loop: Loop, page: Page):
    patience = turn(loop, page, Speed(None), Play())
    assert page.serials() == [0, 1]
    assert patience is None
    turn(loop, page, Acknowledge(0))
    assert page.serials() == [0, 1, 2]


def test_a_seek_waits_for_the_window_and_only_the_newest_is_answered(loop: Loop, page: Page):
    turn(loop, page, Step(1))
    page.commands.extend([Seek(0), Seek(1), Seek(0)])
    assert turn(loop, page) is None
    assert page.serials() == [0, 1]
    turn(loop, page, Acknowledge(1))
    assert page.serials() == [0, 1, 2]
    assert header(frames_of(page.heard)[-1], Header.PLACE) == 0


def test_playing_waits_until_a_step_is_due_and_stepping_does_not(loop: Loop, page: Page):
    turn(loop, page)
    assert turn(loop, page, Acknowledge(0)) is None
    patience = turn(loop, page, Speed(1e-3), Play())
    assert 10.0 < patience < 17.0
    assert page.serials() == [0, 1]
    turn(loop, page, Acknowledge(1), Step(1))
    assert page.serials() == [0, 1, 2]


@pytest.mark.parametrize("speed", [1e-12, 1e-300, 5e-324])
def test_a_step_that_nobody_will_live_to_see_is_not_waited_for(loop: Loop, page: Page, speed: float):
    turn(loop, page)
    assert turn(loop, page, Acknowledge(0), Speed(speed), Play()) is None
    assert page.serials() == [0, 1]
    turn(loop, page, Acknowledge(1), Speed(None))
    assert page.serials() == [0, 1, 2, 3]


def test_a_pause_is_answered_though_nothing_plays(loop: Loop, page: Page):
    turn(loop, page, Pause())
    assert [word["playing"] for word in words_of(page.heard, "state")] == [False]


def test_building_gives_a_sign_of_life_before_the_work(loop: Loop, page: Page):
    turn(loop, page, Play())
    page.heard.clear()
    page.commands.append(Build("stacking", {"discs": 3}))
    loop.turn()
    assert [word["type"] for word in page.heard] == ["state", "scene", "state"]
    assert not page.heard[0]["playing"]


def test_a_page_whose_scene_cannot_be_had_may_ask_for_another(page: Page):
    page.commands.extend([Play(), Acknowledge(0), Build("pool2", {"discs": -1}), Build("pool2", {"discs": 4})])
    session = begin_session(Start("pool1", {"disks": 4}), page.receive, page.heard.append)
    told = [note["text"] for note in words_of(page.heard, "note")]
    assert ["disks" in text for text in told] == [True, True, False]
    assert "discs is -1" in told[2]
    assert session.open()[0]["name"] == "pool2"


def test_a_recording_that_is_not_there_is_a_note(page: Page):
    def receive(seconds):
        raise PipeEnded

    with pytest.raises(PipeEnded):
        begin_session(Start(replay="missing.hdf5"), receive, page.heard.append)
    assert "missing.hdf5" in page.heard[0]["text"]
