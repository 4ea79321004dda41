"""Compliances by inertia and by load, against what a dense solve and closed forms give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import perp
from perp.errors import MissingAbility


def two_points(masses, speeds, **options):
    """Points that fall on the ground, not coupled."""
    A = np.diag(np.repeat(1.0 / np.asarray(masses), 3))
    b = np.zeros(A.shape[0])
    b[::3] = -np.asarray(speeds)
    return perp.ContactProblem(A, b, 0.5, "cone", **options)


def by_load_twin(problem, value):
    """The formula with a dense matrix."""
    A, n = np.asarray(problem.A), problem.contacts
    w = np.diag(A).reshape(n, -1).mean(axis=1)
    z = np.linalg.solve(A + 1e-3 * np.diag(np.repeat(w, problem.dimension)), -problem.b).reshape(n, -1)
    size = np.linalg.norm(z, axis=1)
    impulse = size + np.sqrt(np.mean(w * size**2)) / np.sqrt(w)
    return value * np.abs(problem.b).max() / impulse


def test_si_is_the_number_itself():
    assert perp.contact_compliance(two_points([1.0, 4.0], [1.0, 1.0]), 0.25, "si").tolist() == [0.25, 0.25]


def test_by_inertia_is_a_share_of_the_mean_diagonal_entry():
    A = np.diag([1.0, 2.0, 6.0, 0.1, 0.2, 0.3])
    problem = perp.ContactProblem(A, -np.ones(6), 0.5)
    assert perp.contact_compliance(problem, 1e-2) == pytest.approx([3e-2, 2e-3])


@pytest.mark.parametrize("units", ["by_inertia", "by_load"])
def test_a_compliance_that_is_there_does_not_count(units):
    rigid = perp.gallery.make("box_stack", n=96, model="cone", load="gravity").problem
    expected = perp.contact_compliance(rigid, 1e-2, units)
    assert perp.contact_compliance(rigid.with_compliance(0.7), 1e-2, units) == pytest.approx(expected, rel=1e-9)


def test_by_load_gives_way_by_a_share_of_the_speed_whatever_the_mass():
    masses, value = np.array([1.0, 1e4]), 1e-3
    rigid = two_points(masses, [0.5, 0.5])
    compliance = perp.contact_compliance(rigid, value, "by_load")
    x = perp.solve(rigid.with_compliance(compliance), tol=1e-12).x[::3]
    assert np.all(compliance * x <= value * 0.5)
    light = perp.contact_compliance(two_points([1.0], [0.5]), value, "by_load")
    assert light == pytest.approx(value * 0.5 / (2.0 * 0.5 / 1.001))  # twice the impulse: its own and the typical one


@pytest.mark.parametrize("form", ["factored", "dense", "sparse"])
@pytest.mark.parametrize("ratio", [1.0, 1e4])
def test_by_load_is_the_formula_in_every_form_of_the_matrix(form, ratio):
    rigid = perp.gallery.make("box_stack", n=336, model="cone", load="gravity", mass_ratio=ratio).problem
    dense = np.asarray(rigid.A)
    A = {"factored": rigid.A, "dense": dense, "sparse": sparse.csr_array(dense)}[form]
    problem = perp.ContactProblem(A, rigid.b, rigid.friction, "cone")
    assert perp.contact_compliance(problem, 1e-3, "by_load") == pytest.approx(by_load_twin(problem, 1e-3), rel=1e-6)


def test_by_load_takes_a_matrix_that_is_not_symmetric():
    A = np.eye(6) + np.triu(np.full((6, 6), 0.3), 1)
    problem = perp.ContactProblem(A, -np.arange(1.0, 7.0), 0.5)
    assert perp.contact_compliance(problem, 1e-3, "by_load") == pytest.approx(by_load_twin(problem, 1e-3))


def test_joints_carry_their_part_and_limits_that_are_far_away_do_not():
    def hung(lower, offset):
        """A point of 1 kg that falls on the ground at 1 m/s, and a row along the same normal."""
        J = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        A = perp.FactoredOperator(J, np.ones(3))
        return perp.ContactProblem(A, [-1.0, 0.0, 0.0, offset], [0.5], "cone", lower=[lower], upper=[np.inf])

    alone = perp.contact_compliance(two_points([1.0], [1.0]), 1e-3, "by_load")
    joint = perp.contact_compliance(hung(-np.inf, -1.0), 1e-3, "by_load")
    far = perp.contact_compliance(hung(0.0, 3.0), 1e-3, "by_load")
    assert joint == pytest.approx(2.0 * alone, rel=1e-3)  # half the impulse
    assert far == pytest.approx(alone)


def test_where_nothing_happens_the_compliance_is_that_of_the_inertia():
    still = perp.ContactProblem(np.eye(3), np.zeros(3), 0.5)
    assert perp.contact_compliance(still, 1e-2, "by_load") == pytest.approx([1e-2])


def test_no_contacts_have_no_compliance():
    problem = perp.ContactProblem(np.eye(2), -np.ones(2), [], extra_rows=2)
    for units in ("si", "by_inertia", "by_load"):
        assert perp.contact_compliance(problem, 1e-2, units).size == 0


def test_what_cannot_be_told_is_refused():
    problem = two_points([1.0], [1.0])
    with pytest.raises(ValueError, match="did you mean 'by_load'"):
        perp.contact_compliance(problem, 1e-3, "by_lod")
    with pytest.raises(ValueError, match="value is -1"):
        perp.contact_compliance(problem, -1.0)
    with pytest.raises(TypeError, match="ContactProblem"):
        perp.contact_compliance(perp.LCP(np.eye(1), [-1.0]), 1e-3)
    blind = perp.ContactProblem(perp.MatrixFreeOperator(np.eye(3)), problem.b, 0.5)
    with pytest.raises(MissingAbility, match="diagonal"):
        perp.contact_compliance(blind, 1e-3)
    known = perp.ContactProblem(perp.MatrixFreeOperator(np.eye(3), np.ones(3)), problem.b, 0.5)
    with pytest.raises(MissingAbility, match="by_inertia does not"):
        perp.contact_compliance(known, 1e-3, "by_load")
