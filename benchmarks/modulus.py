"""AMGS beside projected Gauss-Seidel, and its Method 2.2 (explicit A) beside 3.1 (factored) as in AMGS Table 1."""

from __future__ import annotations

from functools import partial

import numpy as np
from rich.table import Table
from scipy import sparse

import perp
from benchmarks.tables import add_row, interleave, make_table, tell
from perp import gallery
from perp.problems.problem import Problem
from perp.solvers.method import Method, State
from perp.solvers.splitting.modulus import AMGS

ROWS = (1_000, 20_000, 100_000)
ROWS_A_RUN = 3_000_000
ENOUGH = 1e-4
"""RES of AMGS eq. 24, the 2-norm of the natural map, at which Table 1 stops."""

TIME_STEP, GRAVITY = 1.0 / 60.0, 9.80665
RADIUS, ABREAST = 0.21, 14  # [m], and how many discs fit between walls 6 m apart
WALLS = ((1, 0.0, 1.0), (0, 0.0, 1.0), (0, 2.0 * RADIUS * ABREAST, -1.0))
"""Axis, place and normal of the ground and of the walls, which touch the discs next to them."""

TOUCHING = 0.85
"""Share of the neighbours in the lattice that touch, so that 221 discs have about the 516 contacts of the paper."""

PAPER = {
    "pool 1": {"pgs": (1452, 0.042), "2.2 dense": (766, 1.251), "3.1 identity": (1522, 0.055), "3.1": (766, 0.023)},
    "pool 2": {"pgs": (1359, 0.042), "2.2 dense": (744, 1.428), "3.1 identity": (1393, 0.048), "3.1": (744, 0.028)},
    "150 stacked": {
        "pgs": (16186, 0.162),
        "2.2 dense": (7754, 0.293),
        "3.1 identity": (16431, 0.183),
        "3.1": (7754, 0.066),
    },
}
"""Table 1 of AMGS: iterations and seconds."""


