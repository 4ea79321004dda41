"""Zero eigenvalues (NOTES section 7), the criteria of the paper, and the problems that num4lcp makes."""

from __future__ import annotations

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

import perp
from perp.lab.claims import Outcome
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.notes import psd
from perp.lab.experiments.notes.papers_methods import FISCHER, MINIMUM_MAP, PGS, PSOR, Criteria
from perp.lab.runs.process import perform
from perp.lab.work.merits import MERITS, measure_merits
from perp.lab.work.num4lcp_problems import make_num4lcp, num4lcp
from perp.lab.work.recipes import gallery

PSD = "notes-psd"


def test_every_task_has_a_row_and_none_failed():
    rows = quick_rows(PSD)
    assert len(rows) == len(find_experiment(PSD).make_tasks(True)) > 0
    assert not [row.found.message for row in rows if row.status == "FAILED"]


def test_every_claim_is_measured_at_quick_size_and_can_fail():
    experiment = find_experiment(PSD)
    measured = experiment.measure(quick_rows(PSD))
    for claim in experiment.claims:
        assert np.isfinite(measured[claim.measure]), claim.id
        wrong = 1e9 if claim.holds.most < 1e9 else -1e9
        assert judge_all(experiment, measured | {claim.measure: wrong})[claim.id].outcome is Outcome.DIFFERS


def test_tables_and_pictures_cope_with_missing_rows():
    pytest.importorskip("matplotlib")
    experiment = find_experiment(PSD)
    for some in (quick_rows(PSD), quick_rows(PSD)[::4], ()):
        assert len(experiment.tabulate(some)) == 2
        (picture,) = experiment.draw(some)
        assert len(picture.figure.axes) == 8
    assert experiment.measure(()) == {}


def test_planted_problems_have_a_solution_and_those_of_num4lcp_provably_none():
    measured = psd.measure(quick_rows(PSD))
    assert measured["infeasible"] == 0.0
    assert measured["infeasible_published"] == 100.0
    for row in psd.rows_of(quick_rows(PSD), psd.PUBLISHED, PGS):
        assert row.status == "ITERATION_LIMIT"


def test_gauss_seidel_solves_semidefinite_problems_that_have_a_solution():
    for method in (PGS, PSOR):
        assert {row.status for row in psd.rows_of(quick_rows(PSD), psd.PLANTED, method)} == {"CONVERGED"}


def merits_at(x: list[float], y: list[float]) -> dict[str, float]:
    """Of an LCP that has the slack y at x."""
    point = np.array(x)
    return measure_merits(perp.LCP(np.eye(point.size), np.array(y) - point), point)


def test_the_merit_functions_vanish_at_a_solution_and_only_there():
    assert merits_at([0.0, 2.0, 0.0], [3.0, 0.0, 0.0]) == dict.fromkeys(MERITS, 0.0)
    assert min(merits_at([0.5, 2.0, 0.0], [3.0, 0.0, 0.0]).values()) > 0.0


def test_the_merit_functions_have_the_values_of_their_formulas():
    found = merits_at([3.0, 1.0], [4.0, -2.0])
    assert found["modified"] == 3.0 * 4.0 + 1.0 * 2.0
    assert found["fischer"] == pytest.approx(0.5 * ((5.0 - 7.0) ** 2 + (np.sqrt(5.0) + 1.0) ** 2))
    assert found["minimum_map"] == pytest.approx(0.5 * (9.0 + 4.0))


def test_a_run_stops_at_the_first_iterate_whose_merit_is_below_the_absolute_tolerance():
    recipe = gallery("fluid_like", 216, active=0.75)
    row = perform(PGS.until(Criteria(1e-3, 1e-9, 100), recipe))
    theta = row.series["theta"]
    assert row.success
    assert theta[-1] == row["merit"] < 1e-3
    assert np.all(theta[1:-1] >= 1e-3)
    assert row["iterations"] == theta.size - 1
    assert row.found.n == 216
    assert row["residual"] > 0.0


