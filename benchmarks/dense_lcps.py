"""Dense random LCPs: our pivoting methods beside Lemke's method and QP solvers of other people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

import perp
from benchmarks.contest import LOOSE, Entrant, compare, fastest
from benchmarks.effort import Effort, Row
from benchmarks.peers import DENSE_PEERS, Peer, Question
from benchmarks.tables import add_row, make_table, tell_ms

OURS: dict[str, tuple[dict[str, Any], bool]] = {
    "lemke": ({}, False),
    "dantzig": ({}, True),
    "block_principal": ({}, False),
    "principal": ({"rule": "keller"}, True),
}
"""Our methods, their options, and whether they need a symmetric A."""


def random_lcp(n: int, seed: int, *, symmetric: bool) -> perp.LCP:
    """A = G G^T + I, or the same with a skew part; b and G standard normal."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n))
    A = G @ G.T + np.eye(n)
    A = 0.5 * (A + A.T)
    if not symmetric:
        S = rng.standard_normal((n, n))
        A = A + (S - S.T)
    return perp.LCP(A, rng.standard_normal(n))


def measure_dense(effort: Effort, peers: list[Peer], rows: list[Row]) -> Iterator[Table]:
    for symmetric in (True, False):
        entrants = list(_enter(symmetric, peers, effort.limit))
        _rehearse(entrants, symmetric)
        for n in effort.dense_sizes:
            _run(entrants, n, symmetric, effort)
            kind = "G G^T + I" if symmetric else "G G^T + I + skew"
            rows.extend({"part": "A", "matrix": kind, "n": n} | row for row in _summarise(entrants))
            yield _show(f"A. Dense random LCP, A = {kind}, n = {n}; natural residual at most 1e-6", entrants)


def _enter(symmetric: bool, peers: list[Peer], limit: float) -> Iterator[Entrant]:
    for method, (options, needs_symmetry) in OURS.items():
        if symmetric or not needs_symmetry:
            prepare = partial(_prepare, method=method, options=options)
            yield Entrant(" ".join([method, *options.values()]), [prepare], LOOSE, limit, is_ours=True)
    for peer in peers:
        if peer in DENSE_PEERS and (symmetric or not peer.needs_symmetry):
            yield Entrant.of_peer(peer, LOOSE, limit)


def _prepare(question: Question, method: str, options: dict[str, Any]) -> Callable[[], perp.Result]:
    problem = perp.LCP(question.problem.A.to_dense(), question.problem.b)  # a new one: nothing is known of it yet
    return lambda: perp.solve(problem, method, tol=LOOSE.bound, **options)


def _rehearse(entrants: list[Entrant], symmetric: bool) -> None:
    """Imports, compilers and caches: once, on a problem that does not count."""
    for entrant in entrants:
        entrant.attempt(Question(random_lcp(20, 99, symmetric=symmetric)))
        entrant.forget()


def _run(entrants: list[Entrant], n: int, symmetric: bool, effort: Effort) -> None:
    running = [entrant for entrant in entrants if not entrant.is_too_slow_for(n)]
    for entrant in entrants:
        entrant.begin()
    for instance in range(effort.instances):
        question = Question(random_lcp(n, instance, symmetric=symmetric), seconds=effort.limit)
        for _ in range(effort.repeats):
            for entrant in running:
                if not entrant.has_spent_its_time():
                    entrant.attempt(question)


def _summarise(entrants: list[Entrant]) -> Iterator[Row]:
    for one in entrants:
        yield {
            "solver": one.name,
            "ours": one.is_ours,
            "seconds": one.seconds if one.attempts else None,
            "runs": len(one.attempts),
            "reached": one.reached,
            "natural": max((a.judgement.natural for a in one.attempts), default=None),
            "impulse": max((a.judgement.impulse for a in one.attempts), default=None),
        }


def _remark(one: Entrant, best: Entrant | None) -> str:
    if not one.reached:
        return "late" if one.is_late else "misses, or late at times"
    return "ours" if one.is_ours else "fastest peer" if one is best else ""


def _show(title: str, entrants: list[Entrant]) -> Table:
    best = fastest(entrants, LOOSE)
    name = best.name.partition(" (")[0] if best else "best peer"
    headings = ("solver", "ms", f"time / {name}", "natural", "impulse-scaled", "remark")
    table = make_table(title, headings)
    for one in entrants:
        if not one.attempts:
            add_row(table, [one.name, f"> {one.limit:g} s", None, None, None, "foretold, not run"])
            continue
        natural, impulse = (
            max(getattr(a.judgement, measure) for a in one.attempts) for measure in ("natural", "impulse")
        )
        ratio = compare(one, best)
        remark = _remark(one, best)
        cells = [one.name, tell_ms(one.seconds), None if ratio is None else f"{ratio:.2f}"]
        add_row(table, [*cells, f"{natural:.0e}", f"{impulse:.0e}", remark])
    return table
