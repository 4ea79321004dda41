"""Rough elastic contact
=====================

Rough elastic contact: a random surface pressed on a half-space. A is a convolution that nobody writes down.
"""

from importlib.util import find_spec

import numpy as np

import perp

for gap in (2.0, 1.0, 0.3):  # distance of the mean planes, in rms heights
    problem = perp.gallery.make("rough_surface", n=128**2, gap=gap, seed=1).problem
    result = perp.solve(problem)
    touching, load = np.mean(result.x > 0.0), result.x.mean()
    print(f"gap {gap}: {result.status.name}, {touching:.1%} of the surface touches, mean pressure {load:.4f} E*")

hertz = perp.gallery.make("hertz", n=128**2)  # contact radius 1/2, peak pressure 1
known, pressure = hertz.continuous, perp.solve(hertz.problem).x
print(f"Hertz: the peak is {pressure.max():.4f}")

if find_spec("matplotlib") and known is not None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    shown = np.ma.masked_equal(result.x.reshape(128, 128), 0.0)
    plt.colorbar(left.imshow(shown, cmap="inferno_r", extent=(0, 1, 0, 1)), label="pressure / E*")
    left.set_title("where a rough surface touches")
    middles = (np.arange(128) + 0.5) / 64 - 1.0
    right.plot(middles, known.reshape(128, 128)[64], color="0.7", linewidth=4, label="Hertz 1882")
    right.plot(middles, pressure.reshape(128, 128)[64], ".", markersize=4, label="perp")
    right.set(xlabel="x / R", ylabel="pressure / peak", title="and a sphere, where the answer is known")
    right.legend()
    plt.show()
