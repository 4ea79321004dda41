"""What the tests of runs share: tasks that do what they are told, and what they left behind."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from perp.lab.runs.task import Task

HERE = Path(__file__).resolve().parent
"""Where `misdeeds` lies, the work of these tasks."""


def deed(name: str, number: int = 0, **others: Any) -> Task:
    return Task("misdeeds.works", {"deed": name, "number": number}, label=f"{name} {number}", **others)


def log_lines(folder: Path) -> list[list[str]]:
    """Deed, number and process of every task that was begun."""
    log = folder / "log"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def times_begun(folder: Path) -> Counter[str]:
    return Counter(f"{name} {number}" for name, number, _ in log_lines(folder))


def wait_until(is_true: Any, seconds: float = 60.0) -> None:
    """Give other processes time; AssertionError where they need too much of it."""
    limit = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < limit, "nothing happened"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be collected."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
