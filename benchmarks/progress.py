"""What a long benchmark is doing, on the channel for errors, so that tables can go to a file."""

from __future__ import annotations

import sys
from time import perf_counter

_BEGUN = perf_counter()


def say(what: str) -> None:
    print(f"[{perf_counter() - _BEGUN:5.0f} s] {what}", file=sys.stderr, flush=True)
