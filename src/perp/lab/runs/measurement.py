"""What a task found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FAILED = "FAILED"
"""The work raised; the message says what."""
CRASHED = "CRASHED"
"""The process ended without a row: a signal, or an exit from within a library."""
TIME_OUT = "TIME_OUT"
"""The process was ended after the wall seconds of its task."""
OUT_OF_MEMORY = "OUT_OF_MEMORY"
"""The work asked for more memory than its task allows."""
DONE = "DONE"
"""Measured; there was nothing to converge."""

TROUBLE = (FAILED, CRASHED, TIME_OUT, OUT_OF_MEMORY)
"""The statuses of rows that measured nothing."""

Column = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """`status` is the name of a `Status`, of an `Ending`, or one of the words above.

    `numbers` and `series` have what the work measured by name. Every work that solves has `residual`, `iterations`,
    `seconds`, `setup_seconds` and `active` (the share of rows that are free at the end) among its numbers; missing
    numbers are missing, not zero.
    """

    status: str
    message: str = ""
    n: int = 0
    """Rows of the problem, or the most of any step."""
    problem: str = ""
    """The hash of the data that were solved, or of the final state: equal ones were the same, bit by bit."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Column] = field(default_factory=dict)
