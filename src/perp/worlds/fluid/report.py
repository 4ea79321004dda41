"""What one step of a liquid did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.worlds.fluid.pressure import PressureProblem
from perp.worlds.report import StepReport


@dataclass(frozen=True, eq=False, repr=False)
class LiquidReport(StepReport):
    """One step of a liquid. `x` are pressures without dimension: x = p dt^2 / (density spacing^2)."""

    pressures: PressureProblem
    """The problem with the cells that it belongs to."""
    net_outflow: Vector
    """y of each unknown: what left its cell, as a share of its volume, beyond what the volume correction asks for."""
    density: float
    """[kg/m^d]"""
    particles: int
    volume: float
    """At the beginning of the step, from the free surface [m^d]."""
    height: float
    """Mean height of the particles at the end of it [m]."""
    fastest: float
    """Speed of the fastest particle at the end of it [m/s]."""

    @property
    def things(self) -> str:
        return f"{self.particles:,} particles, {np.count_nonzero(self.liquid):,} liquid cells, "

    @property
    def liquid(self) -> NDArray[np.bool_]:
        """Which cells had an unknown pressure."""
        liquid: NDArray[np.bool_] = self.pressures.liquid.reshape(self.pressures.grid.cells) != 0
        return liquid

    @property
    def pressure(self) -> NDArray[np.float64]:
        """Of each cell [Pa]; 0 where there is no liquid."""
        made = self.pressures
        scale = self.density * (made.grid.spacing / made.dt) ** 2
        return np.where(self.liquid, scale * made.on_cells(self.x).reshape(made.grid.cells), 0.0)

    @property
    def separating(self) -> NDArray[np.bool_]:
        """Which cells let go: the pressure is at its bound, zero, and more flows out than in."""
        return self.pressures.separating(self.x, self.net_outflow).reshape(self.pressures.grid.cells)

    def measures(self) -> dict[str, float]:
        made, y, dt = self.pressures, self.net_outflow, self.pressures.dt
        is_liquid = made.of_unknowns(made.liquid) != 0
        loose = made.of_unknowns(made.separating(self.x, y))
        return {
            "particles": float(self.particles),
            "liquid_cells": float(np.count_nonzero(is_liquid)),
            "separating": float(np.count_nonzero(loose)),
            "divergence": float(np.abs(y[is_liquid & ~loose]).max(initial=0.0)) / dt,
            "outflow": float(y[loose].max(initial=0.0)) / dt,
            "volume": self.volume,
            "height": self.height,
            "fastest": self.fastest,
        }
