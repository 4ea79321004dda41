"""Contact problems of stacked boxes: A = J M^-1 J^T + C in factored form, with redundant contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from perp.gallery.box_layouts import POINTS, Layout, nearest_layout
from perp.gallery.catalogue import catalogued
from perp.gallery.contact_jacobian import box_inertia, contact_jacobian, random_rotations
from perp.gallery.example import Example
from perp.gallery.options import About
from perp.gallery.planted import (
    Active,
    ActiveContacts,
    Degenerate,
    GrazingContacts,
    Sliding,
    planted_box,
    planted_contacts,
)
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector
from perp.problems.operators import BodyMasses, FactoredOperator

Rows = Annotated[int, About("rows wanted; rounded to the nearest whole tower, square wall or pyramid", 1, 10_000_000)]
LayoutName = Annotated[Literal["tower", "wall", "pyramid"], About("how the boxes stand")]
Points = Annotated[Literal[4, 8, 9], About("contact points of a face")]
MassRatio = Annotated[float, About("density of the top layer over that of the bottom layer", 1e-8, 1e8)]
Friction = Annotated[float, About("coefficient of friction of all contacts", 0.0)]
Model = Annotated[
    Literal["box", "cone", "convex", "disc"],
    About("friction: bounds for each tangent, the exact cone, its convex form with a gap, or discs fixed in advance"),
]
Compliance = Annotated[float, About("diagonal of C, added to that of J M^-1 J^T [(m/s)/(N s)]", 0.0)]
Load = Annotated[Literal["planted", "gravity"], About("b from a planted solution, or from one step under gravity")]

GRAVITY = 9.81  # [m/s^2]
TIME_STEP = 1.0 / 60.0  # [s]
STABILISATION = 0.2
"""The share of a gap or overlap that one step corrects: Gamma of THESIS eq. 2.27."""


@catalogued()
def box_stack(
    n: Rows = 336,
    seed: int = 0,
    *,
    layout: LayoutName = "wall",
    points: Points = 4,
    mass_ratio: MassRatio = 1.0,
    friction: Friction = 0.5,
    model: Model = "box",
    compliance: Compliance = 0.0,
    load: Load = "planted",
    active: ActiveContacts = 0.5,
    sliding: Sliding = 0.5,
    degenerate: GrazingContacts = 0.0,
) -> Example:
    """Frictional contacts of stacked rigid boxes, in factored form, with redundant contact points.

    Each contact point has three rows (normal, tangent, tangent); a face with 4 points has 12 rows for the 6 velocities
    that it can stop, so A is singular unless there is compliance. Densities grow geometrically from layer to layer.

    `load="planted"` has a known solution. `load="gravity"` is the first time step of a stack that is almost at rest:
    b = J (v + h g) + Gamma gap / h (THESIS eq. 2.27) with small random velocities and gaps. It has a solution, as
    lifting every layer faster than the one below opens all contacts (Acary, Cadoux, Lemarechal & Malick 2011; for the
    convex models that motion is Slater's point of the dual problem), but none is known in advance.

    `model="disc"` fixes the radii as `boxed_stack` does its bounds: friction times a nominal normal impulse.
    """
    rng = np.random.default_rng(seed)
    stack = _build(n, layout, points, mass_ratio, compliance, rng)
    strength = friction * stack.nominal_impulse(points) if model == "disc" else friction
    if load == "gravity":
        b = stack.falling_velocity(rng)
        return Example(ContactProblem(stack.A, b, strength, model), note="No solution is known in advance.")
    return planted_contacts(stack.A, strength, model, active=active, sliding=sliding, degenerate=degenerate, seed=rng)


@catalogued()
def boxed_stack(
    n: Rows = 336,
    seed: int = 0,
    *,
    layout: LayoutName = "wall",
    points: Points = 4,
    mass_ratio: MassRatio = 1.0,
    friction: Friction = 0.5,
    compliance: Compliance = 0.0,
    load: Load = "planted",
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """The contacts of `box_stack` as a boxed LCP: friction bounds fixed in advance from the weight that rests above.

    A tangent is bounded by ± friction times a nominal normal impulse (THESIS section 2.4.2), here the share of the
    weight above that a point carries in one time step. For methods that know no contacts.
    """
    rng = np.random.default_rng(seed)
    stack = _build(n, layout, points, mass_ratio, compliance, rng)
    bound = friction * stack.nominal_impulse(points)
    upper = np.stack([np.full(bound.size, np.inf), bound, bound], axis=1).reshape(-1)
    lower = np.where(np.isinf(upper), 0.0, -upper)
    if load == "gravity":
        b = stack.falling_velocity(rng)
        return Example(BoxLCP(stack.A, b, lower, upper), note="No solution is known in advance.")
    return planted_box(stack.A, lower, upper, active=active, degenerate=degenerate, seed=rng)


@dataclass(frozen=True)
class _Stack:
    """The matrix A and what it was made of; `down` is the unit vector of gravity."""

    A: FactoredOperator
    layout: Layout
    mass: Vector
    bodies: NDArray[np.intp]
    jacobian: NDArray[np.float64]
    down: Vector

    def falling_velocity(self, rng: np.random.Generator) -> Vector:
        """b = J (v + h g) + Gamma gap / h, with v and the gaps of the normals small and random."""
        boxes = self.mass.size
        v = 0.01 * rng.standard_normal((boxes, 6))
        v[:, :3] += TIME_STEP * GRAVITY * self.down
        with_ground = np.concatenate([v, np.zeros((1, 6))])
        b: Vector = np.einsum("rsk,rsk->r", self.jacobian, with_ground[self.bodies])
        gap = 1e-4 * rng.standard_normal(b.size // 3)
        b[::3] += STABILISATION * gap / TIME_STEP
        return b

    def nominal_impulse(self, points: int) -> Vector:
        """h g times the mass that rests on each contact point [N s]."""
        return np.repeat(TIME_STEP * GRAVITY * self.layout.carried(self.mass) / points, points)


def _build(n: int, name: str, points: int, mass_ratio: float, compliance: float, rng: np.random.Generator) -> _Stack:
    """Lay the boxes out, then turn the whole scene at random.

    The turn changes A by rounding only, but without it most of J and the products of inertia would be zero, and a
    kernel that mixes them up would still be right.
    """
    layout = nearest_layout(name, n / (3 * points))
    top = max(int(layout.layer[-1]), 1)
    mass = layout.size.prod(axis=1) * mass_ratio ** (layout.layer / top)
    turn: Matrix = random_rotations(1, rng)[0]

    offset = POINTS[points][None] * layout.extent[:, None, :]
    place = (layout.middle[:, None, :] + np.pad(offset, ((0, 0), (0, 0), (0, 1)))).reshape(-1, 3)
    below, above = np.repeat(layout.below, points), np.repeat(layout.above, points)
    arm_a, arm_b = (place - layout.centre[below]) @ turn.T, (place - layout.centre[above]) @ turn.T
    frame = turn.T[[2, 0, 1]]  # normal: up; tangents: along the edges of the boxes
    jacobian = contact_jacobian(np.broadcast_to(frame, (len(place), 3, 3)), arm_a, arm_b)
    bodies = np.repeat(np.stack([below, above], axis=1), 3, axis=0)
    A = FactoredOperator.from_body_pairs(
        bodies, jacobian, BodyMasses(mass, box_inertia(mass, layout.size, turn)), compliance
    )
    return _Stack(A, layout, mass, bodies, jacobian, -frame[0])
