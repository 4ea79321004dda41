"""Answers on disk."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.errors import FileFormatError
from perp.lab.results import distance, load_answer, save_answer


def test_an_answer_comes_back_bit_for_bit(tmp_path):
    result = perp.solve(perp.LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])), "pgs")
    save_answer(result, tmp_path / "x.npz")
    np.testing.assert_array_equal(load_answer(tmp_path / "x.npz"), result.x)
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]


def test_a_file_that_declares_too_much_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros(1000))
    with pytest.raises(FileFormatError, match="max_bytes"):
        load_answer(tmp_path / "x.npz", max_bytes=100)


def test_the_distance_is_the_largest_difference():
    assert distance(np.array([1.0, 2.0]), np.array([1.5, 0.0])) == 2.0
    assert distance(np.zeros(0), np.zeros(0)) == 0.0
