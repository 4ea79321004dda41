"""Contact problems of spheres in a random packing: A = J M^-1 J^T + C in factored form, without any order.

Stacks of boxes have flat layers and four points a face; in a packing every contact has a direction of its own, and the
graph of contacts fills factors as a random three-dimensional mesh does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import NDArray

from perp.gallery.box_stack import GRAVITY, STABILISATION, TIME_STEP, Compliance, Friction, Load, MassRatio, Model
from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import GROUND, contact_jacobian
from perp.gallery.options import About
from perp.gallery.planted import ActiveContacts, GrazingContacts, Sliding, planted_contacts
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import BodyMasses, FactoredOperator

Integers = NDArray[np.intp]
Points = NDArray[np.float64]

CONTACTS_A_SPHERE = 3
"""Six neighbours each, half a contact a neighbour: what holds spheres without friction just so (Moukarzel 1998)."""

FILLING = 0.6
"""The share of the box that spheres fill; random packings end near 0.64 (Scott & Kilgour 1969)."""

ROUNDS = 60
"""So often spheres that overlap are pushed apart: the median overlap is then a few hundredths of a radius."""

REACH = 1.3
"""Contacts are looked for among centres no further apart than this share of the largest diameter, then further."""

MEAN_RADIUS = 0.5  # [m]

FEW = 5
"""Fewer spheres have too few neighbours for three contacts each: up to here, each has one contact of its own."""


@catalogued()
def sphere_packing(
    n: Annotated[int, About("rows wanted; rounded to whole contacts, three for each sphere", 3, 10_000_000)] = 360,
    seed: int = 0,
    *,
    spread: Annotated[float, About("radius of the largest sphere over that of the smallest", 1.0, 10.0)] = 1.5,
    mass_ratio: MassRatio = 1.0,
    friction: Friction = 0.5,
    model: Model = "cone",
    compliance: Compliance = 0.0,
    load: Load = "planted",
    active: ActiveContacts = 0.5,
    sliding: Sliding = 0.5,
    degenerate: GrazingContacts = 0.0,
) -> Example:
    """Frictional contacts of spheres in a random packing on a floor, in factored form.

    Centres are drawn at random in a box, spheres that overlap are pushed apart, and the walls of the box are taken
    away. The closest pairs of spheres, and of a sphere and the floor, are the contacts. Densities grow geometrically
    with height.

    `load="planted"` has a known solution. `load="gravity"` is the first time step after that, as in `box_stack`: small
    random velocities, and small random gaps in place of what the overlaps would be. It has a solution: a packing that
    grows from a point far below the floor opens all contacts, those of spheres without slip.

    `model="disc"` fixes the radii: friction times a nominal impulse, the weight of a column of spheres above.
    """
    rng = np.random.default_rng(seed)
    contacts = max(round(n / 3), 1)
    spheres = max(contacts // CONTACTS_A_SPHERE, min(contacts, FEW))
    if spheres * (spheres + 1) // 2 < contacts:  # all pairs, and all places on the floor
        spheres += 1
    packing = _Packing.pour(spheres, spread, rng)
    touching = packing.closest(contacts)
    height = packing.centre[:, 2] / max(packing.centre[:, 2].max(), MEAN_RADIUS)
    mass = 4.0 / 3.0 * np.pi * packing.radius**3 * mass_ratio**height
    inertia = 0.4 * (mass * packing.radius**2)[:, None, None] * np.eye(3)
    jacobian = contact_jacobian(_frames(touching.normal, rng), touching.arm_a, touching.arm_b)
    bodies = np.repeat(np.stack([touching.first, touching.second], axis=1), 3, axis=0)
    A = FactoredOperator.from_body_pairs(bodies, jacobian, BodyMasses(mass, inertia), compliance)
    strength = friction * _nominal_impulse(packing, touching, mass) if model == "disc" else friction
    if load == "planted":
        return planted_contacts(A, strength, model, active=active, sliding=sliding, degenerate=degenerate, seed=rng)
    v = np.zeros((mass.size + 1, 6))
    v[:-1] = 0.01 * rng.standard_normal((mass.size, 6))
    v[:-1, 2] -= TIME_STEP * GRAVITY
    b = np.einsum("rsk,rsk->r", jacobian, v[bodies])
    b[::3] += STABILISATION * 1e-4 * rng.standard_normal(contacts) / TIME_STEP
    return Example(ContactProblem(A, b, strength, model), note="No solution is known in advance.")


@dataclass(frozen=True)
class _Touching:
    """Contacts: the bodies (GROUND for the floor), the normal from the first to the second, and the arms [m]."""

    first: Integers
    second: Integers
    normal: Points
    arm_a: Points
    arm_b: Points


@dataclass(frozen=True)
class _Packing:
    centre: Points
    radius: Vector
    width: float
    """Of the box, in both directions [m]."""

    @staticmethod
    def pour(spheres: int, spread: float, rng: np.random.Generator) -> _Packing:
        """Jacobi's relaxation: each sphere moves by half of what it overlaps with others, over and over."""
        radius = np.exp(rng.uniform(-0.5, 0.5, spheres) * np.log(spread)) * MEAN_RADIUS
        width = max(float(np.cbrt(np.sum(4.0 / 3.0 * np.pi * radius**3) / FILLING)), 2.0 * float(radius.max()))
        centre = rng.uniform(radius[:, None], width - radius[:, None], (spheres, 3))
        for _ in range(ROUNDS):
            first, second, distance, normal = _near(centre, 2.0 * float(radius.max()))
            push = 0.5 * np.maximum(radius[first] + radius[second] - distance, 0.0)[:, None] * normal
            for axis in range(3):
                centre[:, axis] -= np.bincount(first, push[:, axis], spheres)
                centre[:, axis] += np.bincount(second, push[:, axis], spheres)
            centre[:, :2] = np.clip(centre[:, :2], radius[:, None], width - radius[:, None])
            centre[:, 2] = np.maximum(centre[:, 2], radius)
        return _Packing(centre, radius, width)

    def closest(self, contacts: int) -> _Touching:
        """So many pairs with the smallest gaps, in the order of their bodies."""
        centre, radius = self.centre, self.radius
        reach = 2.0 * REACH * float(radius.max())
        first, second, distance, normal = _near(centre, reach)
        while first.size + radius.size < contacts:
            reach *= 2.0
            first, second, distance, normal = _near(centre, reach)
        gap = np.concatenate([distance - radius[first] - radius[second], centre[:, 2] - radius])
        first = np.concatenate([first, np.full(radius.size, GROUND)])
        second = np.concatenate([second, np.arange(radius.size)])
        normal = np.concatenate([normal, np.tile([0.0, 0.0, 1.0], (radius.size, 1))])
        chosen = np.argsort(gap, kind="stable")[:contacts]
        chosen = chosen[np.lexsort((second[chosen], first[chosen]))]
        first, second, normal, gap = first[chosen], second[chosen], normal[chosen], gap[chosen]
        # the point in the middle of the gap; the ground's arm is not used
        arm_a = np.where(first == GROUND, 0.0, radius[first] + 0.5 * gap)[:, None] * normal
        arm_b = -(radius[second] + np.where(first == GROUND, 1.0, 0.5) * gap)[:, None] * normal
        return _Touching(first, second, normal, arm_a, arm_b)


def _near(centre: Points, reach: float) -> tuple[Integers, Integers, Vector, Points]:
    """Pairs of centres within reach, in a fixed order, with distance and direction from the first to the second."""
    pairs = scipy.spatial.cKDTree(centre).query_pairs(reach, output_type="ndarray").astype(np.intp)
    first, second = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T
    apart = centre[second] - centre[first]
    distance = np.linalg.norm(apart, axis=1)
    return first, second, distance, apart / np.maximum(distance, 1e-12)[:, None]


def _frames(normal: Points, rng: np.random.Generator) -> Points:
    """Rows: the normal and two tangents, turned at random about it."""
    drawn = np.cross(normal, rng.standard_normal(normal.shape))
    tangent = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.stack([normal, tangent, np.cross(normal, tangent)], axis=1)


def _nominal_impulse(packing: _Packing, touching: _Touching, mass: Vector) -> Vector:
    """h g times the mean mass times the spheres of a column above [N s], for each contact."""
    depth = packing.centre[:, 2].max() - packing.centre[touching.second, 2]
    impulse: Vector = TIME_STEP * GRAVITY * float(mass.mean()) * (1.0 + depth / (2.0 * MEAN_RADIUS))
    return impulse
