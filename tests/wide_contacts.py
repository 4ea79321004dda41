"""Contacts with torsion and rolling, planted solutions for them, and their law in plain words. Only tests use them."""

from __future__ import annotations

import numpy as np
import strategies

import perp

MODELS = ("box", "cone", "convex", "disc")
DIMENSIONS = (3, 4, 6)
"""Three rows with a coefficient each: friction that differs by direction."""

STATES = ("stick", "slide", "open")


def some_friction(rng: np.random.Generator, contacts: int, dimension: int, *, zeros: bool) -> np.ndarray:
    """Tangents around 0.3, moments of a few centimetres; with zeros among them, and a contact without friction."""
    friction = rng.uniform(0.2, 0.4, (contacts, dimension - 1))
    friction[:, 2:] *= 0.1
    if zeros:
        friction[0, 0] = friction[1 % contacts, -1] = friction[2 % contacts, dimension // 2 - 1] = 0.0
        friction[contacts - 1] = 0.0
    return friction


def law_point(rng: np.random.Generator, model: str, mu: np.ndarray, state: str) -> tuple[np.ndarray, np.ndarray]:
    """Impulse and velocity of one contact in that state; mu are its coefficients, or its radii."""
    count = mu.size
    x, y = np.zeros(count + 1), np.zeros(count + 1)
    speed = rng.standard_normal(count) / np.where(mu > 0.0, mu, 1.0)  # of all rows alike, where friction weighs them
    x[0] = 0.0 if state == "open" else rng.uniform(0.5, 2.0)
    head = 1.0 if model == "disc" else x[0]
    if state == "stick":
        direction = rng.standard_normal(count)
        x[1:] = 0.7 * mu * head * direction / np.linalg.norm(direction)
    elif state == "slide" or model == "disc":
        dissipated = np.abs(mu * speed) if model == "box" else np.linalg.norm(mu * speed)
        x[1:] = np.divide(-mu * head * mu * speed, dissipated, out=np.zeros(count), where=(mu > 0.0))
    if state != "stick":
        y[1:] = speed
    y[1:][mu == 0.0] = rng.standard_normal(int((mu == 0.0).sum()))  # nothing holds these
    if state == "open":
        y[0] = 0.5 + (float(np.linalg.norm(mu * speed)) if model == "convex" else 0.0)
    elif state == "slide" and model == "convex":
        y[0] = np.linalg.norm(mu * speed)
    return x, y


def planted(
    model: str, dimension: int, *, form: str = "factored", contacts: int = 6, zeros: bool = False, seed: int = 0
) -> tuple[perp.ContactProblem, np.ndarray]:
    """A regular problem with every state, and its solution."""
    rng = np.random.default_rng(seed)
    friction = some_friction(rng, contacts, dimension, zeros=zeros)
    parts = [law_point(rng, model, friction[c], STATES[c % 3]) for c in range(contacts)]
    x, y = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    J = rng.standard_normal((x.size, 2 * x.size)) / np.sqrt(x.size)
    A = perp.FactoredOperator(J, np.diag(rng.uniform(0.5, 2.0, 2 * x.size)))
    b = y - A.apply(x)
    given = A if form == "factored" else A.to_dense() if form == "dense" else A.to_sparse()
    return perp.ContactProblem(given, b, friction, model, dimension=dimension), x


def redundant(model: str, dimension: int, *, zeros: bool = False, seed: int = 0) -> perp.ContactProblem:
    """Five contacts between three bodies: more rows than velocities."""
    rng = np.random.default_rng(seed)
    pairs = np.array([[0, 1], [1, 2], [0, -1], [1, -1], [2, -1]])
    masses = perp.BodyMasses(rng.uniform(0.5, 5.0, 3), [strategies.spd_matrix(rng, 3) for _ in range(3)])
    J = rng.standard_normal((5 * dimension, 2, 6))
    A = perp.FactoredOperator.from_body_pairs(np.repeat(pairs, dimension, axis=0), J, masses)
    b = rng.standard_normal(5 * dimension) - 1.0
    return perp.ContactProblem(A, b, some_friction(rng, 5, dimension, zeros=zeros), model, dimension=dimension)


def natural_map(problem: perp.ContactProblem, x: np.ndarray) -> np.ndarray:
    """The readable twin of the residual: x - P(x - y) in units of the first coefficient that is not zero."""
    y, d = problem.A.to_dense() @ x + problem.b, problem.dimension
    found = np.zeros(problem.n)
    for c, mu in enumerate(problem.friction):
        rows = np.arange(d * c, d * c + d)
        rubs = np.array([True, *(mu > 0.0)])
        found[rows[~rubs]] = x[rows[~rubs]]  # what has no friction carries nothing
        first = mu[mu > 0.0][0] if mu.any() else 1.0
        unit = np.array([1.0, *(mu / first)])[rubs]
        own = rows[rubs]
        z, u = x[own] / unit, unit * y[own]
        found[own] = z - nearest(problem.model, first, z, z - u)
    return found


def nearest(model: str, coefficient: float, x: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Of the law with one coefficient, as it stands at x."""
    if model == "convex":
        normal, length = point[0], np.linalg.norm(point[1:])
        if length <= coefficient * normal:
            return point
        if coefficient * length <= -normal:
            return np.zeros_like(point)
        axis = np.array([1.0, *(coefficient * point[1:] / length)]) / np.sqrt(1.0 + coefficient**2)
        return max(point @ axis, 0.0) * axis
    limit = coefficient if model == "disc" else coefficient * max(x[0], 0.0)
    tangents = point[1:]
    if model == "box":
        tangents = np.clip(tangents, -limit, limit)
    elif np.linalg.norm(tangents) > limit:
        tangents = tangents * limit / np.linalg.norm(tangents)
    return np.array([max(point[0], 0.0), *tangents])
