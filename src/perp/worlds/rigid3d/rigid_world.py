"""Free rigid bodies in space: MuJoCo finds the contacts, joints are rows of our own, impulses come from a solver.

State: centres of mass, orientations, velocities and spins in the frame of the world. A step is the semi-implicit Euler
of THESIS eq. 2.5-2.7 with the constraints of eq. 2.27.

**Gyroscopic term.** A body that turns while its angular momentum L = I w stays must change its spin, as I turns with
it: I dw/dt = -w x L. The explicit step of that equation gains energy without bound. Here a body turns by a spin that
keeps both L and the energy of a body that nothing touches, to rounding (`advance` in the kernels),
as long as it turns by less than about a radian in a step.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.contacts import point_contacts
from perp.kernels.worlds import rigid_motion
from perp.problems.constraint_rows import CORRECTED, ContactRows, assemble_step
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_block_stack, require_number, require_share
from perp.problems.operators import BodyMasses
from perp.recording.frame import Shape
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts, ShapeContacts, match_contacts
from perp.worlds.mujoco_models import load_model, shapes_of
from perp.worlds.rigid3d.joint import Joint
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.mujoco_bodies import MujocoBodies, joints_of
from perp.worlds.rigid3d.poses import Poses, StateArray, unit_quaternions

GRAVITY = (0.0, 0.0, -9.81)
UNIT_SQUARE = 1e-6
"""How far the square of a quaternion's length may be from 1: far beyond rounding, too near to be seen."""


