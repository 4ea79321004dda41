"""`perp verify`: the residuals of somebody's x."""

from __future__ import annotations

import json

import numpy as np
import pytest

import perp
from perp.problems.files import load, load_solution, save


def test_the_stored_solution_passes(perp_command, fluid_file):
    answer = perp_command("verify", fluid_file)
    assert answer.code == 0
    assert "natural inf" in answer.out


def test_the_answer_of_a_solve_passes(perp_command, fluid_file, tmp_path):
    out = tmp_path / "x.npz"
    perp_command("solve", fluid_file, "--out", out)
    answer = perp_command("verify", fluid_file, out, "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["residual"] <= 1e-8


def test_an_x_that_solves_nothing_exits_with_1(perp_command, fluid_file, tmp_path):
    out = tmp_path / "x.npz"
    np.savez(out, x=load_solution(fluid_file) + 0.1)
    assert perp_command("verify", fluid_file, out).code == 1
    assert perp_command("verify", fluid_file, out, "--tol", 10).code == 0


@pytest.mark.parametrize(
    ("arrays", "part"),
    [
        ({"y": np.zeros(27)}, "holds no x"),
        ({"x": np.zeros(26)}, "26"),
        ({"x": np.full(27, np.nan)}, "nan"),
        ({"x": np.array([None], dtype=object)}, "pickled objects are never read"),
    ],
)
def test_a_bad_answer_exits_with_2(perp_command, fluid_file, tmp_path, arrays, part):
    out = tmp_path / "x.npz"
    np.savez(out, **arrays)
    answer = perp_command("verify", fluid_file, out)
    assert answer.code == 2
    assert answer.err.startswith("perp: error: ")
    assert part in answer.err


def test_a_problem_without_solution_asks_for_one(perp_command, stack_file):
    answer = perp_command("verify", stack_file)
    assert answer.code == 2
    assert "no solution is stored" in answer.err


def test_what_verify_measures_is_what_the_library_measures(perp_command, stack_file, tmp_path):
    x = np.full(load(stack_file).n, 0.01)
    np.savez(tmp_path / "x.npz", x=x)
    told = json.loads(perp_command("verify", stack_file, tmp_path / "x.npz", "--json").out)
    assert told["residual"] == perp.verify(load(stack_file), x).residual


def test_a_proof_is_printed_with_its_box_and_the_error_bounds(perp_command, fluid_file):
    answer = perp_command("verify", fluid_file, "--prove")
    assert answer.code == 0
    assert "proved: a solution lies within" in answer.out
    assert "x[0] in [" in answer.out
    assert "Chen & Xiang" in answer.out


def test_a_proof_in_json_has_the_box(perp_command, fluid_file):
    told = json.loads(perp_command("verify", fluid_file, "--prove", "--json").out)
    x = load_solution(fluid_file)
    assert told["proof"]["exists"] is True
    assert len(told["proof"]["lower"]) == x.size
    assert told["proof"]["radius"] <= 1e-12
    assert all(bound["proved"] for bound in told["error_bounds"])


def test_an_exact_proof_in_json_has_fractions(perp_command, tmp_path):
    problem = perp.LCP(np.ones((2, 2)), [-1.0, -1.0])
    save(problem, tmp_path / "ones.npz", x=np.array([0.25, 0.75]))
    told = json.loads(perp_command("verify", tmp_path / "ones.npz", "--prove", "--json").out)
    assert told["proof"]["exact"] == ["1/4", "3/4"]


def test_without_a_proof_the_reason_is_printed_and_the_exit_is_1(perp_command, stack_file, tmp_path):
    problem = load(stack_file).with_model("cone")
    save(problem, tmp_path / "cones.npz", x=np.zeros(problem.n))
    answer = perp_command("verify", tmp_path / "cones.npz", "--prove", "--tol", 1e9)
    assert answer.code == 1
    assert "no proof: the law of a 'contact/cone' problem" in answer.out
