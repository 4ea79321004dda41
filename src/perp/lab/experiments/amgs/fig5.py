"""AMGS Figure 5: RES after each sweep in step 100 of Stacking."""

from __future__ import annotations

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.hundredth_step import make_step_experiment

EXPERIMENT = make_step_experiment(5, "stacking", read_claims(__package__, "fig5"))
