"""The modulus family: Bai's methods and the accelerated ones of Zheng and Yin (AMGS section 2.3), one class each.

What they do is in `modulus_sweeps`; a class here is a splitting M1 = (D - acceleration L) / relaxation, and says
whether |z_new| is used where it is known. `adaptive` finds alpha from the observed contraction, which
AMGS section 6 leaves as a future task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.options import About, option, require_choices
from perp.solvers.splitting.modulus_sweeps import ModulusMethod, Sight

FORMS = ("corrected", "printed")

SOR_RELAXATION = About("that of the splitting M1 = D / relaxation - L; Omega damps it", above=0.0)
AOR_RELAXATION = About("that of the splitting M1 = (D - acceleration L) / relaxation; Omega damps it", above=0.0)
ACCELERATION = About("how much of a change later rows are shown: the factor of L in the splitting", at_least=0.0)


@dataclass(frozen=True)
class _Plain(ModulusMethod):
    """Bai's methods: |z| of the last iterate throughout (AMGS eq. 7)."""

    @property
    def sight(self) -> Sight:
        relaxation, acceleration = self.splitting
        return Sight(lag=1.0, lead=0.5 * acceleration / relaxation)


@dataclass(frozen=True)
class _Accelerated(ModulusMethod):
    """Zheng and Yin's methods: |z_new| where it is known (AMGS eq. 11 with M2 = D - U, N2 = L)."""

    adaptive: bool = option(False, About("pick alpha from the observed contraction, starting at `alpha`"))

    @property
    def is_adaptive(self) -> bool:
        return self.adaptive

    @property
    def sight(self) -> Sight:
        relaxation, acceleration = self.splitting
        return Sight(lag=0.0, lead=0.5 * (acceleration / relaxation - 1.0))


@dataclass(frozen=True)
class MJ(_Plain):
    """Modulus-based Jacobi: all rows from the old x. With Omega = D / gamma it is projected Jacobi without damping."""

    name: ClassVar[str] = "mj"
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D; Bai 2010"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 0.0


@dataclass(frozen=True)
class MGS(_Plain):
    """Modulus-based Gauss-Seidel: later rows see half the change of u, which for a row off its bounds is that of x."""

    name: ClassVar[str] = "mgs"
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D - L; Bai 2010"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 1.0


