"""How many vectors a method needs beside its problem: `python -m benchmarks.fluid_memory LABEL EDGE` measures one.

Each method runs in a process of its own, after a small solve that loads its kernels. What is resident once the problem
is made is taken off the peak; Linux resets its mark of the peak (VmHWM) when asked to. The allocator is told to give
every array back as soon as it is freed: what the making of the problem left behind would hide what the solve takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.table import Table

import perp
from benchmarks.fluid_methods import OURS, Variant, make_problem, split_by_presence
from benchmarks.tables import add_row, make_table, say

TOLERANCE = 1e-6
AIM = 40.0
"""Vectors of one number a cell that a method may need."""
PSOR = Variant("psor", {"relaxation": 1.9, "order": "coloured"})
LIMIT = 20.0
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536"}
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def measure_memory(edge: int) -> Table:
    headings = ("method", "iterations", "seconds", "problem, MB", "peak above it, MB", "vectors")
    title = f"K. Memory at {edge}^3, planted, to {TOLERANCE:.0e}; a vector is 8 n bytes; aim: below {AIM:.0f}"
    table = make_table(title, headings)
    if not RESET.exists():
        table.caption = "needs Linux: its /proc tells the peak"
        return table
    present, _ = split_by_presence((*OURS, PSOR), make_problem("planted", 3, 8))
    for variant in present:
        say(f"K. {edge}^3, {variant}")
        command = [sys.executable, "-m", "benchmarks.fluid_memory", str(variant), str(edge)]
        told = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ) | GIVE_BACK)
        row = json.loads(told.stdout)
        vectors = 1e6 * row["rise"] / (8.0 * edge**3)
        verdict = f"{vectors:.1f}{'' if vectors < AIM else ' OVER'}"
        add_row(table, (str(variant), row["iterations"], row["seconds"], row["before"], row["rise"], verdict))
    return table


def measure_one(variant: Variant, edge: int) -> dict[str, float]:
    """Megabytes resident before the solve, and by how much the peak rose above that."""
    method = variant.make()
    perp.solve(make_problem("planted", 3, 8), method, tol=TOLERANCE)
    empty = _resident("VmRSS")
    problem = make_problem("planted", 3, edge)
    before = _resident("VmRSS")
    RESET.write_text("5")
    result = perp.solve(problem, method, tol=TOLERANCE, max_seconds=LIMIT, max_iterations=10**7)
    return {
        "iterations": result.iterations,
        "seconds": result.seconds,
        "before": before - empty,
        "rise": _resident("VmHWM") - before,
    }


def _resident(name: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return 1024e-6 * float(line.split()[1])


if __name__ == "__main__":
    wanted = next(variant for variant in (*OURS, PSOR) if str(variant) == sys.argv[1])
    print(json.dumps(measure_one(wanted, int(sys.argv[2]))))
