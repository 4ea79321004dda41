"""Why there is no solution: the search for a proof, from the cheapest to the dearest.

Every step only proposes; what `perp.verify_certificate` does not confirm with the caller's own numbers is not returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from perp.problems.certificates import (
    PROVABLE,
    Certificate,
    prove_by_exhaustion,
    round_to_integers,
    sharpen,
    verify_certificate,
)
from perp.problems.certificates.sharpening import NEARLY_ZERO
from perp.problems.deadline import Deadline, OutOfTime, Pace, hold, now
from perp.problems.inputs import Vector, VectorLike, as_vector
from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem
from perp.solvers.no_solution.program import ELIMINATION, find_dependent_rows, leave_over, separate

LOOSE = 1e-6
"""Vectors of linear programs are sharpened with this in mind: so large may be what is meant to be zero."""

FEW_ROWS = 12
"""Islands of at most so many rows are tried by exhaustion."""

MOST_ISLANDS = 50

FEW_EQUATIONS = 12
"""Of more equations that contradict each other, a linear program looks for a few that do."""

MOST_DENSE = 3000
"""Equations up to which a dense factor is cheap."""


FORMING = Pace(5e6)
"""Multiplications of a product with A a second, where A is formed and all its entries are looked at."""


@dataclass(frozen=True)
class Account:
    """What `search_no_solution` found, and what it tried."""

    certificate: Certificate | None
    steps: tuple[str, ...]
    """A sentence for every step, in order: for `result.methods` and messages."""
    feasible: bool
    """Whether the linear program says that some x within its bounds has an admissible slack (not a proof)."""
    seconds: float


def find_no_solution(
    problem: Problem, *, max_seconds: float = 10.0, hints: Sequence[VectorLike] = ()
) -> Certificate | None:
    """A proof that the problem has no solution, if one is found in that time.

    `hints` are vectors that may be nearly one, as methods leave them. Works for LCPs, boxed LCPs and contact problems
    of any model, with one coefficient a contact, whose A can be formed; returns None otherwise.
    """
    return search_no_solution(problem, max_seconds=max_seconds, hints=hints).certificate


def search_no_solution(problem: Problem, *, max_seconds: float = 10.0, hints: Sequence[VectorLike] = ()) -> Account:
    """`find_no_solution` with an account of what was tried."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {type(problem).__name__}; perp.LCP, BoxLCP or ContactProblem is needed")
    if not max_seconds > 0.0:
        raise ValueError(f"max_seconds is {max_seconds}; a positive number is needed")
    vectors = [as_vector(hint, f"hints[{number}]", problem.n) for number, hint in enumerate(hints)]
    begun = now()
    with hold(begun + max_seconds) as deadline:
        return _Searching(problem, begun, deadline).run(vectors)


