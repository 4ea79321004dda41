"""A = J M^-1 J^T + C without ever forming A (AMGS Method 3.1; NOTES section 6).

Three layouts of J, chosen when the operator is made:

* **body pairs**, when M is made of rigid bodies and no row of J touches more than two: twelve numbers and two body
  numbers a row, which is what the fast kernels read;
* **planar pairs**, the same for rigid bodies in a plane: six numbers and two body numbers a row;
* **compressed rows**, for everything else.

Only one of them is kept; a SciPy view of J is made again when somebody asks for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.storages import body_pairs, factored, planar_pairs
from perp.problems import island_matrices
from perp.problems.inputs import (
    EntriesLike,
    PerRow,
    PointLike,
    Vector,
    VectorLike,
    as_vector,
    freeze,
    reject_non_finite,
    require_shape,
)
from perp.problems.operators.base import APPLY, DIAGONAL, ROWS, SUBMATRIX, TO_SPARSE, Operator
from perp.problems.operators.masses import BodyMasses, Mass, PlanarMasses, as_mass
from perp.problems.operators.sparse import as_csr, csr_arrays, unsigned_parts
from perp.vocabulary import explains_arguments

if TYPE_CHECKING:
    from perp.problems.island_matrices import Couplings

__all__ = ["BodyPairs", "FactoredOperator", "PlanarPairs"]


class Pairs(ABC):
    """`bodies` (2 a row), `jacobian` (`width` numbers for each of them) and `inverse_mass`, all flat.

    A row that touches one body has a last, immovable one for the second.
    """

    width: ClassVar[int]
    """How many velocities a body has."""
    masses: ClassVar[type]
    """What M must be."""

    def __init__(self, bodies: NDArray[np.uint32], jacobian: Vector, mass: BodyMasses | PlanarMasses) -> None:
        self.bodies: NDArray[np.uint32] = freeze(bodies)
        self.jacobian: Vector = freeze(jacobian)
        self.inverse_mass: Vector = mass.packed()
        self.body_count: int = mass.mass.size
        self._common: dict[tuple[int, int], bool] = {}

    @property
    def rows(self) -> int:
        return self.bodies.size // 2

    @classmethod
    def make(cls, bodies: Any, jacobian: Any, mass: BodyMasses | PlanarMasses) -> Self:
        """From an m x 2 array of body numbers (-1: the world, which does not move) and an m x 2 x `width` array."""
        pairs = np.asarray(bodies)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InvalidProblem(f"bodies has shape {pairs.shape}, dtype {pairs.dtype}; integers, m x 2, are needed")
        given = require_shape(jacobian, "jacobian", (len(pairs), 2, cls.width))
        count = mass.mass.size
        numbers, blocks = np.empty(pairs.size, dtype=np.uint32), np.empty(given.size)
        rows = _read_only(pairs, np.int64), _read_only(given, np.float64)
        fault, place = body_pairs.take_pairs(*rows, np.uint64(cls.width), np.int64(count), numbers, blocks)
        if fault == body_pairs.OUT_OF_RANGE:
            i, side = divmod(int(place), 2)
            raise InvalidProblem(f"bodies must lie in -1..{count - 1}; bodies[{i},{side}] is {pairs[i, side]}")
        if fault == body_pairs.TWICE:
            raise InvalidProblem(f"bodies[{place}] names body {pairs[place, 0]} twice; add its two parts up")
        if fault == body_pairs.NOT_FINITE:
            reject_non_finite(np.asarray(given, dtype=np.float64), "jacobian")
        return cls(numbers, blocks, mass)

    def as_given(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What `make` takes: body numbers, -1 for the world, and the blocks of J."""
        numbers = self.bodies.astype(np.int64).reshape(-1, 2)
        return np.where(numbers == self.body_count, -1, numbers), self.jacobian.reshape(-1, 2, self.width)

    @classmethod
    def find(cls, matrix: sparse.csr_array, mass: Mass) -> Self | None:
        """The pairs of a sparse J, or None when M is of another kind or a row touches more than two bodies."""
        if not isinstance(mass, BodyMasses | PlanarMasses) or not isinstance(mass, cls.masses):
            return None
        m = int(matrix.shape[0])
        row = np.repeat(np.arange(m), np.diff(matrix.indptr))
        body = matrix.indices // cls.width
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
        blocks = np.zeros((m, 2, cls.width))
        blocks[row, side, matrix.indices % cls.width] = matrix.data
        return cls(numbers.reshape(-1), blocks.reshape(-1), mass)

    @abstractmethod
    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        """The first `count` diagonal blocks of J M^-1 J^T; the rows of a block must act on the same two bodies."""

    @abstractmethod
    def velocity(self, x: Vector) -> Vector:
        """v = M^-1 J^T x, with the immovable body at the end."""

    def relative_velocity(self, v: Vector) -> Vector:
        """J v, for the velocities of all bodies in a row."""
        padded, along = np.zeros(self.width * (self.body_count + 1)), np.empty(self.rows)
        padded[: v.size] = v
        self._times(padded, along)
        return along

    @abstractmethod
    def _times(self, v: Vector, out: Vector) -> None:
        """out = J v; v has the immovable body at the end."""

    @abstractmethod
    def slack(self, compliance: Vector, b: Vector, x: Vector, out: Vector) -> None:
        """out = J M^-1 J^T x + C x + b."""

    def has_common_bodies(self, size: int, count: int) -> bool:
        """Whether the rows of each of the first `count` blocks act on the same two bodies, in one order; found once."""
        if (size, count) not in self._common:
            pairs = self.bodies[: 2 * size * count].view(np.uint64)  # both numbers at a time
            same = (bool((pairs[row::size] == pairs[::size]).all()) for row in range(1, size))
            self._common[size, count] = all(same)
        return self._common[size, count]

    def to_sparse(self) -> sparse.csr_array:
        world = self.width * self.body_count
        columns = (self.width * self.bodies.astype(np.int64)[:, None] + np.arange(self.width)).reshape(-1)
        keep = (columns < world) & (self.jacobian != 0.0)
        row = np.repeat(np.arange(self.rows), 2 * self.width)
        shape = (self.rows, world)
        return as_csr(sparse.coo_array((self.jacobian[keep], (row[keep], columns[keep])), shape=shape), "J")


