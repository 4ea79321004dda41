"""Newton and interior-point methods beside the peers: `python -m benchmarks newton [--quick] [--parts E,F,G]`.

    E  boxed contact problems, cold: interior points finished by block pivots, and PIQP, to 1e-10
    F  Stewart-Trinkle contact LCPs: Newton methods, and the Lemke of QuantEcon, to 1e-8
    G  a factored operator with a million rows: iterations, time and memory of the methods that never form A

Everything runs in one process, in turn, on one thread; every answer is judged by the caller's own numbers.
"""

from __future__ import annotations

import resource
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter

from rich.table import Table

import perp
from benchmarks.contact_steps import copy_operator, tell_range
from benchmarks.contest import TIGHT, Entrant, Target, compare
from benchmarks.effort import Effort, read_effort
from benchmarks.peers import CONTACT_PEERS, DENSE_PEERS, Question, split_by_presence
from benchmarks.tables import add_row, make_table, tell_ms
from perp import gallery
from perp.problems.problem import Problem
from perp.solvers.method import Method

COLD: dict[str, Callable[[int, int, str], Problem]] = {
    "pile": lambda n, seed, load: gallery.make("boxed_pile", n=n, seed=seed, load=load).problem,
    "wall": lambda n, seed, load: _stack("wall", n, seed, load),
    "pyramid": lambda n, seed, load: _stack("pyramid", n, seed, load),
}

PARTS = "EFG"

STEWART_TRINKLE = Target("natural", 1e-8)
CONTACTS_A_BODY = 3
"""Three contacts a body, nine rows for six velocities: many are redundant."""


def measure_newton(options: Namespace) -> Iterator[Table | str]:
    effort = read_effort(options)
    chosen = [part for part in PARTS if part in (options.parts or PARTS).upper()]
    _, missing = split_by_presence([*CONTACT_PEERS[:1], *DENSE_PEERS[:1]])
    for package in missing:
        yield f"not installed: pip install {package}"
    if "E" in chosen:
        for load in ("planted", "gravity"):
            yield from measure_cold(effort, load)
    if "F" in chosen:
        yield measure_stewart_trinkle(effort)
    if "G" in chosen:
        yield measure_memory(100_000 if options.quick else 1_000_000)


def _stack(layout: str, n: int, seed: int, load: str) -> Problem:
    options = {"mass_ratio": 1000.0, "compliance": 1e-8, "load": load, "layout": layout}
    return gallery.make("boxed_stack", n=n, seed=seed, **options).problem


# --- E: cold contacts ------------------------------------------------------------------------------------------------


def measure_cold(effort: Effort, load: str) -> Iterator[Table]:
    headings = ("stack", "rows", "solver", "solved", "ms", "ms, worst", "iterations", "impulse", "PIQP / ours")
    table = make_table(f"E. Cold, load {load}: impulse-scaled residual 1e-10; fresh A, analysis included", headings, 3)
    for name, make in COLD.items():
        for wanted in effort.contact_rows:
            entrants = [_ours(perp.InteriorPivoting(), effort.limit), _ours(perp.InteriorPoint(), effort.limit)]
            peers, _ = split_by_presence(CONTACT_PEERS[:1])
            entrants += [Entrant.of_peer(peer, TIGHT, effort.limit) for peer in peers]
            for entrant in entrants:  # imports, kernels, caches
                entrant.attempt(Question(make(100, 99, load), seconds=effort.limit))
                entrant.forget()
            for seed in range(effort.seeds):
                question = Question(make(wanted, seed, load), seconds=effort.limit)
                for entrant in entrants:
                    if entrant.is_ours or not entrant.has_spent_its_time():
                        entrant.attempt(question)
            for entrant in entrants:
                peer = None if entrant.is_ours is False else next((e for e in entrants if not e.is_ours), None)
                add_row(table, _describe(name, question.problem.n, entrant, peer))
    yield table


def _ours(method: Method, limit: float) -> Entrant:
    """From an operator that nobody has analysed, as the peers begin from nothing too."""

    def prepare(question: Question) -> Callable[[], perp.Result]:
        problem = question.problem
        assert isinstance(problem, perp.BoxLCP)
        again = perp.BoxLCP(copy_operator(problem.A), problem.b, problem.lower, problem.upper)
        return partial(perp.solve, again, method, tol=1e-12, max_seconds=question.seconds)

    return Entrant(method.name, [prepare], TIGHT, limit, is_ours=True)


