"""A box with a hinge
==================

A box on the ground, hinged along a lower edge, is lifted: it turns about the hinge, as far as a limit lets it.
"""

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

import perp

h, mass, size = 0.01, 2.0, np.array([0.4, 0.4, 0.2])  # [s], [kg], [m]
inertia = mass / 12.0 * np.diag([0.4**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.4**2])
body = perp.BodyMasses([mass], [inertia])
x, y, z = np.eye(3)


def row(direction: NDArray[np.float64], arm: NDArray[np.float64]) -> NDArray[np.float64]:
    """The velocity along a direction of the point at an arm from the centre of mass: d . (v + w x r)."""
    return np.concatenate([direction, np.cross(arm, direction)])


corners = 0.5 * size * np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]])
ground = perp.ContactRows([row(d, r) for r in corners for d in (z, x, y)], friction=0.3)
edge = 0.5 * size * np.array([[-1, 1, -1], [-1, -1, -1]])  # a hinge about y: two points held, the second not along y
hinge = perp.JointRows([*(row(d, edge[0]) for d in (x, y, z)), *(row(d, edge[1]) for d in (x, z))])
limit = perp.LimitRows([np.concatenate([0 * z, y])], gap=0.002)  # 0.002 rad are left in this step, about -y

spins = {}
for lift in (10.0, 60.0):  # [N], against a weight of 19.6 N
    force = np.concatenate([(lift - 9.81 * mass) * z, np.zeros(3)])
    problem = perp.assemble_step([ground, hinge, limit], body, np.zeros(6), h, force=force, model="cone")
    A = problem.A
    assert isinstance(A, perp.FactoredOperator)  # J M^-1 J^T, never formed
    for method in ("block_gauss_seidel", "admm", "cone_newton"):
        result = perp.solve(problem, method, tol=1e-11, max_iterations=20_000)
        velocity = h * body.solve(force) + A.velocity(result)
        turning, stop = velocity[4], result.x[-1]
        print(f"{lift:g} N, {method:18} {result.status.name}: {turning:+.6f} rad/s, the limit takes {stop:.4f} N m s")
    spins[f"{lift:g} N"] = -turning
    print(perp.contact_states(problem, result))

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    axes.bar(list(spins), list(spins.values()), width=0.5)
    axes.axhline(0.002 / h, linestyle="--", label="what the limit allows")
    axes.set(xlabel="lifted with", ylabel="turning [rad/s]")
    axes.legend()
    plt.show()
