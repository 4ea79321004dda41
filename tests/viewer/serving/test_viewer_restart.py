"""What a process is told that takes the place of another one."""

from __future__ import annotations

from perp.viewer.messages import Build, ChooseCompare, ChooseMethod, Pause, Play, Reset, Seek, Speed, Start, Step
from perp.viewer.serving.restart import Wishes
from perp.viewer.sessions.recipe import first_recipe

START = Start(scene="stack", options={"high": 3}, seed=1, model="cone", method="pgs", tol=1e-4, dt=0.01)


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
