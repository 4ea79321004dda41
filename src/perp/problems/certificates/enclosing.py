"""A^T u with bounds on its rounding errors, from the problem's own numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.problems.operators import Operator
from perp.problems.rounding import sum_columns

EPSILON = 2.0**-52

MOST_EXACT = 400_000
"""So many products are added up without rounding errors; of more, in extended precision."""

MOST_STENCIL_ROWS = 20_000
"""Rows of a stencil that are looked at one by one, so that nothing is formed."""

FORMING = 8.0
"""Rounding errors that a number of A may have where A is formed from factors, in units of the last place."""

CHUNK = 256

EXTENDED = 2.0 * max(float(np.finfo(np.longdouble).eps), 2.0**-63)
"""Rounding errors of a product and a sum in extended precision, which is double precision on some machines."""

Entries = tuple[NDArray[Any], NDArray[Any], Vector]


@dataclass(frozen=True)
class Pulled:
    """A^T u, how far each of its entries may be off, and |A|^T |u|."""

    gain: Vector
    error: Vector
    size: Vector


def rounding_share(n: int) -> float:
    """The rounding errors of a sum of n products, as a share of the sum of their absolute values."""
    return (n + 4) * EPSILON


def pull_quickly(A: Operator, u: Vector) -> Pulled:
    """In plain double precision."""
    gain, size = A.pull(u)
    terms = int(np.count_nonzero(u))
    if A.stencil is not None:
        terms = min(terms, 2 * len(A.stencil.grid) + 1)
    return Pulled(gain, (terms + 2) * EPSILON * size, size)


def pull_sharply(A: Operator, u: Vector, quick: Pulled) -> Pulled:
    """Without rounding errors but the last one where A is stored, and as well as it goes where it must be formed."""
    support = np.flatnonzero(u)
    is_given = A.stored is not None or A.stencil is not None
    forming = 0.0 if is_given else FORMING * EPSILON * quick.size
    if A.stencil is not None:
        if support.size > MOST_STENCIL_ROWS:
            return quick
        return Pulled(*_round_once(*_entries_by_rows(A.stencil, support), u, A.n), quick.size)
    part: Any = A.written_out()[support]
    if (part.size if A.is_dense else part.nnz) > MOST_EXACT:
        gain, error = _extended(part, u[support])
        error += support.size * EXTENDED * quick.size
    else:
        gain, error = _round_once(*_entries_of(part, support), u, A.n)
    return Pulled(gain, error + forming, quick.size)


def _round_once(rows: NDArray[Any], columns: NDArray[Any], values: Vector, u: Vector, n: int) -> tuple[Vector, Vector]:
    gain = sum_columns(rows, columns, values, u, n)
    return gain, np.abs(gain) * EPSILON


def _extended(part: Any, u: Vector) -> tuple[Vector, Vector]:
    long = u.astype(np.longdouble)
    if isinstance(part, np.ndarray):
        total = np.zeros(part.shape[1], dtype=np.longdouble)
        for begin in range(0, u.size, CHUNK):
            here = slice(begin, begin + CHUNK)
            total += part[here].T.astype(np.longdouble) @ long[here]
    else:
        total = part.astype(np.longdouble).T @ long
    gain: Vector = total.astype(np.float64)
    return gain, np.abs(gain) * EPSILON


def _entries_of(part: Any, support: NDArray[np.intp]) -> Entries:
    if isinstance(part, np.ndarray):
        place, columns = np.nonzero(part)
        return support[place], columns, part[place, columns]
    entries = part.tocoo()
    return support[entries.row], entries.col, entries.data


def _entries_by_rows(A: Operator, support: NDArray[np.intp]) -> Entries:
    found = [A.row(int(i)) for i in support]
    lengths = [columns.size for columns, _ in found]
    columns = np.concatenate([columns for columns, _ in found])
    return np.repeat(support, lengths), columns, np.concatenate([values for _, values in found])
