"""What callers of free systems do with a factor that is not as they hoped: indefinite, or singular."""

from __future__ import annotations

import numpy as np

from perp.linalg.free_systems.base import FreeSystem, Mask
from perp.linalg.free_systems.body import LEAST_COMPLIANCE
from perp.linalg.free_systems.choice import choose_system
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

PURIFICATIONS = 3


def factor_or_exchange(problem: Problem, system: FreeSystem, free: Mask, shift: Vector) -> FreeSystem:
    """Factor; where A is symmetric and not even semi-definite, by another system, with row exchanges.

    Returns the system that holds the factor, with all factorisations counted.
    """
    system.factor(free, shift)
    if not system.negative:
        return system
    general = choose_system(problem, "dense" if system.name == "dense" else "sparse", general=True)
    general.factorisations = system.factorisations
    general.factor(free, shift)
    return general


def small_shift(problem: Problem) -> Vector:
    """What makes dependent rows independent, and is taken back by refinement: a small share of A_ii."""
    assert problem.diagonal is not None
    diagonal = np.abs(problem.diagonal)
    return np.asarray(LEAST_COMPLIANCE * np.maximum(diagonal, 1e-3 * (diagonal.max(initial=0.0) or 1.0)))


def purify(system: FreeSystem, free: Mask, vector: Vector, shift: Vector) -> Vector:
    """The part of the vector that is a null vector of A_FF, up to its length.

    With the shift S that A_FF was factored with, (A_FF + S)^-1 S keeps null vectors of A_FF and makes all else as small
    as the shift is.
    """
    for _ in range(PURIFICATIONS):
        scaled = vector / (np.abs(vector).max(initial=0.0) or 1.0)
        vector = system.solve(np.where(free, shift * scaled, 0.0))
    return vector
