"""What is kept of the steps that were seen, and what held in each of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import perp
from perp.viewer.scene_run import Memory, Moments, Solved, StepLog, array_bytes


def solved(n: int = 4) -> Solved:
    return Solved(perp.LCP(np.eye(n), -np.ones(n)), np.ones(n))


def test_the_oldest_frames_go_and_the_newest_stays():
    moments = Moments(Memory(frame_bytes=25))
    for place in range(4):
        moments.add(place, [bytes(10)])
    assert (moments.first, moments.last) == (2, 3)
    moments.add(4, [bytes(100)])
    assert (moments.first, moments.last) == (4, 4)


def test_a_place_that_is_not_kept_shows_the_nearest():
    moments = Moments(Memory(frame_bytes=2))
    for place in range(4):
        moments.add(place, [bytes([place])])
    assert [moments.frames(place) for place in (0, 2, 9)] == [[b"\2"], [b"\2"], [b"\3"]]


def test_problems_are_limited_in_number_and_in_size():
    few, small = Moments(Memory(problems=2)), Moments(Memory(problem_bytes=1))
    for moments in (few, small):
        moments.add(0, [b""])
        for place in range(1, 5):
            moments.add(place, [b""], [solved()])
    assert [few.solved(place, 0) is None for place in range(5)] == [True, True, True, False, False]
    assert [small.solved(place, 0) is None for place in range(5)] == [True, True, True, True, False]
    assert few.solved(4, 1) is None


def test_a_frame_put_beside_the_last_takes_the_place_of_an_earlier_one():
    moments = Moments(Memory(frame_bytes=30))
    moments.add(0, [bytes(10)])
    for _ in range(5):
        moments.show_beside(bytes(10))
    moments.add(1, [bytes(10)])
    assert (moments.first, [len(frame) for frame in moments.frames(0)]) == (0, [10, 10])


def test_memory_is_counted_once_for_shared_arrays_and_for_views_of_them():
    numbers = np.zeros(100)
    things = SimpleNamespace(first=numbers, second=[numbers[10:20], {"third": (numbers,)}], module=np)
    things.itself = things
    assert array_bytes(things) == 800


def test_a_problem_is_at_least_as_large_as_its_matrix():
    assert 8 * 50 * 50 <= array_bytes(solved(50)) < 10 * 8 * 50 * 50


def test_a_log_cuts_steps_where_the_value_changed():
    log: StepLog[str] = StepLog()
    log.note(1, "a")
    log.note(4, "never used")
    log.note(4, "b")
    log.note(9, "c")
    assert log.spans(1, 9) == [(1, 3, "a"), (4, 8, "b"), (9, 9, "c")]
    assert log.spans(2, 5) == [(2, 3, "a"), (4, 5, "b")]
    assert log.spans(5, 4) == []
    assert log.at(8) == (4, 8, "b")
