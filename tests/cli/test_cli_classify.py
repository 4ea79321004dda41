"""`perp classify`: the classes of the matrix in a file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import perp
from perp.linalg.classes import CLASSES


@pytest.fixture
def cycle_file(tmp_path):
    path = tmp_path / "cycle.npz"
    perp.save(perp.gallery.make("block_pivot_cycle").problem, path)
    return path


def test_every_class_has_its_line(perp_command, cycle_file):
    answer = perp_command("classify", cycle_file)
    assert answer.code == 0
    lines = {line.split()[0]: line.split()[1] for line in answer.out.splitlines()[1:] if not line.startswith(" ")}
    assert set(lines) == set(CLASSES)
    assert (lines["P"], lines["positive_definite"]) == ("yes", "no")


def test_json_has_the_witnesses(perp_command, cycle_file):
    told = json.loads(perp_command("classify", cycle_file, "--json").out)
    assert told["n"] == 3
    assert told["classes"]["Z"]["witness"]["rows"] == [2, 0]
    assert told["classes"]["symmetric"]["answer"] is False


def test_without_time_the_hard_classes_are_undecided(perp_command, tmp_path):
    path = tmp_path / "large.npz"
    perp.save(perp.LCP(np.eye(30) + 2.0 * np.roll(np.eye(30), 1, axis=1) + 1e-3, np.ones(30)), path)
    answer = perp_command("classify", path, "--max-seconds", 0)
    assert answer.code == 0
    assert "undecided" in answer.out
    assert "time limit" in answer.out


def test_a_missing_file_and_a_bad_limit_are_refused(perp_command, cycle_file, tmp_path):
    assert perp_command("classify", tmp_path / "missing.npz").code == 2
    assert perp_command("classify", cycle_file, "--max-seconds", -1).code == 2
