"""F and its derivative for contacts whose rows have coefficients of their own.

The counterpart for round friction is `perp.kernels.contacts.cone_derivative`. Here units are those of the levers, in
which friction is round, with any number of tangents, and arrays take the place of kernels. Rows without a lever have
F = x.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.contacts import cone_derivative as laws
from perp.kernels.measures.projection import HUGE
from perp.problems.contact_laws import lengths
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Law = tuple[np.uint64, Vector, Vector]
"""Number, strength and lift."""


def evaluate(problem: ContactProblem, law: Law, base: Vector, x: Vector, y: Vector, rho: Vector, F: Vector) -> None:
    """F of the contacts; `base` is x itself, or the centre of a subproblem."""
    levers, shape = problem.levers, problem.levers.shape
    step, z = _arguments(problem, law, base, y, rho)
    near = _project(law, z)[0]
    here = problem.measured(x)
    exact = (near == z) if base is x else np.zeros(shape, dtype=np.bool_)  # then F is the step, which x may hide
    found = levers * np.where(exact, step, here - near)
    first = problem.contact_rows
    F[:first] = np.where(levers > 0.0, found, x[:first].reshape(shape)).reshape(-1)


def linearise(
    problem: ContactProblem, law: Law, carried: bool, base: Vector, y: Vector, rho: Vector, E: Numbers, G: Numbers
) -> None:
    """E and G of the contacts, a matrix each."""
    number, strength, _ = law
    levers = problem.levers
    _, z = _arguments(problem, law, base, y, rho)
    slopes = _project(law, z)[1]
    inverse = np.divide(1.0, levers, out=np.zeros(levers.shape), where=levers > 0.0)
    one = np.eye(problem.dimension)
    E[:] = one - levers[:, :, None] * slopes * inverse[:, None, :] if carried else one
    if number == laws.LIFTED_CONES:  # the lift turns with y_t
        turning = _measured_speeds(problem, y)[:, 1:]
        slip = lengths(turning)[:, None]
        by_tangent = strength[:, None] * np.divide(turning, slip, out=np.zeros(turning.shape), where=slip > 0.0)
        slopes[:, :, 1:] += slopes[:, :, :1] * by_tangent[:, None, :]
    G[:] = _rho_of_contacts(problem, rho)[:, :, None] * levers[:, :, None] * slopes * levers[:, None, :]


def _measured_speeds(problem: ContactProblem, y: Vector) -> Numbers:
    return problem.levers * y[: problem.contact_rows].reshape(problem.levers.shape)


def _rho_of_contacts(problem: ContactProblem, rho: Vector) -> Numbers:
    return rho[problem.normal_rows][:, None]


def _arguments(problem: ContactProblem, law: Law, base: Vector, y: Vector, rho: Vector) -> tuple[Numbers, Numbers]:
    """rho (y + what the law adds to y_n), and base less it."""
    number, strength, lift = law
    speeds = _measured_speeds(problem, y)
    if number == laws.CONES:
        speeds[:, 0] += lift
    elif number == laws.LIFTED_CONES:
        speeds[:, 0] += strength * lengths(speeds[:, 1:])
    step = np.clip(_rho_of_contacts(problem, rho) * speeds, -HUGE, HUGE)
    return step, problem.measured(base) - step


def _project(law: Law, z: Numbers) -> tuple[Numbers, Numbers]:
    """P(z) and P'(z) of each contact; at a kink the side that `cone_derivative.slopes` takes."""
    number, strength, _ = law
    normal, tangents = z[:, 0], z[:, 1:]
    count, width = tangents.shape
    length = lengths(tangents)
    p = np.divide(tangents, length[:, None], out=np.zeros(tangents.shape), where=length[:, None] > 0.0)
    along_p, one = p[:, :, None] * p[:, None, :], np.eye(width)
    slopes = np.zeros((count, width + 1, width + 1))
    if number in (laws.CONES, laws.LIFTED_CONES):
        cosine = 1.0 / np.hypot(1.0, strength)
        sine = strength * cosine
        along = np.maximum(cosine * normal + sine * length, 0.0)
        line = np.concatenate([cosine[:, None], sine[:, None] * p], axis=1)
        turn = np.divide(sine * along, length, out=np.zeros(count), where=length > 0.0)
        slopes[:] = line[:, :, None] * line[:, None, :]
        slopes[:, 1:, 1:] += turn[:, None, None] * (one - along_p)
        slopes[along == 0.0] = 0.0
        inside = (cosine * length <= sine * normal) & (normal >= 0.0) & (strength > 0.0)
        slopes[inside] = np.eye(width + 1)
        return np.where(inside[:, None], z, along[:, None] * line), slopes
    slopes[:, 0, 0] = normal > 0.0
    fixed = number in (laws.FIXED_DISCS, laws.FIXED_BOXES)
    limit = strength if fixed else strength * np.maximum(normal, 0.0)
    growth = np.zeros(count) if fixed else strength * (normal > 0.0)
    if number in (laws.FOLLOWING_BOXES, laws.FIXED_BOXES):
        free = (np.abs(tangents) <= limit[:, None]) & (limit[:, None] > 0.0)
        slopes[:, 1:, 0] = np.where(free, 0.0, np.copysign(growth[:, None], tangents))
        slopes[:, 1:, 1:] = free[:, :, None] * one
        near = np.clip(tangents, -limit[:, None], limit[:, None])
    else:
        sticks = (length <= limit) & (limit > 0.0)
        share = np.divide(limit, length, out=np.ones(count), where=length > limit)
        sliding = share[:, None, None] * (one - along_p)
        sliding[length == 0.0] = 0.0
        slopes[:, 1:, 0] = np.where(sticks[:, None], 0.0, growth[:, None] * p)
        slopes[:, 1:, 1:] = np.where(sticks[:, None, None], one, sliding)
        near = tangents * share[:, None]
    return np.concatenate([np.maximum(normal, 0.0)[:, None], near], axis=1), slopes
