"""Two runs side by side: what both have, what changed, and by which factor."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest
from made_experiments import MemoryStore, made_experiment, made_rows, make_tasks
from made_rows import row_of

from perp.lab.publication import comparison as comparison_of_runs
from perp.lab.publication.comparison import AnyVersion, compare, compare_folders
from perp.lab.publication.evidence import gather
from perp.lab.runs.plan import with_options
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

EXPERIMENTS = [made_experiment(), made_experiment("made-absent", make_tasks=lambda quick: [])]


def compared(first, second):
    return compare(*(gather(MemoryStore(rows), EXPERIMENTS) for rows in (first, second)))


def scaled(seconds=1.0, iterations=1.0):
    return [
        row_of(row.task, iterations=iterations * row["iterations"], seconds=seconds * 0.01, setup_seconds=0.0)
        for row in made_rows()
    ]


def test_a_run_compared_with_itself_has_changed_nothing():
    same = compared(made_rows(), made_rows())
    assert [each.experiment for each in same.experiments] == ["made-race"]
    assert (same.experiments[0].both, same.experiments[0].only) == (12, (0, 0))
    assert not any(claim.changed for claim in same.claims)
    assert same.statuses == ()
    assert {(each.method, each.seconds_ratio, each.iterations_ratio) for each in same.methods} == {
        ("fast", 1.0, 1.0),
        ("slow", 1.0, 1.0),
    }


def test_ratios_are_second_over_first():
    found = compared(scaled(), scaled(seconds=3.0, iterations=0.5))
    for each in found.methods:
        assert each.seconds_ratio == pytest.approx(3.0)
        assert each.iterations_ratio == pytest.approx(0.5)
        assert (each.rows, each.solved) == (6, 6)


def test_a_changed_verdict_is_marked_with_both_figures():
    found = compared(made_rows(), made_rows(iterations=20.0))
    changed = {claim.claim: claim for claim in found.claims if claim.changed}
    assert changed["half"].outcomes == ("holds", "differs")
    assert changed["half"].measured == (0.5, 1.0)
    assert changed["same"].outcomes == ("differs", "holds")


def test_rows_that_end_otherwise_are_named_and_have_no_ratio():
    worse = [row_of(task, "TIME_OUT") if task.label == "slow" else row_of(task) for task in make_tasks(False)]
    found = compared(made_rows(), worse)
    assert {change.statuses for change in found.statuses} == {("CONVERGED", "TIME_OUT")}
    assert len(found.statuses) == 6
    slow = next(each for each in found.methods if each.method == "slow")
    assert (slow.rows, slow.solved) == (6, 0)
    assert isnan(slow.seconds_ratio)


def test_rows_of_one_run_only_are_counted():
    found = compared(made_rows(), made_rows()[:7])
    assert (found.experiments[0].both, found.experiments[0].only) == (7, (5, 0))
    quick = compared(made_rows(quick=True), made_rows())
    assert quick.experiments[0].sizes == ("quick", "full")
    assert (quick.experiments[0].both, quick.experiments[0].only) == (4, (0, 8))


def test_a_run_without_an_experiment_has_no_outcome_for_its_claims():
    found = compared([], made_rows())
    assert {claim.outcomes[0] for claim in found.claims} == {""}
    assert not any(claim.changed for claim in found.claims)
    assert found.experiments[0].sizes == ("", "full")


def test_rows_with_other_options_are_held_against_those_with_their_label():
    """Two methods with one label are not told apart by it: they stay what they are."""
    tasks = [solve_task(gallery("fluid_like", n), "psor", {}, label="PSOR") for n in (8, 27)]
    tasks += [
        solve_task(gallery("fluid_like", 8), "psor", {}, options={"order": order}) for order in ("forward", "random")
    ]
    experiment = made_experiment("made-race", make_tasks=lambda quick: tasks)
    other = with_options(tasks[:2], {"relaxation": "1.2"}) + tasks[2:]
    assert [task.options.get("relaxation") for task in other] == [1.2, 1.2, None, None]
    first, second = (
        AnyVersion([row_of(task, iterations=n) for task in planned]) for planned, n in ((tasks, 10.0), (other, 5.0))
    )
    found = compare(*(gather(rows, [experiment]) for rows in (first, second)))
    assert (found.experiments[0].both, found.experiments[0].only) == (4, (0, 0))
    told = {each.method: (each.rows, each.changed, each.iterations_ratio) for each in found.methods}
    assert told == {"PSOR": (2, "relaxation default -> 1.2", 0.5), "psor": (2, "", 0.5)}


def test_options_that_no_method_has_or_takes_are_refused():
    tasks = [solve_task(gallery("fluid_like", 8), "psor", {})]
    with pytest.raises(ValueError, match="did you mean 'relaxation'"):
        with_options(tasks, {"relaxations": "1.2"})
    with pytest.raises(ValueError, match="relaxation"):
        with_options(tasks, {"relaxation": "3.5"})
    with pytest.raises(ValueError, match="is not of the kind"):
        with_options(tasks, {"relaxation": "much"})
    assert with_options(tasks, {}) == tasks


def test_plain_data_say_what_changed():
    plain = compared(made_rows(), made_rows(iterations=20.0)).as_plain()
    assert [entry["changed"] for entry in plain["claims"]] == [True, True, True]
    assert set(plain) == {"experiments", "claims", "methods", "statuses"}


def test_folders_are_compared_also_where_another_version_wrote_the_rows(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    from perp.lab.runs.store import RowStore

    monkeypatch.setattr(comparison_of_runs, "all_experiments", lambda: EXPERIMENTS)
    for row in made_rows(quick=True):
        RowStore(tmp_path / "new").write(row)
    with monkeypatch.context() as former:
        former.setattr("perp.lab.runs.task.__version__", "0.0.1")
        for row in made_rows(quick=True):
            written = replace(row, circumstances=replace(row.circumstances, version="0.0.1"))
            RowStore(tmp_path / "old").write(written)
    found = compare_folders(tmp_path / "old", tmp_path / "new")
    assert (found.experiments[0].both, found.experiments[0].only) == (4, (0, 0))
    with pytest.raises(ValueError, match="empty has no rows"):
        compare_folders(tmp_path / "empty", tmp_path / "new")
