"""E A E^T where A is only a product."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from perp.problems.inputs import Vector
from perp.problems.operators import MatrixFreeOperator, Operator


def congruent_product(
    A: Operator, E: sparse.csr_array, added: sparse.csr_array | None = None, diagonal: Vector | None = None
) -> MatrixFreeOperator:
    """x -> E A E^T x + added x. (It is put together of SciPy's own operators, which can be pickled if A can.)"""
    product = LinearOperator(A.shape, matvec=A.apply, dtype=np.float64)
    whole = aslinearoperator(E) @ product @ aslinearoperator(sparse.csr_array(E.T))
    return MatrixFreeOperator(whole if added is None else whole + aslinearoperator(added), diagonal)
