"""A_FF dx_F = -y_F for the free rows of a policy, by preconditioned conjugate gradients, and its state.

The state is the solution of the last policy's equations, and what its rows want now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from perp.kernels.measures import index_sets
from perp.kernels.newton import minimum_map
from perp.linalg.free_systems import small_shift
from perp.linalg.krylov import Ending, FreeProduct, Solution, Workspace, cg
from perp.linalg.preconditioners import Recipe
from perp.problems.certificates import rounding_share
from perp.problems.inputs import Vector, freeze
from perp.problems.problem import Problem
from perp.solvers.method import State
from perp.solvers.newton.minimum_map.equation import power_of_two
from perp.solvers.results import Status

Mask = NDArray[np.bool_]

NEGATIVE = 1e-10
"""A curvature below minus this share of the largest is no rounding error of a semi-definite A."""

MOST_ITERATIONS = 2000
"""In one solve, where the caller sets no limit: so that limits of time act; the next one goes on from there."""

SHIFTS = (1.0, 1e2, 1e4)
"""Multiples of the small shift of a singular A_FF: rows that contradict each other may leave a shifted one flat too."""

PURIFICATIONS = 3

CONTRADICTION = 1e-9
"""A vector counts as a null vector of A_FF when A times it is below this share of what it is added up from."""

Sets = NDArray[np.int8]
"""-1 at the lower bound, 0 free, 1 at the upper bound (`perp.kernels.measures.index_sets`)."""

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of x and of y / A_ii, as a share of the largest of these numbers."""


