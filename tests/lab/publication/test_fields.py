"""Fields: problems of one kind that the same methods were run on."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from made_rows import row_of, solved_row

from perp.lab.publication.beyond import LEAST_PROBLEMS, find_fields, is_solve, kind_of, make_beyond
from perp.lab.runs.task import Task
from perp.lab.work.recipes import gallery, scene, scene_step
from perp.lab.work.solve import solve_task


def race(methods, seeds):
    return [solved_row(method, seed) for seed in seeds for method in methods]


def test_problems_with_other_methods_are_another_field():
    rows = race(("pgs", "psor"), range(6)) + race(("pgs", "lemke", "jacobi"), range(6, 20))
    first, second = find_fields(rows)
    assert (first.kind, first.methods, first.problems) == ("fluid_like", ("pgs", "psor"), 6)
    assert (second.methods, second.problems) == (("jacobi", "lemke", "pgs"), 14)
    assert len(first.of("psor")) == 6


def test_few_problems_and_single_methods_make_no_field():
    assert find_fields(race(("pgs", "psor"), range(LEAST_PROBLEMS - 1))) == []
    assert find_fields(race(("pgs",), range(50))) == []


def test_a_row_that_two_experiments_share_counts_once():
    rows = race(("pgs", "psor"), range(6))
    (field,) = find_fields([*rows, *(replace(row, task=replace(row.task, label="again")) for row in rows)])
    assert len(field.rows) == 12


def test_only_solves_are_compared():
    instance = gallery("fluid_like", 27)
    whole = row_of(Task("simulate", scene("pool1"), "pgs"))
    step = row_of(Task("other", scene_step("pool1", 3, lead={}), "pgs"))
    measured = row_of(Task("fill", instance, "pgs"), "DONE", seconds=1.0, setup_seconds=0.0)
    crashed = row_of(solve_task(instance, "pgs", {}), "CRASHED")
    untimed = row_of(solve_task(instance, "pgs", {}), seconds=nan)
    without_method = row_of(Task("solve", instance))
    rows = (whole, step, measured, crashed, untimed, without_method)
    assert [is_solve(row) for row in rows] == [False, True, False, True, False, False]


def test_where_nothing_is_solved_there_is_nothing_to_compare():
    rows = [solved_row(method, seed, status="ITERATION_LIMIT") for seed in range(9) for method in ("pgs", "psor")]
    assert find_fields(rows) == []


def test_steps_of_scenes_are_one_kind_and_generators_are_kinds_of_their_own():
    assert kind_of(scene_step("pool1", 3, lead={"method": "pgs"})) == "steps of scenes"
    assert kind_of(gallery("box_stack", 30)) == "box_stack"
    assert kind_of({"n": 30, "num4lcp": "fluid"}) == "num4lcp fluid"
    assert kind_of({"n": 30}) == "problems"


def test_figures_call_methods_by_their_labels_and_tell_namesakes_apart():
    stops = {"tol": 1e-8}
    tasks = [
        solve_task(gallery("fluid_like", 27, seed), method, stops, options=options, label=label)
        for seed in range(5)
        for method, options, label in (
            ("psor", {"relaxation": 1.4}, "PSOR"),
            ("psor", {"relaxation": 1.2}, "PSOR"),
            ("pgs", {}, "Gauss-Seidel"),
        )
    ]
    (field,) = find_fields([row_of(task) for task in tasks])
    assert field.names() == {
        "pgs": "Gauss-Seidel",
        "psor(relaxation=1.2)": "PSOR (relaxation=1.2)",
        "psor(relaxation=1.4)": "PSOR (relaxation=1.4)",
    }


def test_without_a_field_the_section_says_so(tmp_path):
    section, troubles = make_beyond([], tmp_path)
    assert "No 5 problems of one kind have rows of the same methods yet." in section
    assert troubles == []
