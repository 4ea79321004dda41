"""Says once in a process that kernels are being compiled, when that takes longer than a moment.

The first solve of its kind compiles what it needs, which takes seconds, and keeps it on disk. On a terminal a line on
stderr says so while it happens; elsewhere the logger "perp" is told at INFO.
"""

from __future__ import annotations

import logging
import sys
from threading import Timer
from time import perf_counter
from typing import Any

from numba.core import event

PATIENCE = 1.0
"""Seconds of compiling, all in all, without a word."""

TEXT = "compiling kernels; they are kept on disk, so that this happens once"


class Notice(event.Listener):
    """Hears of every compilation; what a kernel needs is compiled within its own one."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience, self.depth, self.is_told = patience, 0, False
        self.begun = 0.0
        self.timer: Timer | None = None

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth == 1 and not self.is_told:
            self.begun = perf_counter()
            self.timer = Timer(max(self.patience, 0.0), self.tell)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.patience -= perf_counter() - self.begun

    def tell(self) -> None:
        self.is_told = True
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"perp: {TEXT}\n")
        else:
            logging.getLogger("perp").info(TEXT)


def give_notice() -> None:
    """Listen to Numba from now on."""
    event.register("numba:compile", Notice())
