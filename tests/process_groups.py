"""Who is still alive of the processes that a command has started."""

from __future__ import annotations

import time
from pathlib import Path

import pytest


def living(group: int) -> list[int]:
    """The processes of a group that are not dead, whether or not somebody has asked how they ended."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("this system does not list its processes under /proc")
    alive = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group, *_ = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(its_group) == group and state != "Z":
            alive.append(int(path.parent.name))
    return alive


def wait_until_gone(group: int, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while living(group):
        assert time.monotonic() < end, "processes are left over"
        time.sleep(0.01)
