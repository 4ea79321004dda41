"""One LCP
=======

The smallest useful thing: one LCP, solved and verified.
"""

from importlib.util import find_spec

import numpy as np

import perp

A = np.array([[4.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 4.0]])
problem = perp.LCP(A, [-3.0, 2.0, -1.0])
result = perp.solve(problem)
print(result.x, result.status.name)
print(perp.verify(problem, result.x))

if find_spec("matplotlib"):  # in each row one of the two is zero
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    axes.bar(np.arange(3) - 0.2, result.x, width=0.4, label="x")
    axes.bar(np.arange(3) + 0.2, result.y, width=0.4, label="y = A x + b")
    axes.set(xlabel="row", xticks=range(3))
    axes.legend()
    plt.show()
