"""Named scenes: worlds that the papers and the slides show, with sizes and seeds as options.

scene = perp.scenes.make("pool1")
scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))

`kinds()` lists the scenes; each is also a function of its own (`pool1(discs=24)`).
"""

from perp.scenes.cables import chain, spinner
from perp.scenes.catalogue import Scene, SceneKind, kinds, make
from perp.scenes.discs import falling_discs, pool1, pool2, stacking
from perp.scenes.liquids import ceiling_drop, dam_break, sphere_tank, tilted_tank
from perp.scenes.machines import gears_medium, gears_small, rocks, snake, snake_loaded
from perp.scenes.nets import trucks
from perp.scenes.stacks import boxes, heavy_on_light, incline, stack, tower, wall, wall_of_boxes

__all__ = [
    "Scene",
    "SceneKind",
    "kinds",
    "make",
    "boxes",
    "ceiling_drop",
    "chain",
    "dam_break",
    "falling_discs",
    "gears_medium",
    "gears_small",
    "heavy_on_light",
    "incline",
    "pool1",
    "pool2",
    "rocks",
    "snake",
    "snake_loaded",
    "sphere_tank",
    "spinner",
    "stack",
    "stacking",
    "tilted_tank",
    "tower",
    "trucks",
    "wall",
    "wall_of_boxes",
]
