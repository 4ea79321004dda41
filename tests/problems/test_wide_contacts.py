"""Contacts whose rows have coefficients of their own: the problem, its measures, its projection, and who refuses it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import wide_contacts
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from wide_contacts import DIMENSIONS, MODELS

import perp
from perp.errors import FileFormatError, InvalidProblem, MethodRefused
from perp.problems.residuals import Watch

SIX = [[0.5, 0.5, 0.02, 0.01, 0.01]]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_solution_has_no_residual_and_any_other_point_that_of_the_twin(seed, model, dimension):
    problem, solution = wide_contacts.planted(model, dimension, zeros=seed > 0, seed=seed)
    assert perp.verify(problem, solution).residual <= 1e-13
    rng = np.random.default_rng(seed)
    for x in (rng.standard_normal(problem.n), solution + 0.01 * rng.standard_normal(problem.n), np.zeros(problem.n)):
        twin = wide_contacts.natural_map(problem, x)
        found = perp.verify(problem, x)
        assert found.residual == pytest.approx(np.abs(twin).max(), rel=1e-12)
        assert found.natural_2 == pytest.approx(np.linalg.norm(twin), rel=1e-12)
        measures = Watch(problem).look(x)
        assert measures[0] == pytest.approx(found.residual, rel=1e-12)
        assert measures[2] == found.active


@pytest.mark.parametrize("model", MODELS)
def test_equal_coefficients_make_the_measures_of_one_coefficient(model):
    rng = np.random.default_rng(0)
    narrow = perp.gallery.make("box_stack", n=48, model=model).problem
    wide = perp.ContactProblem(narrow.A, narrow.b, np.repeat(narrow.friction[:, None], 2, axis=1), model)
    for _ in range(10):
        x = narrow.project(rng.standard_normal(narrow.n)) + 0.1 * rng.standard_normal(narrow.n)
        np.testing.assert_allclose(wide.project(x), narrow.project(x), rtol=1e-13, atol=1e-15)
        first, second = perp.verify(narrow, x), perp.verify(wide, x)
        for name, value in vars(first).items():
            if isinstance(value, float | int):
                assert getattr(second, name) == pytest.approx(value, rel=1e-12, abs=1e-15), name
        np.testing.assert_allclose(Watch(wide).look(x), Watch(narrow).look(x), rtol=1e-12, atol=1e-15)


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(MODELS),
    dimension=st.sampled_from(DIMENSIONS),
    zeros=st.booleans(),
    seed=st.integers(0, 10_000),
    size=st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_a_projected_point_is_allowed_stays_where_it_is_and_is_the_nearest(model, dimension, zeros, seed, size):
    problem = wide_contacts.redundant(model, dimension, zeros=zeros, seed=seed)
    rng = np.random.default_rng(seed)
    x = size * rng.standard_normal(problem.n)
    near = problem.project(x)
    np.testing.assert_array_equal(problem.project(near), near)
    assert not np.signbit(near[near == 0.0]).any()

    def allows(point):
        parts = point.reshape(-1, dimension)
        head = np.ones(5) if model == "disc" else parts[:, 0]
        shares = np.divide(
            parts[:, 1:], problem.friction, out=np.zeros_like(problem.friction), where=problem.friction > 0
        )
        reach = np.abs(shares).max(axis=1) if model == "box" else np.linalg.norm(shares, axis=1)
        assert (parts[:, 0] >= 0.0).all()
        assert (reach <= head * (1.0 + 1e-13)).all()
        assert not parts[:, 1:][problem.friction == 0.0].any()

    allows(near)
    levers = np.where(problem.levers > 0.0, problem.levers, np.inf)  # a row without one is at 0 and nowhere else
    for _ in range(5):
        other = problem.project(size * rng.standard_normal(problem.n))
        if model != "convex":  # limits stand at the normals
            other.reshape(-1, dimension)[:, 0] = near.reshape(-1, dimension)[:, 0]
            other = problem.project(other)
        apart = (((x - near) * (other - near)).reshape(-1, dimension) / levers**2).sum(axis=1)
        assert (apart <= 1e-12 * size**2 * np.max(1.0 / levers[levers < np.inf] ** 2)).all()


@pytest.mark.parametrize("model", MODELS)
def test_bounds_of_every_row_are_its_own(model):
    problem = perp.ContactProblem(np.eye(12), np.zeros(12), [[1.0, 2.0, 3.0, 4.0, 5.0]], model, dimension=6)
    lower, upper = problem.bounds(np.repeat([2.0, -1.0], 6))
    first, second = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    if model != "disc":
        first, second = [2.0, 4.0, 6.0, 8.0, 10.0], [0.0] * 5
    np.testing.assert_array_equal(upper, [np.inf, *first, np.inf, *second])
    np.testing.assert_array_equal(lower[[*range(1, 6), *range(7, 12)]], -upper[[*range(1, 6), *range(7, 12)]])


def test_strength_and_levers_measure_rows_by_the_first_that_rubs():
    problem = perp.ContactProblem(
        np.eye(12), np.zeros(12), [[0.5, 0.25, 0.02], [0.0, 0.0, 0.1], [0, 0, 0]], dimension=4
    )
    np.testing.assert_array_equal(problem.strength, [0.5, 0.1, 0.0])
    np.testing.assert_array_equal(problem.levers, [[1.0, 1.0, 0.5, 0.04], [1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    narrow = perp.ContactProblem(np.eye(6), np.zeros(6), [0.5, 0.0])
    assert narrow.strength is narrow.friction
    np.testing.assert_array_equal(narrow.levers, 1.0)


@pytest.mark.parametrize(
    ("friction", "dimension", "said"),
    [
        (0.5, 4, "need a coefficient for each row beside the normal"),
        ([0.5, 0.5], 6, "need a coefficient for each row beside the normal"),
        ([[0.5] * 4], 6, "friction has 4 columns"),
        ([[0.5] * 5] * 3, 6, "3 contacts of 6 rows"),
        ([[0.5, 0.5, -0.1, 0.0, 0.0]], 6, r"friction\[0,2\] is -0.1"),
        ([[0.5, np.nan, 0.1, 0.0, 0.0]], 6, "nan"),
        ([[0.5]], 2, "one-dimensional"),
        (0.5, 5, r"dimension is 5; 2 \(normal, tangent\)"),
        ([[0.5] * 3], 4, None),
    ],
)
def test_coefficients_that_make_no_sense_are_refused(friction, dimension, said):
    if said is None:
        assert perp.ContactProblem(np.eye(12), np.zeros(12), friction, dimension=dimension).contacts == 3
        return
    with pytest.raises(InvalidProblem, match=said):
        perp.ContactProblem(np.eye(12), np.zeros(12), friction, dimension=dimension)


@pytest.mark.parametrize("model", MODELS)
def test_a_wide_problem_survives_files_pickles_and_other_models(tmp_path, model):
    problem = wide_contacts.redundant(model, 6).with_compliance(0.125)
    perp.save(problem, tmp_path / "wide.npz", x=np.arange(30.0))
    for again in (perp.load(tmp_path / "wide.npz"), pickle.loads(pickle.dumps(problem))):
        assert again.kind == f"wide/{model}"
        assert repr(again) == repr(problem)
        np.testing.assert_array_equal(again.friction, problem.friction)
        np.testing.assert_array_equal(again.contact_compliance, problem.contact_compliance)
        np.testing.assert_array_equal(again.A.to_dense(), problem.A.to_dense())
    assert "6 rows" in repr(problem)
    for target in MODELS:
        change = {"radii": SIX} if target == "disc" else {"friction": SIX}
        other = problem.with_model(target, **change)
        assert other.kind == f"wide/{target}"
        np.testing.assert_array_equal(other.friction, np.repeat(SIX, 5, axis=0))
    with pytest.raises(InvalidProblem, match="coefficient for each row"):
        problem.with_model("box", friction=0.5)


def test_formats_without_a_word_for_moments_refuse(tmp_path):
    problem = wide_contacts.redundant("cone", 4)
    with pytest.raises(FileFormatError, match=r"save it as \.npz"):
        perp.save(problem, tmp_path / "wide.mtx")
    pytest.importorskip("h5py")
    with pytest.raises(FileFormatError, match=r"save it as \.npz"):
        perp.save(problem, tmp_path / "wide.hdf5")


def test_a_compliance_is_the_same_in_all_directions_of_the_cone():
    problem = wide_contacts.redundant("cone", 6, zeros=True)
    soft = problem.with_compliance(0.01)
    added = (soft.A.compliance - problem.A.compliance).reshape(-1, 6)
    measured = added * problem.levers**2
    np.testing.assert_allclose(measured[problem.levers > 0.0], 0.01, rtol=1e-14)
    np.testing.assert_array_equal(added[problem.levers == 0.0], 0.0)
    np.testing.assert_array_equal(soft.with_compliance(0.0).A.compliance, 0.0)
    shares = perp.contact_compliance(problem, 1e-3, "by_inertia")
    diagonal = problem.diagonal.reshape(-1, 6)
    np.testing.assert_allclose(shares, 1e-3 * (problem.levers**2 * diagonal).mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(perp.contact_compliance(soft, 1e-3, "by_inertia"), shares, rtol=1e-10)
    assert (perp.contact_compliance(problem, 1e-3, "by_load") > 0.0).all()


def test_islands_keep_their_own_coefficients():
    one, other = (wide_contacts.redundant("cone", 6, seed=seed) for seed in (0, 1))
    A = sparse.block_diag([one.A.to_sparse(), other.A.to_sparse()], format="csr")
    both = perp.ContactProblem(
        A, np.append(one.b, other.b), np.vstack([one.friction, other.friction]), "cone", dimension=6
    )
    first, second = perp.split_islands(both)
    np.testing.assert_array_equal(first.problem.friction, one.friction)
    np.testing.assert_array_equal(second.problem.friction, other.friction)
    assert first.problem.kind == "wide/cone"
    assert second.problem.project(np.ones(30)).shape == (30,)


def test_contacts_that_spin_or_roll_slide():
    A = np.diag([1.0, 1.0, 1.0, 10.0])
    states = perp.contact_states(
        perp.ContactProblem(A, [-1.0, 0.0, 0.0, 1.0], [[0.5, 0.5, 0.05]], "cone", dimension=4), [1.0, 0, 0, 0]
    )
    assert states.counts == {"sticking": 0, "sliding": 1, "separating": 0, "grazing": 0}
    assert states.slip[0] == pytest.approx(0.1)
    smooth = perp.ContactProblem(A, [-1.0, 0.0, 0.0, 1.0], [[0.5, 0.5, 0.0]], "cone", dimension=4)
    assert perp.contact_states(smooth, [1.0, 0, 0, 0]).counts["sticking"] == 1  # it spins without friction


def test_who_cannot_take_them_says_so_and_names_who_can():
    problem = wide_contacts.redundant("cone", 6)
    for method in ("pgs", "block_gauss_seidel", "apgd", "admm", "nncg", "staggering"):
        with pytest.raises(MethodRefused, match=r"this one is 'wide/cone' \(methods that would work: .*cone_interior"):
            perp.solve(problem, method)
    for refuse in (
        perp.stewart_trinkle,
        lambda p: perp.fixed_box(p, np.ones(5)),
        lambda p: perp.verify_certificate(p, p.b),
    ):
        with pytest.raises(InvalidProblem, match="one coefficient each"):
            refuse(problem)
    with pytest.raises(ValueError, match="this is wide/cone"):
        perp.solve(problem, impulses="least_norm")
    assert perp.find_no_solution(problem) is None
    assert "piecewise linear" in perp.prove(problem, problem.b).reason


def test_boxed_moments_are_proved_like_boxed_tangents():
    problem, x = wide_contacts.planted("box", 6, contacts=3)
    assert perp.prove(problem, x).exists


def test_without_friction_only_normals_are_left():
    problem = wide_contacts.redundant("cone", 6)
    assert perp.frictionless(problem).n == 5
