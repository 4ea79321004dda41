"""Stacks of boxes: the Jacobian, the masses and the redundancy of real contacts."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from perp.gallery import box_stack, boxed_stack
from perp.gallery.geometry import FACES, GROUND, LAYOUTS, POINTS, nearest_layout

LAYOUT_NAMES = sorted(LAYOUTS)


@pytest.mark.parametrize(("layout", "points"), [("tower", 4), ("tower", 8), ("wall", 4)])
def test_a_row_of_the_jacobian_has_twelve_nonzeros_or_six_on_the_ground(layout: str, points: int) -> None:
    J = box_stack(500, 1, layout=layout, points=points).problem.A.J
    plan = nearest_layout(layout, 500 / (3 * points))
    expected = np.repeat(np.where(plan.below == GROUND, 6, 12), 3 * points)
    np.testing.assert_array_equal(np.diff(J.indptr), expected)
    assert np.abs(J.data).min() > 1e-6


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_a_normal_through_the_centre_of_a_box_does_not_turn_it(layout: str) -> None:
    J = box_stack(500, 1, layout=layout, points=9).problem.A.J
    plan = nearest_layout(layout, 500 / 27)
    place = (plan.middle[:, None, :2] + POINTS[9] * plan.extent[:, None, :]).reshape(-1, 2)
    above = np.repeat(plan.above, 9)
    central = np.abs(place - plan.centre[above, :2]).max(axis=1) == 0
    assert central.any()
    for contact in np.flatnonzero(central):
        spin = J[[3 * contact]].toarray().reshape(-1, 6)[above[contact], 3:]
        np.testing.assert_allclose(spin, 0.0, atol=1e-15)


def test_the_jacobian_measures_the_relative_velocity_at_the_contact() -> None:
    """u = v_b + w_b x r_b - v_a - w_a x r_a for a tower of two unit cubes, worked out with world positions."""
    problem = box_stack(24, 3, layout="tower").problem
    J = problem.A.J.toarray().reshape(2, 4, 3, 12)
    frames = J[1, :, :, 6:9]
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.tile(np.eye(3), (4, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(frames), 1.0)
    normal, first, second = frames[0]
    velocity = np.random.default_rng(0).standard_normal(12)
    v_a, w_a, v_b, w_b = velocity.reshape(4, 3)
    for c, (p, q) in enumerate(POINTS[4] / 2):
        offset = p * first + q * second
        u = v_b + np.cross(w_b, offset - normal / 2) - v_a - np.cross(w_a, offset + normal / 2)
        np.testing.assert_allclose(J[1, c] @ velocity, frames[c] @ u, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_boxes_that_move_as_one_rigid_body_have_no_relative_velocity(layout: str) -> None:
    J = box_stack(300, 2, layout=layout).problem.A.J
    plan = nearest_layout(layout, 300 / 12)
    between_boxes = np.repeat(plan.below != GROUND, 12)

    drift = np.tile([1.0, -2.0, 3.0, 0.0, 0.0, 0.0], len(plan.centre))
    np.testing.assert_allclose((J @ drift)[between_boxes], 0.0, atol=1e-14)
    assert np.all(np.linalg.norm((J @ drift)[~between_boxes].reshape(-1, 3), axis=1) == pytest.approx(14**0.5))

    normal, first, second = J[-3:, -6:-3].toarray()
    centre = plan.centre @ np.stack([first, second, normal])
    spin = np.array([0.3, -0.2, 0.5])
    turning = np.concatenate([np.cross(spin, centre), np.tile(spin, (len(centre), 1))], axis=1).reshape(-1)
    np.testing.assert_allclose((J @ turning)[between_boxes], 0.0, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_contacts_are_redundant(layout: str) -> None:
    problem = box_stack(300, 2, layout=layout).problem
    rank = np.linalg.matrix_rank(problem.A.J.toarray(), tol=1e-10)
    assert rank <= problem.A.mass.dofs < problem.n


def test_compliance_makes_the_matrix_positive_definite() -> None:
    rigid = box_stack(100, 1, compliance=0.0).problem.A.to_dense()
    soft = box_stack(100, 1, compliance=1e-3).problem.A.to_dense()
    assert np.linalg.eigvalsh(rigid)[0] < 1e-12
    assert np.linalg.eigvalsh(soft)[0] == pytest.approx(1e-3, rel=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 1e4, 1e-2])
def test_the_mass_ratio_is_that_of_the_top_over_the_bottom(ratio: float) -> None:
    mass = box_stack(120, 1, layout="tower", mass_ratio=ratio).problem.A.mass.mass
    np.testing.assert_allclose(mass[1:] / mass[:-1], ratio ** (1 / 9))
    assert mass[-1] / mass[0] == pytest.approx(ratio)


def test_inertias_are_those_of_solid_boxes_seen_askew() -> None:
    masses = box_stack(200, 1, layout="wall").problem.A.mass
    for mass, inertia in zip(masses.mass, masses.inertia, strict=True):
        length = mass  # bricks 1 m wide and high of unit density
        expected = mass / 12 * np.array([2.0, length**2 + 1, length**2 + 1])
        np.testing.assert_allclose(np.linalg.eigvalsh(inertia), expected, rtol=1e-12)
        assert length == 1 or np.abs(inertia).min() > 1e-3


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_faces_lie_between_the_boxes_that_they_join(layout: str, size: int) -> None:
    plan = LAYOUTS[layout](size)
    assert len(plan.above) == FACES[layout](size)
    for box, side in ((plan.above, -1.0), (plan.below, 1.0)):
        real = box != GROUND
        centre, half = plan.centre[box[real]], plan.size[box[real]] / 2
        np.testing.assert_allclose(plan.middle[real, 2], centre[:, 2] + side * half[:, 2])
        reach = np.abs(plan.middle[real, :2] - centre[:, :2]) + plan.extent[real]
        assert np.all(reach <= half[:, :2] + 1e-12)
    np.testing.assert_allclose(plan.middle[plan.below == GROUND, 2], 0.0)
    # The underside of every box is covered by its faces, and no two boxes overlap.
    area = np.bincount(plan.above, 4 * plan.extent.prod(axis=1))
    np.testing.assert_allclose(area, plan.size[:, :2].prod(axis=1))
    gaps = np.abs(plan.centre[:, None] - plan.centre) - (plan.size[:, None] + plan.size) / 2
    assert np.all(gaps.max(axis=2)[~np.eye(len(plan.size), dtype=bool)] > -1e-12)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_the_ground_carries_all_the_weight(layout: str) -> None:
    plan = LAYOUTS[layout](6)
    mass = np.random.default_rng(0).random(len(plan.size))
    assert plan.carried(mass)[plan.below == GROUND].sum() == pytest.approx(mass.sum())


def test_a_tower_carries_what_stands_above() -> None:
    np.testing.assert_allclose(LAYOUTS["tower"](4).carried(np.array([1.0, 2.0, 3.0, 4.0])), [10.0, 9.0, 7.0, 4.0])


@pytest.mark.parametrize("model", ["box", "cone", "disc"])
@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_planted_contacts_solve_the_stack(layout: str, model: str, misfit) -> None:
    example = box_stack(400, 1, layout=layout, model=model, mass_ratio=1e4, degenerate=0.1)
    assert misfit(example) <= 1e-12
    assert example.problem.model == model
    contacts = example.problem.contacts
    assert np.count_nonzero(example.x[::3]) == round(0.5 * contacts)


def test_gravity_pulls_the_boxes_together() -> None:
    example = box_stack(300, 1, layout="tower", load="gravity")
    assert example.x is None
    b = example.problem.b.reshape(-1, 4, 3)
    assert b[0, :, 0].mean() == pytest.approx(-9.81 / 60, abs=0.02)  # the ground feels the fall ...
    assert np.abs(b[1:]).max() < 0.1  # ... while boxes that fall together hardly move apart


def test_friction_bounds_of_the_boxed_stack_are_the_weight_that_rests_above(misfit) -> None:
    example = boxed_stack(48, 1, layout="tower", friction=0.5)
    lower, upper = example.problem.lower.reshape(4, 4, 3), example.problem.upper.reshape(4, 4, 3)
    assert np.all(lower[:, :, 0] == 0)
    assert np.all(np.isinf(upper[:, :, 0]))
    weight = 9.81 * np.array([4.0, 3.0, 2.0, 1.0]) / 60
    np.testing.assert_allclose(upper[:, :, 1:], np.broadcast_to((0.5 * weight / 4)[:, None, None], (4, 4, 2)))
    np.testing.assert_array_equal(lower[:, :, 1:], -upper[:, :, 1:])
    assert misfit(example) <= 1e-12


def test_discs_of_the_stack_have_the_bounds_of_the_boxed_stack() -> None:
    for load in ("planted", "gravity"):
        discs = box_stack(200, 3, model="disc", load=load, friction=0.7, mass_ratio=10.0).problem
        boxed = boxed_stack(200, 3, load=load, friction=0.7, mass_ratio=10.0).problem
        np.testing.assert_array_equal(discs.friction, boxed.upper[1::3])


def test_the_boxed_stack_has_the_matrix_of_the_stack() -> None:
    contacts, boxed = box_stack(200, 3, load="gravity").problem, boxed_stack(200, 3, load="gravity").problem
    np.testing.assert_array_equal(contacts.A.to_dense(), boxed.A.to_dense())
    np.testing.assert_array_equal(contacts.b, boxed.b)


def test_rows_are_rounded_to_the_nearest_whole_stack() -> None:
    assert box_stack(12, layout="tower").problem.n == 12
    assert box_stack(1, layout="pyramid").problem.n == 12
    assert box_stack(100, layout="tower").problem.n == 96
    assert box_stack(336, layout="wall").problem.n == 12 * 4 * 7
    assert box_stack(100, layout="pyramid").problem.n == 12 * (4 + 4)


def test_the_factored_matrix_is_j_m_inverse_j_transposed_plus_c() -> None:
    operator = box_stack(100, 1, compliance=0.01).problem.A
    J, M = operator.J, operator.mass.to_sparse()
    A = J @ sparse.linalg.spsolve(M.tocsc(), J.T.tocsc()) + 0.01 * sparse.eye_array(operator.n)
    np.testing.assert_allclose(operator.to_dense(), A.toarray(), atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUT_NAMES)
def test_a_hundred_thousand_rows_are_built_in_about_a_second(layout: str) -> None:
    box_stack(12)
    start = time.perf_counter()
    example = box_stack(100_000, layout=layout, model="cone")
    assert time.perf_counter() - start < 3.0
    assert example.problem.n == pytest.approx(100_000, rel=0.1)
    y = example.problem.slack(example.x)
    normal = np.arange(0, example.problem.n, 3)
    assert np.abs(np.minimum(example.x[normal], y[normal])).max() < 1e-12
