"""The Newton equation of the Fischer reformulation, (D_p + D_q (A + shift I)) dx = -F (NOTES eq. 96), and its state.

Where a Fischer-Newton iteration stands, and what it does where the Newton direction fails.

`Regularisation` is added to the diagonal of A, `Kinks` choose a derivative where there are several (NOTES 5.5,
eq. 98). Where the direction fails: the gradient of the merit function, and proofs of infeasibility.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from perp.errors import OperatorFault
from perp.kernels.newton import fischer_derivative
from perp.linalg import krylov
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import CoupledBlocks, FreeSystem, choose_shifted_system, choose_system, factor_or_exchange
from perp.linalg.free_systems.base import Mask
from perp.linalg.preconditioners import Recipe
from perp.problems.certificates import PROVABLE, sharpen, verify_certificate
from perp.problems.inputs import Vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.globalisation import MeritPoint, Proximal, Reference

NEGLIGIBLE = 1e-10
"""|q_i| below this share of |p_i|: the row says dx_i = -F_i / p_i, and is no part of the system that is factored."""

ACCURATE, ROUGH = 1e-8, 0.5
"""What is to be left of a directly solved equation, as a share of ||F||, and what may be left."""

REFINEMENTS = 5
"""Steps of iterative refinement at most; each must at least halve what is left."""

SMALL = 2.0**-26
"""The square root of the rounding error: steps of finite differences, as a share of x."""

MOST, LEAST = 1.0 / 32.0, 3e-7
"""e lies between these shares of a typical diagonal entry, whatever the size of F.

