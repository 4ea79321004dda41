"""`perp survey` as a user runs it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from perp import LCP, ContactProblem, save
from perp.cli import progress
from perp.cli import survey as survey_command
from perp.lab import survey as lab_survey
from perp.lab.survey import NOT_READ, SurveyRow
from perp.solvers.roster import suitable_methods

SMALL = LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), [-5.0, -6.0])


@pytest.fixture(autouse=True)
def _kernels_are_loaded_as_they_are_needed(monkeypatch):
    """Loading all of them takes seconds, which pays for a survey and not for these."""
    monkeypatch.setattr("perp.solvers.warm_up.warm_up", lambda: None)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "problems"
    made.mkdir()
    save(SMALL, made / "easy.npz")
    save(LCP(np.array([[-1.0]]), [-1.0]), made / "infeasible.npz")
    (made / "notes.md").write_text("nothing")
    return made


def rows_of(answer):
    return json.loads(answer.out)


def test_the_table_has_problems_down_and_methods_across(perp_command, folder):
    answer = perp_command("survey", folder, "--methods", "lemke,pgs,principal")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].split() == ["problem", "n", "1", "2", "3"]
    easy, infeasible = lines[1].split(), lines[2].split()
    assert easy[:2] == ["easy.npz", "2"]
    assert all(word == "exact" or int(word) < 0 for word in easy[2:])
    assert infeasible == ["infeasible.npz", "1", "none", "none", "."]
    assert "1 lemke (2 of 2); 2 principal (2 of 2); 3 pgs (1 of 1)" in answer.out
    assert "none: proved to have no solution" in answer.out
    assert "notes.md: the suffix '.md' names no format that perp reads" in answer.out


def test_a_problem_that_finds_no_method_is_told_and_not_called_solved(perp_command, folder):
    answer = perp_command("survey", folder, "--methods", "pgs")
    assert answer.code == 1
    assert "1 problems found no method:\n  infeasible.npz: none of the methods takes this lcp problem" in answer.out


OWN = """
from dataclasses import dataclass
from typing import ClassVar

from perp.solvers.method import Method, State


@dataclass(frozen=True)
class Mine(Method):
    share: float = 0.3
    name: ClassVar[str] = "mine"
    family: ClassVar[str] = "mine"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset({"apply"})
    requires: ClassVar[str] = "A near the identity"
    reference: ClassVar[str] = "none"

    def start(self, problem, x):
        return State(x)

    def step(self, problem, state, count):
        for _ in range(count):
            state.x[:] = problem.project(state.x - self.share * problem.slack(state.x))


