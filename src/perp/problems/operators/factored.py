"""A = J M^-1 J^T + C without ever forming A (AMGS Method 3.1; NOTES section 6).

Two layouts of J, chosen when the operator is made:

* **body pairs**, when M is made of rigid bodies and no row of J touches more than two: twelve numbers and two body
  numbers a row, which is what the fast kernels read;
* **compressed rows**, for everything else.

Only one of the two is kept; a SciPy view of J is made again when somebody asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_block_stack, as_vector, freeze
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator
from perp.problems.operators.masses import BodyMasses, Mass, as_mass
from perp.problems.operators.sparse import as_csr, unsigned_parts

ROWS_AT_ONCE = 4096
"""How many rows of J M^-1 are made at a time where only products with them are wanted."""


class FactoredOperator(Operator):
    """`FactoredOperator(J, mass, compliance=None)`.

    `J` is a SciPy sparse array (or a dense one), one row a constraint; `mass` a `BodyMasses`, a vector (diagonal M)
    or a sparse SPD matrix; `compliance` [(m/s)/(N s)] the diagonal of C, zero or more, a number or one a row.
    """

    abilities = frozenset({APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE})
    form = "factored"

    def __init__(self, J: Any, mass: Any, compliance: Any = None) -> None:
        self.mass: Mass = as_mass(mass)
        matrix = as_csr(J, "J")
        if matrix.shape[1] != self.mass.dofs:
            raise InvalidProblem(f"J has {matrix.shape[1]} columns, but the mass has {self.mass.dofs} velocities")
        self.pairs = BodyPairs.find(matrix, self.mass)
        self._rows = None if self.pairs else matrix
        self._finish(int(matrix.shape[0]), compliance)

    @classmethod
    def from_body_pairs(cls, bodies: Any, jacobian: Any, mass: BodyMasses, compliance: Any = None) -> FactoredOperator:
        """From `bodies` (m x 2, -1 for the world) and `jacobian` (m x 2 x 6), without a detour over a sparse array."""
        if not isinstance(mass, BodyMasses):
            raise TypeError(f"mass is {type(mass).__name__}; body pairs need perp.BodyMasses")
        operator = cls.__new__(cls)
        operator.mass = mass
        operator.pairs = BodyPairs.make(bodies, jacobian, mass)
        operator._rows = None
        operator._finish(operator.pairs.rows, compliance)
        return operator

    def _finish(self, rows: int, compliance: Any) -> None:
        if compliance is None or np.ndim(compliance) == 0:
            compliance = np.full(rows, 0.0 if compliance is None else compliance)
        self.compliance: Vector = as_vector(compliance, "compliance", rows)
        negative = np.flatnonzero(self.compliance < 0)
        if negative.size:
            raise InvalidProblem(
                f"compliance[{negative[0]}] is {self.compliance[negative[0]]}; it must not be negative"
            )
        self._scaled: sparse.csr_array | None = None

    @property
    def n(self) -> int:
        return self.compliance.size

    @property
    def J(self) -> sparse.csr_array:
        """J as a SciPy array (made anew from the body pairs where those are what is stored)."""
        return self.pairs.to_sparse() if self.pairs is not None else self._sparse_rows()

    @property
    def scaled_rows(self) -> sparse.csr_array:
        """W = J M^-1 in compressed rows; made once."""
        if self._scaled is None:
            self._scaled = self.mass.scale_rows(self.J)
        return self._scaled

    def slack(self, x: Vector, b: Vector, out: Vector) -> Vector:
        if self.pairs is not None:
            from perp.kernels import body_pairs

            work = np.empty(6 * (self.pairs.body_count + 1))
            pairs = self.pairs
            body_pairs.slack(pairs.bodies, pairs.jacobian, pairs.inverse_mass, self.compliance, b, x, work, out)
        else:
            from perp.kernels import factored

            rows = self._sparse_rows()
            velocity = self.mass.solve(rows.T @ x)
            factored.slack(*unsigned_parts(rows), self.compliance, b, x, velocity, out)
        return out

    def velocity(self, x: Any) -> Vector:
        """v = M^-1 J^T x, the velocity that the impulses x (a vector or a `Result`) add."""
        return self.mass.solve(self.J.T @ as_vector(getattr(x, "x", x), "x", self.n))

    def diagonal(self) -> Vector:
        if self.pairs is not None:
            return self.pairs.diagonal_blocks(1, self.n).reshape(-1) + self.compliance
        rows = self._sparse_rows()
        return np.asarray(rows.multiply(self.scaled_rows).sum(axis=1)).reshape(-1) + self.compliance

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        if self.pairs is not None and self.pairs.has_common_bodies(size, count):
            blocks = self.pairs.diagonal_blocks(size, count)
        else:
            J = self.J[: size * count]
            W = self.mass.scale_rows(J)
            blocks = np.zeros((count, size, size))
            for p in range(size):
                for q in range(size):
                    blocks[:, p, q] = np.asarray(J[p::size].multiply(W[q::size]).sum(axis=1)).reshape(-1)
        own = np.arange(size)
        blocks[:, own, own] += self.compliance[: size * count].reshape(count, size)
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
        return 24 * self.n if self.pairs is not None else self.n + 2 * int(self._sparse_rows().nnz)

    @property
    def asymmetry(self) -> float:
        return 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        if self.pairs is None:
            return FactoredOperator, (self.J, self.mass, self.compliance)
        return FactoredOperator.from_body_pairs, (*self.pairs.as_given(), self.mass, self.compliance)

    def _sparse_rows(self) -> sparse.csr_array:
        assert self._rows is not None
        return self._rows


class BodyPairs:
    """J with at most two bodies a row: `bodies` (2 a row), `jacobian` (12 a row), `inverse_mass` (8 a body)."""

    def __init__(self, bodies: NDArray[np.uint32], jacobian: Vector, mass: BodyMasses) -> None:
        self.bodies = freeze(bodies)
        self.jacobian = freeze(jacobian)
        self.inverse_mass = mass.packed()
        self.body_count = mass.mass.size

    @property
    def rows(self) -> int:
        return self.bodies.size // 2

    @staticmethod
    def make(bodies: Any, jacobian: Any, mass: BodyMasses) -> BodyPairs:
        """From an m x 2 array of body numbers (-1: the world, which does not move) and an m x 2 x 6 array."""
        pairs = np.asarray(bodies)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InvalidProblem(f"bodies has shape {pairs.shape}, dtype {pairs.dtype}; integers, m x 2, are needed")
        count = mass.mass.size
        if pairs.size and (pairs.min() < -1 or pairs.max() >= count):
            raise InvalidProblem(f"bodies must lie in -1..{count - 1}; found {pairs.min()}..{pairs.max()}")
        twice = np.flatnonzero((pairs[:, 0] == pairs[:, 1]) & (pairs[:, 0] >= 0))
        if twice.size:
            raise InvalidProblem(f"bodies[{twice[0]}] names body {pairs[twice[0], 0]} twice; add its two parts up")
        blocks = np.array(as_block_stack(jacobian, "jacobian", (len(pairs), 2, 6)))
        blocks[pairs == -1] = 0.0
        numbers = np.where(pairs == -1, count, pairs).astype(np.uint32)
        return BodyPairs(numbers.reshape(-1), blocks.reshape(-1), mass)

    def as_given(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What `make` takes: body numbers, -1 for the world, and the blocks of J."""
        numbers = self.bodies.astype(np.int64).reshape(-1, 2)
        return np.where(numbers == self.body_count, -1, numbers), self.jacobian.reshape(-1, 2, 6)

    @staticmethod
    def find(matrix: sparse.csr_array, mass: Mass) -> BodyPairs | None:
        """The body pairs of a sparse J, or None when a row touches more than two bodies."""
        if not isinstance(mass, BodyMasses):
            return None
        m = int(matrix.shape[0])
        row = np.repeat(np.arange(m), np.diff(matrix.indptr))
        body = matrix.indices // 6
        starts_body = np.ones(len(body), dtype=bool)
        starts_body[1:] = (row[1:] != row[:-1]) | (body[1:] != body[:-1])
        before = np.cumsum(starts_body) - 1
        first_of_row = np.zeros(m, dtype=np.intp)
        occupied = np.flatnonzero(np.diff(matrix.indptr))
        first_of_row[occupied] = before[matrix.indptr[occupied]]
        side = before - first_of_row[row]
        if side.size and side.max() > 1:
            return None
        numbers = np.full((m, 2), mass.mass.size, dtype=np.uint32)
        numbers[row, side] = body
        blocks = np.zeros((m, 2, 6))
        blocks[row, side, matrix.indices % 6] = matrix.data
        return BodyPairs(numbers.reshape(-1), blocks.reshape(-1), mass)

    def scaled(self, first: int = 0, last: int | None = None) -> tuple[Vector, Vector]:
        """J M^-1 in the layout of J, and the diagonal of J M^-1 J^T, for the rows first..last."""
        from perp.kernels import body_pairs

        stop = self.rows if last is None else last
        scaled, diagonal = np.empty(12 * (stop - first)), np.empty(stop - first)
        bodies, jacobian = self.bodies[2 * first : 2 * stop], self.jacobian[12 * first : 12 * stop]
        body_pairs.scale(bodies, jacobian, self.inverse_mass, scaled, diagonal)
        return scaled, diagonal

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        """The first `count` diagonal blocks of J M^-1 J^T; the rows of a block must act on the same two bodies."""
        blocks = np.empty((count, size, size))
        at_once = max(1, ROWS_AT_ONCE // size)
        for start in range(0, count, at_once):
            stop = min(count, start + at_once)
            scaled = self.scaled(size * start, size * stop)[0].reshape(-1, size, 12)
            jacobian = self.jacobian[12 * size * start : 12 * size * stop].reshape(-1, size, 12)
            np.einsum("cpk,cqk->cpq", jacobian, scaled, out=blocks[start:stop])
        return blocks

    def has_common_bodies(self, size: int, count: int) -> bool:
        """Whether the rows of each of the first `count` blocks act on the same two bodies, in the same order."""
        pairs = self.bodies[: 2 * size * count].reshape(count, size, 2)
        return bool((pairs == pairs[:, :1]).all())

    def to_sparse(self) -> sparse.csr_array:
        world = 6 * self.body_count
        columns = (6 * self.bodies.astype(np.int64)[:, None] + np.arange(6)).reshape(-1)
        keep = (columns < world) & (self.jacobian != 0.0)
        row = np.repeat(np.arange(self.rows), 12)
        shape = (self.rows, world)
        return as_csr(sparse.coo_array((self.jacobian[keep], (row[keep], columns[keep])), shape=shape), "J")
