"""Contact laws as equations F(x) = 0, in units in which every contact weighs the same.

The kernels are in `perp.kernels.contacts.cone_derivative`.

F of contact c is measured in d_c beta, d_c = 1/sqrt(mean A_ii of its rows): squares of it are then energies, whatever
the masses are, and beta, a power of two about as large as d b, takes the energy's own unit away.

F and its derivative for contacts whose rows have coefficients of their own.

The counterpart for round friction is `perp.kernels.contacts.cone_derivative`. Here units are those of the levers, in
which friction is round, with any number of tangents, and arrays take the place of kernels. Rows without a lever have
F = x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.kernels.contacts import cone_derivative as kernels
from perp.kernels.contacts import cone_derivative as laws
from perp.kernels.measures import projection
from perp.linalg.free_systems.block_rows import BlockDiagonal
from perp.problems.contact_laws import lengths
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
WideLaw = tuple[np.uint64, Vector, Vector]
"""Number, strength and lift."""

FUNCTIONS = ("alart_curnier", "natural_map")

EPSILON = 2.0**-52


def evaluate(problem: ContactProblem, law: WideLaw, base: Vector, x: Vector, y: Vector, rho: Vector, F: Vector) -> None:
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
    problem: ContactProblem, law: WideLaw, carried: bool, base: Vector, y: Vector, rho: Vector, E: Numbers, G: Numbers
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


def _arguments(problem: ContactProblem, law: WideLaw, base: Vector, y: Vector, rho: Vector) -> tuple[Numbers, Numbers]:
    """rho (y + what the law adds to y_n), and base less it."""
    number, strength, lift = law
    speeds = _measured_speeds(problem, y)
    if number == laws.CONES:
        speeds[:, 0] += lift
    elif number == laws.LIFTED_CONES:
        speeds[:, 0] += strength * lengths(speeds[:, 1:])
    step = np.clip(_rho_of_contacts(problem, rho) * speeds, -projection.HUGE, projection.HUGE)
    return step, problem.measured(base) - step


def _project(law: WideLaw, z: Numbers) -> tuple[Numbers, Numbers]:
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


@dataclass(frozen=True, eq=False)
class Law:
    """What a contact allows: the kernels' number of it, and their `strength` and `lift`, one a contact."""

    number: np.uint64
    strength: Vector
    lift: Vector

    @property
    def numbers(self) -> tuple[np.uint64, Vector, Vector]:
        return self.number, self.strength, self.lift


@dataclass(frozen=True, eq=False)
class Equation:
    """F(x) = x - P(x - rho y), or, around a centre, x - P(centre - rho y)."""

    law: Law
    rho: Vector
    centre: Vector | None = None


