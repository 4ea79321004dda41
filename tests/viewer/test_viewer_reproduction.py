"""The Python that makes a step again is exact, whatever was changed on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perp
from perp.viewer.messages import ChooseCompare, ChooseMethod, Reset, TellCode
from perp.viewer.simulation import Simulation
from tests.viewer_sessions import do, fingerprints, small_start, take


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
