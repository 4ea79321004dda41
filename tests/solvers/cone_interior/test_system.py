"""The linear equations that the kernels of `cone_interior` read."""

from __future__ import annotations

import conic_problems
import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.cone_interior.cones import list_cones
from perp.solvers.cone_interior.system import make_system


def system_of(problem, space="auto"):
    rows = list_cones(problem)
    return rows, make_system(problem, rows, space, "amd")


def test_factored_matrices_are_solved_in_body_space_and_others_in_contact_space():
    stack = gallery.make("box_stack", n=48).problem
    assert system_of(stack)[1].in_bodies
    assert not system_of(stack, "contact")[1].in_bodies
    assert not system_of(perp.ContactProblem(stack.A.to_dense(), stack.b, stack.friction))[1].in_bodies


@pytest.mark.parametrize(("model", "symmetric"), [("box", False), ("cone", False), ("convex", True), ("disc", True)])
@pytest.mark.parametrize("space", ["body", "contact"])
def test_the_matrix_is_symmetric_unless_friction_follows_the_normal(model, symmetric, space):
    assert system_of(gallery.make("box_stack", n=48, model=model).problem, space)[1].symmetric == symmetric


def test_an_unsymmetric_matrix_is_found_out():
    assert not system_of(perp.LCP([[2.0, 1.0], [0.0, 2.0]], np.ones(2)))[1].symmetric
    assert system_of(perp.LCP([[2.0, 1.0], [1.0, 2.0]], np.ones(2)))[1].symmetric


@pytest.mark.parametrize("space", ["body", "contact"])
def test_numbers_are_in_the_units_of_the_cones(space):
    problem = conic_problems.contacts("cone", compliance=0.3)
    rows, conic = system_of(problem, space)
    inside = rows.block_of_row >= 0
    np.testing.assert_allclose(conic.diagonal, problem.diagonal / rows.unit**2)
    expected = problem.A.compliance / rows.unit**2 if space == "body" else np.zeros(problem.n)
    np.testing.assert_allclose(conic.compliance, expected)
    moved = (problem.b + problem.A @ rows.value) / rows.unit
    np.testing.assert_allclose(conic.b[inside], moved[inside])


@pytest.mark.parametrize("space", ["body", "contact"])
def test_blocks_of_the_same_bodies_share_their_columns_in_body_space(space):
    problem = gallery.make("box_stack", n=48).problem
    rows, conic = system_of(problem, space)
    groups = conic.system.group_blocks.size - 1
    assert groups == rows.row.size if space == "contact" else 1 <= groups < rows.row.size
    assert conic.system.group_blocks[-1] == rows.row.size


def test_bodies_that_cannot_move_have_no_columns():
    masses = perp.BodyMasses([1.0, np.inf], [np.eye(3)] * 2)
    jacobian = np.random.default_rng(0).standard_normal((3, 2, 6))
    A = perp.FactoredOperator.from_body_pairs([[0, 1]] * 3, jacobian, masses)
    _, conic = system_of(perp.ContactProblem(A, -np.ones(3), 0.5, "cone"))
    natural = conic.system.rows[conic.system.columns[: conic.system.group_columns[-1]]]
    assert sorted(natural.tolist()) == list(range(6))
