"""Worlds under hard and bad inputs: the rows 60 to 65 and 88 of the list of hard inputs, by number."""

from __future__ import annotations

import numpy as np
import pytest
from worlds_to_break import GROUND, TWO_RODS, H, boxes, discs, rigid, sweeps

import perp
from perp.errors import InvalidProblem
from perp.worlds import ArticulatedWorld
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment

# ---- 60: mass ratios


@pytest.mark.parametrize("heavy", ["above", "below"])
@pytest.mark.parametrize("method", ["pgs", "block_gauss_seidel", "cone_newton", "nncg"])
def test_a_stack_with_masses_of_one_to_a_million_does_not_explode(method, heavy):
    masses = np.logspace(0, 6, 4)[:: 1 if heavy == "above" else -1]
    world = boxes([float(mass) for mass in masses])
    before = world.energy()
    for _ in range(40):
        report = world.step(H, lambda problem, x0: perp.solve(problem, method, x0=x0, max_iterations=60))
        assert report.solution.status in (perp.Status.CONVERGED, perp.Status.ITERATION_LIMIT, perp.Status.STAGNATED)
        assert np.isfinite(report.residuals.residual)
        assert world.energy() <= before * (1.0 + 1e-9)
    if heavy == "below" or method == "cone_newton":
        assert report.solution.success
        assert np.abs(world.velocity).max() < 1e-6


# ---- 61: redundant contacts


def test_the_motion_of_redundant_contacts_is_unique_although_their_impulses_are_not():
    ends, impulses = [], []
    for method in ("block_gauss_seidel", "cone_newton"):
        world = boxes(model="cone")
        for _ in range(10):
            report = world.step(H, lambda p, x0, m=method: perp.solve(p, m, x0=x0, tol=1e-11, max_iterations=20_000))
            assert report.solution.success
            world.velocity[:, 3:] += 0.01  # so that corners bear different loads
        ends.append(world.velocity.copy())
        impulses.append(report.x)
    np.testing.assert_allclose(*ends, atol=1e-7)
    assert np.abs(impulses[0] - impulses[1]).max() > 1e-6


# ---- 62: friction of nothing and of a million


