"""Pictures of frames: what is nearest is seen, forces are to scale, and nothing that may be recorded breaks them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from small_worlds import Pucks

import perp
from perp.errors import MissingExtra
from perp.lab import scene_picture
from perp.lab.scene_picture import draw_frame, force_lines, make_figure
from perp.lab.scene_picture_bodies import SpaceView
from perp.lab.scene_picture_triangles import NOTHING, find_covered, find_nearest, linear_over, make_surface
from perp.recording import ContactFrame, Frame, Shape


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Fewer pixels: these pictures are not looked at."""
    monkeypatch.setattr(scene_picture, "DPI", 30)


FORMS = {
    "box": (0.5, 0.3, 0.2),
    "sphere": (0.4,),
    "ellipsoid": (0.5, 0.3, 0.2),
    "capsule": (0.2, 0.4),
    "cylinder": (0.3, 0.4),
}


def solid_frame(position, orientation=None, contacts=None):
    position = np.asarray(position, dtype=float)
    n = len(position)
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if orientation is None else np.asarray(orientation)
    return Frame(1, 0.1, position, turned, np.zeros((n, 3)), np.zeros((n, 3)), contacts or ContactFrame.none(3))


def test_the_nearest_triangle_is_seen_whatever_the_order():
    large = [[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]]
    small = [[4.0, 4.0], [12.0, 4.0], [4.0, 12.0]]
    for order in ([0, 1], [1, 0]):
        corner, depth = np.array([large, small])[order], np.array([[0.0] * 3, [1.0] * 3])[order]
        number = find_nearest(corner, depth, 20, 20)
        assert order[number[5, 5]] == 1
        assert order[number[15, 15]] == 0


def test_triangles_that_pierce_each_other_are_told_apart_pixel_by_pixel():
    corner = np.array([[[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]]] * 2)
    depth = np.array([[0.0, 20.0, 0.0], [10.0, 10.0, 10.0]])  # the first rises along x and comes out at x = 10
    number = find_nearest(corner, depth, 20, 20)
    np.testing.assert_array_equal(number[2], [1] * 10 + [0] * 7 + [NOTHING] * 3)


def test_every_pixel_of_two_triangles_with_a_common_side_belongs_to_one_of_them():
    a, b, left, right = (3.5, 7.5), (51.5, 33.5), (11.3, 56.2), (44.1, 2.9)  # corners on centres, and a slanted side
    halves = np.array([[a, b, left], [a, b, right]])
    count = [find_covered(half[None], 60, 60).astype(int) for half in halves]
    assert (count[0] + count[1]).max() == 1
    assert (find_nearest(halves, np.zeros((2, 3)), 60, 60) != NOTHING).sum() == count[0].sum() + count[1].sum()


def test_triangles_outside_the_picture_or_of_any_size_do_no_harm():
    corner = np.array(
        [
            [[-1e150, -1e150], [1e150, -1e150], [0.0, 1e150]],
            [[100.0, 100.0], [110.0, 100.0], [100.0, 110.0]],
            [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]],
        ]
    )
    with np.errstate(all="ignore"):
        number = find_nearest(corner, np.zeros((3, 3)), 10, 8)
    assert number.shape == (8, 10)
    assert set(np.unique(number)) <= {NOTHING, 0}


