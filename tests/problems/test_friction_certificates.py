"""Contacts without solution: what a vector must satisfy in each model; and no planted solution is ever excluded."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from perp import ContactProblem, gallery, verify_certificate
from perp.solvers.no_solution.search import find_no_solution

INF = np.inf
MODELS = ("box", "cone", "convex", "disc")
ROUND = np.array([[3.0, 4.0], [-4.0, 3.0], [0.0, 5.0], [-5.0, 0.0], [4.0, -3.0]]) / 5.0
"""Unit vectors; five times each has whole numbers."""


def squeezed(model, dimension, friction=0.5, turn=None, weights=(1.0, 1.0)):
    """A body between two plates that come nearer: normals e and -e, and both must not approach it."""
    J = np.zeros((2 * dimension, dimension))
    J[0, 0], J[dimension, 0] = weights[0], -weights[1]
    for k in range(1, dimension):
        J[k, k] = J[dimension + k, k] = 1.0
    if turn is not None:
        J = J @ turn
    b = np.zeros(2 * dimension)
    b[0] = b[dimension] = -1.0
    return ContactProblem(J @ J.T, b, friction, model, dimension=dimension)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_a_body_between_plates_that_close_is_proved_in_every_model(model, dimension):
    problem = squeezed(model, dimension)
    u = np.zeros(problem.n)
    u[[0, dimension]] = 1.0
    verdict = verify_certificate(problem, u)
    assert verdict.valid
    assert verdict.exact
    assert verdict.kind == "friction"
    assert verdict.rows == (0, dimension)
    assert "cone or bounds" in verdict.reason
    open_plates = ContactProblem(problem.A, -problem.b, 0.5, model, dimension=dimension)
    assert not verify_certificate(open_plates, u).valid


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", MODELS)
def test_the_linear_program_finds_the_proof_where_the_plates_have_odd_units(model, dimension):
    turn = np.linalg.qr(np.random.default_rng(dimension).standard_normal((dimension, dimension)))[0]
    problem = squeezed(model, dimension, turn=turn, weights=(0.3, 1.7))
    proof = find_no_solution(problem)
    assert proof is not None
    assert proof.kind == "friction"
    assert verify_certificate(problem, proof).valid


@pytest.mark.parametrize("model", ["box", "cone", "disc"])
def test_tangents_may_have_any_slack_and_prove_nothing(model):
    u = np.zeros(6)
    u[[0, 3]], u[1] = 1.0, 0.5
    verdict = verify_certificate(squeezed(model, 3), u)
    assert not verdict.valid
    assert "u[1]" in verdict.reason


def test_tangents_of_convex_contacts_count_within_the_cone():
    """y in K*: u in K. A = 0 and b = (1, -4, 0): friction |b_t| = 2 > b_n, so u = (1, 1/2, 0) separates."""
    problem = ContactProblem(np.zeros((3, 3)), [1.0, -4.0, 0.0], 0.5, "convex")
    assert verify_certificate(problem, [1.0, 0.5, 0.0]).valid
    assert not verify_certificate(problem, [1.0, 0.2, 0.0]).valid, "1 - 0.8 is positive"
    outside = verify_certificate(problem, [1.0, 0.6, 0.0])
    assert not outside.valid
    assert "contact 0" in outside.reason
    coulomb = ContactProblem(np.zeros((3, 3)), [1.0, -4.0, 0.0], 0.5, "cone")
    assert not verify_certificate(coulomb, [1.0, 0.5, 0.0]).valid
    assert find_no_solution(problem) is not None


@pytest.mark.parametrize(
    ("model", "friction", "valid"),
    [("box", 0.14, True), ("box", 0.15, False), ("cone", 0.19, True), ("cone", 0.21, False), ("convex", 0.19, True)],
)
def test_what_friction_can_lift_limits_the_proof(model, friction, valid):
    """y_n = -x_n + 3 x_p + 4 x_q - 1: the pull is friction (3 + 4) in a box and friction 5 in a disc."""
    A = np.zeros((3, 3))
    A[0] = [-1.0, 3.0, 4.0]
    problem = ContactProblem(A, [-1.0, 0.0, 0.0], friction, model)
    assert verify_certificate(problem, [1.0, 0.0, 0.0]).valid is valid
    assert (find_no_solution(problem) is not None) is valid


@pytest.mark.parametrize(("radius", "valid"), [(0.19, True), (0.21, False)])
def test_a_fixed_disc_adds_its_radius_times_the_pull(radius, valid):
    A = np.zeros((3, 3))
    A[0] = [-1.0, 3.0, 4.0]
    problem = ContactProblem(A, [-1.0, 0.0, 0.0], radius, "disc")
    verdict = verify_certificate(problem, [1.0, 0.0, 0.0])
    assert verdict.valid is valid
    assert verdict.margin == pytest.approx(5.0 * radius - 1.0)
    assert (find_no_solution(problem) is not None) is valid


@pytest.mark.parametrize("model", MODELS)
def test_joints_after_the_contacts_that_contradict_each_other_are_inconsistent(model):
    J = np.vstack([np.eye(3), [[2.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]])
    problem = ContactProblem(J @ J.T, [0.0, 0.0, 0.0, -1.0, 1.0], 0.5, model, extra_rows=2)
    proof = find_no_solution(problem)
    assert proof is not None
    assert proof.kind == "inconsistent"
    assert proof.rows == (3, 4)
    consistent = ContactProblem(J @ J.T, [0.0, 0.0, 0.0, -1.0, -0.5], 0.5, model, extra_rows=2)
    assert find_no_solution(consistent) is None


@pytest.mark.parametrize("kind", ["box_stack", "painleve_step", "pinched_capsule"])
def test_real_contacts_with_solutions_are_never_excluded(kind):
    problem = gallery.make(kind).problem
    assert find_no_solution(problem) is None
    assert not verify_certificate(problem, np.ones(problem.n)).valid


def planted(rng, model, dimension, extra):
    """Whole-number data with a solution: contacts that are open, stick, or slide."""
    contacts = int(rng.integers(1, 4))
    friction = rng.choice([0.0, 1.0, 2.0], contacts)
    x, y = np.zeros((contacts, dimension)), np.zeros((contacts, dimension))
    for c, mu in enumerate(friction):
        t = ROUND[rng.integers(len(ROUND))] if dimension == 3 else np.array([rng.choice([-1.0, 1.0])])
        limit = mu if model == "disc" else mu * 5.0
        state = rng.integers(3)
        if state == 0:  # open
            y[c, 0] = 5.0 * max(mu, 1.0)
            y[c, 1:] = 5.0 * t
            if model == "disc":
                x[c, 1:] = -5.0 * mu * t / 5.0
            if model == "convex":
                y[c, 1:] *= 0.0 if mu == 0.0 else 1.0
        elif state == 1:  # sticks
            x[c, 0] = 5.0
        else:  # slides along -t
            x[c, 0] = 5.0
            x[c, 1:], y[c, 1:] = limit * t, -5.0 * t
            if model == "convex":
                y[c, 0] = mu * 5.0
            if model == "box" and dimension == 3:
                x[c, 1:] = limit * np.sign(t)
    lower, upper = np.full(extra, -INF), np.full(extra, INF)
    x_all, y_all = np.append(x, rng.integers(-2, 3, extra)), np.append(y, np.zeros(extra))
    n = x_all.size
    A = rng.integers(-3, 4, (n, n)).astype(float)
    b = y_all - A @ x_all
    problem = ContactProblem(A, b, friction, model, dimension=dimension, lower=lower, upper=upper)
    return problem, x_all


@given(seed=strategies.SEEDS, model=st.sampled_from(MODELS), dimension=st.sampled_from([2, 3]), extra=st.integers(0, 2))
def test_no_vector_excludes_a_planted_solution(seed, model, dimension, extra):
    rng = np.random.default_rng(seed)
    problem, x = planted(rng, model, dimension, extra)
    trials = [rng.integers(0, 3, problem.n).astype(float), np.abs(rng.normal(size=problem.n))]
    if model != "convex":
        for u in trials:
            u[: problem.contact_rows].reshape(-1, dimension)[:, 1:] = 0.0
    for u in trials:
        verdict = verify_certificate(problem, u)
        assert not (verdict.valid and np.abs(x).sum() < verdict.reach), verdict


@given(seed=strategies.SEEDS, model=st.sampled_from(MODELS), dimension=st.sampled_from([2, 3]))
def test_the_search_excludes_no_planted_solution(seed, model, dimension):
    problem, _ = planted(np.random.default_rng(seed), model, dimension, 1)
    assert find_no_solution(problem) is None
