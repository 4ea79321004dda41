"""How large and how ill-conditioned the frames of a scene are (THESIS Table 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from perp.lab.runs.row import DONE, Measurement
from perp.lab.runs.task import Task
from perp.lab.work.contact_frames import make_frames
from perp.lab.work.recipes import fingerprint, make_scene
from perp.problems.islands import split_islands
from perp.problems.problem import Problem

DENSE = 600
"""Rows up to which all eigenvalues are computed; beyond, the two at the ends alone."""

EIGENVALUE_TOLERANCE = 1e-3
"""Relative; condition numbers are told by their order of magnitude."""


def perform(task: Task, folder: Path | None) -> Measurement:
    """Series have one entry a frame: `step`, `rows`, `condition` of A and of A with a unit diagonal."""
    frames = make_frames(task.instance, folder)
    mass = make_scene(task.instance).world.mass
    moving = mass[np.isfinite(mass)]
    series = {
        "step": np.array([float(frame.step) for frame in frames]),
        "rows": np.array([float(frame.problem.n) for frame in frames]),
        "condition": np.array([condition_number(frame.problem) for frame in frames]),
        "condition_scaled": np.array([condition_number(frame.problem, scaled=True) for frame in frames]),
    }
    return Measurement(
        DONE,
        n=int(series["rows"].max()),
        problem=fingerprint(frames[-1].problem),
        numbers={
            "bodies": float(moving.size),
            "mass_ratio": float(moving.max() / moving.min()),
            "condition_worst": float(series["condition"].max()),
            "condition_scaled_worst": float(series["condition_scaled"].max()),
        },
        series=series,
    )


def frame_facts_task(recipe: Mapping[str, Any], **others: Any) -> Task:
    """A task of this work."""
    return Task("frame_facts", recipe, **others)


def condition_number(problem: Problem, *, scaled: bool = False) -> float:
    """Largest over least eigenvalue of a symmetric positive definite A, from those of its islands.

    With `scaled` that of D A D with a unit diagonal, which does not depend on the units of the rows.
    """
    matrices = [island.problem.A.to_sparse() for island in split_islands(problem)]
    if scaled:
        matrices = [_with_unit_diagonal(matrix) for matrix in matrices]
    ends = np.array([_end_eigenvalues(matrix) for matrix in matrices])
    return float(ends[:, 1].max() / ends[:, 0].min())


def _with_unit_diagonal(A: Any) -> Any:
    D = sparse.diags_array(1.0 / np.sqrt(A.diagonal()))
    return D @ A @ D


def _end_eigenvalues(A: Any) -> tuple[float, float]:
    n = A.shape[0]
    if n <= DENSE:
        values = np.linalg.eigvalsh(A.toarray())
        return float(values[0]), float(values[-1])
    start, matrix = np.ones(n), sparse.csc_array(A)
    ask = {"k": 1, "v0": start, "tol": EIGENVALUE_TOLERANCE, "return_eigenvectors": False}
    least = eigsh(matrix, sigma=0.0, which="LM", **ask)
    return float(least[0]), float(eigsh(matrix, which="LA", **ask)[0])
