"""Contacts of random bodies in space and in a plane, under every model, with joints and limits."""

from __future__ import annotations

from typing import Any

import numpy as np

import perp
from benchmarks.campaign_matrices import Draw, spd
from benchmarks.campaign_planted import hide
from benchmarks.campaign_sample import Sample, draw_shares, draw_size
from perp.gallery.planted import planted_contacts
from perp.problems.inputs import Vector

MOST_EXTRA = 6


def draw_planted_contacts(model: str, dimension: int, rng: Draw, most: int) -> Sample:
    """A planted solution: the impulses are drawn, and b is what they need."""
    operator, others, friction, words = _draw_bodies(dimension, rng, most)
    lower, upper = _draw_limits(others, rng)
    active, degenerate = draw_shares(rng)
    example = planted_contacts(
        _in_some_form(operator, rng),
        friction,
        model,
        dimension=dimension,
        lower=lower,
        upper=upper,
        active=active,
        sliding=float(rng.random()),
        degenerate=degenerate,
        seed=rng,
    )
    return Sample.of(example, words)


def draw_moving_bodies(model: str, dimension: int, rng: Draw, most: int) -> Sample:
    """b = J v of bodies that move with v: dependent rows never contradict each other, so a solution exists.

    (Any u with J^T u = 0 has b^T u = 0: Anitescu & Potra 1997 for the pyramid, Acary & Cadoux 2011 for the cone.)
    """
    problem, words = _moving(model, dimension, rng, most)
    return Sample(problem, True, f"{words}, b = J v")


def draw_restated(restatement: str, dimension: int, rng: Draw, most: int) -> Sample:
    """The contacts of moving bodies as the LCP of Stewart and Trinkle, without friction, or with fixed bounds."""
    directions = int(rng.choice([4, 6, 8])) if dimension == 3 else 2
    problem, words = _moving("box", dimension, rng, most * dimension // (directions + 2))
    if restatement == "stewart_trinkle":
        restated: Any = perp.stewart_trinkle(problem, directions)
        words = f"{words}, {directions} directions"
    elif restatement == "frictionless":
        restated = perp.frictionless(problem)
    else:
        restated = perp.fixed_box(problem, rng.uniform(0.0, 1.0, problem.contacts))
    return Sample(restated, True, f"{words}, b = J v")


def draw_hidden_contacts(rng: Draw, most: int) -> Sample:
    """Contacts of moving bodies whose A only multiplies."""
    model, dimension = str(rng.choice(["box", "cone", "convex", "disc"])), int(rng.integers(2, 4))
    plain, words = _moving(model, dimension, rng, most)
    operator, form = hide(plain.A.to_dense(), rng)
    problem = perp.ContactProblem(
        operator, plain.b, plain.friction, model, dimension=dimension, lower=plain.lower, upper=plain.upper
    )
    return Sample(problem, True, f"{model} {dimension}d, {words}, b = J v, {form}")


def _moving(model: str, dimension: int, rng: Draw, most: int) -> tuple[perp.ContactProblem, str]:
    operator, others, friction, words = _draw_bodies(dimension, rng, most)
    b = operator.J @ rng.standard_normal(operator.J.shape[1])
    if model == "disc":
        friction = friction * rng.random(friction.size)
    limits = np.full(others, -np.inf), np.full(others, np.inf)
    A = _in_some_form(operator, rng)
    problem = perp.ContactProblem(A, b, friction, model, dimension=dimension, lower=limits[0], upper=limits[1])
    return problem, words


def _draw_bodies(dimension: int, rng: Draw, most: int) -> tuple[perp.FactoredOperator, int, Vector, str]:
    contacts = max(1, draw_size(rng, most - MOST_EXTRA) // dimension)
    others = int(rng.integers(1, MOST_EXTRA + 1)) if rng.random() < 0.4 else 0
    operator = draw_jacobian(rng, contacts, dimension, others)
    bodies = operator.mass.dofs // (6 if dimension == 3 else 3)
    words = f"{bodies} bodies, {others} other rows, compliance {operator.compliance[0]:.0e}"
    return operator, others, _draw_friction(contacts, rng), words


def draw_jacobian(rng: Draw, contacts: int, dimension: int, others: int = 0) -> perp.FactoredOperator:
    """Random rows between pairs of bodies, or a body and the world; few bodies make many of them redundant."""
    bodies = int(rng.integers(1, 2 + contacts))
    first = rng.integers(0, bodies, contacts)
    second = np.where(rng.random(contacts) < 0.3, -1, (first + rng.integers(0, bodies, contacts)) % bodies)
    second[second == first] = -1
    extra_first = rng.integers(0, bodies, others)
    extra_second = np.where(rng.random(others) < 0.5, -1, (extra_first + 1) % bodies)
    extra_second[extra_second == extra_first] = -1
    pairs = np.concatenate(
        [
            np.repeat(np.stack([first, second], axis=1), dimension, axis=0),
            np.stack([extra_first, extra_second], axis=1).reshape(-1, 2),
        ]
    )
    dofs = 6 if dimension == 3 else 3
    mass = 10.0 ** (rng.uniform(0.0, 2.0) * rng.uniform(-1.0, 1.0, bodies))
    masses: Any
    if dimension == 3:
        masses = perp.BodyMasses(mass, mass[:, None, None] * np.array([spd(3, rng) for _ in range(bodies)]))
    else:
        masses = perp.PlanarMasses(mass, mass * rng.uniform(0.1, 1.0, bodies))
    jacobian = rng.standard_normal((len(pairs), 2, dofs))
    compliance = float(rng.choice([0.0, 0.0, 10.0 ** rng.uniform(-8.0, -1.0)]))
    return perp.FactoredOperator.from_body_pairs(pairs, jacobian, masses, compliance)


def _draw_friction(contacts: int, rng: Draw) -> Vector:
    if rng.random() < 0.2:
        return np.full(contacts, float(rng.choice([0.0, 1.0, 10.0])))
    return rng.choice([0.0, 0.1, 0.3, 0.5, 0.9, 2.0], contacts)


def _draw_limits(others: int, rng: Draw) -> tuple[Vector, Vector]:
    lower = rng.choice([-np.inf, -0.5, 0.0], others)
    upper = rng.choice([np.inf, 0.5, 0.1], others)
    return lower, upper


def _in_some_form(operator: perp.FactoredOperator, rng: Draw) -> Any:
    form = int(rng.integers(4))
    if form == 0:
        return operator.to_dense()
    if form == 1:
        return operator.to_sparse()
    if form == 2:
        return perp.FactoredOperator(operator.J, operator.mass.to_sparse(), operator.compliance)
    return operator
