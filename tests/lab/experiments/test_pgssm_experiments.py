"""The experiments of PGS-SM at quick size, and the parts that they are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

import perp
from perp import gallery
from perp.lab.claims import Outcome, judge
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.pgssm import blowup, fig3, figure2, variants
from perp.lab.experiments.pgssm.figure2 import CASES
from perp.lab.work.pgs_sm import Ledger, PrintedPGSSM
from perp.lab.work.recipes import make_scene
from perp.lab.work.touching_rows import solve_touching, touching_rows
from perp.solvers.splitting.subspace import PGSSM

pytest.importorskip("mujoco")

IDS = ("pgssm-fig3", "pgssm-5.1", "pgssm-blowup")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Problems of steps are made once for all experiments."""
    return tmp_path_factory.mktemp("pgssm")


@pytest.mark.parametrize("identity", IDS)
def test_every_task_has_a_row_and_none_raised(identity, folder):
    rows = quick_rows(identity, folder)
    assert [row.key for row in rows] == [task.key for task in find_experiment(identity).make_tasks(True)]
    assert {row.status for row in rows} <= {
        "CONVERGED",
        "STOPPED_BY_CALLBACK",
        "ITERATION_LIMIT",
        "STAGNATED",
        "CYCLING",
        "DONE",
        "BLOWN_UP",
    }
    assert all(row["active"] > 0.0 for row in rows)


@pytest.mark.parametrize("identity", IDS)
def test_every_claim_has_a_finite_figure_and_can_fail(identity, folder):
    experiment = find_experiment(identity)
    measured = experiment.measure(quick_rows(identity, folder))
    for claim in experiment.claims:
        assert np.isfinite(measured[claim.measure])
        wrong = claim.holds.least - 1.0 if np.isfinite(claim.holds.least) else claim.holds.most + 1.0
        assert judge(claim, {claim.measure: wrong}).outcome is Outcome.DIFFERS
        right = claim.holds.least if np.isfinite(claim.holds.least) else claim.holds.most
        assert judge(claim, {claim.measure: right}).outcome is Outcome.HOLDS
    for verdict in judge_all(experiment, measured, quick=True).values():
        assert (verdict.outcome is Outcome.NOT_MEASURED) == verdict.claim.full_size_only


@pytest.mark.parametrize("identity", IDS)
def test_tables_and_pictures_cope_with_rows_that_are_missing(identity, folder):
    experiment, rows = find_experiment(identity), quick_rows(identity, folder)
    for given in (rows, rows[::2], ()):
        tables = experiment.tabulate(given)
        assert all(len(line) == len(table.headings) for table in tables for line in table.lines)
    assert experiment.measure(()) == {}
    assert not any(cell is None for line in experiment.tabulate(rows)[0].lines[:1] for cell in line[:2])


@pytest.mark.parametrize("identity", IDS)
def test_pictures_are_drawn(identity, folder):
    pytest.importorskip("matplotlib")
    experiment, rows = find_experiment(identity), quick_rows(identity, folder)
    for picture in experiment.draw(rows):
        assert len(picture.figure.axes) == len(CASES)
        assert all(len(axes.lines) >= 3 for axes in picture.figure.axes)
        picture.figure.canvas.draw()
    assert experiment.draw(())


@pytest.mark.parametrize("identity", IDS)
def test_experiments_share_their_rows(identity):
    for quick in (True, False):
        keys = [task.key for task in find_experiment(identity).make_tasks(quick)]
        assert len(set(keys)) == len(keys)
    shared = {task.key for task in blowup.make_tasks(False)} & {task.key for task in variants.make_tasks(False)}
    assert len(shared) == len(CASES)  # PGS-SM as printed


# what is true of them


def test_a_step_on_the_slope_is_solved_to_rounding_by_one_iteration(folder):
    rows = quick_rows("pgssm-fig3", folder)
    row = fig3.find(rows, CASES[4], fig3.SM)
    assert row.success
    assert row["least_merit"] < 1e-20
    assert row["iterations"] == 1
    # twenty-five sweeps, a unit a subspace step, and no more than all rows an iteration of conjugate gradients
    assert row["cost"] <= 25 + row["subspace_steps"] + row["cg_iterations"]
    assert row["cg_iterations"] <= row["subspace_steps"] * row.found.n


def test_costs_of_pgs_are_its_iterations(folder):
    row = fig3.find(quick_rows("pgssm-fig3", folder), CASES[0], fig3.PGS)
    assert row["cost"] == row["iterations"]
    assert (np.diff(row.series["cost"]) > 0.0).all()


def test_boxes_slide_as_coulomb_says(folder):
    rows = quick_rows("pgssm-5.1", folder)
    assert variants.slide(rows, figure2.AS_PRINTED) == pytest.approx(1.0, abs=1e-6)


def test_pgs_lets_a_heavy_box_sink_and_pgs_sm_does_not(folder):
    rows = quick_rows("pgssm-blowup", folder)
    pgs, sm = (figure2.run_of(rows, "masses 1:100", who) for who in (figure2.PGS, figure2.AS_PRINTED))
    assert sm["way"] < 1e-9 < 1e-4 < pgs["way"]


