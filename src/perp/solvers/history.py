"""What happened on the way: one line a check."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class History:
    """Columns of equal length, one entry a check, the starting point first.

    `seconds` counts the method's own time only: neither its preparation nor the checks. `counters` holds a column for
    each thing that the method itself counts, such as pivots or factorisations.
    """

    iteration: NDArray[np.int64]
    seconds: NDArray[np.float64]
    residual: NDArray[np.float64]
    merit: NDArray[np.float64]
    active: NDArray[np.int64]
    counters: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    @staticmethod
    def from_rows(
        rows: list[tuple[int, float, float, float, int]], counted: list[dict[str, float]] | None = None
    ) -> History:
        """`counted` has what was counted at each row; nothing had been at rows where a name is missing."""
        iteration, seconds, residual, merit, active = zip(*rows, strict=True) if rows else ((),) * 5
        counted = counted or []
        names = dict.fromkeys(name for counters in counted for name in counters)
        return History(
            np.array(iteration, dtype=np.int64),
            np.array(seconds, dtype=np.float64),
            np.array(residual, dtype=np.float64),
            np.array(merit, dtype=np.float64),
            np.array(active, dtype=np.int64),
            {name: np.array([counters.get(name, 0.0) for counters in counted]) for name in names},
        )

    def __len__(self) -> int:
        return len(self.iteration)
