"""The penalties of ADMM: how much it costs that the two copies of x differ, one number a row.

    penalty_i = rho factor_i / W_ii,       rho = sqrt(m L) (L / m)^power      (Carpentier et al. 2024, spectral rule)

with W the metric of `projection`, L the largest eigenvalue of A in it and m a small share of that, as A itself is
singular where contacts are redundant. Three rules say what becomes of it:

* "spectral": rho grows (falls) by (L / m)^0.05 when the primal residual |x - z| is more than ten times the dual one,
  |penalty (z - z_old)| / L (or the other way round); one factor for all rows. This is the rule of the paper;
* "contacts": every contact has a factor of its own, which follows what the contact does. Where it sticks, z lies within
  its bounds and x need not be held near it: the factor falls; where it is open, z rests at its bound and x must come
  there: the factor grows. A contact that changed its state, and one that slides, has the factor 1. rho becomes
  |w - w_mark| / |z - z_mark|, the motion of the slack over that of the impulse since the last look, of contacts that
  slide (of all rows where none does), which balances their errors (in the spirit of Xu, Figueiredo & Goldstein 2017).
  Looks come at wider and wider intervals, so that the penalties come to rest in between;
* "fixed": nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray

from perp.kernels.measures import projection
from perp.problems.inputs import Vector
from perp.solvers.gradient.projection import FeasibleSet

RULES = ("contacts", "spectral", "fixed")

SPECTRAL_POWER, SPECTRAL_RATIO = 0.05, 10.0
"""Change of the power, and the ratio of the residuals from which on it changes (Carpentier et al. 2024)."""

LEAST_CHANGE, MOST_CHANGE = 2.0, 10.0
"""rho changes by no less than the first, which is not worth a factor, and by no more than the second at a time."""

FACTOR_STEP, LARGEST_FACTOR = 10.0, 1e4
"""Change of a factor each time that the state of its contact was the same again, and where that ends."""

WIDENING = 1.1
"""The growth of the interval between two looks at the contacts."""

AT_BOUND, SLIDING, FREE = 0, 1, 2

SMALLEST, LARGEST = 1e-7, 1e7
"""Penalties stay between these shares of A_ii; with smaller ones, factors in body space have no digits to spare."""

TINY, HUGE = 1e-300, 1e300


@dataclass
class Penalty:
    """rho, the factors, and when they are looked at again."""

    rule: str
    rho: float
    increment: float
    factor: Vector
    states: NDArray[np.int8]
    """What every row did at the last look; -1 before the first."""
    z_mark: Vector
    w_mark: Vector
    interval: float
    next_look: float
    updates: int = 0

    @staticmethod
    def begin(
        rule: str, power: float, stiffness: float, modulus: float, interval: int, z: Vector, w: Vector
    ) -> Penalty:
        """`stiffness` is L, `modulus` is m."""
        ratio, n = stiffness / max(modulus, TINY), z.size
        states = np.full(n, -1, dtype=np.int8)
        growth = ratio**power if power * log(max(ratio, 1.0)) < log(HUGE) else HUGE
        rho, increment = max(sqrt(modulus * stiffness) * growth, TINY), ratio**SPECTRAL_POWER
        return Penalty(rule, rho, increment, np.ones(n), states, z.copy(), w.copy(), float(interval), float(interval))

    def values(self, feasible: FeasibleSet) -> Vector:
        return np.asarray(np.clip(self.rho * self.factor, SMALLEST, LARGEST) / feasible.weight)

    def follow_contacts(self, feasible: FeasibleSet, iteration: int, z: Vector, w: Vector) -> bool:
        """Whether the rule "contacts" changed the penalties after this iteration, which made z and w."""
        if self.rule != "contacts" or iteration < self.next_look:
            return False
        self.interval *= WIDENING
        self.next_look = iteration + self.interval
        states = row_states(feasible, z, w)
        same = states == self.states
        factor = np.ones(states.size)
        stays_at_bound, stays_free = same & (states == AT_BOUND), same & (states == FREE)
        factor[stays_at_bound] = np.minimum(FACTOR_STEP * self.factor[stays_at_bound], LARGEST_FACTOR)
        factor[stays_free] = np.maximum(self.factor[stays_free] / FACTOR_STEP, 1.0 / LARGEST_FACTOR)
        change = self._wanted_change(feasible, states == SLIDING, z, w)
        self.states, self.z_mark, self.w_mark = states, z.copy(), w.copy()
        if change == 1.0 and np.array_equal(factor, self.factor):
            return False
        self.rho *= change
        self.factor = factor
        self.updates += 1
        return True

    def _wanted_change(self, feasible: FeasibleSet, slides: NDArray[np.bool_], z: Vector, w: Vector) -> float:
        """What rho is to be multiplied by."""
        rows = slides if slides.any() else slice(None)
        weight = feasible.weight[rows]
        dz, dw = (z - self.z_mark)[rows], (w - self.w_mark)[rows]
        impulse, slack = float(np.sum(dz / weight * dz)), float(np.sum(dw * weight * dw))
        change = sqrt(slack / max(impulse, TINY)) / self.rho
        if not isfinite(change) or 1.0 / LEAST_CHANGE <= change <= LEAST_CHANGE:
            return 1.0
        return min(max(change, 1.0 / MOST_CHANGE), MOST_CHANGE)

    def follow_spectrum(self, primal: float, dual: float, stiffness: float) -> bool:
        """Whether rho changed by the rule "spectral" for these residuals."""
        if primal * stiffness > SPECTRAL_RATIO * dual:
            self.rho *= self.increment
        elif dual > SPECTRAL_RATIO * primal * stiffness:
            self.rho /= self.increment
        else:
            return False
        self.updates += 1
        return True


def row_states(feasible: FeasibleSet, z: Vector, w: Vector) -> NDArray[np.int8]:
    """AT_BOUND, SLIDING or FREE for every row; the rows that a cone or a disc binds together are in the same state."""
    width, contacts = int(feasible.width), feasible.friction.size
    states = np.where(w != 0.0, AT_BOUND, FREE).astype(np.int8)
    rows = slice(width * contacts)
    has_own_normals = feasible.law == projection.FIXED_DISCS
    if has_own_normals and width == 2:
        return states  # a disc in the plane is an interval
    together = slice(1 if has_own_normals else 0, width)
    bound = states[rows].reshape(contacts, width)[:, together]
    is_free = (w[rows].reshape(contacts, width)[:, together] == 0.0).all(axis=1)
    is_zero = (z[rows].reshape(contacts, width)[:, together] == 0.0).all(axis=1)
    bound[:] = np.where(is_free, FREE, np.where(is_zero, AT_BOUND, SLIDING))[:, None]
    return states
