"""The solvers that SLIDES name, with the options that make them what SLIDES describe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PUBLISHED = {"projected": True, "regularisation": 0.0, "memory": 1, "proximal": "never"}
"""`fischer` without what the library adds to it; SLIDES project, and replace x_i by epsilon where x_i = y_i = 0."""


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
