"""Worlds small enough to be read at a glance, for tests of what is done with worlds."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated

import numpy as np
from scipy import sparse

from perp.gallery.options import About
from perp.problems.constraint_rows import ContactRows, LimitRows, assemble_step
from perp.recording import Shape
from perp.worlds import Contacts, ContactWorld

RADIUS, MASS, GRAVITY, FRICTION = 0.1, 2.0, 9.81, 0.3
INERTIA = 0.5 * MASS * RADIUS**2


class Pucks(ContactWorld):
    """Discs side by side that fall on the ground, slide, and come to rest; they never touch one another.

    `boost` multiplies all velocities in every step: a world that explodes. `limits` adds a row for each disc, which
    never acts: a problem with rows that are not contacts.
    """

    def __init__(self, count=3, height=0.2, speed=1.0, *, boost=1.0, limits=False, **others):
        super().__init__(**others)
        self.count, self.boost, self.limits = count, boost, limits
        self.position = np.column_stack([0.3 * np.arange(count), RADIUS + height * np.arange(count) / count])
        self.angle = np.zeros(count)
        self.v = np.zeros((count, 3))
        self.v[:, 0] = speed

    def find_contacts(self, dt):
        gap = self.position[:, 1] - RADIUS
        touching = np.flatnonzero(gap < 0.01)
        m = touching.size
        bodies = np.column_stack([np.full(m, -1), touching])
        point = self.position[touching] - [0.0, RADIUS]
        frame = np.tile(np.array([[0.0, 1.0], [1.0, 0.0]]), (m, 1, 1))
        return Contacts(bodies, point, frame, gap[touching], np.full(m, FRICTION), np.zeros(m))

    def make_problem(self, contacts, dt):
        J = np.zeros((2 * len(contacts), 3 * self.count))
        for k, body in enumerate(contacts.bodies[:, 1]):
            J[2 * k, 3 * body : 3 * body + 3] = (0.0, 1.0, 0.0)
            J[2 * k + 1, 3 * body : 3 * body + 3] = (1.0, 0.0, RADIUS)
        rows = [ContactRows(sparse.csr_array(J), friction=contacts.friction, gap=contacts.gap)]
        if self.limits:
            up = sparse.csr_array((np.ones(self.count), (np.arange(self.count), 3 * np.arange(self.count) + 1)))
            up.resize((self.count, 3 * self.count))
            rows.append(LimitRows(up, gap=np.full(self.count, 1e3)))
        mass = np.tile([MASS, MASS, INERTIA], self.count)
        force = np.tile([0.0, -MASS * GRAVITY, 0.0], self.count)
        return assemble_step(rows, mass, self.v.ravel(), dt, force=force, model=self.model, dimension=2)

    def match_contacts(self, old, new):
        place = {body: k for k, body in enumerate(old.bodies[:, 1])}
        return np.array([place.get(body, -1) for body in new.bodies[:, 1]], dtype=np.int64)

    def move(self, problem, x, dt):
        with np.errstate(all="ignore"):
            fall = np.array([0.0, -GRAVITY * dt, 0.0])
            v = self.boost * (self.v + fall + problem.A.velocity(x).reshape(-1, 3))
            position, angle = self.position + dt * v[:, :2], self.angle + dt * v[:, 2]
        if not (np.isfinite(v).all() and np.isfinite(position).all() and np.isfinite(angle).all()):
            return False
        self.v, self.position, self.angle = v, position, angle
        return True

    def bodies(self):
        return self.position.copy(), self.angle[:, None].copy(), self.v[:, :2].copy(), self.v[:, 2:].copy()

    def shapes(self):
        discs = [Shape("disc", k, (RADIUS,), np.zeros(2), name=f"puck {k}") for k in range(self.count)]
        ground = Shape("half_plane", -1, (), np.zeros(2), vertices=np.array([[0.0, 0.0], [0.0, 1.0]]))
        return (*discs, ground)

    def energy(self):
        kinetic = 0.5 * np.sum(np.array([MASS, MASS, INERTIA]) * self.v**2)
        return float(kinetic + MASS * GRAVITY * np.sum(self.position[:, 1]))

    def fingerprint(self):
        return sha256(np.concatenate([self.position.ravel(), self.angle, self.v.ravel()]).tobytes()).hexdigest()


def pucks(
    *,
    count: Annotated[int, About("number of discs", 1, 100)] = 2,
    boost: Annotated[float, About("what velocities are multiplied by in each step")] = 1.0,
    limits: Annotated[int, About("1 adds rows that are no contacts", 0, 1)] = 0,
    seed: int = 0,
) -> Pucks:
    """Discs that slide on the ground.

    To be registered by tests: `scene(...)(pucks)`.
    """
    return Pucks(count, speed=1.0 + 0.1 * seed, boost=boost, limits=bool(limits))
