"""Named scenes: worlds that the papers and the slides show, with sizes and seeds as options.

scene = perp.scenes.make("pool1")
scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))
"""

from perp.scenes.brick_wall import wall
from perp.scenes.catalogue import Scene, SceneKind, kinds, make
from perp.scenes.chain import chain
from perp.scenes.discs import falling_discs, pool1, pool2, stacking
from perp.scenes.falling_boxes import boxes
from perp.scenes.gears import gears_medium, gears_small
from perp.scenes.liquids import ceiling_drop, dam_break, sphere_tank, tilted_tank
from perp.scenes.log_tower import tower
from perp.scenes.rocks import rocks
from perp.scenes.snakes import snake, snake_loaded
from perp.scenes.spinner import spinner
from perp.scenes.stacks import heavy_on_light, incline, stack
from perp.scenes.trucks import trucks
from perp.scenes.walls import wall_of_boxes

__all__ = [
    "Scene",
    "SceneKind",
    "kinds",
    "make",
    "wall",
    "chain",
    "falling_discs",
    "pool1",
    "pool2",
    "stacking",
    "boxes",
    "gears_medium",
    "gears_small",
    "ceiling_drop",
    "dam_break",
    "sphere_tank",
    "tilted_tank",
    "tower",
    "rocks",
    "snake",
    "snake_loaded",
    "spinner",
    "heavy_on_light",
    "incline",
    "stack",
    "trucks",
    "wall_of_boxes",
]