@dataclass
class _Searching:
    problem: Problem
    begun: float
    deadline: Deadline
    feasible: bool = False

    def __post_init__(self) -> None:
        self.steps: list[str] = []
        self.is_hurried = False
        self.longest_look = 0.0

    @property
    def left(self) -> float:
        return self.deadline.left

    def run(self, hints: Iterable[Vector]) -> Account:
        certificate = None
        if self.problem.frictional is not None and self.problem.frictional.is_wide:
            self.steps.append("no proof is known for contacts whose rows have coefficients of their own")
        elif self.problem.n and TO_SPARSE in self.problem.A.ability_set:
            try:
                for found in self._attempts(hints):
                    certificate = found
                    if found is not None or self.left <= 0.0:
                        break
            except OutOfTime:
                self.steps.append("what comes next would take longer than the time that is left")
        return Account(certificate, tuple(self.steps), self.feasible, now() - self.begun)

    def _attempts(self, hints: Iterable[Vector]) -> Iterator[Certificate | None]:
        problem = self.problem
        for hint in hints:
            yield self._judged("the vector of a method", hint)
        if problem.kind in PROVABLE:
            with FORMING.work(problem.A.work()):
                row = find_hopeless_row(problem)
            yield self._judged("single rows", row)
        with FORMING.work(problem.A.work()):
            parts = find_closed_parts(problem)
        yield self._judged("one for all rows that are coupled", *parts)
        yield from self._by_equations()
        if not is_system_of_equations(problem):
            yield self._judged("rows that depend on each other", *self._dependent_rows())
            yield self._by_program("a linear program")
        if problem.kind in PROVABLE:
            yield from self._by_exhaustion()

    def _judged(self, step: str, *candidates: Vector | None) -> Certificate | None:
        for u in candidates:
            if u is None:
                continue
            best = self._best_of(u)
            if best is not None:
                self.steps.append(f"{step}: {best.reason}")
                return best
        self.steps.append(f"{step}: no proof{self._told_hurry()}")
        return None

    def _told_hurry(self) -> str:
        """What to add where a vector could not be sharpened."""
        hurried, self.is_hurried = self.is_hurried, False
        return " (there was no time to sharpen its vector)" if hurried else ""

    def _best_of(self, u: Vector, zero_share: float = NEARLY_ZERO) -> Certificate | None:
        """u in whole numbers if it is a multiple of such and they are a proof, u as it is, or u sharpened."""
        found = None
        for make in (_as_it_is, round_to_integers, partial(sharpen, self.problem)):
            if found is not None and make is not round_to_integers:
                break
            try:
                candidate = make(u, zero_share)
            except OutOfTime:  # it is judged as it is, and other steps may be shorter
                self.is_hurried = True
                continue
            if candidate is not None and np.isfinite(candidate).all():
                verdict = self._verify(candidate)
                if verdict.exact:
                    return verdict
                found = found or (verdict if verdict.valid else None)
        return found

    def _verify(self, u: Vector) -> Certificate:
        """Unless that took longer the last time than is left now."""
        self.deadline.require(self.longest_look)
        begun = now()
        verdict = verify_certificate(self.problem, u)
        self.longest_look = max(self.longest_look, now() - begun)
        return verdict

    def _by_equations(self) -> Iterator[Certificate | None]:
        """Equations that contradict each other: as few of them as a linear program finds, or all that take part."""
        free = np.flatnonzero(list_equations(self.problem))
        if not free.size:
            return
        A, whole = self.problem.A.to_sparse()[free], free.size == self.problem.n
        dependent = self._dependent_rows() if whole else []
        if dependent:
            u = dependent[0]
        else:
            left = leave_over(A, self.problem.b[free])
            if left is not None and not left.any():
                self.steps.append("equations: they do not contradict each other")
                return
            u = np.ones(free.size) if left is None else -left
        spread = np.zeros(self.problem.n)
        spread[free] = u
        taking_part = np.abs(spread) > LOOSE * np.abs(spread).max()
        proof = self._best_of(spread, LOOSE)
        if proof is None or len(proof.rows) > FEW_EQUATIONS:
            yield self._by_program("a linear program on the equations", taking_part)
        told = proof.reason if proof is not None else "no proof"
        self.steps.append(f"what no x takes away from the equations: {told}")
        yield proof

    def _dependent_rows(self) -> list[Vector]:
        """A null vector of A^T, with the sign that makes the margin negative."""
        n = self.problem.n
        if n > MOST_DENSE or not self.deadline.allows(ELIMINATION.predict(n**3)):
            return []
        u = find_dependent_rows(self.problem.A.to_dense())
        return [] if u is None else [-np.sign(self.problem.b @ u) * u]

    def _by_program(self, step: str, equations: NDArray[np.bool_] | None = None) -> Certificate | None:
        try:
            ended = separate(self.problem, equations)
        except OutOfTime:
            self.steps.append(f"{step}: it would take longer than the time that is left")
            return None
        if ended.u is None:
            if ended.excluded and equations is None:
                self.feasible = True
            self.steps.append(f"{step}: no proof ({ended.message})")
            return None
        best = self._best_of(ended.u, LOOSE)
        self.steps.append(f"{step}: {best.reason if best else 'its vector is no proof beyond rounding errors'}")
        return best

    def _by_exhaustion(self) -> Iterator[Certificate | None]:
        islands = small_islands(self.problem)
        for number, rows in enumerate(islands):
            if self.left <= 0.0:
                self.steps.append(f"exhaustion: the time was over after {number} of {len(islands)} small parts")
                return
            verdict = prove_by_exhaustion(self.problem, rows, max_seconds=self.left)
            if verdict.valid or len(islands) == 1:
                self.steps.append(f"exhaustion: {verdict.reason}")
            yield verdict if verdict.valid else None
        if len(islands) > 1:
            self.steps.append(f"exhaustion: none of the {len(islands)} smallest parts is without solution")


def _as_it_is(u: Vector, zero_share: float) -> Vector:
    return u


def find_hopeless_row(problem: Problem) -> Vector | None:
    """The unit vector of a row whose slack is inadmissible for all x within their bounds, with its sign; or None."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    A = problem.A.to_sparse()
    rows = np.repeat(np.arange(problem.n), np.diff(A.indptr))
    for sign, may in ((1.0, np.isinf(upper)), (-1.0, np.isinf(lower))):
        values = sign * A.data
        with np.errstate(over="ignore", invalid="ignore"):
            terms = values * np.where(values > 0.0, upper[A.indices], lower[A.indices])
            most = sign * problem.b
            np.add.at(most, rows, np.where(values == 0.0, 0.0, terms))
        hopeless = np.flatnonzero(may & (most < 0.0))
        if hopeless.size:
            return np.asarray(sign * (np.arange(problem.n) == hopeless[np.argmin(most[hopeless])]), dtype=np.float64)
    return None


def find_closed_parts(problem: Problem) -> list[Vector]:
    """Ones on the connected parts of A whose b adds up to a negative number: proofs for closed regions of liquids."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    lifted = np.isfinite(lower) & np.isinf(upper)
    lifted[: problem.contact_rows] = False
    if problem.frictional is not None:
        lifted[problem.frictional.normal_rows] = True
    A = problem.A.to_sparse()
    count, part = connected_components(A[lifted][:, lifted], directed=False)
    sums = np.bincount(part, weights=problem.b[lifted], minlength=count)
    found = []
    for number in np.argsort(sums, kind="stable")[:3]:
        if sums[number] < 0.0:
            u = np.zeros(problem.n)
            u[np.flatnonzero(lifted)[part == number]] = 1.0
            found.append(u)
    return found


def list_equations(problem: Problem) -> NDArray[np.bool_]:
    """Which rows have no bounds."""
    lower, upper = problem.bounds(np.zeros(problem.n))
    free: NDArray[np.bool_] = np.isinf(lower) & np.isinf(upper)
    return free


def is_system_of_equations(problem: Problem) -> bool:
    return bool(list_equations(problem).all())


def small_islands(problem: Problem) -> list[tuple[int, ...]]:
    """Parts of the problem that are coupled with no other rows and small enough to look at all their index sets."""
    if problem.n <= FEW_ROWS:
        return [tuple(range(problem.n))]
    count, part = connected_components(problem.A.to_sparse(), directed=False)
    sizes = np.bincount(part, minlength=count)
    small = np.flatnonzero(sizes <= FEW_ROWS)[:MOST_ISLANDS]
    return [tuple(np.flatnonzero(part == number).tolist()) for number in small]
