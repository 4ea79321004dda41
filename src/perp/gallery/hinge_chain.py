"""Chains of hinged links: ill-conditioned in a way that no scaling of rows mends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import box_inertia, contact_jacobian
from perp.gallery.options import About
from perp.gallery.planted import Active, Degenerate, planted_box
from perp.problems.operators import BodyMasses, FactoredOperator

LINK = (1.0, 0.3, 0.3)
"""Edges of a link [m]."""


@catalogued()
def hinged_chain(
    n: Annotated[int, About("rows wanted; rounded to whole links of six rows", 1, 1_000_000)] = 360,
    seed: int = 0,
    *,
    braces: Annotated[int, About("links in the middle that are also tied to the last but one before them", 0)] = 4,
    mass_ratio: Annotated[float, About("the heaviest link may weigh so many times the lightest", 1.0)] = 100.0,
    compliance: Annotated[float, About("diagonal of C [(m/s)/(N s)]", 0.0)] = 1e-6,
    strength: Annotated[float, About("the impulse beyond which a joint gives way [N s]", 0.0)] = 1.0,
    active: Active = 0.9,
    degenerate: Degenerate = 0.0,
) -> Example:
    """A hanging chain of hinged links whose joints give way beyond some impulse; condition about 1 / compliance.

    Boxed: |x_i| <= strength. For preconditioners: where a knot of links is braced, IC(0) meets negative pivots.
    """
    links = max(2, round((n - 3 * braces) / 6))
    first = max(2, (links - braces) // 2)
    A = hinge_chain(
        links, braces=range(first, min(first + braces, links)), mass_ratio=mass_ratio, compliance=compliance, seed=seed
    )
    return planted_box(A, -strength, strength, active=active, degenerate=degenerate, seed=seed)


def hinge_chain(
    links: int, *, braces: Sequence[int] = (), mass_ratio: float = 100.0, compliance: float = 1e-6, seed: int = 0
) -> FactoredOperator:
    """A = J M^-1 J^T + C of a curled chain that hangs on the ground; masses are drawn from 1 to `mass_ratio` [kg].

    Each link is held to the one before by two ball joints, six rows that can stop five velocities: a hinge. Only the
    compliance makes A regular, so its condition number is about 1 / compliance whatever the units of the rows. Without
    braces a factor without fill is exact. Each link k among `braces` is also tied to link k - 2 by a ball joint: where
    several in succession are, as in a knot, IC(0) meets negative pivots.
    """
    rng = np.random.default_rng(seed)
    along = np.array([1.0, 0.0, 0.0]) + 0.3 * rng.standard_normal((links, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    node = np.concatenate([np.zeros((1, 3)), np.cumsum(along, axis=0)])
    centre = np.concatenate([0.5 * (node[:-1] + node[1:]), np.zeros((1, 3))])  # the last one, number -1, is the ground
    mass = mass_ratio ** rng.random(links)
    pairs, points = [], []
    for k in range(links):
        for _ in range(2):
            pairs.append((k - 1, k))
            points.append(node[k] + 0.2 * rng.standard_normal(3))
        if k in braces:
            pairs.append((k - 2, k))
            points.append(0.5 * (centre[k] + centre[k - 2]))
    bodies, place = np.array(pairs), np.array(points)
    frames = np.broadcast_to(np.eye(3), (len(pairs), 3, 3))
    jacobian = contact_jacobian(frames, place - centre[bodies[:, 0]], place - centre[bodies[:, 1]])
    inertia = box_inertia(mass, np.tile(LINK, (links, 1)), np.eye(3))
    rows = np.repeat(bodies, 3, axis=0)
    return FactoredOperator.from_body_pairs(rows, jacobian, BodyMasses(mass, inertia), compliance)