def test_a_run_whose_energy_is_too_large_counts_as_blown_up(folder):
    rows = list(quick_rows("pgssm-blowup", folder))
    blown = figure2.blow_ups(rows, figure2.AS_PRINTED)
    place = next(k for k, row in enumerate(rows) if row.name == "PGS-SM" and row.group == CASES[4].name)
    rows[place] = replace(rows[place], found=replace(rows[place].found, status="BLOWN_UP"))
    assert figure2.count(figure2.blow_ups(rows, figure2.AS_PRINTED)) == figure2.count(blown) + 1
    assert figure2.blow_ups(rows[1:], figure2.PGS) is None


def test_spikes_costs_and_rest_are_read_from_curves(folder):
    row = fig3.find(quick_rows("pgssm-fig3", folder), CASES[0], fig3.PGS)

    def with_curve(cost, merit):
        numbers = dict(row.found.numbers) | {"merit": merit[-1], "least_merit": min(merit)}
        series = {"cost": np.array(cost, float), "merit": np.array(merit, float)}
        return replace(row, found=replace(row.found, numbers=numbers, series=series))

    smooth = with_curve([0, 10, 20, 30], [1.0, 1e-6, 1e-12, 1e-16])
    jagged = with_curve([0, 10, 20, 30], [1.0, 1e-6, 1e-3, 1e-14])
    resting = with_curve([0, 10, 20, 30], [1.0, 1e-6, 1e-6, 1e-6])
    assert fig3.cost_to(smooth) == 30
    assert np.isnan(fig3.cost_to(jagged))
    assert fig3.largest_rise(jagged) == pytest.approx(1e3)
    assert fig3.largest_rise(smooth) < 1.0
    assert [fig3.has_come_to_rest(curve) for curve in (smooth, jagged, resting)] == [False, False, True]
    assert fig3.is_better(smooth, jagged)
    assert not fig3.is_better(jagged, smooth)
    assert fig3.is_better(jagged, resting)


# the printed method


def test_the_printed_method_is_pgs_sm_where_equations_have_solutions():
    problem = gallery.make("boxed_pd", n=60).problem
    stop = perp.Stopping(tol=0.0, max_iterations=2, keep="last")
    printed = perp.solve(problem, PrintedPGSSM(ledger=Ledger()), stop=stop)
    factors = perp.solve(problem, PGSSM(fallback="none"), stop=stop)
    np.testing.assert_allclose(printed.x, factors.x, atol=1e-8)


def test_the_ledger_charges_sweeps_subspace_steps_and_the_share_of_active_rows():
    problem = perp.BoxLCP(np.diag([1.0, 2.0, 3.0, 4.0]), [-1.0, -1.0, -1.0, 5.0], 0.0, np.inf)
    ledger = Ledger()
    perp.solve(problem, PrintedPGSSM(k_pgs=1, ledger=ledger), x0=[0.5, 0.0, 0.0, 0.0], tol=0.0, max_iterations=1)
    # one sweep solves it: three rows are active, nothing is left for conjugate gradients
    assert ledger.cg_iterations == 0
    assert ledger.cost == 2.0
    assert ledger.merits[0] < 1e-30
    coupled = perp.BoxLCP(np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), [-1.0, -2.0, 1.0], 0.0, np.inf)
    ledger = Ledger()
    perp.solve(coupled, PrintedPGSSM(k_pgs=1, k_sm=1, ledger=ledger), x0=[5.0, 5.0, 0.0], tol=0.0, max_iterations=1)
    assert ledger.cost == pytest.approx(1.0 + 1.0 + ledger.cg_iterations * 1.0 / 3.0)


def test_sweeps_go_on_until_the_merit_rests():
    problem = gallery.make("box_stack", n=240, layout="tower").problem
    swept = [
        perp.solve(problem, PrintedPGSSM(until=until, ledger=Ledger()), max_iterations=1).history.counters["sweeps"][-1]
        for until in (0.0, 0.5, 0.01)
    ]
    assert swept[0] == 25 < swept[1] <= swept[2] <= 1000


def test_rows_that_touch_have_the_right_hand_side_of_equation_3():
    made = make_scene(CASES[5].whole(True))
    world, dt = made.world, made.dt
    world.velocity[0, 0] = 0.3
    whole = world.make_problem(world.find_contacts(dt), dt)
    part = touching_rows(world, whole, dt)
    J = part.problem.A.J.toarray()
    free = world.velocity.reshape(-1).copy()
    free[2::6] += dt * world.gravity[2]
    np.testing.assert_allclose(part.problem.b, J @ free, atol=1e-12)
    np.testing.assert_allclose(J, whole.A.J.toarray()[part.rows], atol=1e-15)
    assert 0 < part.problem.n < whole.n
    assert np.linalg.matrix_rank(J) < len(J)
    x = part.spread(np.ones(part.problem.n))
    assert x.sum() == part.problem.n


def test_a_world_can_be_stepped_in_the_form_of_equation_3():
    made = make_scene(CASES[4].whole(True))
    start = made.world.position.copy()

    def solve(problem, x0):
        assert x0 is None
        return perp.solve(problem, "block_gauss_seidel", tol=1e-12, max_iterations=5000)

    for _ in range(3):
        made.world.step(made.dt, solve_touching(made.world, made.dt, solve))
    assert np.abs(made.world.position - start).max() < 1e-9
