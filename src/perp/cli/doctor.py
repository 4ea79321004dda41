"""`perp doctor`: what perp runs with here, and what to install for what."""

from __future__ import annotations

import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from perp.cli import cards
from perp.kernels import compile as compilation
from perp.kernels.measures import residuals
from perp.lab import results
from perp.version import __version__
from perp.viewer import pages

PURPOSES = {
    "hdf5": "FCLIB files and recordings of simulations",
    "mujoco": "worlds in three dimensions: shapes and collisions of MJCF models",
    "report": "figures: perp demo, perp lab report, perp survey --profile, perp simulate --plot",
    "lab": "the experiments of the papers: perp lab",
    "cluster": "perp lab run --cluster",
    "viewer": "perp view",
    "multigrid": "multigrid for matrices that are no grid",
    "piqp": "method quadratic_program with PIQP, the quickest bridge on contacts",
    "clarabel": "methods cone_program and quadratic_program with Clarabel",
    "proxqp": "quadratic_program with ProxQP",
    "osqp": "quadratic_program with OSQP",
    "highs": "quadratic_program with HiGHS",
    "daqp": "quadratic_program with DAQP",
}
"""Extras that users may want, and what each is for."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

REQUIREMENT = re.compile(r"([\w.-]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")


def doctor(json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False) -> None:
    """Show versions, optional packages with the command that installs them, compiled kernels, threads and GPU.

    Nothing is compiled or changed. Add its output to a bug report.
    """
    report = examine()
    if json:
        typer.echo(results.to_json(report))
        return
    for title, rows in (
        ("Versions", list(report["versions"].items())),
        ("Machine", list(report["machine"].items())),
        ("Kernels", list(report["kernels"].items())),
        ("Viewer", [("page", report["viewer_page"])]),
    ):
        typer.echo(f"{title}\n")
        cards.show_lines([(f"  {name}", str(value)) for name, value in rows])
        typer.echo()
    typer.echo("Optional packages\n")
    cards.show_lines(
        [
            (
                f"  {extra['name']}",
                ", ".join(f"{name} {version or 'missing'}" for name, version in extra["packages"].items()) or "unknown",
                extra["purpose"] + ("" if extra["complete"] else f": pip install 'perp[{extra['name']}]'"),
            )
            for extra in report["extras"]
        ]
    )


def examine() -> dict[str, Any]:
    required, optional = requirements()
    return {
        "versions": {"perp": __version__, "python": platform.python_version()}
        | {name: version_of(name) or "missing" for name in required},
        "machine": {
            "system": f"{platform.system()} {platform.release()} ({platform.machine()})",
            "cores": f"{os.cpu_count()}, of which this process may use {usable_cores()}",
            "thread variables": ", ".join(
                f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if name in os.environ
            )
            or "none is set",
            "BLAS": blas(),
            "GPU": "not used: perp computes on the CPU",
        },
        "kernels": kernel_cache(),
        "viewer_page": "built" if (pages.PAGE_FOLDER / "viewer.js").is_file() else "not built: make viewer",
        "extras": [
            {
                "name": name,
                "purpose": PURPOSES[name],
                "packages": (found := {package: version_of(package) for package in optional.get(name, ())}),
                "complete": bool(found) and all(found.values()),
            }
            for name in PURPOSES
        ],
    }


def requirements() -> tuple[list[str], dict[str, list[str]]]:
    """What perp needs, and what each of its extras adds, as its installation says."""
    required: list[str] = []
    optional: dict[str, list[str]] = {}
    try:
        lines = metadata.requires("perp") or ()
    except metadata.PackageNotFoundError:  # run from its sources
        return ["numpy", "scipy", "numba", "rich", "typer"], {}
    for line in lines:
        if (match := REQUIREMENT.match(line)) is not None:
            name, extra = match.groups()
            (required if extra is None else optional.setdefault(extra, [])).append(name)
    return required, optional


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blas() -> str:
    """The library behind NumPy's products."""
    found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{found['name']} {found['version']}"


def kernel_cache() -> dict[str, str]:
    """Where compiled kernels are kept, and how many there are."""
    if compilation.IS_PLAIN:
        return {"compiled": "no: NUMBA_DISABLE_JIT is set, kernels run as plain Python"}
    place = residuals.measure_rows._cache.cache_path
    if place is None:
        return {"kept": "nowhere: no folder can be written, every process compiles anew (set NUMBA_CACHE_DIR)"}
    folder = compilation.FOLDER
    if Path(place).is_relative_to(folder):
        files = list(folder.rglob("*.nbc"))
    else:  # a folder that perp may share with other programs
        name_of = residuals.measure_rows._cache._impl.locator.get_suitable_cache_subpath
        parts = {name_of(str(file)) for file in folder.rglob("*.py")}
        folder = Path(place).parent
        files = [file for part in parts for file in (folder / part).glob("*.nbc")]
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    return {"kept in": str(folder), "compiled": f"{len(files)} kernels and signatures, {megabytes:.0f} MB"}