@pytest.mark.parametrize("friction", [0.0, 1e6])
@pytest.mark.parametrize("model", ["box", "cone", "convex"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_impulses_obey_the_law_of_friction_whatever_its_coefficient(dimension, model, friction):
    if dimension == 2:
        bodies = Discs([[0.0, 1.0], [0.5, 2.95]], 1.0, velocity=[[1.0, 0.0], [0.0, 0.0]], friction=friction)
        world = DiscWorld(bodies, [HalfPlane((0.0, 0.0), (0.0, 1.0), friction)], model=model)
    else:
        world = boxes((1.0, 2.0), friction, model=model)
        world.velocity[0, :2] = 1.0, 0.3
    for _ in range(20):
        report = world.step(H, lambda p, x0: perp.solve(p, "block_gauss_seidel", x0=x0, max_iterations=300))
        assert friction or report.solution.success
        normal, *tangents = report.x[: dimension * len(report.contacts)].reshape(-1, dimension).T
        held = np.abs(tangents).max(axis=0) if model == "box" else np.linalg.norm(tangents, axis=0)
        assert (normal >= 0.0).all()
        assert (held <= friction * normal * (1.0 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("bad", [-0.1, np.nan])
def test_friction_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="friction"):
        Discs([[0.0, 1.0]], 1.0, friction=bad)
    with pytest.raises(ValueError, match="friction"):
        HalfPlane((0.0, 0.0), (0.0, 1.0), bad)
    with pytest.raises(ValueError, match="friction"):
        boxes(friction=bad)


# ---- 63: duplicated contacts


def test_contacts_that_are_there_twice_bear_a_disc_as_one_does():
    twice = [GROUND, GROUND, Segment((-5.0, 0.0), (0.0, 0.0)), Segment((0.0, 0.0), (5.0, 0.0))]
    worlds = [DiscWorld(Discs([[0.0, 1.0]], 1.0, velocity=[[1.0, 0.0]]), walls) for walls in ([GROUND], twice)]
    for _ in range(30):
        reports = [world.step(H, sweeps) for world in worlds]
        assert reports[1].solution.success
    assert [len(report.contacts) for report in reports] == [1, 4]
    for one, other in zip(*(world.bodies() for world in worlds), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


# ---- 65: masses that are none


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_a_mass_or_inertia_that_is_none_is_refused(bad):
    for name in ("mass", "inertia"):
        with pytest.raises(ValueError, match=rf"{name}\[0\]"):
            Discs([[0.0, 1.0]], 1.0, **{name: bad})
    with pytest.raises(ValueError, match="mass"):
        boxes((bad,))


# ---- 88: models


def body(inside, name="a", place="0 0 .5"):
    return f'<body name="{name}" pos="{place}"><freejoint/>{inside}</body>'


BOX = '<geom name="g" type="box" size=".5 .5 .5" mass="2"/>'


def mjcf(bodies, outside="", world='<geom name="floor" type="plane" size="5 5 .1"/>'):
    return f"<mujoco>{outside}<worldbody>{world}{bodies}</worldbody></mujoco>"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (mjcf('<body pos="0 0 nan"><freejoint/><geom size=".1"/></body>'), "pos"),
        (mjcf('<replicate count="1000000000"><body><freejoint/><geom size=".1"/></body></replicate>'), "bodies"),
        (mjcf("<body>" * 450 + "</body>" * 450), "nested"),
        (mjcf('<body pos="0 0 1" quat="0 0 0 0"><freejoint/><geom size=".1"/></body>'), "quat"),
        (mjcf(body('<geom type="box" size=".5 .5 .5" mass="0"/>')), "mass"),
        (mjcf(body('<geom size=".1"/><geom type="plane" size="1 1 1"/>')), "plane"),
        (mjcf('<body><joint type="free" stiffness="9"/><geom size=".1"/></body>'), "stiffness"),
        (mjcf(body(BOX), '<contact><pair geom1="floor" geom2="g" friction="1 .1 0 0 0"/></contact>'), "friction"),
    ],
)
def test_a_model_that_cannot_be_honoured_is_refused(text, word):
    with pytest.raises(InvalidProblem, match=word):
        rigid().RigidWorld.from_xml(text)


def resting(text, steps=5):
    world = rigid().RigidWorld.from_xml(text)
    for _ in range(steps):
        report = world.step(0.01, sweeps)
    return world, report


def test_quaternions_of_any_length_and_geoms_without_mass_are_read():
    odd = '<body pos="0 0 .5" quat="2 0 0 2"><freejoint/>{}<geom size=".1" pos="0 0 .6" mass="0"/></body>'
    world, report = resting(mjcf(odd.format(BOX)))
    assert len(report.contacts) == 4
    np.testing.assert_allclose(np.abs(world.orientation[0]), [0.5**0.5, 0.0, 0.0, 0.5**0.5], atol=1e-9)
    assert np.abs(world.velocity).max() < 1e-7


@pytest.mark.parametrize(
    ("inside", "world", "pair"),
    [
        ('<geom name="h" size=".3" pos="0 0 .6" mass="1"/>', "", "g h"),
        ('<body pos="0 0 .9"><geom name="h" type="box" size=".5 .5 .5" mass="1"/></body>', "", "g h"),
        ("", '<geom name="h" type="box" size="1 1 1" pos="7 0 .9"/>', "floor h"),
    ],
    ids=["one body", "welded bodies", "the world"],
)
def test_pairs_of_shapes_that_move_together_do_not_touch(inside, world, pair):
    first, second = pair.split()
    floor = '<geom name="floor" type="plane" size="5 5 .1"/>'
    asked = f'<contact><pair geom1="{first}" geom2="{second}"/></contact>'
    still, report = resting(mjcf(body(BOX + inside), asked, floor + world))
    assert report.solution.success
    assert report.contacts.bodies.tolist() == [[-1, 0]] * 4
    assert np.abs(still.velocity).max() < 1e-6


def test_a_model_may_switch_gravity_off():
    world, _ = resting(mjcf(body(BOX, place="0 0 5"), '<option><flag gravity="disable"/></option>'))
    np.testing.assert_array_equal(world.position, [[0.0, 0.0, 5.0]])


def test_a_callers_model_is_not_changed():
    made = rigid()
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(body(BOX, place="0 0 .53")))
    first = made.RigidWorld(model, margin=0.05)
    made.RigidWorld(model, margin=0.001)
    assert not model.geom_margin.any()
    np.testing.assert_array_equal(model.geom_size[1], 0.5)
    assert len(first.find_contacts(0.01)) == 4


def test_too_many_contacts_for_the_memory_of_a_model_are_told_and_a_world_recovers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log
    made = rigid()
    places = [(0.4 * i, 0.4 * j, 0.2 + 0.41 * k) for i in range(4) for j in range(4) for k in range(3)]
    shape = '<geom type="box" size=".2 .2 .2" mass="1"/>'
    many = "".join(body(shape, f"b{n}", " ".join(map(str, place))) for n, place in enumerate(places))
    world = made.RigidWorld.from_xml(mjcf(many, '<size memory="150K"/>'))
    before = world.fingerprint()
    with pytest.raises(MemoryError, match="memory="):
        world.step(0.01, sweeps)
    assert world.fingerprint() == before
    world.position[:] = np.arange(48)[:, None] * [3.0, 0.0, 0.0] + [0.0, 0.0, 0.2]
    assert len(world.step(0.01, sweeps).contacts) == 4 * 48


# ---- options and states that make no sense


@pytest.mark.parametrize("make", [discs, boxes, lambda **o: (rigid(), ArticulatedWorld.from_xml(TWO_RODS, **o))])
@pytest.mark.parametrize("options", [{"model": "boxx"}, {"model": "disc"}, {"error_reduction": 1.5}], ids=str)
def test_options_are_refused_when_a_world_is_made(make, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


@pytest.mark.parametrize("bad", ["abc", (0.0, 0.0), (0.0, 0.0, np.nan), None])
def test_gravity_that_is_no_vector_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="gravity is"):
        rigid().RigidBuilder(gravity=bad)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("position", np.nan),
        ("position", np.inf),
        ("velocity", np.nan),
        ("force", np.nan),
        ("orientation", (0.0, 0.0, 0.0, 0.0)),
        ("orientation", (2.0, 0.0, 0.0, 0.0)),
        ("orientation", np.nan),
    ],
)
def test_a_state_set_by_hand_that_makes_no_sense_is_not_stepped_from(name, value):
    world = boxes()
    world.step(H, sweeps)
    getattr(world, name)[1] = value
    before = world.fingerprint()
    with pytest.raises(ValueError, match=r"not finite|orientation\[1\]|force\[6\]"):
        world.step(H, sweeps)
    assert world.fingerprint() == before
