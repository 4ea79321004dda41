"""The particles and the cells of a liquid, as rows of a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.residual_scale import natural_map
from perp.recording.frame import LiquidFrame
from perp.viewer.layout import CELL_NUMBERS
from perp.worlds.fluid.report import LiquidReport
from perp.worlds.report import StepReport

WET, SEPARATING = 1, 2
"""Bits of a cell's state."""

Rows = NDArray[np.float32]


def particle_rows(frame: LiquidFrame) -> Rows:
    """n x (d + 1): position [m] and speed [m/s]."""
    n, d = frame.position.shape
    rows: Rows = np.empty((n, d + 1), dtype=np.float32)
    rows[:, :d] = frame.position
    rows[:, d] = np.sqrt(np.einsum("ij,ij->i", frame.velocity, frame.velocity))
    return rows


def cell_rows(frame: LiquidFrame, report: StepReport | None) -> Rows:
    """c x 3: pressure [Pa], state, residual (NaN without a report). None in space, where nobody could look at them."""
    if frame.dimension != 2:
        return np.empty((0, CELL_NUMBERS), dtype=np.float32)
    rows: Rows = np.empty((frame.pressure.size, CELL_NUMBERS), dtype=np.float32)
    rows[:, 0] = frame.pressure.reshape(-1)
    rows[:, 1] = (WET * frame.liquid + SEPARATING * frame.separating).reshape(-1)
    rows[:, 2] = np.nan
    if isinstance(report, LiquidReport) and report.pressures.grid.size == len(rows):
        made = report.pressures
        rows[:, 2] = made.on_cells(np.abs(natural_map(made.problem, report.x, report.net_outflow)))
    return rows
