"""Free rows with the eliminated unknowns put back: larger systems, but no product of matrices is ever formed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.linalg.free_systems.body_plans import movable_parts
from perp.linalg.free_systems.sparse import LuSystem
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator, Operator


class AugmentedBodies(LuSystem):
    """For A = J M^-1 J^T + C the matrix of constrained dynamics, with v = M^-1 J_F^T dx put back:

    [ M   -J_F^T ] [v ]   [0]
    [J_F   C_F+S ] [dx] = [r],       quasi-definite once its second row is turned round.
    """

    name = "augmented"

    def __init__(self, A: FactoredOperator) -> None:
        super().__init__(A.n)
        self._J, self._mass = movable_parts(A)
        self._compliance = A.compliance

    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        J, corner = self._J[free], sparse.diags_array(self._compliance[free] + shift)
        return sparse.block_array([[self._mass, -J.T], [J, corner]], format="csr"), int(self._mass.shape[0])


class AugmentedRows(LuSystem):
    """For any other A the Newton equation of the Kojima map (SLIDES), with dy = -S dx put back:

    [A_FF  -I] [dx]   [r]
    [ S     I] [dy] = [0].
    """

    name = "augmented"

    def __init__(self, A: Operator) -> None:
        super().__init__(A.n)
        self._A = A.to_sparse()

    def _assemble(self, free: NDArray[np.intp], shift: Vector) -> tuple[sparse.sparray, int]:
        A, own = self._A[free][:, free], sparse.eye_array(free.size)
        return sparse.block_array([[A, -own], [sparse.diags_array(shift), own]], format="csr"), 0


def make_augmented(A: Operator) -> LuSystem:
    return AugmentedRows(A) if A.factored is None else AugmentedBodies(A.factored)
