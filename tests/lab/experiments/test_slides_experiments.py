"""The three assignments of SLIDES at quick size: rows, claims, tables, pictures, and truths that a bug would break."""

from __future__ import annotations

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

from perp.gallery import make
from perp.lab.claims import Outcome, judge
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.slides.intermediate import cost_by_size
from perp.lab.experiments.slides.shared import gather_by_size, mean_by_size, median_by_size
from perp.lab.runs.process import perform
from perp.lab.runs.row import select
from perp.lab.work.lcp_run import describe, eigenvalues, lcp_run_task
from perp.lab.work.printed_schemes import fischer_newton, printed_scheme_task, two_step
from perp.lab.work.recipes import gallery, scene
from perp.lab.work.sequence import draw, error_curve_task, sequence, sequence_task, solutions_task

IDS = ("slides-basic", "slides-intermediate", "slides-advanced")
NEEDS_A_QP_SOLVER = "QP"


@pytest.mark.parametrize("identity", IDS)
def test_every_task_has_a_row_and_only_a_refused_qp_fails(identity):
    rows = quick_rows(identity)
    assert len(rows) == len(find_experiment(identity).make_tasks(True))
    failed = {(row.name, row.group) for row in rows if row.status == "FAILED"}
    assert {name for name, _ in failed} <= {NEEDS_A_QP_SOLVER}
    if identity == "slides-advanced":
        assert (NEEDS_A_QP_SOLVER, "friction, few discs") in failed


@pytest.mark.parametrize("identity", IDS)
def test_every_claim_that_a_quick_run_can_judge_is_measured(identity):
    experiment = find_experiment(identity)
    measured = experiment.measure(quick_rows(identity))
    for claim in experiment.claims:
        if not claim.full_size_only:
            assert np.isfinite(measured[claim.measure]), claim.id


@pytest.mark.parametrize("identity", IDS)
def test_every_claim_can_fail(identity):
    for claim in find_experiment(identity).claims:
        limits = claim.instead or claim.holds
        outside = limits.most + 1.0 if np.isfinite(limits.most) else limits.least - 1.0
        assert judge(claim, {claim.measure: outside}).outcome is Outcome.DIFFERS, claim.id


@pytest.mark.parametrize("identity", IDS)
def test_tables_are_well_formed_also_without_any_rows(identity):
    experiment = find_experiment(identity)
    full, empty = experiment.tabulate(quick_rows(identity)), experiment.tabulate([])
    assert [len(table.headings) for table in full] == [len(table.headings) for table in empty]
    assert all(table.lines for table in full)
    assert experiment.measure([]) == {}


@pytest.mark.parametrize("identity", IDS)
def test_pictures_are_drawn_also_without_any_rows(identity):
    pytest.importorskip("matplotlib")
    experiment = find_experiment(identity)
    pictures = experiment.draw(quick_rows(identity))
    assert pictures
    for picture in pictures:
        assert all(axes.lines or axes.patches for axes in picture.figure.axes)
    experiment.draw([])


def test_the_facts_of_the_slides_come_out_as_derived():
    basic = judge_all(find_experiment("slides-basic"), find_experiment("slides-basic").measure(quick_rows(IDS[0])))
    for name in ("sign-table", "definite-unique", "semidefinite-several", "lemke-solves", "lemke-pivots"):
        assert basic[name].outcome is Outcome.HOLDS, name
    assert basic["semidefinite-exists"].outcome is Outcome.CANNOT_HOLD
    experiment = find_experiment("slides-intermediate")
    further = judge_all(experiment, experiment.measure(quick_rows(IDS[1])))
    for name in ("splitting-is-descent", "relaxation-descends", "differences", "pgs-linear"):
        assert further[name].outcome is Outcome.HOLDS, name
    for name in ("closed-form", "projected-direction"):
        assert further[name].outcome is Outcome.CANNOT_HOLD, name


def test_the_matrices_of_the_simulator_are_symmetric_without_friction_and_indefinite_with_it():
    experiment = find_experiment("slides-advanced")
    verdicts = judge_all(experiment, experiment.measure(quick_rows(IDS[2])), quick=True)
    told = {name for name, verdict in verdicts.items() if verdict.outcome is Outcome.HOLDS}
    assert told == set(verdicts) - {"impulses-open"}
    (row,) = select(quick_rows(IDS[2]), label="Stewart-Trinkle")
    looks = row.series
    # beta has a zero on the diagonal and mu beside it: a negative eigenvalue a contact of four rows
    np.testing.assert_array_equal(4 * looks["negative"], looks["rows"])
    np.testing.assert_allclose(looks["zero_diagonal"], 0.25)


def test_lemke_takes_two_to_the_n_pivots_on_fathis_matrices_and_about_half_of_n_on_random_ones():
    rows = quick_rows("slides-basic")
    n, pivots = median_by_size(select(rows, label="worst case (Fathi)"), "iterations")
    np.testing.assert_array_equal(pivots, 2.0**n)
    n, pivots = median_by_size(select(rows, label="positive definite"), "iterations")
    np.testing.assert_allclose(pivots, 0.5 * n + 1.0)


