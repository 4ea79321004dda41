"""Problems on disk: `save`, `load` and `load_solution`; the suffix of the path chooses the format.

* `.npz`: every form of A, bit for bit; perp's own format.
* `.mtx`: Matrix Market text, one file a matrix or vector; what most other programs read.
* `.hdf5`, `.h5`: FCLIB, the format of the frictional contact community; needs h5py.
* `.dat`: text files of Siconos' numerics, which are read and not written.

A file is a stranger: nothing is unpickled, and nothing is allocated before what the file declares has been compared
with what it holds and with `max_bytes`. Whatever is wrong with it comes as one `FileFormatError` that names the place.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from perp.errors import FileFormatError, suggest
from perp.problems.files import fclib, matrix_market, npz, siconos
from perp.problems.files.guard import DEFAULT_MAX_BYTES
from perp.problems.inputs import PointLike, Vector, as_vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

__all__ = ["DEFAULT_MAX_BYTES", "load", "load_solution", "save"]


class _Format(NamedTuple):
    save: Callable[[Problem, Path, Vector | None], None]
    load: Callable[[Path, int], Problem]
    load_solution: Callable[[Path, int], Vector | None]


_NPZ = _Format(npz.save, npz.load, npz.load_solution)
_MATRIX_MARKET = _Format(matrix_market.save, matrix_market.load, matrix_market.load_solution)
_FCLIB = _Format(fclib.save, fclib.load, fclib.load_solution)

_FORMATS = {".npz": _NPZ, ".mtx": _MATRIX_MARKET, ".hdf5": _FCLIB, ".h5": _FCLIB}

SICONOS = ".dat"

SUFFIXES = (*_FORMATS, SICONOS)
"""Of the files that `load` reads."""


def save(problem: Problem, path: str | os.PathLike[str], *, x: PointLike | None = None) -> None:
    """Write a problem, and a known solution `x` (or a `Result`) if there is one, in the format that the suffix names.

    An older file of that name is replaced at the very end, so that a failure leaves it as it was.
    """
    target = Path(path)
    if target.suffix.lower() == SICONOS:
        raise FileFormatError(f"{target}: text files of Siconos are read, not written; save it as .npz, .mtx or .hdf5")
    form = _format_of(target)
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is a {type(problem).__name__}; an LCP, a BoxLCP or a ContactProblem is needed")
    if not problem.A.is_numbers and TO_SPARSE not in problem.A.ability_set:
        raise FileFormatError(
            f"{target}: a {problem.A.form} operator is a program, not data, and cannot be saved; "
            f"build the problem from an array, a sparse array, a FactoredOperator, a StencilOperator, "
            f"or a ConvolutionOperator"
        )
    form.save(problem, target, None if x is None else as_vector(getattr(x, "x", x), "x", problem.n))


def load(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES, layout: str | None = None) -> Problem:
    """Read a problem; a file that declares more than `max_bytes` of numbers is refused before they are read.

    `layout` says what the numbers of a `.dat` file mean ("siconos/lcp", "siconos/relay", "siconos/mlcp", "siconos/fc",
    "siconos/gfc"), which is otherwise found out; every other format says so itself.
    """
    source = Path(path)
    if source.suffix.lower() == SICONOS:
        _require_readable(source)
        return siconos.load(source, max_bytes, layout)
    form = _format_of(source)
    if layout is not None:
        raise ValueError(f"layout is {layout!r}, but only {SICONOS} files need one; {source} is {source.suffix}")
    _require_readable(source)
    return form.load(source, max_bytes)


def load_solution(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> Vector | None:
    """The solution x that was saved with a problem, or None; nothing here checks that it solves the problem."""
    source = Path(path)
    if source.suffix.lower() == SICONOS:
        _require_readable(source)
        return None
    form = _format_of(source)
    _require_readable(source)
    return form.load_solution(source, max_bytes)


def _format_of(path: Path) -> _Format:
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise FileFormatError(
            f"{path}: the suffix {suffix!r} names no format{suggest(suffix, _FORMATS)}; {SICONOS} is read, not written"
        )
    return _FORMATS[suffix]


def _require_readable(path: Path) -> None:
    """A missing file or folder raises what `open` always raises, before any format has its own word for it.

    Pipes and devices may keep a reader waiting for ever, and cannot be read twice.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise FileFormatError(f"{path}: not a file, but a pipe or a device")
    path.open("rb").close()
