"""The pressure problem: the linear system of NOTES eq. 30-32, or the complementarity problem of eq. 29 and 33-35.

Velocities after the body force, u*, become u = u* - dt / rho grad p. What then leaves cell c during the step, through
faces of open share F_f (`vessel.py`), is, as a share of the cell's volume,

    y_c = dt / h sum over faces of F_f u_f (outward)    =    (A x + b)_c

with b the same sum of u*, the dimensionless pressure x = p dt^2 / (rho h^2), and so A the Laplacian with 2d in the
middle and -1 beside it, where everything is liquid and open:

    A_cc = sum of F_f (neighbour liquid) + sum of F_f / theta_f (neighbour air),      A_cn = -F_f.

At a free surface p = 0, at the place where the distance to it, linear between the middles of two cells, is zero: a
share theta = level_c / (level_c - level_n) of the way to the air cell, whose ghost pressure is x_c (1 - 1 / theta)
(Gibou, Fedkiw, Cheng & Kang 2002; Enright, Nguyen, Gibou & Fedkiw 2003). A is symmetric, and exact where p is linear.

theta is at least `LEAST_SHARE`. Where the surface is nearer, the pressure vanishes up to a hundredth of a cell too far
away: a pressure error of rho g h / 100 there, and an acceleration of up to g / 100 that should not be.

Energy. Let M = F for faces within liquid and F theta at the surface, the share of the box around the face that liquid
is in, and D the sums above, y = dt / h D u. Then A = D M^-1 D^T and u = u* + h / dt M^-1 D^T x: x is the multiplier of
y = 0 (or y >= 0) for the u that is nearest to u* in the norm of M. Such u are a convex cone, so that kinetic energy in
that norm never grows.

`separation`:
    "none"        y = 0 in all liquid cells; pressures may be negative, and hold liquid at walls and ceilings
    "walls"       0 <= x  ⊥  y >= 0 in cells with a face that is not wholly open, y = 0 elsewhere (NOTES eq. 29)
    "everywhere"  0 <= x  ⊥  y >= 0 in all liquid cells (NOTES eq. 35): liquid cannot be pulled at all

Closed parts. From some liquid no way leads to air: a full vessel. The rows of such a part sum to zero, A is singular
there, and its b sums to zero up to rounding, as every face has two cells; so no cell of it can separate. Its cells are
free, and 1 is added to the diagonal entry of one of them: all rows then sum to that cell's x, which is therefore zero
up to rounding, and the pressures of the others are relative to it. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem, suggest
from perp.kernels.fluid import pressure as fluid_pressure
from perp.problems.box import BoxLCP
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.operators import SparseOperator, StencilOperator
from perp.worlds.fluid.vessel import StaggeredGrid

SEPARATIONS = ("none", "walls", "everywhere")
FORMS = ("stencil", "sparse")
LEAST_SHARE = 0.01

Flags = NDArray[np.uint8]
Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, eq=False)
class PressureProblem:
    """A problem, and the cells that its unknowns belong to."""

    grid: StaggeredGrid
    fractions: tuple[Vector, ...]
    level: Vector
    """Distance to the free surface [cells]."""
    liquid: Flags
    problem: BoxLCP | LCP
    dt: float
    cells: NDArray[np.int64] | None
    """The cell of each unknown; None where every cell has one."""

    def on_cells(self, of_unknowns: NDArray[Kind]) -> NDArray[Kind]:
        """One number a cell from one an unknown; 0 in cells that have none."""
        if self.cells is None:
            return of_unknowns.copy()
        whole = np.zeros(self.grid.size, dtype=of_unknowns.dtype)
        whole[self.cells] = of_unknowns
        return whole

    def of_unknowns(self, on_cells: NDArray[Kind]) -> NDArray[Kind]:
        """One number an unknown from one a cell."""
        return on_cells.copy() if self.cells is None else on_cells[self.cells]

    def separating(self, x: Vector, y: Vector) -> NDArray[np.bool_]:
        """Which cells let go: the pressure is at its bound, zero, and more flows out than in.

        Of x >= 0 and y >= 0 one is zero; some methods leave both positive, and the smaller one is the zero then.
        """
        lower, _ = self.problem.bounds(x)
        loose: NDArray[np.bool_] = self.on_cells((x - lower < y) & (y > 0.0)) & (self.liquid != 0)
        return loose

    def drop(self, axis: int, x: Vector, attached: Flags, weight: Vector, velocity: Vector, known: Flags) -> None:
        """Velocities across an axis with the pressure x (of cells); `known` becomes where they are true ones.

        That is at faces of liquid, and where there is spray: particles (`weight`) in cells that are not `attached`.
        """
        fluid_pressure.drop_pressure(
            self.grid.kernel_axis(axis),
            self.grid.shape,
            self.fractions[axis],
            self.level,
            self.liquid,
            attached,
            x,
            self.grid.spacing / self.dt,
            LEAST_SHARE,
            weight,
            velocity,
            known,
        )


def make_pressure_problem(
    grid: StaggeredGrid,
    fractions: tuple[Vector, ...],
    level: Vector,
    liquid: Flags,
    velocity: Sequence[Vector],
    dt: float,
    *,
    separation: str = "walls",
    form: str = "stencil",
    wanted: Vector | None = None,
) -> PressureProblem:
    """The problem for velocities u* across each axis; `level` is not negative where a cell is not `liquid`.

    `wanted` is what shall leave each cell, as a share of its volume, where the part that it lies in has a free surface:
    0 in an incompressible liquid, more where too many particles have come together.
    """
    require_choice(separation, "separation", SEPARATIONS)
    require_choice(form, "form", FORMS)
    n = grid.size
    diagonal, b, walls = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.uint8)
    strides = [int(np.prod(grid.cells[axis + 1 :], dtype=np.int64)) for axis in range(grid.dimension)]
    couplings = [np.zeros(n + stride) for stride in strides]
    for axis in range(grid.dimension):
        fluid_pressure.couple_cells(
            grid.kernel_axis(axis),
            grid.shape,
            fractions[axis],
            velocity[axis],
            level,
            liquid,
            dt / grid.spacing,
            LEAST_SHARE,
            diagonal,
            couplings[axis],
            b,
            walls,
        )
    closed, pins = _closed_parts(grid, fractions, liquid)
    diagonal[pins] += 1.0
    if wanted is not None:
        b -= np.where(closed, 0.0, wanted)
    wet = liquid != 0
    bounded = {"none": np.zeros(n, dtype=bool), "walls": walls != 0, "everywhere": wet}[separation] & ~closed
    lower = np.where(bounded, 0.0, -np.inf)
    if form == "sparse":
        matrix, cells = _rows(grid, diagonal, couplings, liquid)
        problem = _sparse_problem(matrix, b[cells], lower[cells])
        return PressureProblem(grid, fractions, level, liquid, problem, dt, cells)
    diagonal[~wet] = 1.0
    lower[~wet] = 0.0
    A = StencilOperator.from_faces(grid.cells, diagonal, couplings)
    problem = BoxLCP(A, b, lower, np.where(wet, np.inf, 0.0))
    return PressureProblem(grid, fractions, level, liquid, problem, dt, None)


def require_choice(word: str, name: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise InvalidProblem(f"{name} is {word!r}{suggest(str(word), known)}")


def for_kernels(grid: StaggeredGrid, arrays: Sequence[Vector]) -> tuple[Vector, ...]:
    """One array for each of three axes; in the plane the first has one number, which is never read."""
    nothing = np.zeros(1)
    nothing.flags.writeable = arrays[0].flags.writeable
    return (nothing,) * (3 - grid.dimension) + tuple(arrays)


def _closed_parts(
    grid: StaggeredGrid, fractions: tuple[Vector, ...], liquid: Flags
) -> tuple[NDArray[np.bool_], NDArray[np.uint32]]:
    """Which cells belong to parts of the liquid that do not touch air, and the first cell of each such part."""
    n = grid.size
    closed, pins, queue = np.zeros(n, dtype=np.uint8), np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint32)
    three = for_kernels(grid, fractions)
    count = fluid_pressure.find_closed_parts(grid.shape, *three, liquid, closed, pins, queue)
    return closed != 0, pins[: int(count)]


def _rows(
    grid: StaggeredGrid, diagonal: Vector, couplings: list[Vector], liquid: Flags
) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    cells = np.flatnonzero(liquid)
    most = cells.size * (2 * grid.dimension + 1)
    number = np.empty(grid.size, dtype=np.uint32)
    pointers, columns = np.empty(cells.size + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
    values = np.empty(most)
    three = for_kernels(grid, couplings)
    count = int(fluid_pressure.write_rows(grid.shape, diagonal, *three, liquid, number, pointers, columns, values))
    return sparse.csr_array((values[:count], columns[:count], pointers), shape=(cells.size, cells.size)), cells


def _sparse_problem(matrix: sparse.csr_array, b: Vector, lower: Vector) -> BoxLCP | LCP:
    A = SparseOperator(matrix)
    return LCP(A, b) if (lower == 0.0).all() else BoxLCP(A, b, lower, np.inf)
