"""Rows: ranking, thinning, and the way to disk and back."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from perp.lab.demo import machine_facts
from perp.lab.results import read_rows, to_json, write_results
from perp.lab.rows import FAILED, Row, ranked, row_from_failure, thinned
from perp.solvers.results import History
from perp.solvers.stopping import Stopping


def test_rows_are_ranked_by_success_then_time_then_residual(make_row):
    slow = make_row("slow", seconds=2.0)
    fast = make_row("fast", seconds=1.0)
    near = make_row("near", status="ITERATION_LIMIT", residual=1e-3)
    far = make_row("far", status="ITERATION_LIMIT", residual=1.0)
    raised = row_from_failure("stack", "raised", ZeroDivisionError("oh"))
    assert [row.method for row in ranked([raised, far, slow, near, fast])] == ["fast", "slow", "near", "far", "raised"]


def test_a_failure_is_a_row_without_numbers():
    row = row_from_failure("stack", "pgs", ZeroDivisionError("by nothing"))
    assert row.status == FAILED
    assert row.message == "ZeroDivisionError: by nothing"
    assert not row.success
    assert np.isnan(row.residual)
    assert len(row.history) == 0


def test_thinning_keeps_both_ends_and_the_early_checks(make_row):
    history = make_row(checks=5000).history
    thin = thinned(history, most=100)
    assert len(thin) <= 100
    assert thin.iteration[:4].tolist() == [0, 1, 2, 3]
    assert thin.iteration[-1] == 4999
    assert (np.diff(thin.iteration) > 0).all()
    assert thinned(thin, most=100) is thin


def test_rows_come_back_from_disk(make_row, tmp_path):
    rows = [make_row("pgs"), row_from_failure("stack", "psor", ValueError("no"))]
    write_results(tmp_path / "results.json", rows, Stopping(), machine_facts())
    for row, same in zip(rows, read_rows(tmp_path / "results.json"), strict=True):
        for field in fields(Row):
            if field.name != "history":
                np.testing.assert_equal(getattr(same, field.name), getattr(row, field.name))
        for column in fields(History):
            expected, found = getattr(row.history, column.name), getattr(same.history, column.name)
            if column.name == "counters":
                assert found == expected
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_what_is_not_finite_is_null_in_json():
    assert json.loads(to_json({"a": np.nan, "b": [np.inf, 1.0], "c": ("x", None, True)})) == {
        "a": None,
        "b": [None, 1.0],
        "c": ["x", None, True],
    }


@pytest.mark.parametrize("fact", ["perp", "Python", "NumPy", "Numba", "processors"])
def test_the_machine_tells_its_versions_and_not_its_name(fact):
    import platform

    facts = machine_facts()
    assert facts[fact]
    assert platform.node() not in " ".join(facts.values()).split()
