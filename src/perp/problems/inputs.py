"""Turn what a caller hands over into read-only float64 arrays, or say exactly what is wrong with it.

Every array is copied, so that a problem stays what it was when the caller goes on using his own arrays, and marked
read-only, so that nobody changes it later. (Numba compiles read-only arrays as a type of their own; as problem data are
always read-only, each kernel is still compiled once.)

Lists, integers and float32 are welcome and become float64: everything is computed, and judged, in double precision,
also where the data have seven digits. Objects with `__array__`, such as the tables of pandas, are arrays.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
SMALL_COPY = 2**26
Frozen = TypeVar("Frozen", bound=NDArray[Any])


class SupportsArray(Protocol):
    """An array, or an object that NumPy can make one of: a table of pandas, an operator of perp."""

    def __array__(self) -> NDArray[Any]: ...


class SparseLike(Protocol):
    """A sparse array or sparse matrix of SciPy, in any format."""

    def tocsr(self) -> Any: ...


class ProductLike(Protocol):
    """A LinearOperator of SciPy, or what behaves like one."""

    def matvec(self, x: Any, /) -> Any: ...


class Answer(Protocol):
    """What has a solution: a `perp.Result`."""

    @property
    def x(self) -> Vector: ...


NumberLike: TypeAlias = float | np.floating[Any] | np.integer[Any]
VectorLike: TypeAlias = SupportsArray | Sequence[float] | Sequence[np.floating[Any]] | Sequence[np.integer[Any]]
PerRow: TypeAlias = NumberLike | VectorLike
"""One number for all rows (or contacts), or one for each."""
PerTangent: TypeAlias = PerRow | Sequence[VectorLike]
"""The same for contacts, or a matrix with a number for each of their tangents."""
PointLike: TypeAlias = VectorLike | Answer
EntriesLike: TypeAlias = SupportsArray | SparseLike | Sequence[VectorLike]
"""A matrix whose entries are given."""
MatrixLike: TypeAlias = EntriesLike | ProductLike


def as_vector(value: Any, name: str, size: int | None = None, *, infinite: bool = False) -> Vector:
    """A read-only float64 copy of a one-dimensional array; `infinite` allows ±inf (bounds), never NaN."""
    array = _as_real_array(value, name)
    if array.ndim != 1 or (size is not None and array.shape[0] != size):
        raise _wrong_shape(array, value, name, size)
    vector = np.array(array, dtype=np.float64, order="C")
    reject_non_finite(vector, name, infinite=infinite)
    return freeze(vector)


def as_bound(value: Any, name: str, size: int, forbidden: float) -> Vector:
    """A vector of bounds from a scalar or an array; ±inf allowed except for `forbidden`, which leaves no room."""
    if type(value) is float and value != forbidden and not math.isnan(value):
        return freeze(np.full(size, value))
    dimensions = value.ndim if type(value) is np.ndarray else np.ndim(value)
    if dimensions == 0 and not isinstance(value, str | bytes):
        value = np.full(size, _as_real_array(value, name))
    bound = as_vector(value, name, size, infinite=True)
    impossible = bound == forbidden
    if np.count_nonzero(impossible):
        i = int(np.argmax(impossible))
        raise InvalidProblem(f"{name}[{i}] is {bound[i]}: no number satisfies that bound")
    return bound


def as_matrix(value: Any, name: str) -> Matrix:
    """A read-only, C-ordered float64 copy of a two-dimensional array."""
    array = _as_real_array(value, name)
    if array.ndim != 2:
        hint = "; for one row pass np.array([[a]])" if array.ndim == 0 else ""
        raise (TypeError if array.ndim == 0 else InvalidProblem)(
            f"{name} has shape {array.shape}; a two-dimensional array is needed{hint}"
        )
    _require_memory(array.size * 8, name)
    matrix = np.array(array, dtype=np.float64, order="C")
    reject_non_finite(matrix, name)
    return freeze(matrix)


def as_block_stack(value: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A read-only float64 copy of an array of the given shape (a stack of small blocks)."""
    stack = np.array(require_shape(value, name, shape), dtype=np.float64, order="C")
    reject_non_finite(stack, name)
    return freeze(stack)


