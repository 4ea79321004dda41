"""Friction that creeps
====================

Friction that creeps: two fingers hold a capsule with twenty times the force it needs, for a hundred time steps.
"""

from importlib.util import find_spec

import numpy as np

import perp

dt, steps = 0.01, 100
paths: dict[str, list[float]] = {}
scene = perp.gallery.pinched_capsule(margin=20.0, model="box", dt=dt)
assert isinstance(scene, perp.gallery.Scene)  # an example that also knows how its bodies move
for label, method, iterations, warm in (
    ("pgs, 20 sweeps, cold", "pgs", 20, False),
    ("pgs, 20 sweeps, warm", "pgs", 20, True),
    ("dantzig", "dantzig", None, True),
):
    velocity, x, fallen, solved = scene.before, None, 0.0, 0
    way = paths[label] = [0.0]
    for _ in range(steps):
        problem = scene.step_from(velocity)
        result = perp.solve(problem, method, tol=1e-12, max_iterations=iterations, x0=x)
        velocity = scene.velocity(result.x, velocity)
        x = result.x if warm else None
        fallen += dt * np.abs(velocity[:3]).max()  # the capsule is the first body
        solved += result.success
        way.append(fallen)
    print(f"{label:21}: the capsule has crept {fallen:.1e} m, and {solved} of {steps} steps were called solved")
    assert solved < steps or fallen < 1e-10

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for label, way in paths.items():
        axes.plot(way, label=label)
    axes.set(xlabel="time step", ylabel="the capsule has crept [m]")
    axes.set_yscale("symlog", linthresh=1e-14)
    axes.legend()
    plt.show()
