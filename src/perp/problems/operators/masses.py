"""The mass matrix M of a factored operator, and its inverse applied.

Four forms: rigid bodies in space (a mass and a 3 x 3 inertia each), in a plane (a mass and one number), a diagonal, or
any sparse symmetric positive definite matrix. All offer `dofs`, `solve(f) = M^-1 f` for a vector or
a matrix of columns, and `scale_rows(J) = J M^-1`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import splu

from perp.errors import InvalidProblem
from perp.kernels.worlds import rigid_motion
from perp.problems.inputs import EntriesLike, Vector, VectorLike, as_block_stack, as_vector, freeze, require_real_dtype
from perp.problems.operators.sparse import as_csr, csr_arrays

COLUMNS_AT_ONCE = 256
"""How many columns of M^-1 J^T are solved for together."""

INERTIA_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Of a symmetric 3 x 3 matrix, in the order in which the body-pair kernels have them."""


def factor_sparse(matrix: Any, **options: Any) -> Any:
    """The LU factor of a square sparse matrix, or RuntimeError where it is singular.

    SuperLU writes beyond its arrays where the pattern alone makes a matrix singular (seen here: a crash in one of three
    runs), so the pattern is looked at first: a matching of rows and columns, needed only where the diagonal has holes.
    """
    columns = sparse.csc_array(matrix)
    n = columns.shape[0]
    if (columns.diagonal() == 0.0).any() and structural_rank(columns) < n:
        raise RuntimeError("the pattern of its nonzeros makes the matrix singular")
    return splu(columns, **options)


class SparseMass:
    """Any symmetric positive definite M, factored once by SuperLU with diagonal pivots.

    With diagonal pivots M = L U has L^T = D^-1 U, so that M is positive definite exactly when every pivot is positive.
    """

    def __init__(self, M: EntriesLike) -> None:
        self.matrix: sparse.csr_array = as_csr(M, "M")
        rows, columns = self.matrix.shape
        if rows != columns:
            raise InvalidProblem(f"M has shape {self.matrix.shape}; a square matrix is needed")
        largest = np.abs(self.matrix.data).max(initial=0.0)
        skew = np.abs((self.matrix - self.matrix.T).data).max(initial=0.0)
        if skew > 1e-12 * largest:
            raise InvalidProblem(f"M is not symmetric: max |M - M^T| = {skew:.2e}, max |M| = {largest:.2e}")
        try:
            self.factor: Any = factor_sparse(
                self.matrix,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:
            raise InvalidProblem(f"M is not positive definite: {error}") from None
        diagonal_pivots = np.array_equal(self.factor.perm_r, self.factor.perm_c)
        if rows and not (diagonal_pivots and self.factor.U.diagonal().min() > 0.0):
            raise InvalidProblem("M is not positive definite: a pivot of its factor is not positive")

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"M.form": np.array("sparse")} | csr_arrays("M", self.matrix)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseMass, (self.matrix,)  # the factor of SuperLU does not travel: it is made again

    @property
    def dofs(self) -> int:
        return int(self.matrix.shape[0])

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        solution: NDArray[np.float64] = self.factor.solve(np.ascontiguousarray(f))
        return solution

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        """A few columns of M^-1 J^T at a time, so that the dense block stays small."""
        parts = []
        for start in range(0, J.shape[0], COLUMNS_AT_ONCE):
            block = J[start : start + COLUMNS_AT_ONCE].T.toarray()
            parts.append(sparse.csr_array(self.solve(block).T))
        return as_csr(sparse.vstack(parts, format="csr") if parts else sparse.csr_array(J.shape), "W")

    def to_sparse(self) -> sparse.csr_array:
        return self.matrix.copy()


class Mass(Protocol):
    @property
    def dofs(self) -> int:
        """The number of velocities."""
        ...

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """M^-1 f."""
        ...

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        """W = J M^-1."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What M is made of, by the names that files give it."""
        ...

    def to_sparse(self) -> sparse.csr_array:
        """M itself; infinite masses cannot be written down and raise."""
        ...


