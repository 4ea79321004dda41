"""AMGS Figure 8: RES of every step of Stacking."""

from __future__ import annotations

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.whole_simulation import FIRST, make_simulation_experiment

EXPERIMENT = make_simulation_experiment(8, "stacking", read_claims(__package__, "fig8"), since=FIRST)
