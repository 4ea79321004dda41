"""Certificates, checked a second time in plain NumPy from the numbers of the problem."""

from __future__ import annotations

from itertools import product

import numpy as np

import perp
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

MOST_ROWS = 10
"""Of an exhaustion: 1024 index sets are looked at again."""
NEARLY = 1e-9


def find_objection(problem: Problem, certificate: perp.Certificate) -> str | None:
    """Why a certificate proves nothing; None where it does, or is of a kind that is not checked again here."""
    if problem.kind not in ("lcp", "box"):
        return None
    if certificate.kind in ("infeasible", "inconsistent"):
        return proves_nothing(problem, certificate.u)
    if certificate.kind == "exhausted" and problem.kind == "lcp" and len(certificate.rows) <= MOST_ROWS:
        return find_index_set(problem, np.array(certificate.rows))
    return None


def find_index_set(problem: Problem, rows: np.ndarray) -> str | None:
    """An index set of these rows, which no other column may touch, that solves them after all."""
    A = problem.A.to_dense()
    others = np.setdiff1d(np.arange(problem.n), rows)
    if A[np.ix_(rows, others)].any():
        return "the rows need columns that were not looked at"
    part, b = A[np.ix_(rows, rows)], problem.b[rows]
    for chosen in product((False, True), repeat=rows.size):
        free = np.flatnonzero(chosen)
        x = np.zeros(rows.size)
        x[free] = np.linalg.lstsq(part[np.ix_(free, free)], -b[free], rcond=None)[0] if free.size else 0.0
        y = part @ x + b
        size = np.abs(part) @ np.abs(x) + np.abs(b)
        if x.min() >= 0.0 and np.all(y >= -NEARLY * size) and np.all(np.abs(y[free]) <= NEARLY * size[free]):
            return f"rows {rows[free]} solve it"
    return None


def proves_nothing(problem: Problem, u: Vector) -> str | None:
    """Why u is no proof that an LCP or a boxed LCP is infeasible; None where it is one.

    u^T y >= 0 for admissible y, and u^T (A x + b) < 0 for every x within its bounds, up to the rounding of the sums.
    """
    lower, upper = problem.bounds(u)
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    if np.any(u[has_lower & ~has_upper] < 0.0) or np.any(u[~has_lower & has_upper] > 0.0):
        return "u has a sign that a bound does not allow"
    if np.any(u[has_lower & has_upper] != 0.0):
        return "u is not zero in a row with two bounds"
    A = problem.A.to_dense()
    gain, noise = A.T @ u, (problem.n + 4) * 2.0**-52 * (np.abs(A).T @ np.abs(u))
    gain[np.abs(gain) <= 16.0 * noise] = 0.0
    best = np.where(gain > 0.0, upper, lower)
    if np.any(np.isinf(best) & (gain != 0.0)):
        return f"A^T u has an entry {gain[np.isinf(best) & (gain != 0.0)][0]:.2g} that no bound holds"
    margin = float(problem.b @ u + np.where(gain != 0.0, gain * np.where(np.isinf(best), 0.0, best), 0.0).sum())
    return None if margin < 0.0 else f"the margin is {margin:.2g}"
