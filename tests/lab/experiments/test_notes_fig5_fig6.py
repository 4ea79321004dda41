"""Figures 5 and 6 of NOTES: time against size, and warm starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

from perp.lab.analysis.profiles import find_void_groups
from perp.lab.claims import Outcome, judge
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.notes import fig5, fig6
from perp.lab.experiments.notes.papers_methods import FISCHER, MINIMUM_MAP
from perp.lab.runs.row import TIME_OUT, Measurement

FIGURES = ("notes-fig5", "notes-fig6")


@pytest.mark.parametrize("identity", FIGURES)
def test_every_task_has_a_row_and_none_failed(identity):
    experiment = find_experiment(identity)
    rows = quick_rows(identity)
    assert len(rows) == len(experiment.make_tasks(True)) > 0
    assert not [row.found.message for row in rows if row.status == "FAILED"]


@pytest.mark.parametrize("identity", FIGURES)
def test_every_claim_is_measured_at_quick_size_and_can_fail(identity):
    experiment = find_experiment(identity)
    measured = experiment.measure(quick_rows(identity))
    for claim in experiment.claims:
        assert np.isfinite(measured[claim.measure]), claim.id
        wrong = 1e9 if claim.holds.most < 1e9 else -1e9
        assert judge_all(experiment, measured | {claim.measure: wrong})[claim.id].outcome is Outcome.DIFFERS


@pytest.mark.parametrize("identity", FIGURES)
def test_tables_and_pictures_cope_with_rows_that_are_missing_or_timed_out(identity):
    pytest.importorskip("matplotlib")
    experiment = find_experiment(identity)
    rows = list(quick_rows(identity))
    rows[0] = replace(rows[0], found=Measurement(TIME_OUT))
    for some in (rows, rows[::3], []):
        assert all(np.isfinite(value) for value in experiment.measure(some).values())
        for table in experiment.tabulate(some):
            assert all(len(line) == len(table.headings) for line in table.lines)
        (picture,) = experiment.draw(some)
        assert picture.name == identity
        assert picture.figure.axes
        assert picture.caption


def test_the_sizes_are_those_of_the_paper_and_some_larger_ones():
    tasks = find_experiment("notes-fig5").make_tasks(False)
    sizes = {kind: {task.instance["n"] for task in tasks if task.group == kind} for kind in ("fluid", "contact")}
    assert {8, 64, 216, 512, 1000} < sizes["fluid"]
    assert {60, 120, 180, 240, 300} < sizes["contact"]
    assert all(task.timed for task in tasks)


def test_ten_iterations_are_counted_at_the_pace_of_those_done():
    row = next(row for row in quick_rows("notes-fig5") if row.name == "PGS")
    numbers = {"iterations": 4.0, "seconds": 0.8, "setup_seconds": 0.1}
    done = replace(row, found=replace(row.found, numbers=numbers))
    assert fig5.seconds_of(done) == pytest.approx(0.1 + 10 * 0.8 / 4)
    lemke = next(row for row in quick_rows("notes-fig5") if row.name == "Lemke")
    done = replace(lemke, found=replace(lemke.found, numbers=numbers))
    assert fig5.seconds_of(done) == pytest.approx(0.9)
    failed = replace(done, found=replace(done.found, status="RAY"))
    assert np.isnan(fig5.seconds_of(failed))


def test_an_exponent_is_read_off_made_up_times():
    rows = [row for row in quick_rows("notes-fig5") if row.group == "contact" and row.name == "Lemke"]
    cubic = [
        replace(
            row,
            found=replace(
                row.found, numbers={"iterations": 5.0, "seconds": 1e-9 * row.found.n**3, "setup_seconds": 0.0}
            ),
        )
        for row in rows
    ]
    assert fig5.measure(cubic)["lemke_exponent"] == pytest.approx(3.0)
    claim = find_experiment("notes-fig5").claims[0]
    assert judge(claim, fig5.measure(cubic)).outcome is Outcome.HOLDS
    assert judge(claim, {"lemke_exponent": 2.0}).outcome is Outcome.DIFFERS


def test_lemkes_method_solves_every_problem_of_the_figure():
    assert {row.status for row in quick_rows("notes-fig5") if row.name == "Lemke"} == {"CONVERGED"}


def test_the_minimum_map_ends_exactly_and_a_warm_start_never_costs_it_a_step():
    rows = quick_rows("notes-fig6")
    for group in fig6.GROUPS:
        for method in (FISCHER, MINIMUM_MAP):
            cold, warm = (fig6.rows_of(rows, group, method, warm_up) for warm_up in (0, 10))
            assert [row.found.problem for row in cold] == [row.found.problem for row in warm]
            assert all(a["iterations"] <= b["iterations"] for a, b in zip(warm, cold, strict=True))
            assert {row.status for row in cold + warm} == {"CONVERGED"}


def test_at_the_papers_tolerance_gauss_seidel_leaves_nothing_to_do_and_the_comparison_is_void():
    rows = quick_rows("notes-fig6")
    assert set(find_void_groups(rows)) == {fig6.PLANTED}
    warm = fig6.iterations(rows, fig6.PLANTED, FISCHER, 10)
    assert not warm.any()
    assert fig6.iterations(rows, fig6.PUBLISHED, FISCHER, 10).all()
