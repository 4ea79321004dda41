"""What a world of discs refuses, and how it says so."""

from __future__ import annotations

import numpy as np
import pytest

from perp.errors import InvalidProblem
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane, Segment

TWO = [[0.0, 0.0], [3.0, 0.0]]
GROUND = HalfPlane((0.0, 0.0), (0.0, 1.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"position": [[0.0, np.nan], [3.0, 0.0]]}, r"position\[0,1\] is nan"),
        ({"position": [[0.0, 0.0], [np.inf, 0.0]]}, r"position\[1,0\] is inf"),
        ({"position": [[0.0, 0.0, 0.0]]}, r"position has shape \(1, 3\); n x 2"),
        ({"radius": [1.0, -1.0]}, r"radius\[1\] is -1.0"),
        ({"radius": 0.0}, r"radius\[0\] is 0.0"),
        ({"radius": [1.0, np.inf]}, r"radius\[1\] is inf"),
        ({"radius": [1.0, 1.0, 1.0]}, r"radius has length 3"),
        ({"mass": [1.0, 0.0]}, r"mass\[1\] is 0.0"),
        ({"mass": -2.0}, r"mass\[0\] is -2.0"),
        ({"mass": [np.nan, 1.0]}, r"mass\[0\] is nan"),
        ({"inertia": [1.0, 0.0]}, r"inertia\[1\] is 0.0"),
        ({"angle": [np.nan, 0.0]}, r"angle\[0\] is nan"),
        ({"velocity": [[0.0, 0.0], [0.0, np.inf]]}, r"velocity\[1,1\] is inf"),
        ({"velocity": [[0.0, 0.0]]}, r"velocity has shape \(1, 2\); 2 x 2"),
        ({"spin": [0.0, np.nan]}, r"spin\[1\] is nan"),
        ({"friction": [0.1, -0.1]}, r"friction\[1\] is -0.1"),
        ({"friction": np.nan}, r"friction\[0\] is nan"),
        ({"restitution": [0.5, 1.5]}, r"restitution\[1\] is 1.5; a number in 0..1"),
        ({"mass": [1.0, np.inf], "spin": 1.0}, r"mass\[1\] is inf: it does not move"),
    ],
)
def test_bad_discs_are_refused_by_name_place_and_value(arguments, message):
    with pytest.raises(InvalidProblem, match=message):
        Discs(**{"position": TWO, "radius": 1.0, **arguments})


def test_a_speed_is_no_velocity():
    with pytest.raises(TypeError, match=r"velocity is 3.0; vectors \(x, y\)"):
        Discs(TWO, 1.0, velocity=3.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HalfPlane((0.0, np.nan), (0.0, 1.0)), r"point\[1\] is nan"),
        (lambda: HalfPlane((0.0, 0.0), (0.0, 0.0)), "normal is .*; a direction is needed"),
        (lambda: HalfPlane((0.0, 0.0), (0.0, 1.0), friction=-1.0), "friction is -1.0"),
        (lambda: HalfPlane((0.0, 0.0), (0.0, 1.0), restitution=1.1), "restitution is 1.1"),
        (lambda: Segment((1.0, 2.0), (1.0, 2.0)), "two different points"),
        (lambda: Segment((1.0, 2.0), (np.inf, 2.0)), r"end\[0\] is inf"),
        (lambda: Segment((1.0, 2.0), (2.0, 2.0), friction=np.nan), "friction is nan"),
        (lambda: DiscWorld(Discs(TWO, 1.0), margin=-1.0), "margin is -1.0"),
        (lambda: DiscWorld(Discs(TWO, 1.0), gravity=(0.0, np.nan)), r"gravity\[1\] is nan"),
        (lambda: DiscWorld(Discs(TWO, 1.0), error_reduction=-0.1), "error_reduction is -0.1"),
        (lambda: DiscWorld(Discs(TWO, 1.0), error_reduction=1.5), "error_reduction is 1.5"),
        (lambda: DiscWorld(Discs(TWO, 1.0), compliance=np.inf), "compliance is inf"),
        (lambda: DiscWorld(Discs(TWO, 1.0), model="disc"), "model 'disc'"),
        (lambda: DiscWorld(Discs(TWO, 1.0)).set_state(position=[[0.0, np.nan], [1.0, 1.0]]), r"position\[0,1\] is nan"),
        (lambda: DiscWorld(Discs(TWO, 1.0)).step(0.0, None), "dt is 0.0"),
    ],
)
def test_bad_walls_and_worlds_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_things_of_another_kind_are_refused():
    with pytest.raises(TypeError, match=r"walls\[1\] is str"):
        DiscWorld(Discs(TWO, 1.0), [GROUND, "floor"])
    with pytest.raises(TypeError, match="discs is list"):
        DiscWorld(TWO)


def test_the_arrays_of_the_caller_stay_his_own():
    position, velocity = np.array(TWO), np.ones((2, 2))
    world = DiscWorld(Discs(position, 1.0, velocity=velocity))
    world.step(0.1, lambda problem, x0: None if problem.n else EMPTY)
    np.testing.assert_array_equal(position, TWO)
    position[:] = 7.0
    assert not (world.bodies()[0] == 7.0).any()


def test_a_normal_may_have_any_length():
    np.testing.assert_allclose(HalfPlane((0.0, 0.0), (0.0, 5.0)).normal, [0.0, 1.0])


def test_the_inertia_of_a_solid_disc_is_half_its_mass_times_the_square_of_its_radius():
    discs = Discs(TWO, [1.0, 2.0], [3.0, np.inf])
    np.testing.assert_array_equal(discs.inertia, [1.5, np.inf])


class EMPTY:
    x = np.empty(0)
