"""Pictures of liquids: particles by speed, the solid, separating cells; in space what is nearest, however many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perp.lab import scene_picture
from perp.lab.scene_picture import draw_frame, make_figure
from perp.lab.scene_picture_liquid import (
    LiquidSpaceView,
    in_sight,
    nearest_balls,
    rimmed_distance,
    rimmed_nodes,
    vessel_lines,
)
from perp.recording import LiquidFrame, LiquidGrid, Shape
from perp.worlds.fluid import Ball, BoxTank, Turned, seed_particles

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Fewer pixels: these pictures are not looked at."""
    monkeypatch.setattr(scene_picture, "DPI", 30)


def make_grid(dimension, cells=8, radius=0.45):
    """The inside of a ball in a unit cube; no radius: the cube."""
    nodes = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, cells + 1)] * dimension, indexing="ij"))
    distance = radius - np.linalg.norm(nodes - 0.5, axis=0) if radius else np.full(nodes.shape[1:], 0.3)
    return LiquidGrid((cells,) * dimension, 1.0 / cells, np.zeros(dimension), distance)


def make_frame(dimension, particles=200, cells=8, separating=2):
    draw = np.random.default_rng(dimension)
    position = draw.uniform(0.3, 0.6, (particles, dimension))
    velocity = draw.standard_normal((particles, dimension))
    marked = np.zeros((cells,) * dimension, dtype=bool)
    marked.reshape(-1)[:separating] = True
    return LiquidFrame(3, 0.1, position, velocity, np.zeros(marked.shape), np.ones(marked.shape, dtype=bool), marked)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_picture_has_a_title_a_bar_with_a_unit_and_tells_what_separates(tmp_path, dimension):
    figure = make_figure(make_frame(dimension), make_grid(dimension), title="dam")
    axes, bar = figure.axes
    assert (axes.get_title(loc="left"), axes.get_aspect()) == ("dam", 1.0)
    assert bar.get_ylabel() == "speed [m/s]"
    assert figure.legends[0].get_texts()[0].get_text() == "separating: p = 0 in 2 cells"
    draw_frame(make_frame(dimension), make_grid(dimension), tmp_path / "end.png")
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_the_plane_has_axes_in_metres_and_all_of_the_grid():
    axes = make_figure(make_frame(2), make_grid(2)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")
    for low, high in (axes.get_xlim(), axes.get_ylim()):
        assert -0.1 < low < 0.0 < 1.0 < high < 1.1


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [0.45, 0.0, -1.0], ids=["a ball", "a cube", "no room"])
@pytest.mark.parametrize("particles", [0, 1, 200])
def test_whatever_a_liquid_is_in_and_however_little_there_is_is_drawn(tmp_path, dimension, radius, particles):
    frame = make_frame(dimension, particles, separating=0)
    figure = make_figure(frame, make_grid(dimension, radius=radius))
    figure.savefig(tmp_path / "end.png", dpi=20)
    assert not figure.legends


