"""Where a recording comes from: enough to make it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from perp.version import __version__


@dataclass(frozen=True)
class Description:
    """What was simulated, and with what."""

    dt: float
    """The length of a step [s]."""
    scene: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the scene and of the run: whatever JSON has words for."""
    seed: int = 0
    method: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of perp and of the packages that the numbers depend on."""


def package_versions() -> dict[str, str]:
    """Those of now."""
    return {
        "perp": __version__,
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "Numba": version("numba"),
    }
