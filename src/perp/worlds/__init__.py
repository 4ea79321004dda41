"""The physics that makes problems: bodies move, touch and are joined; a solver, handed in, finds the impulses."""

from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts
from perp.worlds.fluid import LiquidReport, LiquidWorld
from perp.worlds.warm_up import warm_up
from perp.worlds.world import ContactReport, Solve, StepReport, StepSeconds, World

__all__ = [
    "ArticulatedWorld",
    "ContactReport",
    "ContactWorld",
    "Contacts",
    "LiquidReport",
    "LiquidWorld",
    "Solve",
    "StepReport",
    "StepSeconds",
    "World",
    "warm_up",
]