def test_solvers_of_the_intermediate_assignment_find_the_planted_solution():
    rows = select(quick_rows("slides-intermediate"), group="sequences")
    for row in rows:
        if row.status != "FAILED":
            assert row.series["error"].max() < 1e-6, row.name
            assert row.status == "CONVERGED", row.name


def test_solvers_that_converge_move_the_discs_alike():
    energies = {
        row.name: row["energy_end"]
        for row in select(quick_rows("slides-advanced"), group="frictionless")
        if row.status == "CONVERGED"
    }
    assert len(energies) >= 3
    assert np.ptp(list(energies.values())) < 1e-4 * abs(energies["Lemke"])


def test_the_printed_closed_form_stops_where_active_rows_have_slack():
    example = make("dense_pd", n=20, seed=3)
    A, b = example.problem.A.to_dense(), example.problem.b
    x, _ = two_step(A, b, 2000)
    z = np.linalg.solve(np.tril(A), -np.triu(A, 1) @ x - b)
    np.testing.assert_allclose(A @ x + b, np.tril(A) @ (x - z), atol=1e-12)  # the fixed point that was derived
    assert np.abs((A @ x + b)[x > 0.0]).max() > 1e-3
    diagonal, _ = two_step(np.diag(np.diag(A)), b, 10)
    np.testing.assert_allclose(diagonal, np.maximum(0.0, -b / np.diag(A)))  # right where M is diagonal


def test_a_projected_direction_never_lowers_x_and_a_projected_iterate_does():
    example = make("dense_pd", n=12, seed=1)
    A, b = example.problem.A.to_dense(), example.problem.b
    start = np.full(12, 2.0 * example.x.max())
    stuck, _ = fischer_newton(A, b, start, 100, 1e-10, of_direction=True)
    assert (stuck >= start).all()
    found, _ = fischer_newton(A, b, start, 100, 1e-10, of_direction=False)
    np.testing.assert_allclose(found, example.x, atol=1e-8)


def test_a_sequence_grows_and_tells_what_was_not_solved():
    row = perform(sequence_task(sequence("dense_pd", [4, 8]), "pgs", {"tol": 1e-10, "max_iterations": 1}))
    np.testing.assert_array_equal(row.series["n"], [4, 8])
    assert row.status == "DONE"
    assert row["solved_share"] == row.series["solved"].mean() < 1.0
    twice = [draw(sequence("gaussian", [6], 2), 6).problem.b for _ in range(2)]
    np.testing.assert_array_equal(*twice)


def test_an_error_is_measured_only_where_the_truth_is_known():
    row = perform(error_curve_task(gallery("dense_pd", 10), "pgs", {"tol": 1e-12}))
    assert row.status == "CONVERGED"
    assert row.series["error"][0] == np.abs(make("dense_pd", n=10).x).max()
    assert row.series["error"][-1] < 1e-10
    assert row["rise"] < 1e-14  # rounding
    failed = perform(error_curve_task(gallery("infeasible_psd", 8, rank=3), "pgs", {}))
    assert failed.status == "FAILED"
    assert "not known" in failed.found.message


def test_solutions_are_counted_with_their_families():
    row = perform(solutions_task([gallery("sign_table", 1, a=0, b=0), gallery("several_solutions", 3)]))
    np.testing.assert_array_equal(row.series["families"], [1, 0])
    np.testing.assert_array_equal(row.series["isolated"], [0, 7])


def test_unknown_schemes_and_statements_are_failed_rows_that_say_so():
    scheme = perform(printed_scheme_task([gallery("dense_pd", 4)], "guessing", iterations=1))
    assert "scheme is 'guessing'" in scheme.found.message
    stated = perform(lcp_run_task(scene("stacking", discs=2), "pgs", {}, steps=1, statement="cone"))
    assert "statement is 'cone'" in stated.found.message


def test_a_spectrum_knows_zeros_negatives_and_asymmetry():
    A = np.diag([4.0, 1.0, 0.0, -2.0])
    A[0, 1] = 2e-11
    told = describe(A, eigenvalues(A))
    assert (told["zeros"], told["negative"], told["rows"]) == (1.0, 1.0, 4.0)
    assert told["condition"] == pytest.approx(4.0)
    assert told["asymmetry"] == pytest.approx(5e-12)
    assert told["zero_diagonal"] == 0.25


def test_sizes_are_gathered_in_order_and_rows_without_columns_are_passed_over():
    rows = quick_rows("slides-intermediate")
    gathered = gather_by_size(rows, "solved")
    assert list(gathered) == sorted(gathered)
    assert set(mean_by_size(rows, "solved")) == set(gathered)
    n, seconds = cost_by_size(rows, "PGS")
    assert n.size == seconds.size > 0
