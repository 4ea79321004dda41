"""How much is added to the diagonal of A in a Fischer-Newton equation: D_p + D_q (A + e I)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.problems.inputs import Vector

MOST, LEAST = 1.0 / 32.0, 3e-7
"""e lies between these shares of a typical diagonal entry, whatever the size of F.

Below the second, redundant rows of a non-symmetric A are told apart by rounding errors, and the last iterates jump
about. But where eigenvalues of A are as small as that, it is e that makes the iteration crawl; so the second falls by
`RELIEF` with every iteration that has so little and leaves more than the share `CRAWL` of the merit.
"""

RELIEF, CRAWL = 0.1, 0.25


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
