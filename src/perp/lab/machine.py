"""Where the numbers were measured: enough to compare by, nothing that names the machine."""

from __future__ import annotations

import os
import platform

from perp.recording.description import package_versions


def machine_facts() -> dict[str, str]:
    """Versions and processor count, in the order in which a report shows them."""
    return {
        **package_versions(),
        "processors": f"{os.cpu_count()} x {platform.machine()}",
        "system": platform.system(),
    }
