"""Ours beside the peers on cubes, half of the cells active, to a natural residual of 1e-6 that is verified for all.

All start from x = 0. Each peer runs in a process of its own (`fluid_child`), with a limit of time that holds. Of the
peers only the solve is counted, of ours the whole call. A peer is not tried on a cube when its time on a smaller one
foretells too much, nor after a miss.

PSOR is ours as well, but has a column of its own: it is what one would do without the other methods. Over-relaxation of
a Laplacian with k cells a side is at its best with 2 / (1 + sin(pi / (k + 1))). The active cells fill but a part of the
cube, as if k were smaller: 2 / (1 + sin(pi s / (k + 1))), with one s for all k, as that part has the same shape. The
best s is found on the smaller cubes.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import pi, sin
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

import perp
from benchmarks.fluid_methods import KINDS, OURS, Run, Variant, make_problem, run_ours
from benchmarks.fluid_methods import split_by_presence as split_ours
from benchmarks.tables import add_row, make_table, say

DEBIAN = Path("/usr/lib/petscdir")
"""Where Debian keeps PETSc: one folder a version and number type, each with a petsc4py for Debian's own Python."""
DEBIAN_PYTHON = "/usr/bin/python3"
REMEDY = "not here: PETSc (Debian: apt install python3-petsc4py; or pip install petsc4py)"

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


@dataclass(frozen=True)
class GridPeer:
    name: str
    solver: str
    """What the child understands; after the colon a preconditioner or a tolerance."""
    largest: int = 10**9
    """Cells beyond which it is not asked."""

    @property
    def is_petsc(self) -> bool:
        return self.solver.startswith("petsc")


PEERS = (
    GridPeer("PETSc rsls, cg + icc", "petsc:icc"),
    GridPeer("PETSc rsls, cg + hypre", "petsc:hypre"),
    GridPeer("PETSc rsls, cg + gamg", "petsc:gamg"),
    GridPeer("SciPy L-BFGS-B", "lbfgsb"),
    GridPeer("PIQP", "piqp:1e-9", largest=5_000),
)
"""PIQP needs a minute and more for 32^3 cells, as it factors the whole matrix in each of its iterations."""


def split_by_presence() -> tuple[list[GridPeer], list[str]]:
    """The peers that can be run here, and a line for each package that is missing."""
    missing = []
    if find_petsc() is None:
        missing.append(REMEDY)
    if find_spec("piqp") is None:
        missing.append("not installed: pip install piqp")
    present = [
        peer
        for peer in PEERS
        if (find_petsc() is not None if peer.is_petsc else peer.solver == "lbfgsb" or find_spec("piqp") is not None)
    ]
    return present, missing


@cache
def find_petsc() -> tuple[str, str | None] | None:
    """An interpreter that can import petsc4py, and the PETSC_DIR that it needs: ours, or Debian's.

    Debian's petsc4py looks in /usr/lib/petsc, a link that only its development package makes; PETSC_DIR tells it
    where to look instead.
    """
    candidates: list[tuple[str, str | None]] = [(sys.executable, None), (DEBIAN_PYTHON, None)]
    found = sorted(DEBIAN.glob("*/*-real/lib/python3/dist-packages/petsc4py"), reverse=True)
    candidates += [(DEBIAN_PYTHON, str(folder.parents[3])) for folder in found]
    for interpreter, folder in candidates:
        command = [interpreter, "-c", "from petsc4py import PETSc"]
        try:
            if subprocess.run(command, env=_environment(folder), capture_output=True, timeout=60.0).returncode == 0:
                return interpreter, folder
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def write_problem(problem: perp.LCP, path: Path) -> None:
    A = problem.A.to_sparse()
    np.savez(path, indptr=A.indptr, indices=A.indices, values=A.data, b=problem.b)


def run_peer(peer: GridPeer, problem: perp.LCP, stored: Path, tol: float, limit: float) -> Run:
    """`stored` is what `write_problem` wrote. The answer is judged here, after its entries were put within bounds."""
    interpreter, folder = sys.executable, None
    if peer.is_petsc:
        found = find_petsc()
        assert found is not None
        interpreter, folder = found
    answer = stored.with_name("answer.npz")
    answer.unlink(missing_ok=True)
    child = Path(__file__).with_name("fluid_child.py")
    command = [interpreter, str(child), peer.solver, str(stored), str(answer), str(limit)]
    ended = subprocess.run(command, env=_environment(folder), capture_output=True, text=True, check=False)
    if ended.returncode == -signal.SIGALRM:
        return no_answer(f"none in {limit:.0f} s")
    if ended.returncode != 0:
        return no_answer(f"failed: {_find_exception(ended.stderr) or ended.returncode}")
    with np.load(answer) as data:
        x, setup, solve, iterations = data["x"], float(data["setup"]), float(data["solve"]), int(data["iterations"])
    if not np.isfinite(x).all():
        return no_answer("failed: not finite")
    residual = perp.verify(problem, problem.project(x)).natural_inf
    reached = residual <= tol
    return Run(reached, solve, setup, solve, iterations, None, residual, "converged" if reached else "missed")


def no_answer(ending: str) -> Run:
    return Run(False, np.nan, np.nan, np.nan, 0, None, np.inf, ending)


def _find_exception(stderr: str) -> str | None:
    """The last line that names one, without the module that it comes from."""
    named = [line for line in stderr.splitlines() if re.match(r"[\w.]+(Error|Exception)\b", line)]
    return named[-1].rpartition("PETSc.")[2][:40] if named else None


def _environment(petsc_dir: str | None) -> dict[str, str]:
    return dict(os.environ) | ({} if petsc_dir is None else {"PETSC_DIR": petsc_dir})


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
