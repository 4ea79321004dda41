"""What runs of bodies that touch measure beside what all runs do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perp.lab.simulation_summary import Summary, largest, mean
from perp.problems.inputs import Vector

CONTACT_STATISTICS = {
    "energy_mean": "mean energy error of a row [J]",
    "energy_max": "largest energy error of a row [J]",
    "contacts": "known to the step",
    "penetration": "deepest overlap at the beginning of the step [m]",
}


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
