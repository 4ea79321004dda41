"""Is there an x with E x = e and C x >= c? Decided in rational numbers.

The equations are eliminated first. What is left has few unknowns, mostly none: then only signs are looked at. One
unknown is an interval; several are a linear program, by the simplex method with Bland's rule, which never cycles (Bland
1977).
"""

from __future__ import annotations

from fractions import Fraction

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
    """Gauss-Jordan: for each unknown with a pivot, x_k = right - row . (the others); None where 0 = 1 comes out."""
    rows = [[*row, right] for row, right in equations]
    solved: dict[int, int] = {}
    for number, row in enumerate(rows):
        pivot = next((k for k, entry in enumerate(row[:-1]) if entry), None)
        if pivot is None:
            if row[-1]:
                return None
            continue
        scale = row[pivot]
        row[:] = [entry / scale for entry in row]
        for other in range(len(rows)):
            factor = rows[other][pivot]
            if other != number and factor:
                rows[other] = [a - factor * b if b else a for a, b in zip(rows[other], row, strict=True)]
        solved[pivot] = number
    return {k: (rows[number][:-1], rows[number][-1]) for k, number in solved.items()}


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
