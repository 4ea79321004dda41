"""Two solvers on the same frames: what a count or a time of one tells beside that of the other.

A solver that was stopped, or went round in circles, has counted and taken less than it would have needed: its numbers
are lower limits. So ratios are taken over those frames alone on which they say something.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.lab.experiments.experiment import Rows
from perp.lab.experiments.thesis.scenes import find_row

Column = NDArray[np.float64]


def paired(rows: Rows, scene: str, first: str, second: str, number: str) -> dict[str, Column]:
    """`first`, `second` and whether each is solved, on the frames that both were given."""
    a, b = find_row(rows, scene, first), find_row(rows, scene, second)
    if a is None or b is None:
        return {name: np.empty(0) for name in ("first", "second", "first_solved", "second_solved", "rows")}
    place = {step: index for index, step in enumerate(b.series["step"])}
    here = [index for index, step in enumerate(a.series["step"]) if step in place]
    there = [place[a.series["step"][index]] for index in here]
    return {
        "first": a.series[number][here],
        "second": b.series[number][there],
        "first_solved": a.series["solved"][here],
        "second_solved": b.series["solved"][there],
        "rows": a.series["rows"][here],
    }


def count_ratio(rows: Rows, scene: str, first: str, second: str, *, both: bool = False) -> float:
    """Index sets of the first over those of the second on frames that the first solved (or `both` of them); nan where
    there are none. Where the second was stopped, the true ratio is still smaller."""
    found = paired(rows, scene, first, second, "outer")
    kept = found["first_solved"] > 0.0
    if both:
        kept &= found["second_solved"] > 0.0
    return _ratio(found, kept)


def time_ratio(rows: Rows, scene: str, first: str, second: str) -> float:
    """Time of the first over that of the second on frames that at least one of them solved: what the other one took
    until it was stopped is then a lower limit, and the ratio errs towards 1."""
    found = paired(rows, scene, first, second, "frame_seconds")
    return _ratio(found, np.maximum(found["first_solved"], found["second_solved"]) > 0.0)


def time_ratios(rows: Rows, scene: str, first: str, second: str, least_rows: float = 0.0) -> list[float]:
    """The same, frame by frame, for frames of at least so many rows."""
    found = paired(rows, scene, first, second, "frame_seconds")
    kept = (np.maximum(found["first_solved"], found["second_solved"]) > 0.0) & (found["rows"] >= least_rows)
    return [float(each) for each in found["first"][kept] / found["second"][kept]]


def _ratio(found: dict[str, Column], kept: NDArray[np.bool_]) -> float:
    return float(found["first"][kept].sum() / found["second"][kept].sum()) if kept.any() else float("nan")
