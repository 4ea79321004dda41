"""What a solve of `cone_interior` carries along, and its one kernel."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from perp.kernels import blas
from perp.kernels.conic import run as run_kernels
from perp.kernels.conic.layout import Iterate, Options
from perp.linalg.paces import CONIC
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.cone_interior.cones import ConeRows
from perp.solvers.cone_interior.system import ConicSystem
from perp.solvers.method import State

Request = tuple[int, int]
"""What the kernel is to do, and how many iterations at most."""

Course = Generator[Request, int, None]
"""Asks for iterations and is told how many were made, until `ended` is set."""


@dataclass
class ConicState(State):
    rows: ConeRows
    conic: ConicSystem
    iterate: Iterate
    marks: NDArray[np.float64]
    unit: float
    """What F of Newton steps is measured by: the largest |b| / sqrt(A_ii)."""
    options: Options
    attempt: int = 0
    spare: Vector | None = None
    """A solution next to the given point whose motion is one of several (`perp.solvers.selection`)."""
    course: Course = field(init=False)
    request: Request = (0, 0)
    """What the course asks for next."""


def run_kernel(state: ConicState, what: int, count: int) -> int:
    """Up to `count` iterations; returns how many were made."""
    conic = state.conic
    with CONIC.work(max(count, 1) * (conic.plan.cost / 15.0 + 1e3 * state.x.size)):
        made = run_kernels.run(
            *(what, blas.product_address(), conic.in_bodies, conic.symmetric, state.options),
            *(state.rows.cones, conic.blocks, conic.system, conic.factor, state.iterate),
            *(state.marks, state.unit, count),
        )
    return int(made)


def answer(problem: Problem, state: ConicState, line: int) -> Vector:
    """The x that a line of the iterate holds; the last answer where that is not finite."""
    x = state.iterate.rows[line] / state.rows.unit
    return problem.project(x) if np.isfinite(x).all() else state.x
