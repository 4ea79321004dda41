"""Pressure that cannot pull
=========================

Pressure that cannot pull: a Poisson problem on a grid with p >= 0, without ever storing the matrix.
"""

from importlib.util import find_spec

import numpy as np

import perp

grid = (32, 32)
divergence = np.random.default_rng(0).standard_normal(grid).ravel()
problem = perp.LCP(perp.StencilOperator(grid, diagonal=4.0, couplings=-1.0), divergence)
for method in (perp.Multigrid(), perp.PolicyIteration(), perp.PSOR(relaxation=1.4), perp.PGS(), perp.Jacobi()):
    result = perp.solve(problem, method, tol=1e-8, max_iterations=20_000)
    print(f"{result.method:>16}: {result.status.name}, {result.iterations} iterations, residual {result.residual:.1e}")

if find_spec("matplotlib"):  # where the liquid has let go, p = 0
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    plt.colorbar(axes.imshow(result.x.reshape(grid), cmap="viridis"), label="p")
    plt.show()
