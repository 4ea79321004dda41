"""Readers for the real problems that lie beside a checkout (`shared/data`), and what is known of their answers.

`perp.load` reads Siconos' text files and FCLIB; the others are small collections with formats of their own, which have
no place in the library.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

import perp
from perp.problems.problem import Problem


@dataclass(frozen=True, eq=False)
class RealProblem:
    """A problem, read when asked for, and its published answer where there is one."""

    name: str
    read: Callable[[], Problem]
    is_solvable: bool = True
    x: Any = None
    """A published solution."""
    is_unique: bool = True
    objective: Callable[[Any], float] | None = None
    """The value that the x of an answer has in the program that the problem states the optimality of."""
    published: float | None = None
    """The published value of it."""
    digits: float = 1e-6
    """To how many of its digits, as a relative error, the published value is right."""
    notes: dict[str, Any] = field(default_factory=dict)


def real_problems(data: Path) -> dict[str, RealProblem]:
    """Every problem of the collection by its name, in order."""
    found = [
        *_files(data),
        *_textbook(data / "textbook_lcp" / "problems.json"),
        *_box_programs(data / "cutest_sif" / "decoded"),
        *_quadratic_programs(data / "maros_meszaros"),
        *_mujoco(data / "mujoco_dm_control"),
        RealProblem("contactbench/sliding_cube", lambda: read_sliding_cube(data / "contactbench" / "sliding_cube.npz")),
        *_options(data / "american_option" / "options.json"),
    ]
    return {problem.name: problem for problem in found}


def _files(data: Path) -> list[RealProblem]:
    paths = sorted([*data.glob("siconos/*/*.dat"), *data.glob("siconos/*/*.hdf5"), *data.glob("fclib/*.hdf5")])
    return [
        RealProblem(path.relative_to(data).as_posix(), lambda path=path: perp.load(path))  # type: ignore[misc]
        for path in paths
    ]


def _textbook(path: Path) -> list[RealProblem]:
    """LCPs, and a boxed one, with matrices by rows."""

    def read(entry: dict[str, Any]) -> Problem:
        M, q = np.array(entry["M"], dtype=float), np.array(entry["q"], dtype=float)
        return perp.BoxLCP(M, q, entry["l"], entry["u"]) if "l" in entry else perp.LCP(M, q)

    return [
        RealProblem(
            f"textbook_lcp/{entry['name']}",
            lambda entry=entry: read(entry),  # type: ignore[misc]
            is_solvable=entry.get("solvable", True),
            x=entry.get("x"),
            is_unique="not unique" not in entry.get("notes", ""),
        )
        for entry in json.loads(path.read_text())
    ]


def _box_programs(folder: Path) -> list[RealProblem]:
    """CUTEst: min 1/2 x'Hx + q'x + constant with l <= x <= u; fixed nodes have l = u."""
    found = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            part = {name: arrays[name] for name in arrays}
        H = sparse.csr_array((part["data"], part["indices"], part["indptr"]), shape=tuple(part["shape"]))
        published = float(part["obj_ref"])
        known = {"HARKERP2_N100": -0.5, "CVXBQP1_N100": 227.25}  # what the README says in place of what is not there

        def value(x: Any, H: Any = H, q: Any = part["q"], constant: float = float(part["obj_const"])) -> float:
            return float(0.5 * x @ (H @ x) + q @ x + constant)

        found.append(
            RealProblem(
                f"cutest/{path.stem}",
                lambda H=H, part=part: perp.BoxLCP(H, part["q"], part["l"], part["u"]),  # type: ignore[misc]
                objective=value,
                published=known.get(path.stem, None if np.isnan(published) else published),
                digits=2e-4 if path.stem.startswith(("JNL", "TORSIONA")) else 1e-7,
            )
        )
    return found


def _quadratic_programs(folder: Path) -> list[RealProblem]:
    values = json.loads((folder / "optimal_values.json").read_text())
    return [
        RealProblem(
            f"maros_meszaros/{path.stem}",
            lambda path=path: read_quadratic_program(path)[0],  # type: ignore[misc]
            objective=lambda x, path=path: read_quadratic_program(path)[1](x),  # type: ignore[misc]
            published=values[path.stem],
            digits=1e-6,
        )
        for path in sorted(folder.glob("*.mat"))
    ]


INFINITE = 1e20


def read_quadratic_program(path: Path) -> tuple[Problem, Callable[[Any], float]]:
    """min 1/2 x'Px + q'x + r with l <= Ax <= u, as the boxed problem of its optimality, and the program's objective.

    A row of A with one entry bounds an unknown. Every other row has a multiplier y: a free one for an equation, one of
    one sign for one bound; a row with two bounds has a slack s within them and a free multiplier.

        w_x = P x + q - A'y,      w_y = A x - bound (or A x - s),      w_s = y.
    """
    data = io.loadmat(path)
    P, A = sparse.csr_array(data["P"], dtype=float), sparse.csr_array(data["A"], dtype=float)
    q, least, most = (np.asarray(data[name], dtype=float).ravel() for name in ("q", "l", "u"))
    least, most = np.where(least <= -INFINITE, -np.inf, least), np.where(most >= INFINITE, np.inf, most)
    n = q.size
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    A.eliminate_zeros()
    entries = np.diff(A.indptr)
    for row in np.flatnonzero(entries == 1):
        column, factor = A.indices[A.indptr[row]], A.data[A.indptr[row]]
        ends = sorted((least[row] / factor, most[row] / factor))
        lower[column], upper[column] = max(lower[column], ends[0]), min(upper[column], ends[1])
    rows = np.flatnonzero((entries > 1) & ~(np.isinf(least) & np.isinf(most)))
    is_range = np.isfinite(least[rows]) & np.isfinite(most[rows]) & (least[rows] < most[rows])
    ranges = np.flatnonzero(is_range)
    picked = A[rows]
    S = sparse.csr_array((np.ones(ranges.size), (ranges, np.arange(ranges.size))), shape=(rows.size, ranges.size))
    matrix = sparse.block_array([[P, -picked.T, None], [picked, None, -S], [None, S.T, None]], format="csr")
    bound = np.where(is_range, 0.0, np.where(np.isfinite(least[rows]), least[rows], most[rows]))
    is_equation = is_range | (least[rows] == most[rows])
    b = np.concatenate([q, -bound, np.zeros(ranges.size)])
    # A x >= l has a multiplier >= 0, A x <= u one <= 0
    from_below = np.where(~is_equation & np.isfinite(least[rows]), 0.0, -np.inf)
    from_above = np.where(~is_equation & np.isfinite(most[rows]), 0.0, np.inf)
    problem = perp.BoxLCP(
        matrix,
        b,
        np.concatenate([lower, from_below, least[rows][ranges]]),
        np.concatenate([upper, from_above, most[rows][ranges]]),
    )
    constant = float(np.asarray(data["r"]).ravel()[0])
    return problem, lambda x: float(0.5 * x[:n] @ (P @ x[:n]) + q @ x[:n] + constant)


def _mujoco(folder: Path) -> list[RealProblem]:
    """M v = H r + f, u = H^T v + w: joint-space inertia, contact rows (normal, tangent, tangent)."""

    def read(path: Path) -> Problem:
        with np.load(path) as arrays:
            A = perp.FactoredOperator(sparse.csr_array(arrays["H"].T), perp.SparseMass(arrays["M"]))
            return perp.ContactProblem(A, A.J @ A.mass.solve(arrays["f"]) + arrays["w"], arrays["mu"], model="cone")

    return [
        RealProblem(f"mujoco/{path.stem}", lambda path=path: read(path))  # type: ignore[misc]
        for path in sorted(folder.glob("*.npz"))
    ]


def read_sliding_cube(path: Path) -> Problem:
    """ContactBench has the normal last: (tangent, tangent, normal)."""
    with np.load(path) as arrays:
        G, g, friction = arrays["G"], arrays["g"].ravel(), arrays["mus"].ravel()
    order = (3 * np.arange(friction.size)[:, None] + np.array([2, 0, 1])).ravel()
    return perp.ContactProblem(G[np.ix_(order, order)], g[order], friction, model="cone")


def _options(path: Path) -> list[RealProblem]:
    """The first step back in time from maturity of each option."""
    return [
        RealProblem(f"american_option/{entry['name']}", OptionGrid(entry).first_step, notes=entry)
        for entry in json.loads(path.read_text())
    ]


class OptionGrid:
    """An American put or call on a grid in the logarithm of the price; each step back in time is an LCP.

    With the payoff g and L the operator of Black and Scholes (central differences), x = V - g >= 0 and

        y = (I - theta dt L)(g + x) - (I + (1 - theta) dt L) V_old >= 0:     A is a tridiagonal M-matrix, not symmetric.
    """

    def __init__(self, entry: dict[str, Any], nodes: int = 201, steps: int = 100, theta: float = 0.5) -> None:
        self.entry, self.steps = entry, steps
        strike, spot, rate, dividend, maturity, vol = (
            float(entry[name]) for name in ("strike", "spot", "rate", "dividend", "maturity", "vol")
        )
        width = 6.0 * vol * np.sqrt(maturity)
        logarithm = np.log(spot) + np.linspace(-width, width, nodes)  # the spot is the node in the middle
        step, dt = logarithm[1] - logarithm[0], maturity / steps
        gain = np.exp(logarithm) - strike if entry["call"] else strike - np.exp(logarithm)
        self.payoff = np.maximum(gain, 0.0)
        spread, drift = 0.5 * vol**2 / step**2, (rate - dividend - 0.5 * vol**2) / (2.0 * step)
        L = sparse.diags_array(
            [
                np.full(nodes - 1, spread - drift),
                np.full(nodes, -2 * spread - rate),
                np.full(nodes - 1, spread + drift),
            ],
            offsets=[-1, 0, 1],
            format="csr",
        )
        inner = slice(1, nodes - 1)  # at both ends the option is exercised
        unit = sparse.eye_array(nodes, format="csr")
        ahead, back = sparse.csr_array(unit - theta * dt * L), sparse.csr_array(unit + (1.0 - theta) * dt * L)
        self.A = sparse.csr_array(ahead[inner][:, inner])
        self._ahead, self._back, self._inner = ahead[inner], back[inner], inner

    def step(self, value: Any) -> Problem:
        """The LCP of one step back from the values `value`."""
        return perp.LCP(self.A, self._ahead @ self.payoff - self._back @ value)

    def first_step(self) -> Problem:
        return self.step(self.payoff)

    def price(self, solve: Callable[[Problem], Any]) -> float:
        value = self.payoff.copy()
        for _ in range(self.steps):
            value[self._inner] = self.payoff[self._inner] + solve(self.step(value))
        return float(value[value.size // 2])
