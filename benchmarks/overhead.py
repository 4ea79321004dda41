"""What the library adds to the kernels: the loop, the checks, the memory, the imports."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from statistics import median
from time import perf_counter

import numpy as np
from rich.table import Table

import perp
from benchmarks.cpp_twin import CppTwin
from perp import gallery


def measure_loop(twin: CppTwin) -> Table:
    """Loop cost: wall time of a long solve less the method's own time, an iteration."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((16, 16)))[0]
    A = Q @ np.diag(np.logspace(-9, 0, 16)) @ Q.T
    problem = perp.BoxLCP(0.5 * (A + A.T), rng.standard_normal(16), -1e9, 1e9)
    table = Table(title="The loop at n = 16 (pgs, 20,000 iterations, median of 9)", title_justify="left")
    for heading in ("check every", "loop, us/iteration", "method, us/iteration"):
        table.add_column(heading, justify="right")
    for every in (1, 10, 100):
        loop, method = [], []
        for _ in range(10):
            begun = perf_counter()
            result = perp.solve(problem, "pgs", tol=0.0, max_iterations=20_000, check_every=every)
            wall = perf_counter() - begun
            loop.append((wall - result.seconds) / result.iterations * 1e6)
            method.append(result.seconds / result.iterations * 1e6)
        table.add_row(str(every), f"{median(loop[1:]):.2f}", f"{median(method[1:]):.2f}")
    return table


def measure_checks(twin: CppTwin) -> Table:
    """What the checks cost a whole solve with the default `check_every`."""
    table = Table(title="Whole solves (100 iterations of pgs, default checks, median of 5)", title_justify="left")
    for heading in ("problem", "rows", "sweeps only, s", "whole solve, s", "share of sweeps"):
        table.add_column(heading, justify="right")
    for kind in ("boxed_stack", "box_stack"):
        for rows in (1_000, 20_000, 100_000):
            problem = gallery.make(kind, n=rows, mass_ratio=1000.0).problem
            walls, sweeps = [], []
            for _ in range(6):
                begun = perf_counter()
                result = perp.solve(problem, "pgs", tol=0.0, max_iterations=100)
                walls.append(perf_counter() - begun)
                sweeps.append(result.seconds)
            sweep, wall = median(sweeps[1:]), median(walls[1:])
            table.add_row(kind, f"{problem.n:,}", f"{sweep:.4f}", f"{wall:.4f}", f"{sweep / wall:.0%}")
    return table


def measure_memory(twin: CppTwin) -> Table:
    """Peak memory of problem and solve against J, its scaled copy and the vectors that a solver cannot do without."""
    table = Table(title="Memory of a factored solve (20 iterations of pgs)", title_justify="left")
    for heading in ("problem", "rows", "J + scaled copy + vectors, MB", "peak, MB", "ratio"):
        table.add_column(heading, justify="right")
    for kind in ("boxed_stack", "box_stack"):
        template = gallery.make(kind, n=100_000).problem
        operator = template.A
        assert isinstance(operator, perp.FactoredOperator)
        assert operator.pairs is not None
        pairs, n = operator.pairs, template.n
        arguments = (
            pairs.bodies.reshape(-1, 2).astype(np.int64),
            pairs.jacobian.reshape(-1, 2, 6).copy(),
        )
        arguments[0][arguments[0] == pairs.body_count] = -1
        mass = operator.mass
        assert isinstance(mass, perp.BodyMasses)
        tracemalloc.start()
        fresh = perp.FactoredOperator.from_body_pairs(*arguments, mass)
        problem: perp.ContactProblem | perp.BoxLCP
        if isinstance(template, perp.ContactProblem):
            problem = perp.ContactProblem(fresh, template.b, template.friction)
        else:
            problem = perp.BoxLCP(fresh, template.b, *template.bounds(np.zeros(n)))
        build = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        perp.solve(problem, "pgs", tol=0.0, max_iterations=20)
        solve = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        vectors = 8 * n * 8 + 6 * 8 * pairs.body_count  # x, y, b, lower, upper, A_ii, compliance, best x; v
        needed = 2 * pairs.jacobian.nbytes + pairs.bodies.nbytes + vectors
        peak = max(build, solve)
        table.add_row(kind, f"{n:,}", f"{needed / 1e6:.1f}", f"{peak / 1e6:.1f}", f"{peak / needed:.2f}")
    return table


def measure_start(twin: CppTwin) -> Table:
    """Seconds of a fresh process."""
    table = Table(title="Start-up (median of 5 fresh processes)", title_justify="left")
    table.add_column("command")
    table.add_column("seconds", justify="right")
    first_solve = "import numpy as np, perp; perp.solve(perp.LCP(np.eye(3), -np.ones(3)), 'pgs')"
    for label, command in (
        ("python -c 'pass'", ["-c", "pass"]),
        ("import perp", ["-c", "import perp"]),
        ("perp methods", ["-m", "perp", "methods"]),
        ("import perp and a first solve, kernels cached", ["-c", first_solve]),
    ):
        seconds = []
        for _ in range(6):
            begun = perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            seconds.append(perf_counter() - begun)
        table.add_row(label, f"{median(seconds[1:]):.3f}")
    return table
