"""Two bodies, one a thousand times the other
==========================================

A box of 1 kg on the ground carries one of 1000 kg: A stays factored as J M^-1 J^T, and both boxes come to rest.
"""

from importlib.util import find_spec

import numpy as np

import perp

dt, gravity, points = 0.01, 9.81, [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
masses = perp.BodyMasses([1.0, 1000.0], [np.eye(3) / 6, np.eye(3) * 1000 / 6])
bodies, jacobian = [], []
for below, above in ((-1, 0), (0, 1)):  # the lower box on the world (-1), the upper one on the lower
    for px, py in points:
        for direction in np.eye(3)[[2, 0, 1]]:  # normal (up), then the two tangents
            lever_below, lever_above = np.array([px, py, 0.5]), np.array([px, py, -0.5])
            row_below = -np.concatenate([direction, np.cross(lever_below, direction)])
            row_above = np.concatenate([direction, np.cross(lever_above, direction)])
            bodies.append((below, above))
            jacobian.append((row_below, row_above))
operator = perp.FactoredOperator.from_body_pairs(bodies, jacobian, masses)
falling = np.tile([0.0, 0.0, -gravity * dt, 0.0, 0.0, 0.0], 2)  # velocity after one step without contact
problem = perp.ContactProblem(operator, operator.J @ falling, friction=0.5)
result = perp.solve(problem, "pgs", tol=1e-6, max_iterations=100_000)
velocity = falling + operator.velocity(result.x)
print(f"{result.status.name} after {result.iterations} iterations; fastest body: {np.abs(velocity).max():.1e} m/s")
print(f"ground carries {result.x[:12:3].sum() / dt:.2f} N, the boxes weigh {1001 * gravity:.2f} N")
assert abs(result.x[:12:3].sum() / dt - 1001 * gravity) < 0.1

if find_spec("matplotlib"):  # a thousand times the mass on top: the sweeps take their time
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    axes.semilogy(result.history.iteration, result.history.residual)
    axes.set(xlabel="sweep", ylabel="residual [N s]")
    plt.show()
