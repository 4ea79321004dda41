"""Worlds run for many steps: measured, recorded, and summed up. The command line, the lab and the viewer run them so.

result = perp.simulate("pool1", 100)
print(result)
"""

from perp.simulation.result import SimulationResult
from perp.simulation.run import ProblemFolder, simulate
from perp.simulation.summary import ContactSummary, Ending, LiquidSummary, Summary

__all__ = [
    "ContactSummary",
    "Ending",
    "LiquidSummary",
    "ProblemFolder",
    "SimulationResult",
    "Summary",
    "simulate",
]
