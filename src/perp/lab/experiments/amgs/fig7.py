"""AMGS Figure 7: RES of every step of Pool 2."""

from __future__ import annotations

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.whole_simulation import FIRST, make_simulation_experiment

EXPERIMENT = make_simulation_experiment(7, "pool2", read_claims(__package__, "fig7"), since=FIRST)
