"""Sequences of problems of increasing size, gathered size by size."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perp.lab.runs.row import LabRow

Column = NDArray[np.float64]


def gather_by_size(rows: Iterable[LabRow], name: str) -> dict[int, Column]:
    """The entries of a column of all sequences (`perp.lab.work.sequence`) by size, from the smallest on."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if "n" in row.series and name in row.series:
            for n, value in zip(row.series["n"], row.series[name], strict=True):
                found.setdefault(int(n), []).append(float(value))
    return {n: np.array(found[n]) for n in sorted(found)}


def median_by_size(rows: Iterable[LabRow], name: str, least: int = 0) -> tuple[Column, Column]:
    """Sizes of at least `least`, and the median over the sequences at each."""
    gathered = {n: values for n, values in gather_by_size(rows, name).items() if n >= least}
    return np.array(list(gathered), dtype=np.float64), np.array([np.median(values) for values in gathered.values()])


def mean_by_size(rows: Iterable[LabRow], name: str) -> dict[int, float]:
    """The mean over the sequences, size by size."""
    return {n: float(values.mean()) for n, values in gather_by_size(rows, name).items()}