def _describe(stack: str, rows: int, entrant: Entrant, peer: Entrant | None) -> list[object]:
    attempts = entrant.attempts
    ratio = compare(entrant, peer) if entrant.is_ours else None
    return [
        stack,
        rows,
        entrant.name,
        f"{sum(attempt.reached for attempt in attempts)} of {len(attempts)}",
        tell_ms(entrant.seconds),
        tell_ms(max(attempt.seconds for attempt in attempts)),
        tell_range([float(attempt.answer.iterations) for attempt in attempts]) if entrant.is_ours else None,
        f"{entrant.residual:.0e}",
        None if ratio is None else 1.0 / ratio,
    ]


# --- F: Stewart-Trinkle ----------------------------------------------------------------------------------------------


def measure_stewart_trinkle(effort: Effort) -> Table:
    """Contacts of rigid bodies, many of them redundant: no Newton code among the peers solves these."""
    headings = ("contacts", "K", "rows", "solver", "solved", "ms", "ms, worst", "iterations", "residual", "Lemke / it")
    table = make_table("F. Stewart-Trinkle LCPs of rigid bodies: natural residual 1e-8", headings, 4)
    for contacts in (20, 60) if effort.seeds < 20 else (20, 60, 200):
        for directions in (4, 8):
            _measure_directions(table, contacts, directions, effort)
    return table


def _measure_directions(table: Table, contacts: int, directions: int, effort: Effort) -> None:
    ours = [_plain(method, effort.limit) for method in (perp.Fischer(), perp.InteriorPoint(), perp.Lemke())]
    peers, _ = split_by_presence(DENSE_PEERS[:1])
    lemke = [Entrant.of_peer(peer, STEWART_TRINKLE, effort.limit) for peer in peers]
    for seed in range(effort.stewart_trinkle_seeds):
        problem = stewart_trinkle(contacts, directions, seed)
        for entrant in (*ours, *lemke):
            is_enough = len(entrant.attempts) >= effort.lemke_seeds and "emke" in entrant.name
            if seed == 0:
                entrant.attempt(Question(problem, seconds=effort.limit))
                entrant.forget()
            if not is_enough:
                entrant.attempt(Question(problem, seconds=effort.limit))
    for entrant in (*ours, *lemke):
        peer = lemke[0] if lemke and entrant.is_ours else None
        ratio = compare(entrant, peer)
        row = _describe("", problem.n, entrant, None)
        add_row(table, [contacts, directions, *row[1:-1], None if ratio is None else 1.0 / ratio])


def stewart_trinkle(contacts: int, directions: int, seed: int) -> Problem:
    rows, bodies = (directions + 2) * contacts, max(2, contacts // CONTACTS_A_BODY)
    return gallery.make("contact_like", n=rows, seed=seed, bodies=bodies, directions=directions).problem


def _plain(method: Method, limit: float) -> Entrant:
    def prepare(question: Question) -> Callable[[], perp.Result]:
        return partial(perp.solve, question.problem, method, tol=1e-9, max_seconds=question.seconds)

    return Entrant(method.name, [prepare], STEWART_TRINKLE, limit, is_ours=True)


# --- G: a million rows -----------------------------------------------------------------------------------------------


def matrix_free_methods() -> Sequence[tuple[Method, int]]:
    """The methods that only apply A, and how many of their iterations are run."""
    return (
        (perp.APGD(), 100),
        (perp.SPG(), 100),
        (perp.MPRGP(), 100),
        (perp.PGCG(), 100),
        (perp.Fischer(strategy="approximation"), 3),
        (perp.MinimumMap(linear="pcg"), 3),
        (perp.BlockPrincipal(linear="pcg", preconditioner="jacobi", inner_tolerance=1e-3), 3),
    )


def measure_memory(rows: int) -> Table:
    """Peak memory of the process grows with the rows and not with A: each line says by how much it rose."""
    problem = gallery.make("boxed_stack", n=rows, compliance=1e-3).problem
    title = (
        f"G. {problem.n:,} factored rows, A never formed (as csr it would take {_megabytes_of_csr(problem):,.0f} MB)"
    )
    table = make_table(title, ("method", "iterations", "seconds", "residual", "at the start", "peak, MB", "rise, MB"))
    first = perp.verify(problem, problem.project(problem.b * 0.0)).residual
    for method, iterations in matrix_free_methods():
        before, begun = _peak(), perf_counter()
        result = perp.solve(problem, method, max_iterations=iterations)
        seconds = perf_counter() - begun
        cells = [result.method, result.iterations, seconds, f"{result.residual:.1e}", f"{first:.1e}"]
        add_row(table, [*cells, _peak(), _peak() - before])
    return table


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _megabytes_of_csr(problem: Problem) -> float:
    """By the rows of A of a small stack of the same kind: 12 bytes an entry."""
    small = gallery.make("boxed_stack", n=3000).problem.A.to_sparse()
    return float(12e-6 * small.nnz / small.shape[0] * problem.n)
