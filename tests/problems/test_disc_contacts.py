"""Contacts whose tangents lie in discs of given radii: what is measured of them, and whom they agree with."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.errors import FileFormatError, InvalidProblem, MethodRefused
from perp.gallery import box_stack
from perp.problems.files import load, save
from perp.problems.residuals import Watch

disc_problems = strategies.contact_problems().map(
    lambda problem: perp.ContactProblem(
        problem.A, problem.b, problem.friction, "disc", lower=problem.lower, upper=problem.upper
    )
)


def random_point(problem, seed):
    """A point of the feasible set, or, for odd seeds, anywhere."""
    x = np.random.default_rng(seed).standard_normal(problem.n)
    return x if seed % 2 else problem.project(x)


def project_twin(problem, x):
    projected = np.clip(x, *problem.bounds(x))
    for c, radius in enumerate(problem.friction):
        tangents = slice(problem.dimension * c + 1, problem.dimension * (c + 1))
        projected[tangents] = twins.project_on_disc(x[tangents], radius)
    return projected


@given(disc_problems, st.integers(0, 1000))
def test_the_natural_map_is_that_of_the_disc(problem, seed):
    x = random_point(problem, seed)
    natural = x - project_twin(problem, x - problem.slack(x))
    found = perp.verify(problem, x)
    assert found.natural_inf == pytest.approx(np.abs(natural).max(), abs=1e-13)
    assert found.natural_2 == pytest.approx(np.linalg.norm(natural), abs=1e-13)
    assert found.residual == found.natural_inf


@given(disc_problems, st.integers(0, 1000))
def test_the_measures_of_contacts_have_the_radius_for_the_bound(problem, seed):
    x = random_point(problem, seed)
    y = problem.slack(x)
    gap = merit = violation = dissipated = 0.0
    for c, radius in enumerate(problem.friction):
        normal, tangents = 3 * c, slice(3 * c + 1, 3 * c + 3)
        missing = radius * np.linalg.norm(y[tangents]) + x[tangents] @ y[tangents]
        own = x[tangents] - twins.project_on_disc(x[tangents] - y[tangents], radius)
        gap += abs(missing) + abs(x[normal]) * max(y[normal], 0.0)
        merit += 0.5 * own @ own + 0.5 * twins.fischer(x[normal], y[normal]) ** 2
        violation = max(violation, np.linalg.norm(x[tangents]) - radius, -x[normal])
        dissipated = max(dissipated, missing)
    first, A = problem.contact_rows, problem.A.to_dense()
    rest = perp.verify(
        perp.BoxLCP(A[first:, first:], y[first:] - A[first:, first:] @ x[first:], problem.lower, problem.upper),
        x[first:],
    )
    found = perp.verify(problem, x)
    assert found.gap == pytest.approx(gap + rest.gap, rel=1e-9, abs=1e-12)
    assert found.fischer == pytest.approx(merit + rest.fischer, rel=1e-9, abs=1e-12)
    assert found.cone_violation == pytest.approx(violation, abs=1e-14)
    assert found.dissipation_error == pytest.approx(dissipated, abs=1e-13)
    assert found.de_saxce is None


@given(disc_problems, st.integers(0, 1000))
def test_what_the_loop_watches_is_what_verification_finds(problem, seed):
    x = random_point(problem, seed)
    residual, merit, active, changed, _, _, _, largest, probe = Watch(problem).look(x)
    found = perp.verify(problem, x)
    assert residual == pytest.approx(found.residual, abs=1e-13)
    assert merit == pytest.approx(found.fischer, rel=1e-9, abs=1e-13)
    assert active == found.active == changed
    assert (largest, probe) == (np.abs(x).max(), 0.0)


@given(disc_problems, st.integers(0, 1000))
def test_a_projected_point_is_the_nearest_of_the_set(problem, seed):
    rng = np.random.default_rng(seed)
    x = 3.0 * rng.standard_normal(problem.n)
    near = problem.project(x)
    assert perp.verify(problem, near).bound_violation <= 1e-15
    np.testing.assert_allclose(near, project_twin(problem, x), atol=1e-14)
    np.testing.assert_array_equal(problem.project(near), near)
    for _ in range(5):  # (x - P x)^T (k - P x) <= 0 for every k of the convex set
        k = problem.project(3.0 * rng.standard_normal(problem.n))
        assert (x - near) @ (k - near) <= 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("radius", [0.0, 0.5, 1e6])
def test_one_contact_with_the_identity_is_solved_by_a_projection(dimension, radius):
    rng = np.random.default_rng(0)
    for _ in range(20):
        b = rng.standard_normal(dimension)
        problem = perp.ContactProblem(np.eye(dimension), b, radius, "disc", dimension=dimension)
        x = problem.project(-b)
        assert perp.verify(problem, x).residual <= 4e-16
        assert Watch(problem).look(x)[0] <= 4e-16


def test_a_contact_that_separates_may_rub_and_one_that_slides_does_not_open():
    separated = perp.ContactProblem(np.eye(3), [1.0, 3.0, 4.0], 0.5, "disc")
    assert perp.solve(separated).x == pytest.approx([0.0, -0.3, -0.4])
    sliding = perp.solve(perp.ContactProblem(np.eye(3), [-1.0, 3.0, 4.0], 0.5, "disc"))
    assert sliding.y[0] == pytest.approx(0.0, abs=1e-8)
    assert sliding.x == pytest.approx([1.0, -0.3, -0.4])
    assert sliding.verify().dissipation_error <= 1e-8


@pytest.mark.parametrize("method", ["apgd", "spg"])
@pytest.mark.parametrize("seed", range(4))
def test_in_two_dimensions_it_is_a_boxed_problem(method, seed):
    rng = np.random.default_rng(seed)
    A, b, radius = strategies.spd_matrix(rng, 22), rng.standard_normal(22), rng.choice([0.0, 0.1, 0.8], 10)
    discs = perp.ContactProblem(A, b, radius, "disc", dimension=2, lower=[-np.inf, -0.1], upper=[np.inf, 0.1])
    boxed = perp.BoxLCP(A, b, *discs.bounds(np.zeros(22)))
    exact = perp.solve(boxed, "block_principal")
    assert exact.success
    found = perp.solve(discs, method, tol=1e-10)
    assert found.success
    np.testing.assert_allclose(found.x, exact.x, atol=1e-8)
    x = random_point(discs, seed)
    for name in (
        "residual",
        "natural_2",
        "fischer",
        "modified_merit",
        "gap",
        "bound_violation",
        "active",
        "energy_max",
    ):
        expected = getattr(perp.verify(boxed, x), name)
        assert getattr(perp.verify(discs, x), name) == pytest.approx(expected, rel=1e-12, abs=1e-15), name
    assert Watch(discs).look(x)[:3] == pytest.approx(Watch(boxed).look(x)[:3], rel=1e-12)


@pytest.mark.parametrize("method", ["apgd", "spg"])
def test_radii_that_follow_the_normal_impulses_lead_to_the_exact_cone(method):
    """Staggering on two coupled contacts, of which one sticks and one slides."""
    A = np.eye(6) + 0.2 * strategies.spd_matrix(np.random.default_rng(5), 6)
    b, friction = np.array([-1.0, 0.1, -0.1, -1.5, 1.2, 1.6]), np.array([0.6, 0.4])
    cone = perp.ContactProblem(A, b, friction, "cone")
    radius = np.zeros(2)
    for _ in range(30):
        x = perp.solve(perp.ContactProblem(A, b, radius, "disc"), method, tol=1e-12).x
        radius = friction * x[::3]
    found = perp.verify(cone, x)
    assert found.residual <= 1e-11
    assert max(found.de_saxce, found.cone_violation, found.dissipation_error) <= 1e-11
    exact = perp.solve(cone, "pgs", tol=1e-13)
    assert exact.success
    np.testing.assert_allclose(x, exact.x, atol=1e-10)
    length = np.hypot(x[1::3], x[2::3])
    assert length[0] < 0.9 * radius[0]
    assert length[1] == pytest.approx(radius[1])


@pytest.mark.parametrize("model", ["cone", "box"])
def test_a_solution_with_cones_solves_the_discs_at_its_own_normal_impulses(model):
    """In three dimensions that of the exact cone; in two, where box and cone are one, that of either."""
    dimension = 3 if model == "cone" else 2
    rng = np.random.default_rng(8)
    A, b = strategies.spd_matrix(rng, 5 * dimension), rng.standard_normal(5 * dimension)
    cone = perp.ContactProblem(A, b, 0.5, model, dimension=dimension)
    solved = perp.solve(cone, "pgs", tol=1e-12)
    assert solved.success
    discs = perp.ContactProblem(A, b, 0.5 * np.maximum(solved.x[::dimension], 0.0), "disc", dimension=dimension)
    assert perp.verify(discs, solved.x).residual <= 1e-12
    np.testing.assert_allclose(perp.solve(discs, tol=1e-11).x, solved.x, atol=1e-9)


def test_a_matrix_of_zeros_leaves_bounded_tangents_a_solution():
    """The way there takes many steps, along a direction that would be a ray if the disc had no end."""
    problem = perp.ContactProblem(np.zeros((3, 3)), [0.01, 0.03, -0.04], 2.0, "disc")
    for method in ("apgd", "spg"):
        result = perp.solve(problem, method)
        assert result.success
        assert result.x == pytest.approx([0.0, -1.2, 1.6])


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_an_extreme_contact_is_measured_with_one_scale(factor):
    A, b = np.diag([2.0, 3.0, 4.0]), np.array([-1.0, 0.4, 0.3])
    scaled = perp.ContactProblem(A * factor, b * factor, 0.1, "disc")
    plain = perp.ContactProblem(A, b, 0.1, "disc")
    x = plain.project(-b)
    expected = np.abs(x - project_twin(plain, x - scaled.row_scales * factor * plain.slack(x))).max()
    assert perp.verify(scaled, x).residual == pytest.approx(expected)
    assert Watch(scaled).look(x)[0] == pytest.approx(expected)


def test_a_slip_beyond_all_numbers_does_not_hide_the_error():
    problem = perp.ContactProblem(np.eye(3), [-1.0, 1.7e308, 1.7e308], 0.5, "disc")
    found = perp.verify(problem, [1.0, 0.0, 0.0])
    assert found.residual == pytest.approx(0.5 / np.sqrt(2.0))
    assert Watch(problem).look(np.array([1.0, 0.0, 0.0]))[0] == found.residual


@pytest.mark.parametrize("layout", ["wall", "tower", "pyramid"])
def test_the_stack_of_discs_has_a_planted_solution(layout):
    example = box_stack(200, 2, layout=layout, model="disc", mass_ratio=1e3, degenerate=0.1)
    assert example.problem.kind == "contact/disc"
    assert perp.verify(example.problem, example.x).residual <= 1e-12


def test_it_says_what_it_is_and_survives_pickling():
    problem = perp.ContactProblem(np.eye(7), np.zeros(7), [0.0, 0.2], "disc", lower=[-1.0], upper=[2.0])
    again = pickle.loads(pickle.dumps(problem))
    info = again.info()
    assert again.kind == info.kind == "contact/disc"
    assert (info.fixed, info.lower_bounds, info.upper_bounds, info.contacts) == (2, 7, 5, 2)
    assert "disc friction, 3D" in repr(again)
    assert again.has_discs
    assert not perp.ContactProblem(np.eye(2), np.zeros(2), 0.1, "disc", dimension=2).has_discs
    np.testing.assert_allclose(again.project(np.full(7, 5.0)), [5, 0, 0, 5, *[0.2 / np.sqrt(2.0)] * 2, 2])


def test_a_negative_radius_is_refused():
    with pytest.raises(InvalidProblem, match=r"friction\[1\] is -0.1; a radius must not be negative"):
        perp.ContactProblem(np.eye(6), np.zeros(6), [0.1, -0.1], "disc")


@pytest.mark.parametrize("suffix", ["npz", "mtx"])
def test_it_comes_back_from_a_file(suffix, tmp_path):
    problem = perp.ContactProblem(np.eye(4), np.arange(4.0), [0.3, 0.0], "disc", dimension=2)
    save(problem, tmp_path / f"p.{suffix}")
    again = load(tmp_path / f"p.{suffix}")
    assert (again.kind, again.dimension) == ("contact/disc", 2)
    np.testing.assert_array_equal(again.friction, [0.3, 0.0])


def test_fclib_has_no_words_for_it(tmp_path):
    with pytest.raises(FileFormatError, match=r"model='disc'; save it as \.npz"):
        save(perp.ContactProblem(np.eye(3), np.ones(3), 0.5, "disc"), tmp_path / "p.hdf5")


def test_methods_of_the_other_models_refuse_it():
    for method in ("pgs", "pgcg", "block_principal"):
        with pytest.raises(MethodRefused, match="this one is 'contact/disc'"):
            perp.solve(perp.ContactProblem(np.eye(3), np.ones(3), 0.5, "disc"), method)
