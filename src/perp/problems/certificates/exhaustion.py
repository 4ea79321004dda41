"""Proof by exhaustion: every index set of a small problem refuted, with no rounding error unaccounted for.

A solution has each row at its lower bound (y_i >= 0), at its upper one (y_i <= 0) or free (y_i = 0): 2^n index sets
for an LCP, up to 3^n for boxes. For each, A_FF x_F = -b_F - A_FT x_T either has no solution, or one that breaks a sign,
or a whole affine space of them, whose intersection with the signs is decided by an exact linear program. Most sets are
refuted in floating point with bounded errors (`list_doubtful`), the others in rational numbers, which floats are, so
that nothing is rounded.

This proves that there is no solution also where some x within its bounds has an admissible slack, so that no separating
vector exists, as for [[2, 1], [1, -1]], b = (2, -2). The list of refutations is not stored: `verify_certificate` makes
it again, from A, b and the bounds alone. It may be that of a few rows of a large problem if these are coupled with no
others: A_ij = 0 for i in them and j not.

The exact program (`is_possible`) asks for an x with E x = e and C x >= c. The equations are eliminated first. What is
left has few unknowns, mostly none: then only signs are looked at. One unknown is an interval; several are a linear
program, by the simplex method with Bland's rule, which never cycles (Bland 1977).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.certificates.certificate import PROVABLE, Certificate
from perp.problems.exact_elimination import echelon, whole_row
from perp.problems.inputs import Matrix, Vector, freeze
from perp.problems.problem import Problem

MOST_ROWS, MOST_SETS = 14, 2**13
PORTION = 1024
FREE, LOWER, UPPER = 0, -1, 1
ABOVE = 1.0 + 2.0**-40
"""Sums of numbers >= 0 are off by far less than this factor."""
GOOD = 0.5
"""I - R C must be smaller than this for the bound to be of use."""

Row = list[Fraction]
Equations = list[tuple[Row, Fraction]]
Conditions = list[tuple[Row, Fraction]]


@dataclass(frozen=True)
class ExactProblem:
    """A few rows of a problem in rational numbers; None stands for an infinite bound."""

    A: list[list[Fraction]]
    b: list[Fraction]
    lower: list[Fraction | None]
    upper: list[Fraction | None]

    @property
    def sides(self) -> list[tuple[int, ...]]:
        """Where each row can be. A fixed row is at its lower bound, and its slack is anything."""
        return [
            (LOWER,) if low == high and low is not None else
            (*(side for side, bound in ((LOWER, low), (UPPER, high)) if bound is not None), FREE)
            for low, high in zip(self.lower, self.upper, strict=True)
        ]  # fmt: skip

    def as_floats(self) -> tuple[Matrix, Vector, Vector, Vector]:
        """A, b, lower and upper: these numbers were floats, so nothing is lost."""
        low, high = (
            np.array([infinite if bound is None else float(bound) for bound in bounds])
            for bounds, infinite in ((self.lower, -np.inf), (self.upper, np.inf))
        )
        return np.array(self.A, dtype=np.float64), np.array(self.b, dtype=np.float64), low, high


def prove_by_exhaustion(
    problem: Problem, rows: Sequence[int] | NDArray[np.integer[Any]] | None = None, *, max_seconds: float | None = None
) -> Certificate:
    """The verdict on "every index set of these rows (default: all) is refuted", for at most 14 rows and 2^13 sets.

    A time limit that is reached, or too many sets, make it invalid, and so does a solution, which the reason names.
    """
    if problem.kind not in PROVABLE:
        raise InvalidProblem(f"exhaustion is for 'lcp' and 'box' problems, and this one is '{problem.kind}'")
    chosen = tuple(range(problem.n)) if rows is None or not len(rows) else tuple(sorted(int(i) for i in rows))

    def verdict(reason: str, *, valid: bool = False) -> Certificate:
        return Certificate(freeze(np.zeros(problem.n)), np.inf, valid, reason, "exhausted", chosen)

    if not chosen:
        return verdict("there are no rows")
    if len(chosen) > MOST_ROWS:
        return verdict(f"{len(chosen)} rows are too many to look at all their index sets")
    exact, coupled = _take_rows(problem, chosen)
    if coupled is not None:
        return verdict(f"row {coupled[0]} is coupled with row {coupled[1]}, which is not among those looked at")
    count = prod(len(sides) for sides in exact.sides)
    if count > MOST_SETS:
        return verdict(f"{count} index sets are too many to look at all of them")
    end = np.inf if max_seconds is None else perf_counter() + max_seconds
    all_sides = np.array(list(product(*exact.sides)), dtype=np.int8)
    doubtful = list_doubtful(*exact.as_floats(), all_sides)
    for number in doubtful.tolist():
        if perf_counter() > end:
            return verdict(f"the time limit was reached at index set {number} of {count}")
        sides = all_sides[number].tolist()
        if is_possible(*state_conditions(exact, sides)):
            free = [chosen[k] for k, side in enumerate(sides) if side == FREE]
            return verdict(f"there is a solution with the rows {free} free")
    return verdict(f"none of the {count} index sets has a solution", valid=True)


def state_conditions(exact: ExactProblem, sides: Sequence[int]) -> tuple[Equations, Conditions]:
    """The equations A_FF x_F = r and the conditions c . x_F >= r of an index set, in the unknowns x_F."""
    free = [i for i, side in enumerate(sides) if side == FREE]
    tight = [i for i, side in enumerate(sides) if side != FREE]
    at = {i: exact.lower[i] if sides[i] == LOWER else exact.upper[i] for i in tight}
    equations: Equations = []
    conditions: Conditions = []
    for i, side in enumerate(sides):
        constant = exact.b[i] + sum((exact.A[i][j] * value for j, value in at.items() if value), Fraction(0))
        row = [exact.A[i][j] for j in free]
        if side == FREE:
            equations.append((row, -constant))
        elif exact.lower[i] != exact.upper[i]:
            conditions.append(([-side * entry for entry in row], side * constant))
    for place, i in enumerate(free):
        for sign, bound in ((1, exact.lower[i]), (-1, exact.upper[i])):
            if bound is not None:
                unit = [Fraction(sign if k == place else 0) for k in range(len(free))]
                conditions.append((unit, sign * bound))
    return equations, conditions


def _take_rows(problem: Problem, rows: tuple[int, ...]) -> tuple[ExactProblem, tuple[int, int] | None]:
    """These rows, and a place outside them where one has an entry, if there is one."""
    part = problem.A.to_sparse()[list(rows)].tocoo()
    place = {row: k for k, row in enumerate(rows)}
    A = [[Fraction(0)] * len(rows) for _ in rows]
    coupled = None
    for i, j, value in zip(part.row.tolist(), part.col.tolist(), part.data.tolist(), strict=True):
        if j in place:
            A[i][place[j]] = Fraction(value)
        elif value != 0.0:
            coupled = coupled or (rows[i], j)
    lower, upper = problem.bounds(np.zeros(problem.n))
    bounds = ([None if np.isinf(bound[i]) else Fraction(float(bound[i])) for i in rows] for bound in (lower, upper))
    return ExactProblem(A, [Fraction(float(problem.b[i])) for i in rows], *bounds), coupled


def list_doubtful(A: Matrix, b: Vector, lower: Vector, upper: Vector, sides: NDArray[np.int8]) -> NDArray[np.intp]:
    """The numbers of the index sets, one a row of `sides`, that are not refuted here; rows and bounds finite floats.

    Rounding errors are bounded. With F free and T tight at bounds, the unknowns s = (x_F, y_T) solve C s = q, where C
    has the columns -A_j for j in F and e_j for j in T, and q = b + A_:T x_T (NOTES eq. 38-40 for an LCP). Let R be
    about C^-1 and s' = R q. If the norm a = |I - R C| (of row sums) is below 1, then C is regular and its s has

        |s - s'|  <=  |R| |q - C s'|  +  a / (1 - a) max |R| |q - C s'|.                         (Rump 1983)

    Proof: s - s' = R (q - C s') + (I - R C) (s - s'). If that keeps an entry of s on the wrong side, the set is
    refuted. Sums of n products are off by at most (n + 2) eps times the sum of their absolute values (Higham 2002,
    section 3.1), which is added everywhere.
    """
    with np.errstate(all="ignore"):
        doubtful = [
            begin + np.flatnonzero(~_refute(A, b, lower, upper, sides[begin : begin + PORTION]))
            for begin in range(0, len(sides), PORTION)
        ]
    return np.concatenate(doubtful)


def _refute(A: Matrix, b: Vector, lower: Vector, upper: Vector, sides: NDArray[np.int8]) -> NDArray[np.bool_]:
    n = b.size
    rounding = (n + 2) * 2.0**-52
    is_free = sides == FREE
    at = np.where(is_free, 0.0, np.where(sides == UPPER, upper, lower))
    C = np.where(is_free[:, None, :], -A, np.eye(n))
    q = b + at @ A.T
    q_size = np.abs(b) + np.abs(at) @ np.abs(A).T
    scale = _powers_of_two(np.abs(C).max(axis=2))  # of rows: exact, and harmless for signs of s
    C, q, q_size = C * scale[:, :, None], q * scale, q_size * scale
    usable = _is_in_range(np.abs(C)).all(axis=(1, 2)) & _is_in_range(q_size).all(axis=1)
    C[~usable], q[~usable] = np.eye(n), 0.0
    R = np.linalg.pinv(C)
    s = np.einsum("kij,kj->ki", R, q)
    size_R, size_C = np.abs(R), np.abs(C)
    off = np.abs(np.eye(n) - R @ C) + rounding * (size_R @ size_C + np.eye(n))
    a = ABOVE * off.sum(axis=2).max(axis=1)
    left = np.abs(q - np.einsum("kij,kj->ki", C, s))
    left += rounding * (2.0 * q_size + np.einsum("kij,kj->ki", size_C, np.abs(s)))
    apart = ABOVE * np.einsum("kij,kj->ki", size_R, left)
    apart += (a / (1.0 - a) * apart.max(axis=1))[:, None]
    apart = ABOVE * apart + 2.0**-1000  # what underflow may have taken
    low = np.where(is_free, lower, np.where(sides == LOWER, 0.0, -np.inf))
    high = np.where(is_free, upper, np.where(sides == UPPER, 0.0, np.inf))
    fixed = ~is_free & (lower == upper)
    low, high = np.where(fixed, -np.inf, low), np.where(fixed, np.inf, high)
    wrong = (s + apart < low) | (s - apart > high)
    refuted: NDArray[np.bool_] = usable & (a < GOOD) & np.isfinite(apart).all(axis=1) & wrong.any(axis=1)
    return refuted


def _is_in_range(sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Zero, or a float whose products with others neither overflow nor lose digits."""
    fits: NDArray[np.bool_] = (sizes == 0.0) | ((sizes > 2.0**-400) & (sizes < 2.0**400))
    return fits


def _powers_of_two(sizes: Vector) -> Vector:
    _, exponent = np.frexp(np.where(sizes > 0.0, sizes, 1.0))
    return np.asarray(np.ldexp(1.0, -np.clip(exponent, -1000, 1000)))


# -- exact linear programs ---------------------------------------------------------------------------------------------


def is_possible(equations: Equations, conditions: Conditions) -> bool:
    """Whether some x satisfies all of them."""
    solved = _eliminate(equations)
    if solved is None:
        return False
    reduced: Conditions = []
    for row, right in _substitute(solved, conditions):
        if any(row):
            reduced.append((row, right))
        elif right > 0:  # 0 >= right
            return False
    if not reduced:
        return True
    used = [k for k in range(len(reduced[0][0])) if any(row[k] for row, _ in reduced)]
    narrow = [([row[k] for k in used], right) for row, right in reduced]
    return _interval_is_not_empty(narrow) if len(used) == 1 else _has_point(narrow)


def _eliminate(equations: Equations) -> dict[int, tuple[Row, Fraction]] | None:
    """For each unknown with a pivot, row . x = right with x_k in no other row; None where 0 = 1 comes out."""
    unknowns = len(equations[0][0]) if equations else 0
    whole = [whole_row([*row, right]) for row, right in equations]
    rows, columns, last, _ = echelon(whole, unknowns, lambda: None, reduced=True)
    if any(row[-1] for row in rows[len(columns) :]):
        return None
    solved = {}
    for k, numbers in zip(columns, rows[: len(columns)], strict=True):
        *row, right = (Fraction(number, last) for number in numbers)
        solved[k] = row, right
    return solved


def _substitute(solved: dict[int, tuple[Row, Fraction]], conditions: Conditions) -> Conditions:
    out: Conditions = []
    for row, right in conditions:
        left = list(row)
        for k, (known, value) in solved.items():
            factor = left[k]
            if factor:
                left = [a - factor * b if b else a for a, b in zip(left, known, strict=True)]
                right -= factor * value
        out.append((left, right))
    return out


def _interval_is_not_empty(conditions: Conditions) -> bool:
    low: Fraction | None = None
    high: Fraction | None = None
    for (slope,), right in conditions:
        edge = right / slope
        if slope > 0:
            low = edge if low is None else max(low, edge)
        else:
            high = edge if high is None else min(high, edge)
    return low is None or high is None or low <= high


def _has_point(conditions: Conditions) -> bool:
    """C s >= c for s of any sign: phase one of the simplex method on C (p - q) - w + z = c with p, q, w, z >= 0."""
    m, k = len(conditions), len(conditions[0][0])
    tableau: list[Row] = []
    for i, (row, right) in enumerate(conditions):
        sign = -1 if right < 0 else 1
        slack = [Fraction(-sign if j == i else 0) for j in range(m)]
        artificial = [Fraction(1 if j == i else 0) for j in range(m)]
        tableau.append([*(sign * a for a in row), *(-sign * a for a in row), *slack, *artificial, sign * right])
    width = 2 * k + m  # artificial variables never come back
    basis = [width + i for i in range(m)]
    cost = [-sum(column, Fraction(0)) for column in zip(*tableau, strict=True)]
    while True:
        entering = next((j for j in range(width) if cost[j] < 0), None)
        if entering is None:
            return cost[-1] == 0
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(tableau) if row[entering] > 0]
        leaving = min(ratios)[2]  # phase one is bounded, so there is one
        _pivot(tableau, cost, leaving, entering)
        basis[leaving] = entering


def _pivot(tableau: list[Row], cost: Row, leaving: int, entering: int) -> None:
    scale = tableau[leaving][entering]
    row = tableau[leaving] = [entry / scale for entry in tableau[leaving]]
    for other in [*(each for number, each in enumerate(tableau) if number != leaving), cost]:
        factor = other[entering]
        if factor:
            other[:] = [a - factor * b if b else a for a, b in zip(other, row, strict=True)]
