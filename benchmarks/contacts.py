"""Frictional contact: block Gauss-Seidel beside C++, and what an iteration of each method costs."""

from __future__ import annotations

from functools import partial

import numpy as np
from rich.table import Table

import perp
from benchmarks.cpp_twin import CppTwin
from benchmarks.timing import interleave
from perp import gallery
from perp.solvers.splitting.block_sweeps import make_block_sweeper
from perp.solvers.splitting.orders import make_order

CONTACTS = (333, 6_667, 33_333)
CONTACTS_A_RUN = 1_000_000


def measure_blocks(twin: CppTwin) -> Table:
    """Stacks at rest, where nearly all contacts stick, and stacks on a slope, where many slide."""
    table = Table(title="Block Gauss-Seidel on the exact cone, factored form", title_justify="left")
    for heading in ("contacts", "sliding", "ours, M contacts/s", "C++ twin, M contacts/s", "ours / C++", "same to"):
        table.add_column(heading, justify="right")
    for contacts in CONTACTS:
        for friction in (0.5, 0.02):
            problem = gallery.make("box_stack", n=3 * contacts, model="cone", friction=friction).problem
            assert isinstance(problem, perp.ContactProblem)
            count = max(1, CONTACTS_A_RUN // problem.contacts)
            sweeper, order = make_block_sweeper(problem, 1.0, np.zeros(problem.n)), make_order(problem, "forward")
            _, _, _, local, bodies, jacobian, mass, _, compliance, _, b, _, _, _, velocity = sweeper.arrays
            x, v = np.zeros(problem.n), np.zeros_like(velocity)
            arrays = (bodies, jacobian, mass, local, problem.friction, compliance, b, x, v)
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
                f"{sliding:.0%}",
                f"{rates['ours']:.1f}",
                f"{rates['C++']:.1f}",
                f"{rates['ours'] / rates['C++']:.2f}",
                f"{difference:.0e}",
            )
    return table
