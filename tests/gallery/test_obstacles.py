"""The obstacle problems have the continuous solutions that they claim to have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp import LCP, BoxLCP
from perp.gallery import Obstacle, double_obstacle, make, membrane, radial_obstacle

CASES = [
    (kind, dimension, options)
    for dimension in (2, 3)
    for kind, options in (
        ("radial_obstacle", {}),
        ("membrane", {"obstacle": "sphere"}),
        ("membrane", {"obstacle": "paraboloid"}),
        ("double_obstacle", {}),
    )
]
cases = pytest.mark.parametrize(("kind", "dimension", "options"), CASES, ids=lambda value: str(value))


def build(kind: str, dimension: int, options: dict, points: int) -> Obstacle:
    return make(kind, n=points**dimension, dimension=dimension, **options)


def line_through_the_middle(kind: str, dimension: int, options: dict) -> tuple[np.ndarray, np.ndarray]:
    """r and u along the positive half of an axis, on a grid that has the middle among its points."""
    points = 1001 if dimension == 2 else 61
    example = build(kind, dimension, options, points)
    half = points // 2
    along = (*[half] * (dimension - 1), slice(half, None))
    shape = (points,) * dimension
    return example.distance.reshape(shape)[along], example.continuous.reshape(shape)[along]


@cases
def test_the_continuous_solution_is_complementary_but_for_errors_of_the_differences(kind, dimension, options):
    points = 60 if dimension == 2 else 30
    example = build(kind, dimension, options, points)
    u, h, r = example.continuous, example.spacing, example.distance
    pressure = example.problem.slack(u) / h**2
    lower, upper = example.problem.bounds(u)
    on_floor, at_ceiling = r < example.lower_within, r > example.upper_beyond
    np.testing.assert_allclose(u[on_floor], lower[on_floor], atol=1e-15)
    np.testing.assert_allclose(u[at_ceiling], upper[at_ceiling], atol=1e-15)
    free = ~on_floor & ~at_ceiling
    assert (u[free] > lower[free]).all()
    assert (u[free] < upper[free]).all()

    inside = (r > example.lower_within + h) & (r < example.upper_beyond - h)
    corner = (1.0 if kind != "membrane" else 2.0) * math.sqrt(dimension)
    # h^2 / 12 times the fourth derivatives of u, which are largest at the inner rim: at most 6 d |u''| / a^2 there.
    second = 1.0 if kind != "membrane" else 8.0
    assert np.abs(pressure[inside]).max() <= h**2 / 12.0 * 6.0 * dimension * second * corner / example.lower_within**2
    assert (pressure[r < example.lower_within - h] > 0.0).all()
    assert (pressure[(r > example.upper_beyond + h) & (r < corner)] < 0.0).all()


@cases
def test_it_leaves_its_bounds_smoothly(kind, dimension, options):
    r, u = line_through_the_middle(kind, dimension, options)
    h = r[1] - r[0]
    slope = np.diff(u) / h
    largest_curvature = 1.2 if kind != "membrane" else 4.0 * (1.0 + dimension)
    assert np.abs(np.diff(slope)).max() <= largest_curvature * h  # a kink would be a jump that does not shrink with h


@cases
def test_beyond_the_contact_it_solves_the_equation_in_the_distance(kind, dimension, options):
    """u'' + (d - 1) u' / r = f by differences on a line, f known in closed form."""
    r, u = line_through_the_middle(kind, dimension, options)
    example = build(kind, dimension, options, 4)
    a, c = example.lower_within, example.upper_beyond
    h = r[1] - r[0]
    laplacian = (u[2:] - 2.0 * u[1:-1] + u[:-2]) / h**2 + (dimension - 1) * (u[2:] - u[:-2]) / (2.0 * h * r[1:-1])
    middle = r[1:-1]
    load = {"radial_obstacle": 1.0, "membrane": 0.0}.get(kind)
    if load is None:
        d = dimension
        load = 1.0 - middle**2 * (d + 2) / d * (c**d - a**d) / (c ** (d + 2) - a ** (d + 2))
    between = (middle > a + h) & (middle < c - h)
    np.testing.assert_allclose((laplacian - load)[between], 0.0, atol=60.0 * h**2)


def test_the_radial_solutions_are_those_of_the_textbook():
    plane, space = radial_obstacle(400, contact=0.4), radial_obstacle(512, dimension=3, contact=0.4)
    r, a = plane.distance, 0.4
    expected = np.where(r > a, (r**2 - a**2) / 4 - a**2 / 2 * np.log(r / a), 0.0)
    np.testing.assert_allclose(plane.continuous, expected, atol=1e-15)
    r = space.distance
    expected = np.where(r > a, r**2 / 6 + a**3 / (3 * r) - a**2 / 2, 0.0)
    np.testing.assert_allclose(space.continuous, expected, atol=1e-15)