Below the second, redundant rows of a non-symmetric A are told apart by rounding errors, and the last iterates jump
about. But where eigenvalues of A are as small as that, it is e that makes the iteration crawl; so the second falls by
`RELIEF` with every iteration that has so little and leaves more than the share `CRAWL` of the merit.
"""

RELIEF, CRAWL = 0.1, 0.25

STRATEGIES = ("random", "zero", "perturbation", "approximation")

FLAT = 1e-8
"""The cosine of the angle between F and its derivative along the gradient below which theta is flat."""


@dataclass(frozen=True)
class Line:
    """The linear model at a point: F, and the diagonals p and q of its derivative."""

    F: Vector
    p: Vector
    q: Vector
    weight: float
    """What the proximal-point loop has on the diagonal of A."""
    regularisation: float
    """What is added to it for this equation only."""

    def apply(self, v: Vector, product: Vector) -> Vector:
        """J v from A v, without the regularisation."""
        return np.asarray(self.p * v + self.q * (product + self.weight * v))


class Equation(ABC):
    """`solve` gives dx and J dx (without the regularisation), or None where there is no finite dx."""

    @abstractmethod
    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None: ...

    @abstractmethod
    def counters(self) -> dict[str, float]: ...


class DirectEquation(Equation):
    """Row i divided by q_i: A + diag(p / q) + shift I, symmetric where A is, and positive definite where A is.

    Rows whose q_i is negligible leave the system beforehand.
    """

    def __init__(self, problem: Problem, space: str) -> None:
        self._system = choose_shifted_system(problem, space)
        self._spare: FreeSystem | None = None

    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None:
        free = np.abs(line.q) > NEGLIGIBLE * np.abs(line.p)
        divisor = np.where(free, line.q, line.p)
        added = np.where(free, line.p / divisor + line.weight + line.regularisation, 0.0)
        try:
            self._system = factor_or_exchange(problem, self._system, free, added)
            found = self._refine(problem, line, self._system, free, divisor)
        except NotFinite:
            found = None
        if found is None and isinstance(self._system, CoupledBlocks):  # a block may be singular where A is not
            self._spare = self._spare or choose_system(problem)
            try:
                self._spare.factor(free, added)
                found = self._refine(problem, line, self._spare, free, divisor)
            except NotFinite:
                return None
        return found

    @staticmethod
    def _refine(
        problem: Problem, line: Line, system: FreeSystem, free: Mask, divisor: Vector
    ) -> tuple[Vector, Vector] | None:
        """dx and J dx, by iterative refinement; None where there is not even a beginning of a solution."""
        size = norm(line.F)
        dx, product, left, before = np.zeros(problem.n), np.zeros(problem.n), -line.F, np.inf
        for _ in range(REFINEMENTS):
            right = left / divisor
            held = np.where(free, 0.0, right)
            dx = dx + held + system.solve(right - problem.A.apply(held) if held.any() else right)
            if not np.isfinite(dx).all():
                return None
            product = problem.A.apply(dx)
            left = -line.F - line.apply(dx, product) - line.regularisation * line.q * dx
            largest = norm(left)
            if largest <= ACCURATE * size or not largest <= 0.5 * before:
                break
            before = largest
        return (dx, line.apply(dx, product)) if largest <= ROUGH * size else None

    def counters(self) -> dict[str, float]:
        spare = 0 if self._spare is None else self._spare.factorisations
        return {"factorisations": self._system.factorisations + spare}


class KrylovEquation(Equation):
    """GMRES until ||F + J dx|| <= forcing ||F|| (eq. 105); J v by p, q and A v, or by finite differences.

    The preconditioner is P^-1 D_q^-1, with P for A + diag(p / q): the same division of rows as in the direct equation.
    """

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        forcing: float,
        inner_limit: int | None,
        restart: int,
        difference: Callable[[Vector], Vector] | None,
    ) -> None:
        self._preconditioner = recipe.prepare(problem)
        self._forcing, self._restart = forcing, restart
        self._limit = max(2 * problem.n, 20) if inner_limit is None else inner_limit
        self._difference = difference
        self._iterations = 0

    def solve(self, problem: Problem, line: Line) -> tuple[Vector, Vector] | None:
        free = np.abs(line.q) > NEGLIGIBLE * np.abs(line.p)
        divisor, straight = np.where(free, line.q, 1.0), np.where(free, 1.0, line.p)
        added = np.where(free, line.p / divisor + line.weight + line.regularisation, 0.0)
        self._preconditioner.follow(free, added)

        def derivative(v: Vector) -> Vector:
            if self._difference is not None:
                return self._difference(v)
            return line.apply(v, problem.A.apply(v))

        def product(v: Vector) -> Vector:
            return derivative(v) + line.regularisation * line.q * v

        def preconditioner(r: Vector) -> Vector:
            return np.where(free, self._preconditioner.apply(r / divisor), r / straight)

        tolerance = krylov.forcing(self._forcing, norm(line.F))
        try:
            found = krylov.gmres(
                product,
                -line.F,
                preconditioner=preconditioner,
                tolerance=tolerance,
                max_iterations=self._limit,
                restart=self._restart,
            )
            self._iterations += found.iterations
            return (found.x, derivative(found.x)) if np.isfinite(found.x).all() else None
        except OperatorFault:  # the caller's product, which the loop speaks of
            raise
        except ValueError:  # a vector that is not finite has no product
            return None

    def counters(self) -> dict[str, float]:
        return {"inner_iterations": self._iterations}


def norm(v: Vector) -> float:
    """The 2-norm, by a sum that no BLAS shares among threads."""
    return float(np.sqrt(np.sum(v * v)))


@dataclass
class FischerPoint(MeritPoint):
    """With the slack of the subproblem, where there is one, and theta = 1/2 F^T F over unit^2."""

    def measure(self, problem: Problem, point: Vector, proximal: Proximal, penalty: float, unit: float) -> float:
        """Move to the point; returns theta."""
        np.copyto(self.point, point)
        problem.A.slack(self.point, problem.b, self.y)
        proximal.add_to(self.y, self.point)
        bounds = problem.bounds(self.point)
        self.theta = float(fischer_derivative.evaluate(self.point, self.y, *bounds, penalty, unit, self.F))
        return self.theta


@dataclass
class FischerState(State):
    here: FischerPoint
    trial: FischerPoint
    equation: Equation
    kinks: Kinks
    reference: Reference
    proximal: Proximal
    p: Vector
    q: Vector
    penalty: float
    unit: float
    """A power of two about as large as F was at the start where squares of F would overflow, else 1."""
    regularisation: Regularisation
    least: float = np.inf
    """The least theta so far, of this subproblem, that counts as progress."""
    since: int = 0
    """Iterations since then."""
    transposed: sparse.csr_array | None = None

    def try_point(self, problem: Problem, point: Vector) -> float:
        """The merit of a point, which becomes `trial`."""
        return self.trial.measure(problem, point, self.proximal, self.penalty, self.unit)

    def accept(self) -> None:
        """`trial` is where the iteration goes."""
        self.here, self.trial = self.trial, self.here
        self.reference.remember(self.here.theta)

    def restart(self, problem: Problem, point: Vector) -> None:
        """Another merit function from here on: what was remembered belongs to the old one."""
        self.here.measure(problem, point, self.proximal, self.penalty, self.unit)
        self.reference = Reference(self.reference.memory)
        self.reference.remember(self.here.theta)
        self.least, self.since = self.here.theta, 0

    def linearise(self, problem: Problem) -> None:
        """p and q where the iteration stands (NOTES eq. 97)."""
        here, chosen = self.here, (self.kinks.a, self.kinks.b)
        bounds = problem.bounds(here.point)
        fischer_derivative.linearise(here.point, here.y, *bounds, self.penalty, *chosen, self.p, self.q)

    def line(self) -> Line:
        """The linear model there; the weight of a proximal-point loop makes a regularisation needless."""
        size = self.unit * float(np.sqrt(2.0 * self.here.theta))  # ||F||
        added = 0.0 if self.proximal.is_on else self.regularisation.size(size)
        return Line(self.here.F, self.p, self.q, self.proximal.weight, added)

    def difference(self, problem: Problem, v: Vector) -> Vector:
        """(F(x + h v) - F(x)) / h for a small h, which is J v up to half of the digits (NOTES eq. 102)."""
        length = norm(v)
        if length == 0.0:
            return np.zeros(v.size)
        h = SMALL * max(1.0, norm(self.here.point)) / length
        self.try_point(problem, self.here.point + h * v)
        return np.asarray((self.trial.F - self.here.F) / h)


@dataclass
class Regularisation:
    """e = share ||F||, within limits, of the mean size of a diagonal entry: small where convergence is to be quick."""

    share: float
    typical: float
    least: float = LEAST

    @staticmethod
    def make(share: float, diagonal: Vector | None) -> Regularisation:
        sizes = np.zeros(0) if diagonal is None else np.abs(diagonal[diagonal != 0.0])
        return Regularisation(share, float(sizes.mean()) if sizes.size else 1.0)

    def size(self, norm: float) -> float:
        """e for this ||F||."""
        if self.share == 0.0:
            return 0.0
        return self.typical * min(MOST, max(self.least, self.share * norm))

    def follow(self, before: float, after: float) -> None:
        """Take note of the merit before and after a step, half the square of ||F||."""
        is_least = self.share * np.sqrt(2.0 * before) <= self.least
        if is_least and CRAWL * before < after < before:
            self.least *= RELIEF


class Kinks:
    """(a_i, b_i) with a_i^2 + b_i^2 <= 1, which stand for x_i / ||(x_i, y_i)|| and y_i / ||(x_i, y_i)|| at zero.

    * random: anywhere in the disc, new ones each time;
    * zero: a = b = 0;
    * perturbation: x' = epsilon instead of x_i = 0, so that a = 1 and b = 0 whatever epsilon is;
    * approximation: finite differences need no such choice; what is computed from p and q beside them uses zero.
    """

    def __init__(self, strategy: str, n: int, seed: int) -> None:
        self._random = np.random.default_rng(seed) if strategy == "random" else None
        self.a: Vector = np.full(n, 1.0 if strategy == "perturbation" else 0.0)
        self.b: Vector = np.zeros(n)

    def draw(self) -> None:
        """New random numbers, where the strategy wants some."""
        if self._random is None:
            return
        radius = np.sqrt(self._random.random(self.a.size))
        angle = 2.0 * np.pi * self._random.random(self.a.size)
        np.multiply(radius, np.cos(angle), out=self.a)
        np.multiply(radius, np.sin(angle), out=self.b)


def gradient(problem: Problem, state: FischerState, line: Line) -> Vector | None:
    """J^T F = D_p F + A^T D_q F; None where A^T cannot be had."""
    pulled = line.q * line.F
    if problem.is_symmetric:
        product = problem.A.apply(pulled)
    elif TO_SPARSE in problem.A.ability_set:
        if state.transposed is None:
            state.transposed = problem.A.to_sparse().T.tocsr()
        product = state.transposed @ pulled
    else:
        return None
    return np.asarray(line.p * line.F + product + line.weight * pulled)


def gradient_direction(
    problem: Problem, state: FischerState, line: Line, slope: Vector
) -> tuple[Vector, Vector] | None:
    """Down the gradient as far as ||F + t J p|| falls, with J p; None where theta is flat, which is a local minimum."""
    largest = float(np.abs(slope).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    direction = -slope / largest
    along = line.apply(direction, problem.A.apply(direction))
    scaled = line.F / state.unit
    descent, squares = -float(np.sum(scaled * along)), float(np.sum(along * along))
    if not (squares > 0.0 and descent > FLAT * np.sqrt(2.0 * state.here.theta * squares)):
        return None
    length = state.unit * descent / squares
    return length * direction, length * along


def find_proof(problem: Problem, state: FischerState, thoroughly: bool) -> Vector | None:
    """A vector that proves the problem infeasible, or None; `thoroughly` also where rounding errors hide it.

    Where J^T F = 0, u = -D_q F has A^T u = D_p F, which for an LCP with F >= 0 are the signs of Farkas' lemma; and
    where a proximal-point loop runs off, its last move is one for symmetric semi-definite A.
    """
    if problem.A.nonzeros() is None or problem.kind not in PROVABLE:
        return None
    lower, upper = problem.bounds(state.x)
    candidates = [-state.q * state.here.F]
    if state.proximal.is_on:
        candidates.append(state.proximal.move)
    for candidate in candidates:
        u = np.where(np.isfinite(lower) & np.isfinite(upper), 0.0, candidate)
        if not np.isfinite(u).all():
            continue
        if verify_certificate(problem, u).valid:
            return u
        if thoroughly:
            u = sharpen(problem, u)
            if np.isfinite(u).all() and verify_certificate(problem, u).valid:
                return u
    return None
