"""Interleaved runs, medians, ratios: the only honest way on a noisy machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter


def interleave(runs: Mapping[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """The median seconds of each run; all are run in turn, `repeats` times, after one run to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(repeats):
        for name, run in runs.items():
            begun = perf_counter()
            run()
            seconds[name].append(perf_counter() - begun)
    return {name: median(values) for name, values in seconds.items()}
