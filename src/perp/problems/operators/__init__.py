"""The matrix A in all its forms, and `as_operator`, which picks the form that a caller's object asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from perp.problems.operators.base import Operator
from perp.problems.operators.convolution import ConvolutionOperator
from perp.problems.operators.dense import DenseOperator
from perp.problems.operators.factored import FactoredOperator
from perp.problems.operators.half_space import half_space_kernel, periodic_half_space_kernel
from perp.problems.operators.masses import BodyMasses, DiagonalMass, PlanarMasses, SparseMass
from perp.problems.operators.matrix_free import MatrixFreeOperator
from perp.problems.operators.sparse import SparseOperator
from perp.problems.operators.stencil import StencilOperator

FILED: tuple[type[Operator], ...] = (ConvolutionOperator,)
"""Forms that read themselves from the arrays of a file (`from_arrays`)."""


def as_operator(A: Any) -> Operator:
    """An operator as it is; a SciPy sparse array, a LinearOperator or an array as the operator of that form."""
    if type(A) is np.ndarray:  # what most people have; the other questions take as long as the copy of a small array
        return DenseOperator(A)
    if isinstance(A, Operator):
        return A
    if issparse(A):
        return SparseOperator(A)
    if hasattr(A, "matvec"):  # a SciPy LinearOperator or anything that behaves like one
        return MatrixFreeOperator(A)
    return DenseOperator(A)


__all__ = [
    "FILED",
    "BodyMasses",
    "ConvolutionOperator",
    "DenseOperator",
    "DiagonalMass",
    "FactoredOperator",
    "MatrixFreeOperator",
    "Operator",
    "PlanarMasses",
    "SparseMass",
    "SparseOperator",
    "StencilOperator",
    "as_operator",
    "half_space_kernel",
    "periodic_half_space_kernel",
]
