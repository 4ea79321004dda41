"""Contact laws as equations F(x) = 0, in units in which every contact weighs the same.

The kernels are in `perp.kernels.contacts.cone_derivative`.

F of contact c is measured in d_c beta, d_c = 1/sqrt(mean A_ii of its rows): squares of it are then energies, whatever
the masses are, and beta, a power of two about as large as d b, takes the energy's own unit away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.kernels.contacts import cone_derivative as kernels
from perp.linalg.free_systems.block_rows import BlockDiagonal
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.solvers.newton.cone import wide_equations

FUNCTIONS = ("alart_curnier", "natural_map")

EPSILON = 2.0**-52


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
            wide_equations.evaluate(problem, law.numbers, base, x, y, equation.rho, F)
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
            wide_equations.linearise(problem, law.numbers, *given, E.blocks, G.blocks)
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
