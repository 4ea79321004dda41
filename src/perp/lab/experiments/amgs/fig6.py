"""AMGS Figure 6: RES of every step of Pool 1."""

from __future__ import annotations

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.whole_simulation import LATE, make_simulation_experiment

EXPERIMENT = make_simulation_experiment(6, "pool1", read_claims(__package__, "fig6"), since=LATE)
