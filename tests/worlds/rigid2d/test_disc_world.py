"""The world of discs: what a step reports, remembers, refuses, and repeats."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.errors import StateNotFinite
from perp.worlds.contacts import not_worse_than_cold
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment

H = 1 / 60
GROUND = HalfPlane((0.0, 0.0), (0.0, 1.0), friction=0.3)


def solve(problem, x0):
    return perp.solve(problem, "pgs", tol=1e-8, max_iterations=2000, x0=x0)


def heap(**options):
    draw = np.random.default_rng(7)
    place = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), axis=-1).reshape(-1, 2) * 0.5 + 0.25
    place += draw.uniform(-0.02, 0.02, place.shape)
    bodies = Discs(place, draw.uniform(0.15, 0.22, 20), draw.uniform(0.5, 2.0, 20), friction=0.3)
    walls = [GROUND, Segment((0.0, 0.0), (0.0, 5.0)), HalfPlane((2.7, 0.0), (-1.0, 0.0))]
    return DiscWorld(bodies, walls, **options)


def fallen_heap(**options):
    world = heap(**options)
    for _ in range(30):
        world.step(H, solve)
    return world


def test_the_problem_is_planar_with_two_rows_a_contact():
    report = fallen_heap().step(H, solve)
    assert isinstance(report.problem, perp.ContactProblem)
    assert report.problem.dimension == 2
    assert report.problem.n == 2 * len(report.contacts) > 0
    assert report.problem.A.planar is not None
    np.testing.assert_array_equal(report.problem.friction, report.contacts.friction)


def test_b_is_what_the_assembly_of_constraint_rows_gives():
    world = fallen_heap(error_reduction=0.3, compliance=1e-4)
    contacts = world.find_contacts(H)
    problem = world.make_problem(contacts, H)
    discs = world.discs
    mass = np.column_stack([discs.mass, discs.mass, discs.inertia]).reshape(-1)
    _, _, velocity, spin = world.bodies()
    rows = perp.ContactRows(
        problem.A.J,
        friction=contacts.friction,
        gap=contacts.gap,
        restitution=contacts.restitution,
        error_reduction=0.3,
        compliance=1e-4,
        tangent_compliance=1e-4,
    )
    weight = np.column_stack([0.0 * discs.mass, -9.80665 * discs.mass, 0.0 * discs.mass]).reshape(-1)
    state = np.column_stack([velocity, spin]).reshape(-1)
    expected = perp.assemble_step([rows], mass, state, H, force=weight, dimension=2)
    np.testing.assert_allclose(problem.b, expected.b, atol=1e-12)
    np.testing.assert_allclose(problem.A.to_dense(), expected.A.to_dense(), atol=1e-12)


def test_the_frame_has_the_state_and_the_contacts_of_the_step():
    world = fallen_heap()
    before = world.frame().velocity
    report = world.step(H, solve)
    frame = world.frame(report)
    assert (frame.step, frame.dimension) == (31, 2)
    assert frame.contacts.gap.size > 20
    assert frame.orientation.shape == (20, 1)
    assert frame.spin.shape == (20, 1)
    np.testing.assert_array_equal(frame.contacts.bodies, report.contacts.bodies)
    np.testing.assert_array_equal(frame.contacts.normal, report.contacts.frame[:, 0])
    pushed = np.zeros((20, 2))
    for (a, b), impulse in zip(frame.contacts.bodies, frame.contacts.impulse, strict=True):
        pushed[b] += impulse
        if a >= 0:
            pushed[a] -= impulse
    fallen = H * np.array([0.0, -9.80665])
    np.testing.assert_allclose(frame.velocity, before + fallen + pushed / world.discs.mass[:, None], atol=1e-12)


def test_shapes_are_the_discs_and_the_walls():
    shapes = heap().shapes()
    assert [shape.form for shape in shapes] == ["disc"] * 20 + ["half_plane", "segment", "half_plane"]
    assert [shape.body for shape in shapes] == [*range(20), -1, -1, -1]
    np.testing.assert_array_equal(shapes[21].vertices, [[0.0, 0.0], [0.0, 5.0]])
    np.testing.assert_array_equal(shapes[22].vertices, [[2.7, 0.0], [-1.0, 0.0]])


def test_runs_repeat_bit_by_bit():
    prints = []
    for _ in range(2):
        world = heap()
        prints.append([world.step(H, solve) and world.fingerprint() for _ in range(60)])
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == 60


def test_a_warm_start_saves_iterations_and_is_never_worse_than_a_cold_one():
    spent = {}
    for warm in (True, False):
        world = heap(warm_start=warm)
        reports = [
            world.step(H, lambda problem, x0: perp.solve(problem, "pgs", tol=1e-6, max_iterations=500, x0=x0))
            for _ in range(250)
        ]
        spent[warm] = sum(report.iterations for report in reports[200:])  # the heap is at rest
        started = [report for report in reports if report.x0 is not None]
        assert len(started) > 180 if warm else not started
        for report in started:
            assert not_worse_than_cold(report.problem, report.x0) is not None
    assert spent[True] < 0.1 * spent[False]


def test_impulses_follow_their_contacts():
    world = heap()
    for _ in range(150):
        last = world.step(H, solve)
    report = world.step(H, solve)
    shared, old, new = np.intersect1d(last.contacts.identity, report.contacts.identity, return_indices=True)
    assert len(shared) > 20
    np.testing.assert_allclose(report.x0[2 * new], last.x[2 * old], atol=1e-12)


def test_moving_discs_by_hand_forgets_the_impulses():
    world = heap()
    for _ in range(60):
        world.step(H, solve)
    position = world.bodies()[0] + [0.0, 1.0]
    world.set_state(position=position, angle=0.5, velocity=0.0, spin=1.0)
    np.testing.assert_array_equal(world.bodies()[0], position)
    np.testing.assert_array_equal(world.bodies()[1], 0.5)
    np.testing.assert_array_equal(world.bodies()[3], 1.0)
    assert world.step(H, solve).x0 is None


def test_a_state_that_would_not_be_finite_is_refused_and_the_world_stays():
    far = DiscWorld(Discs([[0.0, 0.0]], 1.0, velocity=[[1.7e308, 0.0]]))
    towards = DiscWorld(Discs([[0.0, 0.0], [2.0, 0.0]], 1.0, velocity=[[1.7e308, 0.0], [-1.7e308, 0.0]]))
    for world in (far, towards):
        before = world.fingerprint()
        with pytest.raises(StateNotFinite, match="step 1 "):
            world.step(2.0, solve)
        assert world.fingerprint() == before
        assert (world.steps, world.time) == (0, 0.0)


def test_a_solver_that_returns_no_numbers_is_refused():
    class Broken:
        def __init__(self, n):
            self.x = np.full(n, np.nan)

    world = fallen_heap()
    before = world.fingerprint()
    with pytest.raises(StateNotFinite, match="step 31"):
        world.step(H, lambda problem, x0: Broken(problem.n))
    assert world.fingerprint() == before


@pytest.mark.parametrize("friction", [0.0, 1e6])
def test_no_friction_and_a_million_are_both_solved(friction):
    bodies = Discs([[0.0, 1.0]], 1.0, velocity=[[1.0, 0.0]], friction=friction)
    world = DiscWorld(bodies, [HalfPlane((0.0, 0.0), (0.0, 1.0), friction)])
    report = world.step(H, solve)
    assert report.solution.success
    spin = 0.0 if friction == 0.0 else -2.0 / 3.0
    np.testing.assert_allclose(world.bodies()[3], [[spin]], atol=1e-7)


def test_a_world_without_discs_stands_still():
    world = DiscWorld(Discs(np.empty((0, 2)), 1.0), [GROUND])
    report = world.step(H, solve)
    assert report.problem.n == 0
    assert world.energy() == 0.0


def test_discs_that_cannot_move_do_not_touch_each_other_or_walls():
    world = DiscWorld(Discs([[0.0, 0.0], [0.5, 0.0]], 1.0, np.inf), [GROUND])
    assert len(world.find_contacts(H)) == 0
    world.step(H, solve)
    np.testing.assert_array_equal(world.bodies()[0], [[0.0, 0.0], [0.5, 0.0]])


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_every_friction_law_of_a_world_can_be_had(model):
    world = heap(model=model)
    method = "apgd" if model == "convex" else "block_gauss_seidel"
    for _ in range(20):
        report = world.step(H, lambda problem, x0: perp.solve(problem, method, x0=x0, max_iterations=200))
    assert report.problem.model == model
