"""The last digits: an approximate answer made exact on the index set that it points at.

Where x is near a solution, it tells which rows lie between their bounds and which at one of them; what is left is one
linear system,

    x_T = bound_T,      A_FF x_F = -(b_F + A_FT x_T),      F the free rows, T those at a bound (THESIS eq. 2.40),

whose answer is as good as rounding errors allow. It is solved for a correction of the x that was given, so that of the
many solutions of a singular A_FF (redundant contacts) one nearby is found, and refined (Skeel 1980). Contact laws have
Newton's equation in the place of the linear system. `rows` and `contacts` say how.

What can be reached: y = A x + b has rounding errors of about 2^-53 (|A| |x| + |b|), and the residual is no smaller.
Sums of more digits would not change that, as x itself is rounded to 53 binary digits.

Contacts with friction: a bounded number of Newton steps on the equations of their law.

With boxes that follow the normal impulse a step is the linear system of the states that x points at: separated, stuck,
or sliding at x_t = +-friction x_n, which is put into the other rows. Sliding on a disc or a cone is not linear; there
the steps are those of `cone_newton` without its sweeps and fallbacks, and converge quadratically.

Where the states of degenerate contacts go to and fro, y + s (x - c) stands in the place of y, c the best point so far
and s a share of each contact's stiffness: the proximal problems that `cone_newton` solves, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from perp.errors import OperatorFault
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems.block_rows import BlockSystem, choose_block_system
from perp.problems.deadline import OutOfTime, hold, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_vector, freeze
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.written_out import write_out
from perp.solvers.newton.cone.equations import ContactEquations, Equation
from perp.solvers.polishing.rows import polish_rows
from perp.solvers.polishing.systems import BestPoint, BlockProducts, is_affordable

STEPS = 8
"""Newton steps with one equation, at most."""

MOST_STEPS = 40
"""In all."""

SURE = 3
"""Equations that are tried wherever x is; the others only where it is near a solution, and not good yet."""

LENGTHS = (1.0, 0.5, 0.25, 0.1, 0.01)
"""Of a step, the first with a smaller merit: full steps alone go to and fro where contacts are degenerate."""

VAIN, PROGRESS = 2, 0.5
"""Steps in a row that leave more than this share of the least residual so far, before it is another equation's turn."""

SHIFT, SMALLER_SHIFTS = 1e-4, (1e-7, 1e-11)
"""Added to A as a share of each contact's stiffness, so that redundant contacts leave no singular matrix.

Refinement takes it back. A smaller one lets rounding errors, divided by it, into directions that A does not feel, but
the law does where contacts slide. Measured on the Capsules of Siconos: 1e-9 ends at 1e-9, 1e-6 at 1e-11, 1e-4 at 1e-13,
and 1e-2 is not taken back in time. But a larger one hides small compliances (1e-9 in the sliding cube of ContactBench).
"""

REFINEMENTS = 6

WEIGHTS = (1e-1, 1e-3, 1e-5)
"""Of proximal problems, as a share of each contact's stiffness."""

CENTRES = 6
"""Proximal problems with one weight, at most; each must halve the residual."""

MOST_PRODUCTS = 200
"""Rows up to which an A that is only a product is written out; beyond, Krylov methods need fewer products."""


def polish_contacts(problem: ContactProblem, best: BestPoint) -> str:
    """Improves on the best point where it can; says in a sentence what was done."""
    if DIAGONAL not in problem.A.ability_set:
        return ""
    system: BlockSystem
    if TO_SPARSE not in problem.A.ability_set or not is_affordable(problem, problem.n, best.seconds_left):
        system, way = BlockProducts(problem.A), "GMRES"
    else:
        system, way = choose_block_system(problem.A, "auto"), "a factor"
    steps = NewtonSteps(problem, best, system)
    for number, (function, rho, shift) in enumerate(_equations(problem), start=1):
        equations = ContactEquations(problem, function, rho)
        steps.run(equations, equations.asked, shift)
        if steps.is_done or (number >= SURE and not best.is_promising):
            break
    else:
        equations = ContactEquations(problem, "alart_curnier", 1.0)
        for weight in WEIGHTS:
            if steps.approach(equations, weight):
                steps.run(equations, equations.asked, SHIFT)
    return f"{best.rounds} Newton steps on the contact laws, each by {way}"


def _equations(problem: ContactProblem) -> list[tuple[str, float, float]]:
    """The function of `cone_newton`, rho, which decides the state of a contact that x leaves open, and the shift."""
    plain = [("alart_curnier", 1.0, shift) for shift in (SHIFT, *SMALLER_SHIFTS)]
    plain += [("alart_curnier", rho, SHIFT) for rho in (8.0, 0.125)]
    return [*plain, ("natural_map", 1.0, SHIFT)] if problem.model == "cone" else plain


