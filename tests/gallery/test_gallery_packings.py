"""Packings of spheres: the geometry of their contacts, and what one step under gravity does to them."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.gallery import sphere_packing
from perp.gallery.sphere_packing import MEAN_RADIUS, _Packing


@pytest.mark.parametrize("spheres", [1, 2, 40, 500])
def test_spheres_stay_in_their_box_and_hardly_overlap(spheres: int) -> None:
    packing = _Packing.pour(spheres, 1.5, np.random.default_rng(1))
    radius = packing.radius[:, None]
    assert (packing.centre[:, :2] >= radius).all()
    assert (packing.centre[:, :2] <= packing.width - radius).all()
    assert (packing.centre[:, 2] >= radius[:, 0]).all()
    distance = np.linalg.norm(packing.centre[:, None] - packing.centre[None], axis=2)
    overlap = packing.radius[:, None] + packing.radius[None] - distance
    np.fill_diagonal(overlap, -np.inf)
    assert overlap.max() < 0.5 * MEAN_RADIUS
    assert np.median(overlap[overlap > 0.0]) < 0.05 * MEAN_RADIUS if (overlap > 0.0).any() else True


@pytest.mark.parametrize(("n", "spheres"), [(3, 1), (6, 2), (30, 5), (45, 5), (900, 100)])
def test_the_rows_are_those_that_were_wanted_and_three_contacts_a_sphere(n: int, spheres: int) -> None:
    problem = sphere_packing(n, 2).problem
    assert problem.n == n
    assert problem.A.mass.mass.size == spheres


def test_a_sphere_that_spins_about_the_normal_of_a_contact_does_not_move_it() -> None:
    """Normals pass through centres: J_n has no part in any spin, and tangents have the arm of the radius."""
    A = sphere_packing(300, 4).problem.A
    blocks = A.J.toarray().reshape(100, 3, -1, 6)
    np.testing.assert_allclose(blocks[:, 0, :, 3:], 0.0, atol=1e-14)
    moved = np.linalg.norm(blocks[:, 0, :, :3], axis=2)
    np.testing.assert_allclose(moved[moved > 0.0], 1.0)
    arms = np.linalg.norm(blocks[:, 1, :, 3:], axis=2)
    assert (np.abs(arms[arms > 0.0] - MEAN_RADIUS) < 0.3).all()


def test_spheres_that_drift_as_one_do_so_without_relative_velocity_but_to_the_floor() -> None:
    A = sphere_packing(300, 4).problem.A
    drift = np.tile([1.0, -2.0, 3.0, 0.0, 0.0, 0.0], A.mass.mass.size)
    speed = np.linalg.norm((A.J @ drift).reshape(-1, 3), axis=1)
    on_the_floor = np.array([np.unique(row.indices // 6).size == 1 for row in A.J[1::3]])
    assert 0 < on_the_floor.sum() < 100
    np.testing.assert_allclose(speed[~on_the_floor], 0.0, atol=1e-14)
    np.testing.assert_allclose(speed[on_the_floor], 14**0.5)


@pytest.mark.parametrize("model", ["convex", "disc", "cone"])
def test_a_packing_under_gravity_is_held_by_its_contacts(model: str) -> None:
    problem = sphere_packing(450, 3, model=model, load="gravity").problem
    result = perp.solve(problem, "admm", tol=1e-8, max_iterations=50_000)
    assert result.success
    assert result.x[::3].max() > 0.0


def test_growing_from_below_the_floor_opens_every_contact_within_its_dual_cone() -> None:
    """Slater's point of `load="gravity"`: y_n > friction |y_t| for all contacts."""
    problem = sphere_packing(450, 3, model="convex", friction=1.0, load="gravity").problem
    J = problem.A.J
    packing = _Packing.pour(50, 1.5, np.random.default_rng(3))
    grown = np.zeros((50, 6))
    grown[:, :3] = packing.centre - [0.5 * packing.width, 0.5 * packing.width, -10.0 * packing.width]
    y = (J @ grown.reshape(-1)).reshape(-1, 3)
    assert (y[:, 0] > np.hypot(y[:, 1], y[:, 2])).all()


def test_densities_grow_upwards() -> None:
    mass = sphere_packing(900, 3, mass_ratio=1e4).problem.A.mass.mass
    assert 1e2 < mass.max() / mass.min() < 1e6
    assert sphere_packing(900, 3).problem.A.mass.mass.max() < 1.0
