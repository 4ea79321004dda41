"""perp: complementarity problems.  0 <= x  ⊥  A x + b >= 0."""

from perp import gallery
from perp.problems.box import BoxLCP
from perp.problems.files import load, load_solution, save
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
from perp.problems.residuals import Residuals, verify
from perp.solvers.api import solve
from perp.solvers.loop import Progress
from perp.solvers.result import Result
from perp.solvers.splitting.gauss_seidel import PGS, PSOR, SymmetricPSOR
from perp.solvers.splitting.jacobi import Jacobi
from perp.solvers.status import Status
from perp.solvers.stopping import Stopping
from perp.solvers.warm_up import warm_up
from perp.solvers.wrappers.best_so_far import best_so_far
from perp.version import __version__

__all__ = [
    "LCP",
    "BoxLCP",
    "ContactProblem",
    "solve",
    "verify",
    "save",
    "load",
    "load_solution",
    "gallery",
    "Result",
    "Residuals",
    "Status",
    "Stopping",
    "Progress",
    "Jacobi",
    "PGS",
    "PSOR",
    "SymmetricPSOR",
    "best_so_far",
    "warm_up",
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
