"""NOTES Fig. 1 to 4 at quick size: the rows, what is made of them, and truths that a wrong method would break."""

from dataclasses import replace
from math import isfinite

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

from perp.lab.claims import Outcome
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.notes import fig2, fig3, fig4
from perp.lab.experiments.notes.merit_readings import line, merit, rate, reach
from perp.lab.runs.row import DONE, FAILED, Measurement, select
from perp.lab.work.merits import MERITS
from perp.lab.work.num4lcp_problems import make_num4lcp
from perp.lab.work.recipes import make_instance
from perp.problems.residuals import measure as measure_point
from perp.solvers.results import Status

IDS = ("notes-fig1", "notes-fig2", "notes-fig3", "notes-fig4")


@pytest.fixture(params=IDS)
def experiment(request):
    return find_experiment(request.param)


def test_every_task_has_a_row_and_only_refusals_fail(experiment):
    rows = quick_rows(experiment.id)
    assert [row.key for row in rows] == [task.key for task in experiment.make_tasks(True)]
    failed = [row for row in rows if row.status == FAILED]
    assert all(row.task.method in ("pgs", "psor") and "contact" in row.group for row in failed)
    assert all("diagonal" in row.found.message for row in failed)
    assert len(failed) == (4 if experiment.id == "notes-fig2" else 0)


def test_every_claim_is_judged_on_a_number_that_was_measured(experiment):
    measured = experiment.measure(quick_rows(experiment.id))
    assert all(isfinite(value) for value in measured.values())
    missing = {claim.measure for claim in experiment.claims} - set(measured)
    assert not missing


def test_every_claim_fails_on_a_wrong_number(experiment):
    for claim in experiment.claims:
        wrong = claim.holds.least - 1.0 if isfinite(claim.holds.least) else claim.holds.most + 1.0
        if claim.instead is not None:
            wrong = claim.instead.least - 0.5
        verdict = judge_all(experiment, {claim.measure: wrong})[claim.id]
        assert verdict.outcome is Outcome.DIFFERS


def test_tables_have_a_line_for_what_was_run_and_survive_without_rows(experiment):
    tables = experiment.tabulate(quick_rows(experiment.id))
    assert tables
    assert all(len(table.lines) >= 4 for table in tables)
    experiment.tabulate([])
    assert experiment.measure([]) == {}


def test_failed_rows_are_left_out(experiment):
    rows = [replace(row, found=Measurement(FAILED, "on purpose")) for row in quick_rows(experiment.id)]
    assert all(isfinite(value) for value in experiment.measure(rows).values())
    assert experiment.tabulate(rows)


def test_pictures_are_drawn_also_where_rows_are_missing(experiment):
    pytest.importorskip("matplotlib")
    (picture,) = experiment.draw(quick_rows(experiment.id))
    assert picture.name == experiment.id
    assert any(axes.lines or axes.images for axes in picture.figure.axes)
    experiment.draw([])


def test_full_size_is_the_papers():
    sizes = {(task.group.split()[1], task.instance["n"]) for task in find_experiment("notes-fig2").make_tasks(False)}
    assert sizes == {("fluid", 1000), ("contact", 300)}
    sizes = {(task.group.split()[1], task.instance["n"]) for task in find_experiment("notes-fig3").make_tasks(False)}
    assert sizes == {("fluid", 1000), ("contact", 180)}
    assert {task.instance["n"] for task in find_experiment("notes-fig4").make_tasks(False)} == {1000}


def test_the_figures_share_the_rows_of_psor_with_1_4():
    common = {task.key for task in fig2.make_tasks(False)} & {task.key for task in fig4.make_tasks(False)}
    assert len(common) == 2 * len(fig4.SEEDS)


def test_the_numbers_of_a_fluid_matrix_are_those_of_its_bands():
    for row in select(quick_rows("notes-fig1"), label="fluid"):
        n = row.found.n
        assert row.status == DONE
        assert row["entries"] == 7 * n - 2 * (1 + 2 + 3)
        assert row["bands"] == 7.0
        assert row["asymmetry"] == 0.0
        assert row["least_eigenvalue"] == pytest.approx(0.5, abs=0.05) or row["least_eigenvalue"] > 0.5


def test_a_contact_matrix_is_not_symmetric_and_has_zeros_in_the_rows_of_beta():
    for row in select(quick_rows("notes-fig1"), label="contact"):
        assert row["asymmetry"] > 0.01
        assert row["zero_diagonal"] == pytest.approx(1.0 / 6.0)


