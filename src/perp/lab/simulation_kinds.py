"""What is measured in a step, by the kind of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perp.lab.simulation_contacts import CONTACT_STATISTICS, ContactSummary
from perp.lab.simulation_liquids import LIQUID_STATISTICS, LiquidSummary
from perp.lab.simulation_summary import Summary
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
