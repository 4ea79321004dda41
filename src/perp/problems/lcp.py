"""The linear complementarity problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.box import BoxLCP
from perp.problems.inputs import MatrixLike, PerRow, Vector, VectorLike, freeze
from perp.problems.problem import Problem, scale_data
from perp.vocabulary import explains_arguments

FEW = 256
"""Problems of so many rows share their bounds with others of the same size."""


@explains_arguments()
@dataclass(frozen=True, eq=False, repr=False)
class LCP(Problem):
    """0 <= x  ⊥  y = A x + b >= 0 (NOTES eq. 20).

    `A` is an array, a SciPy sparse array, a LinearOperator or one of perp's operators; `b` a vector.
    """

    def __init__(self, A: MatrixLike, b: VectorLike) -> None:
        super().__init__(A, b)
        if self.b.size <= FEW:
            vars(self).update(_shared_bounds(self.b.size))  # as if they had been asked for

    @property
    def kind(self) -> str:
        return "lcp"

    @cached_property  # type: ignore[misc]  # made when they are first read
    def lower(self) -> Vector:
        return freeze(np.zeros(self.n))

    @cached_property  # type: ignore[misc]
    def upper(self) -> Vector:
        return freeze(np.full(self.n, np.inf))

    def bounds(self, x: Vector) -> tuple[Vector, Vector]:
        return self.lower, self.upper

    def project(self, x: Vector) -> Vector:
        return np.maximum(x, 0.0)

    def equilibrated(self) -> LCP:
        scaled = scale_data(self)
        return self if scaled is None else LCP(*scaled)

    def with_rows(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow) -> LCP:
        return LCP(A, b)

    def __reduce__(self) -> tuple[Any, ...]:
        return LCP, (self.A, self.b)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"kind": np.array("lcp")}

    def to_box(self) -> BoxLCP:
        """The same problem with its bounds written out."""
        return BoxLCP(self.A, self.b, self.lower, self.upper)


@cache
def _shared_bounds(n: int) -> dict[str, Vector]:
    """The bounds of all problems of n rows: read-only, and for few rows quicker shared than made."""
    return {"lower": freeze(np.zeros(n)), "upper": freeze(np.full(n, np.inf))}
