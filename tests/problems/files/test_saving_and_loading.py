"""What all formats share: suffixes, missing files, files that appear whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from saved_problems import assert_same_statement, make_small

from perp import ContactProblem
from perp.errors import FileFormatError
from perp.problems.files import load, load_solution, save

CONE = ContactProblem(np.eye(3), [1.0, 2.0, 3.0], 0.5, model="cone")
SUFFIXES = (".npz", ".mtx", ".hdf5", ".h5")


@pytest.fixture(autouse=True)
def _with_h5py():
    pytest.importorskip("h5py")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_path_may_be_text_and_its_suffix_in_capitals(suffix, tmp_path):
    path = str(tmp_path / f"p{suffix.upper()}")
    save(CONE, path, x=[0, 0, 0])
    assert_same_statement(load(path), CONE)
    assert load_solution(path).tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["p", "p.npy", "p.mat", "p.npz.gz", "npz"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(name, tmp_path):
    for action in (lambda path: save(CONE, path), load, load_solution):
        with pytest.raises(FileFormatError, match=r"names no format.*known: .h5, .hdf5, .mtx, .npz"):
            action(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_raises_what_open_raises(suffix, tmp_path):
    (tmp_path / f"folder{suffix}").mkdir()
    for reader in (load, load_solution):
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / f"missing{suffix}")
        with pytest.raises(IsADirectoryError):
            reader(tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_folder_is_told_when_saving(suffix, tmp_path):
    with pytest.raises(FileNotFoundError):
        save(CONE, tmp_path / "missing" / f"p{suffix}")


def test_only_problems_are_saved(tmp_path):
    with pytest.raises(TypeError, match="problem is a ndarray"):
        save(np.eye(3), tmp_path / "p.npz")


@pytest.mark.parametrize(
    ("suffix", "step"),
    [
        (".npz", "perp.problems.files.archive.npy.write_array"),
        (".mtx", "perp.problems.files.matrix_market.write_vector"),
        (".hdf5", "perp.problems.files.fclib._write_matrix"),
    ],
)
@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(suffix, step, failure, tmp_path, monkeypatch):
    path = tmp_path / f"p{suffix}"
    save(CONE, path)
    before = {member.name: member.read_bytes() for member in tmp_path.iterdir()}

    def fail(*_arguments, **_options):
        raise failure

    monkeypatch.setattr(step, fail)
    with pytest.raises(type(failure)):
        save(ContactProblem(2 * np.eye(3), [1.0, 2.0, 3.0], 0.5, model="cone"), path)
    assert {member.name: member.read_bytes() for member in tmp_path.iterdir()} == before


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_new_file_has_the_rights_that_any_new_file_has(suffix, tmp_path):
    (tmp_path / "any").touch()
    save(CONE, tmp_path / f"p{suffix}")
    assert (tmp_path / f"p{suffix}").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_the_callers_solution_is_not_touched(tmp_path):
    x = np.array([1.0, 2.0])
    save(make_small(), tmp_path / "p.npz", x=x)
    assert x.flags.writeable
    assert x.tolist() == [1, 2]


def test_importing_the_formats_imports_neither_h5py_nor_numba():
    code = "import perp.problems.files, sys; sys.exit(len({'h5py', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("suffix", [".npz", ".mtx", ".hdf5", ".dat"])
def test_a_pipe_is_refused_before_anybody_waits_for_it(suffix, tmp_path):
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    for read in (load, load_solution):
        with pytest.raises(FileFormatError, match="a pipe or a device"):
            read(pipe)
