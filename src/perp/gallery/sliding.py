"""Bodies that slide along the ground: Painleve's rod, and a sphere that is thrown, slides, and then rolls.

The rod slides with one end and much friction, and the laws of rigid bodies contradict themselves. A rod of mass m and
length 2 l stands at an angle t on its lower end P, which is to the left of the centre and slides to the left
(`slip` < 0); w is its rate of turning. The arm from the centre to P is r = -l (cos t, sin t). Forces f_n, f_t at P give
it the acceleration, with I = m l^2 / 3,

    a_n = (1 + 3 cos^2 t) / m f_n -  3 sin t cos t  / m f_t - g + w^2 l sin t,
    a_t = - 3 sin t cos t / m f_n + (1 + 3 sin^2 t) / m f_t     + w^2 l cos t.

While it slides, f_t = friction f_n, and one row is left:

    0 <= f_n  ⊥  a_n = a f_n + b >= 0,       a = (1 + 3 cos^2 t - 3 friction sin t cos t) / m,     b = w^2 l sin t - g.

Beyond friction = (1 + 3 cos^2 t) / (3 sin t cos t), 4/3 for tan t = 2, a is negative. Then no force fits where b < 0,
and two do where b > 0 (Painleve 1895; Genot & Brogliato 1999).

Impulses know no such trouble. The contact problem of a time step always has a solution: an impulse that stops the
sliding at once, even for a time step as short as one likes ("impact without collision").
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from perp.gallery.blocks import GRAVITY, Friction, Heading, Model, Scene, TimeStep, pressed_contact
from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import contact_jacobian
from perp.gallery.options import About
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector, freeze
from perp.problems.lcp import LCP
from perp.problems.operators import BodyMasses, DiagonalMass, FactoredOperator

# -- Painleve's rod ----------------------------------------------------------------------------------------------------


MASS, HALF_LENGTH = 1.0, 1.0  # [kg], [m]
Lean = Annotated[float, About("angle between the rod and the ground [rad]", 0.01, 1.56)]
Spin = Annotated[float, About("rate of turning [rad/s]", -1e6, 1e6)]
STEEPNESS = 1.1071487177940904
"""atan(2), where the paradox begins with the least friction, 4/3."""

SPHERE_MASS = 3.0  # [kg]
SPHERE_RADIUS = 0.2  # [m]


@catalogued(n=1)
def painleve_rod(*, friction: Friction = 2.0, lean: Lean = STEEPNESS, spin: Spin = 0.0) -> Example:
    """Painleve's sliding rod, forces and accelerations: one solution, none or two, as friction and spin have it.

    The unknown is the normal force [N], the slack the normal acceleration [m/s^2] of the end that slides. Without
    solution where friction is high and the rod turns slowly (the defaults); two where it turns fast (`spin=6`).
    """
    cosine, sine = np.cos(lean), np.sin(lean)
    a = (1.0 + 3.0 * cosine**2 - 3.0 * friction * sine * cosine) / MASS
    b = -GRAVITY + spin**2 * HALF_LENGTH * sine
    problem = LCP([[a]], [b])
    if b < 0.0 and a <= 0.0:
        note = "Any normal force drags the end further into the ground: no force fits, and u = 1 proves it."
        return Example(problem, None, "infeasible", note=note)
    if b < 0.0:
        return _known(problem, [np.array([-b / a])])
    if a < 0.0 < b:
        return _known(problem, [np.zeros(1), np.array([-b / a])], "The end may lift off, or jam by its own force.")
    return _known(problem, [np.zeros(1)])


@catalogued(n=2)
def painleve_step(
    *,
    friction: Friction = 2.0,
    lean: Lean = STEEPNESS,
    spin: Spin = 0.0,
    slip: Annotated[float, About("velocity of the end that slides [m/s]", -1e6, 1e6)] = -1.0,
    model: Annotated[
        Literal["box", "cone", "convex"], About("friction: a cone (box and cone are one here), or convex")
    ] = "cone",
    dt: TimeStep = 0.001,
) -> Example:
    """Painleve's sliding rod, one time step with impulses in the plane: always solvable, if not always in one way.

    `solutions` lists all of them: the end lifts off, sticks, or slides on (to either side). The convex model has
    exactly one.
    """
    r = -HALF_LENGTH * np.array([np.cos(lean), np.sin(lean)])
    J = np.array([[0.0, 1.0, r[0]], [1.0, 0.0, -r[1]]])
    A = FactoredOperator(J, DiagonalMass([MASS, MASS, MASS * HALF_LENGTH**2 / 3.0]))
    before = np.array([slip + spin * r[1], -spin * r[0], spin])
    push = np.array([0.0, -GRAVITY * dt, 0.0])
    b = J @ (before + push) - dt * spin**2 * r[::-1]  # the last: dJ/dt v
    found = _planar_solutions(A.to_dense(), b, friction, convex=model == "convex")
    return Scene(
        ContactProblem(A, b, friction, model, dimension=2),
        freeze(found[0]),
        "several" if len(found) > 1 else "solvable",
        tuple(freeze(x) for x in found),
        before=freeze(before),
        push=freeze(push),
        after=freeze(before + push + A.velocity(found[0])),
    )


def _known(problem: LCP, solutions: list[Vector], note: str = "") -> Example:
    vectors = tuple(freeze(x) for x in solutions)
    return Example(problem, vectors[0], "several" if len(vectors) > 1 else "solvable", vectors, note)


def _planar_solutions(A: Matrix, b: Vector, friction: float, convex: bool) -> list[Vector]:
    """Every solution of one contact in the plane, mode by mode: it lifts off, sticks, slides to the right or left."""
    found: list[Vector] = []
    if b[0] >= (friction * abs(b[1]) if convex else 0.0):
        found.append(np.zeros(2))
    stick = np.asarray(np.linalg.solve(A, -b), dtype=np.float64)
    if stick[0] > 0.0 and abs(stick[1]) <= friction * stick[0]:
        found.append(stick)
    for way in (1.0, -1.0):
        force = np.array([1.0, -way * friction])
        stops = force if convex else np.array([1.0, 0.0])  # what the impulse brings to rest: x . y, or y_n
        stiffness = stops @ A @ force
        if stiffness == 0.0:
            continue
        x = float(-(stops @ b) / stiffness) * force
        if x[0] > 0.0 and way * (A @ x + b)[1] > 0.0:
            found.append(x)
    return found


# -- a sphere ----------------------------------------------------------------------------------------------------------


@catalogued(n=3)
def rolling_sphere(
    *,
    friction: Friction = 0.3,
    speed: Annotated[float, About("of the centre at the beginning [m/s]", 0.0)] = 1.0,
    spin: Annotated[float, About("of the beginning, over that of a sphere which rolls", -1e3, 1e3)] = 0.0,
    heading: Heading = 0.5,
    model: Model = "cone",
    dt: TimeStep = 0.01,
) -> Example:
    """A solid sphere on level ground with its slip: it slides, loses friction g dt a step, and rolls in the end.

    The ground feels the mass m along the normal and k = 1 / (1/m + r^2 / I) = 2/7 m along tangents, so a step ends in
    rolling where the slip is at most 7/2 friction g dt. Friction keeps v + 2/5 r w: thrown without spin, the sphere
    rolls with 5/7 of its speed from the time 2 v / (7 friction g) on, and friction then has nothing to do.
    """
    frame = np.eye(3)[[2, 0, 1]]
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    before = speed * np.concatenate([along, spin / SPHERE_RADIUS * np.array([-along[1], along[0], 0.0])])
    push = np.array([0.0, 0.0, -GRAVITY * dt, 0.0, 0.0, 0.0])
    arm = np.array([[0.0, 0.0, -SPHERE_RADIUS]])
    jacobian = contact_jacobian(frame[None], np.zeros((1, 3)), arm)
    inertia = 0.4 * SPHERE_MASS * SPHERE_RADIUS**2 * np.eye(3)
    A = FactoredOperator.from_body_pairs([[-1, 0]] * 3, jacobian, BodyMasses([SPHERE_MASS], [inertia]))
    free = np.concatenate([[push[2]], (1.0 - spin) * speed * along[:2]])
    x = freeze(pressed_contact(free, SPHERE_MASS, 2.0 / 7.0 * SPHERE_MASS, friction, model))

    impulse = x[[1, 2, 0]]
    after = before + push
    after[:3] += impulse / SPHERE_MASS
    after[3:] += np.cross(arm[0], impulse) / inertia[0, 0]
    return Scene(
        ContactProblem(A, free, friction * SPHERE_MASS * GRAVITY * dt if model == "disc" else friction, model),
        x,
        solutions=(x,),
        before=freeze(before),
        push=freeze(push),
        after=freeze(after),
    )
