"""What the tests of the laboratory share: small instances and made-up rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from perp.lab.campaign import Instance
from perp.lab.demo import demo_instances
from perp.lab.rows import Row
from perp.solvers.results import History


@pytest.fixture(scope="session")
def instances() -> list[Instance]:
    """The demonstration's problems, small."""
    return demo_instances(n=60)


@pytest.fixture
def make_row() -> Callable[..., Row]:
    """A row whose residual falls by a constant factor an iteration."""

    def make(method: str = "pgs", problem: str = "stack", checks: int = 50, **changes: object) -> Row:
        iteration = np.arange(checks)
        residual = 0.7 ** iteration.astype(float)
        history = History(iteration, 1e-5 * iteration, residual, residual**2, np.full(checks, 5))
        values = {
            "problem": problem,
            "method": method,
            "status": "CONVERGED",
            "message": "the residual is within the tolerance",
            "residual": float(residual[-1]) if checks else np.nan,
            "iterations": checks,
            "seconds": 1e-5 * checks,
            "setup_seconds": 1e-6,
            "history": history,
        }
        return Row(**(values | changes))

    return make
