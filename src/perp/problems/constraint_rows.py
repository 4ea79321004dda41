"""From the physics of one time step to a contact problem (THESIS 2.2-2.4): contacts, joints, limits, motors.

With velocities v, masses M, external forces f and a time step h, impulses x give v+ = v + M^-1 (h f + J^T x), eq. 2.14.
A row of J is the gradient of a function phi of the positions: a gap, the violation of a joint. An ideal row asks for
J v+ = 0, or >= 0; what keeps phi from drifting away is a spring and a damper along the row, integrated implicitly:

    x = -h k phi+ - h d J v+,      phi+ = phi + h J v+                                           (eq. 2.20, 2.21)

that is    J v+ + C x + Gamma phi / h = 0,    C = 1 / (h^2 k + h d),    Gamma = h k / (h k + d)  (eq. 2.22-2.25)

so that y = A x + b with A = J M^-1 J^T + C and b = J (v + h M^-1 f) + Gamma phi / h (eq. 2.27), and y = 0 for a joint,
0 <= x ⊥ y >= 0 for a contact. A rigid row has C = 0 and any Gamma, the share of phi that one step takes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems.contact_laws import checked_friction, find_levers, require_dimension
from perp.problems.friction import ContactProblem
from perp.problems.inputs import (
    EntriesLike,
    PerRow,
    PerTangent,
    Vector,
    VectorLike,
    as_bound,
    as_vector,
    require_number,
)
from perp.problems.operators import BodyMasses, FactoredOperator, PlanarMasses
from perp.problems.operators.masses import Mass, as_mass
from perp.problems.operators.sparse import as_csr

CORRECTED = 0.2
"""The share of a violation that a rigid row takes back in one step, where the caller says nothing (Gamma)."""


@dataclass(frozen=True)
class Motion:
    """What the rows of one group see of the time step: J v before it and J v without impulses after it [m/s]."""

    before: Vector
    free: Vector
    time_step: float


@dataclass(frozen=True)
class Terms:
    """What a group of rows adds to the problem: b, the diagonal of C, and bounds."""

    b: Vector
    compliance: Vector
    lower: Vector
    upper: Vector


@dataclass(frozen=True, eq=False, kw_only=True)
class Softness:
    """How a row gives way: `stiffness` k [N/m] and `damping` d [N s/m], either or both; without them it is rigid.

    A rigid row takes back the share `error_reduction` of its violation in a step, and may have a `compliance` C
    [(m/s)/(N s)] all the same, as against redundant rows. Each is one number, or one a row (contacts: one a contact).
    """

    stiffness: PerRow | None = None
    damping: PerRow | None = None
    error_reduction: PerRow = CORRECTED
    compliance: PerRow = 0.0

    @property
    def is_rigid(self) -> bool:
        return self.stiffness is None and self.damping is None

    def coefficients(self, count: int, h: float) -> tuple[Vector, Vector]:
        """C and Gamma of each row (eq. 2.23)."""
        if self.is_rigid:
            share = _not_negative(self.error_reduction, "error_reduction", count)
            if share.max(initial=0.0) > 1.0:
                raise InvalidProblem(f"error_reduction is {share.max()}; a share of at most 1 is needed")
            return _not_negative(self.compliance, "compliance", count), share
        if np.any(np.asarray(self.compliance) != 0.0):
            raise InvalidProblem("compliance is for rigid rows: stiffness and damping give a row its own")
        k = _not_negative(0.0 if self.stiffness is None else self.stiffness, "stiffness", count)
        d = _not_negative(0.0 if self.damping is None else self.damping, "damping", count)
        slack = np.flatnonzero(h * k + d == 0.0)
        if slack.size:
            raise InvalidProblem(
                f"stiffness[{slack[0]}] and damping[{slack[0]}] are both zero: such a row does nothing"
            )
        return 1.0 / (h * (h * k + d)), h * k / (h * k + d)


@dataclass(frozen=True, eq=False)
class Rows(ABC):
    """A group of rows of one kind. `J` is a matrix, sparse or dense, one row each, or a pair (bodies, blocks) as for
    `FactoredOperator.from_body_pairs`.
    """

    J: Any

    @abstractmethod
    def terms(self, motion: Motion, dimension: int) -> Terms:
        """What these rows add to the problem."""


@dataclass(frozen=True, eq=False, kw_only=True)
class JointRows(Softness, Rows):
    """Equations, J v+ = 0: joints. `violation` is phi [m or rad], which is to become zero."""

    violation: PerRow = 0.0

    def terms(self, motion: Motion, dimension: int) -> Terms:
        count, h = motion.free.size, motion.time_step
        compliance, share = self.coefficients(count, h)
        b = motion.free + share * _numbers(self.violation, "violation", count) / h
        return Terms(b, compliance, np.full(count, -np.inf), np.full(count, np.inf))


@dataclass(frozen=True, eq=False, kw_only=True)
class LimitRows(Softness, Rows):
    """One-sided rows, 0 <= x ⊥ y >= 0: limits of joints, ropes, contacts without friction.

    `gap` is phi [m or rad], which is to stay >= 0. A rigid row lets a positive gap be used up within the step, but no
    more (Gamma = 1), and takes back a share of a negative one.

    `restitution` e in [0, 1] is Newton's law in the form of Moreau (1988): J v+ >= -e J v where the gap closes within
    the step, and also where it opens, so that others may push a row back by e times the speed that it opens with. Then
    all rows with an impulse have J v+ = -e J v, and for one e and no friction impulses change the energy by
    x . J (v+ + v) / 2 = -(1 - e) / (1 + e) x . A x / 2 <= 0, whatever collides at once. If rows that open were asked
    for J v+ >= 0, nine discs that meet could gain 80 % of their energy in a step. With friction Newton's law may still
    add energy where several contacts collide at once (Kane 1984): it does so for e near 1 and large coefficients.
    """

    gap: PerRow = 0.0
    restitution: PerRow = 0.0

    def terms(self, motion: Motion, dimension: int) -> Terms:
        b, compliance = self.one_sided(motion)
        return Terms(b, compliance, np.zeros(b.size), np.full(b.size, np.inf))

    def one_sided(self, motion: Motion) -> tuple[Vector, Vector]:
        """b and the diagonal of C."""
        count, h = motion.free.size, motion.time_step
        compliance, share = self.coefficients(count, h)
        gap = _numbers(self.gap, "gap", count)
        e = _not_negative(self.restitution, "restitution", count)
        if e.max(initial=0.0) > 1.0:
            raise InvalidProblem(f"restitution is {e.max()}; at most 1 is needed")
        if not self.is_rigid:
            if e.any():
                raise InvalidProblem("a row with stiffness or damping bounces by itself: restitution must be 0")
            return motion.free + share * gap / h, compliance
        correction = np.where(gap > 0.0, 1.0, share) * gap / h
        if not e.any():
            return motion.free + correction, compliance
        before, closes = motion.before, gap + h * motion.free < 0.0
        # lower bounds of J v+ are -correction and -e J v: of a row that comes in the higher one, of one that leaves the
        # lower one, where an overlap that is taken back counts from the speed at which that happens
        comes = np.where(closes & (before < 0.0), np.minimum(correction, e * before), correction)
        too_fast = e * np.maximum(before + correction, 0.0)
        leaves = np.where(gap > 0.0, np.maximum(correction, e * before), correction + too_fast)
        return motion.free + np.where(before > 0.0, leaves, comes), compliance


@dataclass(frozen=True, eq=False, kw_only=True)
class ContactRows(LimitRows):
    """Contacts with friction; J has `dimension` rows for each, normal first, then tangents.

    `friction` is a coefficient, one number or one a contact, or a matrix with one for each tangent (torsion and rolling
    need it, see `ContactProblem`). Gap, restitution and softness belong to the normals, as in `LimitRows`; friction
    holds against the velocity itself. `tangent_compliance` [(m/s)/(N s)] is C of the tangents, one number or one a
    contact, of moments in the units of their levers: the THESIS has it on all rows, so that A is definite where
    contacts are redundant.
    """

    friction: PerTangent
    tangent_compliance: PerRow = 0.0

    def terms(self, motion: Motion, dimension: int) -> Terms:
        if motion.free.size % dimension:
            raise InvalidProblem(f"J of contacts has {motion.free.size} rows, no multiple of dimension = {dimension}")
        b, compliance = motion.free.copy(), np.zeros(motion.free.size)
        normals = Motion(motion.before[::dimension], motion.free[::dimension], motion.time_step)
        b[::dimension], compliance[::dimension] = self.one_sided(normals)
        tangents = _not_negative(self.tangent_compliance, "tangent_compliance", normals.free.size)
        levers = find_levers(self.coefficients_of_friction(motion.free.size, dimension), dimension)
        for k in range(1, dimension):
            own = levers[:, k]
            np.divide(tangents, own**2, out=compliance[k::dimension], where=own > 0.0)
        return Terms(b, compliance, np.empty(0), np.empty(0))  # the friction law has the bounds

    def coefficients_of_friction(self, rows: int, dimension: int) -> Vector:
        given: Any = self.friction
        if dimension > 3 or np.ndim(given) == 2:
            coefficients = checked_friction(given, "cone", rows, dimension)
            if len(coefficients) != rows // dimension:
                raise InvalidProblem(f"friction has {len(coefficients)} lines for {rows // dimension} contacts")
            return coefficients
        return _not_negative(given, "friction", rows // dimension)


@dataclass(frozen=True, eq=False, kw_only=True)
class MotorRows(Rows):
    """J v+ = `speed` [m/s or rad/s], as far as `max_force` [N or N m] goes; speed 0 is dry friction in a joint."""

    speed: PerRow = 0.0
    max_force: PerRow = np.inf

    def terms(self, motion: Motion, dimension: int) -> Terms:
        count = motion.free.size
        limit = motion.time_step * as_bound(self.max_force, "max_force", count, forbidden=-np.inf)
        if (limit < 0.0).any():
            raise InvalidProblem(f"max_force is {limit.min() / motion.time_step}; it must not be negative")
        return Terms(motion.free - _numbers(self.speed, "speed", count), np.zeros(count), -limit, limit)


def assemble_step(
    rows: Sequence[Rows],
    mass: Mass | EntriesLike | VectorLike,
    velocity: VectorLike,
    time_step: float,
    *,
    force: VectorLike | None = None,
    model: str = "box",
    dimension: int = 3,
) -> ContactProblem:
    """The contact problem of one time step: contacts first, in the order given, then all other rows in theirs.

    Parameters
    ----------
    rows
        `ContactRows`, `JointRows`, `LimitRows`, `MotorRows`.
    mass, velocity, force
        M in any form that `FactoredOperator` takes; v at the beginning of the step; external forces f [N, N m], with
        those of rotating bodies (default none).
    time_step
        h [s].
    model, dimension
        Of the friction; see `ContactProblem`. (For "disc" fix the radii later: `problem.with_model`.)

    The velocities at the end of the step are `v + h M^-1 f + problem.A.velocity(x)`.
    """
    require_number(time_step, "time_step", positive=True)
    require_dimension(dimension)
    if isinstance(rows, Rows):
        raise TypeError(f"rows is {type(rows).__name__}; a list of such groups is needed")
    for place, group in enumerate(rows):
        if not isinstance(group, Rows):
            raise TypeError(f"rows[{place}] is {type(group).__name__}; ContactRows, JointRows, ... are needed")
    if model == "disc":
        raise InvalidProblem("model 'disc' needs radii: assemble another model, then with_model('disc', radii=...)")
    ordered = sorted(rows, key=lambda group: not isinstance(group, ContactRows))
    M, h = as_mass(mass), float(time_step)
    v = as_vector(velocity, "velocity", M.dofs)
    push = np.zeros(M.dofs) if force is None else as_vector(force, "force", M.dofs)
    rigid, sizes = _all_rows(ordered, M)
    with np.errstate(all="ignore"):  # what overflows is found when the problem is made of it
        before, free = rigid.relative_velocity(v), rigid.relative_velocity(v + h * M.solve(push))
        spans = [slice(stop - size, stop) for size, stop in zip(sizes, np.cumsum(sizes), strict=True)]
        motions = [Motion(before[span], free[span], h) for span in spans]
        terms = [group.terms(motion, dimension) for group, motion in zip(ordered, motions, strict=True)]
    A = rigid.with_compliance(_joined([one.compliance for one in terms]))
    friction = [
        group.coefficients_of_friction(size, dimension)
        for group, size in zip(ordered, sizes, strict=True)
        if isinstance(group, ContactRows)
    ]
    b = _joined([one.b for one in terms])
    lower, upper = _joined([one.lower for one in terms]), _joined([one.upper for one in terms])
    coefficients = _joined_coefficients(friction, dimension)
    return ContactProblem(A, b, coefficients, model, dimension=dimension, lower=lower, upper=upper)


def _joined_coefficients(parts: Sequence[Vector], dimension: int) -> Vector:
    """One a contact, or one for each tangent where some group or the dimension needs it."""
    if dimension <= 3 and all(part.ndim == 1 for part in parts):
        return _joined(parts)
    spread = [np.repeat(part[:, None], dimension - 1, axis=1) if part.ndim == 1 else part for part in parts]
    return np.concatenate([np.empty((0, dimension - 1)), *spread])


def _all_rows(groups: Sequence[Rows], mass: Mass) -> tuple[FactoredOperator, list[int]]:
    """J M^-1 J^T of all groups one below the other, and how many rows each has; pairs of bodies stay pairs."""
    if isinstance(mass, BodyMasses | PlanarMasses) and groups and all(isinstance(group.J, tuple) for group in groups):
        bodies = [np.asarray(group.J[0]) for group in groups]
        blocks = [np.asarray(group.J[1]) for group in groups]
        for place, (pairs, jacobian) in enumerate(zip(bodies, blocks, strict=True)):
            if pairs.ndim != 2 or jacobian.ndim != 3 or len(pairs) != len(jacobian):
                raise InvalidProblem(
                    f"J of rows[{place}] is (bodies, blocks) of shapes {pairs.shape}, {jacobian.shape}; "
                    "m x 2 and m x 2 x 6 (3 in a plane) are needed"
                )
        stack = (bodies[0], blocks[0]) if len(groups) == 1 else (np.concatenate(bodies), np.concatenate(blocks))
        return FactoredOperator.from_body_pairs(*stack, mass), [len(pairs) for pairs in bodies]
    jacobians = [_as_rows(group.J, mass) for group in groups]
    whole = sparse.vstack([sparse.csr_array((0, mass.dofs)), *jacobians], format="csr")
    return FactoredOperator(whole, mass), [int(J.shape[0]) for J in jacobians]


def _as_rows(J: Any, mass: Mass) -> sparse.csr_array:
    if isinstance(J, tuple):
        if not isinstance(mass, BodyMasses | PlanarMasses):
            raise TypeError("J as (bodies, blocks) needs perp.BodyMasses or perp.PlanarMasses")
        bodies, blocks = J
        return FactoredOperator.from_body_pairs(bodies, blocks, mass).J
    matrix = as_csr(J, "J")
    if matrix.shape[1] != mass.dofs:
        raise InvalidProblem(f"J has {matrix.shape[1]} columns, but the mass has {mass.dofs} velocities")
    return matrix


def _numbers(value: Any, name: str, count: int) -> Vector:
    """One number a row, from a number or a vector."""
    if isinstance(value, float) and isfinite(value):  # by far the most frequent case, many times a step
        return np.full(count, value)
    return as_vector(np.full(count, value) if np.ndim(value) == 0 else value, name, count)


def _not_negative(value: Any, name: str, count: int) -> Vector:
    numbers = _numbers(value, name, count)
    negative = np.flatnonzero(numbers < 0.0)
    if negative.size:
        raise InvalidProblem(f"{name}[{negative[0]}] is {numbers[negative[0]]}; it must not be negative")
    return numbers


def _joined(parts: Sequence[Vector]) -> Vector:
    return np.concatenate([np.empty(0), *parts])
