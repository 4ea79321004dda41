"""A = J M^-1 J^T + C without ever forming A (AMGS Method 3.1; NOTES section 6).

Three layouts of J, chosen when the operator is made:

* **body pairs**, when M is made of rigid bodies and no row of J touches more than two: twelve numbers and two body
  numbers a row, which is what the fast kernels read;
* **planar pairs**, the same for rigid bodies in a plane: six numbers and two body numbers a row;
* **compressed rows**, for everything else.

Only one of them is kept; a SciPy view of J is made again when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.storages import factored
from perp.problems import island_matrices
from perp.problems.inputs import EntriesLike, PerRow, PointLike, Vector, VectorLike, as_vector, freeze
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator
from perp.problems.operators.masses import BodyMasses, Mass, PlanarMasses, as_mass
from perp.problems.operators.pairs import BodyPairs, PlanarPairs
from perp.problems.operators.sparse import as_csr, csr_arrays, unsigned_parts

if TYPE_CHECKING:
    from perp.problems.island_matrices import Couplings

__all__ = ["BodyPairs", "FactoredOperator", "PlanarPairs"]


class FactoredOperator(Operator):
    """`FactoredOperator(J, mass, compliance=None)`.

    `J` is a SciPy sparse array (or a dense one), one row a constraint; `mass` a `BodyMasses`, `PlanarMasses`, a vector
    (diagonal M) or a sparse SPD matrix; `compliance` [(m/s)/(N s)] the diagonal of C, zero or more, a number or one a
    row.
    """

    abilities: ClassVar[frozenset[str]] = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "factored"
    is_numbers = True
    pairs: BodyPairs | None = None
    planar: PlanarPairs | None = None

    def __init__(self, J: EntriesLike, mass: Mass | EntriesLike | VectorLike, compliance: PerRow | None = None) -> None:
        self.mass: Mass = as_mass(mass)
        matrix = as_csr(J, "J")
        if matrix.shape[1] != self.mass.dofs:
            raise InvalidProblem(f"J has {matrix.shape[1]} columns, but the mass has {self.mass.dofs} velocities")
        self.pairs = BodyPairs.find(matrix, self.mass)
        self.planar = PlanarPairs.find(matrix, self.mass)
        self._rows = matrix if self.paired is None else None
        self._finish(int(matrix.shape[0]), compliance)

    @classmethod
    def from_body_pairs(
        cls,
        bodies: NDArray[np.integer[Any]] | Sequence[Sequence[int]],
        jacobian: ArrayLike,
        mass: BodyMasses | PlanarMasses,
        compliance: PerRow | None = None,
    ) -> FactoredOperator:
        """From `bodies` (m x 2, -1 for the world) and `jacobian` (m x 2 x 6), without a detour over a sparse array.

        With `PlanarMasses` the jacobian is m x 2 x 3.
        """
        operator = cls.__new__(cls)
        if isinstance(mass, PlanarMasses):
            operator.planar = PlanarPairs.make(bodies, jacobian, mass)
        elif isinstance(mass, BodyMasses):
            operator.pairs = BodyPairs.make(bodies, jacobian, mass)
        else:
            raise TypeError(f"mass is {type(mass).__name__}; body pairs need perp.BodyMasses or perp.PlanarMasses")
        operator.mass = mass
        operator._rows = None
        operator._finish(len(bodies), compliance)
        return operator

    @classmethod
    def of_pairs(cls, pairs: BodyPairs | PlanarPairs, mass: BodyMasses | PlanarMasses, compliance: Vector) -> Self:
        """From pairs, their masses and a read-only compliance that are known to be good: nothing is checked."""
        operator = cls.__new__(cls)
        operator.pairs = pairs if isinstance(pairs, BodyPairs) else None
        operator.planar = pairs if isinstance(pairs, PlanarPairs) else None
        operator.mass, operator._rows = mass, None
        operator.compliance, operator._scaled = compliance, None
        return operator

    def _finish(self, rows: int, compliance: Any) -> None:
        self._scaled: sparse.csr_array | None = None
        if compliance is None:
            self.compliance: Vector = freeze(np.zeros(rows))
            return
        self.compliance = as_vector(
            np.full(rows, compliance) if np.ndim(compliance) == 0 else compliance, "compliance", rows
        )
        negative = np.flatnonzero(self.compliance < 0)
        if negative.size:
            raise InvalidProblem(
                f"compliance[{negative[0]}] is {self.compliance[negative[0]]}; it must not be negative"
            )

    @property
    def n(self) -> int:
        return self.compliance.size

    @property
    def factored(self) -> FactoredOperator:
        return self

    @property
    def paired(self) -> BodyPairs | PlanarPairs | None:
        """`pairs` or `planar`, whichever there is."""
        return self.pairs if self.pairs is not None else self.planar

    @property
    def J(self) -> sparse.csr_array:
        """J as a SciPy array (made anew from the pairs where those are what is stored)."""
        return self.paired.to_sparse() if self.paired is not None else self._sparse_rows()

    @property
    def scaled_rows(self) -> sparse.csr_array:
        """W = J M^-1 in compressed rows; made once."""
        if self._scaled is None:
            self._scaled = self.mass.scale_rows(self.J)
        return self._scaled

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        if self.paired is not None:
            self.paired.slack(self.compliance, b, x, out)
        else:
            rows = self._sparse_rows()
            velocity = self.mass.solve(rows.T @ x)
            factored.slack(*unsigned_parts(rows), self.compliance, b, x, velocity, out)
        return out

    def velocity(self, x: PointLike) -> Vector:
        """v = M^-1 J^T x, the velocity that the impulses x (a vector or a `Result`) add."""
        impulses = as_vector(getattr(x, "x", x), "x", self.n)
        if self.paired is not None:
            return self.paired.velocity(np.array(impulses))[: self.mass.dofs]
        return self.mass.solve(self._sparse_rows().T @ impulses)

    def relative_velocity(self, v: Vector) -> Vector:
        """J v, the velocity along each row that the velocities v make."""
        return self.paired.relative_velocity(v) if self.paired is not None else self._sparse_rows() @ v

    def with_compliance(self, compliance: PerRow | None) -> FactoredOperator:
        """The same J and M with another C."""
        softer = FactoredOperator.__new__(FactoredOperator)
        softer.mass, softer.pairs, softer.planar, softer._rows = self.mass, self.pairs, self.planar, self._rows
        softer._finish(self.n, compliance)
        return softer

    def with_added_diagonal(self, added: Vector) -> FactoredOperator:
        """The same J and M with C + diag(added), which must not have a negative entry."""
        return self.with_compliance(self.compliance + as_vector(added, "added", self.n))

    def restrict(self, rows: NDArray[np.intp]) -> FactoredOperator:
        return self.masked(rows, self.compliance[rows])

    def masked(self, rows: NDArray[np.intp], compliance: Vector, factors: Vector | None = None) -> FactoredOperator:
        """J[rows] M^-1 J[rows]^T + diag(compliance), each row of J times its factor if there are any."""
        if self.paired is not None and isinstance(self.mass, BodyMasses | PlanarMasses):
            bodies, jacobian = self.paired.as_given()
            jacobian = jacobian[rows] if factors is None else jacobian[rows] * factors[:, None, None]
            return FactoredOperator.from_body_pairs(bodies[rows], jacobian, self.mass, compliance)
        J = self.J[rows] if factors is None else sparse.diags_array(factors) @ self.J[rows]
        return FactoredOperator(J, self.mass, compliance)

    def coupled_rows(self) -> Couplings:
        if self.paired is not None and isinstance(self.mass, BodyMasses | PlanarMasses):
            return island_matrices.CoupledPairs(self.paired, self.mass, self.compliance)
        return island_matrices.CoupledVelocities(self)

    def arrays(self) -> dict[str, NDArray[Any]]:
        rows: dict[str, NDArray[Any]]
        if self.paired is None:
            rows = csr_arrays("J", self.J)
        else:
            rows = dict(zip(("bodies", "jacobian"), self.paired.as_given(), strict=True))
        return rows | self.mass.arrays() | {"compliance": self.compliance}

    def diagonal(self) -> Vector:
        if self.paired is not None:
            return self.paired.diagonal_blocks(1, self.n).reshape(-1) + self.compliance
        rows = self._sparse_rows()
        return np.asarray(rows.multiply(self.scaled_rows).sum(axis=1)).reshape(-1) + self.compliance

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        if self.paired is not None and self.paired.has_common_bodies(size, count):
            blocks = self.paired.diagonal_blocks(size, count)
        else:
            J = self.J[: size * count]
            W = self.mass.scale_rows(J)
            blocks = np.zeros((count, size, size))
            for p in range(size):
                for q in range(size):
                    blocks[:, p, q] = np.asarray(J[p::size].multiply(W[q::size]).sum(axis=1)).reshape(-1)
        for p in range(size):
            blocks[:, p, p] += self.compliance[p : size * count : size]
        return blocks

    def row(self, i: int) -> tuple[NDArray[Any], Vector]:
        J = self.J
        values = J @ self.mass.solve(J[[i]].toarray()[0])
        values[i] += self.compliance[i]
        columns = np.flatnonzero(values)
        return columns, values[columns]

    def submatrix(self, rows: Any, columns: Any) -> sparse.csr_array:
        return self.to_sparse()[rows][:, columns]

    def to_sparse(self) -> sparse.csr_array:
        J = self.J
        return sparse.csr_array(self.mass.scale_rows(J) @ J.T + sparse.diags_array(self.compliance))

    def work(self) -> int:
        if self.paired is not None:
            return 4 * self.paired.width * self.n
        return self.n + 2 * int(self._sparse_rows().nnz)

    @property
    def asymmetry(self) -> float:
        return 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        if self.paired is None:
            return FactoredOperator, (self.J, self.mass, self.compliance)
        return FactoredOperator.from_body_pairs, (*self.paired.as_given(), self.mass, self.compliance)

    def _sparse_rows(self) -> sparse.csr_array:
        assert self._rows is not None
        return self._rows
