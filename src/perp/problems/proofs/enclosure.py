"""Enclose a zero of the natural map in a box: Krawczyk's test for a piecewise linear map.

Let c be a point, R a matrix, X = c ± radius a box. Along any line in X the natural map F changes by S (x - x') with a
slope matrix S each of whose rows is a mean of the slopes of the pieces that are active there: A_i, or the unit row e_i,
or e_i ± friction e_n. So x -> x - R F(x), written around c, stays within

    |x - R F(x) - c|  <=  |R F(c)| + |I - R S| radius,

and if the right side is at most `radius`, X is mapped into itself: by Brouwer it holds a fixed point, where F = 0, as R
cannot be singular when |I - R S| radius < radius for all S. For the same reason S is never singular, and there is no
second zero in X (Krawczyk 1969; Alefeld, Chen & Potra 1999 for complementarity problems; Rump 2010, theorem 13.3).

Where every row has one piece in X, S is one matrix, and this is the verified solution of a linear system on the
identified index set. A degenerate row (x_i at a bound and y_i = 0) has two: then |I - R S| is no longer tiny, and the
test succeeds only if the mean of the two slopes is near enough to both.

c is kept in two parts of 53 bits, so that boxes end up as narrow as float64 can tell, and signs of y are decided down
to some 1e-30.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector
from perp.problems.proofs.laws import LOWER, SLACK, UPPER, Mask, Rows, View, look
from perp.problems.rounding import (
    Pair,
    add_down,
    add_up,
    gamma,
    raised,
    times,
    two_sum,
)

MOST_STEPS = 30
FLOOR = 2.0**-900
"""The least radius: far above what underflow loses, so that it never decides."""
ROUNDS = 6
"""Boxes that are tried, each with the pieces that the one before has shown to be possible."""


@dataclass(frozen=True)
class Enclosure:
    """A box that holds a solution."""

    lower: Vector
    upper: Vector
    is_alone: bool
    """Whether it is proved that the box, as it is rounded outwards, holds no second one."""
    degenerate: int
    """Rows that could not be decided: at a bound with y = 0, or too near to that."""


def refine(rows: Rows, x: Vector) -> Pair | None:
    """A zero of the natural map near x in two parts, by Newton's method with residuals of 106 bits; None: broke down.

    Not rigorous: `enclose` judges what comes out.
    """
    point: Pair = (x.copy(), np.zeros(rows.n))
    best, smallest = point, np.inf
    pieces: NDArray[np.intp] | None = None
    inverse = np.empty((0, 0))
    for _ in range(MOST_STEPS):
        view = look(rows, point)
        size = _size(view)
        if not np.isfinite(size):
            break
        if size < smallest:
            best, smallest = point, size
        elif pieces is not None and np.array_equal(pieces, view.piece):
            break  # the residual no longer falls
        if pieces is None or not np.array_equal(pieces, view.piece):
            pieces = view.piece
            found = _inverse(_slopes(rows, view.piece, view.rising))
            if found is None:
                return None
            inverse = found
        point = _minus(rows, view, point, inverse @ view.value[0])
    return best if np.isfinite(smallest) else None


def _size(view: View) -> float:
    return float(np.abs(view.value[0]).max(initial=0.0))


def _minus(rows: Rows, view: View, point: Pair, step: Vector) -> Pair:
    """point - step, exactly at the bound where the piece says so."""
    total, rest = two_sum(point[0], -step)
    total, rest = two_sum(total, rest + point[1])
    for piece, bound in ((LOWER, rows.lower), (UPPER, rows.upper)):
        held = (view.piece == piece) & ~rows.follows
        total[held], rest[held] = bound[held], 0.0
    return total, rest


def _slopes(rows: Rows, piece: NDArray[np.intp], rising: Mask) -> Matrix:
    """The slope matrix of one piece a row."""
    slopes = np.where((piece == SLACK)[:, None], rows.A, np.eye(rows.n))
    sides = np.where(piece == LOWER, 1.0, -1.0) * rows.factor
    sliding = np.flatnonzero(rows.follows & (piece != SLACK) & rising)
    slopes[sliding, rows.partner[sliding]] = sides[sliding]
    return slopes


def _inverse(matrix: Matrix) -> Matrix | None:
    try:
        inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return inverse if np.isfinite(inverse).all() else None


def enclose(rows: Rows, centre: Pair) -> Enclosure | str:
    """A box around `centre` that is proved to hold a solution, or why there is none."""
    view = look(rows, centre)
    found = _test(rows, view)
    radius = np.zeros(rows.n)
    for _ in range(ROUNDS):
        if isinstance(found, str):
            return found
        if (found <= radius).all():  # `view` is that of c ± radius, so it holds for c ± found
            lower, upper = _as_box(rows, view, centre, found)
            # Rounded outwards, the box may reach another solution: the slopes must be those of all of it.
            reach = np.maximum(_above(centre, lower), _above((-centre[0], -centre[1]), -upper))
            is_alone = not isinstance(_test_again(rows, view, look(rows, centre, reach), found), str)
            return Enclosure(lower, upper, is_alone, _count_open(view))
        radius = np.maximum(found if not radius.any() else 2.0 * found, radius)
        wider = look(rows, centre, radius)
        view, found = wider, _test_again(rows, view, wider, found)
    return "no box was found in which the pieces of the rows stay the same"


def _test_again(rows: Rows, view: View, wider: View, found: Vector) -> Vector | str:
    """The test for another view from the same point; what was found for the first stands if the pieces are the same."""
    pairs = ((view.possible, wider.possible), (view.rising, wider.rising), (view.flat, wider.flat))
    same = all(np.array_equal(before, after) for before, after in pairs)
    return found if same else _test(rows, wider)


def _test(rows: Rows, view: View) -> Vector | str:
    """A radius that |R F(c)| + |I - R S| radius does not exceed, for the slopes S of a view; or why there is none.

    If there is one, then no S is singular.
    """
    middle, spread = _hull(rows, view)
    inverse = _inverse(middle)
    if inverse is None:
        return "the equations of the index set are singular, or too nearly so for float64"
    grown = _grow(_contraction(inverse, middle, spread), _first_step(inverse, view))
    if grown is not None:
        return grown
    several = _count_open(view)
    if several:
        return f"{several} rows cannot be told to be at a bound or off it, and the test fails for both at once"
    return "the equations of the index set are too ill-conditioned for float64"


def _count_open(view: View) -> int:
    """Rows with more than one piece."""
    return int((view.possible.sum(axis=1) > 1).sum())


def _above(point: Pair, lower: Vector) -> Vector:
    """An upper bound of point - lower."""
    return np.maximum(add_up(add_up(point[0], -lower), point[1]), 0.0)


def _hull(rows: Rows, view: View) -> tuple[Matrix, Matrix | None]:
    """A middle slope matrix, and how far other slopes in the box are from it at most (None: there are no others)."""
    middle = _slopes(rows, view.piece, view.rising)
    several = view.possible.sum(axis=1) > 1
    moving = rows.follows & view.possible[:, LOWER:].any(axis=1) & view.rising & view.flat
    places = np.flatnonzero(several | moving)
    if not places.size:
        return middle, None
    spread = np.zeros((rows.n, rows.n))
    for i in places:
        options = []
        if view.possible[i, SLACK]:
            options.append(rows.A[i])
        for piece, side in ((LOWER, 1.0), (UPPER, -1.0)):
            for opening in (side * rows.factor[i], 0.0) if rows.follows[i] else (0.0,):
                if view.possible[i, piece] and (view.rising[i] if opening else view.flat[i] or not rows.follows[i]):
                    unit = np.zeros(rows.n)
                    unit[i] = 1.0
                    if opening:
                        unit[rows.partner[i]] = opening
                    options.append(unit)
        middle[i] = sum(options) / len(options)
        spread[i] = raised(np.abs(np.array(options) - middle[i]).max(axis=0), 2)
    return middle, spread


def _first_step(inverse: Matrix, view: View) -> Vector:
    """A bound of |R F(c)|."""
    n = view.error.size
    value = view.value[0] + view.value[1]
    step = np.abs(inverse @ value) + raised(gamma(n + 4) * (np.abs(inverse) @ np.abs(value)), n)
    return np.maximum(raised(step + times(np.abs(inverse), view.error), 4), FLOOR)


def _contraction(inverse: Matrix, middle: Matrix, spread: Matrix | None) -> Matrix:
    """A bound of |I - R S| for all S = middle ± spread."""
    n = middle.shape[0]
    size = np.abs(inverse)
    away = np.abs(np.eye(n) - inverse @ middle) + raised(gamma(n + 4) * (size @ np.abs(middle)), n)
    if spread is not None:
        away += raised(size @ spread, n)
    return raised(away, 4)


def _grow(contraction: Matrix, start: Vector) -> Vector | None:
    """A radius with start + contraction radius <= radius; None: none found.

    `start` has no zero in it, so that contraction radius < radius follows.
    """
    radius: Vector = 2.0 * start
    if _holds(contraction, start, radius):
        return radius
    try:
        radius = np.asarray(np.linalg.solve(np.eye(start.size) - contraction, 1.1 * start), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return radius if _holds(contraction, start, radius) else None


def _holds(contraction: Matrix, start: Vector, radius: Vector) -> bool:
    if not (np.isfinite(radius) & (radius > 0.0)).all():
        return False
    return bool((raised(start + times(contraction, radius), 2) <= radius).all())


def _as_box(rows: Rows, view: View, centre: Pair, radius: Vector) -> tuple[Vector, Vector]:
    """centre ± radius, rounded outwards and cut by the bounds, within which every solution lies."""
    low = add_down(centre[0], add_down(centre[1], -radius))
    high = add_up(centre[0], add_up(centre[1], radius))
    steady = ~rows.follows
    low[steady] = np.maximum(low, rows.lower)[steady]
    high[steady] = np.minimum(high, rows.upper)[steady]
    for piece, bound in ((LOWER, rows.lower), (UPPER, rows.upper)):
        held = view.possible[:, piece] & (view.possible.sum(axis=1) == 1) & steady  # the only piece: x_i is the bound
        low[held] = high[held] = bound[held]
    limit = np.nextafter(rows.factor * np.maximum(high[rows.partner], 0.0), np.inf)  # |x_t| <= friction x_n
    limit = np.where(high[rows.partner] > 0.0, limit, 0.0)
    low = np.where(steady, low, np.maximum(low, -limit))
    high = np.where(steady, high, np.minimum(high, limit))
    return low, high
