"""A block on a slope
==================

A block on a slope, one contact under its centre of mass: it sticks while tan(slope) <= friction.
"""

from importlib.util import find_spec

import numpy as np

import perp

mass, gravity, dt, friction = 2.0, 9.81, 0.01, 0.5
slopes, speeds = (20.0, 26.0, 27.0, 35.0), []
for degrees in slopes:
    slope = np.radians(degrees)
    A = np.eye(3) / mass  # contact frame: normal, downhill, across; velocity = A impulse + b
    b = gravity * dt * np.array([-np.cos(slope), np.sin(slope), 0.0])
    result = perp.solve(perp.ContactProblem(A, b, friction, model="cone"), "pgs", tol=1e-12)
    downhill = result.y[1]
    expected = max(0.0, gravity * dt * (np.sin(slope) - friction * np.cos(slope)))
    assert abs(downhill - expected) < 1e-10
    speeds.append(downhill)
    print(f"{degrees:4.0f} degrees: {'slides' if downhill > 1e-9 else 'sticks'}, {downhill:.6f} m/s after one step")

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    axes.plot(slopes, speeds, "o-")
    axes.axvline(np.degrees(np.arctan(friction)), linestyle="--", label="tan(slope) = friction")
    axes.set(xlabel="slope [degrees]", ylabel="speed after a step [m/s]")
    axes.legend()
    plt.show()
