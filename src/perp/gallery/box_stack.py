"""Contact problems of stacked boxes: A = J M^-1 J^T + C in factored form, with redundant contacts.

Towers, walls and pyramids are nearly flat, and so are the factors of their matrices. In a pile, coupled in all three
directions, each box rests on four others and some side faces touch: it fills factors as a three-dimensional grid does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import (
    GROUND,
    POINTS,
    Layout,
    box_inertia,
    contact_jacobian,
    nearest_layout,
    random_rotations,
)
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

Integers = NDArray[np.intp]
UPRIGHT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Normal and tangents of contacts on top of each other; for those beside each other the rows are turned round."""


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


# -- piles -------------------------------------------------------------------------------------------------------------


@catalogued()
def boxed_pile(
    n: Annotated[int, About("rows wanted; rounded to whole cubes of boxes", 1, 1_000_000)] = 987,
    seed: int = 0,
    *,
    touching: Annotated[float, About("share of side faces that touch, in one point each", 0.0, 1.0)] = 0.25,
    mass_ratio: MassRatio = 1000.0,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    load: Load = "planted",
    active: Active = 0.5,
    degenerate: Degenerate = 0.0,
) -> Example:
    """A pile of width x width x height unit boxes as a boxed LCP, coupled in three directions and ill-conditioned.

    Every other layer is shifted by half a box in both directions, so that a box rests on four others, in one point
    each (at the edges on two of them twice, or on one); a share `touching` of the faces between neighbours of a layer
    touch in one point. Tangents are bounded by friction times a nominal normal impulse, as in `boxed_stack`.
    With a mass ratio of 1000 and a compliance of 1e-8 the condition number is some 1e9, and half of the rows are
    redundant.
    """
    rng = np.random.default_rng(seed)
    pile = _Pile.build(*_grid(n, touching), touching, rng)
    mass = mass_ratio ** (pile.layer / max(int(pile.layer[-1]), 1))
    turn = random_rotations(1, rng)[0]
    world = np.concatenate([pile.centre, np.zeros((1, 3))])  # the ground's arm is not used
    arm_a, arm_b = ((pile.place - world[side]) @ turn.T for side in (pile.first, pile.second))
    jacobian = contact_jacobian(pile.frame @ turn.T, arm_a, arm_b)
    bodies = np.repeat(np.stack([pile.first, pile.second], axis=1), 3, axis=0)
    masses = BodyMasses(mass, box_inertia(mass, np.ones((mass.size, 3)), turn))
    A = FactoredOperator.from_body_pairs(bodies, jacobian, masses, compliance)
    bound = friction * pile.nominal_impulse(mass)
    upper = np.stack([np.full(bound.size, np.inf), bound, bound], axis=1).reshape(-1)
    lower = np.where(np.isinf(upper), 0.0, -upper)
    if load == "planted":
        return planted_box(A, lower, upper, active=active, degenerate=degenerate, seed=rng)
    v = np.zeros((mass.size + 1, 6))
    v[:-1] = 0.01 * rng.standard_normal((mass.size, 6))
    v[:-1, :3] -= TIME_STEP * GRAVITY * turn[:, 2]
    b = np.einsum("rsk,rsk->r", jacobian, v[bodies])
    b[::3] += STABILISATION * 1e-4 * rng.standard_normal(bound.size) / TIME_STEP
    return Example(BoxLCP(A, b, lower, upper), note="No solution is known in advance.")


def _grid(rows: int, touching: float) -> tuple[int, int]:
    """Width and height of the cube-like pile whose expected number of rows is nearest to the one wanted."""

    def expected(width: int, height: int) -> float:
        return 3.0 * height * (4.0 * width * width + 2.0 * touching * width * (width - 1))

    width = 1
    while expected(width + 1, width + 1) <= rows:
        width += 1
    return min(
        ((w, h) for w in (width, width + 1) for h in (width - 1, width, width + 1) if h > 0),
        key=lambda size: abs(expected(*size) - rows),
    )


@dataclass(frozen=True)
class _Pile:
    """Boxes (`layer`, `centre` [m]) and contacts: bodies, place [m] and frame (rows: normal, tangent, tangent)."""

    layer: Integers
    centre: NDArray[np.float64]
    first: Integers
    second: Integers
    place: NDArray[np.float64]
    frame: NDArray[np.float64]

    @staticmethod
    def build(width: int, height: int, touching: float, rng: np.random.Generator) -> _Pile:
        layer, row, column = (place.reshape(-1) for place in np.indices((height, width, width)))
        box = np.arange(layer.size)
        shift = 0.5 * (layer % 2)
        centre = np.stack([row + shift, column + shift, layer + 0.5], axis=1)
        above = np.repeat(box, 4)
        place = (centre[:, None, :] + np.pad(0.25 * POINTS[4], ((0, 0), (0, 1))) - [0.0, 0.0, 0.5]).reshape(-1, 3)
        lower_shift = 0.5 - shift[above]
        cell = np.clip(np.rint(place[:, :2] - lower_shift[:, None]), 0, width - 1).astype(np.intp)
        below = (layer[above] - 1) * width * width + cell[:, 0] * width + cell[:, 1]
        rests = layer[above] > 0
        below = np.where(rests, below, GROUND)
        middle = centre[below, :2]
        place[:, :2] = np.where(rests[:, None], np.clip(place[:, :2], middle - 0.45, middle + 0.45), place[:, :2])
        parts = [(below, above, place, np.broadcast_to(UPRIGHT, (above.size, 3, 3)))]
        for axis, index, stride in ((0, row, width), (1, column, 1)):
            left = box[index < width - 1]
            left = left[rng.random(left.size) < touching]
            offset = rng.uniform(-0.4, 0.4, (left.size, 3))
            offset[:, axis] = 0.5
            frame = np.roll(UPRIGHT, axis + 1, axis=1)  # its normal points along the axis
            parts.append((left, left + stride, centre[left] + offset, np.broadcast_to(frame, (left.size, 3, 3))))
        first, second, places, frames = (np.concatenate(part) for part in zip(*parts, strict=True))
        return _Pile(layer, centre, first, second, places, frames)

    def nominal_impulse(self, mass: Vector) -> Vector:
        """h g times the mass above each point, shared evenly [N s]; a tenth of the box's own on a side face."""
        columns = mass.reshape(int(self.layer[-1]) + 1, -1)
        carried = columns[::-1].cumsum(axis=0)[::-1].reshape(-1)
        upright = self.frame[:, 0, 2] == 1.0
        return np.asarray(TIME_STEP * GRAVITY * np.where(upright, carried[self.second] / 4.0, 0.1 * mass[self.second]))
