"""Surveys: which files are problems, what is run on them, and the file that keeps the rows."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from perp import LCP, ContactProblem, save
from perp.errors import FileFormatError
from perp.lab import survey as lab_survey
from perp.lab.runs.row import FAILED
from perp.lab.runs.row_file import read_rows, write_rows
from perp.lab.runs.runner import Reporter
from perp.lab.survey import (
    NOT_READ,
    Candidate,
    Survey,
    SurveyRow,
    find_candidates,
    undecided,
    with_law,
)
from perp.solvers.roster import suitable_methods

SMALL = LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), [-5.0, -6.0])
INFEASIBLE = LCP(np.array([[-1.0]]), [-1.0])


def run(problem, **plan):
    return list(Survey(**plan).run(Candidate("p", lambda: problem)))


@pytest.fixture
def folder(tmp_path):
    """Three problems in three formats, and files that are none."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    save(SMALL, tmp_path / "b.npz")
    save(SMALL, tmp_path / "deep" / "a.mtx", x=[4 / 3, 7 / 3])
    (tmp_path / "deep" / "er" / "c.dat").write_text("2 0 2 2 2 2  2 1 1 2  -5 -6")
    (tmp_path / "broken.dat").write_text("2 0 2 2 2 2  2 1 1 x  -5 -6")
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / ".hidden.npz").write_text("nothing")
    (tmp_path / "deep" / "lonely.b.mtx").write_text("%%MatrixMarket matrix array real general\n1 1\n1\n")
    return tmp_path


def test_problems_are_found_at_any_depth_and_the_vectors_of_a_matrix_are_no_problems(folder):
    names = [candidate.name for candidate in find_candidates(folder)]
    assert names == ["b.npz", "broken.dat", "deep/a.mtx", "deep/er/c.dat", "deep/lonely.b.mtx", "notes.txt"]


def test_a_file_that_is_no_problem_is_a_row_with_the_reason(folder):
    rows = [row for candidate in find_candidates(folder) for row in Survey(methods=["lemke"]).run(candidate)]
    told = {row.problem: row.message for row in rows if row.status == NOT_READ}
    assert set(told) == {"broken.dat", "deep/lonely.b.mtx", "notes.txt"}
    assert told["notes.txt"] == "the suffix '.txt' names no format that perp reads"
    assert told["broken.dat"].startswith("line 1: an entry of M must stand here, found 'x'")
    assert [row.problem for row in rows if row.status == "CONVERGED"] == ["b.npz", "deep/a.mtx", "deep/er/c.dat"]


def test_every_suitable_method_is_run_and_the_rows_tell_how_it_went():
    rows = run(SMALL)
    assert [row.method for row in rows] == [method.label for method in suitable_methods(SMALL)]
    for row in rows:
        assert (row.problem, row.kind, row.n) == ("p", "lcp", 2)
        assert row.status == "CONVERGED"
        assert row.residual <= row.tol
        assert row.relative < 1e-7
        assert row.total_seconds == row.seconds + row.setup_seconds


def test_only_the_named_methods_are_run():
    assert [row.method for row in run(SMALL, methods=["pgs", "lemke"])] == ["lemke", "pgs"]


def test_tiny_problems_are_not_solved_by_zero():
    """Every impulse is below the plain tolerance."""
    (row,) = run(LCP(SMALL.A, 1e-12 * SMALL.b), methods=["lemke"])
    assert row.tol < 1e-19
    assert row.iterations > 0
    assert row.relative < 1e-12


def test_a_method_that_raises_is_a_row(monkeypatch):
    def trouble(*arguments, **options):
        raise ZeroDivisionError("in the\nsecond step")

    monkeypatch.setattr(lab_survey, "solve", trouble)
    (row,) = run(SMALL, methods=["lemke"])
    assert row.status == FAILED
    assert row.message == "ZeroDivisionError: in the second step"
    assert np.isnan(row.residual)


def test_ctrl_c_is_not_a_row_and_earlier_rows_are_out_already(monkeypatch):
    real = lab_survey.solve

    def press(problem, method, **options):
        if method.name == "pgs":
            raise KeyboardInterrupt
        return real(problem, method, **options)

    monkeypatch.setattr(lab_survey, "solve", press)
    rows = Survey(methods=["lemke", "pgs", "psor"]).run(Candidate("p", lambda: SMALL))
    assert next(rows).method == "lemke"
    with pytest.raises(KeyboardInterrupt):
        next(rows)


