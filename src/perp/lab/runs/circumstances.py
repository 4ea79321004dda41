"""Under which circumstances a row was measured: versions, machine, load, threads, revision."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import perp
from perp.version import __version__

THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)
"""Set to 1 for every process that measures."""

NOT_MEASURING = (
    "cli",
    "lab/analysis",
    "lab/claims",
    "lab/demo",
    "lab/experiments",
    "lab/page",
    "lab/palette",
    "lab/plots",
    "lab/publication",
    "lab/results",
    "lab/runs/cluster",
    "lab/runs/plan",
    "lab/runs/store",
    "lab/scene_picture",
    "lab/survey",
)
"""How the places begin that no row depends on: what they hold works on rows that are there already, or on none.

What starts processes does count: it decides what a measurement is disturbed by.
"""


@dataclass(frozen=True)
class Circumstances:
    """Nothing here names the machine or its user."""

    version: str
    revision: str
    """Of git, with a plus sign where files differ from it; empty outside a checkout."""
    code: str
    """The hash of every source file that rows depend on."""
    python: str
    numpy: str
    scipy: str
    numba: str
    machine: str
    processors: int
    threads: int
    """Of BLAS and Numba; 0 where they were not pinned."""
    load: float
    """Mean number of busy processes over the minute before the start; nan where the system does not tell."""
    started: float
    """Seconds since 1970."""
    wall_seconds: float = float("nan")
    """Of the whole task, making the problem included."""
    peak_megabytes: float = float("nan")
    """The most memory that the process held."""
    limit_seconds: float = float("nan")
    """After which it would have been ended."""
    limit_megabytes: float = float("nan")
    """That it could have taken beyond those of its start."""
    alone: bool = False
    """No other task of the run was under way."""


def observe() -> Circumstances:
    """Those of this process, now."""
    try:
        load = os.getloadavg()[0]
    except (AttributeError, OSError):
        load = float("nan")
    pinned = {os.environ.get(name) for name in THREAD_VARIABLES}
    return Circumstances(
        version=__version__,
        revision=find_revision(),
        code=code_fingerprint(),
        python=platform.python_version(),
        numpy=package_version("numpy"),
        scipy=package_version("scipy"),
        numba=package_version("numba"),
        machine=f"{platform.system()} {platform.machine()}",
        processors=os.cpu_count() or 0,
        threads=1 if pinned == {"1"} else 0,
        load=load,
        started=time.time(),
    )


@cache
def package_version(name: str) -> str:
    return version(name)


@cache
def find_revision() -> str:
    """The commit of the checkout that perp was imported from; empty where there is none, or no git."""
    folder = Path(perp.__file__).parent
    try:
        commit = _git(folder, "rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _git(folder, "status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


@cache
def code_fingerprint() -> str:
    """A hash of the source files that rows depend on."""
    folder = Path(perp.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder).as_posix()
        if not place.startswith(NOT_MEASURING):
            digest.update(place.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()
