"""How near a red-black sweep comes to what the memory can deliver.

A sweep must read and write x and read b; it also reads 1 / A_cc, and, where there are such, both bounds and a coupling
for each of three faces a cell. That is counted once a sweep, although red cells come before black ones. The triad
a = b + s c moves 24 bytes an entry by the same way of counting (what a cache reads before it writes is in neither). It
is measured between the sweeps, on arrays of 256 MB in all, larger than any cache, and on three of the cube's size.

`in one call` sweeps may share a pass over the memory, so that their rate can be higher than the memory's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
import numpy as np
from rich.table import Table

import perp
from benchmarks.tables import add_row, interleave, make_table, say
from perp.solvers.method import Method

AIM = 0.7
"""The share of the triad's bytes a second that one sweep should reach."""
TRIAD_BYTES = 256e6
TOGETHER = 16
CASES = {"lcp": 32, "box": 48, "lcp, faces": 56}
"""Bytes a cell: x twice, b, 1 / A_cc; two bounds; three faces."""
HEADINGS = (
    "problem",
    "cube",
    "sweeps a call",
    "ms a sweep",
    "M cells/s",
    "bytes/cell",
    "GB/s",
    "of triad",
    "of own size",
)


@numba.njit(fastmath={"contract"}, error_model="numpy")
def triad(repeats: int, a: Any, b: Any, c: Any) -> None:
    for _ in range(repeats):
        for i in range(np.uint64(a.size)):
            a[i] = b[i] + 0.5 * c[i]


def measure_sweeps(edge: int) -> Table:
    title = f"J. Red-black sweeps beside a triad, median of 9; aim: one sweep at {AIM} of the triad"
    table = make_table(title, HEADINGS)
    rates = []
    for size in (edge // 2, edge, 2 * edge):
        for case, weight in CASES.items():
            say(f"J. {case} {size}^3")
            rates.append(_measure_case(table, case, weight, size))
        table.add_section()
    slowest, fastest = 1e-9 * min(rates), 1e-9 * max(rates)
    table.caption = f"triad: {slowest:.1f} to {fastest:.1f} GB/s during these runs"
    return table


def _measure_case(table: Table, case: str, weight: int, edge: int) -> float:
    problem, n = make_case(case, edge), edge**3
    large, small = int(TRIAD_BYTES / 24), n
    vectors, own = np.ones((3, large)), np.ones((3, small))
    again = max(1, int(2e7 / n))
    method = perp.PGS(order="coloured")
    step = partial(_step, problem, method, method.start(problem, np.zeros(n)))
    seconds = interleave(
        {
            "1": lambda: [step(1) for _ in range(again)],
            str(TOGETHER): partial(step, TOGETHER * max(1, again // TOGETHER)),
            "triad": partial(triad, 1, *vectors),
            "own": partial(triad, again, *own),
        }
    )
    triad_rate, own_rate = 24.0 * large / seconds["triad"], 24.0 * small * again / seconds["own"]
    for name, sweeps in (("1", again), (str(TOGETHER), TOGETHER * max(1, again // TOGETHER))):
        one = seconds[name] / sweeps
        rate = weight * n / one
        share = f"{rate / triad_rate:.2f}{' UNDER' if name == '1' and rate < AIM * triad_rate else ''}"
        cells = (f"{edge}^3", name, 1e3 * one, n / one / 1e6, weight, rate / 1e9, share, rate / own_rate)
        add_row(table, (case, *cells))
    return triad_rate


def _step(problem: perp.LCP | perp.BoxLCP, method: Method, state: Any, count: int) -> None:
    method.step(problem, state, count)


def make_case(case: str, edge: int) -> perp.LCP | perp.BoxLCP:
    """The Laplacian of a cube with a random b."""
    shape = (edge,) * 3
    b = np.random.default_rng(0).standard_normal(edge**3)
    couplings: Any = -1.0
    if "faces" in case:
        couplings = tuple(-np.ones([size - (axis == k) for k, size in enumerate(shape)]) for axis in range(3))
    A = perp.StencilOperator(shape, 6.0, couplings)
    return perp.BoxLCP(A, b, np.zeros(edge**3), np.full(edge**3, 10.0)) if case == "box" else perp.LCP(A, b)
