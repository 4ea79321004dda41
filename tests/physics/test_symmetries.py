"""Laws of motion know no direction, place, unit or order: scenes that differ in these move alike.

Where a change is one of powers of two, or of signs, every bit must agree; elsewhere rounding errors grow by a few
digits. Solvers make a fixed number of sweeps, so that no tolerance decides when to stop.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import perp
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment

H = 1 / 60
UNCHANGED, UNTURNED = np.eye(2), np.eye(3)


def sweeps(problem, x0):
    return perp.solve(problem, "block_gauss_seidel", x0=x0, tol=0.0, max_iterations=60)


def many_sweeps(problem, x0):
    """After sixty, a contact whose own small problem ends an iteration earlier can still be seen in the 11th digit."""
    return perp.solve(problem, "block_gauss_seidel", x0=x0, tol=0.0, max_iterations=400)


def exactly(problem, x0):
    result = perp.solve(problem, "block_principal", x0=x0, tol=1e-11)
    assert result.success, result
    return result


class BoxOfDiscs:
    """Twenty discs that fall into a box onto a slanted segment, seen in another frame, in other units."""

    def __init__(self, turn=UNCHANGED, shift=(0.0, 0.0), mass=1.0, length=1.0, time=1.0, order=None):
        draw, self.time, self.length = np.random.default_rng(0), time, length
        self.turn, self.shift = np.asarray(turn), np.asarray(shift)
        self.order = np.arange(20) if order is None else order
        place = np.stack(np.meshgrid(np.arange(4.0), np.arange(5.0)), axis=-1).reshape(-1, 2) * 0.65 + 0.4
        place = place + draw.uniform(-0.01, 0.01, (20, 2))
        radius, masses = draw.uniform(0.15, 0.3, 20), draw.uniform(0.5, 3.0, 20)
        velocity, spin = draw.uniform(-1.0, 1.0, (20, 2)), draw.uniform(-3.0, 3.0, 20)
        sides = [((0.0, 0.0), (0.0, 1.0)), ((0.0, 0.0), (1.0, 0.0)), ((2.75, 0.0), (-1.0, 0.0))]
        walls = [HalfPlane(self.seen(point), self.turn @ normal, 0.4, 0.3) for point, normal in sides]
        bodies = Discs(
            self.seen(place)[self.order],
            length * radius[self.order],
            mass * masses[self.order],
            velocity=(length / time * velocity @ self.turn.T)[self.order],
            spin=(np.linalg.det(self.turn).round() * spin / time)[self.order],
            friction=0.4,
            restitution=0.3,
        )
        slanted = Segment(self.seen((1.0, 2.0)), self.seen((2.0, 1.5)), 0.3)
        gravity = length / time**2 * (self.turn @ [0.0, -9.81])
        self.world = DiscWorld(bodies, [*walls, slanted], gravity=gravity)

    def seen(self, place):
        return self.length * (np.asarray(place) @ self.turn.T) + self.shift

    def positions(self, steps, solve=sweeps):
        """Where the discs are after so many steps, in the frame and the units of the first scene."""
        for _ in range(steps):
            report = self.world.step(H * self.time, solve)
        assert len(report.contacts) > 20
        place = np.empty((20, 2))
        place[self.order] = (self.world.bodies()[0] - self.shift) @ self.turn / self.length
        return place


@pytest.fixture(scope="module")
def discs_after_40_steps():
    return BoxOfDiscs().positions(40)


@settings(max_examples=8)
@given(angle=st.floats(-4.0, 4.0))
def test_discs_in_a_turned_world_move_alike(discs_after_40_steps, angle):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(BoxOfDiscs(turn).positions(40), discs_after_40_steps, rtol=0, atol=1e-12)


def test_discs_in_a_mirror_move_alike_bit_by_bit(discs_after_40_steps):
    np.testing.assert_array_equal(BoxOfDiscs(np.diag([-1.0, 1.0])).positions(40), discs_after_40_steps)


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_discs_far_away_move_alike_but_for_the_rounding_of_their_positions(discs_after_40_steps, far):
    moved = BoxOfDiscs(shift=(far, -2.0 * far)).positions(40)
    np.testing.assert_allclose(moved, discs_after_40_steps, rtol=0, atol=1e-13 * far)


@pytest.mark.parametrize(
    "units",
    [
        {"mass": 2.0**30},
        {"mass": 2.0**-30},
        {"length": 4.0, "time": 2.0},
        {"length": 2.0**-20, "time": 2.0**-10},
        {"length": 2.0**20, "time": 2.0**10},
        {"time": 8.0},
    ],
    ids=str,
)
def test_discs_in_other_units_move_alike_bit_by_bit(discs_after_40_steps, units):
    np.testing.assert_array_equal(BoxOfDiscs(**units).positions(40), discs_after_40_steps)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**31))
def test_discs_numbered_otherwise_move_alike_where_every_step_is_solved(seed):
    order = np.random.default_rng(seed).permutation(20)
    np.testing.assert_allclose(
        BoxOfDiscs(order=order).positions(30, exactly), BoxOfDiscs().positions(30, exactly), rtol=0, atol=1e-10
    )


# ---- bodies in space


FORMS = ("box", "sphere", "capsule")


def quaternion(turn):
    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    return w, x, y, z


class FallingBodies:
    """Boxes, balls and capsules fall on one another and on the ground, seen in another frame, in other units.

    In a mirror S a place is S p, an orientation S R S, a spin -S w.
    """

    def __init__(
        self, turn=UNTURNED, shift=(0.0, 0.0, 0.0), mass=1.0, length=1.0, time=1.0, order=range(6), forms=FORMS
    ):
        rigid3d = pytest.importorskip("perp.worlds.rigid3d")
        pytest.importorskip("mujoco")
        draw, self.time, self.length, self.order = np.random.default_rng(0), time, length, list(order)
        self.turn, self.shift = np.asarray(turn), np.asarray(shift)
        sign = np.linalg.det(self.turn).round()
        sizes = {"box": (0.3, 0.25, 0.2), "sphere": (0.25,), "capsule": (0.2, 0.15)}
        builder = rigid3d.RigidBuilder(gravity=length / time**2 * (self.turn @ [0.0, 0.0, -9.81]))
        up = Rotation.align_vectors([self.turn @ [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]])[0].as_matrix()
        ground = {"form": "plane", "size": (10.0, 10.0), "position": shift, "friction": 0.4}
        builder.fixed([rigid3d.Geom(**ground, orientation=quaternion(up))])
        drawn = [(draw.uniform(-1, 1, (3, 3)), draw.uniform(0.5, 2.0)) for _ in range(6)]
        for k in self.order:
            form, ((tilt, velocity, spin), kilograms) = forms[k % len(forms)], drawn[k]
            place = np.array([0.05 * k, 0.03 * k * (-1) ** k, 0.35 + 0.75 * k])
            mirrored = self.turn @ Rotation.from_rotvec(tilt).as_matrix() @ np.diag([sign, 1.0, 1.0])
            builder.body(
                [rigid3d.Geom(form=form, size=length * np.array(sizes[form]), mass=mass * kilograms, friction=0.4)],
                self.seen(place),
                quaternion(mirrored),
                length / time * (self.turn @ velocity),
                sign / time * (self.turn @ (2.0 * spin)),
            )
        # contacts are looked for at the same share of the sizes
        self.world = builder.world(model="cone", margin=0.01 * length, rounding=3e-4 * length, slop=1e-5 * length)

    def seen(self, place):
        return self.length * (self.turn @ place) + self.shift

    def positions(self, steps, solve=many_sweeps):
        touched = 0
        for _ in range(steps):
            touched += np.count_nonzero(self.world.step(H * self.time, solve).x)
        assert touched
        place = np.empty((6, 3))
        place[self.order] = (self.world.position - self.shift) @ self.turn / self.length
        return place


@pytest.fixture(scope="module")
def bodies_after_60_steps():
    return FallingBodies().positions(60)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**31))
def test_bodies_in_a_turned_world_move_alike(bodies_after_60_steps, seed):
    turn = Rotation.random(random_state=seed).as_matrix()
    np.testing.assert_allclose(FallingBodies(turn).positions(60), bodies_after_60_steps, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("forms", "steps"), [(FORMS, 16), (("sphere",), 60)], ids=["until a box lies", "balls"])
def test_bodies_in_a_mirror_move_alike(forms, steps):
    """The corners of a box that lies come in another order there, and its friction has many solutions."""
    mirrored = FallingBodies(np.diag([-1.0, 1.0, 1.0]), forms=forms).positions(steps)
    np.testing.assert_allclose(mirrored, FallingBodies(forms=forms).positions(steps), rtol=0, atol=1e-11)


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_bodies_far_away_move_alike_but_for_the_rounding_of_their_positions(bodies_after_60_steps, far):
    moved = FallingBodies(shift=(far, -2.0 * far, 0.5 * far)).positions(60)
    np.testing.assert_allclose(moved, bodies_after_60_steps, rtol=0, atol=3e-13 * far)


@pytest.mark.parametrize(
    "units", [{"length": 4.0, "time": 2.0}, {"length": 2.0**-6, "time": 2.0**-3}, {"time": 8.0}], ids=str
)
def test_bodies_in_other_units_of_length_and_time_move_alike_bit_by_bit(bodies_after_60_steps, units):
    np.testing.assert_array_equal(FallingBodies(**units).positions(60), bodies_after_60_steps)


@pytest.mark.parametrize("mass", [2.0**20, 2.0**-20])
def test_bodies_in_other_units_of_mass_move_alike(bodies_after_60_steps, mass):
    np.testing.assert_allclose(FallingBodies(mass=mass).positions(60), bodies_after_60_steps, rtol=0, atol=1e-11)


def test_bodies_numbered_otherwise_move_alike(bodies_after_60_steps):
    moved = FallingBodies(order=(3, 1, 5, 0, 2, 4)).positions(60)
    np.testing.assert_allclose(moved, bodies_after_60_steps, rtol=0, atol=1e-8)


# ---- joints

PLACE, AXIS = (0.4, 0.0, 3.0), (0.0, 1.0, 0.2)
HERE, THERE = (0.0, 0.0, 3.05), (0.8, 0.0, 3.1)

JOINTS = {
    "ball": lambda j, a, b, sign: j.Ball(a, b, PLACE),
    "fixed": lambda j, a, b, sign: j.Fixed(a, b, PLACE),
    "hinge": lambda j, a, b, sign: j.Hinge(a, b, PLACE, AXIS),
    "limits": lambda j, a, b, sign: j.Hinge(a, b, PLACE, AXIS, limits=sorted((-0.05 * sign, 0.2 * sign))),
    "motor": lambda j, a, b, sign: j.Hinge(a, b, PLACE, AXIS, motor_speed=2.0 * sign, max_torque=0.3),
    "universal": lambda j, a, b, sign: j.Universal(a, b, PLACE, *[(1, 0, 0), (0, 1, 0)][::sign]),
    "rod": lambda j, a, b, sign: j.Distance(a, b, *[HERE, THERE][::sign]),
    "rope": lambda j, a, b, sign: j.Distance(a, b, *[HERE, THERE][::sign], rope=True),
}


@pytest.mark.parametrize("held", ["by a body", "by the world"])
@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_of_b_and_a_moves_as_that_of_a_and_b(kind, held):
    """Rows along the axes of one body and of the other differ where a joint has drifted apart, by h^2."""
    pytest.importorskip("mujoco")
    from perp.worlds import rigid3d

    def end(sign, dt):
        builder = rigid3d.RigidBuilder()
        shape = [rigid3d.Geom(form="box", size=(0.3, 0.2, 0.1), mass=1.0, collides=False)]
        pair = [
            builder.body(shape, (0.0, 0.0, 3.0), spin=(0.3, 1.0, -0.5)),
            builder.body(shape, (0.8, 0.1, 3.1), velocity=(0.0, 0.3, 0.0), spin=(-1.0, 0.2, 0.4)),
        ]
        if held == "by the world":
            pair[0] = -1
        builder.join(JOINTS[kind](rigid3d, *pair[::sign], sign))
        world = builder.world()
        for _ in range(round(0.3 / dt)):
            world.step(dt, lambda problem, x0: perp.solve(problem, "cone_newton", x0=x0, tol=1e-12))
        return world.position

    coarse, fine = (np.abs(end(1, dt) - end(-1, dt)).max() for dt in (0.02, 0.005))
    assert fine < max(coarse / 5.0, 1e-7)
    assert coarse < 5e-3
