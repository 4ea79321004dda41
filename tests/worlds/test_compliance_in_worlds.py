"""What a compliance of contacts means in a world: how deep bodies rest, how fast they creep, and where it stays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import perp
from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane
from perp.worlds.rigid3d import RigidWorld

H, GRAVITY, GAMMA = 0.01, 10.0, 0.2
VALUE = 0.02
BOX = f"""
<mujoco>
  <option gravity="0 0 -{GRAVITY}"/>
  <worldbody>
    <geom type="plane" size="10 10 1" friction="0.8"/>
    <body pos="0 0 0.5"><freejoint/><geom type="box" size="0.5 0.5 0.5" mass="1" friction="0.8"/></body>
  </worldbody>
</mujoco>
"""


def solve(problem, x0):
    return perp.solve(problem, x0=x0, tol=1e-12)


def disc(**options):
    ground = HalfPlane((0.0, 0.0), (0.0, 1.0))
    return DiscWorld(Discs([[0.0, 1.0]], 1.0, 1.0), [ground], gravity=(0.0, -GRAVITY), **options)


def cube(**options):
    """A cube of 1 kg with edges of 1 m; each of its corners has w = 4 / kg in all directions (I = 1/6 kg m^2)."""
    return RigidWorld.from_xml(BOX, model="cone", slop=0.0, rounding=0.0, **options)


def free_box(**options):
    return ArticulatedWorld.from_xml(BOX, model="cone", **options)


def rest(world, steps=200):
    for _ in range(steps):
        report = world.step(H, solve)
    return report


@pytest.mark.parametrize(
    ("make", "inertia", "contacts", "height"), [(disc, 2.0, 1, 1.0), (cube, 4.0, 4, 0.5), (free_box, 4.0, 4, 0.5)]
)
def test_a_body_at_rest_sinks_in_by_step_times_compliance_times_impulse_over_error_reduction(
    make, inertia, contacts, height
):
    world = make(contact_compliance=VALUE)
    report = rest(world)
    compliance, impulse = VALUE * inertia, GRAVITY * H / contacts
    assert report.problem.contact_compliance == pytest.approx(np.full(contacts, compliance), rel=1e-3)
    sunk = height - world.bodies()[0][0, -1]
    assert sunk == pytest.approx(H * compliance * impulse / GAMMA, rel=1e-2)
    assert abs(world.bodies()[2]).max() < 1e-9


def test_by_load_the_speed_is_a_share_of_that_of_the_fall():
    world = disc(contact_compliance=VALUE, compliance_units="by_load")
    report = rest(world)
    speed = np.abs(report.problem.b).max()
    # impulse_c is twice |z_c| for a single contact, whose tangent does nothing, and |z_c| = |b_n| / (1 + 2e-3)
    assert report.problem.contact_compliance == pytest.approx([VALUE * speed / (2.0 * speed / 1.002)], rel=1e-9)
    sunk = 1.0 - world.bodies()[0][0, 1]
    assert sunk == pytest.approx(H * report.problem.contact_compliance[0] * GRAVITY * H / GAMMA, rel=1e-2)


def test_si_units_are_taken_as_they_are():
    report = disc(contact_compliance=0.125, compliance_units="si").step(H, solve)
    assert report.problem.contact_compliance.tolist() == [0.125]


def test_a_box_that_friction_holds_creeps_by_the_compliance_times_the_impulse_that_holds_it():
    pull = 2.0
    world = cube(contact_compliance=VALUE)
    world.force[0, 0] = pull
    rest(world)
    creep = VALUE * 4.0 * pull * H / 4.0  # C |x_t| of each of four contacts
    assert world.velocity[0, 0] == pytest.approx(creep, rel=1e-2)


def test_a_compliance_comes_on_top_of_that_of_the_world_and_is_told_apart():
    report = disc(compliance=0.5, contact_compliance=0.125, compliance_units="si").step(H, solve)
    assert report.problem.A.compliance.tolist() == [0.625, 0.625]
    found = perp.verify(report.problem, report.x)
    assert found.compliance_speed == pytest.approx(0.125 * np.linalg.norm(report.x))


@pytest.mark.parametrize("make", [disc, cube, free_box])
def test_a_world_without_compliance_makes_the_problem_that_it_made_before(make):
    world = make()
    assert world.contact_compliance == 0.0
    assert not world.step(H, solve).problem.is_compliant


def test_copies_and_pickles_have_the_compliance():
    world = disc(contact_compliance=VALUE, compliance_units="by_load")
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert (other.contact_compliance, other.compliance_units) == (VALUE, "by_load")


def test_it_may_be_changed_between_steps():
    world = disc()
    world.step(H, solve)
    world.contact_compliance, world.compliance_units = 0.25, "si"
    assert world.step(H, solve).problem.contact_compliance.tolist() == [0.25]


def test_islands_of_a_step_are_compliant_too():
    ground = HalfPlane((0.0, 0.0), (0.0, 1.0))
    world = DiscWorld(Discs([[0.0, 1.0], [5.0, 1.0]], 1.0, 1.0), [ground], contact_compliance=VALUE)
    report = world.step(H, lambda problem, x0: perp.solve_islands(problem, x0=x0, tol=1e-12))
    found = perp.verify(report.problem, report.x)
    assert found.residual < 1e-11
    assert found.rigid_residual > 1e-3


def test_what_is_no_compliance_is_refused():
    with pytest.raises(ValueError, match="contact_compliance is -1"):
        disc(contact_compliance=-1.0)
    with pytest.raises(ValueError, match=r"compliance_units is 'by_inerta'.*by_inertia"):
        disc(compliance_units="by_inerta")
    world = disc()
    with pytest.raises(ValueError, match="compliance_units"):
        world.compliance_units = "furlongs"