class RigidWorld(ContactWorld):
    """A world of n free bodies.

    Parameters
    ----------
    mujoco_model
        A `mujoco.MjModel` of free bodies and fixed shapes; see `from_xml` for texts and files.
    joints
        `Ball`, `Hinge`, `Universal`, `Fixed`, `Distance`, `Bend`; anchors and axes as things stand now. Equalities of
        the model (connect, weld) become joints, too.
    model
        Of friction: "box", "cone" or "convex" (`perp.ContactProblem`).
    gravity
        [m/s^2]; by default the model's own.
    margin
        Contacts are known from this gap on [m]: a body that comes nearer can be stopped at the surface.
    rounding
        Boxes touch as if their edges were rounded by this radius [m], 5 % of the smallest half edge at most: sharp ones
        that lie flush on one another lose contacts to rounding errors (see `mujoco_bodies.round_boxes`).
    restitution
        One number, or one for each geom of the model; of two shapes the larger one counts.
    slop
        An overlap of up to so much [m] is left as it is. Where a method has not converged, bodies that are pushed out
        of every overlap at once never come to rest: five boxes with 20 sweeps a step wobble at 1 m/s without it, and
        are at rest with it.
    error_reduction, compliance
        Of contacts: the share of an overlap that a step takes back, and C [(m/s)/(N s)] of all three rows (THESIS eq.
        2.24).
    contact_compliance, compliance_units
        A compliance on top, as a share of inertia or load; see `ContactWorld`.
    """

    position: StateArray = StateArray(3, "centres of mass [m]")
    """n x 3 [m]. This and the three below may be written into, or replaced."""
    orientation: StateArray = StateArray(4, "unit quaternions (w, x, y, z)")
    """n x 4."""
    velocity: StateArray = StateArray(6, "velocities [m/s], then spins [rad/s]")
    """Velocities of the centres of mass and spins, n x 6."""
    force: StateArray = StateArray(6, "forces [N], then torques [N m]")
    """From outside, n x 6, in every step until changed; gravity is not among them."""
    error_reduction: float
    compliance: float

    def __init__(
        self,
        mujoco_model: Any,
        *,
        joints: Sequence[Joint] = (),
        model: str = "box",
        gravity: Any = None,
        margin: float = 0.01,
        rounding: float = 3e-4,
        slop: float = 1e-3,
        restitution: Any = 0.0,
        error_reduction: float = CORRECTED,
        compliance: float = 0.0,
        warm_start: bool = True,
        contact_compliance: float = 0.0,
        compliance_units: str = "by_inertia",
    ) -> None:
        super().__init__(
            model=model,
            warm_start=warm_start,
            contact_compliance=contact_compliance,
            compliance_units=compliance_units,
        )
        require_number(margin, "margin")
        require_share(error_reduction, "error_reduction")
        require_number(compliance, "compliance")
        require_number(rounding, "rounding")
        require_number(slop, "slop")
        self.slop: float = float(slop)
        self.shapes_and_masses: MujocoBodies = MujocoBodies(mujoco_model, float(margin), float(rounding))
        made = self.shapes_and_masses
        self.gravity: Vector = as_block_stack(made.gravity if gravity is None else gravity, "gravity", (3,))
        self.error_reduction, self.compliance = float(error_reduction), float(compliance)
        self.restitution: Vector = _restitutions(restitution, made.body_of_geom.size)
        self._masses_as_built = BodyMasses(made.mass, made.inertia)
        self.position, self.orientation = made.start_position, made.start_orientation
        self.velocity = np.zeros((made.count, 6))
        self.force = np.zeros((made.count, 6))
        self.joints: JointSet = JointSet([*joints, *joints_of(made)], self.poses())

    @classmethod
    def from_xml(cls, source: str | os.PathLike[str], **options: Any) -> RigidWorld:
        """From an MJCF text, or from the path of a file with one."""
        return cls(load_model(source), **options)

    @property
    def count(self) -> int:
        """The number of bodies."""
        return self.shapes_and_masses.count

    @property
    def names(self) -> tuple[str, ...]:
        return self.shapes_and_masses.names

    @property
    def mass(self) -> Vector:
        """[kg]"""
        return self._masses_as_built.mass

    def set_state(
        self, *, position: Any = None, orientation: Any = None, velocity: Any = None, spin: Any = None
    ) -> None:
        """Put bodies elsewhere, or give them other velocities; what is not given stays. The next step starts cold.

        n x 3 each, and n x 4 quaternions, which are made unit ones. Nothing is changed where one of them is refused.
        """
        n = self.count
        new_position = self.position if position is None else as_block_stack(position, "position", (n, 3))
        turns = self.orientation if orientation is None else unit_quaternions(orientation, n)
        new_velocity = self.velocity[:, :3] if velocity is None else as_block_stack(velocity, "velocity", (n, 3))
        new_spin = self.velocity[:, 3:] if spin is None else as_block_stack(spin, "spin", (n, 3))
        self.position, self.orientation = new_position, turns
        self.velocity = np.concatenate([new_velocity, new_spin], axis=1)
        self.forget_impulses()

    def poses(self) -> Poses:
        return Poses(self.position, self.orientation)

    def masses(self) -> BodyMasses:
        """M as the bodies lie now."""
        return self._masses_as_built.turned(self.poses().rotation)

    def find_contacts(self, dt: float) -> ShapeContacts:
        self._require_unit_quaternions()
        return self.shapes_and_masses.collide(self.poses(), self.restitution)

    def make_problem(self, contacts: Contacts, dt: float) -> ContactProblem:
        blocks = np.empty((3 * len(contacts), 2, 6))
        point_contacts.write_rows(
            contacts.bodies.reshape(-1),
            contacts.point.reshape(-1),
            contacts.frame.reshape(-1),
            self.position.reshape(-1),
            blocks.reshape(-1),
        )
        touching = ContactRows(
            (np.repeat(contacts.bodies, 3, axis=0), blocks),
            friction=contacts.friction,
            gap=np.where(contacts.gap < 0.0, np.minimum(contacts.gap + self.slop, 0.0), contacts.gap),
            restitution=contacts.restitution,
            error_reduction=self.error_reduction,
            compliance=self.compliance,
            tangent_compliance=self.compliance,
        )
        poses = self.poses()
        rows = [touching, *self.joints.rows(poses)]
        masses = self._masses_as_built.turned(poses.rotation)
        velocity = self.velocity.reshape(-1)
        return assemble_step(rows, masses, velocity, dt, force=self._forces(), model=self.model)

    def match_contacts(self, old: Contacts, new: Contacts) -> NDArray[np.int64]:
        assert isinstance(old, ShapeContacts)
        assert isinstance(new, ShapeContacts)
        return match_contacts(old, new)

    def move(self, problem: ContactProblem, x: Vector, dt: float) -> bool:
        A = problem.A.factored
        assert A is not None
        masses = A.mass
        assert isinstance(masses, BodyMasses)
        with np.errstate(all="ignore"):  # what overflows is found below
            free = self.velocity.reshape(-1) + dt * masses.solve(self._forces())
            velocity = free + A.velocity(x)
        position, orientation = np.empty_like(self.position), np.empty_like(self.orientation)
        own = (self._masses_as_built.inertia.reshape(-1), self._masses_as_built.packed())
        places = (self.position.reshape(-1), self.orientation.reshape(-1))
        probe = rigid_motion.advance(dt, *own, velocity, *places, position.reshape(-1), orientation.reshape(-1))
        if not np.isfinite(probe):
            return False
        self.position, self.orientation = position, orientation
        self.velocity = velocity.reshape(-1, 6)
        return True

    def bodies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        return (
            self.position.copy(),
            self.orientation.copy(),
            self.velocity[:, :3].copy(),
            self.velocity[:, 3:].copy(),
        )

    def shapes(self) -> tuple[Shape, ...]:
        made = self.shapes_and_masses
        return shapes_of(made.given, made.number_of_body, made.centre_in_body)

    def energy(self) -> float:
        """Kinetic energy, and the potential energy of gravity above the origin [J]."""
        masses = self.masses()
        spin = self.velocity[:, 3:]
        kinetic = 0.5 * np.sum(self.mass * np.sum(self.velocity[:, :3] ** 2, axis=1))
        turning = 0.5 * np.sum(spin * masses.spin_momenta(self.velocity.reshape(-1)))
        return float(kinetic + turning - np.sum(self.mass * (self.position @ self.gravity)))

    def momentum(self) -> tuple[Vector, Vector]:
        """Linear [kg m/s] and angular momentum about the origin [kg m^2/s] of all bodies together."""
        linear = self.mass[:, None] * self.velocity[:, :3]
        angular = np.cross(self.position, linear) + self.masses().spin_momenta(self.velocity.reshape(-1))
        return linear.sum(axis=0), angular.sum(axis=0)

    def fingerprint(self) -> str:
        angles = self.joints.hinge_angles(self.poses())  # a pose does not tell whole turns
        state = (np.array([self.time]), self.position, self.orientation, self.velocity, angles)
        return hashlib.sha256(b"".join(part.tobytes() for part in state)).hexdigest()

    def _require_unit_quaternions(self) -> None:
        """A step leaves them so; what was set by hand may be anything."""
        square = np.sum(self.orientation**2, axis=1)
        wrong = np.flatnonzero(~(np.abs(square - 1.0) < UNIT_SQUARE))
        if wrong.size:
            k = int(wrong[0])
            raise InvalidProblem(f"orientation[{k}] is {self.orientation[k].tolist()}; a unit quaternion is needed")

    def _forces(self) -> Vector:
        """Gravity and what the user adds, 6 a body."""
        force = self.force.copy()
        force[:, :3] += self.mass[:, None] * self.gravity
        return force.reshape(-1)


def _restitutions(value: Any, geoms: int) -> Vector:
    numbers = np.full(geoms, float(value)) if np.ndim(value) == 0 else np.array(value, dtype=np.float64)
    if numbers.shape != (geoms,):
        raise InvalidProblem(f"restitution has shape {numbers.shape}; one number, or one for each of {geoms} geoms")
    bad = np.flatnonzero(~((numbers >= 0.0) & (numbers <= 1.0)))
    if bad.size:
        raise InvalidProblem(f"restitution[{bad[0]}] is {numbers[bad[0]]}; a number in 0..1 is needed")
    return numbers
