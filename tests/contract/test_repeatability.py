"""The same input gives the same bits, whatever the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

SOLVE_WITH_EVERYTHING = """
import hashlib
import perp
from perp.solvers.roster import suitable_methods

digest = hashlib.sha256()
grid = perp.gallery.make("poisson_2d", n=40_000).problem  # long enough for BLAS to split a sum
small = perp.gallery.make("poisson_2d", n=900).problem
problems = [grid, perp.gallery.make("box_stack", n=3000, model="cone").problem, perp.LCP(small.A.to_dense(), small.b)]
for problem in problems:
    for method in suitable_methods(problem):
        digest.update(perp.solve(problem, method, max_iterations=20).x.tobytes())
print(digest.hexdigest())
"""


def test_one_thread_and_two_give_the_same_bits():
    digests = set()
    for threads in ("1", "2"):
        limits = {f"{name}_NUM_THREADS": threads for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        run = subprocess.run(
            [sys.executable, "-c", SOLVE_WITH_EVERYTHING],
            env=os.environ | limits,
            check=True,
            capture_output=True,
            text=True,
        )
        digests.add(run.stdout)
    assert len(digests) == 1