def require_shape(value: Any, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """The caller's array itself, if it is one of real numbers and of that shape."""
    array = _as_real_array(value, name)
    if array.shape != shape:
        raise InvalidProblem(f"{name} has shape {array.shape}; {shape} is needed")
    return array


def freeze(array: Frozen) -> Frozen:
    """Mark an array that we own as read-only."""
    array.flags.writeable = False
    return array


def reject_non_finite(array: NDArray[np.float64], name: str, *, infinite: bool = False) -> None:
    """Raise with the place and the value of the first NaN (or, unless allowed, the first infinity)."""
    fine = ~np.isnan(array) if infinite else np.isfinite(array)
    if np.count_nonzero(fine) < fine.size:
        place = tuple(int(i) for i in np.unravel_index(int(np.argmin(fine)), array.shape))
        raise InvalidProblem(f"{name}[{','.join(map(str, place))}] is {array[place]}")


def require_real_dtype(dtype: np.dtype[Any], name: str) -> None:
    """Accept integers, float32 and float64 of any byte order; refuse what cannot become float64 without a decision."""
    if dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize in (4, 8)):
        return
    advice = "" if dtype.kind != "f" else ": convert it yourself with .astype(np.float64)"
    raise TypeError(f"{name} has dtype {dtype}; float64, float32 or an integer type is needed{advice}")


def require_real(value: Any, name: str) -> None:
    """Raise unless `value` is a real number of any kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {value!r}; a number is needed")


def require_number(value: Any, name: str, *, positive: bool = False) -> None:
    """Raise unless `value` is a finite number >= 0 (or > 0)."""
    require_real(value, name)
    number = float(value)
    if not (math.isfinite(number) and (number > 0 if positive else number >= 0)):
        raise ValueError(f"{name} is {value}; a finite number {'>' if positive else '>='} 0 is needed")


def require_share(value: Any, name: str) -> None:
    """Raise unless `value` is a number in 0..1."""
    require_number(value, name)
    if value > 1.0:
        raise InvalidProblem(f"{name} is {value}; a share of at most 1 is needed")


def require_count(value: Any, name: str, *, least: int = 0) -> None:
    """Raise unless `value` is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}; a whole number is needed")
    if value < least:
        raise ValueError(f"{name} is {value}; a whole number >= {least} is needed")


def _as_real_array(value: Any, name: str) -> NDArray[Any]:
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    if isinstance(value, np.matrix):
        raise TypeError(f"{name} is a numpy.matrix; pass np.asarray({name})")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; perp has no missing values: pass {name}.filled(...)")
    if value is None:
        raise TypeError(f"{name} is None; an array is needed")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidProblem(f"{name} is not a rectangular array: {error}") from None
    if array.size == 0 and array.dtype.kind == "f":
        return array
    require_real_dtype(array.dtype, name)
    return array


def _wrong_shape(array: NDArray[Any], value: Any, name: str, size: int | None) -> Exception:
    """What is wrong with an array that is no vector of that size."""
    if array.ndim == 0:
        return TypeError(f"{name} is a scalar; a one-dimensional array is needed, for example np.array([{value}])")
    if array.ndim != 1:
        return InvalidProblem(f"{name} has shape {array.shape}; a one-dimensional array is needed: pass {name}.ravel()")
    return InvalidProblem(f"{name} has length {array.shape[0]}, but the problem has {size} rows")


def _require_memory(needed: int, name: str) -> None:
    """Refuse a copy that the machine cannot hold, before it is begun; small ones are not worth the question."""
    available = _available_memory() if needed > SMALL_COPY else None
    if available is not None and needed > available:
        raise MemoryError(
            f"{name} needs {needed / 2**30:.1f} GiB as a dense float64 copy and {available / 2**30:.1f} GiB are free; "
            f"pass a SciPy sparse array, a FactoredOperator or a LinearOperator instead"
        )


def _available_memory() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _page_cache()
    except (ValueError, OSError, AttributeError):  # not a POSIX system: let the allocation itself decide
        return None


def _page_cache() -> int:
    """Bytes that the kernel would give back on demand (Linux counts them as used)."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        return max(0, sizes["MemAvailable"] - sizes["MemFree"])
    except (OSError, KeyError, ValueError, IndexError):
        return 0
