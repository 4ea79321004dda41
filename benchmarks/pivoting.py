"""Pivoting methods beside the peers: `python -m benchmarks pivoting [--quick] [--parts A,B,C,D] [--out FILE]`.

    A  dense random LCPs
    B  boxed contact problems, warm and cold
    C  growth with the number of rows
    D  the sparse Cholesky factor

Everything runs in one process, in turn, on one thread; every answer is judged by the caller's own numbers. The peers
are optional: what is not installed is named and left out.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from rich.table import Table

from benchmarks.contact_steps import measure_cold, measure_warm
from benchmarks.dense_lcps import measure_dense
from benchmarks.effort import Effort, Row, read_effort
from benchmarks.factors import measure_factors, missing_packages
from benchmarks.growth import measure_growth
from benchmarks.peers import CONTACT_PEERS, DENSE_PEERS, Peer, split_by_presence

PARTS = "ABCD"


def add_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("pivoting and newton")
    group.add_argument("--quick", action="store_true", help="small sizes, few seeds: about two minutes")
    group.add_argument("--parts", help="which of A,B,C,D (pivoting), E,F,G (newton) or H,I,J,K (fluid); default: all")
    group.add_argument("--sizes", type=_read_counts, help="A: rows of the dense problems, such as 50,200,500")
    group.add_argument("--rows", type=_read_counts, help="B, D and E: rows of the contact problems, such as 1000,5000")
    group.add_argument("--growth-rows", type=_read_counts, help="C: rows of the contact problems")
    group.add_argument("--seeds", type=int, help="B and E: problems of each kind (default 20)")
    group.add_argument("--limit", type=float, help="seconds for a run, and for all runs of a peer on one kind")
    group.add_argument("--out", type=Path, help="write every measurement to this JSON file")


def measure_pivoting(options: Namespace) -> Iterator[Table | str]:
    """Tables as they are ready, and a line for each peer that is not there."""
    effort = read_effort(options)
    chosen = [part for part in PARTS if part in (options.parts or PARTS).upper()]
    peers, missing = split_by_presence([*DENSE_PEERS, *CONTACT_PEERS])
    for package in dict.fromkeys([*missing, *missing_packages()]):
        yield f"not installed: pip install {package}"
    rows: list[Row] = []
    for part in chosen:
        yield from _measure_part(part, effort, peers, rows)
        if options.out is not None:  # after each part, so that an interrupted run leaves what it has
            _write(options.out, effort, rows)


def _write(path: Path, effort: Effort, rows: list[Row]) -> None:
    installed = {one.package for one in (*DENSE_PEERS, *CONTACT_PEERS) if one.is_installed}
    versions = {name: version(name) for name in sorted({"perp", "numpy", "scipy", "numba"} | installed)}
    content = {"versions": versions, "effort": asdict(effort), "rows": rows}
    path.write_text(json.dumps(content, indent=1, default=float))


def _measure_part(part: str, effort: Effort, peers: list[Peer], rows: list[Row]) -> Iterator[Table]:
    if part == "A":
        yield from measure_dense(effort, peers, rows)
    elif part == "B":
        yield from measure_warm(effort, peers, rows)
        yield from measure_cold(effort, rows)
    elif part == "C":
        yield from measure_growth(effort, rows)
    else:
        yield from measure_factors(effort, rows)


def _read_counts(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))
