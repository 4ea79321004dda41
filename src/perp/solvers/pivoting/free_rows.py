"""x_F of the present index sets, refined, also where free rows depend on one another."""

from __future__ import annotations

import numpy as np

from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import factor_or_exchange, small_shift
from perp.problems.problem import Problem
from perp.solvers.pivoting.parametric import Sets
from perp.solvers.pivoting.pivot_state import PivotState

EPSILON = 16.0 * 2.0**-52
"""Rounding errors of a slack, as a share of the largest scaled impulse and bias."""

ROUGH = 1e-11
"""The accuracy of a solve whose index sets will not stay, in the same units; no solve need be better than that."""

REFINEMENTS = 30
"""Steps of iterative refinement at most; each must at least halve what is left, so that two or three are common."""


def place_rows(problem: Problem, state: PivotState) -> None:
    """Rows at a bound go there, A_FF is factored, and y is that of the point."""
    point = state.point
    free = state.sets == 0
    np.copyto(point, np.where(state.sets < 0, state.lower, state.upper), where=~free)
    factor_free_rows(problem, state, state.sets)
    if state.system.name == "dense" and not state.system.dependent and not point[~free].any():
        point[free] = 0.0  # with x_T = 0 the slack at x_F = 0 is b, which saves a product
        np.copyto(state.y, problem.b)
    else:
        state.system.slack(problem, point, state.y)


def solve_free_rows(problem: Problem, state: PivotState, accuracy: float) -> float:
    """x_F from A_FF, as a correction of what is there; returns the size of the scaled numbers involved.

    Refined until y_F is below `accuracy` times that size.
    """
    from perp.kernels.measures import index_sets

    point = state.point
    before, rest = np.inf, np.empty(problem.n)
    data = (state.softening, state.centre, problem.b, state.scale, state.soft_y, rest)
    for _ in range(REFINEMENTS):
        size, left, probe = index_sets.measure_free(state.sets, point, state.y, *data)
        if probe != 0.0:
            raise NotFinite("the solution for the free rows is not finite")
        if left <= accuracy * size or left > 0.5 * before:
            break
        before = left
        known = state.system.dependent
        point -= state.system.solve(rest)
        if state.system.dependent > known:  # conjugate gradients find that out only while they solve
            _note_dependence(state)
        state.system.slack(problem, point, state.y)
    state.left = float(left / size) if size > 0.0 else 0.0
    return float(size)


def factor_free_rows(problem: Problem, state: PivotState, sets: Sets) -> None:
    """Factor A_FF for these sets, unless that is what the system holds already."""
    if state.factored is not None and np.array_equal(state.factored, sets):
        return
    free = sets == 0
    state.system = factor_or_exchange(problem, state.system, free, state.softening)
    if state.system.dependent:  # refinement will take the shift back, as far as the rows do not contradict
        shift = state.softening + small_shift(problem)
        state.system = factor_or_exchange(problem, state.system, free, shift)
        _note_dependence(state)
    state.factored = sets.copy()


def _note_dependence(state: PivotState) -> None:
    state.counters["singular"] += 1
    state.has_dependent_rows = True
