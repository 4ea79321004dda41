"""The limits that every file must keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perp.errors import FileFormatError, InvalidProblem
from perp.problems.files.guard import COMPRESSION_LIMIT, SMALL_BYTES, Budget, FileGuard


@pytest.fixture
def guard():
    return FileGuard(Path("p.npz"), Budget(1000))


def test_a_budget_is_spent_once_by_all_files_of_a_problem(guard):
    guard.spend("b", 600)
    guard.beside(Path("q.npz")).spend("x", 400)
    with pytest.raises(
        FileFormatError, match=r"p\.npz: A: the file declares 1 bytes here, 1,001 so far; max_bytes=1,000"
    ):
        guard.spend("A", 1)


def test_plain_data_must_be_there(guard):
    guard.require_stored("b", 80, 80)
    with pytest.raises(FileFormatError, match="b: the file declares 80 bytes and holds only 79 of them"):
        guard.require_stored("b", 80, 79)


def test_compressed_data_may_be_a_multiple_and_small_ones_any_multiple(guard):
    guard.require_stored("b", SMALL_BYTES, 1, compressed=True)
    guard.require_stored("b", SMALL_BYTES * COMPRESSION_LIMIT, SMALL_BYTES, compressed=True)
    with pytest.raises(FileFormatError, match="would unpack to"):
        guard.require_stored("b", SMALL_BYTES * COMPRESSION_LIMIT + 1, SMALL_BYTES, compressed=True)


def test_what_a_constructor_says_becomes_the_fault_of_the_file(guard):
    with pytest.raises(FileFormatError, match=r"p\.npz: b is bad") as caught, guard.building():
        raise InvalidProblem("b is bad")
    assert isinstance(caught.value.__cause__, InvalidProblem)
    with pytest.raises(FileFormatError, match=r"p\.npz: W: overflow"), guard.building("W"):
        np.float64(1e308) * np.float64(10)


def test_a_fault_already_told_is_not_told_again(guard):
    with pytest.raises(FileFormatError, match=r"^p\.npz: b: short$"), guard.building("W"):
        raise guard.fault("b", "short")
