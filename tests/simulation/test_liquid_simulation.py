"""Runs of a liquid: what is measured of it, recorded, dumped and summed up."""

from __future__ import annotations

import json

import numpy as np
import pytest
from small_worlds import Pucks

import perp
from perp.errors import FileFormatError
from perp.lab.results import to_json
from perp.problems.files import load, load_solution
from perp.recording import Recording
from perp.simulation import ContactSummary, LiquidSummary, ProblemFolder, simulate
from perp.simulation.run import measure_step, open_recorder
from perp.simulation.summary import CONTACTS, LIQUID_STATISTICS, LIQUIDS, OTHERS, STATISTICS, kind_of
from perp.worlds.world import World

DT = 1 / 120


def dam(**options):
    return perp.scenes.make("dam_break", cells=16, **options).world


def test_all_worlds_share_statistics_and_each_kind_has_its_own():
    assert kind_of(dam()) is LIQUIDS
    assert kind_of(Pucks(2)) is CONTACTS
    assert set(LIQUIDS.statistics) & set(CONTACTS.statistics) == set(STATISTICS) == set(OTHERS.statistics)
    assert list(LIQUIDS.statistics)[: len(STATISTICS)] == list(STATISTICS)
    report = dam().step(DT, lambda problem, x0: perp.solve(problem, "mprgp"))
    assert set(report.measures()) == set(LIQUID_STATISTICS)


def test_a_world_of_ones_own_has_what_all_have():
    class Still(World):
        steps, time = 0, 0.0

        def __init__(self):
            self.pucks = Pucks(2)

        def step(self, dt, solve):
            return self.pucks.step(dt, solve)

        def frame(self, report=None):
            return self.pucks.frame(report)

        def shapes(self):
            return self.pucks.shapes()

        def energy(self):
            return 1.0

        def fingerprint(self):
            return "still"

    result = simulate(Still(), 3, dt=DT, method="pgs")
    summary = result.summary()
    assert set(result.statistics) == set(STATISTICS)
    assert not isinstance(summary, ContactSummary | LiquidSummary)
    json.loads(to_json(summary.as_row()))


def test_a_run_of_a_liquid_sums_up_volume_height_and_divergence():
    world = dam()
    result = simulate(world, 40, dt=DT, method="mprgp")
    summary = result.summary()
    assert isinstance(summary, LiquidSummary)
    columns = result.statistics
    assert set(columns) == set(LIQUIDS.statistics)
    assert (summary.converged, summary.particles) == (40, len(world.position))
    assert summary.volume_start == columns["volume"][0]
    assert summary.volume_drift == (columns["volume"][-1] - columns["volume"][0]) / columns["volume"][0]
    assert summary.height_end == columns["height"][-1] == pytest.approx(world.position[:, 1].mean())
    assert summary.height_end < summary.height_start
    assert summary.divergence_max == columns["divergence"].max()
    assert summary.separating_max == columns["separating"].max()
    assert summary.fastest_max >= np.linalg.norm(world.velocity, axis=1).max()
    assert summary.rows_max == world.grid().solid[1:, 1:].size
    row = json.loads(to_json(summary.as_row()))
    assert row["volume_drift"] == summary.volume_drift
    assert not {"contacts_max", "penetration_max", "energy_error_max"} & set(row)
    assert repr(summary).startswith("<LiquidSummary: DONE, 40 of 40 steps")


def test_where_no_wall_lets_go_the_divergence_is_the_residual():
    result = simulate(dam(separation="none"), 20, dt=DT, method="mprgp")
    summary, columns = result.summary(), result.statistics
    np.testing.assert_allclose(columns["divergence"], columns["residual"] / DT, rtol=1e-6)
    assert summary.divergence_max <= 1e-8 / DT
    assert summary.separating_max == 0


def test_no_steps_of_a_liquid_are_a_run_as_well():
    row = json.loads(to_json(simulate(dam(), 0, dt=DT, method="mprgp").summary().as_row()))
    assert (row["volume_drift"], row["particles"], row["steps"]) == (None, 0, 0)


def test_what_cannot_be_told_is_no_number():
    world = dam()
    report = world.step(DT, lambda problem, x0: perp.solve(problem, "mprgp"))
    measured = measure_step(world, report)
    assert list(measured) == list(LIQUIDS.statistics)
    assert np.isfinite(list(measured.values())).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_a_recording_of_a_liquid_has_every_frame_and_what_was_measured(tmp_path, dim):
    pytest.importorskip("h5py")
    world, path = dam(dim=dim), tmp_path / "run.h5"
    with open_recorder(path, world, DT, scene="dam_break", method="mprgp") as recorder:
        result = simulate(world, 10, dt=DT, method="mprgp", record=recorder)
    with Recording(path) as recording:
        assert (len(recording), recording.scene) == (11, "dam_break")
        assert recording.grid.cells == world.grid().cells
        np.testing.assert_array_equal(recording.grid.solid, world.grid().solid)
        for name, column in result.statistics.items():
            np.testing.assert_array_equal(recording.statistics[name][1:], column)
        assert recording[0].statistics == {"energy": result.energy_start}
        last, frame = recording[-1], result.frame
        np.testing.assert_allclose(last.position, world.position, rtol=2.0**-23)
        np.testing.assert_allclose(last.pressure, frame.pressure, rtol=2.0**-23)
        np.testing.assert_array_equal(last.liquid, frame.liquid)
        np.testing.assert_array_equal(last.separating, frame.separating)


def test_pressure_problems_are_dumped_and_solve_again(tmp_path):
    world = dam()
    simulate(world, 3, dt=DT, method="mprgp", dump=ProblemFolder(tmp_path / "steps", world))
    files = sorted((tmp_path / "steps").iterdir())
    assert [file.name for file in files] == [f"step_{k:06d}.npz" for k in (1, 2, 3)]
    for file in files:
        problem, x = load(file), load_solution(file)
        again = perp.solve(problem, "mprgp")
        assert again.success
        np.testing.assert_allclose(again.x, x, atol=1e-6)
    with pytest.raises(FileFormatError, match="FCLIB holds contacts, and a liquid has none"):
        ProblemFolder(tmp_path / "others", world, "fclib")
    assert not (tmp_path / "others").exists()
