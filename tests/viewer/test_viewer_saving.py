"""The problem of a step as a file."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest

import perp
from perp.viewer.choices import Refusal
from perp.viewer.messages import Build, ChooseCompare, Save
from perp.viewer.scene_run import Memory
from perp.viewer.simulation import Simulation, pack_problem
from tests.viewer_sessions import do, small_start, take, words_of


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    session = Simulation(small_start("stacking", model="cone"))
    take(session, 40)
    do(session, ChooseCompare("same_state"))
    take(session, 2)
    return session


@pytest.mark.parametrize(("form", "suffix"), [("npz", ".npz"), ("fclib", ".hdf5")])
@pytest.mark.parametrize(("lane", "ending"), [(0, ""), (1, "_second")])
def test_a_saved_problem_comes_back_with_what_the_solver_found(
    simulation: Simulation, tmp_path: Path, form, suffix, lane, ending
):
    if form == "fclib":
        pytest.importorskip("h5py")
    [file] = simulation.handle(Save(form, 42, lane))
    assert file["name"] == f"stacking_step_000042{ending}{suffix}"
    path = tmp_path / file["name"]
    path.write_bytes(b64decode(file["base64"]))
    kept = simulation.run.moments.solved(42, lane)
    assert kept is not None
    assert kept.problem.n > 0
    assert np.array_equal(perp.load(path).b, kept.problem.b)
    assert np.array_equal(perp.load_solution(path), kept.x)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Save("npz", 0), "take a step first"),
        (Save("npz", 1000), "not taken yet"),
        (Save("npz", 3, lane=1), "no second method"),
    ],
)
def test_a_step_without_a_problem_is_a_note(simulation: Simulation, command, words):
    [note] = words_of(simulation.handle(command), "note")
    assert words in note["text"]


def test_a_problem_that_was_dropped_is_a_note_that_says_what_to_do():
    session = Simulation(small_start("stacking"), Memory(problems=2))
    take(session, 5)
    [note] = words_of(session.handle(Save("npz", 1)), "note")
    assert "copy the Python" in note["text"]


@pytest.mark.parametrize(("scene", "words"), [("stacking", "friction cone"), ("dam_break", "npz")])
def test_what_fclib_has_no_words_for_is_a_note_without_the_name_of_a_folder(scene, words):
    pytest.importorskip("h5py")
    session = Simulation(small_start("stacking"))
    if scene == "dam_break":
        do(session, Build(scene, {"cells": 16}))
    take(session, 1)
    [note] = words_of(session.handle(Save("fclib", 1)), "note")
    assert words in note["text"]
    assert note["text"].startswith(f"{scene}_step_000001.hdf5: ")


def test_a_file_that_is_too_large_for_a_page_is_refused_with_another_way(simulation: Simulation):
    kept = simulation.run.moments.solved(42, 0)
    assert kept is not None
    with pytest.raises(Refusal, match="--dump-problems"):
        pack_problem(kept, "large.npz", largest=100)
