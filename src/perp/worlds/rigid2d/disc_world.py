"""A world of discs: free bodies in the plane, with gravity, friction and restitution, between walls."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.worlds import discs
from perp.problems.constraint_rows import CORRECTED, ContactRows, assemble_step
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze, require_number, require_share
from perp.problems.operators import PlanarMasses
from perp.recording.shapes import Shape
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts
from perp.worlds.rigid2d.collision import Collision, DiscContacts, match
from perp.worlds.rigid2d.discs import Discs
from perp.worlds.rigid2d.numbers import one_each, one_point, points
from perp.worlds.rigid2d.walls import Wall, Walls

GRAVITY = (0.0, -9.80665)
"""[m/s^2]; AMGS section 5."""
MARGIN = 0.1
"""Contacts are known from a gap of so many of the smallest radius on, where the caller says nothing."""


class DiscWorld(ContactWorld):
    """Discs that fall, touch, rub and bounce.

    Semi-implicit Euler (THESIS eq. 2.5-2.7, 2.14): v+ = v + h g + M^-1 J^T x, then positions with v+. The angle only
    turns the picture, as a disc looks the same from all sides.

    Parameters
    ----------
    discs, walls
        `Discs`; any number of `HalfPlane` and `Segment`.
    gravity
        (x, y) [m/s^2].
    margin
        [m]; contacts are part of the step if their gap is at most the margin and what the step closes of it. A step may
        use up a gap but no more. Without a margin a disc at rest would lose its contact whenever rounding lifts it.
        Default: 10 % of the smallest radius.
    error_reduction, compliance
        Of contacts: the share of an overlap that one step takes back, and C [(m/s)/(N s)] of both rows; see
        `ContactRows`.
    contact_compliance, compliance_units
        A compliance on top, as a share of inertia or load; see `ContactWorld`.
    model, warm_start
        The friction law ("box", "cone", "convex"; the first two are the same in the plane); whether a solve starts from
        the impulses of the last step.
    """

    discs: Discs
    walls: Walls
    margin: float
    error_reduction: float
    compliance: float

    def __init__(
        self,
        discs: Discs,
        walls: Sequence[Wall] = (),
        *,
        gravity: Any = GRAVITY,
        margin: float | None = None,
        error_reduction: float = CORRECTED,
        compliance: float = 0.0,
        model: str = "box",
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
        if not isinstance(discs, Discs):
            raise TypeError(f"discs is {type(discs).__name__}; perp.worlds.rigid2d.Discs is needed")
        self.discs, self.walls = discs, Walls(walls)
        self.gravity: Vector = one_point(gravity, "gravity")
        if margin is None:
            margin = MARGIN * discs.radius.min() if len(discs) else 0.0
        require_number(margin, "margin")
        require_share(error_reduction, "error_reduction")
        require_number(compliance, "compliance")
        self.margin, self.error_reduction, self.compliance = float(margin), error_reduction, compliance
        self._mass = PlanarMasses(discs.mass, discs.inertia)
        falls = np.where(discs.moves[:, None], [*self.gravity, 0.0], 0.0)
        self._acceleration: Vector = freeze(falls.reshape(-1))
        weight = np.where(discs.moves, discs.mass, 0.0)[:, None] * falls
        self._weight: Vector = freeze(weight.reshape(-1))
        self._collision = Collision(discs, self.walls, self.margin)
        self._position = np.array(discs.position)
        self._angle = np.array(discs.angle)
        self._velocity = np.column_stack([discs.velocity, discs.spin])

    def set_state(self, *, position: Any = None, angle: Any = None, velocity: Any = None, spin: Any = None) -> None:
        """Put discs elsewhere, or give them other velocities; what is not given stays. The next step starts cold."""
        n = len(self.discs)
        new_position = self._position if position is None else points(position, "position", n)
        new_angle = self._angle if angle is None else one_each(angle, "angle", n)
        new_velocity = self._velocity[:, :2] if velocity is None else points(velocity, "velocity", n)
        new_spin = self._velocity[:, 2] if spin is None else one_each(spin, "spin", n)
        self._position, self._angle = np.array(new_position), np.array(new_angle)
        self._velocity = np.where(self.discs.moves[:, None], np.column_stack([new_velocity, new_spin]), 0.0)
        self.forget_impulses()

    def find_contacts(self, dt: float) -> DiscContacts:
        return self._collision.find(self._position.reshape(-1), self._free_velocity(dt), float(dt))

    def make_problem(self, contacts: Contacts, dt: float) -> ContactProblem:
        rows = ContactRows(
            self._jacobian(contacts),
            friction=contacts.friction,
            gap=contacts.gap,
            restitution=contacts.restitution,
            error_reduction=self.error_reduction,
            compliance=self.compliance,
            tangent_compliance=self.compliance,
        )
        velocity = self._velocity.reshape(-1)
        return assemble_step([rows], self._mass, velocity, dt, force=self._weight, model=self.model, dimension=2)

    def _jacobian(self, contacts: Contacts) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Bodies and blocks of the rows, as `FactoredOperator.from_body_pairs` takes them."""
        rows = 2 * len(contacts)
        bodies, jacobian = np.empty(2 * rows, dtype=np.int64), np.empty(6 * rows)
        frame, radius = contacts.frame.reshape(-1), self.discs.radius
        discs.write_rows(contacts.bodies.reshape(-1), frame, contacts.gap, radius, bodies, jacobian)
        return bodies.reshape(-1, 2), jacobian.reshape(-1, 2, 3)

    def _free_velocity(self, dt: float) -> Vector:
        """v + h g, what the step would end with if nothing touched."""
        with np.errstate(all="ignore"):
            return self._velocity.reshape(-1) + dt * self._acceleration

    def match_contacts(self, old: Contacts, new: Contacts) -> NDArray[np.int64]:
        assert isinstance(old, DiscContacts)
        assert isinstance(new, DiscContacts)
        return match(old, new)

    def move(self, problem: ContactProblem, x: Vector, dt: float) -> bool:
        A = problem.A.factored
        assert A is not None
        with np.errstate(all="ignore"):  # what overflows is found here
            velocity = (self._free_velocity(dt) + A.velocity(x)).reshape(-1, 3)
            position = self._position + dt * velocity[:, :2]
            angle = self._angle + dt * velocity[:, 2]
        if not (np.isfinite(velocity).all() and np.isfinite(position).all() and np.isfinite(angle).all()):
            return False
        self._velocity, self._position, self._angle = velocity, position, angle
        return True

    def bodies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        velocity = self._velocity[:, :2].copy()
        return self._position.copy(), self._angle[:, None].copy(), velocity, self._velocity[:, 2:].copy()

    def shapes(self) -> tuple[Shape, ...]:
        discs = [Shape("disc", i, (float(r),), position=np.zeros(2)) for i, r in enumerate(self.discs.radius)]
        return (*discs, *self.walls.shapes)

    def energy(self) -> float:
        discs, moves = self.discs, self.discs.moves
        v, w = self._velocity[moves, :2], self._velocity[moves, 2]
        kinetic = 0.5 * discs.mass[moves] @ (v**2).sum(axis=1) + 0.5 * discs.inertia[moves] @ w**2
        potential = -discs.mass[moves] @ (self._position[moves] @ self.gravity)
        return float(kinetic + potential)

    def fingerprint(self) -> str:
        state = sha256()
        for part in (np.array([self.time]), self._position, self._angle, self._velocity):
            state.update(np.ascontiguousarray(part).tobytes())
        return state.hexdigest()
