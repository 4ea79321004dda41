"""Performance profiles, times to a residual, and the guard of comparisons."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_rows import history_row, row_of, solved_row

from perp.lab.analysis.profiles import (
    Arrival,
    arrival_curve,
    draw_arrivals,
    draw_profile,
    find_profile,
    find_void_groups,
    first_arrival,
    is_idle,
    iterations_of,
    method_of,
    problem_of,
    seconds_of,
)
from perp.lab.runs.row import DONE
from perp.lab.work.recipes import gallery
from perp.lab.work.solve import solve_task

METHODS = ("a", "b", "c")
COST = st.one_of(st.just(inf), st.floats(1e-3, 1e3), st.sampled_from([1.0, 2.0]))
TABLES = st.lists(st.tuples(*[COST] * len(METHODS)), min_size=1, max_size=12)


def rows_of(table):
    """A row for each entry; an infinite cost is one that ended at the limit of iterations."""
    return [
        solved_row(
            method,
            seed,
            status="ITERATION_LIMIT" if cost == inf else "CONVERGED",
            seconds=1.0 if cost == inf else cost,
            setup_seconds=0.0,
        )
        for seed, line in enumerate(table)
        for method, cost in zip(METHODS, line, strict=True)
    ]


@given(TABLES)
def test_a_profile_rises_and_stays_between_zero_and_one(table):
    profile = find_profile(rows_of(table))
    factors = np.geomspace(1.0, 1e7, 40)
    for method in METHODS:
        shares = [profile.share(method, factor) for factor in factors]
        assert all(0.0 <= share <= 1.0 for share in shares)
        assert shares == sorted(shares)


@given(TABLES)
def test_every_problem_that_was_solved_has_a_winner_and_every_solved_row_counts_in_the_end(table):
    profile = find_profile(rows_of(table))
    costs = np.array(table)
    solved = np.isfinite(costs).any(axis=1)
    assert sum(profile.share(method, 1.0) for method in METHODS) >= np.mean(solved) - 1e-12
    assert profile.unsolved == np.sum(~solved)
    for column, method in enumerate(METHODS):
        for factor in (1e9, inf):
            assert profile.share(method, factor) == pytest.approx(np.mean(np.isfinite(costs[:, column])))


@given(TABLES, st.lists(st.sampled_from([0.25, 0.5, 2.0, 8.0]), min_size=12, max_size=12))
def test_the_unit_in_which_a_problem_is_measured_does_not_matter(table, units):
    scaled = [tuple(cost * unit for cost in line) for line, unit in zip(table, units, strict=False)]
    first, second = find_profile(rows_of(table)), find_profile(rows_of(scaled))
    for method in METHODS:
        np.testing.assert_array_equal(first.ratios[method], second.ratios[method])


def test_a_table_made_by_hand():
    table = [(1.0, 2.0, 4.0), (3.0, 3.0, inf), (8.0, 1.0, 3.0), (inf, inf, inf)]
    profile = find_profile(rows_of(table))
    assert (profile.problems, profile.unsolved, profile.left_out, profile.largest) == (4, 1, 0, 8.0)
    expected = {"a": (0.5, 0.5, 0.75), "b": (0.5, 0.75, 0.75), "c": (0.0, 0.0, 0.5)}  # at factors 1, 2 and 8
    for method, shares in expected.items():
        assert tuple(profile.share(method, factor) for factor in (1.0, 2.0, 8.0)) == shares


def test_a_fast_failure_is_no_solution():
    profile = find_profile(
        [solved_row("a", seconds=5.0), solved_row("b", status="TIME_LIMIT", seconds=0.1), solved_row("c", seconds=nan)]
    )
    assert [profile.share(method, 1e9) for method in METHODS] == [1.0, 0.0, 0.0]
    assert profile.share("a", 1.0) == 1.0


def test_problems_that_one_method_was_not_run_on_are_left_out():
    rows = [solved_row("a", 0), solved_row("b", 0), solved_row("a", 1)]
    profile = find_profile(rows)
    assert (profile.problems, profile.left_out) == (1, 1)


def test_no_rows_make_an_empty_profile():
    profile = find_profile([])
    assert (profile.problems, dict(profile.ratios), profile.largest) == (0, {}, 1.0)


def test_stop_presets_and_options_tell_problems_and_methods_apart():
    instance = gallery("fluid_like", 27)
    loose, tight = (row_of(solve_task(instance, "psor", {"tol": tol})) for tol in (1e-3, 1e-9))
    assert problem_of(loose) != problem_of(tight)
    relaxed = row_of(solve_task(instance, "psor", {"tol": 1e-3}, options={"relaxation": 1.4}, label="shown as"))
    assert problem_of(relaxed) == problem_of(loose)
    warm = row_of(solve_task(instance, "psor", {"tol": 1e-3}, arguments={"start": "warm"}))
    assert problem_of(warm) == problem_of(loose)
    names = [method_of(row) for row in (loose, relaxed, warm)]
    assert names == ["psor", "psor(relaxation=1.4)", "psor(start=warm)"]
    ends_early = row_of(solve_task(instance, "psor", {"tol": 1e-3}, arguments={"absolute": 0.01}))
    assert problem_of(ends_early) != problem_of(loose)
    assert method_of(ends_early) == "psor"


def test_costs_of_nothing_are_lifted_to_what_can_be_told():
    row = solved_row(iterations=0.0, seconds=0.0, setup_seconds=0.0)
    assert iterations_of(row) == 1.0
    assert seconds_of(row) == 1e-7


def test_a_cost_that_has_no_ratio_and_two_rows_in_one_place_are_refused():
    with pytest.raises(ValueError, match=r"cost of pgs is 0\.0"):
        find_profile([solved_row("pgs")], lambda row: 0.0)
    with pytest.raises(ValueError, match="two rows of pgs on the same problem"):
        find_profile([solved_row("pgs"), solved_row("pgs", seconds=7.0)])


def test_the_drawing_has_a_step_line_a_method_that_ends_at_its_share_of_solved_problems():
    pytest.importorskip("matplotlib")
    from perp.lab.plots import new_figure

    _, (axes,) = new_figure()
    lines = draw_profile(axes, find_profile(rows_of([(1.0, 2.0, inf), (3.0, 1.0, inf)])))
    assert [line.get_label() for line in lines] == list(METHODS)
    assert [line.get_ydata()[-1] for line in lines] == [1.0, 1.0, 0.0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] == 1.0


def test_methods_that_were_not_run_on_a_problem_may_count_as_not_having_solved_it():
    rows = [solved_row("a", 0), solved_row("b", 0), solved_row("a", 1)]
    everywhere, somewhere = find_profile(rows), find_profile(rows, needs_all=False)
    assert (everywhere.problems, everywhere.left_out) == (1, 1)
    assert (somewhere.problems, somewhere.left_out) == (2, 0)
    assert somewhere.share("a", inf) == 1.0
    assert somewhere.share("b", inf) == 0.5


def test_the_first_check_at_or_below_counts_with_the_preparation_and_nothing_is_interpolated():
    row = history_row([1.0, 0.1, 0.3, 0.01], setup=0.5)
    assert first_arrival(row, 1.0) == Arrival(True, 0.5, 0.0)
    assert first_arrival(row, 0.5) == Arrival(True, 1.5, 1.0)
    assert first_arrival(row, 0.1) == Arrival(True, 1.5, 1.0)
    assert first_arrival(row, 0.05) == Arrival(True, 3.5, 3.0)
    assert first_arrival(row, 0.001) == Arrival(False, inf, inf)


def test_a_residual_that_is_not_a_number_is_never_reached():
    assert not first_arrival(history_row([nan, nan]), 1e3).reached
    assert first_arrival(history_row([nan, 0.5]), 0.5).iteration == 1.0


def test_a_row_without_a_history_arrives_at_its_end():
    row = solved_row(residual=1e-9, iterations=7.0, seconds=2.0, setup_seconds=1.0)
    assert first_arrival(row, 1e-8) == Arrival(True, 3.0, 7.0)
    assert first_arrival(row, 1e-10) == Arrival()
    assert first_arrival(solved_row(residual=nan), 1.0) == Arrival()


def test_a_history_without_times_arrives_at_no_known_time():
    row = history_row([1.0, 0.1], series={"residual": np.array([1.0, 0.1]), "iteration": np.array([0.0, 1.0])})
    assert first_arrival(row, 0.1) == Arrival(True, inf, 1.0)


def test_giving_up_early_does_not_make_the_median_faster():
    rows = [history_row([1.0, 0.1], seed=0), history_row([1.0, 1.0, 0.1], seed=1), history_row([1.0], seed=2)]
    curve = arrival_curve(rows, [1.0, 0.1, 0.01])
    np.testing.assert_array_equal(curve.iterations, [0.0, 2.0, inf])  # the median of 1, 2 and never is 2, not 1.5
    np.testing.assert_array_equal(curve.seconds, [0.5, 2.5, inf])
    np.testing.assert_allclose(curve.share, [1.0, 2 / 3, 0.0])


def test_lower_residuals_take_longer_and_fewer_problems_reach_them():
    generator = np.random.default_rng(5)
    rows = [history_row(list(10.0 ** generator.uniform(-8, 1, 30)), seed=seed) for seed in range(9)]
    curve = arrival_curve(rows)
    assert np.all(curve.iterations[1:] >= curve.iterations[:-1])
    assert np.all(np.diff(curve.share) <= 0.0)


def test_no_rows_reach_nothing():
    curve = arrival_curve([], [1.0, 0.1])
    assert not np.isfinite(curve.seconds).any()
    np.testing.assert_array_equal(curve.share, [0.0, 0.0])


def test_lines_end_where_half_of_the_problems_are_out_of_reach():
    pytest.importorskip("matplotlib")
    from perp.lab.plots import new_figure

    figure, axes = new_figure(1, 2)
    curves = {"pgs": arrival_curve([history_row([1.0, 0.1])], [1.0, 0.1, 0.01]), "lost": arrival_curve([], [1.0])}
    for panel, by in zip(axes, ("seconds", "iterations"), strict=True):
        first, second = draw_arrivals(panel, curves, by=by)
        np.testing.assert_array_equal(first.get_ydata(), [1.0, 0.1])
        assert second.get_ydata().size == 0
        assert panel.get_xscale() == panel.get_yscale() == "log"
    figure.draw_without_rendering()
    with pytest.raises(ValueError, match="by='furlongs'"):
        draw_arrivals(axes[0], curves, by="furlongs")


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
