"""Named scenes: worlds that the papers and the slides show, with sizes and seeds as options.

scene = perp.scenes.make("pool1")
scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))
"""

from perp.scenes import discs  # registers its scenes
from perp.scenes.catalogue import Scene, SceneKind, kinds, make

__all__ = ["Scene", "SceneKind", "discs", "kinds", "make"]
