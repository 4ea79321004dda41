"""Bodies in a plane for the tests: random pairs of them, and a pyramid of discs."""

from __future__ import annotations

import numpy as np

import perp
from perp.problems.operators import PlanarMasses


def random_planar(rng: np.random.Generator, contacts: int, others: int = 0, *, fixed: bool = False):
    """Contacts of two rows between random pairs of five bodies or a body and the world, and rows after them."""
    bodies = 5
    pairs = np.array([rng.choice(bodies, 2, replace=False) for _ in range(contacts)]).reshape(-1, 2)
    pairs[rng.random(contacts) < 0.3, 1] = -1
    pairs[rng.random(contacts) < 0.1] = [-1, 0]
    rows = [rng.choice(bodies, 2, replace=False) for _ in range(others)]
    pairs = np.concatenate([np.repeat(pairs, 2, axis=0), np.array(rows, dtype=int).reshape(-1, 2)])
    mass, inertia = rng.uniform(0.5, 5.0, (2, bodies))
    if fixed:
        mass[0] = np.inf
    jacobian = rng.standard_normal((len(pairs), 2, 3))
    compliance = rng.uniform(0.01 if fixed else 0.0, 0.1, len(pairs))
    return perp.FactoredOperator.from_body_pairs(pairs, jacobian, PlanarMasses(mass, inertia), compliance)


def as_compressed_rows(A: perp.FactoredOperator) -> perp.FactoredOperator:
    """The same A without knowledge of bodies: a sparse J and a diagonal M."""
    mass = A.mass
    diagonal = np.stack([mass.mass, mass.mass, np.where(np.isfinite(mass.mass), mass.inertia, np.inf)], axis=1)
    return perp.FactoredOperator(A.J, diagonal.reshape(-1), A.compliance)


def random_contacts(seed: int, model: str = "box", contacts: int = 6, others: int = 2) -> perp.ContactProblem:
    rng = np.random.default_rng(seed)
    A = random_planar(rng, contacts, others)
    friction = rng.choice([0.0, 0.3, 0.9], contacts)
    lower, upper = rng.choice([-np.inf, -0.5], others), rng.choice([np.inf, 0.5], others)
    return perp.ContactProblem(A, rng.standard_normal(A.n), friction, model, dimension=2, lower=lower, upper=upper)


def pyramid(model: str = "box", levels: int = 3, friction: float = 0.3) -> perp.ContactProblem:
    """Discs of 2 kg stacked to a pyramid on the ground, one step of 1/60 s under gravity and a push to the right.

    A row for direction d at an arm r from the centre of body b is (d, r x d), and its negative for body a; the normal
    points from a to b. Those in the bottom row do not touch each other.
    """
    radius, h = 0.21, 1.0 / 60.0
    places = [(level, k) for level in range(levels) for k in range(levels - level)]
    gap = 2.02 * radius
    rise = np.sqrt(4.0 * radius**2 - (0.5 * gap) ** 2)
    centre = np.array([[gap * (k + 0.5 * level), radius + rise * level] for level, k in places])
    number = {place: i for i, place in enumerate(places)}
    pairs = [(-1, number[0, k]) for k in range(levels)]
    pairs += [(number[level - 1, k + side], number[level, k]) for level, k in places if level for side in (0, 1)]
    jacobian = np.zeros((2 * len(pairs), 2, 3))
    for c, (a, b) in enumerate(pairs):
        normal = np.array([0.0, 1.0]) if a < 0 else (centre[b] - centre[a]) / (2.0 * radius)
        for row, d in ((2 * c, normal), (2 * c + 1, np.array([-normal[1], normal[0]]))):
            for side, sign, arm in ((0, -1.0, radius * normal), (1, 1.0, -radius * normal)):
                jacobian[row, side] = sign * np.array([*d, arm[0] * d[1] - arm[1] * d[0]])
    bodies = np.repeat(pairs, 2, axis=0)
    mass = np.full(len(places), 2.0)
    A = perp.FactoredOperator.from_body_pairs(bodies, jacobian, PlanarMasses(mass, 0.5 * mass * radius**2))
    velocity = np.tile([0.05, -9.81 * h, 0.0], len(places))
    radii = {"friction": 0.02} if model == "disc" else {"friction": friction}
    return perp.ContactProblem(A, A.J @ velocity, **radii, model=model, dimension=2)
