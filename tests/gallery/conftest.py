"""The judge of planted solutions: natural residuals in plain NumPy, apart from perp's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from perp import ContactProblem
from perp.gallery import Example


def natural_map(example: Example) -> np.ndarray:
    """x - P(x - y), where P clips to the bounds, or to the disc of radius friction x_n (model disc: friction)."""
    problem, x = example.problem, example.x
    y = problem.A.to_sparse() @ x + problem.b
    if not isinstance(problem, ContactProblem):
        return x - np.clip(x - y, problem.lower, problem.upper)
    rows = problem.dimension * problem.friction.size
    impulse, velocity = x[:rows].reshape(-1, problem.dimension), y[:rows].reshape(-1, problem.dimension)
    target = impulse - velocity
    target[:, 0] = np.maximum(target[:, 0], 0.0)
    limit = (problem.friction * (1.0 if problem.model == "disc" else impulse[:, 0]))[:, None]
    if problem.model == "box":
        target[:, 1:] = np.clip(target[:, 1:], -limit, limit)
    else:
        length = np.maximum(np.linalg.norm(target[:, 1:], axis=1, keepdims=True), 1e-300)
        target[:, 1:] *= np.minimum(1.0, limit / length)
    rest = x[rows:] - np.clip(x[rows:] - y[rows:], problem.lower, problem.upper)
    return np.concatenate([(impulse - target).reshape(-1), rest])


@pytest.fixture
def misfit() -> Callable[[Example], float]:
    """The largest natural residual of the planted x, relative to the numbers that went into it, |A| |x| + |b|."""

    def measure(example: Example) -> float:
        problem = example.problem
        scale = abs(problem.A.to_sparse()) @ np.abs(example.x) + np.abs(problem.b)
        return float(np.abs(natural_map(example)).max() / max(scale.max(), 1e-300))

    return measure


@pytest.fixture
def slack() -> Callable[[Example], np.ndarray]:
    """y = A x + b of the planted x, with rounding errors around zero set to zero."""

    def measure(example: Example) -> np.ndarray:
        problem = example.problem
        y = problem.A.to_sparse() @ example.x + problem.b
        scale = abs(problem.A.to_sparse()) @ np.abs(example.x) + np.abs(problem.b)
        return np.where(np.abs(y) <= 1e-12 * scale.max(), 0.0, y)

    return measure
