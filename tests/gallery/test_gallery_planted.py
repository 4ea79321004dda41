"""Planted solutions solve their problems, and the rows play their parts in the shares asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from perp.gallery import planted_box, planted_contacts, planted_lcp


def random_spd(n: int, seed: int = 0) -> np.ndarray:
    G = np.random.default_rng(seed).standard_normal((n, n))
    return G @ G.T / n + np.eye(n)


@pytest.mark.parametrize(("active", "degenerate"), [(0.5, 0.0), (0.3, 0.2), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_lcp_rows_are_shared_out_as_asked(active: float, degenerate: float, misfit, slack) -> None:
    example = planted_lcp(random_spd(60), active=active, degenerate=degenerate, seed=1)
    y = slack(example)
    assert misfit(example) <= 1e-14
    assert np.count_nonzero(example.x > 0) == round(60 * active)
    assert np.count_nonzero((example.x == 0) & (y == 0)) == round(60 * degenerate)
    assert np.count_nonzero((example.x == 0) & (y > 0.09)) == 60 - round(60 * active) - round(60 * degenerate)


def test_num4lcps_recipe_would_not_solve_its_own_problem() -> None:
    """b_i = -(A x)_i where x_i > 0 and 0 elsewhere leaves y_i = (A x)_i < 0 in the other rows of a fluid matrix."""
    A = sparse.diags_array([[-1.0] * 19, [2.0] * 20, [-1.0] * 19], offsets=[-1, 0, 1]).toarray()
    x = planted_lcp(A, seed=0).x
    b = np.where(x > 0, -A @ x, 0.0)
    assert (A @ x + b).min() < -0.05


def test_box_rows_are_shared_out_among_those_that_have_a_choice(misfit, slack) -> None:
    n = 400
    rng = np.random.default_rng(2)
    lower, upper = -rng.random(n) - 0.5, rng.random(n) + 0.5
    lower[:100], upper[50:150] = -np.inf, np.inf  # 50 upper only, 50 free, 50 lower only
    lower[150:200] = upper[150:200]
    example = planted_box(random_spd(n), lower, upper, active=0.5, degenerate=0.1, seed=3)
    x, y = example.x, slack(example)
    assert misfit(example) <= 1e-14
    assert np.all((lower <= x) & (x <= upper))
    free, fixed = slice(50, 100), slice(150, 200)
    assert np.all(y[free] == 0)
    assert np.all(x[fixed] == lower[fixed])
    assert {-1.0, 1.0} == set(np.sign(y[fixed]))
    choosing = np.r_[:50, 100:150, 200:n]
    x, y, lower, upper = x[choosing], y[choosing], lower[choosing], upper[choosing]
    assert np.count_nonzero((lower < x) & (x < upper)) == 150
    assert np.count_nonzero(((x == lower) | (x == upper)) & (y == 0)) == 30
    assert np.all(y[x == lower] >= 0)
    assert np.all(y[x == upper] <= 0)
    two = np.arange(300) >= 100
    assert 40 < np.count_nonzero(x[two] == upper[two]) < 80


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("model", ["box", "cone"])
def test_contacts_separate_graze_stick_and_slide_as_asked(model: str, dimension: int, misfit, slack) -> None:
    contacts = 100
    friction = np.linspace(0.1, 1.0, contacts)
    A = random_spd(dimension * contacts)
    example = planted_contacts(A, friction, model, dimension=dimension, active=0.6, sliding=0.5, degenerate=0.1, seed=4)
    assert misfit(example) <= 1e-14
    x, y = example.x.reshape(contacts, -1), slack(example).reshape(contacts, -1)
    touching = x[:, 0] > 0
    slipping = np.linalg.norm(y[:, 1:], axis=1) > 0
    assert np.count_nonzero(touching & slipping) == 30
    assert np.count_nonzero(touching & ~slipping) == 30
    assert np.count_nonzero(~touching & (np.abs(y).max(axis=1) == 0)) == 10
    assert np.count_nonzero(~touching & (y[:, 0] > 0) & slipping) == 30
    assert np.all(x[~touching] == 0)

    limit = (friction * x[:, 0])[:, None]
    slides, sticks = touching & slipping, touching & ~slipping
    if model == "box":
        np.testing.assert_array_equal(x[slides, 1:], (-limit * np.sign(y[:, 1:]))[slides])
        assert np.all(np.abs(x[sticks, 1:]) <= 0.9 * limit[sticks])
    else:
        heading = y[:, 1:] / np.where(slipping, np.linalg.norm(y[:, 1:], axis=1), 1.0)[:, None]
        np.testing.assert_allclose(x[slides, 1:], (-limit * heading)[slides], rtol=1e-12, atol=1e-14)
        assert np.all(np.linalg.norm(x[sticks, 1:], axis=1) <= 0.9 * limit[sticks, 0])


@pytest.mark.parametrize("dimension", [2, 3])
def test_in_fixed_discs_contacts_without_a_normal_impulse_rub_too(dimension: int, misfit, slack) -> None:
    contacts = 100
    radius = np.linspace(0.0, 1.0, contacts)
    A = random_spd(dimension * contacts)
    example = planted_contacts(A, radius, "disc", dimension=dimension, active=0.6, sliding=0.5, degenerate=0.1, seed=4)
    assert misfit(example) <= 1e-14
    x, y = example.x.reshape(contacts, -1), slack(example).reshape(contacts, -1)
    touching, opening = x[:, 0] > 0, y[:, 0] > 0
    length, slip = np.linalg.norm(x[:, 1:], axis=1), np.linalg.norm(y[:, 1:], axis=1)
    assert np.count_nonzero(touching & (slip > 0)) == 30
    assert np.count_nonzero(touching & (slip == 0)) == 30
    assert np.count_nonzero(~touching & ~opening & (slip == 0)) == 10
    assert np.count_nonzero(opening & (slip > 0)) == 30
    sticks = touching & (slip == 0)
    assert np.all(length[sticks] <= 0.9 * radius[sticks])
    np.testing.assert_allclose(length[~sticks], radius[~sticks], rtol=1e-14)
    heading = y[:, 1:] / np.where(slip > 0, slip, 1.0)[:, None]
    np.testing.assert_allclose(x[slip > 0, 1:], (-radius[:, None] * heading)[slip > 0], rtol=1e-12, atol=1e-14)


def test_rows_after_the_contacts_are_planted_too(misfit, slack) -> None:
    lower, upper = np.array([-np.inf, -1.0, 0.0]), np.array([np.inf, 1.0, np.inf])
    for seed in range(8):
        for model in ("cone", "disc"):
            example = planted_contacts(random_spd(9), [0.5, 0.5], model, lower=lower, upper=upper, seed=seed)
            assert misfit(example) <= 1e-14
            assert slack(example)[6] == 0


@pytest.mark.parametrize("model", ["box", "cone", "disc"])
def test_without_friction_tangents_carry_nothing(model: str, misfit) -> None:
    example = planted_contacts(random_spd(30), 0.0, model, active=1.0, seed=5)
    assert misfit(example) <= 1e-14
    assert np.all(example.x.reshape(-1, 3)[:, 1:] == 0)


def test_a_generator_can_stand_in_for_the_seed() -> None:
    one = planted_lcp(np.eye(5), seed=7)
    other = planted_lcp(np.eye(5), seed=np.random.default_rng(7))
    np.testing.assert_array_equal(one.x, other.x)


def test_the_callers_matrix_is_left_alone() -> None:
    A = random_spd(5)
    before = A.copy()
    planted_lcp(A)
    np.testing.assert_array_equal(A, before)
