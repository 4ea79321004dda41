"""`make bench [BENCH=sweeps]`: every benchmark, or the one that is named."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

import perp
from benchmarks.cpp_twin import FLAGS, CppTwin
from benchmarks.overhead import measure_checks, measure_loop, measure_memory, measure_start
from benchmarks.sweeps import measure_compressed_rows, measure_contacts, measure_rows, measure_scattered_rows

BENCHMARKS: dict[str, tuple[Callable[[CppTwin], Table], ...]] = {
    "sweeps": (measure_rows, measure_contacts, measure_compressed_rows, measure_scattered_rows),
    "overhead": (measure_loop, measure_checks, measure_memory, measure_start),
}


def main(names: list[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(
        f"perp {perp.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"Numba {numba.__version__}, {os.cpu_count()} cores; C++ twin: g++ {' '.join(FLAGS)}"
    )
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        raise SystemExit(f"unknown benchmarks {sorted(unknown)}; known: {sorted(BENCHMARKS)}")
    twin = CppTwin()
    for name in names or BENCHMARKS:
        for measure in BENCHMARKS[name]:
            console.print(measure(twin))


if __name__ == "__main__":
    main(sys.argv[1:])
