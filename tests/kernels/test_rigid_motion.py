"""Compiled parts of a step of rigid bodies beside plain NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import perp
from perp.gallery.contact_jacobian import contact_jacobian, random_rotations
from perp.kernels import block_setup, point_contacts, rigid_motion
from perp.problems.inputs import freeze
from perp.problems.operators import PlanarMasses


def random_masses(count: int, rng: np.random.Generator) -> perp.BodyMasses:
    factors = rng.standard_normal((count, 3, 3))
    mass = rng.uniform(0.5, 3.0, count)
    mass[1] = np.inf
    return perp.BodyMasses(mass, factors @ factors.transpose(0, 2, 1) + np.eye(3))


def test_turned_masses_are_the_masses_of_turned_inertias():
    rng = np.random.default_rng(0)
    masses, turns = random_masses(6, rng), random_rotations(6, rng)
    turned = masses.turned(turns)
    inertia = turns @ masses.inertia @ turns.transpose(0, 2, 1)
    fresh = perp.BodyMasses(masses.mass, 0.5 * (inertia + inertia.transpose(0, 2, 1)))
    fresh_inertia = np.where(np.isfinite(masses.mass)[:, None, None], fresh.inertia, turned.inertia)
    np.testing.assert_allclose(turned.inertia, fresh_inertia, rtol=0, atol=1e-13)
    np.testing.assert_allclose(turned.inverse_blocks, fresh.inverse_blocks, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(turned.inertia, turned.inertia.transpose(0, 2, 1))
    velocity = rng.standard_normal(36)
    expected = np.einsum("bij,bj->bi", turned.inertia, velocity.reshape(-1, 6)[:, 3:])
    np.testing.assert_allclose(turned.spin_momenta(velocity), expected, rtol=1e-13, atol=1e-13)


def quaternion_product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    real = p[0] * q[0] - p[1:] @ q[1:]
    return np.array([real, *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


@pytest.mark.parametrize("speed", [0.0, 1e-12, 1e-6, 1.0, 100.0])
def test_a_step_turns_a_body_by_its_spin(speed):
    rng = np.random.default_rng(1)
    position, velocity, dt = rng.standard_normal(3), rng.standard_normal(6), 0.02
    orientation = rng.standard_normal(4)
    orientation /= np.linalg.norm(orientation)
    velocity[3:] *= speed / np.linalg.norm(velocity[3:])
    new_position, new_orientation = np.empty(3), np.empty(4)
    probe = rigid_motion.advance(dt, velocity, position, orientation, new_position, new_orientation)
    half = 0.5 * dt * speed
    axis = velocity[3:] / speed if speed else np.zeros(3)
    turn = np.array([math.cos(half), *(math.sin(half) * axis)])
    np.testing.assert_allclose(new_orientation, quaternion_product(turn, orientation), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(new_position, position + dt * velocity[:3])
    assert probe == 0.0


def test_the_turn_agrees_with_the_kinematic_map_of_the_thesis_to_first_order():
    """THESIS eq. 2.3 and 2.7: q + dt H(q) w."""
    rng = np.random.default_rng(2)
    q = rng.standard_normal(4)
    q /= np.linalg.norm(q)
    a, b, c, d = q
    H = 0.5 * np.array([[-b, -c, -d], [a, d, -c], [-d, a, b], [c, -b, a]])
    velocity = rng.standard_normal(6)
    errors = []
    for dt in (1e-2, 1e-3):
        new = np.empty(4)
        rigid_motion.advance(dt, velocity, np.zeros(3), q, np.empty(3), new)
        errors.append(np.abs(new - (q + dt * H @ velocity[3:])).max())
    assert errors[1] < 1.1e-2 * errors[0]


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_a_velocity_that_is_not_finite_is_told(place, value):
    velocity = np.zeros(6)
    velocity[place] = value
    new = (np.empty(3), np.empty(4))
    probe = rigid_motion.advance(10.0, velocity, np.zeros(3), np.array([1.0, 0, 0, 0]), *new)
    assert math.isnan(probe)


def test_rows_of_contacts_are_those_of_the_readable_jacobian():
    rng = np.random.default_rng(3)
    contacts, count = 7, 4
    bodies = np.array([(-1, 0), (1, 2), (3, -1), (2, 0), (0, 3), (1, 3), (-1, 2)], dtype=np.int64)
    frames, point, centre = (
        random_rotations(contacts, rng),
        rng.standard_normal((contacts, 3)),
        rng.standard_normal((count, 3)),
    )
    jacobian = np.empty(36 * contacts)
    point_contacts.write_rows(
        bodies.reshape(-1), point.reshape(-1), frames.reshape(-1).copy(), centre.reshape(-1), jacobian
    )
    expected = contact_jacobian(frames, point - centre[bodies[:, 0]], point - centre[bodies[:, 1]]).reshape(-1, 3, 2, 6)
    for side in (0, 1):
        expected[bodies[:, side] == -1, :, side] = 0.0
    np.testing.assert_allclose(jacobian.reshape(-1, 3, 2, 6), expected, rtol=0, atol=1e-15)


def nearest_matches(old_pair, old_point, new_pair, new_point) -> list[int]:
    """Of all couples of a pair the nearest first, then the nearest of those that are left."""
    match = [-1] * len(new_pair)
    couples = [
        (np.sum((old_point[old] - new_point[new]) ** 2), new, old)
        for new in range(len(new_pair))
        for old in range(len(old_pair))
        if old_pair[old] == new_pair[new]
    ]
    for _, new, old in sorted(couples):
        if match[new] < 0 and old not in match:
            match[new] = old
    return match


@pytest.mark.parametrize("seed", range(5))
def test_contacts_are_matched_by_the_smallest_distances_first(seed):
    rng = np.random.default_rng(seed)
    old_pair, new_pair = (rng.integers(0, 6, size).astype(np.uint64) for size in (20, 25))
    old_point, new_point = rng.standard_normal((20, 3)), rng.standard_normal((25, 3))
    order = [np.argsort(pair, kind="stable").astype(np.uint32) for pair in (old_pair, new_pair)]
    match = np.empty(25, dtype=np.int64)
    old, new = (order[0], old_pair, old_point.reshape(-1)), (order[1], new_pair, new_point.reshape(-1))
    point_contacts.match_points(*old, *new, np.zeros(20, dtype=np.bool_), match)
    assert match.tolist() == nearest_matches(old_pair, old_point, new_pair, new_point)


@pytest.mark.parametrize("planar", [False, True])
def test_relative_velocities_and_blocks_are_those_of_the_matrix(planar):
    rng = np.random.default_rng(4)
    count, width = 5, 3 if planar else 6
    masses = PlanarMasses(rng.uniform(1, 2, count), rng.uniform(1, 2, count)) if planar else random_masses(count, rng)
    pairs = np.repeat([(0, 1), (2, -1), (-1, 3), (4, 2)], 2, axis=0)
    A = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((8, 2, width)), masses)
    v = rng.standard_normal(masses.dofs)
    np.testing.assert_allclose(A.relative_velocity(v), A.J.toarray() @ v, rtol=0, atol=1e-14)
    dense = A.to_dense()
    blocks = A.diagonal_blocks(2, 4)
    for block in range(4):
        rows = slice(2 * block, 2 * block + 2)
        np.testing.assert_allclose(blocks[block], dense[rows, rows], rtol=0, atol=1e-13)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("is_box", [False, True])
def test_the_numbers_of_a_contact_stand_for_its_block(width, is_box):
    """W_nn, 1 / W_nn, the coupling and the Schur complement of the tangents give the block back."""
    rng = np.random.default_rng(5)
    factors = rng.standard_normal((6, width, width))
    W = factors @ factors.transpose(0, 2, 1) + 0.1 * np.eye(width)
    local = np.empty(8 * 6)
    block_setup.prepare(freeze(W.reshape(-1)), np.uint64(width), 0.5, is_box, 1e-8, 1e75, np.uint64(8), local)
    for block, numbers in zip(W / 0.5, local.reshape(-1, 8), strict=True):
        w_n, inverse, a_1, a_2, s_1, s_2, cosine, sine = numbers
        assert inverse == pytest.approx(1.0 / w_n)
        if is_box:
            coupling, S = np.array([a_1, a_2]), np.array([[s_1, sine], [sine, s_2]])
        else:
            turn = np.array([[cosine, -sine], [sine, cosine]])
            coupling, S = turn @ [a_1, a_2], turn @ np.diag([s_1, s_2]) @ turn.T
        again = np.zeros((3, 3))
        again[0, 0], again[0, 1:], again[1:, 0] = w_n, w_n * coupling, w_n * coupling
        again[1:, 1:] = S + w_n * np.outer(coupling, coupling)
        np.testing.assert_allclose(again[:width, :width], block, rtol=0, atol=1e-12)


def test_of_contacts_that_are_all_but_the_same_the_deepest_is_kept():
    pair = np.array([5, 5, 5, 5, 9, 9], dtype=np.uint64)
    point = np.array([[0, 0, 0], [1, 0, 0], [1e-4, 0, 0], [1, 2e-4, 0], [0, 0, 0], [0, 0, 5e-4]], dtype=np.float64)
    gap = np.array([0.1, -0.2, 0.0, -0.1, 0.3, 0.3])
    keep = np.empty(6, dtype=np.bool_)
    point_contacts.keep_apart(pair, point.reshape(-1), gap, 1e-3, 0.5, keep)
    assert keep.tolist() == [False, True, True, False, True, False]
    point_contacts.keep_apart(pair, point.reshape(-1), gap, 1e-3, 0.05, keep)
    assert keep.tolist() == [False, True, True, False, False, False]
