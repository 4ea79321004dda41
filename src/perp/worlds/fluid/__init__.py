"""Liquids with a free surface in vessels that do not move: particles on a staggered grid, walls that liquid leaves."""

from perp.worlds.fluid.flow import seed_particles
from perp.worlds.fluid.liquid_world import LiquidReport, LiquidWorld
from perp.worlds.fluid.solids import Ball, BallTank, Box, BoxTank, Complement, HalfSpace, Intersection, Turned, Union

__all__ = [
    "Ball",
    "BallTank",
    "Box",
    "BoxTank",
    "Complement",
    "HalfSpace",
    "Intersection",
    "LiquidReport",
    "LiquidWorld",
    "Turned",
    "Union",
    "seed_particles",
]
