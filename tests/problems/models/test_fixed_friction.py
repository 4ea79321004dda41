"""Contacts without friction, and with friction between fixed bounds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.errors import InvalidProblem
from perp.gallery import box_stack
from perp.problems.models.fixed_box import fixed_box
from perp.problems.models.restatement import frictionless
from perp.problems.models.stewart_trinkle import stewart_trinkle


@given(strategies.contact_problems(), st.integers(0, 1000))
def test_the_frictionless_problem_is_that_of_the_normals_and_the_other_rows(contacts, seed):
    problem = frictionless(contacts)
    assert problem.A.form == contacts.A.form
    kept = np.concatenate([contacts.normal_rows, np.arange(contacts.contact_rows, contacts.n)])
    np.testing.assert_allclose(problem.A.to_dense(), contacts.A.to_dense()[np.ix_(kept, kept)], atol=1e-12)
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    impulses = problem.impulses(x)
    np.testing.assert_array_equal(impulses[kept], x)
    assert np.count_nonzero(impulses) == np.count_nonzero(x)
    np.testing.assert_allclose(problem.slack(x), contacts.slack(impulses)[kept], atol=1e-12)
    np.testing.assert_array_equal(problem.unknowns(impulses), x)


@given(strategies.contact_problems())
def test_its_answer_is_that_of_the_contacts_with_friction_zero(contacts):
    problem = frictionless(contacts)
    result = perp.solve(problem, perp.InteriorPivoting(), tol=1e-9)
    assert result.success
    smooth = contacts.with_model("box", friction=0.0)
    assert perp.verify(smooth, problem.impulses(result)).residual <= 1e-9


def test_a_product_without_matrix_stays_one():
    contacts = box_stack(48, 1, load="gravity").problem
    A = perp.MatrixFreeOperator(aslinearoperator(contacts.A.to_dense()), contacts.A.diagonal())
    bare, assembled = frictionless(perp.ContactProblem(A, contacts.b, 0.5)), frictionless(contacts)
    x = np.linspace(0.0, 1.0, bare.n)
    np.testing.assert_allclose(bare.slack(x), assembled.slack(x), atol=1e-12)
    np.testing.assert_allclose(bare.diagonal, assembled.diagonal)
    assert perp.solve(bare, "jacobi", max_iterations=3).iterations == 3


def test_it_is_an_lcp_unless_other_rows_are_there():
    rng = np.random.default_rng(2)
    assert isinstance(frictionless(box_stack(48).problem), perp.LCP)
    jointed = perp.ContactProblem(strategies.factored_operator(rng, 2, 2), np.ones(8), 0.5, extra_rows=2)
    problem = frictionless(jointed)
    assert isinstance(problem, perp.BoxLCP)
    assert not isinstance(problem, perp.LCP)
    np.testing.assert_array_equal(problem.lower, [0.0, 0.0, -np.inf, -np.inf])


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_bounds_are_friction_times_the_normal_impulses(dimension):
    n = 2 * dimension + 1
    contacts = perp.ContactProblem(
        np.eye(n), np.ones(n), [0.5, 2.0], dimension=dimension, extra_rows=1, lower=-3.0, upper=4.0
    )
    problem = fixed_box(contacts, [10.0, 1.0])
    tangents = dimension - 1
    np.testing.assert_array_equal(problem.lower, [0.0, *[-5.0] * tangents, 0.0, *[-2.0] * tangents, -3.0])
    np.testing.assert_array_equal(problem.upper, [np.inf, *[5.0] * tangents, np.inf, *[2.0] * tangents, 4.0])
    assert problem.A is contacts.A
    same = fixed_box(contacts, limits=[5.0, 2.0])
    np.testing.assert_array_equal(same.upper, problem.upper)
    np.testing.assert_array_equal(fixed_box(contacts, limits=1.5).upper[1], 1.5)


@given(strategies.contact_problems(), st.integers(0, 1000))
def test_unknowns_are_impulses_clipped_to_the_bounds(contacts, seed):
    rng = np.random.default_rng(seed)
    problem = fixed_box(contacts, rng.random(contacts.contacts))
    impulses = 2.0 * rng.standard_normal(contacts.n)
    x = problem.unknowns(impulses)
    np.testing.assert_array_equal(x, problem.project(impulses))
    np.testing.assert_array_equal(problem.impulses(x), x)


def test_a_block_slides_as_the_coulomb_law_says_where_its_normal_impulse_is_known():
    """On level ground the normal impulse does not depend on friction, and along an axis the box is the cone."""
    contacts = perp.ContactProblem(np.eye(3) / 2.0, np.array([-0.1, 0.7, 0.0]), 0.5, "cone")
    problem = fixed_box(contacts, perp.solve(frictionless(contacts), "pgs", tol=1e-12))
    result = perp.solve(problem, "block_principal")
    np.testing.assert_allclose(result.x, [0.2, -0.1, 0.0], atol=1e-14)
    assert perp.verify(contacts, result.x).de_saxce < 1e-12


def test_normal_impulses_may_be_an_answer_under_any_model():
    contacts = box_stack(48, 1, load="gravity", layout="tower", friction=0.4).problem
    lcp = stewart_trinkle(contacts, 6)
    result = perp.solve(lcp, "fischer")
    normals = lcp.impulses(result)[contacts.normal_rows]
    np.testing.assert_allclose(fixed_box(contacts, result).origin.limits, 0.4 * normals, rtol=1e-15)
    with pytest.raises(InvalidProblem, match="says nothing of the impulses"):
        fixed_box(box_stack(120, 1).problem, result)


def test_discs_have_limits_of_their_own():
    contacts = perp.ContactProblem(np.eye(3), np.ones(3), [0.7], "disc")
    np.testing.assert_array_equal(fixed_box(contacts).upper, [np.inf, 0.7, 0.7])
    with pytest.raises(TypeError, match="radius"):
        fixed_box(contacts, [1.0])


def test_limits_that_make_no_sense_are_refused():
    contacts = box_stack(48).problem
    with pytest.raises(TypeError, match="needs normal_impulses"):
        fixed_box(contacts)
    with pytest.raises(TypeError, match="not both"):
        fixed_box(contacts, 1.0, limits=1.0)
    with pytest.raises(InvalidProblem, match=r"normal_impulses\[1\] is -1"):
        fixed_box(contacts, np.where(np.arange(contacts.contacts) == 1, -1.0, 1.0))
    with pytest.raises(InvalidProblem, match=r"limits\[0\] is -2"):
        fixed_box(contacts, limits=-2.0)
    with pytest.raises(InvalidProblem, match="length"):
        fixed_box(contacts, np.ones(contacts.contacts + 1))
    for make in (fixed_box, frictionless):
        with pytest.raises(TypeError, match="ContactProblem is needed"):
            make(perp.LCP(np.eye(3), np.ones(3)))


def test_both_can_be_pickled_with_their_contacts():
    contacts = box_stack(48, 1).problem
    for problem in (frictionless(contacts), fixed_box(contacts, limits=0.3)):
        again = pickle.loads(pickle.dumps(problem))
        x = np.linspace(0.0, 0.2, problem.n)
        np.testing.assert_array_equal(again.impulses(x), problem.impulses(x))
        np.testing.assert_array_equal(again.upper, problem.upper)
        assert repr(again) == repr(problem)
