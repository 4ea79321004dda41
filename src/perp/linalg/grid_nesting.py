"""Nested grids: from a problem on a stencil the one on half as many cells along each axis, and its answer back again.

The answer of the coarser problem is where a method on the finer one may begin; nothing else is asked of it. A cell of
the coarse grid is made of two cells of the fine one along each axis (the last of an odd number of one). With y summed
up over the cells c of a coarse cell C, and x the same in all of them, its equation is

    y_C = sum of y_c = sum of b_c + sum over faces of w_CD (x_D - x_C) + leak_C x_C,

where w_CD are the couplings across that face, added up and halved, since the centres of the cells are twice as far
apart. The leak is what the rows of A add up to: walls leave none, a free surface or a rim with known x leaves one. It
stays as it is: b may hold what that x adds, which halving it would spoil; so the coarse grid takes such a rim to be
nearer than it is, by half a cell at most. Bounds are the mean of those that are finite. Cells whose x is fixed (solid,
air) are no part of it, but for what their x adds to b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.grid import nesting as kernels
from perp.linalg.preconditioners.incomplete_factor import MOST_AXES, line_couplings
from perp.problems.box import BoxLCP
from perp.problems.inputs import Vector
from perp.problems.lcp import LCP
from perp.problems.operators import StencilOperator
from perp.problems.problem import Problem

FEWEST_CELLS = 64
"""A grid of no more cells than this is solved as it is."""


@dataclass(frozen=True)
class Nesting:
    """A coarser problem, and how an answer to it becomes a start for the finer one."""

    fine: Problem
    coarse: LCP | BoxLCP
    live: NDArray[np.bool_]
    """The cells of the coarse grid that have an unknown in them."""

    def interpolate(self, x: Vector) -> Vector:
        """x of the fine grid from that of the coarse one: linear between centres of cells, projected on the bounds."""
        fine = np.empty(self.fine.n)
        sizes, coarse_sizes = _three_sizes(self.fine), _three_sizes(self.coarse)
        given, work = np.array(x, dtype=np.float64), np.empty((4, int(sizes[-1]) + 1))
        kernels.interpolate(*sizes, *coarse_sizes[1:], given, self.live, *_bounds(self.fine), fine, work)
        return fine


def can_coarsen(problem: Problem) -> bool:
    """Whether there is a coarser grid: A is a stencil without positive couplings, and has enough cells."""
    A = problem.A.stencil
    if problem.kind not in ("lcp", "box") or A is None or len(A.grid) > MOST_AXES:
        return False
    return A.n > FEWEST_CELLS and not A.has_positive_coupling()


def coarsen(problem: Problem) -> Nesting:
    """The next coarser problem; ask `can_coarsen` first."""
    A = problem.A.stencil
    assert A is not None
    shape = tuple((size + 1) // 2 for size in A.grid)
    cells = int(np.prod(shape))
    _, cy, cz = (np.uint64(size) for size in (1,) * (MOST_AXES - len(shape)) + shape)
    faces = [np.zeros(cells + int(stride)) for stride in (cy * cz, cz, 1)]
    diagonal, right = np.zeros((2, cells))
    bounded, lower, upper = _bounds(problem)
    low, high, live, low_count, high_count = np.zeros((5, cells if bounded else 0))
    kernels.add_up(
        *line_couplings(A), A.centre, problem.b, bounded, lower, upper,
        cy, cz, *faces, diagonal, right, low, high, live, low_count, high_count, np.empty((6, A.grid[-1])),
    )  # fmt: skip
    couplings = []
    for axis, flat in enumerate(faces[MOST_AXES - len(shape) :]):
        ahead = (slice(None),) * axis + (slice(1, None),)
        couplings.append(flat[:cells].reshape(shape)[ahead])
    operator = StencilOperator(shape, diagonal.reshape(shape), couplings)
    if not bounded:
        return Nesting(problem, LCP(operator, right), np.ones(cells, dtype=np.bool_))
    return Nesting(problem, BoxLCP(operator, right, low, high), live > 0.0)


def _bounds(problem: Problem) -> tuple[Any, ...]:
    """Whether the kernels must read bounds, and what they read."""
    return (False, problem.b, problem.b) if problem.kind == "lcp" else (True, *problem.bounds(problem.b))


def _three_sizes(problem: Problem) -> tuple[Any, ...]:
    assert problem.A.stencil is not None
    grid = problem.A.stencil.grid
    return tuple(np.uint64(size) for size in (1,) * (MOST_AXES - len(grid)) + grid)
