"""The mass matrix M of a factored operator, and its inverse applied.

Three forms: rigid bodies (a mass and a 3 x 3 inertia each), a diagonal, or any sparse symmetric positive definite
matrix (joint-space inertia, finite elements). All offer `dofs`, `solve(f) = M^-1 f` for a vector or a matrix of
columns, and `scale_rows(J) = J M^-1`.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.inputs import Vector, as_block_stack, as_vector, freeze
from perp.problems.operators.sparse import as_csr
from perp.problems.operators.sparse_lu import factor_sparse

COLUMNS_AT_ONCE = 256
"""How many columns of M^-1 J^T are solved for together when M is a general matrix."""


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

    def to_sparse(self) -> sparse.csr_array:
        """M itself; infinite masses cannot be written down and raise."""
        ...


class BodyMasses:
    """Rigid bodies: velocities are (vx, vy, vz, wx, wy, wz) a body, in the order of the bodies.

    `mass` [kg] has one entry a body, `inertia` [kg m^2] one 3 x 3 matrix a body, in the frame of the velocities.
    A body that cannot move has `mass = inf`; its inertia is then ignored.
    """

    def __init__(self, mass: Any, inertia: Any) -> None:
        self.mass = as_vector(mass, "mass", infinite=True)
        bodies = self.mass.size
        _require_invertible(self.mass)
        movable = np.isfinite(self.mass)
        given = np.array(inertia, dtype=np.float64)
        if given.shape == (bodies, 3, 3):
            given[~movable] = np.eye(3)  # whatever stands there is ignored
        self.inertia = as_block_stack(given, "inertia", (bodies, 3, 3))
        inverse = np.zeros((bodies, 6, 6))
        inverse[movable, :3, :3] = np.eye(3) / self.mass[movable, None, None]
        inverse[movable, 3:, 3:] = _invert_inertias(self.inertia, movable)
        self.inverse_blocks: NDArray[np.float64] = freeze(inverse)

    def __reduce__(self) -> tuple[Any, ...]:
        return BodyMasses, (self.mass, self.inertia)

    @property
    def dofs(self) -> int:
        return 6 * self.mass.size

    def solve(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = f.reshape(self.mass.size, 6, f.shape[1] if f.ndim == 2 else 1)
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
        packed = np.zeros((self.mass.size + 1, 8))
        spin = self.inverse_blocks[:, 3:, 3:]
        packed[:-1, 0] = self.inverse_blocks[:, 0, 0]
        packed[:-1, 1:4] = spin.diagonal(axis1=1, axis2=2)
        packed[:-1, 4], packed[:-1, 5], packed[:-1, 6] = spin[:, 0, 1], spin[:, 0, 2], spin[:, 1, 2]
        flat: Vector = freeze(packed.reshape(-1))
        return flat


class DiagonalMass:
    """M = diag(m), every entry positive; inf for a velocity that cannot change."""

    def __init__(self, m: Any) -> None:
        self.m = as_vector(m, "mass", infinite=True)
        _require_invertible(self.m)

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


class SparseMass:
    """Any symmetric positive definite M, factored once by SuperLU with diagonal pivots.

    With diagonal pivots M = L U has L^T = D^-1 U, so that M is positive definite exactly when every pivot is positive.
    """

    def __init__(self, M: Any) -> None:
        self.matrix = as_csr(M, "M")
        rows, columns = self.matrix.shape
        if rows != columns:
            raise InvalidProblem(f"M has shape {self.matrix.shape}; a square matrix is needed")
        largest = np.abs(self.matrix.data).max(initial=0.0)
        skew = np.abs((self.matrix - self.matrix.T).data).max(initial=0.0)
        if skew > 1e-12 * largest:
            raise InvalidProblem(f"M is not symmetric: max |M - M^T| = {skew:.2e}, max |M| = {largest:.2e}")
        try:
            self.factor = factor_sparse(
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


def as_mass(value: Any) -> Mass:
    """A mass object as it is, a vector as a diagonal, a matrix as a general M."""
    if isinstance(value, BodyMasses | DiagonalMass | SparseMass):
        return value
    if not sparse.issparse(value) and np.ndim(value) == 1:
        return DiagonalMass(value)
    return SparseMass(value)


def _require_invertible(mass: Vector) -> None:
    """Positive, and not so small that 1/m overflows."""
    with np.errstate(divide="ignore", over="ignore"):
        bad = np.flatnonzero(~((mass > 0) & np.isfinite(1.0 / mass)))
    if bad.size:
        raise InvalidProblem(f"mass[{bad[0]}] is {mass[bad[0]]}; a positive mass (or inf) is needed")


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