@dataclass(frozen=True)
class MSOR(_Plain):
    """Modulus-based successive over-relaxation; any `relaxation` > 0, as Omega damps it."""

    name: ClassVar[str] = "msor"
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D / relaxation - L; Bai 2010"

    relaxation: float = option(1.4, SOR_RELAXATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.relaxation


@dataclass(frozen=True)
class MAOR(_Plain):
    """Modulus-based accelerated over-relaxation: `acceleration` > `relaxation` shows later rows more of a change."""

    name: ClassVar[str] = "maor"
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = (D - acceleration L) / relaxation; Bai 2010"

    relaxation: float = option(1.2, AOR_RELAXATION)
    acceleration: float = option(1.4, ACCELERATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.acceleration


@dataclass(frozen=True)
class AMJ(_Accelerated):
    """Accelerated modulus-based Jacobi: later rows see the new x less half the change of u.

    So they see rows at a bound move, though they rest; on contacts that takes a large alpha, and then it is slow.
    """

    name: ClassVar[str] = "amj"
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = D, M2 = D - U; Zheng & Yin 2013"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 0.0


@dataclass(frozen=True)
class AMGS(_Accelerated):
    """Accelerated modulus-based Gauss-Seidel: later rows see the newest x, so that a velocity can be kept for it.

    Method 2.2 where A is explicit, Method 3.1 where it is factored. With Omega = alpha D it is over-relaxation by
    r = 2 / (1 + gamma alpha) with a memory of what was clipped off:

        u_i <- x_i + (r - 1) (u_i - x_i) - r y_i / A_ii

    For alpha = 1 / gamma, the default, that is projected Gauss-Seidel, iterate for iterate; AMGS Table 1, in which the
    two differ by a factor of two, cannot come of the method as written.

    `form="printed"` is Method 3.2 to the letter, for comparison. Its memory knows of one bound, 0: at an upper bound u
    grows by -step y with every iteration, without end, and x stays there long after the problem asks it to leave. It
    takes boxes with 0 <= lower and gamma = 2 only: for any other gamma it clips to a box 2 / gamma times as large.
    """

    name: ClassVar[str] = "amgs"
    reference: ClassVar[str] = "AMGS eq. 12-16, Methods 2.2, 3.1 and 3.2; Zheng & Yin 2013"

    form: str = option(
        "corrected",
        About("printed is Method 3.2 to the letter, for comparison: gamma = 2 and boxes with 0 <= lower only", FORMS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choices(self, form=FORMS)
        if self.form == "printed" and self.gamma != 2.0:
            raise ValueError(f"gamma is {self.gamma}; form='printed' clips to the wrong box unless it is 2")

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 1.0

    @property
    def sight(self) -> Sight:
        return replace(super().sight, printed=self.form == "printed")

    def objection(self, problem: Problem) -> str | None:
        if self.form == "printed":
            lower, _ = problem.bounds(problem.b)
            if problem.frictional is not None or np.any(lower < 0.0):
                return "form='printed' assumes 0 <= lower (AMGS section 3.1), which friction bounds are not"
        return super().objection(problem)


@dataclass(frozen=True)
class AMSOR(_Accelerated):
    """Accelerated modulus-based SOR: AMGS with A_ii / `relaxation` in the place of A_ii, in both of its forms."""

    name: ClassVar[str] = "amsor"
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = D / relaxation - L, M2 = D - U; Zheng & Yin 2013"

    relaxation: float = option(1.4, SOR_RELAXATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.relaxation


@dataclass(frozen=True)
class AMAOR(_Accelerated):
    """Accelerated modulus-based accelerated over-relaxation: acceleration / relaxation > 1 leads, < 1 looks back."""

    name: ClassVar[str] = "amaor"
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = (D - acceleration L) / relaxation, M2 = D - U; Zheng & Yin 2013"

    relaxation: float = option(1.2, AOR_RELAXATION)
    acceleration: float = option(1.4, ACCELERATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.acceleration


SETTLING, MEASURING = 6, 8
"""Iterations after a change of alpha in which rough errors grow, or die, to their new level, and those that count."""

SHARE = 20
"""Later both take one in so many of the iterations done before."""

LOWEST, HIGHEST = math.log(0.1), math.log(2.0)
"""How far log alpha may go from where it starts; with gamma = 2 and alpha = 1 / 2 that is 0.05 to 1."""

WIDEST, NARROWEST = math.log(2.0), math.log(1.2)
"""Steps of the search in log alpha."""

MARGIN = 1.05
"""A probe must contract by so much faster than the best alpha known."""

LONGEST_REST = 16
"""Windows without a probe, at most."""


@dataclass
class AlphaSearch:
    """A search in log alpha by windows of iterations, each at one alpha: the best one known, or a probe beside it.

    Contraction slows down whatever alpha is, once only smooth errors are left. So a probe that was not faster than the
    best alpha in the window before is compared once more, with the mean of the windows before and after. Where neither
    neighbour is faster, the next ones are nearer, and at last the search rests for longer and longer. All is counted in
    iterations, so that the same problem always takes the same path.

    There is no guarantee in it. Where friction leaves many solutions open, the number of iterations jumps by factors of
    five with alpha itself, and the search may take several times as many as the alpha that it began with.
    """

    here: float = 0.0
    """The log of the factor that alpha is multiplied by now."""
    best: float = 0.0
    probe: float = math.nan
    """The last probe, while it waits for its second comparison."""
    speed_of_probe: float = math.nan
    speed_before: float = math.nan
    """At `best`, before the probe."""
    direction: float = -1.0
    stride: float = WIDEST
    refused: int = 0
    """Probes in a row that were not faster."""
    rest: int = 0
    next_rest: int = 1
    residual: float = math.nan
    """Where the measurement began; NaN while errors settle."""
    begun: int = 0
    due: int = SETTLING
    """The iteration at which a residual is wanted next."""

    @property
    def factor(self) -> float:
        return math.exp(self.here)

    def look(self, done: int, residual: float) -> None:
        """Take the residual of iteration `due`, and decide at which factor to go on."""
        before = self.here
        if not math.isnan(self.residual):
            self._decide(_speed(self.residual, residual, done - self.begun))
        if self.here != before:
            self.residual, self.due = math.nan, done + max(SETTLING, done // SHARE)
        else:
            self.residual, self.begun, self.due = residual, done, done + max(MEASURING, done // SHARE)

    def _decide(self, speed: float) -> None:
        """What comes after a window at `here` with that speed."""
        if self.here != self.best:
            self.speed_of_probe = speed
            if speed > MARGIN * max(self.speed_before, 0.0):
                self._accept()
            else:
                self.here = self.best
        elif speed < 0.0 and self.best != 0.0:  # it was the best, and the residual grows: back to where it all began
            self.here = self.best = 0.0
            self.probe, self.stride, self.direction, self.refused = math.nan, WIDEST, -1.0, 0
        elif self.rest > 0:
            self.rest -= 1
        elif not math.isnan(self.probe) and self.speed_of_probe > MARGIN * max(0.5 * (self.speed_before + speed), 0.0):
            self._accept()
        else:
            if not math.isnan(self.probe):
                self._refuse()
            self.speed_before = speed
            if self.rest == 0:
                self._send_probe()

    def _accept(self) -> None:
        """The probe is the best now, and the next one lies beyond it."""
        self.best, self.speed_before = self.probe, self.speed_of_probe
        self.refused, self.next_rest = 0, 1
        self._send_probe()

    def _refuse(self) -> None:
        self.probe, self.direction, self.refused = math.nan, -self.direction, self.refused + 1
        if self.refused == 2:
            self.refused = 0
            if self.stride > NARROWEST:
                self.stride = max(0.5 * self.stride, NARROWEST)
            else:
                self.rest, self.next_rest = self.next_rest, min(2 * self.next_rest, LONGEST_REST)

    def _send_probe(self) -> None:
        if not LOWEST < self.best + 0.5 * self.direction * self.stride < HIGHEST:
            self.direction = -self.direction
        self.here = self.probe = min(max(self.best + self.direction * self.stride, LOWEST), HIGHEST)


def _speed(before: float, after: float, iterations: int) -> float:
    """Decrease of log residual an iteration; the worst there is where numbers overflow."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return -math.inf
    return math.log(before / after) / iterations if before > 0.0 and after > 0.0 else 0.0


def impulse_residual(problem: Problem, x: Vector, y: Vector) -> float:
    """sqrt(sum A_ii r_i^2), r_i = x_i - clip(x_i - y_i / A_ii): how far a sweep would move x, with work array y."""
    assert problem.diagonal is not None
    problem.A.slack(x, problem.b, y)
    lower, upper = problem.bounds(x)
    step = np.divide(y, problem.diagonal, out=np.zeros(problem.n), where=problem.diagonal > 0.0)
    change = x - np.clip(x - step, lower, upper)
    return float(np.sqrt(np.sum(np.maximum(problem.diagonal, 0.0) * change * change)))
