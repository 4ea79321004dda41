"""The natural map as a piecewise linear map: which pieces a row has, and which of them can be active in a box.

Row i of the natural map is the middle one of three functions,

    F_i(x) = mid(x_i - upper_i(x),  y_i,  x_i - lower_i(x)),      y = A x + b,

whose zeros are the solutions. The bounds are numbers, or, for a tangent of a contact with box friction (in a plane:
with any cone), -+friction max(x_n, 0), where n is the normal row of the contact. Rows may be multiplied by powers of
two, which is exact and moves no zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.rounding import Pair, affine, gamma, raised, times, two_product, two_sum

SLACK, LOWER, UPPER = 0, 1, 2
"""The pieces: y_i, x_i - lower_i, x_i - upper_i."""

WEAK_DIAGONAL = 2.0**-20
"""A diagonal entry below this share of its row's largest does not set the scale of the row."""

Mask = NDArray[np.bool_]
Numbers = tuple[Vector, Vector, Vector]
"""High part, low part, and what their sum is wrong by at most."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A problem as rows with pieces."""

    A: Matrix
    b: Vector
    lower: Vector
    """The bound where it is a number; ±0 for tangents, whose bounds follow a normal."""
    upper: Vector
    factor: Vector
    """The coefficient of friction of a tangent; 0 for other rows."""
    partner: NDArray[np.intp]
    """The normal row that the bounds of a tangent follow; the row itself for other rows."""

    @property
    def n(self) -> int:
        return self.b.size

    @cached_property
    def follows(self) -> Mask:
        """Rows whose bounds move with a normal."""
        return np.asarray(self.factor != 0.0)

    @cached_property
    def fixed(self) -> Mask:
        """Rows with one value left."""
        return np.asarray((self.lower == self.upper) & ~self.follows)

    @cached_property
    def sizes(self) -> Matrix:
        return np.abs(self.A)


@dataclass(frozen=True, eq=False)
class View:
    """The natural map at a point, and the pieces that can be active within a box around it."""

    value: Pair
    error: Vector
    piece: NDArray[np.intp]
    """The active piece at the point."""
    possible: Mask
    """n x 3: which pieces may be active somewhere in the box."""
    rising: Mask
    """Where x of the partner may be positive in the box, so that the bounds of a tangent open with it."""
    flat: Mask
    """Where it may be negative, so that they are zero."""


def rows_of(problem: Problem) -> Rows | str:
    """The rows of a problem that the methods here can treat, or why they cannot."""
    if TO_SPARSE not in problem.A.ability_set:
        return f"the numbers of A are needed, and a {problem.A.form} operator has none"
    n = problem.n
    factor, partner = np.zeros(n), np.arange(n)
    contacts = problem.frictional
    if contacts is not None and (contacts.model == "convex" or contacts.has_discs):
        return f"the law of a '{contacts.kind}' problem is not piecewise linear, and only such laws can be treated"
    if contacts is not None and contacts.model != "disc":
        for tangent in range(1, contacts.dimension):
            own = contacts.friction[:, tangent - 1] if contacts.is_wide else contacts.friction
            factor[contacts.every(tangent)] = own
            partner[contacts.every(tangent)] = contacts.normal_rows
    lower, upper = problem.bounds(np.zeros(n))
    return Rows(problem.A.to_dense(), problem.b, lower, upper, factor, partner)


def equilibrated(rows: Rows) -> Rows:
    """Each row brought near 1 by a power of two, wherever that rounds nothing."""
    largest, diagonal = rows.sizes.max(axis=1, initial=0.0), np.abs(rows.A.diagonal())
    size = np.where(diagonal > WEAK_DIAGONAL * largest, diagonal, largest)
    return scaled(rows, 1 - np.frexp(np.where(size == 0.0, 1.0, size))[1])


def scaled(rows: Rows, exponent: NDArray[np.intc]) -> Rows:
    """Each row of A and b times 2^exponent, wherever that rounds nothing; the solutions stay."""
    A, b, exponent = rows.A, rows.b, np.clip(exponent, -1021, 1021)
    matrix, right = np.ldexp(A, exponent[:, None]), np.ldexp(b, exponent)
    exact = (np.ldexp(matrix, -exponent[:, None]) == A).all(axis=1) & (np.ldexp(right, -exponent) == b)
    exact &= np.isfinite(matrix).all(axis=1) & np.isfinite(right)
    return replace(rows, A=np.where(exact[:, None], matrix, A), b=np.where(exact, right, b))


