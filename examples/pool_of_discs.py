"""A pool of discs
===============

Pool 1 of Miyamoto and Yamashita (2019), small: discs settle in a container, started warm from step to step.
"""

from importlib.util import find_spec

import perp

scene = perp.scenes.make("pool1", discs=60, width=3.0)
world = scene.world
assert isinstance(world, perp.worlds.rigid2d.DiscWorld)
for _ in range(150):
    report = world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0, max_iterations=200))
doing = perp.contact_states(report.problem.as_contacts(), report.x, tol=1e-3).counts
overlap = 1e3 * report.contacts.penetration
print(f"t = {world.time:.2f} s: {len(report.contacts)} contacts, deepest overlap {overlap:.2f} mm")
print(", ".join(f"{count} {name}" for name, count in doing.items()))
print(f"energy {world.energy():.1f} J, residual {report.residuals.residual:.1e}")

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    for place, radius in zip(world.discs.position, world.discs.radius, strict=True):
        axes.add_patch(Circle(place, radius, fill=False))
    axes.set_aspect("equal")
    axes.autoscale()
    plt.show()
