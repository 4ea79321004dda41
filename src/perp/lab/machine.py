"""Where the numbers were measured: enough to compare by, nothing that names the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from perp.version import __version__


def machine_facts() -> dict[str, str]:
    """Versions and processor count, in the order in which a report shows them."""
    return {
        "perp": __version__,
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "Numba": version("numba"),
        "processors": f"{os.cpu_count()} x {platform.machine()}",
        "system": platform.system(),
    }
