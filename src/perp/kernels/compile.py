"""How every kernel is compiled, and under which key it lies in Numba's cache on disk.

* `contract` is the only fast-math freedom: fused multiply-add. Sums keep their order, so results repeat bit by bit.
* `error_model="numpy"`: a division by zero gives inf, as in C, instead of a test and an exception.
* Indices are unsigned (uint32 in memory, uint64 in arithmetic): Numba then drops its test for negative indices.
* A dot product keeps several independent partial sums, which hides the latency of the additions.

`kernel` is for what Python calls, and is cached on disk. `inlined` is for what kernels call: it is not cached, because
a function that Numba takes from its cache is object code, which nobody can inline any more (seen here: half the speed).
`uncounted` is `inlined` for what takes tuples of arrays once a row or a contact: Numba counts references to every array
of a tuple that is taken apart, with atomic additions that it cannot always leave out (seen here: up to twenty times the
time). Such a function counts none, so that it must not make arrays or return any, and nobody calls it from Python.
`part` is for large pieces that a kernel calls from several places: inlined, they would take a minute to compile. They
lie in the cache of the kernels that call them, and nobody else can. `spliced` is for large pieces that are called from
one place: Numba puts their code there before it compiles anything. Each `part` is optimised together with all that it
calls, so that a deep tree of parts is optimised over and over; `piece` is for its large branches, which are cached as a
kernel is and called by address (`perp.kernels.by_address`). Most of the time goes into Numba's own passes over types
and code, so that what is spliced twice costs twice, and so does a wrapper that nobody calls.

With NUMBA_DISABLE_JIT=1 in the environment nothing is compiled: kernels run as plain Python, slowly, for debuggers and
for coverage (`make kernel-coverage`). `machine_code` is for what no Python can say; it has a plain twin for this case.

Numba's own key in the cache is the date of the file that holds the kernel. A kernel also contains compiled copies of
what it imports from other files here; machine code made of an old version of those reads arrays that have another
layout today. So the key is a hash of the file, of all files of `perp.kernels` that it imports, directly or not, and of
NumPy's version. (Numba keeps kernels of its own versions apart.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from perp.kernels.notice import give_notice

FOLDER = Path(__file__).parent
IMPORT = re.compile(r"^from perp\.kernels([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """The files of `perp.kernels` that a file imports by itself."""
    found = set()
    for package, names in IMPORT.findall(file.read_text(encoding="utf-8")):
        place = FOLDER.joinpath(*package.split(".")[1:])
        if place.is_dir():  # the names are modules
            found |= {place / f"{name}.py" for name in re.findall(r"\w+", names) if (place / f"{name}.py").exists()}
        else:
            found.add(place.with_suffix(".py"))
    return frozenset(found)


def all_files(file: Path) -> list[Path]:
    """A file and all that it imports, directly or not, sorted."""
    found, waiting = set(), [file]
    while waiting:
        here = waiting.pop()
        if here not in found:
            found.add(here)
            waiting.extend(imported_files(here))
    return sorted(found)


@cache
def source_stamp(file: Path) -> str:
    digest = sha256(np.__version__.encode())
    for source in all_files(file):
        digest.update(source.read_bytes())
    return digest.hexdigest()


IS_PLAIN = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether kernels run as plain Python."""
if not IS_PLAIN:
    give_notice()
_SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_NO_CFUNC: dict[str, Any] = {"no_cfunc_wrapper": True}
_UNSEEN: dict[str, Any] = {"no_cpython_wrapper": True, **_NO_CFUNC}
"""No wrapper for C, nor one for Python, which must not call these."""
_UNCOUNTED: dict[str, Any] = _UNSEEN | ({"_nrt": False} if hasattr(cpu_target.options, "_nrt") else {})
"""The option is Numba's own; a Numba without it counts references, and these functions are slower."""
_cached: Any = njit(cache=True, **_SETTINGS, **_NO_CFUNC)
_cached_unseen: Any = njit(cache=True, **_SETTINGS, **_UNSEEN)
inlined: Any = njit(forceinline=True, **_SETTINGS, **_NO_CFUNC)
uncounted: Any = njit(forceinline=True, **_SETTINGS, **_UNCOUNTED)
part: Any = njit(**_SETTINGS, **_UNSEEN)
spliced: Any = njit(inline="always", **_SETTINGS, **_UNSEEN)


def kernel(function: Callable[..., Any]) -> Any:
    """What Python calls, compiled on first use and kept on disk under the hash of its sources."""
    return _quiet(function) if IS_PLAIN else _stamped(_cached(function), function)


def piece(function: Callable[..., Any]) -> Any:
    """What only other kernels call, by address; compiled and kept as a kernel is."""
    return _quiet(function) if IS_PLAIN else _stamped(_cached_unseen(function), function)


def machine_code(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the definition of an intrinsic; `plain` does the same in Python, up to rounding."""

    def decorate(definition: Callable[..., Any]) -> Any:
        if IS_PLAIN:
            return plain
        return intrinsic(definition)

    return decorate


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled code has no warnings: divisions by zero give inf, and unsigned integers wrap around."""
    return np.errstate(all="ignore")(function)


def _stamped(dispatcher: Any, function: Callable[..., Any]) -> Any:
    file = getattr(dispatcher._cache, "_cache_file", None)  # there is none where nothing can be written
    if file is not None:
        file._source_stamp = source_stamp(Path(function.__code__.co_filename))
    return dispatcher
