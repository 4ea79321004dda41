"""MJCF is input from anywhere: what is wrong with it, or not supported, is said by name before any step."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from articulated_models import free_box, model, run, solver

from perp.errors import InvalidProblem, MissingExtra, StateNotFinite
from perp.worlds.articulated import ArticulatedWorld
from perp.worlds.mujoco_models import MAX_BODIES, MAX_DEPTH, load_model

mujoco = pytest.importorskip("mujoco")

SLIDER = '<body pos="0 0 1"><joint name="rail" type="slide"/><geom name="block" size=".1"/><site name="s"/></body>'


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes a log into the working folder when it warns."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<mujoco><worldbody><body", "not XML"),
        ("<mujoco><worldbody><bodi/></worldbody></mujoco>", "(?s)MuJoCo does not read this model.*bodi"),
        (model('<body><joint/><geom size="-1"/></body>'), "MuJoCo does not read this model"),
        (model('<body pos="nan 0 0"><joint/><geom size=".1"/></body>'), "pos of <body> is 'nan 0 0'"),
        (model('<body pos="inf 0 0"><freejoint/><geom size=".1"/></body>'), r"qpos0\[0\] of the model is inf"),
        ("<mujoco><worldbody>" + "<body>" * 450 + "</body>" * 450 + "</worldbody></mujoco>", f"more than {MAX_DEPTH}"),
        ("<mujoco><include file='/etc/hostname'/></mujoco>", "must not <include> files"),
        (model(f'<replicate count="1000000000">{SLIDER}</replicate>'), f"more than {MAX_BODIES} bodies"),
        (
            model(f'<replicate count="1000"><replicate count="1000">{SLIDER}</replicate></replicate>'),
            f"more than {MAX_BODIES} bodies",
        ),
        (model('<body><composite type="cable" count="100000 1 1"/></body>'), f"more than {MAX_BODIES} bodies"),
        (model('<geom size=".1"/>'), "no joints"),
    ],
)
def test_a_bad_text_is_refused_with_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        ArticulatedWorld.from_xml(text)


FLEX = """<mujoco><worldbody><flexcomp type="grid" count="3 3 1" spacing=".1 .1 .1" name="cloth" dim="2"/>
          </worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FLEX, "flexible bodies"),
        (model(SLIDER).replace("<option />", '<option><flag override="enable"/></option>'), "override"),
        (
            model(SLIDER, rest='<contact><pair geom1="floor" geom2="block" friction=".5 .6 0 0 0"/></contact>'),
            "differs in its two directions",
        ),
        (
            model(f'<body name="b">{SLIDER}</body>', rest='<actuator><adhesion body="b" ctrlrange="0 1"/></actuator>'),
            "adhesion actuators",
        ),
        (model(SLIDER, rest='<actuator><general joint="rail" dyntype="user" actdim="1"/></actuator>'), "user's own"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        ArticulatedWorld.from_xml(text)


def test_a_model_that_is_read_otherwise_than_mujoco_reads_it_says_so() -> None:
    assert ArticulatedWorld.from_xml(model(SLIDER)).notes == ()
    soft = model(SLIDER.replace('size=".1"', 'size=".1" solref=".005 1"'), option='integrator="implicitfast"')
    notes = ArticulatedWorld.from_xml(soft).notes
    assert any("solref" in note for note in notes)
    assert any("integrator" in note for note in notes)


def test_damping_that_is_explicit_here_is_noted() -> None:
    compiled = load_model(model(SLIDER, rest='<actuator><motor joint="rail"/></actuator>'))
    if not hasattr(compiled, "actuator_damping"):
        pytest.skip("this MuJoCo has no damping of actuators")
    compiled.actuator_damping[:] = 1.0
    assert any("explicit" in note for note in ArticulatedWorld.from_model(compiled).notes)


def test_files_are_read_with_what_they_include(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(f"<mujoco><worldbody>{SLIDER}</worldbody></mujoco>")
    whole = tmp_path / "whole.xml"
    whole.write_text('<mujoco><include file="part.xml"/></mujoco>')
    assert ArticulatedWorld.from_xml(whole).qpos.size == 1
    assert ArticulatedWorld.from_xml(str(whole)).qpos.size == 1
    whole.write_text('<mujoco><include file="whole.xml"/></mujoco>')
    with pytest.raises(InvalidProblem, match="included files"):
        ArticulatedWorld.from_xml(whole)
    (tmp_path / "part.xml").write_text(model(f'<replicate count="1e9">{SLIDER}</replicate>'))
    whole.write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(InvalidProblem, match="bodies"):
        ArticulatedWorld.from_xml(whole)
    with pytest.raises(InvalidProblem, match="cannot be read"):
        ArticulatedWorld.from_xml(tmp_path / "nowhere.xml")


def test_wrong_arguments_are_named() -> None:
    compiled = load_model(model(SLIDER))
    with pytest.raises(TypeError, match="source is int"):
        ArticulatedWorld.from_xml(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mujoco_model is str"):
        ArticulatedWorld.from_model("model")
    for name, value in (("margin", -1.0), ("restitution", 1.5), ("error_reduction", 2.0), ("compliance", np.nan)):
        with pytest.raises(ValueError, match=name):
            ArticulatedWorld.from_model(compiled, **{name: value})
    world = ArticulatedWorld.from_model(compiled)
    with pytest.raises(InvalidProblem, match="qpos"):
        world.set_state(qpos=np.zeros(2))
    with pytest.raises(InvalidProblem, match=r"qvel\[0\] is nan"):
        world.set_state(qvel=np.array([np.nan]))
    with pytest.raises(InvalidProblem, match="control"):
        world.control = np.ones(3)
    with pytest.raises(ValueError, match="dt"):
        world.step(0.0, solver())


def test_the_given_model_is_not_changed() -> None:
    compiled = load_model(free_box(0.1))
    cone, margin = compiled.opt.cone, compiled.geom_margin.copy()
    world = ArticulatedWorld.from_model(compiled)
    run(world, 2)
    assert compiled.opt.cone == cone
    assert (compiled.geom_margin == margin).all()


def test_a_state_that_would_be_infinite_is_not_taken() -> None:
    world = ArticulatedWorld.from_xml(model(SLIDER))
    run(world, 3)
    before = world.fingerprint()
    world.mujoco_data.qfrc_applied[:] = 1e308
    world.set_state(qvel=np.array([1e308]))
    stuck = world.fingerprint()
    with pytest.raises(StateNotFinite, match="step 4"):
        run(world, 1, dt=1e3)
    assert world.fingerprint() == stuck != before
    assert world.steps == 3


def test_too_little_memory_for_the_contacts_is_an_error_and_no_silent_loss() -> None:
    box = '<body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    boxes = f'<replicate count="40" offset=".3 0 0">{box}</replicate>'
    world = ArticulatedWorld.from_xml(model(boxes).replace("<mujoco>", '<mujoco><size memory="200K"/>'))
    with pytest.raises(InvalidProblem, match="memory"):
        run(world, 1)


def test_without_mujoco_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match="pip install mujoco"):
        ArticulatedWorld.from_xml(model(SLIDER))
