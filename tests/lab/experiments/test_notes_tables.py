"""Tables 1 to 3 of NOTES: who ends how, after how many iterations, and the properties of the methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_experiments import judge_all, quick_rows

from perp.lab.claims import Outcome
from perp.lab.experiments.catalogue import find_experiment
from perp.lab.experiments.notes import table2
from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FISCHER_OURS,
    FLUID_METHODS,
    MINIMUM_MAP,
    MINIMUM_MAP_DIRECT,
    PGS,
    PSOR,
)
from perp.lab.experiments.notes.robustness_runs import (
    CONTACT,
    CONTACT_PUBLISHED,
    FLUID,
    FLUID_PUBLISHED,
    NAMES,
    count_states,
    rows_of,
)
from perp.lab.experiments.notes.table3 import order_and_factor, solved
from perp.lab.runs.row import CRASHED, Measurement

TABLES = ("notes-table1", "notes-table2", "notes-table3")


def rows_for(identity):
    """Tables 1 and 2 have the same tasks, which are run once."""
    return quick_rows("notes-table1" if identity == "notes-table2" else identity)


@pytest.mark.parametrize("identity", TABLES)
def test_every_task_has_a_row_and_none_failed(identity):
    experiment = find_experiment(identity)
    rows = rows_for(identity)
    assert len(rows) == len(experiment.make_tasks(True)) > 0
    assert not [row.found.message for row in rows if row.status == "FAILED"]
    assert len({row.key for row in rows}) == len(rows)


@pytest.mark.parametrize("identity", ["notes-table1", "notes-fig2"])
def test_a_process_that_came_to_grief_counts_neither_for_nor_against_a_method(identity):
    experiment = find_experiment(identity)
    rows = quick_rows(identity)
    lost = [replace(row, found=Measurement(CRASHED)) for row in rows]
    assert experiment.measure(lost) == {}
    assert experiment.measure([*rows, *lost]) == experiment.measure(rows)


@pytest.mark.parametrize("identity", TABLES)
def test_every_claim_is_measured_at_quick_size_and_can_fail(identity):
    experiment = find_experiment(identity)
    measured = experiment.measure(rows_for(identity))
    for claim in experiment.claims:
        assert np.isfinite(measured[claim.measure]), claim.id
    for wrong in (1e9, -1e9):
        verdicts = judge_all(experiment, dict.fromkeys(measured, wrong))
        outside = [claim for claim in experiment.claims if wrong not in claim.holds]
        assert all(verdicts[claim.id].outcome is Outcome.DIFFERS for claim in outside)
    assert all(1e9 not in claim.holds or -1e9 not in claim.holds for claim in experiment.claims)


@pytest.mark.parametrize("identity", TABLES)
def test_what_is_missing_leaves_gaps_and_no_error(identity):
    experiment = find_experiment(identity)
    assert experiment.measure([]) == {}
    for table in experiment.tabulate([]):
        assert table.lines
    some = rows_for(identity)[::5]
    assert all(np.isfinite(value) for value in experiment.measure(some).values())
    assert experiment.tabulate(some)


def test_tables_1_and_2_share_their_rows():
    first, second = (
        {task.key for task in find_experiment(name).make_tasks(False)} for name in ("notes-table1", "notes-table2")
    )
    assert first == second
    assert len(first) == 1600


def test_the_tables_print_what_the_paper_prints():
    fluid, contact = find_experiment("notes-table1").tabulate(quick_rows("notes-table1"))
    column = fluid.headings.index("absolute (paper)")
    assert [line[column] for line in fluid.lines] == [100] * 8
    assert contact.lines[1][contact.headings.index("non-descent (paper)")] == 100
    _, iterations = find_experiment("notes-table2").tabulate(quick_rows("notes-table1"))
    means = [line[iterations.headings.index("mean (paper)")] for line in iterations.lines[:4]]
    assert means == [5.0, 4.07, 49.38, 25.29]


def test_final_states_are_counted_each_once():
    rows = quick_rows("notes-table1")
    counted = count_states(rows)
    assert tuple(counted) == NAMES
    assert sum(counted.values()) == len(rows)


def test_fluid_problems_are_solved_by_every_method_to_the_tolerance_of_the_paper():
    for method in FLUID_METHODS:
        for row in rows_of(quick_rows("notes-table1"), FLUID, method):
            assert row.success
            assert 0.0 <= row["merit"] < 1e-3


def test_a_singular_newton_equation_is_noticed_by_a_factor_and_not_by_gmres():
    rows = quick_rows("notes-table1")
    assert {row.status for row in rows_of(rows, CONTACT, MINIMUM_MAP_DIRECT)} == {"BREAKDOWN"}
    assert {row.status for row in rows_of(rows, CONTACT, MINIMUM_MAP)} == {"CONVERGED"}
    assert {row.status for row in rows_of(rows, CONTACT, FISCHER_OURS)} == {"CONVERGED"}
    assert {row.status for row in rows_of(rows, CONTACT_PUBLISHED, MINIMUM_MAP)} == {"NON_DESCENT"}


def test_the_fluids_of_num4lcp_end_with_every_row_free_and_planted_ones_with_three_quarters():
    rows = quick_rows("notes-table1")
    assert {row["active"] for row in rows_of(rows, FLUID_PUBLISHED, PGS)} == {1.0}
    assert {row["active"] for row in rows_of(rows, FLUID, PGS)} == {0.75}


def test_statistics_are_those_of_the_runs_that_converged():
    rows = quick_rows("notes-table1")
    counts = [row["iterations"] for row in rows_of(rows, FLUID, PSOR)]
    mean, least, most, std = table2.iteration_statistics(rows, FLUID, PSOR)
    assert (mean, least, most) == (np.mean(counts), min(counts), max(counts))
    assert std == pytest.approx(np.std(counts, ddof=1))
    assert all(np.isnan(table2.iteration_statistics(rows, CONTACT_PUBLISHED, MINIMUM_MAP)))


def test_sweeps_converge_linearly_and_fischers_method_quadratically():
    rows = quick_rows("notes-table3")
    for method in (PGS, PSOR):
        order, factor = order_and_factor(rows, method)
        assert order == pytest.approx(1.0, abs=0.1)
        assert 0.1 < factor < 0.95
    assert order_and_factor(rows, PSOR)[1] < order_and_factor(rows, PGS)[1]
    assert order_and_factor(rows, FISCHER)[0] == pytest.approx(2.0, abs=0.3)


def test_gauss_seidel_needs_symmetry_to_converge_from_afar_and_newton_does_not():
    rows = quick_rows("notes-table3")
    assert solved(rows, "symmetric", PGS) == solved(rows, "symmetric", PSOR) == 100.0
    assert solved(rows, "non-symmetric", PGS) == 0.0
    assert solved(rows, "non-symmetric", MINIMUM_MAP) == solved(rows, "non-symmetric", FISCHER) == 100.0