def test_the_pattern_that_is_drawn_is_that_of_the_matrix():
    (row,) = select(quick_rows("notes-fig1"), group="num4lcp's contact", where=lambda row: "row" in row.series)
    A = make_num4lcp(row.task.instance).A.to_sparse().toarray()
    drawn = np.zeros_like(A, dtype=bool)
    drawn[row.series["row"].astype(int), row.series["column"].astype(int)] = True
    assert np.array_equal(drawn, A != 0.0)


def test_merits_are_those_of_the_iterates():
    row = select(quick_rows("notes-fig2"), label="Fischer", group="planted fluid", seed=0)[0]
    problem = make_instance(row.task.instance).problem
    start = measure_point(problem, np.zeros(problem.n))
    H, F = np.minimum(0.0, problem.b), np.abs(problem.b) - problem.b
    assert row.series["modified"][0] == 0.0
    assert row.series["minimum_map"][0] == pytest.approx(0.5 * np.sum(H * H))
    assert row.series["fischer"][0] == pytest.approx(0.5 * np.sum(F * F)) == pytest.approx(start.fischer)
    assert all(row.series[name].size == row.series["iteration"].size for name in MERITS)


def test_splittings_are_linear_and_newtons_method_on_the_fischer_map_is_quadratic():
    rows = quick_rows("notes-fig2")
    for family in ("num4lcp's fluid", "planted fluid"):
        for label in ("PGS", "PSOR"):
            assert all(0.9 <= rate(row).order <= 1.1 for row in select(rows, group=family, label=label))
        assert all(1.8 <= rate(row).order <= 2.2 for row in select(rows, group=family, label="Fischer"))


def test_num4lcps_fluid_problems_have_every_row_free():
    rows = select(quick_rows("notes-fig2"), group="num4lcp's fluid", label="Min. map, factored")
    assert rows
    assert all(row["active"] == 1.0 for row in rows)


def test_the_minimum_map_fails_on_num4lcps_contacts_only():
    rows = quick_rows("notes-fig2")
    published = select(rows, group="num4lcp's contact", label="Min. map")
    planted = select(rows, group="planted contact", label="Min. map")
    assert {row.status for row in published} == {Status.NON_DESCENT.name}
    assert all(reach(row, 1e-10) < 50.0 for row in planted)


def test_strategies_are_one_method_where_no_row_has_a_kink():
    """A planted fluid problem never has x_i = y_i = 0 at an iterate."""
    rows = quick_rows("notes-fig3")
    columns = [
        merit(select(rows, group="planted fluid", label=method.label)[0])
        for method in (fig3.RANDOM, fig3.PERTURBATION, fig3.ZERO)
    ]
    assert np.array_equal(columns[0], columns[1])
    assert np.array_equal(columns[0], columns[2])


def test_strategies_differ_where_num4lcps_b_makes_kinks():
    rows = quick_rows("notes-fig3")
    columns = [
        merit(select(rows, group="num4lcp's fluid", label=method.label)[0])[1]
        for method in (fig3.RANDOM, fig3.PERTURBATION, fig3.ZERO)
    ]
    assert len(set(columns)) == 3


def test_psor_with_1_is_pgs():
    plain = select(quick_rows("notes-fig2"), group="planted fluid", label="PGS", seed=0)[0]
    relaxed = select(quick_rows("notes-fig4"), group="planted fluid", relaxation=1.0, seed=0)[0]
    assert np.allclose(merit(plain), merit(relaxed), rtol=1e-9, atol=1e-12)


def test_the_best_relaxation_lies_inside_and_all_converge():
    measured = find_experiment("notes-fig4").measure(quick_rows("notes-fig4"))
    assert 1.0 < measured["best"] < 1.8
    assert measured["slowest_factor"] < 1.0
    assert 0.0 <= measured["best_here"] <= 1.0


def test_a_line_ends_where_the_floor_of_the_axis_is_reached():
    row = select(quick_rows("notes-fig2"), group="planted fluid", label="Fischer", seed=0)[0]
    iterations, values = line(row)
    assert iterations.size == values.size
    assert np.all(values[:-1] > 1e-17)
    assert iterations[0] == 1.0


def test_a_run_without_gradient_steps_ends_before_the_first():
    rows = select(quick_rows("notes-fig3"), where=lambda row: row.status == Status.NON_DESCENT.name)
    assert rows
    assert all(row["iterations"] == row.series["iteration"][-1] for row in rows)