def test_finished_rows_are_kept_unless_the_tolerance_or_the_law_has_changed():
    first = run(SMALL, methods=["lemke", "pgs"])
    marked = {(row.problem, row.method): replace(row, message="from before") for row in first}
    started = []

    class Listener(Reporter):
        def started(self, task):
            started.append((task.group, task.name))

    def again(problem=SMALL, **plan):
        started.clear()
        survey = Survey(methods=["lemke", "pgs"], **plan)
        rows = survey.run(Candidate("p", lambda: problem), marked, Listener())
        return [row.message for row in rows]

    assert again() == ["from before"] * 2
    assert started == []
    assert "from before" not in again(tol=1e-9)
    assert started == [("p", "lemke"), ("p", "pgs")]
    assert "from before" not in again(problem=SMALL.to_box())


def test_contacts_can_be_given_another_law():
    cone = ContactProblem(np.eye(4), [-1.0, 0.5, 0.0, 1.0], 0.2, model="cone", extra_rows=1, lower=-1.0, upper=2.0)
    box = with_law(cone, "box")
    assert isinstance(box, ContactProblem)
    assert (box.model, box.dimension, box.lower.tolist(), box.upper.tolist()) == ("box", 3, [-1.0], [2.0])
    assert box.A is cone.A
    assert with_law(cone, None) is cone
    assert with_law(cone, "cone") is cone
    assert with_law(SMALL, "box") is SMALL
    discs = ContactProblem(np.eye(3), [-1.0, 0.5, 0.0], 0.2, model="disc")
    assert with_law(discs, "cone") is discs
    assert {row.kind for row in run(cone, model="convex")} == {"contact/convex"}


def test_a_problem_is_decided_when_one_method_solved_it_or_proved_that_nothing_does():
    rows = [*run(SMALL, methods=["lemke"]), *(replace(row, problem="q") for row in run(INFEASIBLE, methods=["lemke"]))]
    assert [row.status for row in rows] == ["CONVERGED", "INFEASIBLE"]
    assert undecided(rows) == []
    failed = [replace(row, problem="r", status="TIME_LIMIT") for row in rows[:1]]
    assert undecided([*rows, *failed]) == ["r"]


def test_rows_come_back_from_a_file(tmp_path):
    rows = [
        *run(SMALL, methods=["lemke", "pgs"]),
        SurveyRow("x, y.md", "", 0, "", NOT_READ, np.nan, np.nan, 0, np.nan, np.nan, np.nan, 'no "problem"'),
    ]
    path = tmp_path / "rows.csv"
    write_rows(path, SurveyRow, rows)
    again = read_rows(path, SurveyRow)
    assert again[:2] == rows[:2]
    assert repr(again[2]) == repr(rows[2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the columns of a survey are"),
        ("a,b\n", "line 1: the columns of a survey are"),
        ("{head}\np,lcp,2\n", "line 2: 12 cells must stand here, found 3"),
        ("{head}\np,lcp,two,pgs,CONVERGED,0,0,1,0,0,0,\n", "line 2: invalid literal"),
        ("{head}\n\xff\n", "the file is no text in UTF-8"),
    ],
)
def test_a_file_that_is_no_survey_is_refused_with_its_line(text, message, tmp_path):
    head = "problem,kind,n,method,status,residual,relative,iterations,seconds,setup_seconds,tol,message"
    path = tmp_path / "rows.csv"
    path.write_bytes(text.replace("{head}", head).encode("latin-1"))
    with pytest.raises(FileFormatError, match=message):
        read_rows(path, SurveyRow)


def test_names_that_no_table_can_hold_are_written_with_escapes(tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    try:
        (folder / os.fsdecode(b"caf\xe9\n\x1b[31m.mtx")).write_text("nothing")
    except OSError:
        pytest.skip("this file system has no such names")
    rows = [row for candidate in find_candidates(folder) for row in Survey().run(candidate)]
    assert [row.problem for row in rows] == [r"caf\udce9\n\x1b[31m.mtx"]
    write_rows(tmp_path / "rows.csv", SurveyRow, rows)
    assert read_rows(tmp_path / "rows.csv", SurveyRow)[0].problem == rows[0].problem