class BodyMasses:
    """Rigid bodies: velocities are (vx, vy, vz, wx, wy, wz) a body, in the order of the bodies.

    `mass` [kg] has one entry a body, `inertia` [kg m^2] one 3 x 3 matrix a body, in the frame of the velocities.
    A body that cannot move has `mass = inf`; its inertia is then ignored.
    """

    def __init__(self, mass: VectorLike, inertia: ArrayLike) -> None:
        self.mass: Vector = as_vector(mass, "mass", infinite=True)
        bodies = self.mass.size
        _require_invertible(self.mass)
        movable = np.isfinite(self.mass)
        given = np.array(inertia, dtype=np.float64)
        if given.shape == (bodies, 3, 3):
            given[~movable] = np.eye(3)  # whatever stands there is ignored
        self.inertia: NDArray[np.float64] = as_block_stack(given, "inertia", (bodies, 3, 3))
        packed = np.zeros((bodies + 1, 8))
        packed[:-1][movable, 0] = 1.0 / self.mass[movable]
        inverse = _invert_inertias(self.inertia, movable)
        for place, (i, j) in enumerate(INERTIA_ENTRIES, start=1):
            packed[:-1][movable, place] = inverse[:, i, j]
        self._packed: Vector = freeze(packed.reshape(-1))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"M.form": np.array("bodies"), "M.mass": self.mass, "M.inertia": self.inertia}

    def __reduce__(self) -> tuple[Any, ...]:
        return BodyMasses, (self.mass, self.inertia)

    def turned(self, rotation: ArrayLike) -> BodyMasses:
        """The same bodies after turns, R I R^T each, for n rotation matrices."""
        turns = as_block_stack(rotation, "rotation", self.inertia.shape)
        inertia, packed = np.empty(self.inertia.size), np.empty(self._packed.size)
        rigid_motion.turn_masses(turns.reshape(-1), self.inertia.reshape(-1), self._packed, inertia, packed)
        return BodyMasses.of_checked(self.mass, freeze(inertia.reshape(self.inertia.shape)), freeze(packed))

    @classmethod
    def of_checked(cls, mass: Vector, inertia: NDArray[np.float64], packed: Vector) -> BodyMasses:
        """From read-only arrays that are known to be good, with their inverses as `packed()` has them."""
        masses = cls.__new__(cls)
        masses.mass, masses.inertia, masses._packed = mass, inertia, packed
        return masses

    @cached_property
    def inverse_blocks(self) -> NDArray[np.float64]:
        """M^-1, one 6 x 6 block a body."""
        packed = self._packed.reshape(-1, 8)[:-1]
        blocks = np.zeros((self.mass.size, 6, 6))
        blocks[:, :3, :3] = np.eye(3) * packed[:, 0, None, None]
        for place, (i, j) in enumerate(INERTIA_ENTRIES, start=1):
            blocks[:, 3 + i, 3 + j] = blocks[:, 3 + j, 3 + i] = packed[:, place]
        return freeze(blocks)

    def spin_momenta(self, velocity: Vector) -> NDArray[np.float64]:
        """I w of every body [kg m^2/s], n x 3, for all velocities in a row."""
        momenta = np.empty((self.mass.size, 3))
        rigid_motion.spin_momenta(self.inertia.reshape(-1), velocity, momenta.reshape(-1))
        return momenta

    @property
    def dofs(self) -> int:
        return 6 * self.mass.size

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        if f.ndim == 1:
            velocity = np.empty(f.size)
            rigid_motion.accelerate(self._packed, np.array(f, dtype=np.float64), velocity)
            return velocity
        columns = f.reshape(self.mass.size, 6, f.shape[1])
        velocities: NDArray[np.float64] = np.matmul(self.inverse_blocks, columns).reshape(f.shape)
        return velocities

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        return as_csr(J @ _block_diagonal(self.inverse_blocks), "W")

    @property
    def blocks(self) -> NDArray[np.float64]:
        """M, one 6 x 6 block a body."""
        blocks = np.zeros((self.mass.size, 6, 6))
        blocks[:, :3, :3] = np.eye(3) * self.mass[:, None, None]
        blocks[:, 3:, 3:] = self.inertia
        return blocks

    def to_sparse(self) -> sparse.csr_array:
        if not np.isfinite(self.mass).all():
            raise InvalidProblem("M has infinite entries (bodies that cannot move)")
        return as_csr(_block_diagonal(self.blocks), "M")

    def packed(self) -> Vector:
        """Eight numbers a body as the body-pair kernels want them, and a last body that cannot move."""
        return self._packed


