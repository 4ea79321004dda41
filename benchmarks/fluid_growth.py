"""Whether iterations and time a cell stay the same from small grids to large ones."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from benchmarks.fluid_methods import KINDS, OURS, Run, Variant, make_problem, run_ours, split_by_presence
from benchmarks.tables import add_row, make_table, say

TOLERANCE = 1e-8
AIM = 1.5
"""The factor by which iterations, and the time a cell, may grow."""

EDGES = {2: (32, 64, 128, 256, 512, 1024), 3: (16, 32, 64, 128)}
QUICK_EDGES = {2: (32, 64, 128, 256), 3: (16, 32, 64)}
HEADINGS = ("method", "grid", "iterations", "inner", "seconds", "ns a cell", "residual", "ending")


def measure_growth(quick: bool, limit: float) -> Iterator[Table | str]:
    for kind in KINDS:
        for dimension, edges in (QUICK_EDGES if quick else EDGES).items():
            present, absent = split_by_presence(OURS, make_problem(kind, dimension, 8))
            yield from absent if kind == KINDS[0] and dimension == 2 else ()
            yield measure_kind(kind, dimension, edges, present, limit)


def measure_kind(kind: str, dimension: int, edges: tuple[int, ...], variants: list[Variant], limit: float) -> Table:
    """One method after another on each size, so that a large problem is made once; a miss ends a method's part."""
    title = f"H. {kind}, {dimension}D, half the cells active, to {TOLERANCE:.0e} from zero; aim: growth <= {AIM}"
    table = make_table(title, HEADINGS)
    runs: dict[str, dict[int, Run]] = {str(variant): {} for variant in variants}
    for edge in edges:
        problem = make_problem(kind, dimension, edge)
        for variant in variants:
            done = runs[str(variant)]
            if all(run.reached for run in done.values()):
                say(f"H. {kind} {edge}^{dimension}, {variant}")
                done[edge] = run_ours(problem, variant.make(), TOLERANCE, limit, check_every=1)
    for name, done in runs.items():
        for edge, run in done.items():
            nanoseconds = 1e9 * run.seconds / edge**dimension
            counts = (run.iterations, run.inner, run.seconds, nanoseconds)
            add_row(table, (name, f"{edge}^{dimension}", *counts, f"{run.residual:.0e}", run.ending))
        add_row(table, (name, *tell_growth(done, dimension)))
        table.add_section()
    return table


def tell_growth(done: dict[int, Run], dimension: int) -> tuple[object, ...]:
    """From the first size to the last that was solved: iterations, or inner ones where there are such; and the time a
    cell at the last over the least of any size, since small grids pay for Python and not for cells."""
    solved = {edge: run for edge, run in done.items() if run.reached}
    if len(solved) < 2:
        return "growth", "too few sizes"
    first, last = (solved[edge] for edge in (min(solved), max(solved)))
    times = {edge: run.seconds / edge**dimension for edge, run in solved.items()}
    flat = judge_ratio(times[max(solved)] / min(times.values()))
    outer, label = last.iterations / max(first.iterations, 1), f"{max(solved)} / {min(solved)}"
    if last.inner is None or first.inner is None:
        return label, judge_ratio(outer), None, None, flat
    return label, outer, judge_ratio(last.inner / max(first.inner, 1)), None, flat


def judge_ratio(ratio: float) -> str:
    return f"{ratio:.2f} {'ok' if ratio <= AIM else 'OVER'}"
