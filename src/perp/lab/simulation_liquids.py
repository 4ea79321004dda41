"""What runs of a liquid measure beside what all runs do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.lab.simulation_summary import Summary, largest, mean
from perp.problems.inputs import Vector

LIQUID_STATISTICS = {
    "particles": "that carry the liquid",
    "liquid_cells": "with an unknown pressure",
    "separating": "cells at their bound, p = 0, where the liquid may leave the wall",
    "divergence": "largest rate of compression or, where p > 0, of growth of a cell after the step [1/s]",
    "outflow": "largest rate at which a separating cell grows [1/s]",
    "volume": "of the liquid [m^2 in the plane, m^3 in space]",
    "height": "mean height of the particles [m]",
    "fastest": "speed of the fastest particle [m/s]",
}


@dataclass(frozen=True, eq=False, repr=False)
class LiquidSummary(Summary):
    """A run of a liquid in numbers."""

    particles: int
    """In the end."""
    liquid_cells_max: int
    separating_mean: float
    separating_max: int
    divergence_max: float
    """[1/s]"""
    outflow_max: float
    """[1/s]"""
    volume_start: float
    """In the first step [m^2 in the plane, m^3 in space]."""
    volume_end: float
    volume_drift: float
    """(end - start) / start."""
    height_start: float
    """Mean height of the particles in the first step [m]."""
    height_end: float
    fastest_max: float
    """Speed of the fastest particle of any step [m/s]."""

    @classmethod
    def own_figures(cls, columns: Mapping[str, Vector]) -> dict[str, Any]:
        def first(name: str) -> float:
            return float(columns[name][0]) if columns[name].size else np.nan

        def last(name: str) -> float:
            return float(columns[name][-1]) if columns[name].size else np.nan

        volume_start, volume_end = first("volume"), last("volume")
        return {
            "particles": int(max(columns["particles"][-1:], default=0)),
            "liquid_cells_max": int(max(columns["liquid_cells"], default=0)),
            "separating_mean": mean(columns["separating"]),
            "separating_max": int(max(columns["separating"], default=0)),
            "divergence_max": largest(columns["divergence"]),
            "outflow_max": largest(columns["outflow"]),
            "volume_start": volume_start,
            "volume_end": volume_end,
            "volume_drift": (volume_end - volume_start) / volume_start if volume_start > 0.0 else np.nan,
            "height_start": first("height"),
            "height_end": last("height"),
            "fastest_max": largest(columns["fastest"]),
        }
