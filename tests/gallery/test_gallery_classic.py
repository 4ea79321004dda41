"""The classic cases: every solution is found again by trying all index sets, and the famous manners are shown."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from perp.gallery import (
    all_signs,
    block_pivot_cycle,
    fathi,
    hilbert,
    infeasible,
    kinds,
    make,
    murty,
    newton_min_cycle,
    pgs_divergent,
    unsolvable,
)

CASES = [*all_signs(), *(make(name) for name, kind in kinds().items() if kind.group == "classic")]
CASES += [make("several_solutions", n=5), make("redundant_contacts", n=2), make("newton_min_cycle", a=1.5)]


def data(example) -> tuple[np.ndarray, np.ndarray]:
    return example.problem.A.to_dense(), example.problem.b


def enumerate_solutions(A: np.ndarray, b: np.ndarray) -> tuple[list[np.ndarray], bool]:
    """One solution for every support that has one, and whether some support has a continuum of them.

    For each set S: x_S > 0 = y_S and x = 0 <= y elsewhere. The least x_S is made as large as it will go by a linear
    program; a support has a continuum when A_SS is singular there.
    """
    n = b.size
    found, continuum = [], False
    for chosen in (list(c) for m in range(n + 1) for c in combinations(range(n), m)):
        others = [i for i in range(n) if i not in chosen]
        AS = A[np.ix_(chosen, chosen)]
        x = np.zeros(n)
        if chosen and np.linalg.matrix_rank(AS) < len(chosen):
            m = len(chosen)
            program = linprog(
                np.r_[np.zeros(m), -1.0],
                A_ub=np.block([[-np.eye(m), np.ones((m, 1))], [-A[np.ix_(others, chosen)], np.zeros((n - m, 1))]]),
                b_ub=np.r_[np.zeros(m), b[others]],
                A_eq=np.c_[AS, np.zeros(m)],
                b_eq=-b[chosen],
                bounds=[(0, None)] * m + [(None, 1.0)],
            )
            if program.status != 0 or program.x[-1] <= 1e-9:
                continue
            x[chosen] = program.x[:-1]
            continuum = True
        elif chosen:
            x[chosen] = np.linalg.solve(AS, -b[chosen])
        y = A @ x + b
        if np.all(x[chosen] > 1e-12) and np.all(y[others] >= -1e-12):
            found.append(x)
    return found, continuum


@pytest.mark.parametrize("example", CASES, ids=repr)
def test_enumeration_finds_what_is_claimed(example) -> None:
    if example.name == "hilbert":
        example = hilbert(5)  # twelve rows are too ill-conditioned for a judge in floating point
    A, b = data(example)
    found, continuum = enumerate_solutions(A, b)
    if not example.is_solvable:
        assert not found
    elif example.expected == "infinitely_many":
        assert continuum
    else:
        assert not continuum
        assert len(found) == len(example.solutions)
        assert (len(found) > 1) == (example.expected == "several")
        for x in found:
            assert min(np.abs(x - known).max() for known in example.solutions) < 1e-9


@pytest.mark.parametrize("example", CASES, ids=repr)
def test_every_listed_solution_solves_it(example) -> None:
    A, b = data(example)
    for x in example.solutions:
        assert np.abs(np.minimum(x, A @ x + b)).max() <= 1e-14
    if example.solutions:
        assert example.x is example.solutions[0]


def test_the_table_of_signs_counts_as_the_slides_do() -> None:
    words = {"infeasible": 0, "infinitely_many": np.inf}
    counts = [words.get(example.expected, len(example.solutions)) for example in all_signs()]
    assert counts == [0, 1, 2, 0, np.inf, 1, 1, 1, 1]


@pytest.mark.parametrize("example", [e for e in CASES if e.expected == "infeasible"], ids=repr)
def test_infeasible_cases_have_the_certificate_that_the_note_names(example) -> None:
    A, b = data(example)
    u = np.ones(b.size)
    assert np.all(A.T @ u <= 0)
    assert b @ u < 0


def test_the_unsolvable_case_is_feasible() -> None:
    A, b = data(unsolvable())
    np.testing.assert_array_equal(A @ [2.0, 0.0] + b, [6.0, 0.0])
    assert infeasible().expected != unsolvable().expected


def pivots_by_least_index(A: np.ndarray, b: np.ndarray) -> int:
    """Murty's method: exchange the row with the least index whose number is negative, until none is."""
    active = np.zeros(b.size, dtype=bool)
    for count in range(100_000):
        z = np.zeros(b.size)
        z[active] = np.linalg.solve(A[np.ix_(active, active)], -b[active])
        z[~active] = (A[:, active] @ z[active] + b)[~active]
        if z.min() >= -1e-9:
            return count
        active[np.argmax(z < -1e-9)] ^= True
    raise AssertionError("no end")


@pytest.mark.parametrize("n", [1, 4, 8])
def test_murty_costs_least_index_pivoting_every_index_set(n: int) -> None:
    assert pivots_by_least_index(*data(murty(n))) == 2**n - 1


def test_fathi_is_symmetric_positive_definite() -> None:
    A, _ = data(fathi(12))
    assert np.array_equal(A, A.T)
    np.linalg.cholesky(A)


def newton_min_sets(A: np.ndarray, b: np.ndarray, x: np.ndarray, steps: int) -> list[tuple[bool, ...]]:
    """The index sets {x > y} that plain minimum-map Newton visits."""
    sets = []
    for _ in range(steps):
        active = x > A @ x + b
        sets.append(tuple(active.tolist()))
        x = np.zeros(b.size)
        x[active] = np.linalg.solve(A[np.ix_(active, active)], -b[active])
    return sets


@pytest.mark.parametrize("a", [1.1, 2.0, 10.0])
def test_newton_min_cycles_with_period_three_on_the_circulant(a: float) -> None:
    A, b = data(newton_min_cycle(a=a))
    sets = newton_min_sets(A, b, np.array([1.0, 0.0, 0.0]), 7)
    assert len(set(sets)) == 3
    assert sets[0] == sets[3] == sets[6]


def test_newton_min_does_not_cycle_on_the_tame_circulant() -> None:
    A, b = data(newton_min_cycle(a=0.5))
    assert newton_min_sets(A, b, np.array([1.0, 0.0, 0.0]), 20)[-1] == (True, True, True)


def test_block_pivoting_cycles_where_least_index_needs_two_pivots() -> None:
    A, b = data(block_pivot_cycle())
    sets = newton_min_sets(A, b, np.zeros(3), 24)
    assert (True, False, True) not in sets
    assert len(set(sets)) < len(sets)
    assert pivots_by_least_index(A, b) == 2


def test_projected_gauss_seidel_does_not_converge_on_its_bane() -> None:
    A, b = data(pgs_divergent())
    x = np.zeros(3)
    for _ in range(500):
        for i in range(3):
            x[i] = max(0.0, x[i] - (A[i] @ x + b[i]) / A[i, i])
    assert np.abs(np.minimum(x, A @ x + b)).max() > 0.1


@pytest.mark.parametrize("name", ["murty", "fathi", "block_pivot_cycle", "newton_min_cycle", "pgs_divergent"])
def test_p_matrices_are_p_matrices(name: str) -> None:
    A, _ = data(make(name, n=6 if kinds()[name].size else None))
    n = len(A)
    for chosen in (list(c) for m in range(1, n + 1) for c in combinations(range(n), m)):
        assert np.linalg.det(A[np.ix_(chosen, chosen)]) > 0


def test_hilbert_is_as_ill_conditioned_as_ever() -> None:
    assert np.linalg.cond(hilbert().problem.A.to_dense()) > 1e15