class ContactEquations:
    """The equations of one contact problem.

    `asked` is the problem itself. `near` is the proximal-point subproblem, y + s (x - centre) in the place of y, with
    rho = 1/s: then x cancels out of x - rho (y + s (x - centre)), and E = 1. `frozen` is a law that is monotone: the
    one asked for, with what its limits follow held fast.
    """

    def __init__(self, problem: ContactProblem, function: str, rho: float) -> None:
        self.problem = problem
        self.stiffness: Vector = _mean_diagonal(problem)
        self.rho: Vector = rho / self.stiffness
        self.unit: Vector = 1.0 / np.sqrt(self.stiffness)
        self.law: Law = _law(problem, function)
        self.asked: Equation = Equation(self.law, self.rho)

    def set_energy(self, x: Vector, y: Vector) -> None:
        """Choose beta: the squares of b, and of F where it begins, are about 1 at most."""
        F = np.empty(x.size)
        self.measure(self.asked, x, y, F)
        sizes = np.maximum(np.abs(F / self.unit), np.abs(self.problem.b) / (self.unit * self.stiffness))
        largest = float(sizes.max(initial=0.0))
        if 0.0 < largest < np.inf:
            self.unit = self.unit * np.ldexp(1.0, int(np.frexp(largest)[1]))

    def near(self, law: Law, centre: Vector, weight: float) -> Equation:
        """The subproblem whose s is `weight` times the stiffness of the contact."""
        return Equation(law, 1.0 / (weight * self.stiffness), centre)

    def frozen(self, x: Vector, y: Vector) -> Law:
        """Coulomb's law with the slip speeds of y in its lift (Acary & Cadoux 2011), or boxes at the limits of x.

        Each is the law of a convex problem where A is symmetric and positive semidefinite.
        """
        problem = self.problem
        if problem.model == "cone":
            contacts = y[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
            contacts = problem.levers * contacts if problem.is_wide else contacts
            slip = np.sqrt(np.sum(contacts[:, 1:] ** 2, axis=1))
            return Law(kernels.CONES, self.law.strength, self.law.strength * slip)
        if problem.model == "box":
            return Law(kernels.FIXED_BOXES, problem.strength * np.maximum(x[problem.every(0)], 0.0), self.law.lift)
        return self.law

    def measure(self, equation: Equation, x: Vector, y: Vector, F: Vector) -> float:
        """F, and half the sum of its squares in the units of the contacts."""
        problem, law = self.problem, equation.law
        base, carried = (x, True) if equation.centre is None else (equation.centre, False)
        rest = (carried, base, x, y, equation.rho, self.unit, F)
        first = np.uint64(problem.contact_rows)
        if problem.is_wide:
            evaluate(problem, law.numbers, base, x, y, equation.rho, F)
            theta = 0.5 * float(np.sum((F[:first] / self.unit[:first]) ** 2))
        else:
            theta = kernels.evaluate(law.number, np.uint64(problem.dimension), law.strength, law.lift, *rest)
        return float(theta + kernels.evaluate_rows(first, problem.lower, problem.upper, *rest))

    def linearise(self, equation: Equation, x: Vector, y: Vector) -> tuple[BlockDiagonal, BlockDiagonal]:
        """E and G of dF = E dx + G dy."""
        problem, law = self.problem, equation.law
        shape = (problem.contacts, problem.dimension, problem.dimension)
        others = problem.n - problem.contact_rows
        E, G = (BlockDiagonal(np.empty(shape), np.empty(others)) for _ in range(2))
        base, carried = (x, True) if equation.centre is None else (equation.centre, False)
        given = (carried, base, y, equation.rho)
        width = np.uint64(problem.dimension)
        if problem.is_wide:
            linearise(problem, law.numbers, *given, E.blocks, G.blocks)
        else:
            blocks = (E.blocks.reshape(-1), G.blocks.reshape(-1))
            kernels.linearise(law.number, width, law.strength, law.lift, *given, *blocks)
        first = np.uint64(problem.contact_rows)
        kernels.linearise_rows(first, problem.lower, problem.upper, *given, E.diagonal, G.diagonal)
        return E, G

    def size(self, F: Vector) -> float:
        """The largest entry, in the units of the contacts."""
        return float(np.abs(F / self.unit).max(initial=0.0))

    def rounding(self, x: Vector) -> float:
        """What rounding errors of x and of y alone can make of `size`."""
        reached = max(self.size(x), self.size(self.rho * self.problem.b))
        return 8.0 * EPSILON * max(reached, 1.0 if reached > 0.0 else 0.0)


def _mean_diagonal(problem: ContactProblem) -> Vector:
    """The mean A_ii of the rows of a contact, of the other rows A_ii itself; 1 where that is not positive.

    Rows with a lever have the mean in their units.
    """
    assert problem.diagonal is not None
    stiffness = problem.diagonal.copy()
    contacts = stiffness[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
    if problem.is_wide:
        squares = problem.levers**2
        mean = np.repeat((squares * contacts).mean(axis=1, keepdims=True), problem.dimension, axis=1)
        contacts[:] = np.divide(mean, squares, out=mean.copy(), where=squares > 0.0)
    else:
        contacts[:] = contacts.mean(axis=1, keepdims=True)
    stiffness[~(stiffness > 0.0)] = 1.0
    return stiffness


def _law(problem: ContactProblem, function: str) -> Law:
    number = {
        "cone": kernels.FOLLOWING_DISCS if function == "alart_curnier" else kernels.LIFTED_CONES,
        "convex": kernels.CONES,
        "disc": kernels.FIXED_DISCS,
        "box": kernels.FOLLOWING_BOXES,
    }[problem.model]
    return Law(number, problem.strength.copy(), np.zeros(problem.contacts))
