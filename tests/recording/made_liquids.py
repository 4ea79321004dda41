"""Frames of liquids of random numbers, the same for the same number."""

from __future__ import annotations

import numpy as np

from perp.recording import LiquidFrame, LiquidGrid

CELLS = {2: (5, 4), 3: (4, 3, 5)}


def make_grid(dimension=2):
    cells = CELLS[dimension]
    draw = np.random.default_rng(dimension)
    return LiquidGrid(cells, 0.125, draw.standard_normal(dimension), draw.standard_normal([c + 1 for c in cells]))


def make_liquid_frame(step, dimension=2, particles=None):
    """All its numbers fit into single precision."""
    draw = np.random.default_rng([step, dimension])
    n = 7 * (step % 4) if particles is None else particles
    state = draw.standard_normal((2, n, dimension)).astype(np.float32).astype(np.float64)
    pressure = draw.standard_normal(CELLS[dimension]).astype(np.float32).astype(np.float64)
    liquid, separating = draw.integers(0, 2, (2, *CELLS[dimension])).astype(bool)
    said = {"residual": draw.random(), "particles": float(n)} if step else {}
    return LiquidFrame(step, 0.01 * step, *state, pressure, liquid, separating, said)


def assert_same_liquid(one, other):
    assert (one.step, one.time, one.statistics) == (other.step, other.time, other.statistics)
    for name in ("position", "velocity", "pressure", "liquid", "separating"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.shape == second.shape
        assert first.dtype == second.dtype
        assert first.tobytes() == second.tobytes()
