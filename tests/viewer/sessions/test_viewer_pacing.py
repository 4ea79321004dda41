"""Steps at equal distances, no more of them under way than the page can take, and commands before all else."""

from __future__ import annotations

from collections import deque

import pytest

from perp.viewer.layout import SERIALS, Header
from perp.viewer.messages import Acknowledge, Build, Pause, Play, Seek, Speed, Start, Step
from perp.viewer.sessions.inbox import PipeEnded
from perp.viewer.sessions.pacing import Pace, Window
from perp.viewer.sessions.simulation import Simulation
from perp.viewer.sessions.worker import Loop, begin_session
from tests.viewer_sessions import frames_of, header, small_start, words_of

FRAME = bytes(4 * 32)


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
