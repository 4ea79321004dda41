"""Frictional contact: block Gauss-Seidel beside C++, and what an iteration of each method costs."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np
from rich.table import Table

import perp
from benchmarks.cpp_twin import FLAGS, CppTwin
from benchmarks.tables import interleave
from perp import gallery
from perp.problems.problem import Problem
from perp.solvers.method import Method
from perp.solvers.roster import BY_NAME
from perp.solvers.splitting.block_gauss_seidel import make_block_sweeper
from perp.solvers.splitting.sweeps import make_order

CONTACTS = (333, 6_667, 33_333)
CONTACTS_A_RUN = 1_000_000

COSTS = ("block_gauss_seidel", "nncg", "pgs_sm", "amgs", "staggering", "admm", "cone_newton", "cone_interior", "apgd")
"""Methods whose iterations are weighed in sweeps of `pgs`."""

SECONDS_A_METHOD = 0.5

CONTEST = {
    "cone": ("pgs", "block_gauss_seidel", "nncg", "apgd", "admm", "staggering", "cone_newton", "cone_interior"),
    "box": ("pgs", "block_gauss_seidel", "nncg", "amgs", "pgs_sm", "staggering", "dantzig", "block_principal"),
}
LIMIT = 20.0
"""Seconds that a method has in the contest."""


def measure_contact_methods(options: Namespace) -> Iterator[Table | str]:
    """`python -m benchmarks contacts`."""
    yield f"C++ twin: g++ {' '.join(FLAGS)}"
    yield measure_blocks(CppTwin())
    yield measure_costs((1_000,) if options.quick else (1_000, 20_000))
    for model in ("cone", "box"):
        yield compare_methods(model, (300,) if options.quick else (300, 1_000, 3_000))


def measure_blocks(twin: CppTwin) -> Table:
    """Stacks whose contacts separate, stick and slide at random, and stacks under gravity."""
    table = Table(title="Block Gauss-Seidel on the exact cone, factored form", title_justify="left")
    for heading in (
        "contacts",
        "load",
        "sliding",
        "ours, M contacts/s",
        "C++ twin, M contacts/s",
        "ours / C++",
        "same to",
    ):
        table.add_column(heading, justify="right")
    for contacts in CONTACTS:
        for load in ("planted", "gravity"):
            problem = gallery.make("box_stack", n=3 * contacts, model="cone", load=load).problem
            assert isinstance(problem, perp.ContactProblem)
            count = max(1, CONTACTS_A_RUN // problem.contacts)
            sweeper, order = make_block_sweeper(problem, 1.0, np.zeros(problem.n)), make_order(problem, "forward")
            A, local, velocity = problem.A, sweeper.contact[3], sweeper.vectors[-1]
            assert isinstance(A, perp.FactoredOperator)
            assert A.pairs is not None
            x, v = np.zeros(problem.n), np.zeros_like(velocity)
            bodies = (A.pairs.bodies, A.pairs.jacobian, A.pairs.inverse_mass)
            arrays = (*bodies, local, problem.friction, A.compliance, problem.b, x, v)
            seconds = interleave(
                {
                    "ours": partial(order.iterate, sweeper.sweep, count),
                    "C++": partial(twin.call, "sweep_cones", count, problem.contacts, *arrays),
                }
            )
            rates = {name: problem.contacts * count / value / 1e6 for name, value in seconds.items()}
            tangents = np.hypot(x[1::3], x[2::3])
            sliding = np.mean((tangents > 0.0) & (tangents >= 0.999999 * problem.friction * x[::3]))
            difference = np.abs(sweeper.x - x).max() / np.abs(x).max()
            table.add_row(
                f"{problem.contacts:,}",
                load,
                f"{sliding:.0%}",
                f"{rates['ours']:.1f}",
                f"{rates['C++']:.1f}",
                f"{rates['ours'] / rates['C++']:.2f}",
                f"{difference:.0e}",
            )
    return table


def measure_costs(sizes: tuple[int, ...]) -> Table:
    """What an iteration costs in sweeps of `pgs` on the same problem, and what comes before the first one."""
    table = Table(title="One iteration in units of a PGS sweep, factored stacks (preparation in the same units)")
    table.title_justify = "left"
    table.add_column("method")
    for rows in sizes:
        for model in ("box", "cone"):
            table.add_column(f"{model}, {rows:,} rows", justify="right")
    problems = [gallery.make("box_stack", n=rows, model=model).problem for rows in sizes for model in ("box", "cone")]
    for name in COSTS:
        method = BY_NAME[name]()
        table.add_row(name, *(_weigh(problem, method) for problem in problems))
    return table


def _weigh(problem: Problem, method: Method) -> str:
    """Interleaved with PGS, three times."""
    if problem.kind not in method.accepts:
        return "-"
    ours, sweeps, before = [], [], []
    for _ in range(3):
        result = perp.solve(problem, method, tol=0.0, max_seconds=SECONDS_A_METHOD)
        plain = perp.solve(problem, perp.PGS(), tol=0.0, max_seconds=0.2)
        ours.append(result.seconds / max(result.iterations, 1))
        sweeps.append(plain.seconds / plain.iterations)
        before.append(result.setup_seconds)
    sweep = median(sweeps)
    return f"{median(ours) / sweep:,.1f} ({median(before) / sweep:,.0f})"


def compare_methods(model: str, sizes: tuple[int, ...]) -> Table:
    """Seconds to a residual of 1e-8, cold, each method once; else the residual at the limit."""
    table = Table(title=f"Stacks under gravity, model {model}: seconds to 1e-8, or the residual after {LIMIT:g} s")
    table.title_justify = "left"
    table.add_column("method")
    cases = [(rows, ratio) for rows in sizes for ratio in (1.0, 100.0)]
    for rows, ratio in cases:
        table.add_column(f"{rows:,} rows, 1:{ratio:g}", justify="right")
    problems = [gallery.make("box_stack", n=n, model=model, mass_ratio=r, load="gravity").problem for n, r in cases]
    for name in CONTEST[model]:
        cells = []
        for problem in problems:
            perp.solve(problem, name, max_iterations=1)
            result = perp.solve(problem, name, max_seconds=LIMIT)
            spent = result.seconds + result.setup_seconds
            cells.append(f"{spent:.2g} s" if result.success else f"({result.residual:.0e} {result.status.name})")
        table.add_row(name, *cells)
    return table
