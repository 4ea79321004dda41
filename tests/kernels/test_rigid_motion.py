"""Compiled parts of a step of rigid bodies beside plain NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_kernels import needs_compiler
from scipy.spatial.transform import Rotation

import perp
from perp.gallery.geometry import contact_jacobian, random_rotations
from perp.kernels.contacts import point_contacts
from perp.kernels.sweeps import blocked
from perp.kernels.worlds import rigid_motion
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


def rotation_of(q: np.ndarray) -> np.ndarray:
    s, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * s * cross + 2 * cross @ cross


def turn_slowly(dt: float, inertia: np.ndarray, orientation: np.ndarray, spin: np.ndarray):
    """The orientation and the spin after dt: the mean momentum of the turn, by many repetitions."""
    R = rotation_of(orientation)
    momentum = inertia @ R.T @ spin
    W = R.T @ spin
    for _ in range(200):
        end = Rotation.from_rotvec(-dt * W).apply(momentum)
        W = np.linalg.solve(inertia, 0.5 * (momentum + end))
    half = 0.5 * dt * np.linalg.norm(W)
    axis = W / np.linalg.norm(W) if half else np.zeros(3)
    after = quaternion_product(orientation, np.array([math.cos(half), *(math.sin(half) * axis)]))
    return after, rotation_of(after) @ np.linalg.solve(inertia, rotation_of(after).T @ R @ momentum)


def some_body(rng: np.random.Generator) -> tuple[np.ndarray, perp.BodyMasses, np.ndarray]:
    factor = rng.standard_normal((3, 3))
    inertia = factor @ factor.T + np.eye(3)
    orientation = rng.standard_normal(4)
    return inertia, perp.BodyMasses([1.0], [inertia]), orientation / np.linalg.norm(orientation)


def advance(dt: float, masses: perp.BodyMasses, velocity: np.ndarray, position: np.ndarray, orientation: np.ndarray):
    new = (np.empty(3), np.empty(4))
    velocity = velocity.copy()
    own = (masses.inertia.reshape(-1), masses.packed())
    probe = rigid_motion.advance(dt, *own, velocity, position, orientation, *new)
    return probe, velocity, *new


@pytest.mark.parametrize("speed", [0.0, 1e-12, 1e-6, 1.0, 20.0])
def test_a_step_turns_a_body_as_its_momentum_says(speed):
    rng = np.random.default_rng(1)
    inertia, masses, orientation = some_body(rng)
    position, velocity, dt = rng.standard_normal(3), rng.standard_normal(6), 0.02
    velocity[3:] *= speed / np.linalg.norm(velocity[3:])
    probe, after, new_position, new_orientation = advance(dt, masses, velocity, position, orientation)
    expected, spin = turn_slowly(dt, inertia, orientation, velocity[3:])
    np.testing.assert_allclose(new_orientation, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(after[3:], spin, rtol=1e-12, atol=1e-16)
    np.testing.assert_array_equal(new_position, position + dt * velocity[:3])
    assert probe == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_a_turn_keeps_momentum_and_energy(seed):
    rng = np.random.default_rng(seed)
    inertia, masses, orientation = some_body(rng)
    velocity = 5.0 * rng.standard_normal(6)
    _, after, _, turned = advance(0.02, masses, velocity, np.zeros(3), orientation)
    before, now = (rotation_of(q) @ inertia @ rotation_of(q).T for q in (orientation, turned))
    np.testing.assert_allclose(now @ after[3:], before @ velocity[3:], rtol=0, atol=1e-12)
    assert after[3:] @ now @ after[3:] == pytest.approx(velocity[3:] @ before @ velocity[3:], rel=1e-13)


def test_the_turn_agrees_with_the_kinematic_map_of_the_thesis_to_first_order():
    """THESIS eq. 2.3 and 2.7, q + dt H(q) w, and the gyroscopic term, dw = -dt I^-1 (w x L)."""
    rng = np.random.default_rng(2)
    inertia, masses, q = some_body(rng)
    a, b, c, d = q
    H = 0.5 * np.array([[-b, -c, -d], [a, d, -c], [-d, a, b], [c, -b, a]])
    velocity = rng.standard_normal(6)
    spin, turned = velocity[3:], rotation_of(q) @ inertia @ rotation_of(q).T
    gyroscopic = -np.linalg.solve(turned, np.cross(spin, turned @ spin))
    errors = []
    for dt in (1e-2, 1e-3):
        _, after, _, new = advance(dt, masses, velocity, np.zeros(3), q)
        errors.append((np.abs(new - (q + dt * H @ spin)).max(), np.abs(after[3:] - spin - dt * gyroscopic).max()))
    assert (np.array(errors[1]) < 1.5e-2 * np.array(errors[0])).all(), errors


@needs_compiler  # Python raises where C has a sine of infinity
@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_a_velocity_that_is_not_finite_is_told(place, value):
    velocity = np.zeros(6)
    velocity[place] = value
    masses = perp.BodyMasses([1.0], [np.eye(3)])
    assert math.isnan(advance(10.0, masses, velocity, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))[0])


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
    blocked.prepare(freeze(W.reshape(-1)), np.uint64(width), 0.5, is_box, 1e-8, 1e75, np.uint64(8), local)
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


def test_forces_accelerate_bodies_by_the_inverse_of_their_mass():
    rng = np.random.default_rng(6)
    masses = random_masses(4, rng)
    force = rng.standard_normal(24)
    expected = np.einsum("bij,bj->bi", masses.inverse_blocks, force.reshape(4, 6)).reshape(-1)
    np.testing.assert_allclose(masses.solve(force), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(masses.solve(np.column_stack([force, force]))[:, 1], expected, rtol=0, atol=1e-14)
    assert (masses.solve(force)[6:12] == 0.0).all()  # this body cannot move


def test_friction_is_carried_over_as_a_vector_of_the_world():
    rng = np.random.default_rng(7)
    for width in (2, 3):
        frames = rng.standard_normal((2, 4, width, width))
        x, match = rng.standard_normal(4 * width), np.array([2, -1, 0, 3])
        start = np.full(4 * width, np.nan)
        point_contacts.carry(np.uint64(width), match, x, frames[0].reshape(-1), frames[1].reshape(-1), start)
        for new, old in enumerate(match):
            expected = np.zeros(width)
            if old >= 0:
                impulse = x.reshape(4, width)[old]
                world = impulse[1:] @ frames[0, old, 1:]
                expected = np.array([impulse[0], *(frames[1, new, 1:] @ world)])
            np.testing.assert_allclose(start.reshape(4, width)[new], expected, rtol=0, atol=1e-14)


def test_contacts_are_collected_from_what_was_found():
    geoms = np.array([[0, 1], [0, 1], [2, 1], [2, 3], [0, 4]], dtype=np.int32)
    body_of_geom = freeze(np.array([-1, 0, 1, 1, -1]))
    point = np.array([[0, 0, 0], [0, 0, 1e-5], [1, 0, 0], [2, 0, 0], [3, 0, 0]], dtype=np.float64)
    rng = np.random.default_rng(8)
    frame, rotation, centre = random_rotations(5, rng), random_rotations(2, rng), rng.standard_normal((2, 3))
    distance, dim = np.array([0.01, 0.02, 0.0, 0.0, 0.0]), np.array([3, 3, 1, 3, 3], dtype=np.int32)
    friction, rounding = np.array([0.5, 0.5, 0.5, 0.5, 0.5]), np.array([0.0, 1e-3, 2e-3, 0.0, 0.0])
    restitution = np.array([0.1, 0.3, 0.2, 0.0, 0.0])
    made = [np.empty(5, dtype=np.uint64), np.empty(5), np.empty((5, 2), dtype=np.int64), np.empty((5, 3))]
    made += [np.empty((5, 3, 3)), np.empty(5), np.empty(5), np.empty((5, 3))]
    given = (geoms, point, frame, distance, dim, friction)
    tables = (rounding, body_of_geom, restitution, freeze(centre), freeze(rotation.copy()))
    flat = [array.reshape(-1) for array in (*given, *tables)]
    kept = point_contacts.collect(
        *flat, 1e-5, 1e-3, 0.5, np.empty(5, dtype=np.bool_), *(one.reshape(-1) for one in made)
    )
    pair, gap, bodies, new_point, new_frame, new_friction, bounce, local = (array[:kept] for array in made)
    assert kept == 2  # the second is the first again; the fourth is within one body, the fifth within the world
    assert pair.tolist() == [1, 11]
    np.testing.assert_allclose(gap, [0.009, -0.003])
    assert bodies.tolist() == [[-1, 0], [1, 0]]
    np.testing.assert_array_equal(new_point, point[[0, 2]])
    np.testing.assert_array_equal(new_frame, frame[[0, 2]])
    assert new_friction.tolist() == [0.5, 0.0]
    assert bounce.tolist() == [0.3, 0.3]
    expected = [rotation[0].T @ (point[0] - centre[0]), rotation[1].T @ (point[2] - centre[1])]
    np.testing.assert_allclose(local, expected, rtol=0, atol=1e-14)


def test_frames_lie_where_their_centres_of_mass_say():
    rng = np.random.default_rng(9)
    position, centre = rng.standard_normal((3, 3)), freeze(rng.standard_normal((3, 3)))
    orientation = rng.standard_normal((3, 4))
    orientation /= np.linalg.norm(orientation, axis=1, keepdims=True)
    rotation = np.array([rotation_of(q) for q in orientation])
    frames = np.empty(21)
    given = (freeze(position), freeze(orientation), freeze(rotation), centre)
    rigid_motion.place_frames(*(array.reshape(-1) for array in given), frames)
    origin = position - np.einsum("bij,bj->bi", rotation, centre)
    np.testing.assert_allclose(frames.reshape(3, 7), np.column_stack([origin, orientation]), rtol=0, atol=1e-15)
