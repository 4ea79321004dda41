"""What happened on the way: one line a check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class History:
    """Columns of equal length, one entry a check, the starting point first.

    `seconds` counts the method's own time only: neither its preparation nor the checks.
    """

    iteration: NDArray[np.int64]
    seconds: NDArray[np.float64]
    residual: NDArray[np.float64]
    merit: NDArray[np.float64]
    active: NDArray[np.int64]

    @staticmethod
    def from_rows(rows: list[tuple[int, float, float, float, int]]) -> History:
        iteration, seconds, residual, merit, active = zip(*rows, strict=True) if rows else ((),) * 5
        return History(
            np.array(iteration, dtype=np.int64),
            np.array(seconds, dtype=np.float64),
            np.array(residual, dtype=np.float64),
            np.array(merit, dtype=np.float64),
            np.array(active, dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.iteration)
