"""What is measured in a step, and summed up of a run, by the kind of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.problems.inputs import Vector
from perp.simulation.summary import Summary, largest, mean
from perp.worlds.contact_world import ContactWorld
from perp.worlds.world import World

STATISTICS = {
    "residual": "of what the solver found, computed anew",
    "iterations": "of the solver",
    "converged": "1 where the solver was within its tolerance",
    "warm": "1 where it started from the impulses (or pressures) of the step before",
    "rows": "of the problem",
    "energy": "kinetic and potential, after the step [J]",
    "collide_seconds": "finding contacts; in a liquid, from particles to the grid",
    "assemble_seconds": "making the problem and its starting point",
    "solve_seconds": "in the solver",
    "move_seconds": "from impulses or pressures to positions",
    "seconds": "the four together",
}
"""What the steps of all worlds measure; columns of a recording. None of the times contains the measuring."""

CONTACT_STATISTICS = {
    "energy_mean": "mean energy error of a row [J]",
    "energy_max": "largest energy error of a row [J]",
    "contacts": "known to the step",
    "penetration": "deepest overlap at the beginning of the step [m]",
}
"""Of bodies that touch, beside these."""

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
"""Of a liquid."""


@dataclass(frozen=True, eq=False, repr=False)
class ContactSummary(Summary):
    """A run of bodies in numbers."""

    energy_error_mean: float
    """The mean of `Residuals.energy_mean` [J]."""
    energy_error_max: float
    """The largest `Residuals.energy_max` [J]."""
    contacts_mean: float
    contacts_max: int
    penetration_max: float
    """The deepest overlap that any step began with [m]."""

    @classmethod
    def own_figures(cls, columns: Mapping[str, Vector]) -> dict[str, Any]:
        return {
            "energy_error_mean": mean(columns["energy_mean"]),
            "energy_error_max": largest(columns["energy_max"]),
            "contacts_mean": mean(columns["contacts"]),
            "contacts_max": int(max(columns["contacts"], default=0)),
            "penetration_max": float(max(columns["penetration"], default=0.0)),
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


@dataclass(frozen=True)
class RunKind:
    """What is told of a run."""

    statistics: Mapping[str, str]
    """Names, and what they mean; those of `STATISTICS` first."""
    summary: type[Summary]


CONTACTS = RunKind(STATISTICS | CONTACT_STATISTICS, ContactSummary)
LIQUIDS = RunKind(STATISTICS | LIQUID_STATISTICS, LiquidSummary)
OTHERS = RunKind(STATISTICS, Summary)
"""Worlds of one's own: what their reports measure beside is not known before the first step, and left out."""


def kind_of(world: World) -> RunKind:
    if world.grid() is not None:
        return LIQUIDS
    return CONTACTS if isinstance(world, ContactWorld) else OTHERS
