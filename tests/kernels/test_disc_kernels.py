"""Contacts of discs: the grid finds what a search through all pairs finds, and geometry is what a pencil says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.kernels.worlds import discs as discs_kernels
from perp.kernels.worlds import discs as kernels
from perp.worlds.rigid2d.disc_world import Collision, match
from perp.worlds.rigid2d.discs import Discs, HalfPlane, Segment, Walls

DT = 1 / 60


def flat_state(discs):
    velocity = np.column_stack([discs.velocity, discs.spin])
    return np.array(discs.position).reshape(-1), velocity.reshape(-1)


def find(discs, walls=(), margin=0.0):
    return Collision(discs, Walls(walls), margin).find(*flat_state(discs), DT)


def candidates(discs, walls):
    """Every pair i < j of which one can move, then every disc that moves with every wall, as (identity, bodies, gap,
    speed at which the gap closes)."""
    n, position, radius, velocity = len(discs), discs.position, discs.radius, discs.velocity
    for i in range(n):
        for j in range(i + 1, n):
            if discs.moves[i] or discs.moves[j]:
                between = position[j] - position[i]
                distance = np.hypot(*between)
                closing = -(velocity[j] - velocity[i]) @ between / max(distance, 1e-300)
                yield i * n + j, (i, j), distance - radius[i] - radius[j], max(closing, 0.0)
    for i in np.flatnonzero(discs.moves):
        for w, wall in enumerate(walls):
            distance, normal = from_wall(wall, position[i])
            yield n * n + i * len(walls) + w, (-1, i), distance - radius[i], max(-velocity[i] @ normal, 0.0)


def from_wall(wall, point):
    if isinstance(wall, HalfPlane):
        return (point - wall.point) @ wall.normal, wall.normal
    along = wall.end - wall.start
    share = np.clip((point - wall.start) @ along / (along @ along), 0.0, 1.0)
    away = point - wall.start - share * along
    return np.hypot(*away), away / max(np.hypot(*away), 1e-300)


def assert_same_as_search(discs, walls, margin):
    found = find(discs, walls, margin)
    rounding = 1e-12 * (np.abs(discs.position).max(initial=0.0) + discs.radius.max(initial=0.0))
    expected, sure = {}, set()
    for key, bodies, gap, closing in candidates(discs, walls):
        if gap <= margin + DT * closing + rounding:
            expected[key] = (bodies, gap)
        if gap <= margin + DT * closing - rounding:
            sure.add(key)
    assert sure <= set(found.identity.tolist()) <= set(expected)
    assert (np.diff(found.identity) > 0).all()
    for c, key in enumerate(found.identity.tolist()):
        bodies, gap = expected[key]
        assert tuple(found.bodies[c]) == bodies
        assert found.gap[c] == pytest.approx(gap, abs=rounding)
    return found


@given(
    seed=st.integers(0, 2**31),
    count=st.integers(0, 60),
    crowding=st.floats(0.3, 8.0),
    margin=st.sampled_from([0.0, 0.01, 0.5]),
    ratio=st.sampled_from([1.0, 3.0, 50.0]),
    centre=st.sampled_from([0.0, -7.3, 1e6]),
    speed=st.sampled_from([0.0, 1.0, 1e3]),
)
def test_the_grid_finds_the_contacts_that_a_search_through_all_pairs_finds(
    seed, count, crowding, margin, ratio, centre, speed
):
    draw = np.random.default_rng(seed)
    radius = draw.uniform(0.05, 0.3, count)
    radius[draw.random(count) < 0.05] *= ratio
    position = centre + draw.uniform(-0.5, 0.5, (count, 2)) * crowding
    mass = np.where(draw.random(count) < 0.2, np.inf, 1.0)
    velocity = 3.0 + draw.standard_normal((count, 2)) * np.where(draw.random((count, 1)) < 0.1, speed, 1.0)
    velocity[np.isinf(mass)] = 0.0
    walls = [
        HalfPlane((centre, centre - 0.2), draw.standard_normal(2)),
        Segment((centre, centre), centre + draw.standard_normal(2)),
        Segment((centre - 1.0, centre), (centre + 1.0, centre + 0.3)),
    ]
    assert_same_as_search(Discs(position, radius, mass, velocity=velocity), walls, margin)


@pytest.mark.parametrize("far", [1e8, 1e15, 1e200])
def test_discs_that_lie_far_apart_cost_no_memory_and_are_found(far):
    near = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [4.0, 4.0]])
    position = np.concatenate([near, near + np.array([far, -far])])
    discs = Discs(position, 1.0)
    collision = Collision(discs, Walls(()), 0.0)
    found = collision.find(*flat_state(discs), DT)
    assert collision.starts.size <= 4 * len(discs) + 1
    assert {(0, 1), (0, 2)} <= {tuple(pair) for pair in found.bodies.tolist()}
    assert not any(i < 4 <= j for i, j in found.bodies.tolist())


def test_a_pile_far_away_has_the_contacts_of_the_same_pile_at_home():
    home = np.random.default_rng(1).integers(0, 4096, (80, 2)) / 512.0
    here, there = find(Discs(home, 0.6)), find(Discs(home + 2.0**40, 0.6))
    np.testing.assert_array_equal(here.bodies, there.bodies)
    np.testing.assert_array_equal(here.gap, there.gap)


def test_discs_much_larger_or_faster_than_the_others_are_kept_out_of_the_cells():
    draw = np.random.default_rng(2)
    radius, velocity = np.full(100, 0.1), np.zeros((100, 2))
    radius[[3, 50, 97]] = [3.0, 2.0, 4.0]
    velocity[[7, 60]] = [[900.0, 0.0], [0.0, -500.0]]
    discs = Discs(draw.uniform(0.0, 8.0, (100, 2)), radius, velocity=velocity)
    reach, far = np.empty(100), np.empty(100, dtype=np.uint32)
    limit = Collision(discs, Walls(()), 0.02).limit
    speeds = np.column_stack([velocity, discs.spin]).reshape(-1)
    count, width = discs_kernels.measure_reach(speeds, discs.radius, 0.02, DT, limit, np.empty(31), reach, far)
    assert far[:count].tolist() == [3, 7, 50, 60, 97]
    assert width < 0.8
    assert_same_as_search(discs, [Segment((1.0, 1.0), (7.0, 3.0))], 0.02)


def test_discs_that_fly_together_reach_no_farther_than_at_rest():
    velocity = np.tile([2.0, -400.0], (50, 1))
    velocity[::7] = [-3e5, 1e300]
    discs = Discs(np.random.default_rng(3).uniform(0.0, 8.0, (50, 2)), 0.1, velocity=velocity)
    reach, far = np.empty(50), np.empty(50, dtype=np.uint32)
    speeds = np.column_stack([discs.velocity, discs.spin]).reshape(-1)
    discs_kernels.measure_reach(speeds, discs.radius, 0.02, DT, 1.0, np.empty(31), reach, far)
    np.testing.assert_allclose(np.delete(reach, np.s_[::7]), 0.11, rtol=1e-12)


def test_more_contacts_than_expected_are_all_found():
    discs = Discs(np.random.default_rng(3).uniform(0.0, 1.0, (70, 2)), 1.0)
    walls = [HalfPlane((0.0, 0.0), (np.cos(k), np.sin(k))) for k in range(12)]
    assert len(assert_same_as_search(discs, walls, 0.0)) > 70 * 69 // 2


def test_coincident_centres_have_a_normal():
    found = find(Discs([[2.0, 3.0], [2.0, 3.0]], [0.5, 0.25]))
    np.testing.assert_array_equal(found.frame[0], [[0.0, 1.0], [-1.0, 0.0]])
    assert found.gap[0] == -0.75


def test_the_point_of_two_discs_lies_midway_between_their_surfaces():
    found = find(Discs([[0.0, 0.0], [3.0, 4.0]], [1.0, 3.0]), margin=2.0)
    np.testing.assert_allclose(found.frame[0], [[0.6, 0.8], [-0.8, 0.6]], atol=1e-15)
    np.testing.assert_allclose(found.point[0], [0.9, 1.2], atol=1e-15)
    assert found.gap[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("centre", "normal", "gap"),
    [
        ((1.0, 0.4), (0.0, 1.0), -0.1),
        ((1.0, -0.4), (0.0, -1.0), -0.1),
        ((-0.3, 0.4), (-0.6, 0.8), 0.0),
        ((2.4, -0.3), (0.8, -0.6), 0.0),
        ((1.5, 0.0), (0.0, 1.0), -0.5),
    ],
    ids=["above", "below", "first end", "second end", "centre on it"],
)
def test_a_segment_is_touched_at_its_nearest_point(centre, normal, gap):
    found = find(Discs([centre], 0.5), [Segment((0.0, 0.0), (2.0, 0.0))], margin=1e-9)
    np.testing.assert_allclose(found.frame[0, 0], normal, atol=1e-15)
    assert found.gap[0] == pytest.approx(gap, abs=1e-15)
    np.testing.assert_allclose(found.point[0], np.array(centre) - 0.5 * np.array(normal), atol=1e-15)


def test_two_surfaces_have_the_geometric_mean_of_friction_and_the_larger_restitution():
    discs = Discs([[0.0, 0.0], [1.9, 0.0]], 1.0, friction=[0.1, 0.4], restitution=[0.2, 0.7])
    found = find(discs, [HalfPlane((0.0, -1.0), (0.0, 1.0), friction=0.9, restitution=0.5)])
    np.testing.assert_allclose(found.friction, [0.2, 0.3, 0.6])
    np.testing.assert_array_equal(found.restitution, [0.7, 0.5, 0.7])


@given(
    old=st.sets(st.integers(0, 50), max_size=30).map(sorted), new=st.sets(st.integers(0, 50), max_size=30).map(sorted)
)
def test_contacts_are_found_again_by_their_identity(old, new):
    numbers = np.empty(len(new), dtype=np.int64)
    kernels.match_sorted(np.array(old, dtype=np.int64), np.array(new, dtype=np.int64), numbers)
    assert numbers.tolist() == [old.index(key) if key in old else -1 for key in new]


def test_a_contact_keeps_its_identity_while_others_come_and_go():
    together = Discs([[0.0, 0.0], [1.9, 0.0], [3.8, 0.0]], 1.0)
    apart = Discs([[-5.0, 0.0], [1.9, 0.1], [3.8, 0.0]], 1.0)
    ground = [HalfPlane((0.0, -1.0), (0.0, 1.0))]
    old, new = find(together, ground), find(apart, ground, 0.2)
    old_names = [(*pair, key) for pair, key in zip(old.bodies.tolist(), old.identity.tolist(), strict=True)]
    new_names = [(*pair, key) for pair, key in zip(new.bodies.tolist(), new.identity.tolist(), strict=True)]
    assert [pair[:2] for pair in new_names] == [(1, 2), (-1, 0), (-1, 1), (-1, 2)]
    assert match(old, new).tolist() == [old_names.index(name) for name in new_names]


@given(seed=st.integers(0, 2**31), count=st.integers(1, 12))
def test_rows_are_the_speeds_of_the_two_surfaces_at_the_contact_point(seed, count):
    draw = np.random.default_rng(seed)
    discs = Discs(draw.uniform(-1.0, 1.0, (count, 2)), draw.uniform(0.1, 0.8, count))
    found = find(discs, [HalfPlane((0.0, -0.5), (0.3, 1.0))], 0.1)
    bodies, jacobian = np.empty(4 * len(found), dtype=np.int64), np.empty(12 * len(found))
    frame = found.frame.reshape(-1)
    kernels.write_rows(found.bodies.reshape(-1), frame, found.gap, discs.radius, bodies, jacobian)
    velocity = np.concatenate([draw.standard_normal((count, 3)), np.zeros((1, 3))])  # the last is the world
    speeds = (jacobian.reshape(-1, 2, 3) * velocity[bodies.reshape(-1, 2)]).sum(axis=(1, 2))
    np.testing.assert_array_equal(bodies.reshape(-1, 2, 2), found.bodies[:, None].repeat(2, axis=1))
    for c, (a, b) in enumerate(found.bodies):
        slip = np.zeros(2)
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body >= 0:
                arm, (vx, vy, spin) = found.point[c] - discs.position[body], velocity[body]
                slip += sign * np.array([vx - spin * arm[1], vy + spin * arm[0]])
        np.testing.assert_allclose(speeds[2 * c : 2 * c + 2], found.frame[c] @ slip, atol=1e-13)
