"""A message that kernels are being compiled, once per process, when that takes longer than a second.

The first solve of a kind compiles the kernels it needs, which takes seconds, and stores them on disk. On a terminal the
message is a line on stderr while compilation runs; elsewhere it goes to the logger "perp" at INFO.
"""

from __future__ import annotations

import logging
import sys
from threading import Timer
from time import perf_counter
from typing import Any

from numba.core import event

PATIENCE = 1.0
"""Total seconds of compilation before the message."""

TEXT = "compiling kernels; they are kept on disk, so that this happens once"


class Notice(event.Listener):
    """Receives the start and end of every compilation; those of called kernels are nested in that of the caller."""

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
    """Register with Numba's compilation events."""
    event.register("numba:compile", Notice())