slow = Mine(share=1e-4)
number = 3
"""


def test_a_method_of_one_s_own_and_auto_are_surveyed_beside_the_others(perp_command, folder, tmp_path):
    (folder / "infeasible.npz").unlink()
    own = tmp_path / "own.py"
    own.write_text(OWN)
    answer = perp_command("survey", folder, "--methods", f"{own}:Mine,pgs,auto", "--json")
    assert answer.code == 0
    runs = {row["method"]: row for row in rows_of(answer) if row["status"] != NOT_READ}
    assert list(runs) == ["pgs", "auto", "mine"]
    for row in runs.values():
        assert row["status"] == "CONVERGED"
        assert row["residual"] <= row["tol"]
    answer = perp_command("survey", folder, "--methods", f"{own}:slow", "--seconds", "0.05")
    assert answer.code == 1


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("own.py:Mime", "Mime is no method there; did you mean 'Mine'"),
        ("own.py:number", "number is no method there"),
        ("missing.py:Mine", "there is no Python file missing.py"),
        ("broken.py:Mine", "ZeroDivisionError"),
    ],
)
def test_a_file_that_holds_no_such_method_is_refused(perp_command, folder, tmp_path, word, part, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("1 / 0")
    answer = perp_command("survey", folder, "--methods", word)
    assert (answer.code, answer.out) == (2, "")
    assert part in answer.err


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_profiles_of_the_methods_are_drawn(perp_command, folder, tmp_path, suffix):
    picture = tmp_path / f"profile{suffix}"
    perp_command("survey", folder, "--methods", "lemke,pgs", "--profile", picture)
    begins = {".svg": b"<?xml", ".png": b"\x89PNG"}[suffix]
    assert picture.read_bytes().startswith(begins)
    if suffix == ".svg":
        assert "share of problems solved" in picture.read_text()


def test_json_is_a_list_of_rows(perp_command, folder):
    answer = perp_command("survey", folder, "--json")
    assert answer.code == 0
    rows = rows_of(answer)
    expected = [method.label for method in suitable_methods(SMALL)]
    assert [row["method"] for row in rows if row["problem"] == "easy.npz"] == expected
    assert all(row["residual"] <= row["tol"] for row in rows if row["status"] == "CONVERGED")
    (unread,) = [row for row in rows if row["status"] == NOT_READ]
    assert (unread["problem"], unread["residual"]) == ("notes.md", None)


def test_progress_goes_elsewhere_so_that_json_stays_json(perp_command, folder):
    answer = perp_command("survey", folder, "--methods", "lemke", "--json")
    assert answer.err.splitlines() == ["1 of 3: easy.npz", "2 of 3: infeasible.npz", "3 of 3: notes.md"]


def test_a_problem_that_nobody_solved_exits_with_1(perp_command, folder):
    save(LCP(np.array([[0.0, 1.0], [1.0, 0.0]]), [-1.0, -1.0]), folder / "ray.npz")  # lemke ends on a ray
    assert perp_command("survey", folder, "--methods", "lemke").code == 1
    assert perp_command("survey", folder, "--methods", "lemke,fischer").code == 0


def test_a_row_goes_to_a_csv_file_and_comes_back_with_resume(perp_command, folder, tmp_path, monkeypatch):
    out = tmp_path / "rows.csv"
    assert perp_command("survey", folder, "--methods", "lemke", "--csv", out).code == 0
    with out.open(newline="") as stream:
        first = list(csv.DictReader(stream))
    assert [row["problem"] for row in first] == ["easy.npz", "infeasible.npz", "notes.md"]

    solved = []
    real = lab_survey.run_trial

    def count(trial):
        solved.append((trial.group, trial.method))
        return real(trial)

    monkeypatch.setattr(lab_survey, "run_trial", count)
    assert perp_command("survey", folder, "--methods", "lemke,pgs", "--csv", out, "--resume").code == 0
    assert solved == [("easy.npz", "pgs")]
    with out.open(newline="") as stream:
        again = list(csv.DictReader(stream))
    assert [row for row in again if row["method"] != "pgs"] == first
    solved.clear()
    assert perp_command("survey", folder, "--methods", "lemke", "--csv", out).code == 0
    assert solved == [("easy.npz", "lemke"), ("infeasible.npz", "lemke")]


def test_ctrl_c_keeps_what_is_finished_and_exits_with_130(perp_command, folder, tmp_path, monkeypatch):
    out = tmp_path / "rows.csv"
    real = lab_survey.run_trial

    def press(trial):
        if trial.method == "pgs":
            raise KeyboardInterrupt
        return real(trial)

    monkeypatch.setattr(lab_survey, "run_trial", press)
    answer = perp_command("survey", folder, "--methods", "lemke,pgs", "--json", "--csv", out)
    assert answer.code == 130
    assert [row["method"] for row in rows_of(answer)] == ["lemke"]
    with out.open(newline="") as stream:
        assert [row["method"] for row in csv.DictReader(stream)] == ["lemke"]


def test_contacts_can_be_surveyed_under_another_law(perp_command, tmp_path):
    save(ContactProblem(np.eye(3), [-1.0, 0.5, 0.0], 0.2, model="cone"), tmp_path / "contact.npz")
    for model in ("box", "cone", "convex"):
        rows = rows_of(perp_command("survey", tmp_path, "--model", model, "--json"))
        assert {row["kind"] for row in rows} == {f"contact/{model}"}


def test_the_time_limit_is_that_of_each_run(perp_command, stack_file):
    answer = perp_command(
        "survey", stack_file.parent, "--methods", "jacobi", "--tol", "1e-30", "--seconds", "0", "--json"
    )
    (row,) = rows_of(answer)
    assert (answer.code, row["status"], row["iterations"]) == (1, "TIME_LIMIT", 0)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("missing",), "missing: there is no such folder"),
        ((".", "--methods", "pgs,lemkes"), "did you mean 'lemke'"),
        ((".", "--methods", " , "), "no method is named"),
        ((".", "--model", "disk"), "--model 'disk' is unknown"),
        ((".", "--tol", "-1"), "tol is -1"),
        ((".", "--seconds", "nan"), "max_seconds is nan"),
        ((".", "--csv", "missing/rows.csv"), "there is no such folder"),
        ((".", "--resume"), "name it with --csv FILE"),
        ((".", "--profile", "picture.txt"), "the name must end in .svg, .png, .pdf"),
        ((".", "--profile", "missing/picture.svg"), "there is no such folder"),
    ],
)
def test_bad_usage_of_survey_is_one_line_and_exit_code_2(perp_command, words, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = perp_command("survey", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err


def test_a_folder_without_problems_exits_with_2_and_the_reasons(perp_command, tmp_path):
    (tmp_path / "notes.md").write_text("nothing")
    answer = perp_command("survey", tmp_path)
    assert answer.code == 2
    assert "notes.md: the suffix '.md'" in answer.out
    assert "no file of this folder holds a problem" in answer.err


def test_resuming_from_a_file_that_is_no_survey_exits_with_2(perp_command, folder, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n")
    answer = perp_command("survey", folder, "--csv", tmp_path / "rows.csv", "--resume")
    assert answer.code == 2
    assert "the columns of a survey are" in answer.err
    assert (tmp_path / "rows.csv").read_text() == "a,b\n"


def test_on_a_terminal_a_bar_tells_problem_and_method(perp_command, folder, monkeypatch):
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=120)
    monkeypatch.setattr(progress, "Console", lambda **options: terminal)
    assert perp_command("survey", folder, "--methods", "lemke").code == 0
    assert "infeasible.npz: lemke" in text.getvalue()
    assert "3/3" in text.getvalue()


# ---- the table -------------------------------------------------------------------------------------------------------


def make_row(problem="p", method="pgs", status="CONVERGED", residual=3e-9):
    return SurveyRow(problem, "lcp", 7, method, status, residual, residual, 5, 0.1, 0.1, 1e-8, "")


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (make_row(), "-9"),
        (make_row(residual=1e-10), "-10"),
        (make_row(residual=0.0), "exact"),
        (make_row(status="TIME_LIMIT"), "time"),
        (make_row(status="FAILED"), "FAIL"),
        (make_row(status="STOPPED_BY_CALLBACK"), "stopp"),
        (None, "."),
    ],
)
def test_a_cell_is_an_exponent_or_a_word(row, shown):
    assert survey_command.cell(row) == shown


def test_methods_that_do_not_fit_the_width_go_to_a_table_below():
    methods = [f"method_{k}" for k in range(12)]
    rows = [make_row("problem", method) for method in methods]
    text = survey_command.show_table(rows, methods, 75)
    assert max(map(len, text.splitlines())) <= 75
    heads = [line.split()[2:] for line in text.splitlines() if line.startswith("problem ") and " n " in line]
    assert [len(head) for head in heads] == [10, 2]
    assert [number for head in heads for number in head] == [str(k + 1) for k in range(12)]
    assert all(f"{k + 1} {method} (1 of 1)" in text for k, method in enumerate(methods))


def test_every_status_has_a_word():
    from perp.solvers.results import Status

    silent = {"CONVERGED", "STOPPED_BY_CALLBACK", "INTERRUPTED"}  # these never end a run of a survey, or are numbers
    assert {status.name for status in Status} - silent <= set(survey_command.WORDS)
    words = [word for word, _ in survey_command.WORDS.values()]
    assert len(set(words)) == len(words)
    assert max(map(len, words)) < survey_command.CELL
