"""The solvers that SLIDES name, with the options that make them so, and sequences of problems gathered size by size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.lab.runs.row import LabRow

PUBLISHED = {"projected": True, "regularisation": 0.0, "memory": 1, "proximal": "never"}
"""`fischer` without what the library adds to it; SLIDES project, and replace x_i by epsilon where x_i = y_i = 0."""

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Solver:
    """A method of the roster, its options, and what one iteration costs for a full matrix of n rows: n^`power`."""

    method: str
    power: int
    options: dict[str, Any] = field(default_factory=dict)


ASKED = {
    "PGS": Solver("pgs", 2),
    "Fischer-Newton": Solver("fischer", 3, PUBLISHED | {"strategy": "perturbation"}),
    "QP": Solver("quadratic_program", 3),
}
"""Those of the intermediate assignment; "QP" is an installed solver of quadratic programs in the place of quadprog."""

FURTHER = {
    "PSOR 1.4": Solver("psor", 2, {"relaxation": 1.4}),
    "interior point": Solver("interior_point", 3, {"corrector": "none"}),
    "minimum map": Solver("minimum_map", 3, {"singular": "stop", "fallback": "none"}),
}
"""Also on the slides: over-relaxation, the Kojima map, and the Newton method that the challenge asks for."""

SOLVERS = ASKED | FURTHER

DIFFERENCES = Solver("fischer", 2, PUBLISHED | {"strategy": "approximation"})
"""J dx by finite differences, with GMRES."""


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
