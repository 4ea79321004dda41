"""Rows a second of projected Gauss-Seidel: ours beside C++, on rows, on contacts and on compressed rows."""

from __future__ import annotations

from functools import partial

import numpy as np
from rich.table import Table
from scipy import sparse

import perp
from benchmarks.cpp_twin import CppTwin
from benchmarks.tables import interleave
from perp import gallery
from perp.solvers.splitting.sweeps import Order, Sweeper, make_order, make_sweeper

ROWS = (1_000, 20_000, 100_000)
ROWS_A_RUN = 3_000_000


def _bound(problem: perp.LCP | perp.BoxLCP | perp.ContactProblem) -> tuple[Sweeper, Order, np.ndarray]:
    x = np.zeros(problem.n)
    return make_sweeper(problem, 1.0, x), make_order(problem, "forward"), x


def measure_rows(twin: CppTwin) -> Table:
    table = _table("PGS, factored rows (two bodies a row, v = M^-1 J^T x kept)", "C++ twin")
    for rows in ROWS:
        problem = gallery.make("boxed_stack", n=rows, mass_ratio=1000.0).problem
        assert isinstance(problem, perp.BoxLCP)
        sweeper, order, ours = _bound(problem)
        bodies, jacobian, _, scaled, compliance = sweeper.storage
        step, b, lower, upper, _, velocity = sweeper.vectors
        x, v, count = np.zeros(problem.n), np.zeros_like(velocity), max(1, ROWS_A_RUN // problem.n)
        arrays = (bodies, jacobian, scaled, compliance, step, b, lower, upper, x, v)
        seconds = interleave(
            {
                "ours": partial(order.iterate, sweeper.sweep, count),
                "C++ twin": partial(twin.call, "sweep_rows", count, problem.n, *arrays),
            }
        )
        _add(table, problem.n, count, seconds, ours, x)
    return table


def measure_contacts(twin: CppTwin) -> Table:
    table = _table("PGS, three rows a contact, M^-1 on the fly", "C++ twin", "C++ tuned as ours")
    for rows in ROWS:
        problem = gallery.make("box_stack", n=rows, mass_ratio=1000.0).problem
        assert isinstance(problem, perp.ContactProblem)
        sweeper, order, ours = _bound(problem)
        assert sweeper.contact is not None
        coupling = sweeper.contact[-1]
        bodies, jacobian, mass, _, compliance = sweeper.storage
        step, b, _, _, _, velocity = sweeper.vectors
        count = max(1, ROWS_A_RUN // problem.n)
        x, v = np.zeros(problem.n), np.zeros_like(velocity)
        x_tuned, v_tuned = np.zeros(problem.n), np.zeros_like(velocity)
        plain = (bodies, jacobian, mass, problem.friction, compliance, step, b, x, v)
        tuned = (bodies, jacobian, mass, coupling, problem.friction, compliance, step, b, x_tuned, v_tuned)
        seconds = interleave(
            {
                "ours": partial(order.iterate, sweeper.sweep, count),
                "C++ twin": partial(twin.call, "sweep_contacts", count, problem.contacts, *plain),
                "C++ tuned as ours": partial(twin.call, "sweep_contacts_tuned", count, problem.contacts, *tuned),
            }
        )
        _add(table, problem.n, count, seconds, ours, x)
    return table


def measure_compressed_rows(twin: CppTwin) -> Table:
    table = _table("PGS, compressed rows, the assembled matrix of a stack (70 to 80 nonzeros a row)", "C++ twin")
    for rows in ROWS:
        stack = gallery.make("boxed_stack", n=rows, mass_ratio=1000.0).problem
        _compare_compressed_rows(table, twin, stack.A.to_sparse(), stack.b)
    return table


def measure_scattered_rows(twin: CppTwin) -> Table:
    table = _table("PGS, compressed rows, scattered columns (43 nonzeros a row)", "C++ twin")
    for rows in ROWS:
        _compare_compressed_rows(table, twin, _band(rows), np.random.default_rng(0).standard_normal(rows))
    return table


def _compare_compressed_rows(table: Table, twin: CppTwin, matrix: sparse.csr_array, b: np.ndarray) -> None:
    problem = perp.LCP(matrix, b)
    assert isinstance(problem.A, perp.SparseOperator)
    sweeper, order, ours = _bound(problem)
    x, count = np.zeros(problem.n), max(1, ROWS_A_RUN // 4 // problem.n)
    arrays = (*sweeper.storage, *sweeper.vectors[:4], x)
    seconds = interleave(
        {
            "ours": partial(order.iterate, sweeper.sweep, count),
            "C++ twin": partial(twin.call, "sweep_csr", count, problem.n, *arrays),
        }
    )
    _add(table, problem.n, count, seconds, ours, x)


def _band(n: int) -> sparse.csr_array:
    """A diagonally dominant matrix with 43 nonzeros scattered over a band in each row."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 22)
    columns = (rows + rng.integers(1, min(n, 200), rows.size)) % n
    values = rng.standard_normal(rows.size)
    half = sparse.csr_array((values, (rows, columns)), shape=(n, n))
    matrix = half + half.T
    return sparse.csr_array(matrix + sparse.diags_array(np.asarray(abs(matrix).sum(axis=1)).reshape(-1) + 1.0))


def _table(title: str, *peers: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("rows", "ours, M rows/s", *(f"{peer}, M rows/s" for peer in peers)):
        table.add_column(heading, justify="right")
    for peer in peers:
        table.add_column(f"ours / {peer}", justify="right")
    table.add_column("same iterates to", justify="right")
    return table


def _add(table: Table, rows: int, count: int, seconds: dict[str, float], ours: np.ndarray, theirs: np.ndarray) -> None:
    rates = {name: rows * count / value / 1e6 for name, value in seconds.items()}
    peers = [name for name in rates if name != "ours"]
    difference = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-300)
    table.add_row(
        f"{rows:,}",
        *(f"{rate:.1f}" for rate in rates.values()),
        *(f"{rates['ours'] / rates[peer]:.2f}" for peer in peers),
        f"{difference:.0e}",
    )
