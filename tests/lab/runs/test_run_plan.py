"""Which tasks a run has to carry out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lab_deeds import deed

from perp.errors import MissingExtra
from perp.lab.runs.circumstances import code_fingerprint, observe
from perp.lab.runs.plan import Forecast, Policy, make_plan, merge_equal
from perp.lab.runs.process import perform
from perp.lab.runs.row import CRASHED, DONE, FAILED, OUT_OF_MEMORY, TIME_OUT, TROUBLE, LabRow, Measurement
from perp.lab.runs.store import RowStore
from perp.solvers.reformulation.bridges import name_missing

pytest.importorskip("duckdb")


def glance_of(status=DONE, **changes):
    usual = {"status": status, "message": "", "code": code_fingerprint()}
    usual |= {"limit_seconds": 10.0, "limit_megabytes": 100.0}
    return usual | {"alone": False, "started": 1.0, "wall_seconds": 1.0} | changes


def test_equal_tasks_are_one_with_the_largest_limits_and_timed_if_any_is():
    small = deed("work", 1, wall_seconds=5.0, memory_megabytes=900, timed=True)
    large = replace(small, label="another", wall_seconds=50.0, memory_megabytes=100, timed=False)
    for pair in ([small, large], [large, small]):
        (merged,) = merge_equal(pair)
        assert (merged.wall_seconds, merged.memory_megabytes, merged.timed) == (50.0, 900, True)
    assert merge_equal([deed("work", 1), deed("work", 2), deed("work", 1)]) == [deed("work", 1), deed("work", 2)]


def test_rows_of_other_code_are_taken_only_on_demand():
    other = glance_of(code="of yesterday")
    assert Policy().takes(glance_of(), deed("work"))
    assert not Policy().takes(other, deed("work"))
    assert Policy(resume=True).takes(other, deed("work"))


@pytest.mark.parametrize("status", TROUBLE)
def test_rows_in_trouble_are_finished_unless_they_are_to_be_tried_again(status):
    task = deed("work", wall_seconds=10.0, memory_megabytes=100)
    assert Policy().takes(glance_of(status), task)
    assert not Policy(retry=True).takes(glance_of(status), task)
    assert not Policy(retry=True, resume=True).takes(glance_of(status), task)


def test_what_failed_for_want_of_a_library_is_tried_again_whatever_is_asked():
    wanting = (
        perform(replace(deed("work"), work="no_such_library.works")).found.message,
        f"MissingExtra: {MissingExtra('mujoco', 'a scene', 'mujoco')}",
        f"MethodRefused: quadratic_program refuses: {name_missing('piqp')}",
        f"MethodRefused: quadratic_program refuses: {name_missing('auto')}",
    )
    for message in wanting:
        assert not Policy(resume=True).takes(glance_of(FAILED, message=message), deed("work"))
    assert Policy().takes(glance_of(FAILED, message="ValueError: A is singular"), deed("work"))


def test_a_row_that_met_a_limit_counts_up_to_that_limit():
    assert Policy().takes(glance_of(TIME_OUT), deed("work", wall_seconds=9.0, memory_megabytes=10**6))
    assert not Policy(resume=True).takes(glance_of(TIME_OUT), deed("work", wall_seconds=11.0))
    assert not Policy().takes(glance_of(OUT_OF_MEMORY), deed("work", memory_megabytes=101))
    assert not Policy().takes(glance_of(TIME_OUT, limit_seconds=float("nan")), deed("work"))
    assert Policy().takes(glance_of(FAILED), deed("work", wall_seconds=10**6))


def test_a_task_whose_time_counts_takes_only_rows_that_ran_alone():
    assert not Policy(resume=True).takes(glance_of(), deed("work", timed=True))
    assert Policy().takes(glance_of(alone=True), deed("work", timed=True))


def test_the_plan_puts_long_tasks_first_and_timed_ones_apart(tmp_path):
    store = RowStore(tmp_path)
    tasks = [deed("work", number, timed=number > 3) for number in range(6)]
    for number, seconds in ((0, 1.0), (1, 9.0), (4, 2.0)):
        known = replace(observe(), code="of yesterday", wall_seconds=seconds)
        store.write(LabRow(tasks[number], Measurement(DONE), known))
    store.write(LabRow(tasks[3], Measurement(CRASHED), observe()))
    plan = make_plan(tasks, store, Policy())
    assert plan.together == (tasks[2], tasks[1], tasks[0])  # what nobody knows may be the longest
    assert plan.alone == (tasks[4], tasks[5])
    assert plan.taken == (tasks[3],)
    assert plan.to_run == 5


def test_the_forecast_shares_what_runs_together_and_adds_what_runs_alone():
    forecast = Forecast({deed("work", 1).key: {"wall_seconds": 8.0}}, width=4)
    forecast.learn(2.0)
    forecast.learn(4.0)
    together, alone = [deed("work", 1), deed("work", 2)], [deed("work", 3)]
    assert forecast.seconds_left(together, alone) == (8.0 + 3.0) / 4 + 3.0
    assert forecast.seconds_left([], []) == 0.0
