"""Open shares of faces: exact for plane walls, closed where the wall is, the same from every side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.worlds.fluid import BallTank, BoxTank, HalfSpace, Turned
from perp.worlds.fluid.vessel import LEAST_OPENING, StaggeredGrid, open_fractions, sample_solid


def fractions_of(grid, solid):
    flat = open_fractions(grid, sample_solid(solid, grid))
    return [one.reshape(grid.face_shape(axis)) for axis, one in enumerate(flat)]


def balance(fractions, stream):
    """What a uniform stream brings out of each cell that is not at the rim, in units of a face."""
    total = 0.0
    for axis, fraction in enumerate(fractions):
        flux = np.moveaxis(fraction * stream[axis], axis, 0)
        total = total + np.moveaxis(flux[1:] - flux[:-1], 0, axis)
    return total[(slice(1, -1),) * total.ndim]


@pytest.mark.parametrize("dimension", [2, 3])
@given(data=st.data())
def test_a_stream_along_a_plane_wall_flows_into_a_cell_as_it_flows_out(dimension, data):
    """The divergence theorem for a cut cell. Faces with a share below LEAST_OPENING count as closed or open."""
    normal = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=dimension, max_size=dimension)))
    if np.linalg.norm(normal) < 0.1:
        normal[0] = 1.0
    other = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=dimension, max_size=dimension)))
    grid = StaggeredGrid((5,) * dimension, 1.0)
    wall = HalfSpace(data.draw(st.lists(st.floats(1, 4), min_size=dimension, max_size=dimension)), normal)
    stream = other - other @ wall.normal * wall.normal
    fractions = fractions_of(grid, wall)
    rounded = 2 * dimension * LEAST_OPENING * np.abs(stream).max() + 1e-14
    assert np.abs(balance(fractions, stream)).max() <= rounded


@pytest.mark.parametrize("dimension", [2, 3])
def test_where_no_face_is_rounded_the_balance_is_exact(dimension):
    grid = StaggeredGrid((6,) * dimension, 1.0)
    wall = HalfSpace([2.77] * dimension, [0.31, 0.83, 0.57][:dimension])
    stream = np.array([1.0, -0.7, 0.4][:dimension])
    stream -= stream @ wall.normal * wall.normal
    fractions = fractions_of(grid, wall)
    assert sum(np.count_nonzero((f > 0.0) & (f < 1.0)) for f in fractions) > 5
    assert np.abs(balance(fractions, stream)).max() < 1e-14


@pytest.mark.parametrize("dimension", [2, 3])
def test_open_shares_are_what_a_fine_lattice_counts(dimension):
    grid = StaggeredGrid((6,) * dimension, 1.0)
    wall = HalfSpace([2.71] * dimension, [0.31, 0.83, 0.6][:dimension])
    lattice = (np.arange(40) + 0.5) / 40 - 0.5
    for axis, fraction in enumerate(fractions_of(grid, wall)):
        across = [np.zeros(1) if k == axis else lattice for k in range(dimension)]
        offsets = np.stack(np.meshgrid(*across, indexing="ij"), axis=-1).reshape(-1, dimension)
        points = grid.face_points(axis)
        count = np.stack([wall(points + offset) > 0.0 for offset in offsets]).mean(axis=0).reshape(fraction.shape)
        inner = np.moveaxis(np.abs(count - fraction), axis, 0)[1:-1]
        assert inner.max() < 1 / 40


def test_walls_along_faces_close_them_whatever_rounding_makes_of_their_place():
    spacing = 0.1
    grid = StaggeredGrid((8, 7), spacing, (0.3, -0.2))
    for shift in (0.0, 1e-16, -1e-16, 3e-12):
        lower, upper = grid.origin + 2 * spacing + shift, grid.upper - spacing + shift
        across, up = fractions_of(grid, BoxTank(lower, upper))
        expected = np.zeros(across.shape)
        expected[3:7, 2:6] = 1.0
        np.testing.assert_array_equal(across, expected)
        expected = np.zeros(up.shape)
        expected[2:7, 3:6] = 1.0
        np.testing.assert_array_equal(up, expected)


def test_the_rim_is_closed_and_all_else_is_open_without_a_solid():
    for cells in ((3, 4), (2, 3, 2), (1, 5)):
        for axis, fraction in enumerate(fractions_of(StaggeredGrid(cells, 0.5), None)):
            layers = np.moveaxis(fraction, axis, 0)
            assert not layers[0].any()
            assert not layers[-1].any()
            assert (layers[1:-1] == 1.0).all()


def test_open_shares_are_mirrored_and_turned_with_the_solid():
    grid = StaggeredGrid((8, 8, 8), 0.25, (-1.0, -1.0, -1.0))
    centre = np.array([0.07, -0.11, 0.03])
    x, y, z = fractions_of(grid, BallTank(centre, 0.83))
    mirrored = fractions_of(grid, BallTank(centre * [-1, 1, 1], 0.83))
    for axis, one in enumerate((x, y, z)):
        np.testing.assert_allclose(mirrored[axis], one[::-1], atol=1e-12)
    swapped = fractions_of(grid, BallTank(centre[[2, 0, 1]], 0.83))
    np.testing.assert_allclose(swapped[1], np.transpose(x, (2, 0, 1)), atol=1e-12)


def test_the_area_of_a_turned_tank_is_that_of_the_tank():
    """Sums of open shares are areas of sections; by midpoint rule they sum up to the volume, off at corners only."""
    grid = StaggeredGrid((40, 40), 0.05, (-1.0, -1.0))
    for angle in (0.2, 0.7):
        across, up = fractions_of(grid, Turned(BoxTank((-0.6, -0.4), (0.6, 0.4)), angle, (0.0, 0.0)))
        for fraction in (across, up):
            assert 0.05**2 * fraction.sum() == pytest.approx(0.96, abs=0.05**2 * 10)
