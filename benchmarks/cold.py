"""First calls in a fresh process without compiled kernels: what they cost, and which kernels are compiled for them.

    python -m benchmarks cold

Each call runs in a process of its own with an empty folder for compiled kernels, and then in another one that finds
what the first one left there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from rich.table import Table

DEAREST = 6
"""Kernels that are listed for each call."""


def small_lcp() -> Callable[[], Any]:
    import perp

    problem = perp.LCP([[4.0, -1.0, 0.0], [-1.0, 4.0, -1.0], [0.0, -1.0, 4.0]], [-3.0, 2.0, -1.0])
    return lambda: perp.solve(problem)


def dense_lcp() -> Callable[[], Any]:
    import perp

    problem = perp.gallery.make("dense_pd", n=200).problem
    return lambda: perp.solve(problem)


def contact_stack() -> Callable[[], Any]:
    import perp

    problem = perp.gallery.make("box_stack", n=96, model="cone").problem
    return lambda: perp.solve(problem)


def poisson() -> Callable[[], Any]:
    import perp

    problem = perp.gallery.make("poisson_2d", n=2500).problem
    return lambda: perp.solve(problem)


def world_step() -> Callable[[], Any]:
    import perp

    scene = perp.scenes.make("stack")
    return lambda: scene.world.step(scene.dt, lambda problem, x0: perp.solve(problem, x0=x0))


CALLS: dict[str, tuple[str, Callable[[], Callable[[], Any]]]] = {
    "lcp": ("LCP of 3 rows", small_lcp),
    "dense": ("dense LCP of 200 rows", dense_lcp),
    "stack": ("stack of boxes, 96 rows, exact cone", contact_stack),
    "poisson": ("sparse Poisson, 2,500 rows", poisson),
    "world": ("a step of scene stack", world_step),
}


def measure_cold(options: Any = None) -> Iterator[Table | str]:
    """The table of all calls, and for each the kernels that took longest."""
    table = Table(title="First calls, seconds", title_justify="left")
    headings = ("call", "import perp", "import Numba", "set up", "first", "second", "kernels", "compiling")
    for heading in (*headings, "first, kernels kept"):
        table.add_column(heading, justify="left" if heading == "call" else "right")
    details = []
    for name, (title, _) in CALLS.items():
        with tempfile.TemporaryDirectory() as folder:
            cold, kept = run_child(name, folder), run_child(name, folder)
        compiling = sum(seconds for _, seconds in cold["kernels"])
        figures = (cold["import"], cold["numba"], cold["set_up"], cold["first"], cold["second"])
        table.add_row(
            title,
            *(f"{seconds:.3f}" for seconds in figures),
            str(len(cold["kernels"])),
            f"{compiling:.2f}",
            f"{kept['first']:.3f}",
        )
        dearest = sorted(cold["kernels"], key=lambda entry: -entry[1])[:DEAREST]
        details.append(f"{title}: " + ", ".join(f"{kernel} {seconds:.2f} s" for kernel, seconds in dearest))
    yield table
    yield "Kernels that took longest, without those that they call:\n  " + "\n  ".join(details)


def run_child(name: str, folder: str) -> dict[str, Any]:
    environment = os.environ | {"NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cold", name], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure_here(name: str) -> dict[str, Any]:
    """One call in this process, which has not imported perp yet."""
    begun = perf_counter()
    import perp  # noqa: F401

    imported = perf_counter()
    from numba.core import event

    before = perf_counter()
    with event.install_recorder("numba:compile") as recorder:
        call = CALLS[name][1]()
        ready = perf_counter()
        call()
        first = perf_counter()
        call()
        second = perf_counter()
    return {
        "import": imported - begun,
        "numba": before - imported,
        "set_up": ready - before,
        "first": first - ready,
        "second": second - first,
        "kernels": own_seconds(recorder.buffer),
    }


def own_seconds(records: list[tuple[float, Any]]) -> list[tuple[str, float]]:
    """Name and seconds of each compilation, without those that began while it ran."""
    found: list[tuple[str, float]] = []
    open_ones: list[list[Any]] = []
    for moment, what in records:
        if what.is_start:
            open_ones.append([what.data["dispatcher"].py_func.__qualname__, moment, 0.0])
            continue
        kernel, begun, inner = open_ones.pop()
        found.append((kernel, moment - begun - inner))
        if open_ones:
            open_ones[-1][2] += moment - begun
    return found


if __name__ == "__main__":
    print(json.dumps(measure_here(sys.argv[1])))