def test_the_membrane_over_a_sphere_lifts_off_where_its_equation_says():
    plane, space = membrane(100), membrane(125, dimension=3)
    a = plane.lower_within
    assert 1.0 - a**2 == pytest.approx(a**2 * math.log(2.0 / a), rel=1e-14)
    assert a == pytest.approx(0.6979651, abs=1e-7)  # Bueler 2021, chapter 12: 0.69797
    a = space.lower_within
    assert 1.0 - a**2 == pytest.approx(a**2 * (1.0 - a / 2.0), rel=1e-14)
    a = membrane(100, obstacle="paraboloid").lower_within
    assert 1.0 - a**2 == pytest.approx(2.0 * a**2 * math.log(2.0 / a), rel=1e-14)


def test_beyond_the_sphere_there_is_no_bound():
    example = membrane(10_000)
    beyond = example.distance >= 1.0
    assert np.isneginf(example.problem.lower[beyond]).all()
    assert np.isfinite(example.problem.lower[~beyond]).all()
    assert np.isposinf(example.problem.upper).all()


def test_between_two_obstacles_both_are_touched():
    example = double_obstacle(2500)
    assert (example.continuous == example.problem.lower).any()
    assert (example.continuous == example.problem.upper).any()


@given(st.floats(0.05, 0.45), st.floats(0.55, 0.95), st.sampled_from([2, 3]))
def test_between_floor_and_ceiling_it_rises_with_the_distance(inner, outer, dimension):
    example = double_obstacle(216, dimension=dimension, inner=inner, outer=outer)
    order = np.argsort(example.distance, kind="stable")
    assert (np.diff(example.continuous[order]) >= -1e-15).all()
    assert example.problem.upper[0] > 0.0


@given(st.floats(0.05, 0.95), st.sampled_from([2, 3]))
def test_over_a_floor_it_lies_within_the_contact_and_rises_beyond(contact, dimension):
    example = radial_obstacle(216, dimension=dimension, contact=contact)
    assert ((example.continuous > 0.0) == (example.distance > contact)).all()


@cases
def test_a_and_b_are_the_differences_with_the_solution_on_the_rim(kind, dimension, options):
    """The same grid with its rim: A and b of a middle point and of a corner, from the neighbours' own values."""
    points = 5
    example = build(kind, dimension, options, points)
    width = 2.0 if kind == "membrane" else 1.0
    h = 2.0 * width / (points + 1)
    assert example.spacing == pytest.approx(h)
    wider = build(kind, dimension, options, 2 * points + 1)  # every second point of this one is a point of the other
    row = np.arange(1, 2 * points + 1, 2)
    np.testing.assert_allclose(
        wider.continuous.reshape((2 * points + 1,) * dimension)[np.ix_(*[row] * dimension)].reshape(-1),
        example.continuous,
        atol=1e-14,
    )
    dense = example.problem.A.to_dense()
    assert (np.diag(dense) == 2.0 * dimension).all()
    assert set(np.unique(dense)) == {-1.0, 0.0, 2.0 * dimension}
    u = example.continuous.reshape((points,) * dimension)
    padded = np.pad(u, 1)  # zeros on the rim: what is missing there is what b must bring
    sums = sum(np.roll(padded, step, axis) for axis in range(dimension) for step in (-1, 1))
    missing = 2.0 * dimension * u - sums[(slice(1, -1),) * dimension]
    np.testing.assert_allclose(example.problem.A.apply(example.continuous), missing.reshape(-1), atol=1e-14)


def test_the_load_and_the_rim_are_in_b():
    b = radial_obstacle(9, contact=0.5).problem.b.reshape(3, 3)
    h = 0.5

    def u(x: float, y: float) -> float:
        r = math.hypot(x, y)
        return (r**2 - 0.25) / 4 - 0.125 * math.log(r / 0.5)

    assert b[1, 1] == h**2
    assert b[0, 1] == pytest.approx(h**2 - u(-1.0, 0.0))
    assert b[0, 0] == pytest.approx(h**2 - u(-1.0, -0.5) - u(-0.5, -1.0))


@pytest.mark.parametrize(
    ("kind", "problem"), [("radial_obstacle", LCP), ("membrane", BoxLCP), ("double_obstacle", BoxLCP)]
)
def test_both_forms_state_the_same_problem(kind, problem):
    stencil, rows = (make(kind, n=400, form=form) for form in ("stencil", "sparse"))
    assert (stencil.problem.A.form, rows.problem.A.form) == ("stencil", "sparse")
    assert isinstance(stencil.problem, problem)
    np.testing.assert_array_equal(stencil.problem.A.to_dense(), rows.problem.A.to_dense())
    np.testing.assert_array_equal(stencil.problem.b, rows.problem.b)


@cases
def test_one_point_is_a_grid_too(kind, dimension, options):
    example = build(kind, dimension, options, 1)
    assert example.problem.n == 1
    assert example.distance[0] == 0.0
    assert example.x is None
    assert "continuous" in example.note


def test_what_is_known_cannot_be_changed():
    example = membrane(16)
    for known in (example.continuous, example.distance):
        with pytest.raises(ValueError, match="read-only"):
            known[0] = 1.0
