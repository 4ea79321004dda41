"""Proofs for contacts whose law is piecewise linear: box friction in space, any cone in a plane."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from exact_enumeration import gauss, holds
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.problems.proofs import prove

FRICTION = (0.0, 0.25, 0.5, 2.0)


def obeys(problem, x):
    """Box friction by its definition, in fractions."""
    A = [[Fraction(a) for a in row] for row in problem.A.to_dense().tolist()]
    y = [
        Fraction(v) + sum(a * t for a, t in zip(row, x, strict=True))
        for row, v in zip(A, problem.b.tolist(), strict=True)
    ]
    for contact, friction in enumerate(problem.friction.tolist()):
        n = problem.dimension * contact
        if not (x[n] >= 0 and y[n] >= 0 and x[n] * y[n] == 0):
            return False
        limit = Fraction(friction) * x[n]
        for t in range(n + 1, n + problem.dimension):
            if abs(x[t]) > limit or (y[t] > 0 and x[t] != -limit) or (y[t] < 0 and x[t] != limit):
                return False
    return True


@st.composite
def planar_contacts(draw):
    """One or two contacts of whole numbers, with a definite A or one that is anything."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    contacts = draw(st.integers(1, 2))
    n = 2 * contacts
    A = rng.integers(-2, 4, (n, n)).astype(float)
    if draw(st.booleans()):
        J = rng.integers(-2, 3, (n, n))
        A = (J @ J.T + np.eye(n)).astype(float)
    friction = rng.choice(FRICTION, contacts)
    return perp.ContactProblem(A, rng.integers(-3, 4, n), friction, draw(st.sampled_from(["box", "cone"])), dimension=2)


def exact_solutions(problem):
    """Every contact separates, sticks, or slides to one side or the other; all combinations, in fractions."""
    A = [[Fraction(a) for a in row] for row in problem.A.to_dense().tolist()]
    b = [Fraction(v) for v in problem.b.tolist()]
    unit = [[Fraction(int(i == j)) for j in range(problem.n)] for i in range(problem.n)]
    found = []
    for code in range(4**problem.contacts):
        matrix, right = [], []
        for contact, friction in enumerate(problem.friction.tolist()):
            n, state = 2 * contact, (code // 4**contact) % 4
            slide = [u - Fraction((-1, 1)[state % 2] * friction) * v for u, v in zip(unit[n + 1], unit[n], strict=True)]
            matrix += {0: [unit[n], unit[n + 1]], 1: [A[n], A[n + 1]]}.get(state, [A[n], slide])
            right += {0: [0, 0], 1: [-b[n], -b[n + 1]]}.get(state, [-b[n], 0])
        x = gauss(matrix, right)
        if x is not None and x not in found and obeys(problem, x):
            found.append(x)
    return found


@given(problem=planar_contacts())
def test_every_exact_solution_of_planar_contacts_is_proved(problem):
    for x in exact_solutions(problem):
        near = np.array([float(value) for value in x])
        for exact in (False, True):
            proof = prove(problem, near, exact=exact)
            assert proof.exists, proof.reason
            assert holds(proof, x)
            assert proof.radius <= 1e-14
            assert not proof.unique or not problem.friction.any()  # without friction it is an ordinary problem


@given(problem=planar_contacts(), seed=strategies.SEEDS)
def test_no_point_gives_a_false_proof_of_contacts(problem, seed):
    x = problem.project(np.random.default_rng(seed).integers(-2, 3, problem.n) * 0.5)
    found = exact_solutions(problem)
    for exact in (False, True):
        proof = prove(problem, x, exact=exact)
        if proof.exists and proof.exact is not None:
            assert obeys(problem, list(proof.exact))
        elif proof.exists:
            assert sum(holds(proof, solution) for solution in found) == 1


@pytest.mark.parametrize("seed", range(6))
def test_planted_contacts_in_space_are_proved(seed):
    rng = np.random.default_rng(seed)
    A = strategies.spd_matrix(rng, 21)
    example = gallery.planted_contacts(A, rng.uniform(0.2, 1.0, 7), "box", seed=seed)
    proof = prove(example.problem, example.x)
    assert proof.exists, proof.reason
    assert proof.unique_in_box
    assert proof.radius <= 1e-12
    assert proof.relative_width <= 2.0**-51


def test_extra_rows_and_sliding_contacts_go_together():
    rng = np.random.default_rng(4)
    A = strategies.spd_matrix(rng, 11)
    example = gallery.planted_contacts(A, [0.3, 0.6, 0.9], "box", lower=[-np.inf, 0.0], upper=[np.inf, 1.0], seed=3)
    proof = prove(example.problem, example.x)
    assert proof.exists, proof.reason


def test_fixed_discs_in_a_plane_are_intervals_and_cones_in_space_are_refused():
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    disc = perp.ContactProblem(A, [-1.0, 3.0], [0.25], "disc", dimension=2)  # x_t = -1/4, x_n = 5/8
    proof = prove(disc, [0.625, -0.25])
    assert proof.exists, proof.reason
    assert proof.unique
    assert holds(proof, [Fraction(5, 8), Fraction(-1, 4)])
    for model in ("cone", "disc", "convex"):
        refused = prove(perp.ContactProblem(np.eye(3), -np.ones(3), [0.5], model), np.zeros(3))
        assert not refused.exists
        assert model in refused.reason


def test_a_grazing_contact_is_proved():
    problem = perp.ContactProblem(2.0 * np.eye(2), [0.0, 0.0], [0.5], "box", dimension=2)
    proof = prove(problem, [0.0, 0.0])
    assert proof.exists, proof.reason
    assert holds(proof, [Fraction(0), Fraction(0)])
