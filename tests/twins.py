"""Readable twins of the compiled kernels: dense matrices, plain loops, nothing clever. Only the tests use them."""

from __future__ import annotations

import numpy as np

import perp


def natural_map(problem: perp.LCP | perp.BoxLCP | perp.ContactProblem, x: np.ndarray) -> np.ndarray:
    """x - P(x - y) with the bounds that stand at x; for the cone model P is the projection on the disc."""
    y = problem.A.to_dense() @ x + problem.b
    lower, upper = problem.bounds(x)
    natural = x - np.clip(x - y, lower, upper)
    if isinstance(problem, perp.ContactProblem) and problem.model == "cone" and problem.dimension == 3:
        for c in range(problem.contacts):
            tangents = slice(3 * c + 1, 3 * c + 3)
            trial = x[tangents] - y[tangents]
            natural[tangents] = x[tangents] - project_on_disc(trial, problem.friction[c] * max(x[3 * c], 0.0))
    return natural


def project_on_disc(point: np.ndarray, radius: float) -> np.ndarray:
    length = np.linalg.norm(point)
    return point if length <= radius else point * (radius / length)


def project_on_cone(point: np.ndarray, friction: float) -> np.ndarray:
    """The nearest (n, p, q) with |(p, q)| <= friction n."""
    n, tangent = point[0], point[1:]
    length = np.linalg.norm(tangent)
    if friction * length <= -n:
        return np.zeros_like(point)
    if length <= friction * n:
        return point
    axis = np.array([1.0, *(friction * tangent / length)]) / np.sqrt(1 + friction**2)
    return max(point @ axis, 0.0) * axis


def fischer(a: float, b: float) -> float:
    """NOTES eq. 17."""
    if np.isinf(a):
        return -b
    return -a if np.isinf(b) else float(np.sqrt(a * a + b * b) - a - b)


def sweep(
    problem: perp.LCP | perp.BoxLCP | perp.ContactProblem,
    x: np.ndarray,
    relaxation: float,
    contact_order: np.ndarray | None = None,
    row_order: np.ndarray | None = None,
    rows_first: bool = False,
) -> np.ndarray:
    """One projected SOR sweep (NOTES, listing of 5.3; PGS-SM eq. 17 for contacts), returning the new x."""
    A, b, x = problem.A.to_dense(), problem.b, x.copy()
    contacts = problem.contacts if isinstance(problem, perp.ContactProblem) else 0
    first = problem.contact_rows if isinstance(problem, perp.ContactProblem) else 0
    row_order = np.arange(first, problem.n) if row_order is None else row_order
    contact_order = np.arange(contacts) if contact_order is None else contact_order

    def visit_rows() -> None:
        lower, upper = problem.bounds(x)
        for i in row_order:
            residual = A[i] @ x + b[i]
            x[i] = min(max(x[i] - relaxation * residual / A[i, i], lower[i]), upper[i])

    def visit_contacts() -> None:
        for c in contact_order:
            width = problem.dimension
            i = width * c
            x[i] = max(x[i] - relaxation * (A[i] @ x + b[i]) / A[i, i], 0.0)
            limit = problem.friction[c] * x[i]
            tangents = np.arange(i + 1, i + width)
            if problem.model == "cone" and width == 3:
                stiffness = np.linalg.eigvalsh(A[np.ix_(tangents, tangents)]).max()
                slip = A[tangents] @ x + b[tangents]
                x[tangents] = project_on_disc(x[tangents] - relaxation * slip / stiffness, limit)
            else:
                for t in tangents:
                    x[t] = np.clip(x[t] - relaxation * (A[t] @ x + b[t]) / A[t, t], -limit, limit)

    for visit in (visit_rows, visit_contacts) if rows_first else (visit_contacts, visit_rows):
        visit()
    return x


def jacobi_step(problem: perp.LCP | perp.BoxLCP | perp.ContactProblem, x: np.ndarray, damping: float) -> np.ndarray:
    """NOTES eq. 52 with M = D, damped; the tangents of contacts are bounded by the new normals."""
    A = problem.A.to_dense()
    y = A @ x + problem.b
    stiffness = A.diagonal().copy()
    contacts = problem.contacts if isinstance(problem, perp.ContactProblem) else 0
    is_cone = contacts and problem.model == "cone"
    for c in range(contacts if is_cone else 0):
        tangents = np.arange(3 * c + 1, 3 * c + 3)
        stiffness[tangents] = np.linalg.eigvalsh(A[np.ix_(tangents, tangents)]).max()
    moved = x - damping * y / stiffness
    lower, upper = problem.bounds(moved)
    new = np.clip(moved, lower, upper)
    for c in range(contacts if is_cone else 0):
        tangents = slice(3 * c + 1, 3 * c + 3)
        new[tangents] = project_on_disc(moved[tangents], problem.friction[c] * new[3 * c])
    return new


def disc_measures(problem: perp.ContactProblem, x: np.ndarray) -> dict[str, float]:
    """Gap, NOTES eq. 106 merit and energy of a contact problem with cone friction, row by row and disc by disc."""
    A = problem.A.to_dense()
    y = A @ x + problem.b
    lower, upper = problem.bounds(x)
    gap = merit = energy = 0.0
    tangents = {i for c in range(problem.contacts) for i in (3 * c + 1, 3 * c + 2)}
    for i in set(range(problem.n)) - tangents:
        for bound, slack in ((lower[i], max(y[i], 0.0)), (upper[i], max(-y[i], 0.0))):
            gap += abs(x[i] - bound) * slack if np.isfinite(bound) else 0.0
        nearest = min(abs(x[i] - lower[i]), abs(upper[i] - x[i]))
        merit += abs(y[i]) * (nearest if np.isfinite(nearest) else 1.0)
        impulse = x[i] - np.clip(x[i] - y[i] / A[i, i], lower[i], upper[i])
        energy += 0.5 * A[i, i] * impulse**2
    for c, mu in enumerate(problem.friction):
        pair = slice(3 * c + 1, 3 * c + 3)
        radius, slip = mu * max(x[3 * c], 0.0), np.linalg.norm(y[pair])
        gap += abs(radius * slip + x[pair] @ y[pair])
        merit += abs(radius - np.linalg.norm(x[pair])) * slip
        stiffness = A.diagonal()[pair].max()
        impulse = x[pair] - project_on_disc(x[pair] - y[pair] / stiffness, radius)
        energy += 0.5 * stiffness * impulse @ impulse
    return {"gap": gap, "modified_merit": merit, "energy_mean": energy / problem.n}
