"""The pile: who rests on whom, and what becomes of its matrix."""

from __future__ import annotations

import numpy as np
import pytest

from perp import gallery, verify
from perp.linalg import analyse, order
from perp.linalg.free_systems.body import body_pattern, movable_parts


def test_every_box_rests_on_four_points_and_a_share_of_the_side_faces_touch():
    problem = gallery.make("boxed_pile", n=5000, seed=1).problem
    bodies, _ = problem.A.pairs.as_given()
    boxes = problem.A.mass.mass.size
    contacts = bodies[::3]
    carried = np.bincount(contacts[: 4 * boxes, 1], minlength=boxes)
    assert (carried == 4).all()
    width = round(np.sqrt(np.count_nonzero(contacts[: 4 * boxes, 0] == -1) / 4))
    height = boxes // width**2
    sides = 2 * width * (width - 1) * height
    assert (len(contacts) - 4 * boxes) / sides == pytest.approx(0.25, abs=0.04)
    assert problem.n == pytest.approx(5000, rel=0.1)


def test_a_box_of_the_second_layer_stands_on_four_different_boxes():
    problem = gallery.make("boxed_pile", n=1000).problem
    bodies, _ = problem.A.pairs.as_given()
    boxes = problem.A.mass.mass.size
    below = bodies[: 12 * boxes : 3, 0].reshape(boxes, 4)
    layer = np.count_nonzero((below == -1).all(axis=1))
    width = round(np.sqrt(layer))
    inner = layer + np.arange(layer).reshape(width, width)[:-1, :-1].reshape(-1)
    for box in inner:
        own = box - layer
        assert set(below[box]) == {own, own + 1, own + width, own + width + 1}


def test_the_planted_solution_solves_and_half_of_the_rows_are_redundant():
    example = gallery.make("boxed_pile", n=600, seed=2)
    assert verify(example.problem, example.x).residual < 1e-10
    A = example.problem.A
    assert np.linalg.matrix_rank(A.J.toarray(), tol=1e-9) <= A.mass.dofs < 0.6 * A.n
    spectrum = np.linalg.eigvalsh(A.to_dense())
    assert 1e8 < spectrum[-1] / spectrum[0] < 1e11


def test_the_factor_of_a_pile_fills_more_than_that_of_a_wall():
    pile = gallery.make("boxed_pile", n=5000).problem.A
    wall = gallery.make("boxed_stack", n=5000).problem.A
    work = []
    for A in (pile, wall):
        pattern = body_pattern(*movable_parts(A))
        work.append(analyse(pattern, order(pattern)).flops / A.mass.dofs)
    assert work[0] > 5 * work[1]


def test_under_gravity_the_pile_rests():
    problem = gallery.make("boxed_pile", n=300, load="gravity", mass_ratio=1.0).problem
    from perp import solve

    result = solve(problem, "dantzig", tol=1e-9)
    assert result.success
    weight = 9.81 / 60.0 * problem.A.mass.mass.sum()
    bodies, _ = problem.A.pairs.as_given()
    on_ground = np.flatnonzero(bodies[::3, 0] == -1)
    assert result.x[3 * on_ground].sum() == pytest.approx(weight, rel=0.05)


def test_the_chain_is_ill_conditioned_whatever_the_scaling_of_its_rows():
    example = gallery.make("hinged_chain", n=200, seed=1)
    assert verify(example.problem, example.x).residual < 1e-10
    A = example.problem.A.to_dense()
    root = 1.0 / np.sqrt(np.diag(A))
    for matrix in (A, root[:, None] * A * root):
        spectrum = np.linalg.eigvalsh(matrix)
        assert spectrum[-1] / spectrum[0] > 1e6
