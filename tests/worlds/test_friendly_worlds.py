"""Mistakes with worlds are told at once, in words that say what to do, and leave nothing half done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_worlds import Pucks
from worlds_to_break import WORLDS, H, boxes, discs, exactly, rigid, rods, sweeps, swing

import perp
from perp.errors import InvalidProblem, StateNotFinite
from perp.recording import Description, Frame, Recorder
from perp.worlds import ArticulatedWorld

ACTUATED = """<mujoco><worldbody><body pos="0 0 1"><joint name="j" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size=".05" mass="2"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>"""


def ball(**others):
    return rigid().Geom(**({"form": "sphere", "size": 0.1, "mass": 1.0} | others))


def builder_with(*places):
    builder = rigid().RigidBuilder()
    for place in places:
        builder.body(ball(), place)
    return builder


# ---- the builder


@pytest.mark.parametrize(
    ("words", "error", "part"),
    [
        ({"geoms": "ball"}, TypeError, r"geoms\[0\]"),
        ({"geoms": []}, InvalidProblem, "no shape"),
        ({"form": "blob"}, InvalidProblem, "form 'blob' is unknown"),
        ({"form": "box"}, InvalidProblem, "a box needs 3 numbers: half edge along x"),
        ({"form": "capsule", "size": (1.0,)}, InvalidProblem, "a capsule needs 2 numbers: radius, half length"),
        ({"size": (1.0, 2.0)}, InvalidProblem, r"a sphere needs 1 number: radius \[m\]"),
        ({"size": "big"}, TypeError, "a sphere needs 1 number"),
        ({"size": -0.1}, InvalidProblem, "positive lengths"),
        ({"mass": "1 kg"}, InvalidProblem, "mass of a sphere is 1 kg"),
        ({"friction": None}, InvalidProblem, "friction of a sphere is None"),
        ({"color": (1.0, 0.0)}, InvalidProblem, "color of a sphere"),
        ({"avoids": 3}, TypeError, "list of groups"),
        ({"avoids": (77,)}, InvalidProblem, "group 77"),
        ({"form": "mesh", "vertices": None}, InvalidProblem, "four vertices"),
        ({"form": "plane", "size": (1.0, 1.0)}, InvalidProblem, "cannot move"),
        ({"geom_orientation": (0, 0, 0, 0)}, InvalidProblem, r"orientation of a sphere is \(0, 0, 0, 0\)"),
        ({"position": (0.0, 0.0)}, InvalidProblem, "position"),
        ({"orientation": (0, 0, 0, 0)}, InvalidProblem, r"orientation is \(0, 0, 0, 0\); a unit quaternion"),
        ({"velocity": (np.nan, 0.0, 0.0)}, InvalidProblem, "velocity"),
        ({"spin": (0.0, 0.0)}, InvalidProblem, "spin"),
        ({"name": "body 0"}, InvalidProblem, "two bodies have the name 'body 0'"),
        ({"name": "world"}, InvalidProblem, "'world'"),
        ({"name": 7}, TypeError, "name of body 1"),
    ],
)
def test_a_body_that_is_refused_leaves_nothing_behind(words, error, part):
    builder = builder_with((0.0, 0.0, 1.0))
    given = {key: words.pop(key) for key in ("position", "orientation", "velocity", "spin", "name") if key in words}
    words |= {"orientation": words.pop("geom_orientation")} if "geom_orientation" in words else {}
    shapes = words["geoms"] if "geoms" in words else [ball(), ball(**words)]
    with pytest.raises(error, match=part):
        builder.body(shapes, **({"position": (0.0, 0.0, 3.0)} | given))
    assert builder.body(ball(), (0.0, 0.0, 2.0)) == 1
    world = builder.world()
    assert world.names == ("body 0", "body 1")
    assert world.shapes_and_masses.body_of_geom.size == 2
    world.step(H, sweeps)


def test_a_fixed_shape_that_is_refused_takes_its_companions_with_it():
    builder = builder_with((0.0, 0.0, 1.0))
    with pytest.raises(InvalidProblem, match="a fixed shape: size"):
        builder.fixed([ball(), ball(size=0.0)])
    assert builder.world().shapes_and_masses.body_of_geom.size == 1


def test_a_radius_needs_no_brackets_and_a_shape_no_list():
    made = rigid()
    lazy, strict = made.RigidBuilder(), made.RigidBuilder()
    lazy.body(ball(size=0.1), (0.0, 0.0, 1.0))
    strict.body([ball(size=(0.1,))], (0.0, 0.0, 1.0))
    assert lazy.world().shapes()[0].size == strict.world().shapes()[0].size


@pytest.mark.parametrize(
    ("pair", "part"),
    [((0, 9), "body_b is 9, but there are 2 bodies"), ((-1, 0), "body_a is -1"), ((1, 1), "both 1"), ((-5, 0), "-5")],
)
def test_bodies_that_do_not_exist_cannot_be_kept_apart(pair, part):
    builder = builder_with((0.0, 0.0, 1.0), (0.0, 0.0, 2.0))
    with pytest.raises(ValueError, match=part):
        builder.without_contact(*pair)
    with pytest.raises(TypeError, match="body_b"):
        builder.without_contact(0, 0.5)


def test_a_joint_of_a_body_that_does_not_exist_is_refused_at_once():
    made = rigid()
    builder = builder_with((0.0, 0.0, 1.0))
    with pytest.raises(InvalidProblem, match="body_b of a ball joint is 4, but there are 1 bodies"):
        builder.join(made.Ball(0, 4, (0.0, 0.0, 1.0)))
    with pytest.raises(TypeError, match="joint is 'hinge'"):
        builder.join("hinge")
    assert builder.join(made.Ball(-1, 0, (0.0, 0.0, 1.0))) == 0


@pytest.mark.parametrize(("collide", "touching"), [(False, 0), (True, 1)])
def test_joined_bodies_collide_with_one_another_only_if_asked_to(collide, touching):
    made = rigid()
    builder = builder_with((0.0, 0.0, 1.0), (0.15, 0.0, 1.0))
    for _ in range(2):  # saying it twice does no harm
        builder.join(made.Ball(0, 1, (0.075, 0.0, 1.0)), collide=collide)
    if not collide:
        builder.without_contact(1, 0)
        builder.without_contact(0, 1)
    assert len(builder.world().find_contacts(H)) == touching


def test_a_body_that_hangs_from_the_world_still_meets_the_ground():
    made = rigid()
    builder = builder_with((0.0, 0.0, 0.1))
    builder.ground()
    builder.join(made.Ball(-1, 0, (0.0, 0.0, 0.1)))
    assert len(builder.world().find_contacts(H)) == 1


# ---- states


def test_a_state_set_by_name_is_copied_and_the_next_step_is_cold():
    world = boxes()
    for _ in range(3):
        report = world.step(H, sweeps)
    assert report.x0 is not None
    place = np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 9.0], [4.0, 0.0, 0.5]])
    world.set_state(position=place, orientation=[[2, 0, 0, 0]] * 3, spin=np.ones((3, 3)))
    place[:] = np.nan
    np.testing.assert_array_equal(world.position[:, 2], [5.0, 9.0, 0.5])
    np.testing.assert_array_equal(world.orientation, [[1.0, 0.0, 0.0, 0.0]] * 3)
    np.testing.assert_array_equal(world.velocity[:, 3:], np.ones((3, 3)))
    report = world.step(H, sweeps)
    assert report.x0 is None
    assert len(report.contacts) == 4


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"position": np.zeros((2, 3))}, "position has shape"),
        ({"velocity": np.zeros((3, 6))}, "velocity has shape"),
        ({"spin": np.full((3, 3), np.nan)}, r"spin\[0,0\] is nan"),
        ({"orientation": np.zeros((3, 4))}, r"orientation\[0\]"),
        ({"position": np.ones((3, 3)), "orientation": np.ones((3, 3))}, "orientation has shape"),
    ],
)
def test_a_state_that_is_refused_changes_nothing(words, part):
    world = boxes()
    before = world.fingerprint()
    with pytest.raises(InvalidProblem, match=part):
        world.set_state(**words)
    assert world.fingerprint() == before


def test_an_array_of_another_shape_is_refused_when_it_is_assigned():
    world = boxes()
    with pytest.raises(InvalidProblem, match=r"velocity has shape \(3, 3\); 3 x 6 numbers are needed \(velocities"):
        world.velocity = np.ones((3, 3))
    with pytest.raises(InvalidProblem, match=r"force has shape \(6,\)"):
        world.force = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    with pytest.raises(InvalidProblem, match="position is not a rectangular array"):
        world.position = [[0.0, 0.0, 1.0], [0.0]]
    with pytest.raises(TypeError, match="orientation has dtype"):
        world.orientation = [["w", "x", "y", "z"]] * 3
    world.velocity = [[0, 0, 0, 0, 0, 0]] * 3  # numbers of the right shape are welcome, and copied
    world.step(H, sweeps)


def test_only_a_state_that_is_not_finite_is_called_so():
    world = boxes()
    world.force[1, 2] = np.nan
    with pytest.raises(InvalidProblem, match=r"force\[8\] is nan"):
        world.step(H, sweeps)
    world.force[:] = 0.0
    for bad in (np.inf, 1e300):
        other = boxes()
        other.velocity[1] = bad
        with pytest.raises(StateNotFinite):
            other.step(H, sweeps)
    world.step(H, sweeps)


def test_an_error_of_a_world_of_ones_own_comes_through():
    class Wrong(Pucks):
        def make_problem(self, contacts, dt):
            raise InvalidProblem("friction[0] is -1")

    with pytest.raises(InvalidProblem, match=r"friction\[0\] is -1"):
        Wrong().step(H, sweeps)


def test_controls_are_set_as_a_whole_and_counted_in_actuators():
    rigid()
    world = ArticulatedWorld.from_xml(ACTUATED)
    with pytest.raises(ValueError, match="read-only"):
        world.control[:] = 1.0
    with pytest.raises(InvalidProblem, match="control has 2 numbers, but the model has 1 actuators"):
        world.control = [1.0, 2.0]
    with pytest.raises(InvalidProblem, match="qpos has 2 numbers"):
        world.set_state(qpos=[0.0, 0.0])
    world.control = [1.5]
    assert world.control.tolist() == [1.5]


# ---- solvers


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(
    "solve",
    ["pgs", None, lambda problem, x0: None, lambda problem, x0: np.zeros(problem.n)],
    ids=["a name", "None", "returns None", "returns an array"],
)
def test_what_is_no_solver_is_told_how_to_become_one(name, solve):
    world = WORLDS[name]()
    before = world.fingerprint()
    with pytest.raises(TypeError, match=r"solve\(problem, x0\) that returns an object with x, for example lambda"):
        world.step(H, solve)
    assert world.fingerprint() == before


def test_a_rule_for_warm_starts_is_one_of_two():
    world = discs()
    with pytest.raises(ValueError, match=r"warm_rule is 'energie'; did you mean 'energy'"):
        world.warm_rule = "energie"
    for rule in ("always", "energy"):
        world.warm_rule = rule
        assert world.warm_rule == rule


# ---- what is printed, and what is measured


@pytest.mark.parametrize("name", WORLDS)
def test_worlds_and_what_they_return_say_in_a_line_what_they_are(name):
    world = WORLDS[name]()
    report = world.step(H, sweeps)
    frame = world.frame(report)
    result = perp.simulate(world, 2, dt=H, method="pgs")
    for thing in (world, report, report.contacts, frame, frame.contacts, result, result.summary()):
        text = repr(thing)
        assert text.startswith(f"<{type(thing).__name__}: ")
        assert text.endswith(">")
        assert len(text) < 160
        assert "array" not in text
        assert "\n" not in text


def test_a_repr_has_the_numbers_that_matter():
    world = boxes(model="cone")
    report = world.step(H, sweeps)
    assert repr(world) == f"<RigidWorld: 3 bodies, cone friction, t = {H:.6g} s, 1 steps>"
    assert "12 contacts, 36 rows" in repr(report)
    assert "12 in 3 dimensions" in repr(report.contacts)
    assert repr(swing()).startswith("<RigidWorld: 1 body, ")
    assert repr(rods()).startswith("<ArticulatedWorld: 2 bodies, ")


@pytest.mark.parametrize("make", [boxes, discs])
def test_a_body_at_rest_is_carried_with_its_weight(make):
    """Boxes stand one on the other, each with its own weight left over; discs lean and roll. In both, what the world
    gets is what they get, the other way round."""
    world = make()
    for _ in range(400):
        report = world.step(H, exactly)
    contacts, d = report.contacts, report.contacts.dimension
    weight = -(world.mass if make is boxes else world.discs.mass)[:, None] * world.gravity
    forces = np.array([contacts.force_on(body, report.x, H) for body in range(3)])
    if make is boxes:
        np.testing.assert_allclose(forces, weight, atol=1e-6)
    np.testing.assert_allclose(contacts.force_on(-1, report.x, H), -forces.sum(axis=0), atol=1e-9)
    assert forces.shape == (3, d)


def test_a_force_is_asked_for_with_sensible_numbers():
    report = boxes().step(H, sweeps)
    with pytest.raises(ValueError, match="dt"):
        report.contacts.force_on(0, report.x, 0.0)
    with pytest.raises(ValueError, match="body"):
        report.contacts.force_on(-2, report.x, H)
    with pytest.raises(InvalidProblem, match="12 contacts have 36 impulses"):
        report.contacts.force_on(0, report.x[:5], H)
    np.testing.assert_array_equal(report.contacts.force_on(17, report.x, H), np.zeros(3))


def test_a_statistic_that_was_promised_must_come_with_every_step(tmp_path):
    pytest.importorskip("h5py")
    world = Pucks(2)
    words = {"bodies": 2, "dimension": 2, "about": Description(dt=H), "statistics": ("residual",)}
    with Recorder(tmp_path / "run.hdf5", world.shapes(), **words) as recorder:
        recorder.write(world.frame())
        report = world.step(H, lambda problem, x0: perp.solve(problem, "pgs", x0=x0))
        frame = world.frame(report)
        assert isinstance(frame, Frame)
        with pytest.raises(ValueError, match=r"the frame of step 1 lacks the statistic 'residual'"):
            recorder.write(frame)
        recorder.write(replace(frame, statistics={"residual": report.residuals.residual}))
        assert recorder.frames == 2
