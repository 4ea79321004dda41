"""A live simulation behind the commands of the page."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from perp.errors import InvalidProblem, MethodRefused
from perp.solvers.results import Status
from perp.viewer.choices import Refusal
from perp.viewer.layout import Header
from perp.viewer.messages import (
    Build,
    ChooseCompare,
    ChooseMethod,
    Pause,
    Play,
    Reset,
    Seek,
    Speed,
    Start,
    Step,
)
from perp.viewer.scene_run import Memory
from perp.viewer.simulation import Simulation
from tests.viewer_sessions import do, fingerprints, frames_of, header, small_start, take, words_of


@pytest.fixture
def simulation() -> Simulation:
    session = Simulation(small_start())
    do(session)
    return session


def broken(simulation: Simulation, solve, lane: int = 0) -> None:
    """Let this function solve in a lane."""
    run = simulation.run
    run.use_method(lane, replace(run.methods[lane], solve=solve))


def diverge(problem, x0):
    return SimpleNamespace(x=np.full(problem.n, np.inf))


def places(said) -> list[tuple[int, int]]:
    return [(int(header(frame, Header.LANE)), int(header(frame, Header.PLACE))) for frame in frames_of(said)]


def test_a_session_opens_with_the_scene_its_own_method_and_the_frame_before_the_first_step():
    session = Simulation(small_start())
    scene, state = session.open()
    assert (scene["type"], scene["name"], scene["bodies"]) == ("scene", "pool1", 24)
    assert state["lanes"] == [{"method": "pgs", "options": {}, "tol": None, "max_iterations": 200}]
    assert (state["playing"], state["first"], state["last"], state["suitable"]) == (False, 0, 0, None)
    assert places(do(session)) == [(0, 0)]
    json.dumps([scene, state], allow_nan=False)


def test_the_limit_of_the_scene_holds_for_its_own_method_only():
    own = Simulation(small_start(method="pgs")).tell_state()["lanes"][0]
    other = Simulation(small_start(method="psor", method_options={"relaxation": 1.2}, tol=1e-4)).tell_state()["lanes"][
        0
    ]
    assert own["max_iterations"] == 200
    assert other == {"method": "psor", "options": {"relaxation": 1.2}, "tol": 1e-4, "max_iterations": None}


def test_a_method_that_breaks_down_pauses_once(simulation: Simulation):
    good = simulation.run.methods[0].solve

    def break_down(problem, x0):
        found = good(problem, x0)
        return replace(found, status=Status.BREAKDOWN, message="the iterate overflowed")

    broken(simulation, break_down)
    do(simulation, Play())
    said = simulation.advance()
    assert places(said) == [(0, 1)]
    told = words_of(said, "note")[0]
    assert told["level"] == "warning"
    assert "pgs has no answer in step 1: the iterate overflowed" in told["text"]
    assert not simulation.playing
    do(simulation, Play())
    assert words_of(simulation.advance(), "note") == []
    assert simulation.playing


def test_a_step_is_one_frame_and_no_more(simulation: Simulation):
    assert places(take(simulation, 1)) == [(0, 1)]
    assert not simulation.is_urgent
    assert places(take(simulation, 3)) == [(0, 2), (0, 3), (0, 4)]
    assert simulation.run.world.steps == 4


def test_a_step_while_playing_pauses(simulation: Simulation):
    [state] = words_of(simulation.handle(Play()), "state")
    assert state["playing"]
    said = simulation.handle(Step(1))
    assert not words_of(said, "state")[0]["playing"]
    assert places(do(simulation)) == [(0, 1)]


def test_pausing_takes_back_steps_that_were_not_yet_taken(simulation: Simulation):
    simulation.handle(Step(5))
    simulation.advance()
    simulation.handle(Pause())
    assert not simulation.is_urgent
    assert simulation.run.world.steps == 1


def test_methods_that_suit_are_told_after_the_first_step_and_not_after_each(simulation: Simulation):
    [state] = words_of(take(simulation, 1), "state")
    assert state["suitable"][0] == "auto"
    assert "pgs" in state["suitable"]
    take(simulation, 30)  # until discs touch
    assert words_of(take(simulation, 1), "state") == []


def test_going_back_shows_the_old_frame_and_stepping_goes_on_from_the_newest(simulation: Simulation):
    seen = frames_of(take(simulation, 3))
    assert frames_of(do(simulation, Seek(2))) == [seen[1]]
    assert places(take(simulation, 1)) == [(0, 4)]


def test_only_the_newest_of_several_seeks_is_answered(simulation: Simulation):
    take(simulation, 3)
    assert places(do(simulation, Seek(1), Seek(2), Seek(3), Seek(1))) == [(0, 1)]


def test_going_back_while_playing_pauses(simulation: Simulation):
    take(simulation, 2)
    simulation.handle(Play())
    [state] = words_of(simulation.handle(Seek(1)), "state")
    assert not state["playing"]


def test_a_method_is_switched_without_losing_the_state(simulation: Simulation):
    take(simulation, 3)
    before = fingerprints(simulation.run)
    [state] = words_of(do(simulation, ChooseMethod(0, "psor", {"relaxation": 0.9}, 1e-3, 7)), "state")
    assert state["lanes"] == [{"method": "psor", "options": {"relaxation": 0.9}, "tol": 1e-3, "max_iterations": 7}]
    assert fingerprints(simulation.run) == before
    [frame] = frames_of(take(simulation, 1))
    assert header(frame, Header.STEP) == 4
    assert header(frame, Header.TOL) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (ChooseMethod(0, "psor", {"relaxatoin": 1.0}), "relaxation"),
        (ChooseMethod(0, "psor", {"relaxation": "much"}), "relaxation"),
        (ChooseMethod(0, "pdor"), "psor"),
        (ChooseMethod(0, "pgs", {}, -1.0), "tol"),
        (ChooseMethod(2, "pgs"), "lane"),
        (Build("pol1"), "pool1"),
        (Build("pool1", {"discs": -3}), "discs"),
        (Speed(0.0), "speed"),
    ],
)
def test_what_makes_no_sense_is_a_note_and_the_next_command_works(simulation: Simulation, command, word):
    take(simulation, 1)
    before = simulation.tell_state()
    said = do(simulation, command)
    [note] = words_of(said, "note")
    assert note["level"] == "error"
    assert word in note["text"]
    assert words_of(said, "state") == [before]
    assert places(take(simulation, 1)) == [(0, 2)]


def test_a_state_that_becomes_infinite_pauses_at_the_last_good_frame(simulation: Simulation):
    [good] = frames_of(take(simulation, 1))
    broken(simulation, diverge)
    simulation.handle(Play())
    said = simulation.advance()
    assert not frames_of(said)
    assert "not finite after step 2" in words_of(said, "note")[0]["text"]
    assert (words_of(said, "state")[0]["playing"], words_of(said, "state")[0]["last"]) == (False, 1)
    assert frames_of(do(simulation, Seek(1))) == [good]
    do(simulation, ChooseMethod(0, "pgs"))
    assert places(take(simulation, 1)) == [(0, 2)]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MethodRefused("lemke refuses"), "lemke refuses: choose another method"),
        (InvalidProblem("b is infinite"), "b is infinite"),
        (MemoryError(), "not enough memory"),
        (ZeroDivisionError("by zero"), "unexpected ZeroDivisionError: by zero"),
    ],
)
def test_a_solver_that_raises_ends_the_steps_that_were_asked_for(simulation: Simulation, caplog, error, words):
    def fail(problem, x0):
        raise error

    broken(simulation, fail)
    said = take(simulation, 5)
    assert len(words_of(said, "note")) == 1
    assert words in words_of(said, "note")[0]["text"]
    assert ("Traceback" in caplog.text) == isinstance(error, ZeroDivisionError)
    assert simulation.run.world.steps == 0


def test_two_methods_on_the_same_state_solve_the_same_problem(simulation: Simulation):
    take(simulation, 40)
    said = do(simulation, ChooseCompare("same_state"), ChooseMethod(1, "pgs", {}, None, 1))
    assert places(said) == [(0, 40), (1, 40)]
    for _ in range(3):
        alone = simulation.run.world.fingerprint()
        assert places(take(simulation, 1))[0][0] == 0
        place = simulation.run.moments.last
        first, second = (simulation.run.moments.solved(place, lane) for lane in (0, 1))
        assert first is not None
        assert second is not None
        assert np.array_equal(first.problem.b, second.problem.b)
        assert not np.array_equal(first.x, second.x)
        assert simulation.run.world.fingerprint() != alone


def test_a_comparison_on_the_same_state_does_not_change_the_first_way():
    alone, compared = Simulation(small_start()), Simulation(small_start())
    do(compared, ChooseCompare("same_state"), ChooseMethod(1, "pgs", {}, None, 1))
    take(alone, 40)
    take(compared, 40)
    assert fingerprints(compared.run) == fingerprints(alone.run)


def test_two_methods_that_go_their_own_ways_part(simulation: Simulation):
    take(simulation, 30)
    do(simulation, ChooseCompare("own_ways"), ChooseMethod(1, "pgs", {}, None, 1))
    first, second = fingerprints(simulation.run)
    assert first == second
    assert places(take(simulation, 20))[-2:] == [(0, 50), (1, 50)]
    first, second = fingerprints(simulation.run)
    assert first != second


@pytest.mark.parametrize("lane", [0, 1])
@pytest.mark.parametrize("mode", ["same_state", "own_ways"])
def test_a_failure_of_one_of_two_methods_changes_neither_world(simulation: Simulation, lane, mode):
    take(simulation, 2)
    do(simulation, ChooseCompare(mode))
    broken(simulation, diverge, lane)
    before = fingerprints(simulation.run)
    [note] = words_of(take(simulation, 1), "note")
    assert note["text"].startswith(f"the {('first', 'second')[lane]} method: ")
    assert fingerprints(simulation.run) == before
    do(simulation, ChooseMethod(lane, "pgs"))
    assert places(take(simulation, 1)) == [(0, 3), (1, 3)]


def test_the_second_method_is_what_the_first_is_not():
    starts = [small_start(), small_start(method="psor"), small_start("dam_break")]
    methods = [
        [lane["method"] for lane in words_of(do(Simulation(start), ChooseCompare("own_ways")), "state")[0]["lanes"]]
        for start in starts
    ]
    assert methods == [["pgs", "nncg"], ["psor", "pgs"], ["multigrid", "pgs"]]


def test_a_comparison_that_is_switched_off_leaves_one_lane(simulation: Simulation):
    do(simulation, ChooseCompare("own_ways"))
    take(simulation, 1)
    [state] = words_of(do(simulation, ChooseCompare("off")), "state")
    assert len(state["lanes"]) == 1
    assert places(do(simulation, Seek(1))) == [(0, 1)]
    assert places(take(simulation, 1)) == [(0, 2)]


def test_a_reset_builds_the_same_world_and_keeps_methods_and_comparison(simulation: Simulation):
    begun = simulation.run.world.fingerprint()
    do(simulation, ChooseMethod(0, "psor"), ChooseCompare("own_ways"), ChooseMethod(1, "jacobi"))
    take(simulation, 3)
    said = do(simulation, Reset())
    assert words_of(said, "scene")[0]["name"] == "pool1"
    assert [lane["method"] for lane in words_of(said, "state")[0]["lanes"]] == ["psor", "jacobi"]
    assert places(said) == [(0, 0), (1, 0)]
    assert fingerprints(simulation.run) == [begun, begun]


def test_another_scene_brings_its_own_method_and_the_same_scene_keeps_it(simulation: Simulation):
    do(simulation, ChooseMethod(0, "psor"))
    [state] = words_of(do(simulation, Build("pool1", {"discs": 10}, seed=3)), "state")
    assert state["lanes"][0]["method"] == "psor"
    said = do(simulation, Build("stacking", {"discs": 3}))
    assert words_of(said, "state")[0]["lanes"][0]["method"] == "pgs"
    assert words_of(said, "scene")[0]["bodies"] == 3


def test_law_of_friction_and_length_of_steps_are_those_of_the_start():
    simulation = Simulation(small_start(model="cone", dt=0.002))
    assert simulation.run.world.model == "cone"
    scene, _ = simulation.open()
    assert scene["dt"] == simulation.step_seconds == 0.002
    do(simulation, Build("pool1", {"discs": 5}))
    assert (simulation.run.world.model, simulation.step_seconds) == ("cone", 0.002)
    do(simulation, Build("stacking", {"discs": 3}))
    assert (simulation.run.world.model, simulation.step_seconds) == ("box", 1 / 60)


@pytest.mark.parametrize(
    ("start", "word"),
    [
        (Start("dam_break", {"cells": 16}, model="cone"), "no law of friction"),
        (Start("pool1", model="ball"), "ball"),
        (Start("dam_break", {"cells": 16}, compliance=(1e-4, "si")), "no contacts"),
        (Start("pool1", compliance=(-1.0, "si")), "contact_compliance is -1"),
        (Start("pool1", dt=-1.0), "dt"),
        (Start("pool1", method="pgs", max_iterations=-1), "max_iterations"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(start, word):
    with pytest.raises(Refusal, match=word):
        Simulation(start)


def test_the_oldest_frames_make_room_and_the_page_is_told():
    simulation = Simulation(small_start(), Memory(frame_bytes=60_000))
    said = take(simulation, 200)
    moments = simulation.run.moments
    states = words_of(said, "state")
    assert 0 < moments.first < moments.last == 200
    assert states[-1]["first"] > 0
    assert len(states) < 10
    assert places(do(simulation, Seek(0))) == [(0, moments.first)]


def test_a_liquid_is_simulated_compared_and_gone_back_in():
    simulation = Simulation(small_start("dam_break"))
    do(simulation, ChooseCompare("same_state"))
    seen = frames_of(take(simulation, 2))
    assert places(seen) == [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert frames_of(do(simulation, Seek(1))) == seen[:2]
