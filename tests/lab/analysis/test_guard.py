"""The guard: a comparison in which too many rows had nothing to do is void, and a failure is not idleness."""

from __future__ import annotations

from math import nan

from made_rows import row_of, solved_row

from perp.lab.analysis.profiles import find_void_groups, is_idle
from perp.lab.runs.row import DONE
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task


def idle(count, group="easy", **numbers):
    return [solved_row(seed=seed, group=group, **({"iterations": 0.0} | numbers)) for seed in range(count)]


def busy(count, group="easy", **others):
    return [solved_row(seed=100 + seed, group=group, **others) for seed in range(count)]


def test_a_fifth_of_idle_rows_is_the_most_that_a_comparison_bears():
    assert find_void_groups(idle(2) + busy(8)) == {}
    assert list(find_void_groups(idle(3) + busy(7))) == ["easy"]


def test_rows_that_end_with_nothing_free_are_idle_too():
    rows = idle(2) + idle(2, iterations=9.0, active=0.0) + busy(6)
    assert find_void_groups(rows) == {
        "easy": "40% of 10 rows had nothing to do: 2 converged without an iteration, 2 more to a point at which "
        "nothing is free"
    }


def test_groups_are_judged_apart():
    assert list(find_void_groups(idle(5) + busy(50, "hard") + idle(5, "hard"))) == ["easy"]


def test_a_failure_at_the_start_is_not_idleness():
    rows = busy(5, status="BREAKDOWN", iterations=0.0) + busy(5, status="ITERATION_LIMIT", active=0.0)
    assert not any(map(is_idle, rows))
    assert find_void_groups(rows) == {}


def test_crashes_do_not_thin_out_the_idle_rows():
    crashed = [row_of(solve_task(gallery("fluid_like", 27, k), "psor", {}, group="easy"), "CRASHED") for k in range(50)]
    assert list(find_void_groups(idle(3) + busy(7) + crashed)) == ["easy"]
    assert find_void_groups(crashed) == {}


def test_measurements_that_know_no_iterations_are_exempt():
    task = solve_task(gallery("fluid_like", 27), "", {}, group="fill")
    assert find_void_groups([row_of(task, DONE, entries=12.0)] * 5) == {}
    assert find_void_groups([row_of(task, DONE, active=0.0)] * 5) == {}
    mixed = [row_of(task, DONE, active=0.3)] * 40 + idle(3, "fill") + busy(7, "fill")
    assert list(find_void_groups(mixed)) == ["fill"]


def test_one_missing_number_leaves_the_other_to_tell():
    assert list(find_void_groups(idle(4, iterations=nan, active=0.0))) == ["easy"]
    assert list(find_void_groups(idle(4, active=nan))) == ["easy"]
    assert find_void_groups(idle(4, iterations=nan)) == {}  # something is free


def test_no_rows_are_no_comparison():
    assert find_void_groups([]) == {}
