"""What the kernels of `cone_interior` share: the cones of a problem, its linear equations, its factor, the iterate.

Every condition is a pair of vectors (z, v) of one second-order cone {head >= |tail|}, with z . v = 0 at a solution:

| condition | head of z | tail of z | head of v | tail of v |
|---|---|---|---|---|
| x >= lower (or x <= upper) | +-(x - bound) | - | +-y | - |
| lower <= x <= upper | (upper - lower) / 2, fixed | x - middle | a multiplier | y |
| friction disc of fixed radius | radius, fixed | x_t | slip speed, a multiplier | y_t |
| Coulomb friction, or one tangent of boxed friction | x_n, followed | x_t | slip speed, a multiplier | y_t |
| convex friction | x_n, its own | x_t | y_n | y_t |

in units in which every coefficient of friction is one (x_n in units of 1 / friction). Coulomb's law is thus two pairs:
x_n with y_n, and x_t with y_t in a cone whose head follows x_n. Nothing acts back on y_n: this tells it from the
convex law. A cone keeps its heads at `slot` and its tails from `tail` on, in arrays with one entry a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]

OWN, FIXED, FOLLOWING = 0, 1, 2
"""Heads: a row of their own, a constant, or the normal impulse of the contact."""


class Cones(NamedTuple):
    """One entry a cone; the cones of a block follow one another, an OWN one first."""

    slot: Integers
    tail: Integers
    count: Integers  # type: ignore[assignment]  # of numbers, not the method of tuples
    """Entries of the tail."""
    mode: Integers
    head: Integers
    """The row of an OWN or FOLLOWING head."""
    sign: Numbers
    """OWN: the head is sign x - offset."""
    offset: Numbers
    """OWN: see above. FIXED: the head itself."""


class Blocks(NamedTuple):
    """Rows that share cones, as those of a contact do; rows that cannot move are in no block."""

    row: Integers
    width: Integers
    cones: Integers
    """Block b has the cones cones[b] to cones[b + 1]; none: an equation."""
    matrix: Integers
    """Where the width x width numbers of block b begin in `Iterate.H`."""
    jacobian: Integers
    """Where the width x size numbers of its rows of J begin."""


class System(NamedTuple):
    """The linear equations: M V = J^T x, y = J V + C x + b in body space; y = A x + b in contact space (no V)."""

    group_blocks: Integers
    """Blocks with the same columns are a group: group_blocks[g] to group_blocks[g + 1]."""
    group_columns: Integers
    """Their columns are columns[group_columns[g] : group_columns[g + 1]], numbered as the factor is."""
    columns: Integers
    group_places: Integers
    places: Integers
    """Where the size x size entries of a group belong among lower and upper numbers of K, row by row."""
    jacobian: Numbers
    base: Numbers
    """Lower and upper numbers of M or A."""
    pointers: Integers
    """M or A by rows, in the order of the factor."""
    indices: Integers
    values: Numbers
    rows: Integers
    """Contact space: the row of each place of the factor's order."""


class Factor(NamedTuple):
    """The plan of a supernodal LU factor, and its memory (`perp.linalg.sparse_lu.LUArrays`)."""

    factor_at: int
    """The address of `supernodal_lu.factor`, or of `factor_symmetric` for a symmetric matrix."""
    solve_at: int
    super_start: Integers
    rows_start: Integers
    rows: Integers
    values_start: Integers
    update_start: Integers
    giver: Integers
    first_row: Integers
    end_row: Integers
    column_start: Integers
    target: Integers
    floor: Numbers
    numbers: Numbers
    """Lower and, after them, upper numbers of K."""
    L: Numbers
    U: Numbers
    position: Integers
    spread: Integers
    product: Numbers
    product_upper: Numbers
    inverse: Numbers
    work: Numbers
    found: Integers


class Pieces(NamedTuple):
    """Addresses of kernels that are called by them (`perp.kernels.by_address`)."""

    factor_path: int
    solve_newton: int
    iterate: int
    linearise: int
    polish: int


class Options(NamedTuple):
    """What `run` is asked to do; `ConeInterior` says more."""

    refinements: int
    accuracy: float
    """What refinement may leave of a step's equations, as a share of each pair."""
    correctors: int
    boundary: float
    lift: float
    """The compliance of rigid rows in the matrix of a step, as a share of A_ii."""
    polishes: bool
    softness: float
    """The compliance of all contacts at the start, as a share of A_ii."""
    most_short: int
    """Short steps in a row that end an attempt."""
    pieces: Pieces


class Iterate(NamedTuple):
    """All that changes."""

    rows: Numbers
    """One line for each name below, one entry a row of the problem."""
    bodies: Numbers
    """One line for each name below, one entry an unknown of the factor."""
    target: Numbers
    """What the product of each cone aims at, in units of tau."""
    H: Numbers
    local: Numbers
    saved: Numbers
    """The last points, one a line: tau, longest step, then x, y, heads of v, V."""
    krylov: Numbers
    """Directions of a refined solve, one a line: dx, J dV, what they do to both equations, dV."""


SAVED = 64
"""How many of them, where paths may fold."""

ROW_LINES = (
    "X", "Y", "ZH", "ZT", "VH", "VT",  # the point; z and v of the cones, heads and tails
    "DX", "DY", "DZH", "DZT", "DVH", "DVT",  # a direction
    "ETA", "GROWTH", "P", "LH", "LT",  # T and lambda (`lorentz`)
    "GH", "GT", "QH", "QT",  # right sides of the cones, and their terms of second order
    "RHS", "RD", "ED", "HX", "JV", "QX",  # g - r_d, r_d; memory of the solves
    "B", "C", "LIFT", "CENTRE", "WEIGHT", "RATIO",
    "KEPT_X", "KEPT_Y", "KEPT_VH", "BEST",
)  # fmt: skip
(
    X, Y, ZH, ZT, VH, VT,
    DX, DY, DZH, DZT, DVH, DVT,
    ETA, GROWTH, P, LH, LT,
    GH, GT, QH, QT,
    RHS, RD, ED, HX, JV, QX,
    B, C, LIFT, CENTRE, WEIGHT, RATIO,
    KEPT_X, KEPT_Y, KEPT_VH, BEST,
) = range(len(ROW_LINES))  # fmt: skip
"""C: compliance. LIFT: what is added to it in the matrix alone. WEIGHT: the mean A_ii of a row's block. RATIO: its
impulse over its speed, by which a polish tells what is small."""

BODY_LINES = ("V", "DV", "RP", "EP", "KEPT_V", "BEST_V", "ROOT")
V, DV, RP, EP, KEPT_V, BEST_V, ROOT = range(len(BODY_LINES))
"""ROOT: 1 / sqrt(M_ii), by which r_p is measured."""
