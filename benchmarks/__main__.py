"""`make bench [BENCH=sweeps]`: every benchmark, or those that are named. `python -m benchmarks -h` lists options."""

from __future__ import annotations

import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

import perp
from benchmarks.auto import measure_auto
from benchmarks.campaign import add_campaign_options, run_campaign
from benchmarks.choosing import add_choosing_options, measure_choosing
from benchmarks.cold import measure_cold
from benchmarks.contacts import measure_contact_methods
from benchmarks.cpp_twin import FLAGS, CppTwin
from benchmarks.fluid import add_fluid_options, measure_fluid
from benchmarks.friction import add_friction_options, measure_friction
from benchmarks.modulus import measure_methods, measure_sweeps
from benchmarks.newton import measure_newton
from benchmarks.overhead import measure_checks, measure_loop, measure_memory, measure_start
from benchmarks.pivoting import add_options, measure_pivoting
from benchmarks.preconditioners import measure_preconditioners
from benchmarks.sweeps import measure_compressed_rows, measure_contacts, measure_rows, measure_scattered_rows
from benchmarks.viewer import measure_viewer
from benchmarks.worlds import measure_worlds

Measure = Callable[[Namespace], Iterable[Table | str]]


def _beside_twin(measures: tuple[Callable[[CppTwin], Table], ...], options: Namespace) -> Iterator[Table | str]:
    yield f"C++ twin: g++ {' '.join(FLAGS)}"
    twin = CppTwin()
    for measure in measures:
        yield measure(twin)


BENCHMARKS: dict[str, Measure] = {
    "sweeps": partial(_beside_twin, (measure_rows, measure_contacts, measure_compressed_rows, measure_scattered_rows)),
    "overhead": partial(_beside_twin, (measure_loop, measure_checks, measure_memory, measure_start)),
    "cold": measure_cold,
    "pivoting": measure_pivoting,
    "newton": measure_newton,
    "contacts": measure_contact_methods,
    "modulus": lambda options: (measure_sweeps(), measure_methods()),
    "preconditioners": measure_preconditioners,
    "worlds": measure_worlds,
    "fluid": measure_fluid,
    "friction": measure_friction,
    "auto": measure_auto,
    "choosing": measure_choosing,
    "campaign": run_campaign,
    "viewer": measure_viewer,
}

ONLY_BY_NAME = ("choosing", "campaign", "viewer")
"""Those that write files into the documentation, and the one that needs a browser."""


def main(arguments: list[str]) -> None:
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help=f"of {', '.join(BENCHMARKS)}; none: all but choosing and campaign, in their quick forms",
    )
    add_options(parser)
    add_fluid_options(parser)
    add_friction_options(parser)
    add_choosing_options(parser)
    add_campaign_options(parser)
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        raise SystemExit(f"unknown benchmarks {sorted(unknown)}; known: {sorted(BENCHMARKS)}")
    options.quick = options.quick or not options.names
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(
        f"perp {perp.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, {os.cpu_count()} cores, BLAS on one thread"
    )
    for name in options.names or (name for name in BENCHMARKS if name not in ONLY_BY_NAME):
        for shown in BENCHMARKS[name](options):
            console.print(shown)


if __name__ == "__main__":
    main(sys.argv[1:])
