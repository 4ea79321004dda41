"""The methods of NOTES as its public code, num4lcp, runs them, and how it stops them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perp.lab.runs.task import Task
from perp.lab.work.merits import solve_to_merit_task

FREE_SHARE = 0.75
"""Of the rows of a problem: num4lcp draws a quarter of x as zero."""

GMRES = {"linear": "gmres", "preconditioner": "none", "forcing": 1e-6, "sufficient": 1e-3}
"""NOTES 6: GMRES without a preconditioner; MATLAB's tolerance, and num4lcp's share of decrease in the line search."""


@dataclass(frozen=True)
class Criteria:
    """When a run stops (NOTES eq. 107 and 108)."""

    absolute: float
    relative: float
    max_iterations: int


@dataclass(frozen=True, eq=False)
class PapersMethod:
    """`merit` is the function whose fall the paper stops by (NOTES 7): a word of `work.solve_to_merit`."""

    label: str
    method: str
    merit: str
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def until(
        self,
        criteria: Criteria,
        instance: Mapping[str, Any],
        arguments: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> Task:
        """A solve that ends by the paper's criteria."""
        return solve_to_merit_task(
            instance,
            self.method,
            merit=self.merit,
            absolute=criteria.absolute,
            relative=criteria.relative,
            max_iterations=criteria.max_iterations,
            options=self.options,
            arguments={**self.arguments, **(arguments or {})},
            **{"label": self.label, **others},
        )


OWN = {"projected": True, "regularisation": 0.0, "memory": 1, "proximal": "never", "sufficient": 1e-3}
"""NOTES 5.5: projected steps, a monotone search, nothing that perp adds."""


def fischer(label: str, strategy: str) -> PapersMethod:
    """Fischer's method with GMRES, which restarts after 10 iterations and ends after 100."""
    options = {**GMRES, "restart": 10, "inner_limit": 100, **OWN, "strategy": strategy}
    return PapersMethod(label, "fischer", "fischer", options, {"gradient_steps": False})


FISCHER = fischer("Fischer", "random")
FISCHER_APPROXIMATION = fischer("Fischer, approximation", "approximation")
FISCHER_PERTURBATION = PapersMethod(
    "Fischer, perturbation", "fischer", "fischer", {**OWN, "strategy": "perturbation"}, {"gradient_steps": False}
)
"""The one strategy for which num4lcp factors the Jacobian."""
MINIMUM_MAP = PapersMethod(
    "Min. map", "minimum_map", "minimum_map", {**GMRES, "restart": 20, "inner_limit": 200, "fallback": "none"}
)
MINIMUM_MAP_DIRECT = PapersMethod(
    "Min. map, factored", "minimum_map", "minimum_map", {"singular": "stop", "fallback": "none", "sufficient": 1e-3}
)
"""NOTES 5.4 with a factor in the place of GMRES, which notices a singular matrix and ends."""
PGS = PapersMethod("PGS", "pgs", "modified")
PSOR = PapersMethod("PSOR", "psor", "modified", {"relaxation": 1.4})
FISCHER_OURS = PapersMethod("Fischer, perp's own", "fischer", "fischer")
"""With perp's safeguards: no projection, a regularised Jacobian, a non-monotone search, proximal points."""

FLUID_METHODS = (FISCHER, MINIMUM_MAP, PGS, PSOR)
"""Of Tables 1a and 2b, in their order."""
