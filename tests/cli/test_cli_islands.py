"""`perp solve --islands`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from side_by_side import make_stack, put_side_by_side

from perp.problems.files import load, save
from perp.solvers.islands.islands import solve_islands


@pytest.fixture(scope="module")
def two_stacks_file(tmp_path_factory):
    """Two stacks, too large to be united."""
    path = tmp_path_factory.mktemp("islands") / "two.npz"
    save(put_side_by_side([make_stack(seed, 600) for seed in range(2)]), path)
    return path


def test_islands_are_solved_one_by_one_and_counted(perp_command, two_stacks_file):
    words = ("--method", "pgs", "--max-iterations", 40, "--islands")
    answer = perp_command("solve", two_stacks_file, *words, "--json")
    told = json.loads(answer.out)
    direct = solve_islands(load(two_stacks_file), "pgs", max_iterations=40)
    assert answer.code == 1
    assert told["islands"] == {"count": 2, "largest": 600, "failed": 2}
    assert (told["iterations"], told["residual"]) == (direct.iterations, direct.residual) == (80, direct.residual)
    shown = perp_command("solve", two_stacks_file, *words).out
    assert "solved as 2 islands, the largest with 600 rows" in shown
    assert "2 of 2 islands failed" in shown


def test_without_the_word_there_are_no_islands(perp_command, two_stacks_file):
    told = json.loads(perp_command("solve", two_stacks_file, "--max-iterations", 1, "--json").out)
    assert told["islands"] is None


def test_a_single_island_is_told_as_such(perp_command, fluid_file, tmp_path):
    out = tmp_path / "x.npz"
    answer = perp_command("solve", fluid_file, "--islands", "--json", "--out", out)
    told = json.loads(answer.out)
    assert answer.code == 0
    assert told["islands"] == {"count": 1, "largest": 27, "failed": 0}
    assert told["method"] == "small_pivots"
    with np.load(out) as saved:
        np.testing.assert_array_equal(saved["x"], solve_islands(load(fluid_file)).x)


def test_the_help_explains_islands(perp_command):
    assert "--islands" in perp_command("solve", "--help").out