class NewtonSteps:
    """Steps from the best point so far."""

    def __init__(self, problem: ContactProblem, best: BestPoint, system: BlockSystem) -> None:
        self._problem, self._best, self._system = problem, best, system
        self._zero = freeze(np.zeros(problem.n))

    @property
    def is_done(self) -> bool:
        return self._best.is_enough or self._best.is_late or self._best.rounds >= MOST_STEPS

    def approach(self, equations: ContactEquations, weight: float) -> bool:
        """Proximal problems around the best point, as long as that halves the residual; whether there is more to do."""
        first = self._best.residual
        for _ in range(CENTRES):
            before = self._best.residual
            if self.is_done:
                break
            self.run(equations, equations.near(equations.law, self._best.x, weight), 0.0)
            if not self._best.residual <= 0.5 * before:
                break
        return self._best.residual <= 0.5 * first and not self.is_done

    def run(self, equations: ContactEquations, equation: Equation, shift: float) -> None:
        """Until the residual no longer falls, or the merit of the equation cannot be lowered."""
        best, problem = self._best, self._problem
        point, y, F = best.x, self._slack(best.x), np.empty(problem.n)
        theta = equations.measure(equation, point, y, F)
        vain = 0
        for _ in range(STEPS):
            dx = self._step(equations, equation, shift, point, y, F)
            if dx is None:
                return
            best.rounds += 1
            before = best.residual
            for length in LENGTHS:
                trial = point + length * dx
                slack = self._slack(trial)
                least = equations.measure(equation, trial, slack, F)
                best.offer(problem.project(trial))
                if least < theta:
                    break
            else:  # rounding errors, or a corner: the whole step may lead out of it
                trial = point + dx
                slack = self._slack(trial)
                least = equations.measure(equation, trial, slack, F)
            point, y, theta = trial, slack, least
            vain = 0 if best.residual < PROGRESS * before else vain + 1
            if vain == VAIN or best.is_late or (best.is_enough and best.residual > 0.5 * before):
                return

    def _slack(self, x: Vector) -> Vector:
        return self._problem.A.slack(x, self._problem.b, np.empty(x.size))

    def _step(
        self, equations: ContactEquations, equation: Equation, shift: float, x: Vector, y: Vector, F: Vector
    ) -> Vector | None:
        """(E + G A) dx = -F, factored with a small shift and refined without it; None where that is singular still."""
        E, G = equations.linearise(equation, x, y)
        dx, left = np.zeros(F.size), -F
        least = equations.size(left)
        try:
            self._system.factor(E.plus_scaled_columns(G, shift * equations.stiffness), G)
            for _ in range(REFINEMENTS):
                trial = dx + self._system.solve(left)
                product = self._problem.A.slack(trial, self._zero, np.empty(trial.size))
                rest = -F - E.apply(trial) - G.apply(product)
                size = equations.size(rest)
                if not size < least:
                    break
                halved = size <= 0.5 * least
                dx, left, least = trial, rest, size
                if not halved or least == 0.0:
                    break
        except NotFinite:
            return None
        return dx if dx.any() else None


@dataclass(frozen=True, eq=False)
class Polished:
    """A better answer, and how it was found."""

    x: Vector
    """Within its bounds, read-only."""
    residual: float
    """As `perp.verify` measures it; smaller than that of the x that was given."""
    rounds: int
    """Linear systems that were set up: index sets, or Newton steps."""
    how: str
    """A sentence."""


def polish(problem: Problem, x: Vector, *, max_seconds: float = inf) -> Polished | None:
    """A better answer near x, or None where there is none to be found: x solves the problem as well as can be, is too
    far from a solution, or the linear system would take longer than `max_seconds`.

    x is projected on its bounds first. Nothing is ever made worse, and numbers that break down are no error.
    """
    begun = now()
    given = np.array(as_vector(x, "x", problem.n))
    if isnan(max_seconds):
        raise ValueError("max_seconds is nan; a number of seconds is needed")
    if problem.n == 0 or not max_seconds > 0.0:
        return None
    best = None
    how = "the time was over before all was tried"
    with np.errstate(all="ignore"), hold(begun + max_seconds) as deadline:
        try:
            best = BestPoint(problem, given, deadline)
            if best.is_perfect:
                return None
            known = write_out(problem, MOST_PRODUCTS)
            contacts = known.frictional
            how = polish_rows(known, best) if contacts is None else polish_contacts(contacts, best)
        except OperatorFault:
            return None
        except OutOfTime:
            pass
    if best is None or not best.is_better:
        return None
    return Polished(freeze(best.x), best.residual, best.rounds, how)
