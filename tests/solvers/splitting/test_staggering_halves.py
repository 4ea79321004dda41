"""The halves of staggering: the blocks of A that they name, in the form that A has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import FORMS, contact_problems, factored_operator, in_form

import perp
from perp.solvers.splitting.staggering import BoxHalf, DiscHalf, NormalHalf, friction_half


def scene(form, model="cone"):
    rng = np.random.default_rng(3)
    operator = factored_operator(rng, 3, 2)
    return perp.ContactProblem(in_form(operator, form), rng.standard_normal(11), [0.2, 0.5, 0.0], model, extra_rows=2)


@pytest.mark.parametrize("form", FORMS)
def test_the_normal_half_holds_normals_and_further_rows(form):
    problem = scene(form)
    half = NormalHalf.of(problem, proximal=0.1)
    rows = [0, 3, 6, 9, 10]
    expected = problem.A.to_dense()[np.ix_(rows, rows)]
    expected[[0, 1, 2], [0, 1, 2]] *= 1.1
    np.testing.assert_array_equal(half.rows, rows)
    np.testing.assert_allclose(half.S.to_dense(), expected, atol=1e-12)
    np.testing.assert_array_equal(half.lower, [0, 0, 0, -np.inf, -np.inf])


@pytest.mark.parametrize("form", FORMS)
def test_the_disc_half_has_normals_that_are_coupled_with_nothing(form):
    problem = scene(form)
    S = DiscHalf.of(problem).S.to_dense()
    A = problem.A.to_dense()
    others = np.setdiff1d(np.arange(11), problem.normal_rows)
    np.testing.assert_allclose(S[np.ix_(others, others)], A[np.ix_(others, others)], atol=1e-12)
    np.testing.assert_array_equal(S[np.ix_(problem.normal_rows, others)], 0.0)
    own = 0.5 * (A.diagonal()[[1, 4, 7]] + A.diagonal()[[2, 5, 8]])
    np.testing.assert_allclose(S[np.ix_(problem.normal_rows, problem.normal_rows)], np.diag(own), atol=1e-12)


def test_body_pairs_stay_body_pairs():
    problem = scene("body pairs")
    for half in (NormalHalf.of(problem, 0.0), BoxHalf.of(problem), DiscHalf.of(problem)):
        assert isinstance(half.S, perp.FactoredOperator)
        assert half.S.pairs is not None
    compressed = scene("factored")
    for half in (NormalHalf.of(compressed, 0.0), BoxHalf.of(compressed), DiscHalf.of(compressed)):
        assert isinstance(half.S, perp.FactoredOperator)


def test_boxes_and_contacts_in_the_plane_have_no_discs():
    assert isinstance(friction_half(scene("dense", "box")), BoxHalf)
    plane = perp.ContactProblem(np.eye(4), np.ones(4), 0.3, "cone", dimension=2)
    assert isinstance(friction_half(plane), BoxHalf)
    assert isinstance(friction_half(scene("dense")), DiscHalf)


@given(contact_problems())
def test_a_half_posed_at_x_has_the_slack_of_the_whole_there(problem):
    x = problem.project(np.random.default_rng(0).standard_normal(problem.n))
    y = problem.slack(x)
    for half in (NormalHalf.of(problem, 0.3), friction_half(problem)):
        posed, start = half.pose(problem, x, y)
        slack = posed.slack(start)
        if isinstance(half, DiscHalf):
            assert not slack[problem.normal_rows].any()
            slack[problem.normal_rows] = y[problem.normal_rows]
        np.testing.assert_allclose(slack, y[half.rows], atol=1e-12)
        np.testing.assert_allclose(posed.project(start), start, atol=1e-15)


def test_only_the_symmetric_part_is_solved_for():
    A = np.array([[2.0, 0.1, 0.0], [0.1, 3.0, 0.5], [0.0, 0.7, 4.0]])
    problem = perp.ContactProblem(A, np.ones(3), 0.3)
    np.testing.assert_allclose(BoxHalf.of(problem).S.to_dense(), [[3.0, 0.6], [0.6, 4.0]])


def test_a_radius_is_finite_whatever_the_friction():
    problem = perp.ContactProblem(np.eye(3), np.ones(3), 1e200, "cone")
    with np.errstate(over="ignore"):  # as the loop does
        posed, _ = DiscHalf.of(problem).pose(problem, np.array([1e200, 0.0, 0.0]), np.ones(3))
    assert np.isfinite(posed.friction).all()
