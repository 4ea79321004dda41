"""The convex contact model: cones for impulses, dual cones for slacks, and what is measured of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.errors import FileFormatError, MethodRefused
from perp.gallery import box_stack, planted_contacts
from perp.problems.files import load, save
from perp.problems.residuals import Watch


def as_convex(problem):
    return perp.ContactProblem(
        problem.A, problem.b, problem.friction, "convex", lower=problem.lower, upper=problem.upper
    )


convex_problems = strategies.contact_problems().map(as_convex)


def random_point(problem, seed):
    """A point in its cones, or, for odd seeds, anywhere."""
    x = np.random.default_rng(seed).standard_normal(problem.n)
    return x if seed % 2 else problem.project(x)


def contact_parts(problem, vector):
    return vector[: problem.contact_rows].reshape(problem.contacts, problem.dimension)


def project_twin(problem, x):
    projected = np.clip(x, *problem.bounds(x))
    for c, (mu, part) in enumerate(zip(problem.friction, contact_parts(problem, x), strict=True)):
        projected[problem.dimension * c :][: problem.dimension] = twins.project_on_cone(part, mu)
    return projected


@given(convex_problems, st.integers(0, 1000))
def test_the_natural_map_is_that_of_the_cone(problem, seed):
    x = random_point(problem, seed)
    natural = x - project_twin(problem, x - problem.slack(x))
    found = perp.verify(problem, x)
    assert found.natural_inf == pytest.approx(np.abs(natural).max(), abs=1e-13)
    assert found.natural_2 == pytest.approx(np.linalg.norm(natural), abs=1e-13)
    assert found.residual == found.natural_inf


@given(convex_problems, st.integers(0, 1000))
def test_the_other_measures_are_their_formulas(problem, seed):
    x = random_point(problem, seed)
    y, A = problem.slack(x), problem.A.to_dense()
    natural = x - project_twin(problem, x - y)
    first = problem.contact_rows
    gap = merit = energy = distance = violation = 0.0
    for c, mu in enumerate(problem.friction):
        here, slack, own = x[3 * c :][:3], y[3 * c :][:3], natural[3 * c :][:3]
        gap += abs(here @ slack)
        merit += 0.5 * own @ own
        distance += abs(mu * here[0] - np.linalg.norm(here[1:])) / np.hypot(1.0, mu) * np.linalg.norm(slack)
        violation = max(violation, mu * np.linalg.norm(slack[1:]) - slack[0])
        stiffness = A.diagonal()[3 * c :][:3].max()
        impulse = here - twins.project_on_cone(here - slack / stiffness, mu)
        energy += 0.5 * stiffness * impulse @ impulse
    rest = perp.verify(
        perp.BoxLCP(A[first:, first:], y[first:] - A[first:, first:] @ x[first:], problem.lower, problem.upper),
        x[first:],
    )
    found = perp.verify(problem, x)
    assert found.gap == pytest.approx(gap + rest.gap, rel=1e-9, abs=1e-12)
    assert found.fischer == pytest.approx(merit + rest.fischer, rel=1e-9, abs=1e-12)
    assert found.modified_merit == pytest.approx(distance + rest.modified_merit, rel=1e-9, abs=1e-12)
    assert found.slack_violation == pytest.approx(max(violation, rest.slack_violation, 0.0), abs=1e-12)
    in_rest = 0.0 if rest.energy_mean is None else rest.energy_mean * (problem.n - first)
    assert found.energy_mean * problem.n == pytest.approx(energy + in_rest, rel=1e-9, abs=1e-12)


@given(convex_problems, st.integers(0, 1000))
def test_what_the_loop_watches_is_what_verification_finds(problem, seed):
    x = random_point(problem, seed)
    residual, merit, active, changed, _, _, _, largest, probe = Watch(problem).look(x)
    found = perp.verify(problem, x)
    assert residual == pytest.approx(found.residual, abs=1e-13)
    assert merit == pytest.approx(found.fischer, rel=1e-9, abs=1e-13)
    assert active == found.active == changed
    assert (largest, probe) == (np.abs(x).max(), 0.0)


@given(convex_problems, st.integers(0, 1000))
def test_a_projected_point_is_the_nearest_in_its_cones(problem, seed):
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
@pytest.mark.parametrize("friction", [0.0, 0.5, 1e6, 1e200])
def test_one_contact_with_the_identity_is_solved_by_a_projection(dimension, friction):
    rng = np.random.default_rng(0)
    for _ in range(20):
        b = rng.standard_normal(dimension)
        problem = perp.ContactProblem(np.eye(dimension), b, friction, "convex", dimension=dimension)
        x = problem.project(-b)
        found = perp.verify(problem, x)
        assert found.residual <= 4e-16
        assert Watch(problem).look(x)[0] <= 4e-16
        assert found.gap <= 1e-15


def test_a_contact_that_slides_opens():
    problem = perp.ContactProblem(np.eye(3), [-1.0, 3.0, 4.0], 0.5, "convex")
    x = problem.project(-problem.b)
    y = problem.slack(x)
    assert y[0] == pytest.approx(0.5 * np.hypot(y[1], y[2]))
    assert y[0] > 1.0
    np.testing.assert_allclose(x[1:], -0.5 * x[0] * y[1:] / np.hypot(y[1], y[2]))
    found = perp.verify(problem, x)
    assert found.dissipation_error == pytest.approx(0.0, abs=1e-14)
    assert found.cone_violation <= 1e-15
    assert found.de_saxce > 0.1  # the exact law does not let it open
    assert found.slack_violation <= 1e-15


def test_a_contact_that_sticks_or_separates_solves_both_models():
    for b in ([-2.0, 0.1, 0.2], [2.0, 0.1, 0.2]):
        convex = perp.ContactProblem(np.eye(3), b, 0.5, "convex")
        x = convex.project(-convex.b)
        exact = perp.ContactProblem(np.eye(3), b, 0.5, "cone")
        assert perp.verify(convex, x).residual == perp.verify(exact, x).residual == 0.0
        assert perp.verify(convex, x).de_saxce <= 1e-16


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_an_extreme_contact_is_measured_with_one_scale(factor):
    A, b = np.diag([2.0, 3.0, 4.0]), np.array([-1.0, 0.4, 0.3])
    plain = perp.ContactProblem(A, b, 0.5, "convex")
    scaled = perp.ContactProblem(A * factor, b * factor, 0.5, "convex")
    x = plain.project(-b)
    share = np.unique(scaled.row_scales)
    assert share.size == 1
    expected = np.abs(x - project_twin(plain, x - share[0] * factor * plain.slack(x))).max()
    assert perp.verify(scaled, x).residual == pytest.approx(expected)
    assert Watch(scaled).look(x)[0] == pytest.approx(expected)


def test_a_slip_beyond_all_numbers_does_not_hide_the_error():
    problem = perp.ContactProblem(np.eye(3), [-1.0, 1.7e308, 1.7e308], 0.5, "convex")
    found = perp.verify(problem, [1.0, 0.0, 0.0])
    assert found.residual > 1e299
    assert Watch(problem).look(np.array([1.0, 0.0, 0.0]))[0] == found.residual


@pytest.mark.parametrize("dimension", [2, 3])
def test_planted_contacts_lie_in_both_cones(dimension):
    contacts = 60
    friction = np.linspace(0.0, 1.2, contacts)
    A = strategies.spd_matrix(np.random.default_rng(0), dimension * contacts)
    example = planted_contacts(A, friction, "convex", dimension=dimension, active=0.6, degenerate=0.1, seed=4)
    assert perp.verify(example.problem, example.x).residual <= 1e-14
    y = contact_parts(example.problem, example.problem.slack(example.x))
    x = contact_parts(example.problem, example.x)
    slip = np.linalg.norm(y[:, 1:], axis=1)
    slides = (x[:, 0] > 0) & (slip > 1e-12)
    assert np.count_nonzero(slides) == 18
    np.testing.assert_allclose(y[slides, 0], (friction * slip)[slides], atol=1e-13)
    assert np.count_nonzero((x[:, 0] == 0) & (y[:, 0] > friction * slip + 0.09)) == 18


@pytest.mark.parametrize("layout", ["wall", "tower", "pyramid"])
def test_the_convex_stack_has_a_planted_solution(layout):
    example = box_stack(200, 2, layout=layout, model="convex", mass_ratio=1e3, degenerate=0.1)
    assert example.problem.kind == "contact/convex"
    assert perp.verify(example.problem, example.x).residual <= 1e-12


def test_it_says_what_it_is_and_survives_pickling():
    problem = perp.ContactProblem(np.eye(7), np.zeros(7), [0.1, 0.2], "convex", lower=[-1.0], upper=[2.0])
    again = pickle.loads(pickle.dumps(problem))
    assert again.kind == problem.info().kind == "contact/convex"
    assert "convex friction, 3D" in repr(again)
    np.testing.assert_array_equal(again.project(np.full(7, 5.0)), problem.project(np.full(7, 5.0)))
    assert again.project(np.full(7, 5.0))[6] == 2.0


@pytest.mark.parametrize("suffix", ["npz", "mtx"])
def test_it_comes_back_from_a_file(suffix, tmp_path):
    problem = perp.ContactProblem(np.eye(4), np.arange(4.0), 0.3, "convex", dimension=2)
    save(problem, tmp_path / f"p.{suffix}")
    again = load(tmp_path / f"p.{suffix}")
    assert (again.kind, again.dimension) == ("contact/convex", 2)


def test_fclib_has_no_words_for_it(tmp_path):
    with pytest.raises(FileFormatError, match=r"model='convex'; save it as \.npz"):
        save(perp.ContactProblem(np.eye(3), np.ones(3), 0.5, "convex"), tmp_path / "p.hdf5")


def test_methods_of_the_other_models_refuse_it():
    with pytest.raises(MethodRefused, match="this one is 'contact/convex'"):
        perp.solve(perp.ContactProblem(np.eye(3), np.ones(3), 0.5, "convex"), "pgs")
