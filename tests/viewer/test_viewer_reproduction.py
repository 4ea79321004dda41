"""A step that is kept: the Python that makes it again is exact, and its problem comes back from a file."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perp
from perp.viewer.choices import Refusal
from perp.viewer.messages import Build, ChooseCompare, ChooseMethod, Reset, Save, TellCode
from perp.viewer.scene_run import Memory
from perp.viewer.simulation import Simulation, pack_problem
from tests.viewer_sessions import do, fingerprints, small_start, take, words_of


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs save a problem where they run."""
    monkeypatch.chdir(tmp_path)


def run_code(simulation: Simulation, place: int) -> dict[str, Any]:
    [code] = simulation.handle(TellCode(place))
    names: dict[str, Any] = {}
    exec(compile(code["text"], "reproduction", "exec"), names)
    return names


def test_methods_options_tolerances_and_limits_that_changed_on_the_way_are_made_again(capsys):
    simulation = Simulation(small_start(seed=5, model="cone", dt=0.01))
    take(simulation, 30)
    do(simulation, ChooseMethod(0, "psor", {"relaxation": 0.7}, 1e-3, 4))
    take(simulation, 3)
    do(simulation, ChooseMethod(0, "jacobi"), ChooseMethod(0, "auto", {}, 1e-4))
    take(simulation, 3)
    names = run_code(simulation, 36)
    assert names["world"].fingerprint() == simulation.run.world.fingerprint()
    for place in (30, 31, 33, 34):
        kept = simulation.run.moments.solved(place, 0)
        assert kept is not None
        assert np.array_equal(run_code(simulation, place)["report"].x, kept.x)
    assert "step 34" in capsys.readouterr().out


def test_a_compliance_of_contacts_is_made_again():
    simulation = Simulation(small_start(compliance=(1e-2, "by_load")))
    take(simulation, 30)
    names = run_code(simulation, 30)
    assert names["report"].problem.is_compliant
    assert names["world"].fingerprint() == simulation.run.world.fingerprint()


def test_the_program_saves_the_problem_of_its_step():
    simulation = Simulation(small_start("stacking"))
    take(simulation, 25)
    names = run_code(simulation, 25)
    assert names["report"].problem.n > 0
    assert np.array_equal(perp.load("stacking_step_000025.npz").b, names["report"].problem.b)


def test_a_second_method_on_the_same_state_is_asked_as_well():
    simulation = Simulation(small_start())
    take(simulation, 30)
    do(simulation, ChooseCompare("same_state"), ChooseMethod(1, "psor", {"relaxation": 0.8}, None, 3))
    take(simulation, 2)
    do(simulation, ChooseMethod(1, "jacobi"))
    take(simulation, 1)
    kept = simulation.run.moments.solved(32, 1)
    assert kept is not None
    assert np.array_equal(run_code(simulation, 32)["second"].x, kept.x)
    assert "second" not in run_code(simulation, 30)


def test_a_second_way_is_gone_again_from_where_it_parted():
    simulation = Simulation(small_start())
    take(simulation, 28)
    do(simulation, ChooseCompare("own_ways"), ChooseMethod(1, "pgs", {}, None, 2))
    take(simulation, 4)
    do(simulation, ChooseCompare("off"), ChooseCompare("own_ways"))
    take(simulation, 2)
    do(simulation, ChooseMethod(1, "jacobi", {}, None, 2))
    take(simulation, 2)
    names = run_code(simulation, 36)
    first, second = fingerprints(simulation.run)
    assert first != second
    assert (names["world"].fingerprint(), names["second_world"].fingerprint()) == (first, second)


def test_a_reset_forgets_what_was_done_before_it():
    simulation = Simulation(small_start())
    do(simulation, ChooseMethod(0, "psor"))
    take(simulation, 2)
    do(simulation, Reset())
    assert run_code(simulation, 0)["world"].fingerprint() == simulation.run.world.fingerprint()
    take(simulation, 1)
    assert run_code(simulation, 9)["world"].fingerprint() == simulation.run.world.fingerprint()


@pytest.mark.parametrize("scene", ["dam_break", "stack"])
def test_liquids_and_boxes_are_made_again(scene):
    if scene == "stack":
        pytest.importorskip("mujoco")
    simulation = Simulation(small_start(scene))
    take(simulation, 3)
    assert run_code(simulation, 3)["world"].fingerprint() == simulation.run.world.fingerprint()


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
