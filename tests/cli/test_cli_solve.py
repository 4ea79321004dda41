"""`perp solve`: exit codes, output, and files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import perp
from perp.problems.files import load, save


def test_a_solved_problem_exits_with_0_and_shows_its_residuals(perp_command, fluid_file):
    answer = perp_command("solve", fluid_file, "--method", "psor")
    assert answer.code == 0
    assert "CONVERGED" in answer.out
    assert "natural inf" in answer.out
    assert "away, at most, from the x stored in the file" in answer.out


def test_a_solve_that_ends_otherwise_exits_with_1_and_says_how(perp_command, stack_file):
    answer = perp_command("solve", stack_file, "--method", "pgs", "--max-iterations", 5)
    assert answer.code == 1
    assert "ITERATION_LIMIT" in answer.out


def test_limits_and_options_reach_the_solver(perp_command, fluid_file, stack_file):
    words = ("--method", "psor", "--option", "relaxation=1.1", "--tol", "1e-3", "--json")
    told = json.loads(perp_command("solve", fluid_file, *words).out)
    direct = perp.solve(load(fluid_file), "psor", relaxation=1.1, tol=1e-3)
    assert (told["iterations"], told["residual"]) == (direct.iterations, direct.residual)
    assert json.loads(perp_command("solve", stack_file, "--max-seconds", 0, "--json").out)["status"] == "TIME_LIMIT"


def test_json_holds_status_residuals_and_distance(perp_command, fluid_file):
    answer = perp_command("solve", fluid_file, "--json")
    told = json.loads(answer.out)
    assert answer.err == ""
    assert told["success"] is True
    assert told["status"] == "CONVERGED"
    assert told["residuals"]["residual"] == told["residual"] <= 1e-8
    assert told["residuals"]["cone_violation"] is None
    assert told["distance_to_known_solution"] < 1e-6
    assert told["out"] is None


@pytest.fixture
def infeasible_file(perp_command, tmp_path):
    path = tmp_path / "infeasible.npz"
    assert perp_command("generate", "infeasible_psd", "--n", 60, "--option", "rank=20", "--out", path).code == 0
    return path


def test_an_infeasible_problem_exits_with_1_and_shows_certificate_and_counters(perp_command, infeasible_file):
    answer = perp_command("solve", infeasible_file, "--method", "lemke")
    direct = perp.solve(load(infeasible_file), "lemke")
    assert answer.code == 1
    assert f"certificate  infeasible: {direct.certificate.reason}" in answer.out
    assert f"counted  pivots {direct.iterations}, " in answer.out
    assert "--json shows u" in answer.out


def test_json_holds_the_certificate_as_a_vector_that_can_be_verified(perp_command, infeasible_file):
    told = json.loads(perp_command("solve", infeasible_file, "--method", "lemke", "--json").out)
    proof = perp.verify_certificate(load(infeasible_file), told["certificate"]["u"])
    assert proof.valid
    assert told["certificate"]["margin"] == pytest.approx(proof.margin, rel=1e-12)
    assert proof.margin < 0
    assert told["counters"]["pivots"] == told["iterations"] > 0
    assert {"ties", "refactorisations"} <= set(told["counters"])


def test_without_a_proof_and_without_counters_there_is_nothing_to_show(perp_command, fluid_file):
    told = json.loads(perp_command("solve", fluid_file, "--method", "psor", "--json").out)
    assert told["certificate"] is None
    assert told["counters"] == {}
    shown = perp_command("solve", fluid_file, "--method", "psor").out
    assert "certificate" not in shown
    assert "counted" not in shown


def test_numbers_with_commas_between_them_are_a_covering_vector(perp_command, tmp_path):
    file = tmp_path / "two.npz"
    problem = perp.LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    save(problem, file)
    answer = perp_command("solve", file, "--method", "lemke", "--option", "covering=1,2.5", "--json")
    told = json.loads(answer.out)
    direct = perp.solve(problem, "lemke", covering=[1.0, 2.5])
    assert answer.code == 0
    assert (told["iterations"], told["residual"]) == (direct.iterations, direct.residual)
    assert perp.Lemke(covering=np.array([1, 2.5])) == perp.Lemke(covering=[1.0, 2.5]) == perp.Lemke((1.0, 2.5))


def test_auto_names_the_method_that_it_chose(perp_command, fluid_file):
    told = json.loads(perp_command("solve", fluid_file, "--json").out)
    assert told["method"] == "small_pivots"
    assert [(one["method"], one["status"]) for one in told["methods"]] == [("small_pivots", "CONVERGED")]


def test_an_explanation_says_what_was_seen_who_was_asked_and_how_each_ended(perp_command, tmp_path):
    file = tmp_path / "stack.npz"
    perp_command("generate", "box_stack", "--n", 96, "--out", file)
    answer = perp_command("solve", file, "--explain")
    assert answer.code == 0
    assert "seen: kind: contact/box" in answer.out
    assert "rule 'boxed friction'" in answer.out
    assert "1. nncg, at most 300 iterations" in answer.out
    assert "step" in answer.out
    assert "CONVERGED" in answer.out
    named = perp_command("solve", file, "--method", "pgs", "--max-iterations", 3, "--explain")
    assert "pgs was asked for by name" in named.out
    both = perp_command("solve", file, "--explain", "--json")
    assert both.code == 2
    assert "--json has the same" in both.err


def test_the_answer_is_written_without_pickle(perp_command, fluid_file, tmp_path):
    out = tmp_path / "x.npz"
    answer = perp_command("solve", fluid_file, "--out", out)
    assert f"to {out}" in answer.out
    with np.load(out, allow_pickle=False) as saved:
        problem = load(fluid_file)
        np.testing.assert_allclose(saved["y"], problem.slack(saved["x"]), atol=1e-12)
        assert str(saved["status"]) == "CONVERGED"
        assert str(saved["method"]) == "small_pivots"
        assert saved["iterations"] > 0
        assert saved["residual"] <= 1e-8


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--method", "psro"), "did you mean 'psor'"),
        (("--method", "nsgs"), "'nsgs' is known here as 'block_gauss_seidel'"),
        (("--method", "psor", "--option", "omega=1"), "'omega' is known here as 'relaxation'"),
        (("--maxiter", "5"), "no such option: --maxiter; '--maxiter' is known here as '--max-iterations'"),
        (("--nu1", "5"), "'nu1' is known here as 'pre' (an option of multigrid): --option NAME=VALUE"),
        (("--mu", "0.5"), "'mu' is known here as 'friction' (an argument of perp.ContactProblem)"),
        (("--nonsense", "5"), "No such option: --nonsense"),
        (("--method", "psor", "--option", "relaxtion=1"), "did you mean 'relaxation'"),
        (("--method", "psor", "--option", "name=pgs"), "psor has no option 'name'"),
        (("--method", "psor", "--option", "relaxation=2"), "strictly between 0 and 2"),
        (("--method", "psor", "--option", "relaxation=big"), "'big' is not of the kind float"),
        (("--method", "lemke", "--option", "covering=1,2"), "covering has 2 numbers, and the problem has 27 rows"),
        (("--method", "lemke", "--option", "covering=1,-2"), "covering[1] is -2.0"),
        (("--method", "lemke", "--option", "covering=1,,2"), "covering is '1,,2'"),
        (("--option", "relaxation=1.2"), "'auto' chooses for itself"),
        (("--tol", "-1"), "tol is -1"),
        (("--max-iterations", "-1"), "max_iterations is -1"),
        (("--out", "nowhere/x.npz"), "no such folder"),
        (("--out", "x.txt"), ".npz"),
    ],
)
def test_bad_requests_exit_with_2(perp_command, fluid_file, words, part):
    answer = perp_command("solve", fluid_file, *words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err


def test_a_method_that_refuses_the_problem_exits_with_2(perp_command, tmp_path):
    file = tmp_path / "zero.npz"
    save(perp.LCP(np.zeros((2, 2)), np.ones(2)), file)
    answer = perp_command("solve", file, "--method", "pgs")
    assert answer.code == 2
    assert "pgs refuses" in answer.err


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.npz", b"not a zip file"), ("b.npz", b""), ("c.txt", b"1 2 3"), ("d.mtx", b"%%MatrixMarket nonsense\n")],
)
def test_a_bad_file_exits_with_2_and_one_line(perp_command, tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    answer = perp_command("solve", file)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith(f"perp: error: {file}: ")
    assert answer.err.count("\n") == 1


def test_a_missing_file_and_a_folder_exit_with_2(perp_command, tmp_path):
    for path in (tmp_path / "missing.npz", tmp_path):
        answer = perp_command("solve", path)
        assert answer.code == 2
        assert str(path) in answer.err


def test_contacts_may_be_given_another_law_of_friction(perp_command, tmp_path, fluid_file):
    example, stack_file = perp.gallery.make("box_stack", n=48), tmp_path / "stack.npz"
    save(example.problem, stack_file, x=example.x)
    for model in ("box", "cone", "convex"):
        words = ("--method", "block_gauss_seidel", "--max-iterations", 50, "--model", model, "--json")
        told = json.loads(perp_command("solve", stack_file, *words).out)
        assert told["kind"] == f"contact/{model}"
        assert (told["distance_to_known_solution"] is None) == (model != "box")
    assert "did you mean 'cone'" in perp_command("solve", stack_file, "--model", "con").err
    refusal = perp_command("solve", fluid_file, "--model", "cone")
    assert (refusal.code, "holds no contacts" in refusal.err) == (2, True)
