"""perp: complementarity problems.  0 <= x  ⊥  A x + b >= 0."""

from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.lcp import LCP
from perp.problems.operators import (
    BodyMasses,
    DenseOperator,
    DiagonalMass,
    FactoredOperator,
    MatrixFreeOperator,
    Operator,
    SparseMass,
    SparseOperator,
    StencilOperator,
)
from perp.version import __version__

__all__ = [
    "LCP",
    "BoxLCP",
    "ContactProblem",
    "Operator",
    "DenseOperator",
    "SparseOperator",
    "FactoredOperator",
    "StencilOperator",
    "MatrixFreeOperator",
    "BodyMasses",
    "DiagonalMass",
    "SparseMass",
    "__version__",
]
