"""The benchmark of friction: what it makes, how it judges, what it writes."""

from __future__ import annotations

import csv
import json
from argparse import ArgumentParser
from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest

import perp
from benchmarks.friction import _foretell, _too_slow, add_friction_options
from benchmarks.friction_problems import (
    FRICTIONS,
    MODELS,
    SHAPES,
    Case,
    Run,
    collect,
    files,
    make_stack,
    packings,
    time_mujoco,
)
from benchmarks.friction_runs import SKIPPED, Contest, default_methods, make_empty_row, make_row, show, write_rows
from benchmarks.friction_siconos import Siconos


@pytest.fixture
def case() -> Case:
    return make_stack("wall", 48, "cone", 1.0, 1000)


def solved_row(case, **changes):
    result = perp.solve(case.problem, "cone_newton", tol=1e-8)
    return replace(make_row(case, "cone_newton", 1e-8, result, 0.5), **changes)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_stack_has_the_law_the_ratio_and_the_friction_that_it_names(shape, model):
    made = make_stack(shape, 96, model, 100.0, 1003)
    assert made.friction == FRICTIONS[3]
    assert made.problem.model == ("cone" if model.startswith("by_") else model)
    assert made.problem.is_compliant == model.startswith("by_")
    if model != "disc":
        assert (made.problem.friction == FRICTIONS[3]).all()
    mass = made.problem.A.mass.mass
    assert mass.max() / mass.min() > 50.0


def test_compliance_by_inertia_is_a_share_of_the_mean_diagonal(case):
    soft = make_stack("wall", 48, "by_inertia", 1.0, 1000).problem
    expected = 1e-4 * case.problem.diagonal.reshape(-1, 3).mean(axis=1)
    np.testing.assert_allclose(soft.contact_compliance, expected)


def test_a_row_is_judged_by_what_is_recomputed_and_not_by_what_is_said(case):
    row = solved_row(case)
    assert row.is_solved
    assert not row.is_false
    assert row.factorisations > 0.0
    assert row.residual == perp.verify(case.problem, perp.solve(case.problem, "cone_newton", tol=1e-8)).residual
    wrong = replace(row, residual=1e-3, scaled=1e-3)
    assert wrong.is_false
    assert not wrong.is_solved
    assert not replace(wrong, status="TIME_LIMIT").is_false
    nowhere = make_empty_row(case, "admm", 1e-8, SKIPPED, "")
    assert not nowhere.is_solved
    assert isnan(nowhere.seconds)


def test_each_run_begins_with_a_problem_that_nobody_has_analysed(case, monkeypatch):
    seen = []
    solve = perp.solve
    monkeypatch.setattr(
        "perp.solve", lambda problem, *args, **options: seen.append(problem) or solve(problem, *args, **options)
    )
    Contest(("pgs",), 5.0).run(case, "pgs", 1e-2)
    assert len(seen) == 3
    assert len({id(problem.A) for problem in [*seen, case.problem]}) == 4


def test_a_method_that_does_not_take_the_problem_has_no_row(case):
    assert Contest(("quadratic_program",), 1.0).run(case, "quadratic_program", 1e-8) is None


def test_clarabel_is_asked_once_and_for_what_was_wanted(monkeypatch):
    pytest.importorskip("clarabel")
    asked = []
    from perp.solvers.reformulation import cone_program

    solve = cone_program.solve_cone_program
    monkeypatch.setattr(
        cone_program,
        "solve_cone_program",
        lambda program, tol, **rest: asked.append(tol) or solve(program, tol, **rest),
    )
    row = Contest(("cone_program",), 5.0, 1e-6).run(make_stack("wall", 48, "convex", 1.0, 1000), "cone_program", 1e-12)
    assert set(asked) == {1e-6}
    assert len(asked) == 3
    assert row.factorisations > 0.0
    assert row.status == "ITERATION_LIMIT"


