"""Ours beside the peers on cubes, half of the cells active, to a natural residual of 1e-6 that is verified for all.

All start from x = 0. Of the peers only the solve is counted, of ours the whole call. A peer is not tried on a cube when
its time on a smaller one foretells too much, nor after a miss.

PSOR is ours as well, but has a column of its own: it is what one would do without the other methods. Over-relaxation of
a Laplacian with k cells a side is at its best with 2 / (1 + sin(pi / (k + 1))). The active cells fill but a part of the
cube, as if k were smaller: 2 / (1 + sin(pi s / (k + 1))), with one s for all k, as that part has the same shape. The
best s is found on the smaller cubes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sin
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

import perp
from benchmarks.fluid_methods import KINDS, OURS, Run, Variant, make_problem, run_ours
from benchmarks.fluid_methods import split_by_presence as split_ours
from benchmarks.fluid_peers import GridPeer, no_answer, run_peer, split_by_presence, write_problem
from benchmarks.progress import say
from benchmarks.tables import add_row, make_table

TOLERANCE = 1e-6
AIM = 5.0
"""So many times faster than the best peer."""

GROWTH = 4.0
"""The power of the edge by which a peer's time is foretold: one for each axis, and one because active sets take more
steps, and conjugate gradients more iterations, on finer grids."""

SHAPES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)
"""The s that are tried; on the largest cube only the one that was best on the cube before, and its neighbours."""

NOT_TRIED = "not tried"
HEADINGS = ("solver", "cube", "set-up", "solve", "call", "it.", "residual", "ending", "peer / ours", "psor / ours")


def measure_speed(edge: int, limit: float) -> Iterator[Table | str]:
    """Cubes with an eighth, a quarter, half and all of `edge` cells a side."""
    peers, missing = split_by_presence()
    yield from missing
    edges = tuple(sorted({max(edge // part, 4) for part in (8, 4, 2, 1)}))
    for kind in KINDS:
        present, absent = split_ours(OURS, make_problem(kind, 3, 8))
        yield from absent if kind == KINDS[0] else ()
        yield measure_kind(kind, edges, present, peers, limit)


def measure_kind(
    kind: str, edges: tuple[int, ...], variants: list[Variant], peers: list[GridPeer], limit: float
) -> Table:
    title = f"I. {kind}, to {TOLERANCE:.0e}, seconds; the best peer's solve, and psor's call, over ours: aim {AIM:.0f}"
    table = make_table(title, HEADINGS)
    shapes: tuple[float, ...] = SHAPES
    last: dict[str, tuple[int, Run]] = {}
    for edge in edges:
        problem = make_problem(kind, 3, edge)
        theirs = run_peers(kind, edge, problem, peers, last, limit)
        for name, run in theirs.items():
            add_row(table, describe(name, edge, run, whole=None))
        say(f"I. {kind} {edge}^3, psor with {len(shapes)} relaxations")
        best, psor = search_psor(problem, edge, shapes, limit)
        shapes = SHAPES if 2 * edge < edges[-1] else neighbours(best)
        fastest = min((run.solve for run in theirs.values() if run.reached), default=None)
        rivals = (fastest, psor.seconds if psor.reached else None)
        label = f"psor, red-black, {relaxation(best, edge):.4f}"
        add_row(table, describe(label, edge, psor, psor.seconds))
        for variant in variants:
            say(f"I. {kind} {edge}^3, {variant}")
            run = run_ours(problem, variant.make(), TOLERANCE, limit)
            row = describe(str(variant), edge, run, run.seconds)
            add_row(table, [*row, *(tell_ratio(run, rival, edge == edges[-1]) for rival in rivals)])
        table.add_section()
    crashes = [
        f"{name} at {edge}^3: {run.ending}" for name, (edge, run) in last.items() if "error" in run.ending.lower()
    ]
    table.caption = "; ".join(crashes)
    return table


def run_peers(
    kind: str, edge: int, problem: perp.LCP, peers: list[GridPeer], last: dict[str, tuple[int, Run]], limit: float
) -> dict[str, Run]:
    """Their runs on smaller cubes are in `last`, and so are these afterwards."""
    runs = {}
    with TemporaryDirectory() as folder:
        stored = Path(folder) / "problem.npz"
        write_problem(problem, stored)
        for peer in peers:
            if problem.n > peer.largest or not can_make_it(edge, last.get(peer.name), limit):
                runs[peer.name] = no_answer(NOT_TRIED)
                continue
            say(f"I. {kind} {edge}^3, {peer.name}")
            runs[peer.name] = run_peer(peer, problem, stored, TOLERANCE, limit)
            last[peer.name] = edge, runs[peer.name]
    return runs


def can_make_it(edge: int, last: tuple[int, Run] | None, limit: float) -> bool:
    if last is None:
        return True
    old, run = last
    return run.reached and run.solve * (edge / old) ** GROWTH <= limit


def relaxation(shape: float, edge: int) -> float:
    return 2.0 / (1.0 + sin(min(pi * shape / (edge + 1), 0.5 * pi)))


def search_psor(problem: perp.LCP, edge: int, shapes: tuple[float, ...], limit: float) -> tuple[float, Run]:
    """The best of several relaxations and its run; a relaxation that is slower than the best so far is cut short."""
    best, chosen = shapes[0], None
    for shape in shapes:
        allowed = limit if chosen is None else min(limit, 1.5 * chosen.seconds + 0.1)
        run = run_ours(problem, perp.PSOR(relaxation(shape, edge), order="coloured"), TOLERANCE, allowed)
        if chosen is None or (run.reached, -run.seconds) > (chosen.reached, -chosen.seconds):
            best, chosen = shape, run
    assert chosen is not None
    return best, chosen


def neighbours(shape: float) -> tuple[float, ...]:
    at = SHAPES.index(shape)
    return SHAPES[max(at - 1, 0) : at + 2]


def describe(name: str, edge: int, run: Run, whole: float | None) -> list[object]:
    if run.residual > 1e300:
        short = "crashed" if "error" in run.ending.lower() else run.ending
        return [name, f"{edge}^3", None, None, None, None, None, short]
    return [name, f"{edge}^3", run.setup, run.solve, whole, run.iterations, f"{run.residual:.1e}", run.ending]


def tell_ratio(ours: Run, rival: float | None, is_judged: bool) -> str | None:
    """How many times longer the rival took; with a verdict on the largest cube."""
    if rival is None or not ours.reached:
        return None
    ratio = rival / ours.seconds
    return f"{ratio:.2g}{' UNDER' if is_judged and ratio < AIM else ''}"
