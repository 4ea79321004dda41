"""One time step of a few bodies whose motion is known: an example that also says how the bodies move.

Forces add `push` to the velocities `before` the step, and impulses x at the contacts add the rest,

    after = before + push + M^-1 J^T x,          y = J after.

Where contacts are redundant, impulses are not unique, but in these scenes the motion is: judge a method by
`velocity(x)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from scipy import sparse

from perp.gallery.example import Example
from perp.gallery.options import About
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator

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
        """The velocities at the end of a step with impulses x [N s], begun with `before` (unless told: the scene's)."""
        start = self.before if before is None else before
        return start + self.push + self._operator.mass.solve(self.jacobian.T @ x)

    @cached_property
    def jacobian(self) -> sparse.csr_array:
        """J, one row a row of A and one column a velocity; made once."""
        return self._operator.J

    def step_from(self, velocity: Vector) -> ContactProblem:
        """The same contacts and forces for bodies that begin the step with another velocity."""
        problem = self.problem
        assert isinstance(problem, ContactProblem)
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
