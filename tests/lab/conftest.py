"""What the tests of the laboratory share: small instances and made-up rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_rows import made_circumstances

from perp.lab.demo import Instance, demo_instances
from perp.lab.runs.row import FAILED, LabRow, Measurement
from perp.lab.runs.task import Task


@pytest.fixture(scope="session")
def instances() -> list[Instance]:
    """The demonstration's problems, small."""
    return demo_instances(n=60)


@pytest.fixture
def make_row() -> Callable[..., LabRow]:
    """A row whose residual falls by a constant factor an iteration."""

    def make(method: str = "pgs", problem: str = "stack", checks: int = 50, **changes: object) -> LabRow:
        iteration = np.arange(checks, dtype=np.float64)
        residual = 0.7**iteration
        series = {"iteration": iteration, "seconds": 1e-5 * iteration, "residual": residual, "merit": residual**2}
        values = {
            "residual": float(residual[-1]) if checks else np.nan,
            "iterations": checks,
            "seconds": 1e-5 * checks,
            "setup_seconds": 1e-6,
        }
        status = changes.pop("status", "CONVERGED")
        series |= {"active": np.full(checks, 5.0)} | changes.pop("series", {})
        found = Measurement(status, "the residual is within the tolerance", 30, "", values | changes, series)
        return LabRow(Task("solve", {}, method, group=problem), found, made_circumstances())

    return make


@pytest.fixture
def make_failure() -> Callable[..., LabRow]:
    """The row of a method that raised."""

    def make(problem: str, method: str, message: str) -> LabRow:
        return LabRow(Task("solve", {}, method, group=problem), Measurement(FAILED, message), made_circumstances())

    return make
