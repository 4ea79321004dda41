"""A pile of boxes coupled in all three directions: each rests on four others, and some side faces touch.

Stacks (`box_stack`) are nearly flat, and so are the factors of their matrices; a pile fills its factors as a
three-dimensional grid does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.gallery.box_layouts import GROUND, POINTS
from perp.gallery.box_stack import GRAVITY, STABILISATION, TIME_STEP, Compliance, Friction, Load, MassRatio
from perp.gallery.catalogue import catalogued
from perp.gallery.contact_jacobian import box_inertia, contact_jacobian, random_rotations
from perp.gallery.example import Example
from perp.gallery.options import About
from perp.gallery.planted import Active, Degenerate, planted_box
from perp.problems.box import BoxLCP
from perp.problems.inputs import Vector
from perp.problems.operators import BodyMasses, FactoredOperator

Integers = NDArray[np.intp]

UPRIGHT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Normal and tangents of contacts on top of each other; for those beside each other the rows are turned round."""


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
