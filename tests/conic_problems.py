"""Small problems with every kind of cone, and points inside their cones."""

from __future__ import annotations

import numpy as np
import strategies

import perp
from perp.kernels.conic import layout
from perp.kernels.conic.layout import OWN
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.cone_interior.state import ConicState

MODELS = ("box", "cone", "convex", "disc")
CONTACTS = 5
LOWER = np.array([-np.inf, 0.0, -1.0, -np.inf, 0.5])
UPPER = np.array([np.inf, np.inf, 2.0, 0.3, 0.5])
"""An equation, one bound on either side, two of them, and a row that cannot move."""


def contacts(
    model: str, dimension: int = 3, *, extra: bool = True, compliance: float = 0.0, seed: int = 0
) -> perp.ContactProblem:
    """Contacts between three bodies, the last without friction; normals and tangents differ in compliance."""
    rng = np.random.default_rng(seed)
    others = LOWER.size if extra else 0
    rows = dimension * CONTACTS + others
    pairs = np.array([[0, 1], [1, 2], [0, -1], [1, -1], [2, -1]])
    masses = perp.BodyMasses(rng.uniform(0.5, 5.0, 3), [strategies.spd_matrix(rng, 3) for _ in range(3)])
    soft = np.zeros(rows)
    for place in range(dimension):
        soft[place : dimension * CONTACTS : dimension] = compliance * (1.0 if place == 0 else 0.3)
    soft[dimension * CONTACTS :] = 0.5 * compliance
    A = perp.FactoredOperator.from_body_pairs(
        np.concatenate([np.repeat(pairs, dimension, axis=0), np.array([[0, 2]] * others, dtype=int).reshape(-1, 2)]),
        rng.standard_normal((rows, 2, 6)),
        masses,
        compliance=soft,
    )
    friction = np.array([0.5, 0.8, 0.3, 1.2, 0.0])
    bounds = {"lower": LOWER, "upper": UPPER} if extra else {}
    return perp.ContactProblem(A, rng.standard_normal(rows), friction, model, dimension=dimension, **bounds)


def inner_state(problem: perp.Problem, seed: int = 0, *, spread: float = 0.9, **options: object) -> ConicState:
    """The state at a random point inside all cones, |tail| up to `spread` of the head."""
    method = ConeInterior(**options)  # type: ignore[arg-type]
    state = method.start(problem, np.zeros(problem.n))
    rng = np.random.default_rng(seed)
    cones, R = state.rows.cones, state.iterate.rows
    for k in range(cones.slot.size):
        tail = slice(cones.tail[k], cones.tail[k] + cones.count[k])
        if cones.mode[k] == OWN:
            R[layout.X, cones.head[k]] = cones.sign[k] * (np.exp(rng.uniform(-1.0, 1.0)) + cones.offset[k])
            R[layout.Y, cones.head[k]] = cones.sign[k] * np.exp(rng.uniform(-1.0, 1.0))
        else:
            R[layout.VH, cones.slot[k]] = np.exp(rng.uniform(-1.0, 1.0))
    for k in range(cones.slot.size):
        tail = slice(cones.tail[k], cones.tail[k] + cones.count[k])
        radius = cones.offset[k] if cones.mode[k] == layout.FIXED else R[layout.X, cones.head[k]]
        speed = R[layout.Y, cones.head[k]] if cones.mode[k] == OWN else R[layout.VH, cones.slot[k]]
        for line, most in ((layout.X, radius), (layout.Y, speed)):
            direction = rng.standard_normal(cones.count[k])
            R[line, tail] = spread * most * direction / max(float(np.linalg.norm(direction)), 1e-300)
        R[layout.X, tail] += state.rows.centre[tail]
    state.iterate.target[:] = rng.uniform(0.5, 2.0, cones.slot.size)
    state.iterate.bodies[layout.V] = rng.standard_normal(state.iterate.bodies.shape[1])
    return state
