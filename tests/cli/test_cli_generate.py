"""`perp generate` writes what the gallery makes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from perp.gallery import kinds, make
from perp.problems.files import load, load_solution


def test_a_problem_is_written_with_its_solution(perp_command, tmp_path):
    file = tmp_path / "fluid.npz"
    answer = perp_command("generate", "fluid_like", "--n", 27, "--seed", 3, "--out", file)
    assert answer.code == 0
    assert f"wrote {file}: LCP with 27 unknowns" in answer.out
    assert "solution is stored" in answer.out
    same = make("fluid_like", n=27, seed=3)
    np.testing.assert_array_equal(load(file).b, same.problem.b)
    np.testing.assert_array_equal(load_solution(file), same.x)


def test_options_reach_the_generator(perp_command, tmp_path):
    file = tmp_path / "stack.npz"
    options = ("--option", "model=cone", "--option", "points=8", "--option", "friction=0.25")
    assert perp_command("generate", "box_stack", "--n", 60, *options, "--out", file).code == 0
    problem = load(file)
    assert problem.kind == "contact/cone"
    assert (problem.friction == 0.25).all()


def test_a_problem_without_known_solution_says_so(perp_command, tmp_path):
    answer = perp_command("generate", "infeasible", "--out", tmp_path / "p.npz")
    assert answer.code == 0
    assert "infeasible; no solution is stored" in answer.out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("fluid_lik", "--out", "p.npz"), "did you mean 'fluid_like'"),
        (("fluid_like", "--out", "p.npz", "--option", "activ=0.1"), "did you mean 'active'"),
        (("fluid_like", "--out", "p.npz", "--option", "active=2"), "active is 2"),
        (("fluid_like", "--out", "p.npz", "--option", "active=many"), "active is 'many'"),
        (("fluid_like", "--out", "p.npz", "--option", "active"), "name=value"),
        (("fluid_like", "--out", "p.npz", "--option", "active=0.1", "--option", "active=0.2"), "twice"),
        (("fluid_like", "--out", "p.npz", "--n", "-3"), "n is -3"),
        (("fluid_like", "--out", "p.npz", "--seed", "-1"), "seed is -1"),
        (("fluid_like", "--out", "p.txt"), "names no format"),
        (("fluid_like", "--out", "nowhere/p.npz"), "nowhere"),
    ],
)
def test_bad_requests_exit_with_2_and_write_nothing(perp_command, tmp_path, monkeypatch, words, part):
    monkeypatch.chdir(tmp_path)
    answer = perp_command("generate", *words)
    assert answer.code == 2
    assert answer.err.startswith("perp: error: ")
    assert answer.err.count("\n") == 1
    assert part in answer.err
    assert list(tmp_path.iterdir()) == []


def test_the_list_names_every_kind_with_its_options(perp_command):
    answer = perp_command("generate", "--list")
    assert answer.code == 0
    for kind in kinds().values():
        assert f"{kind.name}  (n = {kind.n})" in answer.out
        assert all(f"{option}=" in answer.out for option in kind.options)


def test_the_list_as_json(perp_command):
    entries = json.loads(perp_command("generate", "--list", "--json").out)
    assert [entry["name"] for entry in entries] == list(kinds())
    stack = next(entry for entry in entries if entry["name"] == "box_stack")
    assert stack["options"]["model"]["choices"] == ["box", "cone", "convex", "disc"]
