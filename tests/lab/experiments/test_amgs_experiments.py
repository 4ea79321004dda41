"""The experiments of AMGS at quick size: rows, figures, tables, pictures, and what must be true of them."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

from perp.lab.claims import Claim, Outcome, judge
from perp.lab.experiments.amgs.contestants import ALPHAS, HALF, PGS, scaled
from perp.lab.experiments.amgs.whole_simulation import geometric_mean, rank_correlation
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.runs.row import LabRow, select

IN_THE_PLANE = (
    "amgs-fig3",
    "amgs-fig4",
    "amgs-fig5",
    "amgs-table1",
    "amgs-fig6",
    "amgs-fig7",
    "amgs-fig8",
    "amgs-table2",
    "amgs-adaptive",
)
ALL = (*IN_THE_PLANE, "amgs-friction")


def rows_of(identity: str) -> tuple[LabRow, ...]:
    if identity == "amgs-friction":
        pytest.importorskip("mujoco")
    return quick_rows(identity)


def one(identity: str, label: str, **wanted: object) -> LabRow:
    (found,) = select(rows_of(identity), name=label, **wanted)
    return found


@pytest.mark.parametrize("identity", ALL)
def test_every_task_has_a_row_that_did_not_fail(identity: str) -> None:
    rows = rows_of(identity)
    assert [row.key for row in rows] == [task.key for task in find_experiment(identity).make_tasks(True)]
    assert {row.status for row in rows} <= {"CONVERGED", "ITERATION_LIMIT", "DONE"}


@pytest.mark.parametrize("identity", ALL)
def test_every_claim_is_measured(identity: str) -> None:
    experiment = find_experiment(identity)
    measured = experiment.measure(rows_of(identity))
    assert all(isfinite(value) for value in measured.values())
    assert {claim.measure for claim in experiment.claims} <= set(measured)


@pytest.mark.parametrize("identity", ALL)
def test_every_claim_can_fail(identity: str) -> None:
    for claim in find_experiment(identity).claims:
        assert judge(claim, {claim.measure: beyond(claim)}).outcome is Outcome.DIFFERS


def beyond(claim: Claim) -> float:
    """A figure that neither the claim nor its derivation allows."""
    limits = [claim.holds] + ([claim.instead] if claim.instead else [])
    above = max(each.most for each in limits)
    return above + 1.0 if isfinite(above) else min(each.least for each in limits) - 1.0


@pytest.mark.parametrize("identity", ALL)
def test_tables_are_filled(identity: str) -> None:
    tables = find_experiment(identity).tabulate(rows_of(identity))
    assert tables
    assert all(table.lines for table in tables)


@pytest.mark.parametrize("identity", ALL)
def test_pictures_are_drawn(identity: str) -> None:
    pytest.importorskip("matplotlib")
    draw = find_experiment(identity).draw
    assert draw is not None
    pictures = draw(rows_of(identity))
    assert pictures
    assert all(any(axes.lines or axes.patches for axes in each.figure.axes) for each in pictures)


@pytest.mark.parametrize("identity", ALL)
def test_nothing_is_made_of_no_rows(identity: str) -> None:
    pytest.importorskip("matplotlib")
    experiment = find_experiment(identity)
    assert experiment.measure(()) == {}
    assert all(not table.lines for table in experiment.tabulate(()))
    assert experiment.draw is not None
    assert experiment.draw(()) == []


@pytest.mark.parametrize("identity", ALL)
def test_failed_rows_are_left_out(identity: str) -> None:
    rows = rows_of(identity)
    failed = [replace(row, found=replace(row.found, status="FAILED", numbers={}, series={})) for row in rows]
    experiment = find_experiment(identity)
    assert experiment.measure(failed) == {}
    experiment.tabulate(failed)


@pytest.mark.parametrize("identity", ["amgs-fig3", "amgs-fig4", "amgs-fig5"])
def test_omega_of_d_over_gamma_is_projected_gauss_seidel_sweep_for_sweep(identity: str) -> None:
    same, pgs = one(identity, HALF.label), one(identity, PGS.label)
    np.testing.assert_allclose(same.series["res"], pgs.series["res"], rtol=1e-9)
    assert len(pgs.series["res"]) == 201
    assert pgs["warm"] == 1.0
    assert find_experiment(identity).measure(rows_of(identity))["half_over_PGS"] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["pool1", "pool2", "stacking"])
def test_explicit_and_factored_a_need_the_sweeps_of_projected_gauss_seidel(name: str) -> None:
    needed = {row.name: row["iterations"] for row in select(rows_of("amgs-table1"), group=name)}
    assert needed["2.2 [0.5 D]"] == needed["2.2 [0.5 D], sparse A"] == needed[HALF.label] == needed[PGS.label]
    assert needed[scaled(0.2).label] < needed[PGS.label]


def test_residuals_end_below_the_limit_of_table_1() -> None:
    for row in rows_of("amgs-table1"):
        assert row.success
        assert row["res"] < 1e-4 <= row.series["res"][-2]
        assert row["seconds"] > 0.0
        assert row["setup_seconds"] > 0.0


def test_the_claims_of_half_the_sweeps_cannot_hold() -> None:
    experiment = find_experiment("amgs-table1")
    verdicts = judge_all(experiment, experiment.measure(rows_of("amgs-table1")), quick=True)
    assert {verdicts[f"half-the-sweeps-{name}"].outcome for name in ("pool1", "pool2", "stacking")} == {
        Outcome.CANNOT_HOLD
    }


@pytest.mark.parametrize("identity", ["amgs-fig6", "amgs-fig7", "amgs-fig8"])
def test_simulations_with_alpha_one_half_are_those_of_projected_gauss_seidel(identity: str) -> None:
    same, pgs = one(identity, HALF.label), one(identity, PGS.label)
    np.testing.assert_allclose(same.series["res"], pgs.series["res"], rtol=1e-6, atol=1e-12)
    assert one(identity, scaled(0.2).label).found.problem != pgs.found.problem


def test_over_relaxation_helps_a_stack_and_under_relaxation_does_not() -> None:
    measured = find_experiment("amgs-fig8").measure(rows_of("amgs-fig8"))
    assert measured["0.2_over_PGS"] < measured["0.4_over_PGS"] < 1.0 < measured["0.6_over_PGS"]


def test_every_step_of_table_2_has_200_sweeps() -> None:
    for row in rows_of("amgs-table2"):
        swept = row["iterations"] / 200.0
        assert swept == np.round(swept)
        assert np.sum(row.series["res"] > 0.0) <= swept <= len(row.series["res"])
        assert 0.0 < row["row_sweeps"] <= 200.0 * np.sum(row.series["rows"])


def test_trials_move_alpha_by_their_factor_within_their_limits() -> None:
    for row in select(rows_of("amgs-adaptive"), lambda row: "trials" in row.name):
        alpha = row.series["alpha"]
        assert alpha[0] == 0.5
        assert np.all((alpha >= 0.05) & (alpha <= 1.0))
        moved = np.flatnonzero(np.diff(alpha))
        assert moved.size > 0
        assert np.all((moved + 2) % 5 == 0)
        assert row["sweeps"] > row["iterations"]


def test_the_search_within_a_solve_ends_at_the_same_residual_as_fixed_alphas() -> None:
    within = select(rows_of("amgs-adaptive"), name="3.1 [alpha D], within the solve")
    assert len(within) == 3
    assert all(row["res"] < 1e-4 for row in within)


def test_rows_of_the_figures_are_used_again_by_the_adaptive_study() -> None:
    keys = {task.key for task in find_experiment("amgs-adaptive").make_tasks(False)}
    for identity in ("amgs-fig6", "amgs-fig7", "amgs-fig8"):
        assert {task.key for task in find_experiment(identity).make_tasks(False)} <= keys


def test_in_space_with_friction_alpha_one_half_is_projected_gauss_seidel() -> None:
    rows = rows_of("amgs-friction")
    for group in ("step of stack", "step of wall_of_boxes"):
        same, pgs = (select(rows, name=label, group=group)[0] for label in (HALF.label, PGS.label))
        np.testing.assert_allclose(same.series["res"], pgs.series["res"], rtol=1e-9)


def test_the_printed_box_form_winds_up_at_upper_bounds() -> None:
    rows = rows_of("amgs-friction")
    held = {
        row.name: row["at_upper"] for row in select(rows, group="box of stack", where=lambda row: "3.2" in row.name)
    }
    assert held["3.2 [0.2 D], as printed"] > held["3.2 [0.2 D], corrected"] > 0.0


def test_rank_correlation_tells_order() -> None:
    values = np.array(ALPHAS)
    assert rank_correlation(values) == pytest.approx(1.0)
    assert rank_correlation(-values) == pytest.approx(-1.0)
    assert rank_correlation(values[[2, 0, 1, 3, 4, 5]]) == pytest.approx(1.0 - 6.0 * 6.0 / 210.0)
    assert np.isnan(rank_correlation(np.array([1.0, np.nan])))


def test_geometric_mean_of_nothing_is_not_a_number() -> None:
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10.0)
    assert np.isnan(geometric_mean([]))
