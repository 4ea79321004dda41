"""A scene that is too large is refused by the system in time, and the process lives."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from perp.viewer import worker_process
from perp.viewer.worker_process import limit_memory, memory_size

if sys.platform != "linux":
    pytest.skip("only Linux counts what a process maps", allow_module_level=True)

import resource

GIGABYTE = 1 << 30


@pytest.fixture
def room(monkeypatch) -> Iterator[None]:
    """A machine twice as large as what this process has, and a gigabyte; no limits afterwards."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/status", encoding="ascii") as lines:
        held = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))
    monkeypatch.setattr(worker_process, "memory_size", lambda: 2 * (held + GIGABYTE))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)


@pytest.mark.usefixtures("room")
def test_who_asks_for_more_than_its_share_is_refused():
    limit_memory()
    with pytest.raises(MemoryError):
        np.empty(4 * GIGABYTE, np.uint8)
    assert np.ones(1000).sum() == 1000.0


@pytest.mark.usefixtures("room")
def test_a_tighter_limit_stays():
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(0.5)
    tight, _ = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(1.0)
    assert resource.getrlimit(resource.RLIMIT_DATA) == (tight, hard)


@pytest.mark.parametrize(("text", "size"), [("1000000", 1_000_000), ("max", None), (None, None)])
def test_a_container_is_as_large_as_it_may_be(monkeypatch, tmp_path, text, size):
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    path = tmp_path / "memory.max"
    if text is not None:
        path.write_text(text + "\n")
    monkeypatch.setattr(worker_process, "_CONTAINER", path)
    assert memory_size() == (size or whole)


def test_where_nobody_tells_there_is_no_limit(monkeypatch):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(worker_process, "memory_size", lambda: None)
    limit_memory()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
