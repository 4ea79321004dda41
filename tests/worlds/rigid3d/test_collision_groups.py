"""Shapes that pass through one another: groups, and which of them a shape avoids."""

from __future__ import annotations

import pytest

from perp.errors import InvalidProblem
from perp.worlds.rigid3d import Geom, RigidBuilder

pytest.importorskip("mujoco")


def overlapping(*options):
    """The pairs that collide of as many balls in one place as there are options."""
    builder = RigidBuilder()
    for option in options:
        builder.body([Geom(form="sphere", size=(1.0,), mass=1.0, **option)], (0.1 * len(builder._velocities), 0.0, 0.0))
    return {tuple(pair) for pair in builder.world().find_contacts(0.01).bodies.tolist()}


def test_shapes_collide_unless_each_avoids_the_group_of_the_other():
    assert overlapping({}, {}) == {(0, 1)}
    assert overlapping({"group": 3}, {"group": 30}) == {(0, 1)}
    assert overlapping({"avoids": (0,)}, {"avoids": (0,)}) == set()
    assert overlapping({"avoids": (0,)}, {}) == {(0, 1)}
    assert overlapping({"group": 1, "avoids": (2,)}, {"group": 2, "avoids": (1,)}) == set()
    assert overlapping({"group": 1, "avoids": (2,)}, {"group": 2}) == {(0, 1)}


def test_links_of_a_cable_pass_through_one_another_and_meet_everything_else():
    link = {"group": 1, "avoids": (1,)}
    assert overlapping(link, link, {}) == {(0, 2), (1, 2)}


@pytest.mark.parametrize("wrong", [{"group": 31}, {"group": -1}, {"avoids": (2, 40)}])
def test_a_group_that_does_not_exist_is_refused(wrong):
    with pytest.raises(InvalidProblem, match="there are groups 0 to 30"):
        overlapping(wrong)
