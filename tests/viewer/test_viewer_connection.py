"""A socket and the process behind it: both ways, and how either ends."""

from __future__ import annotations

import json
import pickle
import time
from contextlib import suppress
from threading import active_count

import pytest
import stand_in_workers
from websockets.exceptions import ConnectionClosed

from perp.viewer import worker_process
from perp.viewer.choices import first_recipe
from perp.viewer.connection import Wishes
from perp.viewer.messages import Build, ChooseCompare, ChooseMethod, Pause, Play, Reset, Seek, Speed, Start, Step

PLAY = json.dumps({"type": "play"})
PAUSE = json.dumps({"type": "pause"})
RESET = json.dumps({"type": "reset"})
METHOD = {"type": "method", "lane": 0, "name": "pgs", "options": {}, "tol": None, "max_iterations": None}

START = Start(scene="stack", options={"high": 3}, seed=1, model="cone", method="pgs", tol=1e-4, dt=0.01)


def heard(page):
    """The command that a stand-in gives back."""
    return pickle.loads(bytes.fromhex(json.loads(page.recv())["text"]))


def until_closed(page):
    """All messages that still come, and code and reason of the end."""
    said = []
    with suppress(ConnectionClosed):
        while True:
            said.append(page.recv(20))
    return said, page.close_code, page.close_reason


def enter(viewer):
    """A page that has its welcome and its first frame, and the process id behind it."""
    page = viewer.connect()
    welcome = json.loads(page.recv())
    assert page.recv() == b"frame" * 1000
    return page, welcome["pid"]


def test_commands_go_one_way_and_frames_and_words_the_other(run_viewer, wait_for, is_running):
    with run_viewer(stand_in_workers.echo, start={"scene": "here"}) as viewer:
        page = viewer.connect()
        welcome = json.loads(page.recv())
        assert welcome["start"] == "{'scene': 'here'}"
        assert page.recv() == b"frame" * 1000
        page.send(PLAY)
        page.send(json.dumps({"type": "step", "count": 3}))
        assert [heard(page), heard(page)] == [Play(), Step(3)]
        assert is_running(welcome["pid"])
        page.close()
        wait_for(lambda: not is_running(welcome["pid"]))


@pytest.mark.parametrize(
    ("message", "code", "part"),
    [
        ('{"type": "play"', 1008, "JSON"),
        (b'{"type": "play"}', 1008, "not a text"),
        ('{"type": "step", "count": 0}', 1008, "count is not a whole number"),
        (" " * 70_000, 1009, ""),
    ],
)
def test_a_bad_message_closes_its_socket_and_ends_its_process_alone(
    run_viewer, wait_for, is_running, message, code, part
):
    with run_viewer(stand_in_workers.echo) as viewer:
        (page, pid), (other, _) = enter(viewer), enter(viewer)
        page.send(message)
        said, told, reason = until_closed(page)
        assert (said, told) == ([], code)
        assert part in reason
        wait_for(lambda: not is_running(pid))
        other.send(PLAY)
        assert heard(other) == Play()
        other.close()


@pytest.mark.parametrize(
    ("message", "part"),
    [({"type": "code", "place": 0}, "SIGKILL; perhaps memory"), ({"type": "seek", "place": 0}, "exit code 7")],
)
def test_the_death_of_a_process_is_told(run_viewer, message, part):
    with run_viewer(stand_in_workers.echo) as viewer:
        page, _ = enter(viewer)
        page.send(json.dumps(message))
        [said], code, reason = until_closed(page)
        note = json.loads(said)
        assert (note["type"], note["level"], code) == ("note", "error", 1011)
        assert part in note["text"]
        assert part in reason


def test_a_reset_in_a_long_solve_brings_a_new_process_that_knows_what_was_wished(run_viewer, wait_for, is_running):
    with run_viewer(stand_in_workers.echo, patience=0.2) as viewer:
        page, pid = enter(viewer)
        for message in (METHOD, {"type": "speed", "factor": 2.0}):
            page.send(json.dumps(message))
            heard(page)
        page.send(PAUSE)
        page.send(RESET)
        assert json.loads(page.recv())["level"] == "warning"
        assert json.loads(page.recv())["pid"] != pid
        page.recv()
        assert [heard(page), heard(page)] == [ChooseMethod(0, "pgs"), Speed(2.0)]
        page.send(PLAY)
        assert heard(page) == Play()
        wait_for(lambda: not is_running(pid))
        page.close()


def test_a_pause_in_a_long_solve_is_heard_and_the_process_left_alone(run_viewer, is_running):
    with run_viewer(stand_in_workers.echo, patience=0.2) as viewer:
        page, pid = enter(viewer)
        page.send(PAUSE)
        note = json.loads(page.recv(20))
        assert (note["type"], note["level"]) == ("note", "info")
        assert "Reset" in note["text"]
        assert is_running(pid)
        page.close()


