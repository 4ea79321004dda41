"""Named scenes: worlds that the papers and the slides show, with sizes and seeds as options.

scene = perp.scenes.make("pool1")
scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))
"""

# importing a file registers its scenes
from perp.scenes import (
    brick_wall,
    chain,
    discs,
    falling_boxes,
    gears,
    liquids,
    log_tower,
    rocks,
    snakes,
    spinner,
    stacks,
    trucks,
    walls,
)
from perp.scenes.catalogue import Scene, SceneKind, kinds, make

__all__ = [
    "Scene",
    "SceneKind",
    "brick_wall",
    "chain",
    "discs",
    "falling_boxes",
    "gears",
    "kinds",
    "liquids",
    "log_tower",
    "make",
    "rocks",
    "snakes",
    "spinner",
    "stacks",
    "trucks",
    "walls",
]
