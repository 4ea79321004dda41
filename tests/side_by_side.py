"""Contact problems that stand side by side on one ground, with their rows shuffled."""

from __future__ import annotations

import numpy as np

import perp


def make_stack(
    seed: int, rows: int = 36, joints: int = 0, model: str = "box", softness: float = 1e-3
) -> perp.ContactProblem:
    """A tower of boxes under gravity, with rows that hold its first boxes, or the first of them and the world.

    `softness` is the compliance of all rows, up to a random factor: where it is large, everything is easily solved.
    """
    stack = perp.gallery.make("box_stack", n=rows, seed=seed, model=model, layout="tower", load="gravity").problem
    rng = np.random.default_rng(seed)
    bodies, jacobian = stack.A.pairs.as_given()
    pairs = np.array([[0, 1], [0, -1]] * (joints + 1))[:joints]
    if stack.A.mass.mass.size == 1:
        pairs[pairs == 1] = -1
    operator = perp.FactoredOperator.from_body_pairs(
        np.concatenate([bodies, pairs]),
        np.concatenate([jacobian, rng.standard_normal((joints, 2, 6))]),
        stack.A.mass,
        softness * rng.uniform(1.0, 2.0, stack.n + joints),
    )
    return perp.ContactProblem(
        operator,
        np.concatenate([stack.b, 0.1 * rng.standard_normal(joints)]),
        stack.friction * rng.uniform(0.5, 1.5, stack.contacts),
        model,
        lower=rng.choice([-np.inf, -0.1], joints),
        upper=rng.choice([np.inf, 0.1], joints),
    )


def put_side_by_side(problems: list[perp.ContactProblem], seed: int = 0, ground: bool = False) -> perp.ContactProblem:
    """One problem of several in body pairs; `ground` makes the world a body of infinite mass, the first one."""
    rng = np.random.default_rng(seed)
    dimension, first = problems[0].dimension, int(ground)
    bodies, is_contact = [], np.concatenate([np.arange(one.n) < one.contact_rows for one in problems])
    for one in problems:
        numbers = one.A.pairs.as_given()[0]
        bodies.append(np.where(numbers < 0, -1, numbers + first))
        first += one.A.mass.mass.size
    contacts = np.flatnonzero(is_contact).reshape(-1, dimension)
    contacts = contacts[rng.permutation(len(contacts))].reshape(-1)
    others = rng.permutation(np.flatnonzero(~is_contact))
    order = np.concatenate([contacts, others])

    def joined(part):
        return np.concatenate([part(one) for one in problems])

    def spread(value_of_contacts, value_of_others):
        """One number a row of the problems."""
        return joined(lambda one: np.concatenate([np.repeat(value_of_contacts(one), dimension), value_of_others(one)]))

    pairs, jacobian = np.concatenate(bodies)[order], joined(lambda one: one.A.pairs.as_given()[1])[order]
    mass, inertia = joined(lambda one: one.A.mass.mass), joined(lambda one: one.A.mass.inertia)
    if ground:
        jacobian[pairs == -1] = 1.0  # whatever stands there moves nothing
        pairs[pairs == -1] = 0
        mass, inertia = np.append(np.inf, mass), np.concatenate([np.eye(3)[None], inertia])
    compliance = joined(lambda one: one.A.compliance)[order]
    return perp.ContactProblem(
        perp.FactoredOperator.from_body_pairs(pairs, jacobian, perp.BodyMasses(mass, inertia), compliance),
        joined(lambda one: one.b)[order],
        spread(lambda one: one.friction, lambda one: one.lower)[contacts[::dimension]],
        problems[0].model,
        dimension=dimension,
        lower=spread(lambda one: one.friction, lambda one: one.lower)[others],
        upper=spread(lambda one: one.friction, lambda one: one.upper)[others],
    )
