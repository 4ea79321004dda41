"""What the page is told of a world before its first frame, for every scene."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from frame_twin import read_frame

from perp import scenes
from perp.recording import Frame, Shape
from perp.recording.frame import ContactFrame
from perp.simulation.run import measure_step
from perp.simulation.settings import make_solve
from perp.viewer.frame_encoding import encode_frame
from perp.viewer.layout import Header
from perp.viewer.scene_message import describe_world

NAMES = sorted(scenes.kinds())
MESSAGES = Path(__file__).resolve().parents[2] / "viewer" / "src" / "messages.ts"


@pytest.fixture(scope="module")
def known():
    """Every scene, small: its description, and its frames at the beginning and after two steps."""
    found = {}
    for name, kind in scenes.kinds().items():
        scene = scenes.make(name, seed=1, **kind.small)
        world = scene.world
        first, shapes = world.frame(), world.shapes()
        told = describe_world(name, first, shapes, world.grid(), dt=scene.dt, seed=1, options=scene.options)
        solve = make_solve("pgs", None, 5)
        for _ in range(2):
            report = world.step(scene.dt, solve)
        frame = world.frame(report)
        data = encode_frame(frame, report=report, statistics=measure_step(world, report))
        found[name] = SimpleNamespace(scene=scene, first=first, shapes=shapes, told=told, frame=frame, data=data)
    return found


def words(interface: str) -> set[str]:
    """The fields of an interface of the page."""
    text = MESSAGES.read_text(encoding="utf-8")
    (body,) = re.findall(rf"^export interface {interface} \{{(.*?)^\}}", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^  (\w+): ", body, flags=re.MULTILINE))


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_is_told_in_the_words_of_the_page(known, name):
    told = json.loads(json.dumps(known[name].told, allow_nan=False))
    assert set(told) == words("SceneMessage")
    assert told["type"] == "scene"
    assert told["name"] == name
    assert told["seed"] == 1
    assert set(told["options"]) == set(known[name].scene.options)
    assert told["bodies"] == len(known[name].first.position)
    assert told["kind"] == ("liquid" if told["grid"] else "bodies")
    assert len(told["shapes"]) == len(known[name].shapes)
    d = told["dimension"]
    for shape in told["shapes"]:
        assert set(shape) == words("Shape")
        assert len(shape["position"]) == d
        assert (shape["mesh"] is not None) == (shape["form"] in ("mesh", "segment", "half_plane"))
    for mesh in told["meshes"]:
        assert set(mesh) == words("Mesh")
        assert all(len(vertex) == d for vertex in mesh["vertices"])
    if told["grid"]:
        assert set(told["grid"]) == words("Grid")


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_can_be_encoded(known, name):
    data, frame = known[name].data, known[name].frame
    read = read_frame(data)
    assert read.header[Header.STEP] == 2
    assert read.header[Header.BODIES] == len(frame.position)
    assert not np.isnan([list(row.values()) for row in read.bodies]).any()
    assert np.isfinite(read.header[Header.RESIDUAL])
    if read.contacts:
        assert not any(np.isnan(row["residual"]) or np.isnan(row["energy_error"]) for row in read.contacts)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_frame_lies_in_the_box_that_the_camera_looks_at(known, name):
    told, first = known[name].told, known[name].first
    low, high = np.array(told["low"]), np.array(told["high"])
    assert (low < high).all()
    assert (low <= first.position).all()
    assert (first.position <= high).all()
    if told["kind"] == "bodies":  # and is not lost in it
        spread = np.ptp(first.position, axis=0).max()
        sizes = [max(shape.size) for shape in known[name].shapes if shape.form != "plane" and shape.size]
        assert (high - low).max() <= spread + 8.0 * max(sizes, default=2.0)


def test_a_liquid_in_the_plane_tells_its_solid_and_one_in_space_does_not(known):
    plane = known["dam_break"].told["grid"]
    nx, ny = plane["cells"]
    assert len(plane["solid"]) == (nx + 1) * (ny + 1)
    grid = known["dam_break"].scene.world.grid()
    assert plane["solid"] == grid.solid.reshape(-1).tolist()
    assert known["dam_break"].told["high"] == (grid.origin + np.array(grid.cells) * grid.spacing).tolist()
    scene = scenes.make("dam_break", dim=3, cells=8)
    world = scene.world
    told = describe_world("dam_break", world.frame(), (), world.grid(), dt=scene.dt, seed=0, options=scene.options)
    assert [told["dimension"], len(told["low"]), len(told["grid"]["cells"])] == [3, 3, 3]
    assert told["grid"]["solid"] is None
    report = world.step(scene.dt, make_solve("pgs", None, 5))
    read = read_frame(encode_frame(world.frame(report), report=report))
    assert set(read.bodies[0]) == {"x", "y", "z", "speed"}
    assert len(read.bodies) == len(world.position) > 0
    assert read.cells == []


def made_frame(position, orientation=None) -> Frame:
    position = np.array(position, dtype=float)
    n, d = position.shape
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if d == 3 else np.zeros((n, 1))
    turns = turns if orientation is None else np.array(orientation)
    return Frame(0, 0.0, position, turns, np.zeros((n, d)), np.zeros((n, 3 if d == 3 else 1)), ContactFrame.none(d))


def describe(frame, shapes, **options):
    return describe_world("made", frame, shapes, None, dt=0.01, seed=0, options=options)


def test_equal_meshes_are_sent_once():
    corners, faces = np.eye(3), np.array([[0, 1, 2]], dtype=np.int32)
    shapes = [Shape("mesh", body, vertices=corners * (1 + (body == 2)), faces=faces) for body in range(4)]
    told = describe(made_frame(np.zeros((4, 3))), shapes)
    assert [shape["mesh"] for shape in told["shapes"]] == [0, 0, 1, 0]
    assert told["meshes"] == [
        {"vertices": corners.tolist(), "faces": [[0, 1, 2]]},
        {"vertices": (2 * corners).tolist(), "faces": [[0, 1, 2]]},
    ]


@pytest.mark.parametrize(
    ("form", "size", "half"),
    [
        ("box", (1.0, 2.0, 3.0), (2.0, 1.0, 3.0)),
        ("ellipsoid", (1.0, 2.0, 3.0), (2.0, 1.0, 3.0)),
        ("sphere", (2.0,), (2.0, 2.0, 2.0)),
        ("capsule", (1.0, 2.0), (1.0, 1.0, 3.0)),
        ("cylinder", (1.0, 2.0), (1.0, 1.0, 2.0)),
    ],
)
def test_a_box_around_a_turned_shape_is_turned(form, size, half):
    quarter = np.sqrt([[0.5, 0.0, 0.0, 0.5]])  # about z
    told = describe(made_frame([[10.0, 0.0, 0.0]], quarter), [Shape(form, 0, size, position=np.array([1.0, 0.0, 0.0]))])
    middle = np.array([10.0, 1.0, 0.0])
    assert told["low"] == pytest.approx(middle - half)
    assert told["high"] == pytest.approx(middle + half)


def test_what_stands_still_is_looked_at_unless_it_is_very_large():
    ball = Shape("sphere", 0, (0.5,))
    frame = made_frame([[0.0, 0.0, 1.0]])
    post = Shape("box", -1, (0.1, 0.1, 0.5), position=np.array([2.0, 0.0, 0.5]))
    assert describe(frame, [ball, post])["high"] == pytest.approx([2.1, 0.5, 1.5])
    ground, plane = Shape("box", -1, (50.0, 50.0, 0.5)), Shape("plane", -1, (5.0, 5.0))
    alone = describe(frame, [ball])
    with_ground = describe(frame, [ball, ground, plane])
    assert [with_ground["low"], with_ground["high"]] == [alone["low"], alone["high"]]


def test_segments_are_looked_at_and_half_planes_are_not():
    frame = made_frame([[0.0, 0.0]])
    disc = Shape("disc", 0, (1.0,), position=np.zeros(2))
    segment = Shape("segment", -1, position=np.zeros(2), vertices=np.array([[0.0, -2.0], [3.0, -1.0]]))
    edge = Shape("half_plane", -1, position=np.zeros(2), vertices=np.array([[0.0, -50.0], [0.0, 1.0]]))
    told = describe(frame, [disc, segment, edge])
    assert told["low"] == [-1.0, -2.0]
    assert told["high"] == [3.0, 1.0]
    assert told["meshes"][told["shapes"][2]["mesh"]]["vertices"] == [[0.0, -50.0], [0.0, 1.0]]


def test_a_world_without_bodies_has_a_box_to_look_at():
    told = describe(made_frame(np.empty((0, 3)), np.empty((0, 4))), [])
    assert told["low"] == [-1.0, -1.0, -1.0]
    assert told["high"] == [1.0, 1.0, 1.0]


def test_options_become_what_json_has_words_for():
    told = describe(made_frame([[0.0, 0.0]]), [], a=(1, 2.5), b=np.float64(0.5), c=float("inf"), d=None, e=True, f="x")
    assert told["options"] == {"a": [1, 2.5], "b": 0.5, "c": None, "d": None, "e": True, "f": "x"}
    json.dumps(told, allow_nan=False)
