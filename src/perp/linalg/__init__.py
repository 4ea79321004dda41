"""Linear algebra below the methods: orderings, and factors that follow a changing set of rows.

from perp import linalg

factor = linalg.SparseCholesky(A, ordering="amd")      # analyses the pattern, factors the numbers
x = factor.solve(b)
factor.factor(other_data)                              # other numbers in the same pattern: only what changed
"""

from perp.linalg.cholesky import DenseCholesky, NotFinite, NotPositive, SparseCholesky
from perp.linalg.free_systems import FreeSystem, choose_system
from perp.linalg.orderings import (
    cuthill_mckee,
    minimum_degree,
    natural,
    nested_dissection,
    order,
    reverse_cuthill_mckee,
)
from perp.linalg.plan import Plan
from perp.linalg.sparse_lu import SparseLU
from perp.linalg.symbolic import Symbolic, analyse, predict_flops

__all__ = [
    "SparseCholesky",
    "SparseLU",
    "DenseCholesky",
    "Plan",
    "NotFinite",
    "NotPositive",
    "FreeSystem",
    "choose_system",
    "order",
    "minimum_degree",
    "nested_dissection",
    "cuthill_mckee",
    "reverse_cuthill_mckee",
    "natural",
    "Symbolic",
    "analyse",
    "predict_flops",
]
