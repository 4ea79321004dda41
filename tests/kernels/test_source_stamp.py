"""Compiled kernels are cached under a hash of every file that they contain code of."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from plain_kernels import needs_compiler

import perp.kernels
from perp.kernels import compile as stamps

MODULES = [module.name for module in pkgutil.walk_packages(perp.kernels.__path__, "perp.kernels.")]


def executed(name):
    """The names of a module, which `perp.lazy` executes when a name is missing."""
    module = importlib.import_module(name)
    hasattr(module, "a name that it has not")
    return dict(vars(module))


def test_imports_are_followed_through_packages_and_names_in_brackets():
    found = {
        path.relative_to(stamps.FOLDER).as_posix() for path in stamps.all_files(stamps.FOLDER / "conic" / "run.py")
    }
    own = {"conic/run.py", "conic/lorentz.py", "conic/newton.py"}
    assert own | {"factors/supernodal_lu.py", "factors/lanes.py", "blas.py"} <= found
    assert "worlds/discs.py" not in found


def test_a_change_in_any_file_that_is_imported_changes_the_stamp(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "FOLDER", tmp_path)
    (tmp_path / "a.py").write_text("from perp.kernels.b import (\n    piece,\n)\n")
    (tmp_path / "b.py").write_text("from perp.kernels import c\n")
    (tmp_path / "c.py").write_text("number = 1\n")
    (tmp_path / "d.py").write_text("number = 1\n")

    def stamp() -> str:
        stamps.imported_files.cache_clear()
        stamps.source_stamp.cache_clear()
        return stamps.source_stamp(tmp_path / "a.py")

    before = stamp()
    (tmp_path / "d.py").write_text("number = 2\n")
    assert stamp() == before
    (tmp_path / "c.py").write_text("number = 2\n")
    assert stamp() != before


@needs_compiler
def test_every_kernel_is_cached_under_the_stamp_of_its_sources():
    checked = 0
    for name in MODULES:
        for item in executed(name).values():
            file = getattr(getattr(item, "_cache", None), "_cache_file", None)
            if file is not None:
                assert file._source_stamp == stamps.source_stamp(Path(item.py_func.__code__.co_filename))
                checked += 1
    assert checked > 100
