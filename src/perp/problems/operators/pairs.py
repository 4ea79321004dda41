"""J with at most two bodies a row, as the kernels read it: whole bodies in place of single velocities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.kernels.storages import body_pairs
from perp.problems.inputs import Vector, freeze, reject_non_finite, require_shape
from perp.problems.operators.masses import BodyMasses, Mass, PlanarMasses
from perp.problems.operators.sparse import as_csr


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
