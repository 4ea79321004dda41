"""The smallest useful thing: one LCP, solved and verified."""

import numpy as np

import perp

A = np.array([[4.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 4.0]])
problem = perp.LCP(A, [-3.0, 2.0, -1.0])
result = perp.solve(problem)
print(result.x, result.status.name)
print(perp.verify(problem, result.x))
