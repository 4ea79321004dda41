"""Discs in the plane, with friction and restitution, between half-planes and segments that do not move."""

from perp.worlds.rigid2d.disc_world import DiscWorld
from perp.worlds.rigid2d.discs import Discs, HalfPlane, Segment

__all__ = ["DiscWorld", "Discs", "HalfPlane", "Segment"]
