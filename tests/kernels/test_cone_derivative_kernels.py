"""The equations of contact laws and their derivatives, against a plain twin and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

from perp.kernels.contacts import cone_derivative as kernels

LAWS = {
    "following boxes": kernels.FOLLOWING_BOXES,
    "following discs": kernels.FOLLOWING_DISCS,
    "cones": kernels.CONES,
    "fixed discs": kernels.FIXED_DISCS,
    "fixed boxes": kernels.FIXED_BOXES,
    "lifted cones": kernels.LIFTED_CONES,
}
CONTACTS = 5


def projected(name, z, strength):
    """P(z) of one contact, as the module says it."""
    if "cones" in name:
        return twins.project_on_cone(z, strength)
    normal = max(z[0], 0.0)
    limit = strength if "fixed" in name else strength * normal
    tangents = twins.project_on_disc(z[1:], limit) if "discs" in name else np.clip(z[1:], -limit, limit)
    return np.array([normal, *tangents])


def F_of_twin(name, strength, lift, base, x, y, rho):
    F = np.empty(x.shape)
    for c in range(len(x)):
        u = y[c].copy()
        if name == "cones":
            u[0] += lift[c]
        elif name == "lifted cones":
            u[0] += strength[c] * np.linalg.norm(u[1:])
        F[c] = x[c] - projected(name, base[c] - rho[c] * u, strength[c])
    return F


class Draw:
    """Random contacts; x = 0 and y = 0 in some entries, so that corners are met."""

    def __init__(self, seed, width, carried):
        rng = np.random.default_rng(seed)
        shape = (CONTACTS, width)
        self.width, self.carried = width, carried
        self.x = rng.standard_normal(shape) * rng.choice([0.0, 1.0], shape, p=[0.1, 0.9])
        self.y = rng.standard_normal(shape) * rng.choice([0.0, 1.0], shape, p=[0.1, 0.9])
        self.base = self.x if carried else rng.standard_normal(shape)
        self.strength = rng.choice([0.0, 0.3, 1.2], CONTACTS)
        self.lift = rng.random(CONTACTS)
        self.rho = np.exp(rng.uniform(-1.0, 1.0, CONTACTS))
        self.unit = np.exp(rng.uniform(-1.0, 1.0, CONTACTS))

    def evaluate(self, law):
        F = np.empty(self.x.size)
        theta = kernels.evaluate(
            law, np.uint64(self.width), self.strength, self.lift, self.carried, *self.vectors(), self.rows(self.unit), F
        )
        return F.reshape(self.x.shape), theta

    def linearise(self, law):
        blocks = [np.empty(self.x.size * self.width) for _ in range(2)]
        base, _, y, rho = self.vectors()
        kernels.linearise(law, np.uint64(self.width), self.strength, self.lift, self.carried, base, y, rho, *blocks)
        return [block.reshape(CONTACTS, self.width, self.width) for block in blocks]

    def vectors(self):
        return self.base.reshape(-1).copy(), self.x.reshape(-1).copy(), self.y.reshape(-1).copy(), self.rows(self.rho)

    def rows(self, numbers):
        return np.repeat(numbers, self.width)


@pytest.mark.parametrize("name", LAWS)
@given(seed=st.integers(0, 2**31), width=st.sampled_from([2, 3]), carried=st.booleans())
def test_the_equations_are_those_of_the_twin(name, seed, width, carried):
    draw = Draw(seed, width, carried)
    F, theta = draw.evaluate(LAWS[name])
    expected = F_of_twin(name, draw.strength, draw.lift, draw.base, draw.x, draw.y, draw.rho)
    np.testing.assert_allclose(F, expected, atol=1e-13)
    assert theta == pytest.approx(0.5 * np.sum((F / draw.unit[:, None]) ** 2))


@pytest.mark.parametrize("name", LAWS)
@given(seed=st.integers(0, 2**31), width=st.sampled_from([2, 3]), carried=st.booleans())
def test_the_derivatives_are_those_of_finite_differences(name, seed, width, carried):
    """Where the function is smooth, which is where differences to both sides agree."""
    draw = Draw(seed, width, carried)
    E, G = draw.linearise(LAWS[name])

    def F(x, y):
        base = x if carried else draw.base
        return F_of_twin(name, draw.strength, draw.lift, base, x, y, draw.rho)

    h, here = 1e-6, F(draw.x, draw.y)
    for j in range(width):
        move = np.zeros(draw.x.shape)
        move[:, j] = h
        for block, ahead, behind in (
            (E, F(draw.x + move, draw.y), F(draw.x - move, draw.y)),
            (G, F(draw.x, draw.y + move), F(draw.x, draw.y - move)),
        ):
            smooth = np.abs(ahead + behind - 2.0 * here).max(axis=1) < 1e-9
            np.testing.assert_allclose(block[smooth, :, j], ((ahead - behind) / (2 * h))[smooth], atol=1e-4)


def test_every_law_has_smooth_points_in_the_draws():
    """Else the test above would say nothing."""
    draw = Draw(3, 3, True)
    for law in LAWS.values():
        E, G = draw.linearise(law)
        assert np.abs(E).max() > 0.1
        assert np.abs(G).max() > 0.1


@pytest.mark.parametrize("name", LAWS)
def test_a_small_slack_is_not_lost_beside_a_large_impulse(name):
    draw = Draw(0, 3, True)
    draw.x[:] = [1e12, 1e5, -1e5]
    draw.base = draw.x
    draw.y[:] = [1e-9, 2e-9, 2e-9]
    draw.strength[:], draw.lift[:], draw.rho[:] = 0.5, 0.0, 1.0
    if "fixed" in name:
        draw.strength[:] = 1e6
    F, _ = draw.evaluate(LAWS[name])
    np.testing.assert_allclose(F[:, 1:], 2e-9, rtol=1e-12)


@given(seed=st.integers(0, 2**31), carried=st.booleans())
def test_rows_after_the_contacts_have_the_natural_map_of_their_box(seed, carried):
    rng = np.random.default_rng(seed)
    n, first = 12, 3
    x, y, rho, unit = rng.standard_normal(n), rng.standard_normal(n), np.full(n, 0.7), np.full(n, 2.0)
    base = x if carried else rng.standard_normal(n)
    lower = rng.choice([-np.inf, -0.5], n - first)
    upper = rng.choice([np.inf, 0.5, -0.5], n - first)
    lower.flags.writeable = upper.flags.writeable = False
    F, E, G = np.zeros(n), np.empty(n - first), np.empty(n - first)
    theta = kernels.evaluate_rows(np.uint64(first), lower, upper, carried, base, x, y, rho, unit, F)
    z = (base - 0.7 * y)[first:]
    np.testing.assert_allclose(F[first:], x[first:] - np.clip(z, lower, upper), atol=1e-14)
    assert not F[:first].any()
    assert theta == pytest.approx(0.5 * np.sum((F / 2.0) ** 2))
    kernels.linearise_rows(np.uint64(first), lower, upper, carried, base, y, rho, E, G)
    free = (lower < z) & (z < upper)
    np.testing.assert_array_equal(E, 1.0 - free if carried else np.ones(n - first))
    np.testing.assert_array_equal(G, 0.7 * free)