def test_linear_functions_are_found_from_their_values_at_the_corners():
    draw = np.random.default_rng(1)
    corner, c = draw.uniform(0.0, 9.0, (5, 3, 2)), draw.standard_normal((3, 4))
    values = c[0] + corner[..., :1] * c[1] + corner[..., 1:] * c[2]
    np.testing.assert_allclose(linear_over(corner, values), np.tile(c, (5, 1, 1)), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_surfaces_are_closed_outward_and_of_the_right_size(form):
    draw = np.random.default_rng(2)
    quaternion = draw.standard_normal((1, 4))
    quaternion /= np.linalg.norm(quaternion)
    frame = solid_frame([[1.0, 2.0, 3.0]], quaternion)
    surface = make_surface(frame, [Shape(form, 0, FORMS[form])])
    a, b, c = surface.corner.transpose(1, 0, 2) - frame.position[0]
    across = np.cross(b - a, c - a)
    volume = np.einsum("ij,ij->", a, across) / 6.0
    size = FORMS[form]
    exact = {
        "box": lambda: 8.0 * size[0] * size[1] * size[2],
        "sphere": lambda: 4 / 3 * np.pi * size[0] ** 3,
        "ellipsoid": lambda: 4 / 3 * np.pi * np.prod(size),
        "capsule": lambda: 4 / 3 * np.pi * size[0] ** 3 + 2.0 * np.pi * size[0] ** 2 * size[1],
        "cylinder": lambda: 2.0 * np.pi * size[0] ** 2 * size[1],
    }[form]()
    assert exact * 0.97 < volume <= exact * (1.0 + 1e-12)
    np.testing.assert_allclose(across.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(surface.normal, axis=2), 1.0)
    has_area = np.linalg.norm(across, axis=1) > 1e-12
    towards = np.einsum("tj,tcj->tc", across, surface.normal)
    assert (towards[has_area] > 0.0).all()


def test_a_shape_is_placed_by_its_body_and_by_itself():
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z
    shape = Shape("box", 0, (0.1, 0.1, 0.1), np.array([1.0, 0.0, 0.0]))
    surface = make_surface(solid_frame([[5.0, 0.0, 0.0]], [quarter]), [shape])
    np.testing.assert_allclose(surface.corner.reshape(-1, 3).mean(axis=0), [5.0, 1.0, 0.0], atol=1e-12)


def test_a_body_in_front_hides_the_one_behind_it():
    view_axes = SpaceView(solid_frame([[0.0, 0.0, 0.0]]), [Shape("sphere", 0, (1.0,))]).axes
    red, blue = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    shapes = [Shape("sphere", 0, (1.0,), color=red), Shape("sphere", 1, (1.0,), color=blue)]
    for places, seen in (([0.0, 3.0], 2), ([3.0, 0.0], 0)):
        picture = SpaceView(solid_frame(np.outer(places, view_axes[2])), shapes).render()
        middle = picture[picture.shape[0] // 2, picture.shape[1] // 2]
        assert middle[3] == 1.0
        assert np.argmax(middle[:3]) == seen
        assert picture[0, 0, 3] == 0.0


def test_forces_are_lines_through_their_contacts_to_scale():
    point, impulse = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), np.array([[0.0, 4.0], [2.0, 0.0], [0.0, 1e-9]])
    contacts = ContactFrame(np.zeros((3, 2), dtype=np.int64), point, np.zeros((3, 2)), np.zeros(3), impulse)
    frame = Frame(1, 0.0, point, np.zeros((3, 1)), point, np.zeros((3, 1)), contacts)
    lines, share = force_lines(frame, 0.5)
    np.testing.assert_allclose(lines.mean(axis=1), point[:2])
    np.testing.assert_allclose(lines[:, 1] - lines[:, 0], [[0.0, 0.5], [0.25, 0.0]])
    np.testing.assert_allclose(share, [1.0, 0.5])


def plane_frame():
    world = Pucks(4, height=0.0)
    report = world.step(0.01, lambda problem, x0: perp.solve(problem, "pgs"))
    return world.frame(report), world.shapes()


def test_a_picture_of_the_plane_has_axes_in_metres_and_the_largest_force_in_newtons(tmp_path):
    pytest.importorskip("matplotlib")
    frame, shapes = plane_frame()
    figure = make_figure(frame, shapes, dt=0.01, title="pucks")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == ("x [m]", "y [m]", "pucks")
    assert axes.get_aspect() == 1.0
    largest = np.linalg.norm(frame.contacts.impulse, axis=1).max() / 0.01
    (text,) = figure.legends[0].get_texts()
    assert text.get_text() == f"largest contact force {largest:.3g} N; 4 contacts"
    draw_frame(frame, shapes, tmp_path / "end.svg")
    assert "<svg" in (tmp_path / "end.svg").read_text()


def test_walls_and_the_ground_are_in_the_picture():
    pytest.importorskip("matplotlib")
    frame, shapes = plane_frame()
    wall = Shape("segment", -1, (), np.zeros(2), vertices=np.array([[3.0, 0.0], [3.0, 2.0]]))
    limits = make_figure(frame, (*shapes, wall)).axes[0]
    assert limits.get_xlim()[1] > 3.0
    assert limits.get_ylim()[0] < 0.0
    assert limits.get_ylim()[1] > 2.0


@pytest.mark.parametrize("far", [1e3, 1e12, 1e150])
def test_a_body_that_flies_away_does_not_shrink_the_others(far):
    pytest.importorskip("matplotlib")
    frame, shapes = plane_frame()
    near = make_figure(frame, shapes).axes[0].get_xlim()
    frame.position[3] = far
    apart = make_figure(frame, shapes).axes[0].get_xlim()
    assert apart[1] - apart[0] < 2.0 * (near[1] - near[0])


def test_solid_bodies_of_every_form_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw = np.random.default_rng(3)
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
    shapes = [Shape(form, k, size) for k, (form, size) in enumerate(FORMS.items())]
    shapes += [Shape("mesh", 5, vertices=corners, faces=faces), Shape("plane", -1, (5.0, 5.0))]
    position = draw.uniform(0.0, 3.0, (6, 3))
    m = 9
    contacts = ContactFrame(
        np.zeros((m, 2), dtype=np.int64), *draw.standard_normal((2, m, 3)), np.zeros(m), draw.standard_normal((m, 3))
    )
    frame = solid_frame(position, contacts=contacts)
    draw_frame(frame, shapes, tmp_path / "end.png", dt=0.01)
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")
    assert "9 contacts" in make_figure(frame, shapes, dt=0.01).legends[0].get_texts()[0].get_text()


@pytest.mark.parametrize("shapes", [[], [Shape("plane", -1, (1.0, 1.0))], [Shape("sphere", 0, (0.0,))]])
def test_frames_with_little_to_see_are_drawn_too(tmp_path, shapes):
    pytest.importorskip("matplotlib")
    draw_frame(solid_frame([[0.0, 0.0, 0.0]]), shapes, tmp_path / "end.png")
    frame = solid_frame([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    draw_frame(frame, shapes, tmp_path / "end.png")
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_frame_makes_the_same_picture(tmp_path):
    pytest.importorskip("matplotlib")
    frame, shapes = (
        solid_frame([[0.0, 0.0, 0.0], [1.0, 0.0, 0.2]]),
        [Shape("box", 0, (0.5,) * 3), Shape("sphere", 1, (0.5,))],
    )
    first, second = (SpaceView(frame, shapes).render() for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_without_matplotlib_the_remedy_is_told(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="pip install matplotlib"):
        draw_frame(*plane_frame(), tmp_path / "end.png")
