"""Processes that tests start find the work of their tasks, and do not load kernels that they never use."""

from __future__ import annotations

import os

import pytest
from lab_deeds import HERE

from perp.lab.runs import isolation


@pytest.fixture
def own_works(monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{known}" if known else str(HERE))
    monkeypatch.setattr(isolation, "WORTH_WARMING", 10**6)
