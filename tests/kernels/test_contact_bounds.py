"""Points brought within the bounds of contacts in one compiled pass: the readable twin."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp

SURFACE = 1.0 + 2.0**-50
SIZES = (0.0, -0.0, 1.0, 1e-3, 1e200, 1e-300)


def project(problem, x):
    """Normals first, then the interval or the disc of each tangent, then the other rows."""
    near = x.copy()
    for c, friction in enumerate(problem.friction):
        n = problem.dimension * c
        near[n] = np.maximum(near[n], 0.0)
        limit = friction if problem.model == "disc" else friction * near[n]
        tangents = near[n + 1 : n + problem.dimension]
        if problem.model != "box" and problem.dimension == 3:
            length = np.hypot(*tangents)
            if length > SURFACE * limit:
                tangents *= limit / length
        else:
            tangents[:] = np.clip(tangents, -limit, limit)
    near[problem.contact_rows :] = np.clip(near[problem.contact_rows :], problem.lower, problem.upper)
    return near


@given(
    strategies.SEEDS,
    st.sampled_from(["box", "cone", "disc"]),
    st.sampled_from([2, 3]),
    st.integers(0, 5),
    st.integers(0, 3),
)
def test_the_pass_is_its_readable_twin(seed, model, dimension, contacts, others):
    rng = np.random.default_rng(seed)
    n = dimension * contacts + others
    friction = rng.random(contacts) * rng.choice([0.0, 1.0, 3.0], contacts)
    lower, upper = -rng.random(others), rng.random(others)
    problem = perp.ContactProblem(
        np.eye(n), np.zeros(n), friction, model, dimension=dimension, lower=lower, upper=upper
    )
    x = rng.standard_normal(n) * rng.choice(SIZES, n)
    given_x = x.copy()
    near = problem.project(x)
    np.testing.assert_array_equal(near, project(problem, x))
    assert problem.project(near).tobytes() == near.tobytes()
    assert x.tobytes() == given_x.tobytes()


@pytest.mark.parametrize("model", ["box", "cone", "disc"])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_number_that_is_not_one_is_not_hidden(model, place):
    problem = perp.ContactProblem(np.eye(4), np.zeros(4), [0.0], model, lower=[-1.0], upper=[1.0])
    x = np.array([1.0, 0.0, 0.0, 0.0])
    x[place] = np.nan
    assert np.isnan(problem.project(x)).any()


def test_a_tangent_without_room_is_plus_zero():
    problem = perp.ContactProblem(np.eye(3), np.zeros(3), [0.5])
    near = problem.project(np.array([-1.0, -2.0, -0.0]))
    assert near.tobytes() == np.zeros(3).tobytes()
