"""A as any SciPy LinearOperator: nothing but a product, and the diagonal where the caller knows it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from perp.errors import InvalidProblem, OperatorFault
from perp.problems.inputs import MatrixLike, Vector, VectorLike, as_vector
from perp.problems.operators.base import APPLY, DIAGONAL, Operator


class MatrixFreeOperator(Operator):
    """`MatrixFreeOperator(linear_operator, diagonal=None)`; with a diagonal, Jacobi-like methods can use it."""

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY})
    form = "matrix-free"

    def __init__(self, product: MatrixLike, diagonal: VectorLike | None = None) -> None:
        try:
            self.product: Any = aslinearoperator(product)
        except TypeError:
            raise TypeError(
                f"{type(product).__name__} is no linear operator; wrap a function as "
                f"scipy.sparse.linalg.LinearOperator((n, n), matvec=function, dtype=float)"
            ) from None
        rows, columns = self.product.shape
        if rows != columns:
            raise InvalidProblem(f"A has shape {self.product.shape}; a square operator is needed")
        if np.issubdtype(self.product.dtype or np.float64, np.complexfloating):
            raise TypeError(f"A has dtype {self.product.dtype}; perp solves real problems")
        self._diagonal = None if diagonal is None else as_vector(diagonal, "diagonal", rows)

    @property
    def n(self) -> int:
        return int(self.product.shape[0])

    @property
    def ability_set(self) -> frozenset[str]:
        return self.abilities if self._diagonal is None else self.abilities | {DIAGONAL}

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        try:
            result = np.asarray(self.product.matvec(x.copy()))
        except (ValueError, TypeError) as error:
            raise OperatorFault(f"the caller's matrix-vector product failed: {error}") from error
        if result.shape != (self.n,) or result.dtype.kind not in "iuf":
            raise OperatorFault(
                f"the caller's matrix-vector product has shape {result.shape} and dtype {result.dtype}; "
                f"({self.n},) and real numbers are needed"
            )
        if np.isfinite(x).all() and not np.isfinite(result).all():
            raise OperatorFault("the caller's matrix-vector product returned numbers that are not finite")
        np.add(result, b, out=out)
        return out

    def with_added_diagonal(self, added: Vector) -> MatrixFreeOperator:
        own = as_vector(added, "added", self.n)
        diagonal = None if self._diagonal is None else self._diagonal + own
        return MatrixFreeOperator(self.product + aslinearoperator(sparse.diags_array(own)), diagonal)

    def diagonal(self) -> Vector:
        if self._diagonal is None:
            raise self._missing(DIAGONAL)
        return self._diagonal.copy()
