"""Which element of the generalised Jacobian is taken where x_i = y_i = 0 (NOTES 5.5, eq. 98)."""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import Vector

STRATEGIES = ("random", "zero", "perturbation", "approximation")


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
