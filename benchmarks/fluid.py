"""Methods of linear cost on grids: `python -m benchmarks fluid [--quick] [--parts H,I,J,K] [--edge 128] [--limit 70]`.

    H  growth: iterations and time a cell from 32^2 to 1024^2 and from 16^3 to 128^3, to 1e-8
    I  speed: ours beside PETSc, SciPy, PIQP and over-relaxation at 128^3, to 1e-6
    J  one red-black sweep beside what the memory can deliver
    K  memory beside the problem, in vectors

On two kinds of problems with half of the cells active (`fluid_methods.make_problem`). All runs are on one thread, one
after another; short ones are repeated, and medians shown. Methods that this version has not got, and peers that are
not installed, are named and left out.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from rich.table import Table

from benchmarks.fluid_growth import measure_growth
from benchmarks.fluid_memory import measure_memory
from benchmarks.fluid_speed import measure_speed
from benchmarks.fluid_sweeps import measure_sweeps

PARTS = "HIJK"
EDGE, QUICK_EDGE = 128, 64
LIMIT, QUICK_LIMIT = 70.0, 5.0
GROWTH_SHARE = 0.2
"""Of the limit of a peer, what a method may take for one size of the growth tables."""


def add_fluid_options(parser: ArgumentParser) -> None:
    told = "--parts: H growth, I speed, J sweeps, K memory; --limit: seconds for one solve (default 70)"
    group = parser.add_argument_group("fluid", told)
    group.add_argument("--edge", type=int, help="I, J, K: cells a side of the cube (default 128, quick 64)")


def measure_fluid(options: Namespace) -> Iterator[Table | str]:
    chosen = [part for part in PARTS if part in (options.parts or PARTS).upper()]
    edge = options.edge or (QUICK_EDGE if options.quick else EDGE)
    limit = options.limit or (QUICK_LIMIT if options.quick else LIMIT)
    if "H" in chosen:
        yield from measure_growth(options.quick, GROWTH_SHARE * limit)
    if "I" in chosen:
        yield from measure_speed(edge, limit)
    if "J" in chosen:
        yield measure_sweeps(edge)
    if "K" in chosen:
        yield measure_memory(edge)
