"""Points and blocks whose motion under contact forces is known; a `Scene` is an example that says how bodies move.

Forces add `push` to the velocities `before` the step, and impulses x at the contacts add the rest,

    after = before + push + M^-1 J^T x,          y = J after.

Where contacts are redundant, impulses are not unique, but in these scenes the motion is: judge a method by
`velocity(x)`.

A block lies on one face: on an incline, against a wall, on many points. It never turns, so its motion is that of a
point. All impulses together stop the block as one contact of its mass would (`pressed_contact`). Friction acts half a
height h below the centre of mass, so the load moves on to the points ahead: with total impulses N and T,

    sum x_n = N,       sum p x_n = -h T,         p: places of the points in the plane of the face.

Of the loads that fulfil these, the one given as `x` is the shortest, x_n = a + c . p, and each point takes the share
x_n / N of T. Four points and more leave the loads open; the motion is the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import POINTS, box_inertia, contact_jacobian
from perp.gallery.options import About
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector, freeze
from perp.problems.operators import BodyMasses, FactoredOperator

# -- scenes: one time step of a few bodies -----------------------------------------------------------------------------


GRAVITY = 9.81  # [m/s^2]
ModelName = Literal["box", "cone", "convex", "disc"]
Model = Annotated[
    ModelName,
    About("friction: bounds for each tangent, the exact cone, its convex form with a gap, or discs of friction x_n"),
]
Friction = Annotated[float, About("coefficient of friction", 0.0)]
PositiveFriction = Annotated[float, About("coefficient of friction", 1e-6)]
TimeStep = Annotated[float, About("length of the time step [s]", 1e-9, 1e3)]
Heading = Annotated[float, About("angle between the first tangent and the way that things slide [rad]", -10.0, 10.0)]

MASS = 2.0  # [kg]
EDGES = np.array([1.0, 1.0, 0.4])  # [m]; the last one is the height above the face
Rows = Annotated[
    int,
    About(
        "rows wanted, three a point; rounded to 1 point (under the centre of a point mass), 4, 8, 9, 16, 25, ...",
        1,
        30_000,
    ),
]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Scene(Example):
    """An example of contacts with the velocities [m/s, rad/s] of all bodies, one after another."""

    before: Vector
    """Velocities at the beginning of the step."""
    push: Vector
    """What the forces other than contacts add to them in one step."""
    after: Vector
    """The known velocities at the end of the step."""

    def velocity(self, x: Vector, before: Vector | None = None) -> Vector:
        """The velocities at the end of a step with impulses x [N s], begun with `before` (default: the scene's)."""
        start = self.before if before is None else before
        return start + self.push + self._operator.mass.solve(self.jacobian.T @ x)

    @cached_property
    def jacobian(self) -> sparse.csr_array:
        """J, one row a row of A and one column a velocity; made once."""
        return self._operator.J

    def step_from(self, velocity: Vector) -> ContactProblem:
        """The same contacts and forces for bodies that begin the step with another velocity."""
        problem = self.problem.as_contacts()
        b = problem.b + self.jacobian @ (velocity - self.before)
        return problem.with_matrix(problem.A, b)

    @property
    def _operator(self) -> FactoredOperator:
        assert self.problem.A.factored is not None
        return self.problem.A.factored


def pressed_contact(free: Vector, normal_mass: float, tangent_mass: float, friction: float, model: ModelName) -> Vector:
    """The impulse (normal, tangent, tangent) of one contact with A = diag(1/m, 1/k, 1/k) and free[0] <= 0.

    It stops the normal motion, x_n = -m free_n, and the tangents, x_t = -k free_t, as far as friction x_n allows: each
    by itself (`box`) or both in the direction of -free_t. Discs have the radius -friction m free_n. In the convex model
    a contact that slides has y_n = friction |y_t|, so with s = |free_t|

        x_n = (friction s - free_n) / (1/m + friction^2 / k).
    """
    normal, stick = -normal_mass * free[0], -tangent_mass * free[1:]
    limit, length = friction * normal, float(np.hypot(*stick))
    if model == "box":
        return np.array([normal, *np.clip(stick, -limit, limit)])
    if length <= limit:
        return np.array([normal, *stick])
    if model == "convex":
        slip = float(np.hypot(*free[1:]))
        normal = (friction * slip - free[0]) / (1.0 / normal_mass + friction**2 / tangent_mass)
    return np.array([normal, *(friction * normal / length * stick)])


# -- blocks ------------------------------------------------------------------------------------------------------------


@catalogued()
def block_on_incline(
    n: Rows = 12,
    *,
    friction: Friction = 0.5,
    excess: Annotated[float, About("slope beyond atan(friction), where sliding begins [rad]", -1.5, 1.5)] = -1e-6,
    slope: Annotated[float | None, About("slope [rad]; none: atan(friction) + excess", 0.0, 1.5)] = None,
    heading: Heading = 0.0,
    model: Model = "box",
    dt: TimeStep = 0.01,
) -> Example:
    """A block on an incline: it sticks up to the slope atan(friction), and slides beyond it.

    It starts from rest. Beyond, it gains g (sin slope - friction cos slope) dt in a step [m/s]. Where the model is
    `box` and the way down lies at an angle `heading` between the tangents, each tangent slides by itself.
    """
    angle = np.arctan(friction) + excess if slope is None else slope
    if angle < 0.0:
        raise ValueError(f"the slope is {angle:g} rad; it must not be negative")
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    downhill, across = np.array([np.cos(angle), 0.0, -np.sin(angle)]), np.array([0.0, 1.0, 0.0])
    cosine, sine = np.cos(heading), np.sin(heading)
    frame = np.stack([normal, cosine * downhill - sine * across, sine * downhill + cosine * across])
    return _block(_points(n), frame, np.array([0.0, 0.0, -GRAVITY]), friction, model, dt)


@catalogued()
def block_on_wall(
    n: Rows = 12,
    *,
    friction: PositiveFriction = 0.5,
    margin: Annotated[float, About("friction times the pressing force, over the weight; below 1 it falls", 1e-3)] = 2.0,
    model: Model = "box",
    dt: TimeStep = 0.01,
) -> Example:
    """A block pressed on a wall by a force N: it stays where friction N >= m g, and falls otherwise.

    N = margin m g / friction [N]. From rest, it falls with (g - friction N / m) dt = (1 - margin) g dt after one step
    [m/s] where margin < 1.
    """
    frame = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    return _block(_points(n), frame, GRAVITY * np.array([-margin / friction, 0.0, -1.0]), friction, model, dt)


@catalogued()
def box_on_points(
    n: Rows = 12,
    *,
    friction: Friction = 0.5,
    lean: Annotated[float, About("how far the centre of mass is off the middle, over half an edge", -0.5, 0.5)] = 0.0,
    model: Model = "box",
    dt: TimeStep = 0.01,
) -> Example:
    """A box at rest on level ground, on 4, 8 or many more points than it needs: the impulses are open, the rest is not.

    Without `lean` the shortest x gives each point the same load, m g dt / points.
    """
    points = _points(n)
    points[:, 0] -= lean * 0.5 * EDGES[0] * (len(points) > 1)
    frame = np.eye(3)[[2, 0, 1]]
    return _block(points, frame, np.array([0.0, 0.0, -GRAVITY]), friction, model, dt)


def _points(n: int) -> Matrix:
    """Places [m] of the points in the plane of the face: the middle, corners, corners and edges, or a square grid."""
    wanted = n / 3
    side = max(1, int(np.sqrt(wanted)))
    count = min((8, *(max(side + k, 1) ** 2 for k in (0, 1))), key=lambda number: abs(number - wanted))
    if count == 8:
        share: NDArray[np.float64] = POINTS[8]
    else:
        line = np.linspace(-1.0, 1.0, round(np.sqrt(count))) if count > 1 else np.zeros(1)
        share = np.stack([place.reshape(-1) for place in np.meshgrid(line, line, indexing="ij")], axis=1)
    return 0.5 * EDGES[:2] * share


def _block(points: Matrix, frame: Matrix, acceleration: Vector, friction: float, model: ModelName, dt: float) -> Scene:
    """A block at rest on the face with this frame (rows: normal, tangent, tangent), pulled by an acceleration."""
    count = len(points)
    height = 0.5 * EDGES[2] if count > 1 else 0.0
    free = dt * frame @ acceleration
    total = pressed_contact(free, MASS, MASS, friction, model)
    load = _shortest_load(points, total, height)
    share = np.full(count, 1.0 / count) if model == "disc" else load / total[0]
    x = np.concatenate([load[:, None], share[:, None] * total[1:]], axis=1).reshape(-1)

    arm = np.concatenate([np.full((count, 1), -height), points], axis=1) @ frame
    jacobian = contact_jacobian(np.broadcast_to(frame, (count, 3, 3)), np.zeros((count, 3)), arm)
    turn = frame.T[:, [1, 2, 0]]
    mass = np.array([MASS])
    masses = BodyMasses(mass, box_inertia(mass, EDGES[None], turn))
    A = FactoredOperator.from_body_pairs(np.tile([-1, 0], (3 * count, 1)), jacobian, masses)
    strength = friction * -MASS * free[0] / count if model == "disc" else friction
    after = frame.T @ (free + total / MASS)
    still = np.zeros(3)
    return Scene(
        ContactProblem(A, np.tile(free, count), strength, model),
        freeze(x),
        **_uniqueness(count, x),
        before=freeze(np.zeros(6)),
        push=freeze(np.concatenate([dt * acceleration, still])),
        after=freeze(np.concatenate([after, still])),
    )


def _shortest_load(points: Matrix, total: Vector, height: float) -> Vector:
    """The shortest x_n with sum x_n = N and sum p x_n = -h T; an error where a point would have to pull."""
    balance = np.concatenate([np.ones((len(points), 1)), points], axis=1).T
    load: Vector = np.linalg.lstsq(balance, np.array([total[0], *(-height * total[1:])]), rcond=None)[0]
    if load.min() < 0.0:
        raise ValueError("the block would lift off some of its points, and its motion is then not known in advance")
    return load


def _uniqueness(count: int, x: Vector) -> dict[str, Any]:
    if count == 1:
        return {"solutions": (freeze(x),)}
    return {"expected": "infinitely_many", "note": "The impulses are not unique; the motion of the block is."}
