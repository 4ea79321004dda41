"""Which cones and blocks a problem gets."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.kernels.conic.layout import FIXED, FOLLOWING, OWN
from perp.solvers.cone_interior.cones import list_cones

FRICTION = np.array([0.5, 0.0, 2.0])


def contacts(model, dimension=3, **rows):
    n = dimension * FRICTION.size + len(rows.get("lower", ()))
    return perp.ContactProblem(np.eye(n), np.ones(n), FRICTION, model, dimension=dimension, **rows)


def table(found):
    """Slot, tail, count and mode of every cone."""
    cones = found.cones
    return [tuple(int(numbers[k]) for numbers in cones[:4]) for k in range(cones.slot.size)]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("convex", [(0, 1, 2, OWN), (3, 3, 0, OWN), (6, 7, 2, OWN)]),
        ("cone", [(0, 0, 0, OWN), (1, 1, 2, FOLLOWING), (3, 3, 0, OWN), (6, 6, 0, OWN), (7, 7, 2, FOLLOWING)]),
        ("disc", [(0, 0, 0, OWN), (1, 1, 2, FIXED), (3, 3, 0, OWN), (6, 6, 0, OWN), (7, 7, 2, FIXED)]),
        (
            "box",
            [
                *((0, 0, 0, OWN), (1, 1, 1, FOLLOWING), (2, 2, 1, FOLLOWING)),
                *((3, 3, 0, OWN), (6, 6, 0, OWN), (7, 7, 1, FOLLOWING), (8, 8, 1, FOLLOWING)),
            ],
        ),
    ],
)
def test_a_contact_has_the_cones_of_its_law_and_a_smooth_one_a_half_line(model, expected):
    found = list_cones(contacts(model))
    with_tails = [(slot, tail if count else slot, count, mode) for slot, tail, count, mode in table(found)]
    assert with_tails == expected
    assert found.row.tolist() == [0, 3, 6]
    assert found.width.tolist() == [3, 1, 3]
    assert found.block_of_row.tolist() == [0, 0, 0, 1, -1, -1, 2, 2, 2]
    assert found.symmetric == (model in ("convex", "disc"))


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_friction_is_one_in_the_units_of_the_cones(model):
    np.testing.assert_array_equal(list_cones(contacts(model)).unit, [0.5, 1, 1, 1, 1, 1, 2, 1, 1])


def test_the_radius_of_a_disc_is_its_head():
    found = list_cones(contacts("disc"))
    np.testing.assert_array_equal(found.unit, np.ones(9))
    np.testing.assert_array_equal(found.cones.offset[found.cones.mode == FIXED], [0.5, 2.0])


def test_heads_that_follow_are_normals_of_their_contact():
    found = list_cones(contacts("box"))
    np.testing.assert_array_equal(found.cones.head[found.cones.mode == FOLLOWING], [0, 0, 6, 6])


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
def test_a_contact_in_a_plane_has_one_tangent(model):
    found = list_cones(contacts(model, 2))
    assert found.width.tolist() == [2, 1, 2]
    assert found.cones.count.max() == 1
    assert found.block_of_row.tolist() == [0, 0, 1, -1, 2, 2]


LOWER = np.array([-np.inf, 1.0, -np.inf, -1.0, 3.0])
UPPER = np.array([np.inf, np.inf, 2.0, 5.0, 3.0])


@pytest.mark.parametrize("after_contacts", [False, True])
def test_rows_with_bounds_are_equations_half_lines_intervals_or_cannot_move(after_contacts):
    problem = (
        contacts("cone", lower=LOWER, upper=UPPER)
        if after_contacts
        else perp.BoxLCP(np.eye(5), np.ones(5), LOWER, UPPER)
    )
    first = 9 if after_contacts else 0
    found = list_cones(problem)
    own = found.row >= first
    assert (found.row[own] - first).tolist() == [0, 1, 2, 3]
    assert np.diff(found.first_cone)[own].tolist() == [0, 1, 1, 1]
    cones = found.cones
    last = slice(-3, None)
    assert (cones.slot[last] - first).tolist() == [1, 2, 3]
    assert cones.mode[last].tolist() == [OWN, OWN, FIXED]
    assert cones.count[last].tolist() == [0, 0, 1]
    np.testing.assert_array_equal(cones.sign[last], [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(cones.offset[last], [1.0, -2.0, 3.0])
    np.testing.assert_array_equal(found.centre[first:], [0.0, 0.0, 0.0, 2.0, 0.0])
    np.testing.assert_array_equal(found.value[first:], [0.0, 0.0, 0.0, 0.0, 3.0])
    assert found.block_of_row[-1] == -1


def test_an_lcp_has_half_lines_alone():
    found = list_cones(perp.LCP(np.eye(3), np.ones(3)))
    assert [(slot, count, mode) for slot, _, count, mode in table(found)] == [(k, 0, OWN) for k in range(3)]
    np.testing.assert_array_equal(found.cones.offset, 0.0)


def test_a_problem_without_rows_has_no_cones():
    found = list_cones(perp.LCP(np.empty((0, 0)), []))
    assert found.row.size == found.cones.slot.size == 0
    assert found.first_cone.tolist() == [0]