class FreeEquation:
    """Free rows are chosen by `follow`; what is done is in `counters`.

    With D_ii = 1, or for a row with an extreme diagonal entry the power of two nearest to 1 / sqrt(A_ii), the system is
    D A_FF D z = -D y_F; what is left of it is measured in the 2-norm. Where A_FF is singular, a small shift makes it
    definite; as long as the rows do not contradict each other, repeated solves take back what that changes.
    """

    def __init__(self, problem: Problem, recipe: Recipe, limit: int | None) -> None:
        n = problem.n
        self._problem, self._limit = problem, limit
        self._preconditioner = recipe.prepare(problem)
        scale = problem.row_scales
        self._is_plain = bool((scale == 1.0).all())
        self._scale = scale if self._is_plain else freeze(np.exp2(np.rint(0.5 * np.log2(scale))))
        diagonal_scale = None if self._is_plain else self._scale
        self._multiply = FreeProduct(problem.A, diagonal_scale, diagonal_scale)
        self._no_shift = np.zeros(n)
        self._shift: Vector | None = None
        self._free: Mask = np.zeros(n, dtype=np.bool_)
        self._right, self._work = np.empty(n), Workspace.for_rows(n)
        self._unit = 1.0
        self.complaint: str = ""
        """Why the last solve left more than it was asked to, where it did."""
        self.counters: dict[str, float] = {"inner_iterations": 0.0, "inner_failures": 0.0}

    def follow(self, free: Mask) -> None:
        """Solve for these rows from now on; the mask is kept and must be followed again when it was changed."""
        self._free, self._shift = free, None
        self._multiply.follow(free)
        self._preconditioner.follow(free, self._no_shift)

    @property
    def is_singular(self) -> bool:
        return self._shift is not None

    def measure(self, y: Vector) -> float:
        """||D y_F||; `solve` and `advance` then speak of this y."""
        largest, squares = minimum_map.gather(self._free, y, self._scale, 1.0, self._right)
        self._unit = power_of_two(largest)
        if not 2.0**-100 < self._unit < 2.0**100:  # squares could overflow, or lose what they are made of
            _, squares = minimum_map.gather(self._free, y, self._scale, 1.0 / self._unit, self._right)
            return sqrt(squares) * self._unit
        self._unit = 1.0
        return sqrt(squares)

    def solve(self, tolerance: float) -> Solution:
        """D^-1 dx in units of the last `measure`, until ||D (y + A dx)_F|| <= tolerance; valid until the next solve."""
        found = self._run(tolerance)
        for factor in SHIFTS if self._shift is None else ():
            if not self._looks_singular(found):
                break
            self._shift = factor * small_shift(self._problem)
            self._multiply.follow(self._free, self._shift)
            self._preconditioner.follow(self._free, self._shift)
            found = self._run(tolerance)
        self.complaint = "" if found.success else found.ending.value
        self.counters["inner_failures"] += not found.success
        return found

    def advance(self, found: Solution, lower: Vector, upper: Vector, x: Vector, inside: Vector) -> bool:
        """x += dx, and the point within the bounds that is nearest to it; whether all is finite."""
        return bool(minimum_map.advance(self._unit, self._scale, found.x, lower, upper, x, inside) == 0.0)

    def _run(self, tolerance: float) -> Solution:
        found = cg(
            self._multiply,
            self._right,
            preconditioner=self._preconditioner.apply if self._is_plain else self._precondition,
            tolerance=tolerance / self._unit,
            max_iterations=min(max(100, 2 * self._right.size), MOST_ITERATIONS) if self._limit is None else self._limit,
            work=self._work,
        )
        self.counters["inner_iterations"] += found.iterations
        return found

    def _precondition(self, r: Vector) -> Vector:
        return self._preconditioner.apply(r / self._scale) / self._scale

    def _looks_singular(self, found: Solution) -> bool:
        """Whether conjugate gradients met no curvature, or ran off along a direction that has next to none."""
        if found.ending is Ending.NEGATIVE_CURVATURE:
            return self._is_flat(found)
        return found.ending is Ending.BREAKDOWN

    def _is_flat(self, found: Solution) -> bool:
        """Whether the direction that stopped conjugate gradients has no curvature, rather than a negative one."""
        assert found.direction is not None
        d = found.direction / (np.abs(found.direction).max() or 1.0)
        diagonal = self._problem.diagonal
        assert diagonal is not None
        size = float(np.sum(np.abs(diagonal) * (self._scale * d) ** 2))
        return float(np.sum(d * self._multiply(d))) >= -NEGATIVE * size

    def find_contradiction(self) -> Vector | None:
        """A null vector u of A_FF along which the last y_F has a part, which no dx can take away; u^T y < 0.

        With the shift S, (A_FF + S)^-1 S keeps null vectors of A_FF and makes all else as small as the shift is.
        """
        if self._shift is None:
            return None
        assert self._problem.diagonal is not None
        right, self._right = self._right, self._right.copy()
        try:
            for _ in range(PURIFICATIONS):
                largest = float(np.abs(self._right).max(initial=0.0))
                if not 0.0 < largest < np.inf:
                    return None
                self._right /= largest
                # a smaller tolerance would ask for more digits than the shift leaves
                u = self._scale * self._run(1e-3 * self._unit).x
                self._right = self._shift * u * self._scale
        finally:
            self._right = right
        u /= float(np.abs(u).max(initial=0.0)) or 1.0
        u[np.abs(u) <= CONTRADICTION] = 0.0  # what purification left of other rows
        lower, upper = self._problem.bounds(u)
        u = np.clip(u, np.where(np.isfinite(lower), 0.0, -np.inf), np.where(np.isfinite(upper), 0.0, np.inf))
        even = np.rint(u)  # in a closed region u is constant, but for rounding errors of all that was done
        if even.any() and self._acts_on(even) <= rounding_share(u.size):
            return even
        return u if u.any() and self._acts_on(u) <= CONTRADICTION else None

    def _acts_on(self, u: Vector) -> float:
        """The largest entry of A u as a share of the largest A_ii u_i; 0 where there is none, as on rows of zeros."""
        assert self._problem.diagonal is not None
        image = np.abs(self._problem.A.slack(u, freeze(np.zeros(u.size)), np.empty(u.size))).max(initial=0.0)
        size = np.abs(self._problem.diagonal * u).max(initial=0.0)
        return float(image / size) if size > 0.0 else float(image)


