"""A stack of boxes
================

Three boxes fall on one another; an exact method finds the impulses of every step, and MuJoCo the contacts.
"""

from importlib.util import find_spec

import perp
from perp.worlds.rigid3d import Geom, RigidBuilder

builder = RigidBuilder()
builder.ground(friction=0.6)
for level in range(3):
    box = Geom(form="box", size=(0.5, 0.5, 0.5), mass=10.0**level, friction=0.6)  # the heaviest is on top
    builder.body([box], position=(0.1 * level, 0.0, 0.6 + 1.1 * level))
world = builder.world(model="cone")
heights = []
for _ in range(120):
    heights.append(world.position[:, 2].copy())
    report = world.step(1 / 60, lambda problem, x0: perp.solve(problem, "cone_newton", x0=x0))
lift = report.contacts.impulses(report.x)[report.contacts.bodies[:, 0] == -1].sum(axis=0) * 60
print(f"after {world.time:.1f} s the boxes lie at heights {world.position[:, 2].round(4)} m")
print(f"the ground carries {lift[2]:.2f} N, the boxes weigh {111 * 9.81:.2f} N")
assert abs(lift[2] - 111 * 9.81) < 1e-3

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot([step / 60 for step in range(120)], heights)
    axes.set(xlabel="time [s]", ylabel="height [m]")
    plt.show()