def test_default_methods_are_in_the_roster():
    assert set(default_methods()) - {"auto"} <= set(perp.solvers.roster.BY_NAME)
    assert {"auto", "cone_newton"} <= set(default_methods())


def test_methods_that_never_came_to_an_end_are_not_asked_for_more_rows(case):
    row = solved_row(case, method="a", residual=1.0, seconds=9.5)
    quick = replace(row, method="b", seconds=0.1)
    lucky = [replace(row, method="c"), replace(row, method="c", residual=0.0)]
    assert list(_too_slow([row, row, quick, *lucky], 10.0)) == ["a"]
    hopeless = _foretell({("wall", 1.0, "a")}, "wall", 1.0)
    assert hopeless("a")
    assert not hopeless("b")


def test_a_table_compares_with_clarabel_on_the_same_problems(case):
    ours = [solved_row(case, seed=seed, seconds=2.0 + seed, factorisations=10.0 + seed) for seed in (0, 1)]
    peer = [replace(ours[0], method="cone_program", seconds=1.0), replace(ours[0], method="cone_program", seed=7)]
    table = show("title", [*ours, *peer], ("rows",), lambda row: (row.rows,))
    cells = [list(column.cells) for column in table.columns]
    residual = f"{max(row.residual for row in ours):.0e}"
    expected = ["72", "cone_newton", "2/2", "2/2", "10.5", "11", "2,500", "3,000", "2", residual, "2 conv"]
    assert [column[0] for column in cells] == expected
    assert cells[8][1] == "-"


def test_rows_are_written_as_csv_and_as_json(case, tmp_path):
    row = solved_row(case, residual=nan)
    write_rows(tmp_path / "folder" / "rows.csv", [row])
    with (tmp_path / "folder" / "rows.csv").open() as stream:
        (read,) = csv.DictReader(stream)
    assert read["method"] == "cone_newton"
    assert read["rows"] == "72"
    write_rows(tmp_path / "rows.json", [row, row])
    assert [one["seed"] for one in json.loads((tmp_path / "rows.json").read_text())] == [1000, 1000]


def test_scenes_give_each_step_cold_and_then_warm():
    found = list(collect("heavy_on_light", "cone", Run(3, 2, 0, "cone_newton", 10.0)))
    assert [(one.wanted, one.start is None) for one in found] == [(1, True), (3, True), (3, False)]
    assert found[1].problem is found[2].problem
    assert {one.model for one in found} == {"cone"}
    soft = list(collect("heavy_on_light", "by_inertia", Run(1, 1, 0, None, 10.0)))
    assert soft[0].problem.is_compliant


def test_mujoco_tells_the_time_of_its_own_step():
    assert "heavy_on_light: mj_step of MuJoCo" in time_mujoco("heavy_on_light", Run(2, 1, 0, None, 1.0))
    assert time_mujoco("stacking", Run(2, 1, 0, None, 1.0)) is None


def test_files_are_the_contact_problems_of_a_folder_and_a_packing_is_made(tmp_path):
    perp.save(perp.LCP(np.eye(2), [-1.0, 1.0]), tmp_path / "lcp.npz")
    perp.save(make_stack("wall", 48, "box", 1.0, 0).problem, tmp_path / "contacts.npz")
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "broken.npz").write_text("nothing")
    assert [one.name for one in files(tmp_path, ("box",))] == ["contacts.npz"]
    assert not list(files(tmp_path, ("cone",)))
    (packed,) = packings(10, ("by_load",), [3])
    assert packed.problem.n == 90
    assert packed.problem.is_compliant


def test_siconos_is_given_contacts_with_the_exact_law_alone():
    assert Siconos("SICONOS_FRICTION_3D_NSGS", 1.0).run(make_stack("wall", 48, "box", 1.0, 0), 1e-8) is None


def test_options_have_defaults():
    parser = ArgumentParser()
    add_friction_options(parser)
    options = parser.parse_args(["--scenes", "--packing"])
    assert options.scenes.startswith("tower,wall")
    assert options.packing == 10_000
    assert options.first_seed == 1000
