"""Discs against closed forms and conservation laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perp
from perp.scenes import make
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment

G = 9.80665
H = 1 / 60
FLAT = ((0.0, 0.0), (0.0, 1.0))


def exactly(problem, x0):
    result = perp.solve(problem, "block_principal", tol=1e-11, x0=x0)
    assert result.residual <= 1e-11 * max(1.0, np.abs(result.x).max(initial=0.0)), result
    return result


def run(world, steps):
    return [world.step(H, exactly) for _ in range(steps)]


def one_disc(*walls, position=(0.0, 1.0), radius=1.0, mass=2.0, **surface):
    return DiscWorld(Discs([position], radius, mass, **surface), walls)


def test_free_fall_is_the_closed_form_of_semi_implicit_euler():
    start, thrown = np.array([[0.3, 5.0], [8.0, -1.0]]), np.array([[1.5, 2.0], [0.0, 0.0]])
    world = DiscWorld(Discs(start, 0.5, [1.0, 1e6], velocity=thrown, spin=[3.0, -1.0]))
    for k in range(1, 201):
        world.step(H, exactly)
        position, angle, velocity, spin = world.bodies()
        fallen = np.array([0.0, -G])
        np.testing.assert_allclose(velocity, thrown + k * H * fallen, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(position, start + k * H * thrown + 0.5 * k * (k + 1) * H**2 * fallen, rtol=1e-12)
        np.testing.assert_array_equal(spin[:, 0], [3.0, -1.0])
        np.testing.assert_allclose(angle[:, 0], k * H * np.array([3.0, -1.0]), rtol=1e-12)
    assert world.time == pytest.approx(200 * H)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**31), restitution=st.sampled_from([0.0, 0.5, 1.0]), friction=st.sampled_from([0.0, 0.7]))
def test_collisions_keep_momentum_and_angular_momentum_to_rounding(seed, restitution, friction):
    draw = np.random.default_rng(seed)
    radius, mass = draw.uniform(0.2, 0.5, 9), draw.uniform(0.1, 10.0, 9)
    place = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    bodies = Discs(
        place,
        radius,
        mass,
        velocity=-2.0 * (place - 1.0) + draw.uniform(-1.0, 1.0, (9, 2)),
        spin=draw.uniform(-5.0, 5.0, 9),
        friction=friction,
        restitution=restitution,
    )
    world = DiscWorld(bodies, gravity=(0.0, 0.0))

    def momenta():
        position, _, velocity, spin = world.bodies()
        turning = position[:, 0] * velocity[:, 1] - position[:, 1] * velocity[:, 0]
        return [*(mass @ velocity), mass @ turning + bodies.inertia @ spin[:, 0]]

    before, touched = momenta(), 0
    for _ in range(40):
        report = world.step(H, lambda problem, x0: perp.solve(problem, "pgs", max_iterations=50, x0=x0))
        touched += np.count_nonzero(report.x)
        np.testing.assert_allclose(momenta(), before, atol=1e-11)
    assert touched


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_an_elastic_impact_of_equal_discs_exchanges_their_velocities_along_the_normal(angle):
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    velocity = np.array([2.0 * along + 0.25 * across, -1.0 * along + 0.25 * across])
    bodies = Discs([[0.0, 0.0], 2.25 * along], 1.0, velocity=velocity, friction=0.0, restitution=1.0)
    world = DiscWorld(bodies, gravity=(0.0, 0.0))
    run(world, 30)
    expected = [-1.0 * along + 0.25 * across, 2.0 * along + 0.25 * across]
    np.testing.assert_allclose(world.bodies()[2], expected, atol=1e-10)


def test_an_inelastic_impact_leaves_both_with_the_velocity_of_their_centre_of_mass():
    bodies = Discs([[0.0, 0.0], [2.3, 0.0]], 1.0, [1.0, 3.0], velocity=[[2.0, 0.0], [-1.0, 0.0]])
    world = DiscWorld(bodies, gravity=(0.0, 0.0))
    run(world, 30)
    np.testing.assert_allclose(world.bodies()[2], [[-0.25, 0.0], [-0.25, 0.0]], atol=1e-10)
    assert world.find_contacts(H).gap[0] == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.8, 1.0])
def test_a_disc_leaves_the_floor_with_the_restitution_times_the_speed_that_it_came_with(restitution):
    world = one_disc(HalfPlane(*FLAT), position=(0.0, 3.0), restitution=restitution)
    while True:
        before = world.bodies()[2][0, 1]
        report = world.step(H, exactly)
        if report.x.any():
            break
    if restitution == 0.0:  # the gap is used up first, then it rests
        world.step(H, exactly)
    assert before < -4.0
    assert world.bodies()[2][0, 1] == pytest.approx(-restitution * before, abs=1e-10)


def incline(slope, friction, *, as_segment):
    down, up = np.array([np.cos(slope), -np.sin(slope)]), np.array([np.sin(slope), np.cos(slope)])
    wall = Segment(-50.0 * down, 50.0 * down, friction) if as_segment else HalfPlane((0.0, 0.0), up, friction)
    return one_disc(wall, position=0.5 * up, radius=0.5, friction=friction), down


@pytest.mark.parametrize("as_segment", [True, False])
@pytest.mark.parametrize("share", [0.2, 0.99, 1.01, 3.0])
def test_a_disc_rolls_down_an_incline_up_to_a_slope_of_three_times_friction_and_slides_beyond(share, as_segment):
    """Rolling needs the friction m g sin / 3, of at most friction m g cos: a = 2/3 g sin up to tan = 3 friction."""
    friction = 0.2
    slope = np.arctan(3.0 * friction * share)
    world, down = incline(slope, friction, as_segment=as_segment)
    run(world, 100)
    rolls = share < 1.0
    along = 2.0 / 3.0 * G * np.sin(slope) if rolls else G * (np.sin(slope) - friction * np.cos(slope))
    turning = 2.0 * (G * np.sin(slope) - along) / 0.5
    _, _, velocity, spin = world.bodies()
    np.testing.assert_allclose(velocity[0], 100 * H * along * down, atol=1e-9)
    np.testing.assert_allclose(spin[0, 0], -100 * H * turning, atol=1e-8)
    slip = 100 * H * along + 0.5 * spin[0, 0]
    assert (abs(slip) < 1e-9) == rolls


def test_a_disc_at_rest_neither_sinks_nor_moves_for_a_thousand_steps():
    world = one_disc(HalfPlane(*FLAT), position=(0.0, 1.0 + 1e-4))
    reports = run(world, 1000)
    assert max(report.contacts.penetration for report in reports) < 1e-10
    position, _, velocity, spin = world.bodies()
    np.testing.assert_allclose(position, [[0.0, 1.0]], atol=1e-10)
    assert np.abs(velocity).max() < 1e-10
    assert np.abs(spin).max() < 1e-10


def test_an_overlap_is_taken_back_by_a_fifth_in_every_step():
    world = DiscWorld(Discs([[0.0, 0.0], [1.9, 0.0]], 1.0), gravity=(0.0, 0.0))
    gaps = []
    for _ in range(3):
        gaps.append(world.find_contacts(H).gap[0])
        world.step(H, exactly)
        world.set_state(velocity=0.0)
    np.testing.assert_allclose(gaps, -0.1 * 0.8 ** np.arange(3), rtol=1e-9)


def box_of_discs(friction, restitution=0.0):
    draw = np.random.default_rng(6)
    radius = draw.uniform(0.15, 0.3, 20)
    place = np.stack(np.meshgrid(np.arange(4.0), np.arange(5.0)), axis=-1).reshape(-1, 2) * 0.65 + 0.4
    walls = [HalfPlane(point, normal, friction) for point, normal in (FLAT, ((0, 0), (1, 0)), ((2.75, 0), (-1, 0)))]
    bodies = Discs(place, radius, friction=friction, restitution=restitution, spin=draw.uniform(-3, 3, 20))
    return DiscWorld(bodies, walls)


def sweeps(problem, x0):
    return perp.solve(problem, "block_gauss_seidel", tol=1e-8, max_iterations=500, x0=x0)


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_energy_changes_by_the_work_of_the_impulses_and_the_loss_of_the_integrator(friction, restitution):
    """With v+ = v + h g + d, d = M^-1 J^T x, and p+ = p + h v+:  E+ - E = x · (J v + A x / 2) - h^2 g · M g / 2."""
    world = box_of_discs(friction, restitution)
    loss = 0.5 * world.discs.mass.sum() * (G * H) ** 2
    for _ in range(80):
        _, _, velocity, spin = world.bodies()
        energy = world.energy()
        report = world.step(H, sweeps)
        x, A = report.x, report.problem.A
        work = x @ (A.J @ np.column_stack([velocity, spin]).reshape(-1) + 0.5 * A.apply(x))
        assert world.energy() - energy == pytest.approx(work - loss, abs=1e-10)


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_pile_that_falls_into_a_box_gains_no_energy_but_what_taking_back_overlaps_costs(friction):
    """The same identity is E+ - E = x · J v+ - |d + h g|^2 / 2 (in the norm of M). Without restitution friction takes
    energy, gaps are used up at x_n (-gap / h), and overlaps are taken back at x_n share |gap| / h.
    """
    world = box_of_discs(friction)
    energies = [world.energy()]
    for _ in range(150):
        report = world.step(H, sweeps)
        energies.append(world.energy())
        spent = report.x[::2] @ np.maximum(-report.contacts.gap, 0.0) * world.error_reduction / H
        inexact = np.abs(report.x).sum() * report.solution.residual
        assert energies[-1] - energies[-2] <= spent + inexact + 1e-10
    assert max(energies) <= energies[0]
    assert energies[-1] < 0.7 * energies[0]


def test_contacts_are_known_before_fast_discs_overlap():
    bodies = Discs([[0.0, 0.0], [5.0, 0.0]], 1.0, velocity=[[100.0, 0.0], [-100.0, 0.0]])
    world = DiscWorld(bodies, gravity=(0.0, 0.0))
    reports = run(world, 3)
    assert max(report.contacts.penetration for report in reports) < 1e-12
    np.testing.assert_allclose(world.bodies()[0], [[1.5, 0.0], [3.5, 0.0]], atol=1e-10)


def test_a_fast_disc_does_not_pass_through_a_segment():
    world = one_disc(Segment((-1.0, 0.0), (1.0, 0.0)), position=(0.0, 30.0), radius=0.01)
    world.set_state(velocity=[(0.0, -500.0)])
    run(world, 30)
    np.testing.assert_allclose(world.bodies()[0], [[0.0, 0.01]], atol=1e-9)


def test_a_column_of_thirty_discs_stays_up_for_ten_seconds():
    world = make("stacking").world
    run(world, 600)
    position, _, velocity, _ = world.bodies()
    np.testing.assert_array_equal(position[:, 0], 0.0)
    np.testing.assert_allclose(position[:, 1], 0.18 * (1.0 + 2.0 * np.arange(30)), atol=1e-9)
    assert np.abs(velocity).max() < 1e-9


def test_a_disc_of_infinite_mass_does_not_move_and_bears_others():
    bodies = Discs([[0.0, 0.0], [0.0, 2.05]], 1.0, [np.inf, 1.0])
    world = DiscWorld(bodies)
    run(world, 200)
    position, _, velocity, _ = world.bodies()
    np.testing.assert_array_equal(position[0], 0.0)
    np.testing.assert_allclose(position[1], [0.0, 2.0], atol=1e-9)
    assert np.abs(velocity).max() < 1e-9


def test_a_mass_ratio_of_a_million_does_not_make_energy():
    bodies = Discs([[0.0, 1.0], [0.0, 3.0], [0.0, 5.0]], 1.0, [1.0, 1e3, 1e6])
    world = DiscWorld(bodies, [HalfPlane(*FLAT)])
    start = world.energy()
    reports = run(world, 200)
    assert world.energy() <= start * (1.0 + 1e-9)
    assert max(report.contacts.penetration for report in reports) < 1e-6
