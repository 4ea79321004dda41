"""The modulus sweeps against eq. 7 and 11 of AMGS written out with matrices, in every form of A."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.solvers.splitting.modulus import AMAOR, AMGS, AMJ, AMSOR, MAOR, MGS, MJ, MSOR

PLAIN, ACCELERATED = (MJ, MGS, MSOR, MAOR), (AMJ, AMGS, AMSOR, AMAOR)
MEMBERS = PLAIN + ACCELERATED
BOXED_CONTACTS = strategies.contact_problems().filter(lambda problem: problem.model == "box")


def modulus_step(problem, z, method):
    """Eq. 11 of AMGS row by row, with the reflection gamma P(2 z / gamma) - z in the place of |z|."""
    A = problem.A.to_dense()
    D, L, U = np.diag(A.diagonal()), -np.tril(A, -1), -np.triu(A, 1)
    gamma, (relaxation, acceleration) = method.gamma, method.splitting
    Omega = method.alpha * (D if method.omega == "diagonal" else np.eye(problem.n))
    M1 = (D - acceleration * L) / relaxation
    M2, N2 = (D - U, L) if type(method) in ACCELERATED else (A, np.zeros_like(A))

    def reflected(z):
        return gamma * problem.project(2.0 / gamma * z) - z

    right = (M1 - A) @ z + (gamma * Omega - M2) @ reflected(z) - gamma * problem.b
    left, new = M1 + gamma * Omega, z.copy()
    for i in range(problem.n):
        known = right[i] + N2[i, :i] @ reflected(new)[:i] - left[i, :i] @ new[:i]
        new[i] = known / left[i, i]
    return new


def assert_follows_twin(problem, method, iterations=4):
    x = problem.project(np.zeros(problem.n))
    z = 0.5 * method.gamma * x
    state = method.start(problem, x)
    for _ in range(iterations):
        method.step(problem, state, 1)
        z = modulus_step(problem, z, method)
        u = 2.0 / method.gamma * z
        np.testing.assert_allclose(state.sweeper.u, u, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(state.x, problem.project(u), rtol=1e-10, atol=1e-10)


@st.composite
def methods(draw):
    member = draw(st.sampled_from(MEMBERS))
    options = {
        "gamma": draw(st.sampled_from([0.7, 2.0, 3.0])),
        "omega": draw(st.sampled_from(["diagonal", "identity"])),
        "alpha": draw(st.floats(0.1, 2.0)),
    }
    for name in {"relaxation", "acceleration"} & set(member.__dataclass_fields__):
        options[name] = draw(st.floats(0.3, 1.8))
    return member(**options)


@given(strategies.lcps(), methods())
def test_every_member_makes_the_iterates_of_its_equation_on_an_lcp(problem, method):
    assert_follows_twin(problem, method)


@given(strategies.box_lcps(), methods())
def test_every_member_makes_the_iterates_of_its_equation_in_a_box(problem, method):
    assert_follows_twin(problem, method)


@given(BOXED_CONTACTS, methods())
def test_every_member_makes_the_iterates_of_its_equation_on_contacts(problem, method):
    assert_follows_twin(problem, method)


@pytest.mark.parametrize("form", strategies.FORMS)
@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)
def test_every_form_of_a_matrix_is_swept_alike(member, form):
    rng = np.random.default_rng(1)
    operator = strategies.in_form(strategies.factored_operator(rng, contacts=4, others=2), form)
    b, friction = rng.standard_normal(operator.n), rng.uniform(0, 1, 4)
    assert_follows_twin(perp.ContactProblem(operator, b, friction, extra_rows=2), member(alpha=0.3), iterations=6)
    assert_follows_twin(perp.BoxLCP(operator, b, -0.5, 1.0), member(alpha=0.8), iterations=6)


@pytest.mark.parametrize("form", strategies.FORMS[:3])
def test_planar_contacts_have_one_tangent(form):
    rng = np.random.default_rng(3)
    A = strategies.explicit(strategies.spd_matrix(rng, 7), form)
    problem = perp.ContactProblem(A, rng.standard_normal(7), [0.3, 0.4, 0.5], dimension=2, extra_rows=1)
    assert_follows_twin(problem, AMGS(alpha=0.3))


def test_a_contact_whose_rows_act_on_different_bodies_is_swept_row_by_row():
    rng = np.random.default_rng(5)
    masses = perp.BodyMasses([1.0, 2.0, 3.0], [np.eye(3)] * 3)
    pairs = np.array([[0, 1], [0, 1], [1, 2]])
    operator = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((3, 2, 6)), masses)
    assert_follows_twin(perp.ContactProblem(operator, rng.standard_normal(3), 0.5), AMGS(alpha=0.3))


@pytest.mark.parametrize("form", strategies.FORMS)
@pytest.mark.parametrize("method", [*(member() for member in MEMBERS), AMGS(adaptive=True)], ids=repr)
def test_iterations_may_be_asked_for_in_any_portions(method, form):
    rng = np.random.default_rng(2)
    operator = strategies.in_form(strategies.factored_operator(rng, contacts=3, others=1), form)
    problem = perp.ContactProblem(operator, rng.standard_normal(operator.n), 0.4, extra_rows=1)
    at_once, in_parts = method.start(problem, np.zeros(problem.n)), method.start(problem, np.zeros(problem.n))
    method.step(problem, at_once, 150)
    for count in (0, 2, 3, 60, 85):
        method.step(problem, in_parts, count)
    np.testing.assert_array_equal(in_parts.x, at_once.x)
    np.testing.assert_array_equal(in_parts.sweeper.u, at_once.sweeper.u)
    assert in_parts.counters == at_once.counters
