"""Tests of kernels also run where nothing is compiled (NUMBA_DISABLE_JIT=1, `make kernel-coverage`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from perp.kernels.compile import IS_PLAIN

needs_compiler = pytest.mark.skipif(IS_PLAIN, reason="nothing is compiled")


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel."""
    return getattr(kernel, "py_func", kernel)