def look(rows: Rows, x: Pair, radius: Vector | None = None) -> View:
    """The natural map at the point x, and which pieces can be active in the box x ± radius (or at the point alone)."""
    slack, low, high = affine(rows.A, x, rows.b), _distance(rows, x, 1.0), _distance(rows, x, -1.0)
    piece = np.where(_exceeds(slack, low) | rows.fixed, LOWER, np.where(_exceeds(high, slack), UPPER, SLACK))
    parts = [np.stack(part, axis=1) for part in zip(slack, low, high, strict=True)]
    first, second = (np.take_along_axis(part, piece[:, None], axis=1)[:, 0] for part in parts[:2])
    possible = _possible(rows, slack, low, high, np.zeros(rows.n))
    # The middle one of three numbers moves no further than the one that moves most
    # (of those that can be the middle one).
    error = np.where(possible, parts[2], 0.0).max(axis=1, initial=0.0)
    spread = np.zeros(rows.n)
    if radius is not None:
        possible = _possible(rows, slack, low, high, _reach(rows, radius))
        spread = raised(radius + np.abs(x[1]), 2)
    normal = x[0][rows.partner]  # has the sign of the sum of both parts
    spread = spread[rows.partner]
    return View((first, second), error, piece, possible, normal + spread > 0.0, normal - spread < 0.0)


def _reach(rows: Rows, radius: Vector) -> Vector:
    """By how much the difference of two pieces can change within the box."""
    return raised(times(rows.sizes, radius) + radius + rows.factor * radius[rows.partner], 4)


def _possible(rows: Rows, slack: Numbers, low: Numbers, high: Numbers, reach: Vector) -> Mask:
    over, under = _excess(slack, low, reach), _excess(high, slack, reach)
    possible = np.empty((rows.n, 3), dtype=np.bool_)
    possible[:, SLACK] = (over <= 0.0) & (under <= 0.0) & ~rows.fixed
    possible[:, LOWER] = (over >= 0.0) | rows.fixed
    possible[:, UPPER] = (under >= 0.0) & ~rows.fixed
    return possible


def _distance(rows: Rows, x: Pair, side: float) -> Numbers:
    """x - lower (side = 1) or x - upper (side = -1); ±inf where there is no bound."""
    bound = rows.lower if side > 0.0 else rows.upper
    finite = np.isfinite(bound)
    opening = np.where(x[0][rows.partner] > 0.0, side * rows.factor, 0.0)
    shift, shift_error = two_product(opening, x[0][rows.partner])
    shift = np.where(rows.follows, shift, np.where(finite, -bound, 0.0))
    total, rest = two_sum(x[0], shift)
    second = opening * x[1][rows.partner]
    low = ((rest + x[1]) + shift_error) + second
    size = np.abs(rest) + np.abs(x[1]) + np.abs(shift_error) + np.abs(second)
    total, low = two_sum(total, low)
    error = raised(gamma(8) * size, 8) if rows.follows.any() else gamma(8) * size
    missing = np.where(finite, 0.0, side * np.inf)
    return total + missing, np.where(finite, low, 0.0), np.where(finite, error, 0.0)


def _exceeds(a: Numbers, b: Numbers) -> Mask:
    """a > b, of normalised pairs, without regard to their errors."""
    return np.asarray((a[0] > b[0]) | ((a[0] == b[0]) & (a[1] > b[1])))


def _excess(a: Numbers, b: Numbers, reach: Vector) -> Vector:
    """1 where surely a > b, -1 where surely a < b, else 0, if both may move by their errors, and their difference by
    `reach`."""
    finite = np.isfinite(a[0]) & np.isfinite(b[0])
    total, rest = two_sum(np.where(finite, a[0], 0.0), np.where(finite, -b[0], 0.0))
    difference = total + (rest + (a[1] - b[1]))
    margin = np.abs(rest) + np.abs(a[1]) + np.abs(b[1])
    margin = raised(gamma(8) * (margin + np.abs(total)), 8) + a[2] + b[2] + reach
    sure = np.where(np.abs(difference) > raised(margin, 4), np.sign(difference), 0.0)
    # two equal numbers without error: neither exceeds the other, which the sign 0 says as well
    return np.where(finite, sure, np.where(a[0] > b[0], 1.0, -1.0))


def natural_bound(rows: Rows, x: Vector) -> Vector:
    """An upper bound of |F_i(x)|, rounding included."""
    view = look(rows, (x, np.zeros(rows.n)))
    return np.asarray(raised(np.abs(view.value[0]) + np.abs(view.value[1]) + view.error, 2))