class PlanarMasses:
    """Rigid bodies in a plane: velocities are (vx, vy, w) a body, in the order of the bodies.

    `mass` [kg] and `inertia` [kg m^2], about the centre of mass, have one entry a body. A body that cannot move has
    `mass = inf`; its inertia is then ignored.
    """

    def __init__(self, mass: VectorLike, inertia: VectorLike) -> None:
        self.mass: Vector = as_vector(mass, "mass", infinite=True)
        bodies = self.mass.size
        _require_invertible(self.mass)
        movable = np.isfinite(self.mass)
        require_real_dtype(np.asarray(inertia).dtype, "inertia")
        given = np.array(inertia, dtype=np.float64)
        if given.shape == (bodies,):
            given[~movable] = 1.0  # whatever stands there is ignored
        self.inertia: NDArray[np.float64] = as_block_stack(given, "inertia", (bodies,))
        _require_invertible(self.inertia, "inertia", "moment of inertia")
        inverse = np.zeros((bodies + 1, 2))
        inverse[:-1, 0] = 1.0 / self.mass
        inverse[:-1, 1] = np.where(movable, 1.0 / self.inertia, 0.0)
        self._packed: Vector = freeze(inverse.reshape(-1))
        self._inverse = _planar_inverse(self._packed)

    @classmethod
    def of_checked(cls, mass: Vector, inertia: Vector, packed: Vector) -> PlanarMasses:
        """From read-only arrays that are known to be good, with their inverses as `packed()` has them."""
        masses = cls.__new__(cls)
        masses.mass, masses.inertia, masses._packed = mass, inertia, packed
        masses._inverse = _planar_inverse(packed)
        return masses

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"M.form": np.array("planar"), "M.mass": self.mass, "M.inertia": self.inertia}

    def __reduce__(self) -> tuple[Any, ...]:
        return PlanarMasses, (self.mass, self.inertia)

    @property
    def dofs(self) -> int:
        return 3 * self.mass.size

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        return f * (self._inverse if f.ndim == 1 else self._inverse[:, None])

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        return as_csr(J @ sparse.diags_array(self._inverse), "W")

    def to_sparse(self) -> sparse.csr_array:
        if not np.isfinite(self.mass).all():
            raise InvalidProblem("M has infinite entries (bodies that cannot move)")
        numbers = np.stack([self.mass, self.mass, self.inertia], axis=1)
        return as_csr(sparse.diags_array(numbers.reshape(-1), format="csr"), "M")

    def packed(self) -> Vector:
        """1/m and 1/I a body, as the kernels of planar pairs want them, and a last body that cannot move."""
        return self._packed


class DiagonalMass:
    """M = diag(m), every entry positive; inf for a velocity that cannot change."""

    def __init__(self, m: VectorLike) -> None:
        self.m: Vector = as_vector(m, "mass", infinite=True)
        _require_invertible(self.m)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"M.form": np.array("diagonal"), "M.diagonal": self.m}

    def __reduce__(self) -> tuple[Any, ...]:
        return DiagonalMass, (self.m,)

    @property
    def dofs(self) -> int:
        return self.m.size

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        return f / (self.m if f.ndim == 1 else self.m[:, None])

    def scale_rows(self, J: sparse.csr_array) -> sparse.csr_array:
        return as_csr(J @ sparse.diags_array(1.0 / self.m), "W")

    def to_sparse(self) -> sparse.csr_array:
        return as_csr(sparse.diags_array(self.m, format="csr"), "M")


def as_mass(value: Any) -> Mass:
    """A mass object as it is, a vector as a diagonal, a matrix as a general M."""
    if isinstance(value, BodyMasses | PlanarMasses | DiagonalMass | SparseMass):
        return value
    if not sparse.issparse(value) and np.ndim(value) == 1:
        return DiagonalMass(value)
    return SparseMass(value)


def _require_invertible(numbers: Vector, name: str = "mass", wanted: str = "mass (or inf)") -> None:
    """Positive, and not so small that 1/m overflows."""
    with np.errstate(divide="ignore", over="ignore"):
        bad = np.flatnonzero(~((numbers > 0) & np.isfinite(1.0 / numbers)))
    if bad.size:
        raise InvalidProblem(f"{name}[{bad[0]}] is {numbers[bad[0]]}; a positive {wanted} is needed")


def _planar_inverse(packed: Vector) -> Vector:
    """M^-1, three numbers a body, from two."""
    return freeze(packed.reshape(-1, 2)[:-1, [0, 0, 1]].reshape(-1))


def _block_diagonal(blocks: NDArray[np.float64]) -> sparse.bsr_array:
    count, size, _ = blocks.shape
    return sparse.bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(count * size, count * size))


def _invert_inertias(inertia: NDArray[np.float64], movable: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Inverses of the 3 x 3 inertias of the bodies that move; each must be symmetric and positive definite."""
    chosen = inertia[movable]
    names = np.flatnonzero(movable)
    skew = np.abs(chosen - chosen.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    asymmetric = np.flatnonzero(skew > 1e-12 * np.abs(chosen).max(axis=(1, 2), initial=0.0))
    if asymmetric.size:
        raise InvalidProblem(f"inertia[{names[asymmetric[0]]}] is not symmetric")
    smallest = np.linalg.eigvalsh(chosen)[:, 0] if len(chosen) else np.empty(0)
    indefinite = np.flatnonzero(~(smallest > 0))
    if indefinite.size:
        k = indefinite[0]
        raise InvalidProblem(f"inertia[{names[k]}] is not positive definite: its least eigenvalue is {smallest[k]:.3g}")
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = np.linalg.inv(chosen)
    broken = np.flatnonzero(~np.isfinite(inverse).all(axis=(1, 2)))
    if broken.size:
        raise InvalidProblem(f"inertia[{names[broken[0]]}] is too small to be inverted")
    return 0.5 * (inverse + inverse.transpose(0, 2, 1))
