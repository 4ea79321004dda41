"""A dam that breaks
=================

A column of water falls and runs along the floor of a tank; its pressures may push at walls, but not pull.
"""

from importlib.util import find_spec

import perp

scene = perp.scenes.make("dam_break", cells=32)
world = scene.world
assert isinstance(world, perp.worlds.LiquidWorld)
result = perp.simulate(scene, 60, method="multigrid")
found = {name: column[-1] for name, column in result.statistics.items()}  # of the last step
front = world.position[:, 0].max()
print(f"t = {world.time:.2f} s: the front is at {front:.2f} m, the mean height {found['height']:.2f} m")
print(f"{found['rows']:.0f} cells, {found['liquid_cells']:.0f} of them liquid; {found['iterations']:.0f} cycles")
print(f"divergence {found['divergence']:.1e} 1/s, residual {found['residual']:.1e}")

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    speed = (world.velocity**2).sum(axis=1) ** 0.5
    plt.colorbar(axes.scatter(world.position[:, 0], world.position[:, 1], c=speed, s=2), label="speed [m/s]")
    axes.set_aspect("equal")
    plt.show()
