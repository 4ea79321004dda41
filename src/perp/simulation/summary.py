"""What is measured in each step of a run, by the kind of the world, and the run summed up in a few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import numpy as np

from perp.problems.inputs import Vector
from perp.worlds.contact_world import ContactWorld
from perp.worlds.world import World


class Ending(Enum):
    """How a run can end; its value is a sentence."""

    DONE = "every step was taken"
    NOT_FINITE = "the state would have become infinite"
    INTERRUPTED = "the run was interrupted from the keyboard"
    STOPPED = "the callback asked to stop"


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A run in numbers. Means, maxima and medians are over steps; none of them counts the time of measuring.

    Times leave out the first step, where there are others: it loads compiled kernels, or compiles them.
    """

    ended: Ending
    message: str
    steps: int
    """Taken, with a finite state after each."""
    steps_wanted: int
    failed_step: int | None
    """The step after which the state would not have been finite."""
    method: str
    dt: float
    """[s]"""
    converged: int
    """Steps whose solve was within its tolerance."""
    warm: int
    """Steps that started from the impulses (or pressures) of the step before."""
    residual_mean: float
    residual_max: float
    iterations_mean: float
    iterations_max: int
    rows_max: int
    energy_start: float
    """Kinetic and potential [J], from the zero of height that the scene chose."""
    energy_end: float
    energy_drift: float
    """(end - start) / |start|; where the start is zero, the largest |energy| of any step stands in for it.

    Friction, impacts and implicit damping make it negative; motors may make it positive.
    """
    energy_rise: float
    """The largest gain of one step, divided by the same."""
    solve_seconds_mean: float
    solve_seconds_median: float
    step_seconds_mean: float
    """Collisions (or particles to grid), assembly, solver and motion."""
    step_seconds_median: float
    collide_share: float
    """Of the time of all these steps."""
    assemble_share: float
    solve_share: float
    move_share: float
    first_step_seconds: float
    fingerprint: str
    """The hash of the world's final state: runs that agree in it are the same, bit by bit."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.tell()}>"

    def tell(self) -> str:
        """What matters, in a line."""
        taken = f"{self.steps:,} of {self.steps_wanted:,} steps of {self.dt:.6g} s with {self.method}"
        solved = f"{self.converged:,} converged, largest residual {self.residual_max:.2e}"
        return f"{self.ended.name}, {taken}, {solved}, {self.steps_per_second:,.3g} steps/s"

    @classmethod
    def own_figures(cls, columns: Mapping[str, Vector]) -> dict[str, Any]:
        """The fields that only runs of this kind of world have."""
        return {}

    @property
    def steps_per_second(self) -> float:
        return 1.0 / self.step_seconds_mean if self.step_seconds_mean > 0.0 else np.nan

    def as_row(self) -> dict[str, Any]:
        """Plain numbers and words, for a table or JSON."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        return row | {"ended": self.ended.name, "steps_per_second": self.steps_per_second}


def summarise(
    kind: type[Summary], columns: Mapping[str, Vector], energy_start: float, facts: Mapping[str, Any]
) -> Summary:
    """`kind` is what suits the world; `facts` are those fields of the summary that no column tells."""
    steps = columns["seconds"].size
    later = slice(1, None) if steps > 1 else slice(None)
    total = float(np.sum(columns["seconds"][later]))
    shares: dict[str, Any] = {
        f"{part}_share": float(np.sum(columns[f"{part}_seconds"][later])) / total if total > 0.0 else np.nan
        for part in ("collide", "assemble", "solve", "move")
    }
    energy = np.concatenate([[energy_start], columns["energy"]])
    with np.errstate(all="ignore"):
        scale = abs(energy_start) or float(np.max(np.abs(energy))) or 1.0
        drift, rise = float(energy[-1] - energy_start) / scale, largest(np.diff(energy)) / scale
    return kind(
        **facts,
        **kind.own_figures(columns),
        steps=steps,
        converged=int(np.sum(columns["converged"])),
        warm=int(np.sum(columns["warm"])),
        residual_mean=mean(columns["residual"]),
        residual_max=largest(columns["residual"]),
        iterations_mean=mean(columns["iterations"]),
        iterations_max=int(max(columns["iterations"], default=0)),
        rows_max=int(max(columns["rows"], default=0)),
        energy_start=energy_start,
        energy_end=float(energy[-1]),
        energy_drift=drift,
        energy_rise=rise,
        solve_seconds_mean=mean(columns["solve_seconds"][later]),
        solve_seconds_median=_median(columns["solve_seconds"][later]),
        step_seconds_mean=mean(columns["seconds"][later]),
        step_seconds_median=_median(columns["seconds"][later]),
        **shares,
        first_step_seconds=float(columns["seconds"][0]) if steps else np.nan,
    )


def mean(column: Vector) -> float:
    return float(np.mean(column)) if column.size else np.nan


def _median(column: Vector) -> float:
    return float(np.median(column)) if column.size else np.nan


def largest(column: Vector) -> float:
    return float(np.max(column)) if column.size else np.nan


# What is measured in a step, and summed up of a run, by the kind of the world.

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
    """What is reported of a run."""

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