def measure_sweeps() -> Table:
    """Rows a second in the factored form, through the methods themselves."""
    headings = (
        "problem",
        "rows",
        "pgs, M rows/s",
        "amgs, M rows/s",
        "amgs, alpha 0.2",
        "amgs / pgs",
        "alpha 0.2 / pgs",
    )
    table = make_table("AMGS (Method 3.1) beside projected Gauss-Seidel, two bodies a row", headings)
    methods: dict[str, Method] = {"pgs": perp.PGS(), "amgs": AMGS(), "alpha 0.2": AMGS(alpha=0.2)}
    for kind in ("box_stack", "boxed_stack"):
        for rows in ROWS:
            problem = gallery.make(kind, n=rows, mass_ratio=1000.0).problem
            count = max(1, ROWS_A_RUN // problem.n)
            seconds = interleave({name: _sweeps(problem, method, count) for name, method in methods.items()})
            pace = {name: problem.n * count / value / 1e6 for name, value in seconds.items()}
            ratios = (pace["amgs"] / pace["pgs"], pace["alpha 0.2"] / pace["pgs"])
            add_row(table, (kind, problem.n, *pace.values(), *ratios))
    return table


def measure_methods() -> Table:
    """AMGS Table 1 from a cold start (the paper starts warm): sweeps and time to RES = 1e-4 in each form of A."""
    headings = (
        "discs",
        "rows",
        "method",
        "sweeps to 1e-4",
        "us/sweep",
        "ms to 1e-4",
        "sweep / 3.1",
        "paper: sweeps, ms",
    )
    table = make_table("AMGS Table 1: Method 2.2 (explicit A) beside Method 3.1 (factored), no friction", headings, 3)
    for name, factored in _pools().items():
        A = factored.A
        assert isinstance(A, perp.FactoredOperator)
        dense, compressed = perp.LCP(A.to_dense(), factored.b), perp.LCP(A.to_sparse(), factored.b)
        contestants: dict[str, tuple[Problem, Method]] = {
            "3.1": (factored, AMGS()),
            "2.2 dense": (dense, AMGS()),
            "2.2 sparse": (compressed, AMGS()),
            "pgs": (factored, perp.PGS()),
            "3.1 identity": (factored, AMGS(omega="identity")),
            "3.1 alpha 0.2": (factored, AMGS(alpha=0.2)),
            "3.1 adaptive": (factored, AMGS(adaptive=True)),
        }
        needed = {key: _sweeps_needed(*pair) for key, pair in contestants.items()}
        timed = needed | {"2.2 dense": 100}  # all of them would take minutes, and a sweep is like any other
        seconds = interleave({key: partial(_run, *pair, timed[key]) for key, pair in contestants.items()}, repeats=5)
        each = {key: seconds[key] / timed[key] for key in contestants}
        for key, sweeps in needed.items():
            printed = PAPER[name].get(key)
            told = None if printed is None else f"{tell(printed[0])}, {tell(1e3 * printed[1])}"
            figures = (sweeps, 1e6 * each[key], 1e3 * each[key] * sweeps, each[key] / each["3.1"])
            add_row(table, (name, factored.n, key, *figures, told))
    return table


def _run(problem: Problem, method: Method, count: int) -> None:
    method.step(problem, method.start(problem, np.zeros(problem.n)), count)


def _sweeps(problem: Problem, method: Method, count: int) -> partial[None]:
    state = method.start(problem, np.zeros(problem.n))
    return partial(method.step, problem, state, count)


def _sweeps_needed(problem: Problem, method: Method, limit: int = 100_000) -> int:
    """The number of iterations after which RES (AMGS eq. 24) is below 1e-4."""
    state: State = method.start(problem, np.zeros(problem.n))
    for sweep in range(1, limit + 1):
        method.step(problem, state, 1)
        if np.linalg.norm(np.minimum(state.x, problem.slack(state.x))) < ENOUGH:
            return sweep
    return limit


def _pools() -> dict[str, perp.LCP]:
    """The three scenes of AMGS section 5 as far as they are described: discs of one radius under gravity."""
    centres = _hexagonal_pool(221)
    height = centres[:, 1] / centres[:, 1].max()
    tower = np.stack([np.zeros(150), RADIUS * (1.0 + 2.0 * np.arange(150))], axis=1)
    return {
        "pool 1": _discs(centres, np.full(len(centres), 2.0), TOUCHING, WALLS),
        "pool 2": _discs(centres, 1.0 + 2.0 * height, TOUCHING, WALLS),
        "150 stacked": _discs(tower, np.ones(150), 1.0, WALLS[:1]),
    }


def _hexagonal_pool(count: int) -> np.ndarray:
    """Centres of discs in rows of 14 and 13."""
    centres: list[tuple[float, float]] = []
    level = 0
    while len(centres) < count:
        shift, fitting = (0.0, ABREAST) if level % 2 == 0 else (RADIUS, ABREAST - 1)
        y = RADIUS * (1.0 + np.sqrt(3.0) * level)
        centres += [(RADIUS * (1 + 2 * k) + shift, y) for k in range(fitting)]
        level += 1
    return np.array(centres[:count])


def _discs(
    centres: np.ndarray, mass: np.ndarray, touching: float, walls: tuple[tuple[int, float, float], ...]
) -> perp.LCP:
    """Normal impulses of discs that fall for one time step: three velocities a disc (x, y, spin), no friction."""
    count = len(centres)
    distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    first, second = np.nonzero(np.triu(distance < 2.0 * RADIUS * 1.001, k=1))
    keep = np.random.default_rng(0).random(first.size) < touching
    first, second = first[keep], second[keep]
    normal = (centres[first] - centres[second]) / distance[first, second][:, None]
    bodies, normals = [first, second], [normal, -normal]  # a row pushes its first disc along the normal
    rows = [np.arange(first.size)] * 2
    total = first.size
    for axis, place, sign in walls:
        near = np.flatnonzero(np.abs(centres[:, axis] - place) < 1.001 * RADIUS)
        direction = np.zeros((near.size, 2))
        direction[:, axis] = sign
        bodies.append(near)
        normals.append(direction)
        rows.append(total + np.arange(near.size))
        total += near.size
    row, body, along = np.concatenate(rows), np.concatenate(bodies), np.concatenate(normals)
    entries = (along.reshape(-1), (np.repeat(row, 2), (3 * body[:, None] + np.arange(2)).reshape(-1)))
    J = sparse.csr_array(entries, shape=(total, 3 * count))
    masses = np.stack([mass, mass, 0.5 * mass * RADIUS**2], axis=1).reshape(-1)
    fall = np.zeros((count, 3))
    fall[:, 1] = -TIME_STEP * GRAVITY
    return perp.LCP(perp.FactoredOperator(J, masses), J @ fall.reshape(-1))
