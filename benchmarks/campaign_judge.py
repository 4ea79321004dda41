"""Residuals and certificates, checked a second time in plain NumPy from the numbers of the problem.

Nothing here calls what it judges: neither the kernels of perp nor its residuals. What it must know is what the pages
say: the natural map x - clip(x - s y, lower, upper), with s = 1 but for rows whose diagonal entry is outside
[2^-10, 2^20] (a power of two that brings it into [1, 2)); and the scale of a row, min(r0, max(1, |x_i|)), r0 being the
residual of the point nearest to 0 (contacts: the largest |x| for all rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import perp
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

SMALLEST, LARGEST = 2.0**-10, 2.0**20
ROUNDING = 2.0**-50

MOST_ROWS = 10
"""Of an exhaustion: 1024 index sets are looked at again."""

NEARLY = 1e-9


@dataclass(frozen=True)
class Judgement:
    residual: float
    """The largest entry of the natural map, in the caller's units."""
    scaled: float
    """The largest share |r_i| / scale_i."""
    certain: float
    """The same, less what rounding errors in y = A x + b may have added to it: what nobody can argue away."""
    outside: float
    """By how much x leaves its bounds."""


def judge(problem: Problem, x: Vector) -> Judgement:
    with np.errstate(all="ignore"):
        stretch = row_scales(problem)
        map_at_x = np.abs(natural_map(problem, x, stretch * slack(problem, x)))
        scale = tolerance_scales(problem, x, stretch)
        noise = (problem.n + 8) * 2.0**-52 * stretch * slack_size(problem, x)
        return Judgement(
            largest(map_at_x),
            largest(map_at_x / scale),
            largest(np.maximum(map_at_x - noise, 0.0) / scale),
            largest(x - project(problem, x)),
        )


def tolerance_scales(problem: Problem, x: Vector, stretch: Vector) -> Vector:
    """What a residual of each row is a share of."""
    zero = project(problem, np.zeros(problem.n))
    at_zero = slack(problem, zero)
    map_at_zero = np.abs(natural_map(problem, zero, stretch * at_zero))
    cold = largest(map_at_zero)
    if zero.any() and not isinstance(problem, perp.ContactProblem):
        sizes = np.abs(problem.b) + np.abs(at_zero - problem.b)
        if np.all(map_at_zero <= ROUNDING * sizes):
            cold = 0.0
    if not 0.0 < cold < np.inf:
        return np.ones(problem.n)
    size = np.full(problem.n, largest(x)) if isinstance(problem, perp.ContactProblem) else np.abs(x)
    return np.minimum(cold, np.maximum(1.0, size))


def largest(values: Vector) -> float:
    """max |v_i|; NaN where any is."""
    return float(np.max(np.abs(values), initial=0.0)) if not np.isnan(values).any() else float("nan")


def slack(problem: Problem, x: Vector) -> Vector:
    """y = A x + b, from J, M and C where A is factored, by a dense product where it is not."""
    A = problem.A
    if isinstance(A, perp.FactoredOperator):
        return np.asarray(A.J @ A.mass.solve(A.J.T @ x) + A.compliance * x + problem.b)
    if isinstance(A, perp.MatrixFreeOperator):
        return np.asarray(A.product.matvec(x) + problem.b)
    return np.asarray(A.to_dense() @ x + problem.b)


def slack_size(problem: Problem, x: Vector) -> Vector:
    """|A| |x| + |b|: what y is the sum of."""
    A = problem.A
    matrix = A.product.matmat(np.eye(problem.n)) if isinstance(A, perp.MatrixFreeOperator) else A.to_dense()
    return np.asarray(np.abs(matrix) @ np.abs(x) + np.abs(problem.b))


def row_scales(problem: Problem) -> Vector:
    scales = np.ones(problem.n)
    if isinstance(problem.A, perp.MatrixFreeOperator):
        known = problem.diagonal
        if known is None:
            return scales
        size = np.abs(known)
    else:
        A = problem.A.to_dense()
        size = np.abs(np.diagonal(A))
        moderate = not problem.n or (np.diagonal(A).min() >= SMALLEST and size.max() < LARGEST)
        size = size if moderate else np.where(size == 0.0, np.abs(A).max(axis=1, initial=0.0), size)
    extreme = (size != 0.0) & ((size < SMALLEST) | (size >= LARGEST))
    scales[extreme] = 2.0 ** -np.floor(np.log2(size[extreme]))
    if isinstance(problem, perp.ContactProblem):  # a contact has one scale, that of its normal row
        d, rows = problem.dimension, problem.contact_rows
        scales[:rows] = np.repeat(scales[:rows:d], d)
    return scales


def project(problem: Problem, x: Vector) -> Vector:
    """The point within the bounds that x itself asks for."""
    return x - natural_map(problem, x, np.zeros(problem.n))


def natural_map(problem: Problem, x: Vector, y: Vector) -> Vector:
    if not isinstance(problem, perp.ContactProblem):
        return _clipped(x, y, problem.lower, problem.upper)
    d, rows = problem.dimension, problem.contact_rows
    impulses, velocities = x[:rows].reshape(-1, d), y[:rows].reshape(-1, d)
    if problem.model == "convex":
        contacts = impulses - _nearest_in_cone(impulses - velocities, problem.friction)
    else:
        normal = np.maximum(impulses[:, 0], 0.0)
        limit = problem.friction if problem.model == "disc" else problem.friction * normal
        contacts = np.empty_like(impulses)
        contacts[:, 0] = np.minimum(impulses[:, 0], velocities[:, 0])
        if problem.model == "box" or d == 2:
            contacts[:, 1:] = _clipped(impulses[:, 1:], velocities[:, 1:], -limit[:, None], limit[:, None])
        else:
            moved = impulses[:, 1:] - velocities[:, 1:]
            length = np.linalg.norm(moved, axis=1)
            factor = np.where(length > limit, limit / np.where(length > 0.0, length, 1.0), 1.0)[:, None]
            contacts[:, 1:] = np.where(factor == 1.0, velocities[:, 1:], impulses[:, 1:] - factor * moved)
    rest = _clipped(x[rows:], y[rows:], problem.lower, problem.upper)
    return np.concatenate([contacts.reshape(-1), rest])


def _clipped(x: Vector, y: Vector, lower: Vector, upper: Vector) -> Vector:
    """x - clip(x - y, lower, upper), written so that a small y beside a large x is not lost."""
    return np.clip(y, x - upper, x - lower)


def _nearest_in_cone(points: Vector, friction: Vector) -> Vector:
    """The projection on |x_t| <= friction x_n, contact by contact."""
    nearest = np.zeros_like(points)
    for c, (point, mu) in enumerate(zip(points, friction, strict=True)):
        normal, tangents = point[0], point[1:]
        length = float(np.linalg.norm(tangents))
        if normal >= 0.0 and length <= mu * normal:
            nearest[c] = point
        elif normal + mu * length > 0.0:
            on_surface = (normal + mu * length) / (1.0 + mu * mu)
            nearest[c, 0] = on_surface
            if length > 0.0:
                nearest[c, 1:] = mu * on_surface * tangents / length
    return nearest


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
