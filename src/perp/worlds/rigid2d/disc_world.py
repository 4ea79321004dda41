"""A world of discs: free bodies in the plane, with gravity, friction and restitution, between walls.

Contacts are found with a grid for pairs of discs, and every wall for every disc (`Collision`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.worlds import discs
from perp.problems.constraint_rows import CORRECTED, ContactRows, assemble_step
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze, require_number, require_share
from perp.problems.operators import PlanarMasses
from perp.recording.frame import Shape
from perp.vocabulary import explains_arguments
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts
from perp.worlds.rigid2d.discs import Discs, Wall, Walls, one_each, one_point, points

GRAVITY = (0.0, -9.80665)
"""[m/s^2]; AMGS section 5."""
MARGIN = 0.1
"""Contacts are known from a gap of so many of the smallest radius on, where the caller says nothing."""


@explains_arguments()
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


# Finding the contacts of discs: a grid for pairs, every wall for every disc; and finding them again.

MUCH_LARGER = 4.0
"""Discs of more than so many median radii do not set the width of the cells, unless there are many such."""
MUCH_FARTHER = 2.0
"""Nor do discs that reach farther than so many of the largest radii that remain, being fast."""
SAMPLE = 31
"""How many discs are asked for their velocity to find out what is usual."""
FEW = 64
"""There is room for at least so many contacts from the beginning; it grows where there are more."""


@dataclass(frozen=True, eq=False, repr=False)
class DiscContacts(Contacts):
    """Contacts in the order of their identities: pairs of discs i < j, then discs and walls."""

    identity: NDArray[np.int64]
    """A number that two contacts of different steps share if they are of the same discs, or disc and wall."""


class Collision:
    """What stays from step to step: cells, and how many contacts to expect."""

    discs: Discs
    walls: Walls
    margin: float
    sample: Vector
    reach: Vector
    members: NDArray[np.uint32]
    sorted_discs: Vector

    def __init__(self, discs: Discs, walls: Walls, margin: float) -> None:
        self.discs, self.walls, self.margin = discs, walls, margin
        n = len(discs)
        self.limit: float = MUCH_FARTHER * _ordinary_radius(discs.radius) + 0.5 * margin
        self.sample, self.reach = np.zeros(SAMPLE), np.zeros(n)
        self.far: NDArray[np.uint32] = np.zeros(n, dtype=np.uint32)
        self.bits: np.uint64 = np.uint64(max(4, (2 * n - 1).bit_length()))
        self.cells: NDArray[np.int64] = np.zeros(2 * n, dtype=np.int64)
        self.starts: NDArray[np.uint32] = np.zeros(2 ** int(self.bits) + 1, dtype=np.uint32)
        self.members, self.sorted_discs = np.zeros(n, dtype=np.uint32), np.zeros(3 * n)
        self.pairs: NDArray[np.uint32] = np.zeros(2 * max(FEW, 4 * n), dtype=np.uint32)
        self.touched: NDArray[np.uint32] = np.zeros(2 * max(FEW, n), dtype=np.uint32)

    def find(self, position: Vector, velocity: Vector, dt: float) -> DiscContacts:
        """Contacts with a gap of at most the margin, and of what a step of dt closes at these velocities (flat)."""
        between = self._find_pairs(position, velocity, dt)
        beside = self._find_touched_walls(position, velocity, dt)
        count = between + beside
        bodies, identity = np.empty(2 * count, dtype=np.int64), np.empty(count, dtype=np.int64)
        point, frame = np.empty(2 * count), np.empty(4 * count)
        gap, friction, restitution = np.empty(count), np.empty(count), np.empty(count)
        known = (position, self.discs.radius, self.discs.surface)
        written = (bodies, point, frame, gap, friction, restitution, identity)
        first, last = np.uint64(between), np.uint64(count)
        discs.describe_pairs(self.pairs, first, *known, *written)
        walls = (self.walls.numbers, self.walls.is_segment, self.walls.surface)
        discs.describe_touched_walls(self.touched, first, last, *known, *walls, *written)
        return DiscContacts(
            bodies.reshape(-1, 2),
            point.reshape(-1, 2),
            frame.reshape(-1, 2, 2),
            gap,
            friction,
            restitution,
            identity,
        )

    def _find_pairs(self, position: Vector, velocity: Vector, dt: float) -> int:
        radius, step = self.discs.radius, (self.margin, dt, self.limit)
        if not radius.size:
            return 0
        far_count, width = discs.measure_reach(velocity, radius, *step, self.sample, self.reach, self.far)
        grid = (self.bits, self.cells, self.starts, self.members, self.sorted_discs)
        discs.sort_into_cells(position, self.reach, self.limit, width, *grid)
        known = (position, velocity, radius, self.reach, self.discs.inverse_mass, *step, self.far, np.uint64(far_count))
        while True:
            found = int(discs.find_pairs(*known, *grid, self.pairs))
            if 2 * found <= self.pairs.size:
                return found
            self.pairs = np.zeros(3 * found, dtype=np.uint32)  # and room for half as many more

    def _find_touched_walls(self, position: Vector, velocity: Vector, dt: float) -> int:
        known = (position, velocity, self.discs.radius, self.discs.inverse_mass)
        walls = (self.walls.numbers, self.walls.is_segment)
        while True:
            found = int(discs.find_touched_walls(*known, *walls, self.margin, dt, self.touched))
            if 2 * found <= self.touched.size:
                return found
            self.touched = np.zeros(3 * found, dtype=np.uint32)


def _ordinary_radius(radius: Vector) -> float:
    """The largest radius but for those of a few discs that are much larger than the others."""
    if not radius.size:
        return 0.0
    ordinary = radius <= MUCH_LARGER * np.median(radius)
    few = isqrt(radius.size)  # so many can be compared with all others
    return float((radius[ordinary] if np.count_nonzero(~ordinary) <= few else radius).max())


def match(old: DiscContacts, new: DiscContacts) -> NDArray[np.int64]:
    """For each new contact the number of the old one of the same identity, or -1."""
    numbers = np.empty(len(new), dtype=np.int64)
    discs.match_sorted(old.identity, new.identity, numbers)
    return numbers
