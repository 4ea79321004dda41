"""Shapes of MuJoCo's geoms in the frames of our bodies."""

from __future__ import annotations

import numpy as np
import pytest

from perp.recording import Shape
from perp.worlds.mujoco_models import shapes_of

mujoco = pytest.importorskip("mujoco")

TEXT = """
<mujoco>
  <asset>
    <material name="red" rgba="1 0 0 1"/>
    <mesh name="wedge" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3"/>
    <hfield name="hill" nrow="3" ncol="4" size="2 1 .5 .1" elevation="0 0 0 0  0 1 1 0  0 0 0 0"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="3 0 1"/>
    <geom name="hidden" size=".1" rgba="1 1 1 0"/>
    <body pos="0 0 5" euler="0 0 90"><geom name="fixed" type="hfield" hfield="hill" pos="1 0 0"/></body>
    <body name="free" pos="0 0 2" euler="30 40 50"><freejoint/>
      <geom name="box" type="box" size=".1 .2 .3" pos=".5 0 0" euler="10 0 0" material="red"/>
      <geom name="ball" size=".1" rgba="0 1 0 1" material="red"/>
      <body name="welded" pos="0 .4 0" euler="0 90 0">
        <geom name="pill" type="capsule" size=".05 .1" pos="0 0 .2"/>
        <geom name="can" type="cylinder" size=".05 .1" rgba=".2 .4 .6 1"/>
        <geom name="egg" type="ellipsoid" size=".1 .2 .3"/>
      </body>
      <body name="arm" pos=".3 0 0"><joint/><geom name="wedge" type="mesh" mesh="wedge"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def rotation(quaternion: np.ndarray) -> np.ndarray:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


@pytest.mark.parametrize("welded_apart", [True, False])
def test_every_shape_stands_where_mujoco_has_its_geom(welded_apart: bool) -> None:
    """Bodies as MuJoCo has them, and with what is welded taken as one body (or as the world)."""
    model = mujoco.MjModel.from_xml_string(TEXT)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    if welded_apart:
        numbers, carrier = np.arange(model.nbody) - 1, np.arange(1, model.nbody)
    else:
        numbers, carrier = np.array([-1, -1, 0, 0, 1]), np.array([2, 4])
    centre = np.asarray(model.body_ipos)[carrier] + 0.05
    shapes = {shape.name: shape for shape in shapes_of(model, numbers, centre)}
    assert "hidden" not in shapes
    for geom in range(model.ngeom):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
        if name == "hidden":
            continue
        shape = shapes[name]
        assert shape.body == numbers[model.geom_bodyid[geom]]
        origin, axes = np.zeros(3), np.eye(3)
        if shape.body >= 0:
            body = carrier[shape.body]
            axes = data.xmat[body].reshape(3, 3)
            origin = data.xpos[body] + axes @ centre[shape.body]
        assert origin + axes @ shape.position == pytest.approx(data.geom_xpos[geom], abs=1e-12)
        assert axes @ rotation(shape.orientation) == pytest.approx(data.geom_xmat[geom].reshape(3, 3), abs=1e-12)


@pytest.fixture
def shapes() -> dict[str, Shape]:
    model = mujoco.MjModel.from_xml_string(TEXT)
    made = shapes_of(model, np.arange(model.nbody) - 1, np.asarray(model.body_ipos[1:]))
    return {shape.name: shape for shape in made}


def test_sizes_are_those_that_a_form_has(shapes: dict[str, Shape]) -> None:
    assert shapes["box"].size == pytest.approx((0.1, 0.2, 0.3))
    assert shapes["ball"].form == "sphere"
    assert shapes["ball"].size == pytest.approx((0.1,))
    assert shapes["pill"].size == shapes["can"].size == pytest.approx((0.05, 0.1))
    assert shapes["egg"].size == pytest.approx((0.1, 0.2, 0.3))
    wide, endless = shapes["floor"].size
    assert wide == 3.0
    assert endless > 0.0


def test_colors_come_from_the_geom_or_else_from_its_material(shapes: dict[str, Shape]) -> None:
    assert shapes["box"].color == (1.0, 0.0, 0.0)
    assert shapes["ball"].color == (0.0, 1.0, 0.0)
    assert shapes["can"].color == pytest.approx((0.2, 0.4, 0.6))
    assert shapes["pill"].color is None


def test_meshes_and_height_fields_have_vertices_and_faces(shapes: dict[str, Shape]) -> None:
    wedge = shapes["wedge"]
    assert wedge.form == "mesh"
    assert wedge.vertices.shape == (4, 3)
    assert sorted(np.unique(wedge.faces)) == [0, 1, 2, 3]
    edges = np.linalg.norm(wedge.vertices[:, None] - wedge.vertices[None], axis=2)
    assert np.sort(edges[np.triu_indices(4, 1)]) == pytest.approx([0.3] * 3 + [0.3 * np.sqrt(2)] * 3, rel=1e-6)
    hill = shapes["fixed"]
    assert hill.form == "mesh"
    assert hill.vertices.shape == (12, 3)
    assert hill.vertices[:, 2].max() == pytest.approx(0.5)
    assert hill.faces.shape == (12, 3)
    corners = hill.vertices[hill.faces]
    upward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert (upward > 0.0).all()
    assert upward.sum() / 2.0 == pytest.approx(4.0 * 2.0)
