"""`perp.simulate` takes scenes by name and worlds, repeats bit by bit, and says what is wrong."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from small_worlds import Pucks, pucks

import perp
from perp.recording import Recording
from perp.scenes import catalogue
from perp.viewer.replay import read_recipe

CLOCKED = ("collide_seconds", "assemble_seconds", "solve_seconds", "move_seconds", "seconds")


@pytest.fixture
def pucks_scene(monkeypatch):
    """A small scene whose method has a limit of its own, for as long as a test runs."""
    monkeypatch.setattr(catalogue, "_CATALOGUE", dict(catalogue._CATALOGUE))
    catalogue.scene("a test", dt=0.01, method="pgs", iterations=7)(pucks)


def by_pgs(problem, x0):
    return perp.solve(problem, "pgs", x0=x0)


def measured(columns):
    """What does not depend on the clock."""
    return {name: column for name, column in columns.items() if name not in CLOCKED}


def test_the_name_of_a_scene_runs_it_with_its_own_step_method_and_limit(pucks_scene):
    result = perp.simulate("pucks", 20, tol=0.0)
    settings = result.settings
    assert (settings.scene.name, settings.method, settings.dt, settings.max_iterations) == ("pucks", "pgs", 0.01, 7)
    assert result.statistics["iterations"].max() == 7
    assert perp.Status.ITERATION_LIMIT in result.statuses
    assert perp.simulate("pucks", 20, tol=0.0, method=perp.PGS()).fingerprint == result.fingerprint
    free = perp.simulate("pucks", 20, tol=0.0, method="psor", max_iterations=9)
    assert (free.settings.max_iterations, free.statistics["iterations"].max()) == (9, 9)
    assert perp.simulate("pucks", 1, method="psor").settings.max_iterations is None


def test_a_scene_and_its_world_make_the_same_run_which_repeats_bit_by_bit():
    def run(make):
        return perp.simulate(make(perp.scenes.make("stacking", discs=5)), 30, dt=0.01, method="pgs", max_iterations=50)

    first, again, world = (run(make) for make in (lambda made: made, lambda made: made, lambda made: made.world))
    assert first.fingerprint == again.fingerprint == world.fingerprint == first.world.fingerprint()
    for other in (again, world):
        for name, column in measured(first.statistics).items():
            np.testing.assert_array_equal(other.statistics[name], column)
    assert run(lambda made: made).statuses == first.statuses


def test_a_world_is_taken_on_from_where_it_is():
    whole, parts = Pucks(3), Pucks(3)
    perp.simulate(whole, 30, dt=0.01)
    first = perp.simulate(parts, 10, dt=0.01)
    second = perp.simulate(parts, 20, dt=0.01)
    assert (first.settings.method, first.world, second.world.steps) == ("auto", parts, 30)
    assert second.fingerprint == whole.fingerprint() != first.fingerprint
    assert second.energy_start == first.summary().energy_end


def test_a_recording_says_only_what_makes_the_run_again(pucks_scene, tmp_path):
    pytest.importorskip("h5py")

    def recorded(world, **how):
        perp.simulate(world, 2, record=tmp_path / "run.hdf5", **how)
        with Recording(tmp_path / "run.hdf5") as recording:
            return recording.description

    made = perp.scenes.make("pucks")
    known = recorded(made, warm_start=False)
    assert known.scene == "pucks"
    assert read_recipe(known).recipe.warm_start is False
    later = recorded(made)
    assert (later.scene, later.method, read_recipe(later)) == ("", "pgs", None)
    assert read_recipe(recorded("pucks", method=by_pgs)) is None
    limited = recorded("pucks", max_seconds=60.0)
    assert limited.options["run"]["max_seconds"] == 60.0
    assert read_recipe(limited) is None


def test_starts_are_cold_where_it_is_asked_and_the_world_keeps_its_own_way():
    world = Pucks(2, height=0.0)
    assert perp.simulate(world, 10, dt=0.01, warm_start=False).summary().warm == 0
    assert world.warm_start is True
    assert perp.simulate(world, 10, dt=0.01).summary().warm > 0


def test_problems_go_to_a_folder_that_is_named(tmp_path):
    perp.simulate(Pucks(2), 3, dt=0.01, dump=tmp_path / "steps")
    assert len(list((tmp_path / "steps").iterdir())) == 3


def test_a_callback_that_stops_leaves_what_was_done_until_then():
    def stop(report, statistics):
        assert statistics["rows"] == report.problem.n
        if report.step == 4:
            raise StopIteration

    result = perp.simulate(Pucks(2), 20, dt=0.01, callback=stop)
    assert (result.ended.name, result.success, result.steps, result.world.steps) == ("STOPPED", False, 4, 4)
    assert result.report.step == result.frame.step == 4
    assert all(column.shape == (4,) for column in result.statistics.values())


def test_a_time_limit_is_that_of_a_solve():
    result = perp.simulate(Pucks(2, height=0.0), 3, dt=0.01, method="pgs", max_seconds=0.0)
    assert result.success
    assert set(result.statuses) == {perp.Status.TIME_LIMIT}


def test_print_tells_how_it_went_and_repr_is_a_line(pucks_scene):
    result = perp.simulate("pucks", 5, method=perp.PSOR(relaxation=1.1))
    told = str(result)
    for part in ("pucks, count=2", "psor, relaxation=1.1", "DONE: every step was taken (5 of 5", "penetration"):
        assert part in told
    assert repr(result).startswith("<SimulationResult: DONE, 5 of 5 steps of 0.01 s with psor, 5 converged")
    assert "scene" not in str(perp.simulate(Pucks(2), 1, dt=0.01))
    assert "ended  DONE" in str(perp.simulate(Pucks(2), 0, dt=0.01))


def test_a_result_can_be_pickled():
    result = perp.simulate(Pucks(2), 5, dt=0.01)
    again = pickle.loads(pickle.dumps(result))
    assert (again.fingerprint, again.world.fingerprint()) == (result.fingerprint, result.fingerprint)
    assert again.summary().as_row() == result.summary().as_row()


@pytest.mark.parametrize(
    ("world", "how", "error", "part"),
    [
        ("puks", {}, ValueError, "scene 'puks' is unknown; did you mean 'pucks'"),
        ("pucks", {"steps": -1}, ValueError, "steps is -1"),
        ("pucks", {"steps": 2.5}, TypeError, r"steps is 2\.5; a whole number"),
        ("pucks", {"dt": -0.1}, ValueError, "dt is -0.1"),
        ("pucks", {"tol": -1.0}, ValueError, "tol is -1"),
        ("pucks", {"workers": 0}, ValueError, "workers is 0"),
        ("pucks", {"method": "pgss"}, ValueError, "did you mean 'pgs'"),
        ("pucks", {"method": 7}, TypeError, "method is 7"),
        ("pucks", {"method": by_pgs, "tol": 1e-3}, ValueError, r"tol is 0\.001, which is for methods"),
        ("pucks", {"method": by_pgs, "islands": True}, ValueError, "islands is True, which is for methods"),
        (Pucks(2), {}, ValueError, "dt is missing: only a scene has a length of step of its own"),
        (3, {}, TypeError, "world is 3; a world, a scene of perp.scenes.make or the name of a scene"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_done(pucks_scene, tmp_path, world, how, error, part):
    with pytest.raises(error, match=part):
        perp.simulate(world, **{"steps": 2, "record": tmp_path / "run.hdf5", "dump": tmp_path / "steps"} | how)
    assert list(tmp_path.iterdir()) == []


def test_a_class_of_methods_stands_for_the_method():
    assert perp.simulate(Pucks(2), 3, dt=0.01, method=perp.PGS).settings.method == perp.PGS()


def test_importing_perp_does_not_load_simulations():
    check = (
        "import perp, sys; sys.exit('perp.simulation' in sys.modules or perp.simulate is not perp.simulation.simulate)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
