"""Is there an x with E x = e and C x >= c? Decided in rational numbers.

The equations are eliminated first. What is left has few unknowns, mostly none: then only signs are looked at. One
unknown is an interval; several are a linear program, by the simplex method with Bland's rule, which never cycles (Bland
1977).
"""

from __future__ import annotations

from fractions import Fraction

from perp.problems.exact_elimination import echelon, whole_row

Row = list[Fraction]
Equations = list[tuple[Row, Fraction]]
Conditions = list[tuple[Row, Fraction]]


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