def test_a_run_stops_where_the_merit_hardly_changes_and_at_the_limit():
    recipe = gallery("dense_pd", 40, active=0.75)
    slow = perform(PGS.until(Criteria(0.0, 0.9, 100), recipe))
    theta = slow.series["theta"]
    assert slow.status == "RELATIVE"
    assert 0.0 < abs(theta[-1] - theta[-2]) < 0.9 * theta[-2]
    assert perform(PGS.until(Criteria(0.0, 1e-12, 7), recipe)).status == "ITERATION_LIMIT"


def test_the_papers_fischer_method_is_cut_off_before_its_first_step_down_the_gradient():
    criteria = Criteria(1e-2, 1e-4, 100)
    own = next(row for row in quick_rows(PSD) if row.status == "NON_DESCENT" and row.name == "Fischer, approximation")
    recipe = own.task.instance
    cut = perform(psd.FISCHER_APPROXIMATION.until(criteria, recipe))
    whole = perform(psd.FISCHER_APPROXIMATION.until(criteria, recipe, {"gradient_steps": True}))
    assert cut.status == "NON_DESCENT"
    assert not cut.series["gradient_steps"].any()
    assert whole.series["gradient_steps"].any()
    kept = cut.series["theta"].size
    np.testing.assert_array_equal(cut.series["theta"], whole.series["theta"][:kept])
    assert cut["iterations"] == kept - 1


def test_a_far_start_is_far_and_a_warm_one_near():
    recipe = gallery("dense_pd", 60, active=0.75)
    criteria = Criteria(1e-10, 1e-12, 50)
    zero, far, warm = (
        perform(FISCHER.until(criteria, recipe, arguments)) for arguments in ({}, {"start": "far"}, {"warm_up": 10})
    )
    first = {name: row.series["theta"][0] for name, row in {"zero": zero, "far": far, "warm": warm}.items()}
    assert first["warm"] < 0.1 * first["zero"] < first["zero"] < 0.1 * first["far"]
    assert zero.success
    assert far.success
    assert warm.success
    assert warm["warm_up_seconds"] > 0.0 == zero["warm_up_seconds"]


def test_num4lcps_fluid_matrix_is_banded_and_its_problem_has_every_row_free():
    problem = make_num4lcp(num4lcp("fluid", 216, 3))
    A = problem.A.to_dense()
    np.testing.assert_array_equal(A, A.T)
    rows, columns = np.nonzero(A)
    assert np.abs(rows - columns).max() == 3
    assert np.linalg.eigvalsh(A)[0] >= 0.5 - 1e-12
    row = perform(MINIMUM_MAP.until(Criteria(1e-12, 1e-12, 50), num4lcp("fluid", 216, 3)))
    assert row.success
    assert row["active"] == 1.0


def test_num4lcps_contact_matrix_has_the_pattern_of_a_contact_in_every_filled_block():
    A = make_num4lcp(num4lcp("contact", 60, 0)).A.to_dense()
    blocks = A.reshape(10, 6, 10, 6).transpose(0, 2, 1, 3)
    filled = blocks[:, :, 0, 0] != 0.0
    assert filled[np.arange(10), np.arange(10)].all()
    assert 0.2 < filled.mean() < 0.8
    for block in blocks[filled]:
        np.testing.assert_array_equal(block[5], [0.5, -1.0, -1.0, -1.0, -1.0, 0.0])
        np.testing.assert_array_equal(block[:, 5], [0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    assert not np.diagonal(A)[5::6].any()


def test_num4lcps_dense_matrix_says_least_about_the_direction_of_ones():
    n = 50
    A = make_num4lcp(num4lcp("dense", n, 0, zeros=0.2)).A.to_dense()
    values = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(values, np.r_[np.zeros(10), np.arange(11, n + 1) / n], atol=1e-12)
    ones = np.ones(n) / np.sqrt(n)
    assert ones @ A @ ones < 0.05


@pytest.mark.parametrize(
    ("recipe", "told"), [(num4lcp("gas", 8, 0), "num4lcp is 'gas'"), (num4lcp("contact", 8, 0), "n is 8")]
)
def test_what_num4lcp_cannot_make_is_refused(recipe, told):
    with pytest.raises(ValueError, match=told):
        make_num4lcp(recipe)
