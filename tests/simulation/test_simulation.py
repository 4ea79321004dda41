"""Runs of worlds: what is measured, how they end, what they leave on disk."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from small_worlds import GRAVITY, MASS, RADIUS, Pucks

import perp
from perp.errors import FileFormatError
from perp.lab.results import to_json
from perp.problems.files import load, load_solution
from perp.recording import Recording
from perp.simulation import Ending, ProblemFolder, simulate
from perp.simulation.run import open_recorder
from perp.simulation.settings import make_solve
from perp.simulation.summary import kind_of

DT = 0.01


def test_a_run_takes_its_steps_and_sums_them_up():
    world = Pucks(4)
    result = simulate(world, 60, dt=DT, method="pgs")
    summary = result.summary()
    assert (summary.ended, summary.steps, summary.steps_wanted) == (Ending.DONE, 60, 60)
    assert (result.success, result.steps, result.world) == (True, 60, world)
    assert result.statuses == (perp.Status.CONVERGED,) * 60
    assert world.steps == 60
    assert summary.failed_step is None
    assert summary.converged == 60
    assert 0 < summary.warm < 60
    assert (summary.contacts_max, summary.rows_max) == (4, 8)
    assert 0.0 <= summary.residual_mean <= summary.residual_max <= 1e-8
    assert 0.0 <= summary.energy_error_mean <= summary.energy_error_max <= 1e-8
    assert 0.0 < summary.iterations_mean <= summary.iterations_max
    assert summary.fingerprint == result.fingerprint == world.fingerprint()
    np.testing.assert_array_equal(result.frame.position, world.position)
    assert set(result.statistics) == set(kind_of(world).statistics) > {"residual", "contacts", "penetration"}
    assert all(column.shape == (60,) for column in result.statistics.values())


def test_the_energy_is_that_of_the_world_and_its_drift_is_relative_to_the_start():
    world = Pucks(1, height=0.0, speed=1.0)
    start = world.energy()
    summary = simulate(world, 200, dt=DT, method="pgs").summary()
    assert summary.energy_start == start
    assert summary.energy_end == world.energy()
    assert summary.energy_drift == (world.energy() - start) / start
    # a disc that slides until it rolls keeps two thirds of its speed, and two thirds of its energy
    rolling = 0.5 * MASS * (2.0 / 3.0) + MASS * GRAVITY * RADIUS
    assert summary.energy_end == pytest.approx(rolling, rel=1e-12)
    assert summary.energy_rise <= 1e-12


def test_a_world_at_zero_energy_has_a_drift_all_the_same():
    world = Pucks(1, height=0.0, speed=0.0)
    world.energy = lambda: 0.0
    assert simulate(world, 3, dt=DT, method="pgs").summary().energy_drift == 0.0


def test_times_leave_out_the_first_step_and_all_measuring():
    result = simulate(Pucks(2), 10, dt=DT, method="pgs")
    summary, columns = result.summary(), result.statistics
    parts = sum(columns[f"{part}_seconds"] for part in ("collide", "assemble", "solve", "move"))
    np.testing.assert_allclose(columns["seconds"], parts, rtol=1e-12)
    assert summary.step_seconds_mean == np.mean(columns["seconds"][1:])
    assert summary.solve_seconds_median == np.median(columns["solve_seconds"][1:])
    assert summary.first_step_seconds == columns["seconds"][0]
    shares = (summary.collide_share, summary.assemble_share, summary.solve_share, summary.move_share)
    assert sum(shares) == pytest.approx(1.0)


def test_no_steps_are_a_run_as_well():
    summary = simulate(Pucks(2), 0, dt=DT, method="pgs").summary()
    assert (summary.ended, summary.steps) == (Ending.DONE, 0)
    assert json.loads(to_json(summary.as_row()))["residual_mean"] is None


def test_a_row_is_plain_data():
    row = json.loads(to_json(simulate(Pucks(2), 5, dt=DT, method="pgs").summary().as_row()))
    assert row["ended"] == "DONE"
    assert row["steps"] == 5
    assert row["steps_per_second"] > 0.0


def test_any_function_may_solve_and_methods_are_told_what_they_are_to_keep_to():
    asked = []

    def own(problem, x0):
        asked.append(x0)
        return SimpleNamespace(x=perp.solve(problem, "pgs", x0=x0).x)

    summary = simulate(Pucks(2), 20, dt=DT, method=own).summary()
    assert len(asked) == 20
    assert (summary.method, summary.converged, summary.iterations_max) == ("own", 0, 0)
    assert summary.residual_max <= 1e-8
    limited = simulate(Pucks(2), 20, dt=DT, method=perp.PGS(), tol=0.0, max_iterations=3).summary()
    assert limited.iterations_max == 3
    assert limited.method == perp.PGS().label
    with pytest.raises(ValueError, match="did you mean 'pgs'"):
        simulate(Pucks(2), 1, dt=DT, method="pgss")


def test_islands_make_the_same_motion():
    whole, apart = Pucks(5), Pucks(5)
    simulate(whole, 40, dt=DT, method="pgs")
    summary = simulate(apart, 40, dt=DT, method="pgs", islands=True, workers=2).summary()
    np.testing.assert_allclose(apart.position, whole.position, rtol=0.0, atol=1e-9)
    assert summary.converged == 40
    solve = make_solve("pgs", islands=True)
    report = Pucks(5, height=0.0).step(DT, solve)
    assert hasattr(report.solution, "islands")


@pytest.mark.parametrize("wrong", [{"steps": -1}, {"steps": 1.5}, {"dt": 0.0}, {"dt": np.nan}, {"tol": -1.0}])
def test_what_makes_no_sense_is_refused_before_the_first_step(wrong):
    world = Pucks(2)
    with pytest.raises((ValueError, TypeError), match=f"{next(iter(wrong))} is"):
        simulate(world, **{"steps": 3, "dt": DT, "method": "pgs"} | wrong)
    assert world.steps == 0


def test_the_callback_sees_each_step_and_may_stop_the_run():
    seen = []

    def watch(report, measured):
        seen.append((report.step, measured["contacts"]))
        if report.step == 7:
            raise StopIteration

    result = simulate(Pucks(2), 20, dt=DT, method="pgs", callback=watch)
    assert [step for step, _ in seen] == list(range(1, 8))
    assert (result.ended, result.steps) == (Ending.STOPPED, 7)


def recorded(world, path, steps, method="pgs", callback=None):
    with open_recorder(path, world, DT, scene="pucks", options={"count": world.count}, method="pgs") as recorder:
        return simulate(world, steps, dt=DT, method=method, record=recorder, callback=callback)


def test_a_recording_has_every_frame_and_what_was_measured(tmp_path):
    pytest.importorskip("h5py")
    world, path = Pucks(3, height=0.0), tmp_path / "run.hdf5"
    result = recorded(world, path, 30)
    with Recording(path) as recording:
        assert len(recording) == 31
        assert (recording.scene, recording.options, recording.dt) == ("pucks", {"count": 3}, DT)
        assert recording.description.versions["perp"] == perp.__version__
        np.testing.assert_array_equal(recording[0].position, Pucks(3, height=0.0).position)
        np.testing.assert_array_equal(recording[-1].position, world.position)
        for name, column in result.statistics.items():
            np.testing.assert_array_equal(recording.statistics[name][1:], column)
        assert recording[0].statistics == {"energy": result.energy_start}
        last = recording[-1].contacts
        # at rest the ground carries the weight, and discs that roll need no friction
        np.testing.assert_allclose(last.impulse, np.tile([0.0, MASS * GRAVITY * DT], (3, 1)), atol=1e-9)
        assert [shape.form for shape in recording.shapes] == ["disc"] * 3 + ["half_plane"]


def test_a_state_that_becomes_infinite_ends_the_run_and_keeps_the_last_good_frame(tmp_path):
    pytest.importorskip("h5py")
    world, path = Pucks(2, boost=1e60), tmp_path / "run.hdf5"
    result = recorded(world, path, 50)
    assert result.ended is Ending.NOT_FINITE
    assert result.failed_step == result.steps + 1 == world.steps + 1
    assert f"after step {result.failed_step}" in result.message
    json.loads(to_json(result.summary().as_row()))
    with Recording(path) as recording:
        assert len(recording) == result.steps + 1
        np.testing.assert_array_equal(recording[-1].velocity, world.v[:, :2])
        assert np.isfinite(recording[-1].position).all()


@pytest.mark.parametrize("moment", ["solve", "after"])
def test_an_interrupt_ends_the_run_and_keeps_what_was_recorded(tmp_path, moment):
    pytest.importorskip("h5py")

    def solve(problem, x0):
        if moment == "solve" and world.steps == 5:
            raise KeyboardInterrupt
        return perp.solve(problem, "pgs", x0=x0)

    def watch(report, measured):
        if moment == "after" and report.step == 5:
            raise KeyboardInterrupt

    world, path = Pucks(2), tmp_path / "run.hdf5"
    result = recorded(world, path, 50, solve, watch)
    assert (result.ended, result.steps) == (Ending.INTERRUPTED, 5)
    assert "after step 5" in result.message
    with Recording(path) as recording:
        assert len(recording) == 6
        np.testing.assert_array_equal(recording[-1].position, world.position)


def test_problems_are_dumped_with_their_impulses_and_solve_to_the_same_residual(tmp_path):
    world = Pucks(3, warm_start=False)
    result = simulate(world, 25, dt=DT, method="pgs", dump=ProblemFolder(tmp_path / "new" / "steps", world))
    files = sorted((tmp_path / "new" / "steps").iterdir())
    assert [file.name for file in files] == [f"step_{k:06d}.npz" for k in range(1, 26)]
    for file, residual, rows in zip(files, result.statistics["residual"], result.statistics["rows"], strict=True):
        problem = load(file)
        assert problem.n == rows
        assert perp.verify(problem, load_solution(file)).residual == residual
        assert perp.solve(problem, "pgs").residual == residual


def test_problems_are_dumped_for_siconos(tmp_path):
    pytest.importorskip("h5py")
    world = Pucks(3, height=0.0, model="cone")
    simulate(world, 2, dt=DT, method="block_gauss_seidel", dump=ProblemFolder(tmp_path, world, "fclib"))
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["step_000001.hdf5", "step_000002.hdf5"]
    problem = load(tmp_path / "step_000002.hdf5")
    assert (problem.kind, problem.n) == ("contact/cone", 6)
    assert perp.verify(problem, load_solution(tmp_path / "step_000002.hdf5")).residual <= 1e-8


def test_what_fclib_has_no_words_for_is_refused(tmp_path):
    pytest.importorskip("h5py")
    with pytest.raises(FileFormatError, match="this world has model='box'"):
        ProblemFolder(tmp_path / "steps", Pucks(2), "fclib")
    assert not (tmp_path / "steps").exists()
    world = Pucks(2, model="cone", limits=True)
    with pytest.raises(FileFormatError, match=r"step_000001.hdf5: FCLIB holds contacts only, and 2 rows are none"):
        simulate(world, 3, dt=DT, method="auto", dump=ProblemFolder(tmp_path / "steps", world, "fclib"))
    assert simulate(world, 3, dt=DT, method="auto", dump=ProblemFolder(tmp_path / "others", world)).steps == 3


def test_problems_of_two_runs_do_not_mix(tmp_path):
    world = Pucks(2)
    simulate(world, 2, dt=DT, method="pgs", dump=ProblemFolder(tmp_path, world))
    with pytest.raises(FileFormatError, match="problems of another run are here"):
        ProblemFolder(tmp_path, world)
    with pytest.raises(ValueError, match="did you mean 'fclib'"):
        ProblemFolder(tmp_path / "new", world, "fclb")


def test_the_same_run_has_the_same_fingerprint_and_another_has_not():
    first, second, other = (simulate(Pucks(3, speed=speed), 30, dt=DT, method="pgs") for speed in (1.0, 1.0, 1.1))
    assert first.fingerprint == second.fingerprint != other.fingerprint