@pytest.mark.parametrize("dimension", [2, 3])
def test_liquids_at_rest_or_of_any_speed_are_drawn(tmp_path, dimension):
    frame = make_frame(dimension)
    for name, factor in (("rest.png", 0.0), ("rush.png", 1e90)):
        draw_frame(replace(frame, velocity=factor * frame.velocity), make_grid(dimension), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5_000


def test_one_fast_particle_does_not_make_the_others_dark():
    frame = make_frame(2, particles=1000)
    frame.velocity[7] = 1e6
    bar = make_figure(frame, make_grid(2)).axes[1]
    assert bar.get_ylim()[1] < 10.0


def test_a_liquid_needs_its_grid_and_bodies_their_shapes():
    with pytest.raises(TypeError, match=r"drawn with world.grid\(\), not with a tuple"):
        make_figure(make_frame(2), (Shape("disc", 0, (1.0,)),))
    from small_worlds import Pucks

    with pytest.raises(TypeError, match=r"drawn with world.shapes\(\), not with a LiquidGrid"):
        make_figure(Pucks(2).frame(), make_grid(2))
    with pytest.raises(TypeError, match=r"frame is a LiquidGrid; what world.frame\(report\) returns"):
        make_figure(make_grid(2), make_frame(2))


def test_outside_the_grid_is_solid():
    grid = make_grid(2, radius=0.0)
    distance, nodes = rimmed_distance(grid), rimmed_nodes(grid, 1)
    assert distance.shape == (11, 11)
    assert (distance[0] < 0.0).all()
    assert (distance[1:-1, 1:-1] > 0.0).all()
    np.testing.assert_allclose(nodes[[0, 1, 5, -2, -1]], [0.0, 0.0, 0.5, 1.0, 1.0], atol=1e-5)
    assert nodes[0] < nodes[1]


def test_the_nearest_ball_is_seen_whatever_the_order():
    place, depth = np.array([[10.2, 10.7], [12.3, 10.1], [30.0, 5.0]]), np.array([0.0, 5.0, 1.0])
    for order in ([0, 1, 2], [2, 1, 0]):
        number, level = nearest_balls(place[order], depth[order], 4.0, 40, 20)
        assert number.shape == (20, 40)
        assert order[number[10, 10]] == 1  # in front of the first, whose middle it covers
        assert order[number[10, 7]] == 0
        assert number[19, 39] == -1
        assert level[10, 12] == 9.0  # the middle of the second, and its radius
        assert level[19, 39] == -np.inf


def test_balls_are_those_of_a_plain_loop():
    draw = np.random.default_rng(4)
    place, depth, radius = draw.uniform(-3.0, 28.0, (60, 2)), draw.uniform(0.0, 9.0, 60), 3.3
    number, level = nearest_balls(place, depth, radius, 25, 20)
    for y in range(20):
        for x in range(25):
            gap = np.floor(place) - [x, y]
            bulge = radius**2 - (gap**2).sum(axis=1)
            near = np.where(bulge >= 0.0, depth + np.sqrt(np.maximum(bulge, 0.0)), -np.inf)
            assert level[y, x] == pytest.approx(near.max(), rel=1e-6)
            assert (number[y, x] == -1) == (near.max() == -np.inf)
            if number[y, x] >= 0:
                assert near[number[y, x]] == pytest.approx(near.max(), rel=1e-6)


def test_balls_outside_the_picture_and_small_ones_do_no_harm():
    place = np.array([[-1e9, 4.0], [4.0, 1e9], [-2.5, 4.0], [4.5, 4.5]])
    number, _ = nearest_balls(place, np.zeros(4), 0.2, 10, 8)
    assert (number >= 0).sum() == 1
    number, _ = nearest_balls(place, np.zeros(4), 3.0, 10, 8)
    assert number[4, 0] == 2


def test_particles_inside_a_block_are_hidden_and_those_at_its_sides_are_not():
    grid = make_grid(3, 8, 0.0)
    middle = (np.stack(np.meshgrid(*[np.arange(1.0, 7.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) / 8.0
    viewer = np.array([1.0, -1.0, 1.0])
    seen = set(in_sight(middle, grid, viewer))
    cell = np.floor(8.0 * middle).astype(int)
    for number, (i, j, k) in enumerate(cell):
        assert (number in seen) == (i == 6 or j == 1 or k == 6)


def test_the_liquid_in_front_hides_what_is_behind_it():
    grid = make_grid(3, 16, 0.0)
    towards = LiquidSpaceView(make_frame(3, cells=16), grid).axes[2]
    cloud = np.random.default_rng(1).uniform(-0.08, 0.08, (400, 3))
    fast = np.tile([1.0, 0.0, 0.0], (400, 1))
    for near, colour in ((1.0, "fast"), (-1.0, "slow")):
        position = np.concatenate([0.5 + 0.25 * near * towards + cloud, 0.5 - 0.25 * near * towards + cloud])
        blank = np.zeros((16,) * 3, dtype=bool)
        frame = LiquidFrame(0, 0.0, position, np.concatenate([fast, 0.0 * fast]), 0.0 * blank, blank, blank)
        picture = LiquidSpaceView(frame, grid).render()
        middle = picture[picture.shape[0] // 2, picture.shape[1] // 2]
        assert middle[3] == 1.0
        assert (middle[1] > middle[2]) == (colour == "fast")  # yellow, or dark blue


def test_lines_around_a_ball_lie_on_it():
    grid = make_grid(3, 24)
    lines = list(vessel_lines(grid))
    assert len(lines) >= 9
    radius = np.concatenate([np.linalg.norm(line - 0.5, axis=1) for line in lines])
    np.testing.assert_allclose(radius, 0.45, atol=0.25 / 24)


def test_lines_around_a_cube_are_its_edges_and_between():
    points = np.concatenate(list(vessel_lines(make_grid(3, 8, 0.0))))
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [[0.0] * 3, [1.0] * 3], atol=1e-5)


def test_the_same_liquid_makes_the_same_picture():
    first, second = (LiquidSpaceView(make_frame(3), make_grid(3)).render() for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first[..., 3].max() == 1.0


def test_all_of_a_full_ball_is_in_the_picture():
    """Its outline is no line that is drawn around it. A pixel at the rim of the picture would show that it is cut."""
    grid = make_grid(3, 24)
    position = seed_particles(Ball((0.5,) * 3, 0.45), (24,) * 3, 1 / 24)
    blank = np.zeros((24,) * 3, dtype=bool)
    frame = LiquidFrame(0, 0.0, position, 0.0 * position, 0.0 * blank, blank, blank)
    opaque = LiquidSpaceView(frame, grid).render()[..., 3] > 0.0
    assert opaque.any()
    assert not opaque[[0, -1]].any()
    assert not opaque[:, [0, -1]].any()


def test_lines_around_a_turned_tank_are_straight():
    """Also beside walls that lie along the grid, a little inside a plane of nodes."""
    n = 24
    solid = Turned(BoxTank((0.2, 0.12, 0.25), (0.8, 0.88, 0.75)), 0.35, (0.5,) * 3)
    nodes = np.stack(np.meshgrid(*[np.arange(n + 1) / n] * 3, indexing="ij"), axis=-1)
    grid = LiquidGrid((n,) * 3, 1 / n, np.zeros(3), solid(nodes.reshape(-1, 3)).reshape((n + 1,) * 3))
    walls = Turned(BoxTank((0.2, -9.0, 0.25), (0.8, 9.0, 0.75)), 0.35, (0.5,) * 3)  # but for those along the grid
    across = [line for line in vessel_lines(grid) if np.ptp(line[:, 1]) == 0.0]
    assert len(across) == 5
    for line in across:
        # corners are cut a little, and elsewhere a line lies on the wall
        assert np.abs(walls(line)).max() < 0.15 / n
        assert np.median(np.abs(walls(line))) < 0.001 / n