def test_a_process_that_answers_or_still_begins_is_left_alone(run_viewer, is_running):
    with run_viewer(stand_in_workers.slow, patience=0.5) as viewer:
        page = viewer.connect()
        page.send(RESET)
        pid = json.loads(page.recv())["pid"]
        page.recv()
        page.recv()
        page.send(RESET)
        page.recv()
        with pytest.raises(TimeoutError):
            page.recv(timeout=0.7)
        page.send(PLAY)
        assert heard(page) == Play()
        assert is_running(pid)
        page.close()


def test_a_process_that_does_not_listen_holds_nobody_up_and_can_be_ended(run_viewer, monkeypatch, wait_for, is_running):
    monkeypatch.setattr(worker_process, "GRACE", 0.1)
    filler = {f"option {number}": "x" * 1000 for number in range(60)}
    with run_viewer(stand_in_workers.deaf) as viewer:
        page, other = viewer.connect(), viewer.connect()
        pids = [json.loads(each.recv())["pid"] for each in (page, other)]
        flood(page, json.dumps(METHOD | {"options": filler}), lambda: other.ping().wait(20))
        assert until_closed(page) == ([], 1008, "more commands wait than a person can give")
        wait_for(lambda: not is_running(pids[0]))
    assert not is_running(pids[1])
    assert until_closed(other) == ([], 1001, "perp view was ended.")


def flood(page, message, is_awake):
    """Say the same for as long as anybody listens; the server must be awake all the time."""
    with suppress(ConnectionClosed):
        for _ in range(100):
            page.send(message)
            assert is_awake()


def test_a_page_that_does_not_read_stops_the_process_and_loses_nothing(run_viewer, monkeypatch, wait_for):
    told = []
    receive = worker_process.WorkerProcess._receive

    def count(self, message):
        told.append(time.monotonic())
        receive(self, message)

    monkeypatch.setattr(worker_process.WorkerProcess, "_receive", count)
    with run_viewer(stand_in_workers.chatter) as viewer:
        page = viewer.connect(max_queue=1, close_timeout=0.2)  # much is unread when it leaves
        wait_for(lambda: told and time.monotonic() - told[-1] > 0.3)
        assert len(told) < 200
        assert [int.from_bytes(page.recv()[:8], "little") for _ in range(100)] == list(range(1, 101))
        page.close()


def test_no_thread_is_left_when_all_pages_have_gone(run_viewer, wait_for):
    with run_viewer(stand_in_workers.echo) as viewer:
        before = active_count()
        page, _ = enter(viewer)
        page.close()
        wait_for(lambda: active_count() <= before + 1)  # the event loop keeps one that ends processes


def wishes(start, *commands):
    made = Wishes(start)
    for command in commands:
        made.note(command)
    return made


def test_without_wishes_a_process_begins_as_the_first_one_did():
    made = wishes(START, Play(), Step(3), Pause(), Seek(2), Reset())
    assert (made.start, made.commands()) == (START, [])


def test_the_same_scene_keeps_its_method_its_step_and_its_law():
    made = wishes(START, Build("stack", {"high": 5}, 7))
    assert made.start == Start(
        scene="stack", options={"high": 5}, seed=7, model="cone", method="pgs", tol=1e-4, dt=0.01
    )


def test_a_law_that_the_page_chose_is_not_overruled_by_that_of_the_command_line():
    made = wishes(START, Build("stack", {"high": 5, "model": "box"}, 7))
    assert first_recipe(made.start).options["model"] == "box"


def test_another_scene_comes_with_its_own():
    made = wishes(START, ChooseMethod(0, "psor"), ChooseMethod(1, "pgs"), Build("wall", {}, 2))
    assert made.start == Start(scene="wall", seed=2)
    assert made.commands() == [ChooseMethod(1, "pgs")]


def test_the_last_of_each_wish_counts_and_two_lanes_are_there_before_the_second_has_a_method():
    made = wishes(
        START,
        ChooseMethod(1, "nncg"),
        ChooseMethod(0, "pgs"),
        ChooseMethod(0, "psor"),
        Speed(0.5),
        Speed(None),
        ChooseCompare("same_state"),
    )
    assert made.commands() == [
        ChooseMethod(0, "psor"),
        ChooseCompare("same_state"),
        ChooseMethod(1, "nncg"),
        Speed(None),
    ]


def test_a_recording_stays_what_it_is():
    made = wishes(Start(replay="run.hdf5"), Build("wall", {}, 0))
    assert made.start == Start(replay="run.hdf5")
