"""Performance profiles: what Dolan and Moré's definition says of them, and a table made by hand."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_rows import row_of, solved_row

from perp.lab.analysis.profiles import (
    draw_profile,
    find_profile,
    iterations_of,
    method_of,
    problem_of,
    seconds_of,
)
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
