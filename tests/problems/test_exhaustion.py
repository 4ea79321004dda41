"""Proof by exhaustion: against a twin that lists the corners of the feasible set."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
import strategies
from exact_twins import is_feasible, is_solvable
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BoxLCP, gallery, verify_certificate
from perp.errors import InvalidProblem
from perp.problems.certificates import prove_by_exhaustion
from perp.problems.certificates.exhaustion import is_possible, list_doubtful

INF = np.inf


def test_row_45_feasible_but_unsolvable_is_proved():
    problem = gallery.unsolvable().problem
    proof = prove_by_exhaustion(problem)
    assert proof.valid
    assert proof.exact
    assert proof.kind == "exhausted"
    assert proof.excludes_solutions
    assert verify_certificate(problem, proof).valid
    assert not verify_certificate(gallery.lemke_ray().problem, proof).valid, "it is made again for each problem"


def test_row_91_a_solution_is_named():
    verdict = prove_by_exhaustion(gallery.lemke_ray().problem)
    assert not verdict.valid
    assert "[0, 1] free" in verdict.reason


@given(seed=strategies.SEEDS, n=st.integers(1, 4), exponent=st.sampled_from([-1000, 0, 1000]))
def test_whole_numbers_are_decided_as_by_the_twin(seed, n, exponent):
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
    proof = prove_by_exhaustion(perp.LCP(np.ldexp(A, exponent), np.ldexp(b, exponent)))
    assert proof.valid is not is_solvable(A, b)


@given(seed=strategies.SEEDS)
def test_solutions_in_boxes_are_never_excluded(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    lower, width = rng.choice([-INF, -1.0, 0.0], n), rng.choice([0.0, 2.0, INF], n)
    upper = np.where(np.isinf(lower), rng.choice([1.0, INF], n), np.maximum(lower, -1.0) + width)
    x = np.clip(rng.integers(-1, 3, n).astype(float), lower, upper)
    y = rng.integers(0, 3, n) * np.where(x == lower, 1.0, np.where(x == upper, -1.0, 0.0))
    A = rng.integers(-3, 4, (n, n)).astype(float)
    assert not prove_by_exhaustion(BoxLCP(A, y - A @ x, lower, upper)).valid


@given(seed=strategies.SEEDS, rank=st.integers(1, 3))
def test_singular_matrices_with_many_solutions_are_not_excluded(seed, rank):
    rng = np.random.default_rng(seed)
    n = 4
    J = rng.integers(-2, 3, (n, rank))
    A = (J @ J.T).astype(float)
    x = rng.integers(0, 3, n).astype(float)
    b = np.where(x > 0, 0.0, rng.integers(0, 2, n)) - A @ x
    assert is_solvable(A, b)
    assert not prove_by_exhaustion(perp.LCP(A, b)).valid


@given(seed=strategies.SEEDS)
def test_what_is_refuted_in_floating_point_is_refuted_by_the_twin_too(seed):
    """Doubtful sets include all that hold a solution."""
    rng = np.random.default_rng(seed)
    n = 3
    A, b = rng.integers(-2, 3, (n, n)).astype(float), rng.integers(-2, 3, n).astype(float)
    sides = np.array(list(product((-1, 0), repeat=n)), dtype=np.int8)
    doubtful = list_doubtful(A, b, np.zeros(n), np.full(n, INF), sides)
    if is_solvable(A, b):
        assert doubtful.size
    refuted = np.setdiff1d(np.arange(len(sides)), doubtful)
    for number in refuted:
        free = np.flatnonzero(sides[number] == 0)
        if np.linalg.matrix_rank(A[np.ix_(free, free)]) == free.size:
            x = np.zeros(n)
            x[free] = np.linalg.solve(A[np.ix_(free, free)], -b[free])
            assert min(x.min(), (A @ x + b).min()) < 1e-12


def test_rows_that_nothing_else_is_coupled_with_can_be_looked_at_alone():
    A = np.zeros((30, 30))
    A[:28, :28] = np.eye(28)
    A[28:, 28:] = [[2.0, 1.0], [1.0, -1.0]]
    b = np.append(-np.ones(28), [2.0, -2.0])
    problem = perp.LCP(A, b)
    proof = prove_by_exhaustion(problem, (28, 29))
    assert proof.valid
    assert proof.rows == (28, 29)
    assert verify_certificate(problem, proof).valid
    A[28, 0] = 1.0
    coupled = perp.LCP(A, b)
    assert "coupled with row 0" in verify_certificate(coupled, proof).reason
    forged = dataclasses.replace(proof, rows=(0, 1), valid=True)
    assert not verify_certificate(problem, forged).valid


def test_what_is_too_large_or_takes_too_long_proves_nothing():
    assert "too many" in prove_by_exhaustion(perp.LCP(np.eye(20), np.ones(20))).reason
    boxes = BoxLCP(np.eye(10), np.ones(10), -1.0, 1.0)
    assert "59049 index sets" in prove_by_exhaustion(boxes).reason
    A = -np.ones((8, 8))
    b = np.append(-1.0, np.ones(7))
    assert "time limit" in prove_by_exhaustion(perp.LCP(A, b), max_seconds=0.0).reason
    assert "no rows" in prove_by_exhaustion(perp.LCP(np.empty((0, 0)), [])).reason
    with pytest.raises(InvalidProblem, match="contact"):
        prove_by_exhaustion(gallery.make("box_stack", n=48).problem)


def test_eleven_rows_of_random_numbers_are_proved():
    rng = np.random.default_rng(0)
    G = rng.standard_normal((11, 11))
    b = np.append(-np.ones(1), np.ones(10))
    assert prove_by_exhaustion(perp.LCP(-(G @ G.T), b)).valid


@given(seed=strategies.SEEDS, unknowns=st.integers(1, 3), count=st.integers(1, 6))
def test_conditions_are_possible_exactly_if_the_twin_finds_a_corner(seed, unknowns, count):
    rng = np.random.default_rng(seed)
    C, c = rng.integers(-2, 3, (count, unknowns)), rng.integers(-2, 3, count)
    conditions = [([int(v) for v in row], int(right)) for row, right in zip(C, c, strict=True)]
    split = np.hstack([C, -C]).astype(float)  # s = p - q with p, q >= 0
    assert is_possible([], to_fractions(conditions)) is is_feasible(split, -c.astype(float))


def to_fractions(rows):
    from fractions import Fraction

    return [([Fraction(v) for v in row], Fraction(right)) for row, right in rows]
