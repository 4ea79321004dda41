"""What the works on NOTES share: its three merit functions, and where its Fischer-Newton method would have ended."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perp.lab.runs.row import Column, Measurement
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import measure
from perp.solvers.results.status import Status

MERITS = ("modified", "minimum_map", "fischer")


def measure_merits(problem: Problem, x: Vector) -> dict[str, float]:
    """
    modified     x^T |A x + b|, which is 0 at x = 0, whatever b is    (NOTES eq. 106)
    minimum_map  1/2 H^T H, H = min(x, y)                             (eq. 65, 68)
    fischer      1/2 F^T F, F = sqrt(x^2 + y^2) - x - y               (eq. 96, 103)
    """
    found = measure(problem, x)
    values = (found.modified_merit, 0.5 * found.natural_2**2, found.fischer)
    return dict(zip(MERITS, values, strict=True))


def cut_at_gradient_step(found: Measurement, gradient_steps: Column) -> Measurement:
    """What came before the first step down the gradient, of which num4lcp takes none: there it is NON_DESCENT.

    `gradient_steps` counts them at each entry of the series.
    """
    if not np.any(gradient_steps > 0.0):
        return found
    end = int(np.argmax(gradient_steps > 0.0))
    series = {name: column[:end] for name, column in found.series.items()}
    numbers = {
        **found.numbers,
        "iterations": float(series["iteration"][-1]),
        **dict.fromkeys(("residual", "natural"), float(series["residual"][-1])),
        "seconds": found.numbers["seconds"] * end / gradient_steps.size,
    }
    if "active" in series:
        numbers["active"] = float(series["active"][-1]) / found.n
    message = "the next step would have gone down the gradient"
    return replace(found, status=Status.NON_DESCENT.name, message=message, numbers=numbers, series=series)