@dataclass
class PolicyState(State):
    point: Vector
    """What solves the equations of the policy; x is the nearest point within the bounds."""
    y: Vector
    sets: Sets
    wanted: Sets
    free: Mask
    weight: Vector
    """1 / A_ii."""
    lower: Vector
    upper: Vector
    equation: FreeEquation
    is_new: bool
    """Whether the nested start is still to come."""
    bias: float = 0.0
    """max |b_i / A_ii|."""
    largest: float = 0.0
    """max |x|, for the size of rounding errors."""
    residual: float = 0.0
    """What the equations of the policy had left before they were last solved."""
    known: bool = False
    """Whether y is that of the point."""
    least: int = -1
    """The fewest rows that ever wanted to change; -1: nobody was asked yet."""
    is_exact: bool = False
    is_single: bool = False
    stuck: int = 0
    seen: dict[int, float] = field(default_factory=dict)
    """Policies by their fingerprint, and the residual that they had."""
    seen_single: set[int] = field(default_factory=set)

    def load_kernels(self, problem: Problem) -> None:
        """Call what a step calls, on copies."""
        problem.A.slack(self.point, problem.b, self.y)
        minimum_map.choose(self.point, self.y, self.lower, self.upper, self.weight, 0.0, self.sets, self.wanted)
        minimum_map.place(self.sets.copy(), self.lower, self.upper, self.point.copy(), self.free)
        index_sets.fingerprint(self.sets)

    def begin_at(self, problem: Problem, x: Vector) -> None:
        """Begin at this x within the bounds."""
        self.x[:] = self.point[:] = x
        placed = (self.point, self.lower, self.upper, self.weight, problem.b, self.sets)
        self.bias = minimum_map.sort(*placed)
        self.known = False

    @property
    def is_settled(self) -> bool:
        """Whether the last policy was that before it."""
        return self.least == 0 and self.counters["changed_rows"] == 0.0

    def choose(self, problem: Problem) -> bool:
        """The next policy, from the point and its slack; whether it is the last one again."""
        if not self.known:
            problem.A.slack(self.point, problem.b, self.y)
        noise = EPSILON * (self.largest + self.bias)
        compared = (self.point, self.y, self.lower, self.upper, self.weight, noise)
        changed, self.largest = minimum_map.choose(*compared, self.sets, self.wanted)
        is_first = self.least < 0
        self.counters["policies"] += 1
        self.counters["changed_rows"] = float(changed)
        if changed and not is_first:
            self._guard(changed)
        self.least = changed if is_first else min(self.least, changed)
        self.sets, self.wanted = self.wanted, self.sets
        return changed == 0 and not is_first

    def _guard(self, changed: int) -> None:
        """Has this policy been here before? Then solve exactly; if that is no help, change one row at a time."""
        if self.is_single and changed < self.least:
            self.is_single = False
            self.seen.clear()
        code = int(index_sets.fingerprint(self.wanted))
        before = self.seen.get(code)
        if before is not None and not self.residual < 0.5 * before and not self.is_single:
            self.is_single, self.is_exact = self.is_exact, True
            self.seen.clear()
            self.seen_single.clear()
        self.seen[code] = self.residual
        if self.is_single:
            self._keep_first()

    def _keep_first(self) -> None:
        first = int(np.argmax(self.wanted != self.sets))
        wish = self.wanted[first]
        self.wanted[:] = self.sets
        self.wanted[first] = wish
        self.counters["single_changes"] += 1
        code = int(index_sets.fingerprint(self.wanted))
        if code in self.seen_single:
            self.ended: tuple[Status, str] | None = Status.CYCLING, "a policy came again among changes of single rows"
        self.seen_single.add(code)

    def settle(self, problem: Problem, is_same: bool) -> float:
        """Put rows at their bounds and measure what the equations of the others have left."""
        if not is_same:
            if minimum_map.place(self.sets, self.lower, self.upper, self.point, self.free):
                problem.A.slack(self.point, problem.b, self.y)
            self.equation.follow(self.free)
            self.stuck = 0
        return self.equation.measure(self.y)

    def advance(self, problem: Problem, found: Solution) -> bool:
        """To the solution of the equations; whether it is finite."""
        is_finite = self.equation.advance(found, self.lower, self.upper, self.point, self.x)
        problem.A.slack(self.point, problem.b, self.y)
        self.known = True
        return is_finite
