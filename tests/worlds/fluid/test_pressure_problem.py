"""The pressure problem by itself: exact where pressure is linear, of second order elsewhere, never with more energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perp
from perp.errors import InvalidProblem
from perp.worlds.fluid import Ball, BallTank, BoxTank, HalfSpace, Turned, Union
from perp.worlds.fluid.pressure import LEAST_SHARE, make_pressure_problem
from perp.worlds.fluid.vessel import StaggeredGrid, Vessel

SEPARATIONS = ["none", "walls", "everywhere"]


def exactly(problem, tol=1e-12):
    result = perp.solve(problem, "block_principal", tol=tol)
    assert result.success, result
    return result


def open_cells(vessel):
    grid = vessel.grid
    is_open = np.zeros(grid.cells, dtype=bool)
    for axis, fraction in enumerate(vessel.fractions):
        way = np.moveaxis(fraction.reshape(grid.face_shape(axis)) > 0.0, axis, 0)
        np.moveaxis(is_open, axis, 0)[:] |= way[1:] | way[:-1]
    return is_open.reshape(-1)


def below_plane(vessel, normal, point):
    """Level [cells] and liquid below a plane."""
    level = HalfSpace(point, normal)(vessel.grid.middle_points()) / vessel.grid.spacing
    liquid = (level < 0.0) & open_cells(vessel)
    return np.where(liquid, level, np.maximum(level, 0.0)), liquid.astype(np.uint8)


def shares(vessel, level, liquid):
    """For each axis how far the free surface is at each face, as a share of the way, before it is bounded; 1 within."""
    grid, found = vessel.grid, []
    for axis in range(grid.dimension):
        theta = np.ones(grid.face_shape(axis))
        inner = np.moveaxis(theta, axis, 0)[1:-1]
        behind, ahead = (np.moveaxis(level.reshape(grid.cells), axis, 0)[s] for s in (slice(None, -1), slice(1, None)))
        wet = np.moveaxis(liquid.reshape(grid.cells) != 0, axis, 0)
        for here, there, mask in ((behind, ahead, wet[:-1] & ~wet[1:]), (ahead, behind, wet[1:] & ~wet[:-1])):
            inner[mask] = here[mask] / (here[mask] - there[mask])
        found.append(theta.reshape(-1))
    return found


def project(vessel, made, x, star):
    fields, flags = [u.copy() for u in star], [np.empty(u.size, dtype=np.uint8) for u in star]
    for axis, field in enumerate(fields):
        made.drop(axis, x, made.liquid, np.zeros(field.size), field, flags[axis])
    return fields, [flag != 0 for flag in flags]


# ---- liquid at rest

TANKS = {
    "whole grid": (None, (10, 12), (0.0, -9.81), (0.5, 0.53)),
    "slanted gravity": (None, (10, 12), (2.0, -9.0), (0.5, 0.53)),
    "turned tank": (Turned(BoxTank((0.2, 0.2), (0.8, 0.9)), 0.37, (0.5, 0.55)), (20, 24), (0.0, -9.81), (0.5, 0.53)),
    "turned tank, slanted gravity": (
        Turned(BoxTank((0.2, 0.2), (0.8, 0.9)), 0.37, (0.5, 0.55)),
        (20, 24),
        (3.0, -9.0),
        (0.5, 0.53),
    ),
    "space, with a pillar": (
        Union(Turned(BoxTank((0.1, 0.1, 0.1), (0.9, 0.9, 0.9)), 0.3, (0.5, 0.5, 0.5)), Ball((0.4, 0.5, 0.3), 0.17)),
        (11, 11, 11),
        (1.0, 2.0, -9.0),
        (0.5, 0.5, 0.52),
    ),
}


@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize("name", TANKS)
def test_liquid_at_rest_stays_at_rest_and_has_the_pressure_of_its_depth(name, separation):
    """p = rho g depth is linear: exact, in cut cells and below a surface that is not along the grid.

    Where the surface is nearer to the middle of a cell than LEAST_SHARE of the way, it is put there; the velocity is
    then wrong by up to that share of dt g. None of these is.
    """
    solid, cells, gravity, point = TANKS[name]
    grid, dt, g = StaggeredGrid(cells, 1.0 / cells[0]), 0.01, np.array(gravity)
    vessel = Vessel(grid, solid)
    level, liquid = below_plane(vessel, -g, point)
    star = [np.full(faces.size, dt * pull) for faces, pull in zip(grid.faces, g, strict=True)]
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, star, dt, separation=separation)
    theta = shares(vessel, level, liquid)
    assert min(t[f > 0.0].min() for t, f in zip(theta, vessel.fractions, strict=True)) > LEAST_SHARE
    x = exactly(made.problem).x
    fields, known = project(vessel, made, x, star)
    assert max(np.abs(u[k]).max() for u, k in zip(fields, known, strict=True)) < 1e-12 * dt * 9.81 * max(cells) ** 2
    wet = liquid != 0
    depth = -HalfSpace(point, -g)(grid.middle_points())
    pressure = x * (grid.spacing / dt) ** 2  # over the density
    np.testing.assert_allclose(pressure[wet], np.linalg.norm(g) * depth[wet], rtol=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_a_surface_nearer_than_the_least_share_costs_that_share_of_gravity_and_no_more(share):
    grid, dt, g = StaggeredGrid((3, 8), 0.125), 0.01, 9.81
    vessel = Vessel(grid)
    top = 0.125 * (4.5 + share * LEAST_SHARE)
    level, liquid = below_plane(vessel, (0.0, 1.0), (0.0, top))
    if share == 0.0:
        level[np.abs(level) < 1e-12] = -1e-9  # a hair below the surface
        liquid = (level < 0.0).astype(np.uint8)
    star = [np.zeros(grid.faces[0].size), np.full(grid.faces[1].size, -dt * g)]
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, star, dt)
    x = exactly(made.problem).x
    pressure = x * (grid.spacing / dt) ** 2
    depth = np.maximum(top - grid.middle_points()[:, 1], 0.0)
    error = np.abs(pressure - g * depth)[liquid != 0].max()
    assert 0.4 * LEAST_SHARE * g * grid.spacing < error < 1.01 * LEAST_SHARE * g * grid.spacing


# ---- order


def stirred(points, axis, radius):
    """A field without divergence that does not cross the circle, and the gradient of a potential with dq/dn = 0."""
    x, y = points.T
    r2 = (x * x + y * y) / radius**2
    # u = (dpsi/dy, -dpsi/dx), psi = (1 - r2) (1 + x);  q = 0.3 cos(pi r2)
    stream = (1.0 + x) * (-2.0 * y / radius**2) if axis == 0 else (1.0 + x) * (2.0 * x / radius**2) - (1.0 - r2)
    slope = -0.3 * np.sin(np.pi * r2) * 2.0 * np.pi * points[:, axis] / radius**2
    return stream, slope


def errors_in_a_disc(n):
    """Largest error of the pressure, mean and largest error of the velocity, in a full disc on n^2 cells."""
    radius, centre, dt = 0.41, np.array([0.503, 0.491]), 0.01
    grid, tank = StaggeredGrid((n, n), 1.0 / n), BallTank(centre, radius)
    vessel = Vessel(grid, tank)
    fields = [stirred(grid.face_points(axis) - centre, axis, radius) for axis in range(2)]
    star = [stream + slope for stream, slope in fields]
    liquid = open_cells(vessel).astype(np.uint8)
    made = make_pressure_problem(grid, vessel.fractions, np.full(grid.size, -1.0), liquid, star, dt)
    x = exactly(made.problem, tol=1e-10).x
    got, _ = project(vessel, made, x, star)
    worst, mean = [], []
    for axis in range(2):
        inside = (tank(grid.face_points(axis)) > 0.0) & (vessel.fractions[axis] > 0.0)
        off = np.abs(got[axis] - fields[axis][0])[inside]
        worst.append(off.max())
        mean.append(off.mean())
    inside = (tank(grid.middle_points()) > 0.0) & (liquid != 0)
    r2 = ((grid.middle_points() - centre) ** 2).sum(axis=1)[inside] / radius**2
    pressure = x[inside] * grid.spacing**2 / dt - 0.3 * np.cos(np.pi * r2)
    return np.array([np.ptp(pressure), np.mean(mean), np.max(worst)])


def test_curved_walls_are_of_second_order_in_pressure_and_mean_velocity():
    coarse, fine = errors_in_a_disc(16), errors_in_a_disc(64)
    order = np.log2(coarse / fine) / 2.0
    assert order[0] > 1.7
    assert order[1] > 1.7
    assert order[2] > 0.8


# ---- energy and signs


def random_liquid(seed, cells=(9, 8)):
    """Levels and velocities without any order, over a slanted floor."""
    grid, draw = StaggeredGrid(cells, 0.5), np.random.default_rng(seed)
    size = 0.5 * np.array(cells)
    normal = draw.normal(size=len(cells))
    normal[-1] = 1.0 + abs(normal[-1])
    vessel = Vessel(grid, HalfSpace(0.4 * size, normal))
    level = draw.uniform(-1.0, 0.3, grid.size)
    liquid = (level < 0.0) & open_cells(vessel)
    level = np.where(liquid, level, np.abs(level))
    star = [draw.normal(size=faces.size) for faces in grid.faces]
    return vessel, level, liquid.astype(np.uint8), star


def kinetic(vessel, level, liquid, fields, known):
    """In the norm of the projection: open share times share of the way that is liquid."""
    theta = shares(vessel, level, liquid)
    return sum(
        float(np.sum((f * np.maximum(t, LEAST_SHARE) * u**2)[k]))
        for f, t, u, k in zip(vessel.fractions, theta, fields, known, strict=True)
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 2**31), separation=st.sampled_from(SEPARATIONS), space=st.booleans())
def test_pressure_takes_energy_out_and_leaves_no_inflow(seed, separation, space):
    vessel, level, liquid, star = random_liquid(seed, (4, 4, 5) if space else (9, 8))
    made = make_pressure_problem(vessel.grid, vessel.fractions, level, liquid, star, 0.1, separation=separation)
    x = exactly(made.problem).x
    fields, known = project(vessel, made, x, star)
    assert kinetic(vessel, level, liquid, fields, known) <= kinetic(vessel, level, liquid, star, known) * (1 + 1e-12)
    for fraction, before, after in zip(vessel.fractions, star, fields, strict=True):
        np.testing.assert_array_equal(after[fraction == 0.0], before[fraction == 0.0])
    y, wet = made.problem.slack(x), liquid != 0
    loose = made.separating(x, y)
    assert np.abs(y[wet & ~loose]).max(initial=0.0) <= 1e-11
    assert separation != "none" or not loose.any()
    bounded = np.isfinite(made.problem.lower) & wet
    assert (y[bounded] >= -1e-11).all()
    assert (x[bounded] >= 0.0).all()


def answers(seed, speed):
    """For each separation, of a liquid that moves as one, up or down, below air and above a slanted floor."""
    vessel, level, liquid, star = random_liquid(seed)
    if speed < 0.0:
        level.reshape(vessel.grid.cells)[:, -1] = 1.0
        liquid.reshape(vessel.grid.cells)[:, -1] = 0
    star = [np.zeros(star[0].size), np.full(star[1].size, speed)]
    for separation in SEPARATIONS:
        made = make_pressure_problem(vessel.grid, vessel.fractions, level, liquid, star, 0.1, separation=separation)
        yield exactly(made.problem).x


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_separates_all_separations_agree_and_elsewhere_they_do_not(seed):
    """Pressed against the floor: more flows into every cell than out of it, b <= 0, and A is an M-matrix, so x >= 0."""
    held, at_walls, everywhere = answers(seed, -20.0)
    assert held.min() >= -1e-12
    assert held.max() > 0.1
    np.testing.assert_allclose(at_walls, held, atol=1e-11)
    np.testing.assert_allclose(everywhere, held, atol=1e-11)
    held, at_walls, everywhere = answers(seed, 20.0)
    assert held.min() < -0.1
    assert at_walls.max() > 0.1
    assert everywhere.min() >= 0.0


@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize("seed", range(3))
def test_the_sparse_form_has_the_same_answer(seed, separation):
    vessel, level, liquid, star = random_liquid(seed)
    whole, alone = (
        make_pressure_problem(vessel.grid, vessel.fractions, level, liquid, star, 0.1, separation=separation, form=form)
        for form in ("stencil", "sparse")
    )
    assert alone.problem.kind == ("lcp" if separation == "everywhere" else "box")
    assert alone.problem.n == np.count_nonzero(liquid)
    found = alone.on_cells(exactly(alone.problem).x)
    np.testing.assert_allclose(found, exactly(whole.problem).x, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_cells_separate_whatever_the_method_leaves_of_their_pressure(seed):
    """Methods that keep to the inside of the bounds never make a pressure zero."""
    vessel, level, liquid, star = random_liquid(seed)
    made = make_pressure_problem(vessel.grid, vessel.fractions, level, liquid, star, 0.1, separation="everywhere")
    x = exactly(made.problem).x
    loose = made.separating(x, made.problem.slack(x))
    inside = np.where(made.liquid != 0, x + 1e-9, x)
    np.testing.assert_array_equal(made.separating(inside, made.problem.slack(inside)), loose)
    assert 5 < np.count_nonzero(loose) < np.count_nonzero(liquid) - 5


# ---- odd liquids


@pytest.mark.parametrize("method", ["block_principal", "mprgp", "minimum_map"])
@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize("form", ["stencil", "sparse"])
def test_a_full_closed_vessel_is_solved_although_its_rows_sum_to_zero(form, separation, method):
    """And its pressure falls along gravity, relative to one cell."""
    grid, dt = StaggeredGrid((6, 5), 0.2), 0.01
    vessel = Vessel(grid)
    star = [np.zeros(grid.faces[0].size), np.full(grid.faces[1].size, -9.81 * dt)]
    made = make_pressure_problem(
        grid,
        vessel.fractions,
        np.full(30, -1.0),
        np.ones(30, dtype=np.uint8),
        star,
        dt,
        separation=separation,
        form=form,
    )
    result = perp.solve(made.problem, method, tol=1e-12, max_iterations=1000)
    assert result.success, result
    pressure = made.on_cells(result.x).reshape(grid.cells) * (grid.spacing / dt) ** 2
    np.testing.assert_allclose(np.diff(pressure, axis=1), -9.81 * 0.2, rtol=1e-6)
    np.testing.assert_allclose(np.diff(pressure, axis=0), 0.0, atol=1e-6)


def test_drops_of_one_cell_and_cells_without_a_way_out_are_no_trouble():
    grid = StaggeredGrid((7, 7), 1.0)
    # a solid with a hole of one cell, and cells all around it
    box = Union(BoxTank((0, 0), (7, 7)), BallTank((3.5, 3.5), 3.0))
    hole = Vessel(grid, lambda p: np.where(np.abs(p - 3.5).max(axis=1) < 0.6, 0.4, np.minimum(box(p), -0.3)))
    for vessel in (hole, Vessel(grid, lambda p: np.full(len(p), -1.0)), Vessel(grid)):
        for separation in SEPARATIONS:
            level = np.ones(grid.size)
            level[[24, 0, 3]] = -0.5
            liquid = ((level < 0.0) & open_cells(vessel)).astype(np.uint8)
            level = np.where(liquid != 0, level, 1.0)
            star = [np.linspace(-1.0, 1.0, faces.size) for faces in grid.faces]
            for form in ("stencil", "sparse"):
                made = make_pressure_problem(
                    grid, vessel.fractions, level, liquid, star, 0.1, separation=separation, form=form
                )
                assert exactly(made.problem).success


def test_no_liquid_at_all_is_a_problem_that_is_solved():
    grid = StaggeredGrid((4, 3), 1.0)
    star = [np.ones(faces.size) for faces in grid.faces]
    for form in ("stencil", "sparse"):
        made = make_pressure_problem(
            grid, Vessel(grid).fractions, np.ones(12), np.zeros(12, dtype=np.uint8), star, 0.1, form=form
        )
        result = exactly(made.problem)
        assert not made.on_cells(result.x).any()


@pytest.mark.parametrize("options", [{"separation": "wall"}, {"form": "csr"}], ids=str)
def test_unknown_words_are_refused(options):
    grid = StaggeredGrid((2, 2), 1.0)
    star = [np.ones(faces.size) for faces in grid.faces]
    name, word = next(iter(options.items()))
    with pytest.raises(InvalidProblem, match=f"{name} is '{word}'"):
        make_pressure_problem(
            grid, Vessel(grid).fractions, np.ones(4), np.zeros(4, dtype=np.uint8), star, 0.1, **options
        )