class BodyPairs(Pairs):
    """Rigid bodies in space: twelve numbers a row, eight a body (`perp.kernels.storages.body_pairs`)."""

    width = 6
    masses = BodyMasses

    def scaled(self, first: int = 0, last: int | None = None) -> tuple[Vector, Vector]:
        """J M^-1 in the layout of J, and the diagonal of J M^-1 J^T, for the rows first..last."""
        stop = self.rows if last is None else last
        scaled, diagonal = np.empty(12 * (stop - first)), np.empty(stop - first)
        bodies, jacobian = self.bodies[2 * first : 2 * stop], self.jacobian[12 * first : 12 * stop]
        body_pairs.scale(bodies, jacobian, self.inverse_mass, scaled, diagonal)
        return scaled, diagonal

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        blocks = np.empty((count, size, size))
        flat = blocks.reshape(-1)
        body_pairs.blocks_of_bodies(np.uint64(size), self.bodies, self.jacobian, self.inverse_mass, flat)
        return blocks

    def velocity(self, x: Vector) -> Vector:
        v = np.empty(6 * (self.body_count + 1))
        body_pairs.velocity(self.bodies, self.jacobian, self.inverse_mass, x, v)
        return v

    def _times(self, v: Vector, out: Vector) -> None:
        body_pairs.times_bodies(self.bodies, self.jacobian, v, out)

    def slack(self, compliance: Vector, b: Vector, x: Vector, out: Vector) -> None:
        work = np.empty(6 * (self.body_count + 1))
        body_pairs.slack(self.bodies, self.jacobian, self.inverse_mass, compliance, b, x, work, out)


def _read_only(array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """The numbers of an array in a row, as kernels read them: a view where it can be one. The array stays as it is."""
    return freeze(np.require(array, dtype, ("C", "A")).reshape(-1).view())


class PlanarPairs(Pairs):
    """Rigid bodies in a plane: six numbers a row, two a body (`perp.kernels.storages.planar_pairs`)."""

    width = 3
    masses = PlanarMasses

    def diagonal_blocks(self, size: int, count: int) -> NDArray[np.float64]:
        blocks = np.empty((count, size, size))
        planar_pairs.diagonal_blocks(np.uint64(size), self.bodies, self.jacobian, self.inverse_mass, blocks.reshape(-1))
        return blocks

    def velocity(self, x: Vector) -> Vector:
        v = np.empty(3 * (self.body_count + 1))
        planar_pairs.velocity(self.bodies, self.jacobian, self.inverse_mass, x, v)
        return v

    def _times(self, v: Vector, out: Vector) -> None:
        planar_pairs.times_planar(self.bodies, self.jacobian, v, out)

    def slack(self, compliance: Vector, b: Vector, x: Vector, out: Vector) -> None:
        work = np.empty(3 * (self.body_count + 1))
        planar_pairs.slack(self.bodies, self.jacobian, self.inverse_mass, compliance, b, x, work, out)


@explains_arguments()
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
