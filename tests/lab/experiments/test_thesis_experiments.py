"""The experiments of THESIS chapter 6 at quick size."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import isfinite, nan

import numpy as np
import pytest
from lab_experiments import judge_all

from perp.lab.claims import Outcome, judge
from perp.lab.experiments.catalogue import FILES, find_experiment
from perp.lab.experiments.thesis import fig6_3, table6_2, table6_4
from perp.lab.experiments.thesis.frames import count_ratio, frame_points, rank_correlation, time_ratio, time_ratios
from perp.lab.experiments.thesis.scenes import BPP, BPP_PCG, OURS, PGCG, SCENES, find_row
from perp.lab.runs.process import perform
from perp.lab.runs.row import DONE, FAILED, LabRow, Measurement

pytest.importorskip("mujoco")

THESIS = [identity for identity in FILES if identity.startswith("thesis-")]
DRAWN = [identity for identity in THESIS if "fig" in identity]
STATUSES = {"CONVERGED", "ITERATION_LIMIT", DONE}

_ROWS: dict[str, LabRow] = {}


@cache
def rows_of(identity: str) -> tuple[LabRow, ...]:
    """Rows of an experiment; those that several experiments share are run once."""
    found = []
    for task in find_experiment(identity).make_tasks(True):
        if task.key not in _ROWS:
            _ROWS[task.key] = perform(task)
        found.append(replace(_ROWS[task.key], task=task))
    return tuple(found)


@pytest.mark.parametrize("identity", THESIS)
def test_every_row_is_measured(identity: str) -> None:
    for row in rows_of(identity):
        assert row.status in STATUSES, (row.group, row.name, row.found.message)
        assert len(row.series["step"])


@pytest.mark.parametrize("identity", THESIS)
def test_every_claim_can_be_judged_and_can_fail(identity: str) -> None:
    experiment = find_experiment(identity)
    measured = experiment.measure(rows_of(identity))
    assert all(map(isfinite, measured.values()))
    for claim in experiment.claims:
        assert claim.measure in measured or claim.full_size_only
        beyond = claim.holds.least - 1.0 if isfinite(claim.holds.least) else claim.holds.most + 1.0
        assert judge(claim, {claim.measure: beyond}).outcome is Outcome.DIFFERS
        assert judge(claim, {claim.measure: nan}).outcome is Outcome.NOT_MEASURED
    verdicts = judge_all(experiment, measured, quick=True)
    assert len(verdicts) == len(experiment.claims) >= 2


@pytest.mark.parametrize("identity", THESIS)
def test_tables_have_the_paper_beside_us_and_cope_with_missing_rows(identity: str) -> None:
    experiment = find_experiment(identity)
    tables = experiment.tabulate(rows_of(identity))
    assert tables
    assert all(table.lines for table in tables)
    if "table" in identity:
        headings = tables[0].headings
        assert any("(paper)" in heading for heading in headings)
        assert any("(here)" in heading for heading in headings)
    assert any(isinstance(cell, float) for table in tables for line in table.lines for cell in line)
    broken = [replace(row, found=Measurement(FAILED, "broken")) for row in rows_of(identity)]
    for rows in ([], broken, rows_of(identity)[:1]):
        assert all(map(isfinite, experiment.measure(rows).values()))
        assert len(experiment.tabulate(rows)) == len(tables)


@pytest.mark.parametrize("identity", DRAWN)
def test_pictures_are_drawn_also_without_rows(identity: str) -> None:
    pytest.importorskip("matplotlib")
    experiment = find_experiment(identity)
    assert experiment.draw is not None
    for rows in (rows_of(identity), []):
        for picture in experiment.draw(rows):
            picture.figure.canvas.draw()
            assert picture.name == identity


def test_rows_are_shared_between_experiments() -> None:
    keys = {identity: {task.key for task in find_experiment(identity).make_tasks(False)} for identity in THESIS}
    assert keys["thesis-table6.2"] == keys["thesis-table6.3"] == keys["thesis-table6.4"]
    assert keys["thesis-fig6.4"] < keys["thesis-table6.2"]
    assert keys["thesis-fig6.2"] == keys["thesis-fig6.3"]
    assert keys["thesis-fig6.2"] < keys["thesis-table6.1"] | keys["thesis-table6.2"]
    assert len(keys["thesis-table6.5"] & keys["thesis-table6.2"]) == 3


def test_solvers_that_find_the_index_sets_find_the_one_solution() -> None:
    """A is positive definite: all that end well have the same least objective, and no error to speak of."""
    rows = rows_of("thesis-table6.2")
    for name in SCENES:
        ours = find_row(rows, name, OURS.label)
        assert ours is not None
        assert ours["solved"] == 1.0, name
        least = dict(zip(ours.series["step"], ours.series["objective"], strict=True))
        for solver in (BPP, BPP_PCG, PGCG):
            row = find_row(rows, name, solver.label)
            assert row is not None
            for place in np.flatnonzero(row.series["solved"]):
                at, told = row.series["step"][place], (name, solver.label, place)
                assert row.series["objective"][place] == pytest.approx(least[at], rel=1e-6, abs=1e-9), told
                assert row.series["energy_max"][place] < 1e-9, told


def test_the_wall_goes_round_in_circles_for_block_pivots_and_not_for_pgcg() -> None:
    """THESIS 6.2.1, which a quick wall shows, too."""
    measured = table6_2.measure(rows_of("thesis-table6.2"))
    assert measured["wall_solved_more"] > 0.0
    assert measured["wall_pgcg_to_bpp"] < 0.5


def test_mass_ratios_are_those_of_the_bodies() -> None:
    rows = rows_of("thesis-table6.1")
    ratios = {row.group: row["mass_ratio"] for row in rows}
    assert ratios["tower"] == pytest.approx(50.0)
    assert ratios["wall"] == pytest.approx(4.0)
    assert ratios["chain"] == pytest.approx(2000.0)
    assert ratios["boxes"] == pytest.approx(1.0)


def test_speed_ups_are_time_of_bpp_over_time_of_the_solver() -> None:
    rows = rows_of("thesis-table6.4")
    base, other = find_row(rows, "rocks", BPP.label), find_row(rows, "rocks", PGCG.label)
    assert base is not None
    assert other is not None
    expected = base.series["frame_seconds"].mean() / other.series["frame_seconds"].mean()
    assert table6_4.speed_up(rows, "rocks", PGCG.label) == pytest.approx(expected)
    assert fig6_3.slow_down(rows, "rocks", BPP.label) == pytest.approx(np.ones(base.series["step"].size))
    assert fig6_3.slow_down(rows, "rocks", BPP.label, least_rows=1e9) == []


def test_frames_that_were_stopped_are_no_evidence_for_fewer_index_sets() -> None:
    """Counts of a solve that was stopped are lower limits; so are times, which still tell who was slower."""
    rows = list(rows_of("thesis-table6.2"))
    mine, base = find_row(rows, "rocks", PGCG.label), find_row(rows, "rocks", BPP.label)
    assert mine is not None
    assert base is not None

    def with_series(row: LabRow, **columns: object) -> LabRow:
        return replace(row, found=replace(row.found, series={name: np.array(c) for name, c in columns.items()}))

    steps, sizes = [1.0, 2.0, 3.0], [9.0, 9.0, 9.0]
    mine = with_series(mine, step=steps, rows=sizes, solved=[1, 0, 0], outer=[4, 1, 1], frame_seconds=[1, 5, 5])
    base = with_series(base, step=steps, rows=sizes, solved=[0, 1, 0], outer=[8, 2, 2], frame_seconds=[5, 1, 5])
    both = [mine, base]
    assert count_ratio(both, "rocks", PGCG.label, BPP.label) == 0.5
    assert not isfinite(count_ratio(both, "rocks", PGCG.label, BPP.label, both=True))
    assert time_ratio(both, "rocks", PGCG.label, BPP.label) == 1.0
    assert time_ratios(both, "rocks", PGCG.label, BPP.label) == [0.2, 5.0]
    assert not isfinite(time_ratio(both, "tower", PGCG.label, BPP.label))


def test_zero_fill_factors_need_fewer_steps_than_jacobi_on_the_chain() -> None:
    measured = find_experiment("thesis-fig6.1").measure(rows_of("thesis-fig6.1"))
    assert measured["jacobi_to_zero_fill"] > 2.0


def test_softening_stays_away_without_a_limit_of_pivots() -> None:
    rows = rows_of("thesis-fig6.6")
    assert rows[0]["softened"] == 0.0
    assert (rows[0].series["softened"] == 0.0).all()
    assert rows[2]["softened"] >= rows[1]["softened"]


def test_ranks_pair_frames_by_their_step() -> None:
    rows = rows_of("thesis-fig6.2")
    points = frame_points(rows, ["tower"], BPP.label, "rows", "frame_seconds", "facts")["tower"]
    solved = find_row(rows, "tower", BPP.label)
    assert solved is not None
    assert (points[0] == solved.series["rows"]).all()
    x = np.arange(8.0)
    assert rank_correlation({"a": (x, x**3)}) == pytest.approx(1.0)
    assert rank_correlation({"a": (x[:4], -x[:4]), "b": (x[4:], -x[4:])}) == pytest.approx(-1.0)
    assert not isfinite(rank_correlation({"a": (x[:2], x[:2])}))
    assert not isfinite(rank_correlation({"a": (x, np.ones(8))}))
