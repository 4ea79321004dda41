"""Alpha from the observed contraction: what AMGS section 6 leaves as a future task."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector
from perp.problems.problem import Problem

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
