"""ADMM: the iterates of its twin, the problems that it solves, the laws that its answers obey, and how it ends."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from admm_twins import Twin
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import gallery
from perp.linalg.cholesky import NotFinite
from perp.linalg.free_systems import DenseSymmetric
from perp.solvers.gradient.admm import ADMM
from perp.solvers.gradient.apgd import APGD
from perp.solvers.results import Status

contacts = st.tuples(strategies.contact_problems(), st.sampled_from(["convex", "disc", "cone"])).map(
    lambda drawn: perp.ContactProblem(
        drawn[0].A, drawn[0].b, drawn[0].friction, drawn[1], lower=drawn[0].lower, upper=drawn[0].upper
    )
)
ANY_PROBLEM = st.one_of(strategies.lcps(), strategies.box_lcps(), contacts)
MODELS = ["cone", "convex", "disc"]
PUBLISHED = ADMM(penalty="spectral", power=0.2, proximal=1e-6, memory=0)


def compare_with_twin(problem, method, iterations, atol):
    x = problem.project(np.ones(problem.n))
    state = method.start(problem, x.copy())
    options = (method.penalty, method.power, method.proximal, method.relaxation, method.memory, method.penalty_every)
    twin = Twin(problem, x, state.stiffness, *options)
    for _ in range(iterations):
        method.step(problem, state, 1)
        twin.step()
        np.testing.assert_allclose(state.x, twin.answer, atol=atol * max(1.0, np.abs(twin.answer).max()))
        if perp.verify(problem, twin.answer).residual <= 1e-7:
            break  # from here on rounding errors may decide what becomes of the penalty
        assert state.counters["penalty"] == pytest.approx(twin.rho, rel=1e-5)
        assert state.counters["penalty_updates"] == twin.updates
    return state


@given(
    ANY_PROBLEM,
    st.sampled_from(["contacts", "spectral", "fixed"]),
    st.sampled_from([0.0, 1e-6, 1e-2]),
    st.sampled_from([0.8, 1.0, 1.6]),
)
def test_the_iterates_are_those_of_the_readable_twin(problem, penalty, proximal, relaxation):
    method = ADMM(penalty=penalty, proximal=proximal, relaxation=relaxation, memory=0, penalty_every=3)
    compare_with_twin(problem, method, 12, 1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("load", ["planted", "gravity"])
def test_mixed_iterates_are_those_of_the_twin_through_changes_of_the_penalty(model, load):
    problem = gallery.make("box_stack", n=48, model=model, load=load).problem
    state = compare_with_twin(problem, ADMM(memory=4, penalty_every=10, space="dense"), 40, 1e-6)
    assert state.counters["penalty_updates"] > 1


def test_a_mixed_point_that_made_things_worse_is_taken_back_as_in_the_twin():
    problem = gallery.make("box_stack", n=48, model="disc", mass_ratio=1e4).problem
    state = compare_with_twin(problem, ADMM(memory=6, space="dense"), 60, 1e-4)
    assert state.counters["rejected"] > 0


@given(ANY_PROBLEM, st.sampled_from([ADMM(), ADMM(penalty_every=2, memory=3), PUBLISHED]))
def test_steps_can_be_taken_in_any_portions_and_none_loads_only(problem, method):
    x = problem.project(np.ones(problem.n))
    whole, parts = method.start(problem, x.copy()), method.start(problem, x.copy())
    method.step(problem, whole, 0)
    np.testing.assert_array_equal(whole.x, x)
    method.step(problem, whole, 5)
    method.step(problem, parts, 2)
    method.step(problem, parts, 3)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert whole.unused == parts.unused or whole.ended is not None


@given(ANY_PROBLEM)
def test_every_iterate_is_within_its_bounds(problem):
    method = ADMM(penalty_every=5)
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(20):
        method.step(problem, state, 1)
        assert perp.verify(problem, state.x).bound_violation <= 1e-14 * max(1.0, np.abs(state.x).max())


@given(ANY_PROBLEM)
def test_it_solves_small_problems_of_every_kind_in_every_form(problem):
    result = perp.solve(problem, ADMM(), tol=1e-9)
    assert result.success, result.message


@given(ANY_PROBLEM, st.sampled_from([ADMM(), PUBLISHED]))
def test_a_solution_is_a_fixed_point(problem, method):
    solution = perp.solve(problem, ADMM(), tol=1e-10)
    assert solution.success
    state = method.start(problem, np.array(solution.x))
    method.step(problem, state, 5)
    np.testing.assert_allclose(problem.slack(state.x), solution.y, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("load", ["planted", "gravity"])
@pytest.mark.parametrize("mass_ratio", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("layout", ["tower", "wall"])
def test_it_solves_small_stacks_with_any_mass_ratio(model, load, mass_ratio, layout):
    options = {"model": model, "load": load, "mass_ratio": mass_ratio, "layout": layout}
    result = perp.solve(gallery.make("box_stack", n=72, **options).problem, ADMM(), max_iterations=1000)
    assert result.success, result.message


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("load", ["planted", "gravity"])
def test_it_solves_a_wall_of_28_boxes_in_body_space(model, load):
    problem = gallery.make("box_stack", n=336, model=model, load=load).problem
    result = perp.solve(problem, ADMM(space="body"), max_iterations=500)
    assert result.success, result.message
    assert result.history.counters["factorisations"][-1] <= 12


@pytest.mark.parametrize("kind", ["dense_pd", "dense_psd", "dense_p", "poisson_2d", "boxed_pd", "boxed_stack"])
def test_it_solves_problems_without_friction(kind):
    example = gallery.make(kind, n=60)
    result = perp.solve(example.problem, ADMM(), tol=1e-9)
    assert result.success, result.message
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_planar_contacts_with_joints_and_limits_after_them():
    rng = np.random.default_rng(5)
    A = strategies.spd_matrix(rng, 7)
    bounds = {"lower": [-np.inf, 0.0, 1.0], "upper": [np.inf, 1.0, 1.0]}
    for model in MODELS:
        problem = perp.ContactProblem(A, rng.standard_normal(7), [0.4, 0.0], model, dimension=2, **bounds)
        result = perp.solve(problem, ADMM())
        assert result.success, result.message
        assert result.x[6] == 1.0


@pytest.mark.parametrize("space", ["dense", "sparse", "body", "augmented"])
def test_every_space_gives_the_same_slack(space):
    problem = gallery.make("box_stack", n=96, model="convex", load="gravity").problem
    expected = perp.solve(problem, ADMM(), tol=1e-9)
    found = perp.solve(problem, ADMM(space=space), tol=1e-9)
    assert found.success
    np.testing.assert_allclose(found.y, expected.y, atol=1e-7)


def test_the_convex_optimum_is_that_of_accelerated_gradients():
    problem = gallery.make("box_stack", n=96, model="convex", load="gravity").problem
    mine, other = (perp.solve(problem, method, tol=1e-9) for method in (ADMM(), APGD()))
    assert mine.success
    assert other.success
    objective = other.verify().objective
    assert mine.verify().objective == pytest.approx(objective, rel=1e-9)
    assert objective < -1e-3


def sliding_contacts(problem, result):
    """The slip and the gap of the contacts whose friction is at its limit and that move."""
    x, y = (v[: problem.contact_rows].reshape(-1, 3) for v in (result.x, result.y))
    slip = np.hypot(y[:, 1], y[:, 2])
    is_limit = np.hypot(x[:, 1], x[:, 2]) > 0.999 * problem.friction * x[:, 0]
    slides = is_limit & (x[:, 0] > 1e-3) & (slip > 1e-3)
    return slip[slides], y[slides, 0]


@pytest.mark.parametrize(("load", "friction"), [("planted", 0.3), ("gravity", 0.05)])
def test_exact_cones_do_not_open_while_they_slide_and_convex_ones_do(load, friction):
    for model in ("cone", "convex"):
        problem = gallery.make("box_stack", n=96, model=model, friction=friction, load=load).problem
        result = perp.solve(problem, ADMM(), tol=1e-9)
        assert result.success
        slip, gap = sliding_contacts(problem, result)
        assert slip.size > 0
        np.testing.assert_allclose(gap, 0.0 if model == "cone" else friction * slip, atol=1e-7)
        assert (result.verify().de_saxce <= 1e-7) == (model == "cone")


@pytest.mark.parametrize("model", MODELS)
def test_units_of_the_slack_do_not_matter(model):
    problem = gallery.make("box_stack", n=48, model=model).problem
    A = problem.A.to_dense()
    strength = {"friction": problem.friction, "model": model}
    plain, scaled = (perp.ContactProblem(f * A, f * problem.b, **strength) for f in (1.0, 1024.0))
    thousand = perp.ContactProblem(1e3 * A, 1e3 * problem.b, **strength)
    first, second, third = (perp.solve(p, ADMM(), tol=0.0, max_iterations=40) for p in (plain, scaled, thousand))
    np.testing.assert_array_equal(first.x, second.x)  # a power of two changes no digit
    np.testing.assert_allclose(first.x, third.x, atol=1e-6)
    assert first.history.counters["penalty"][-1] == pytest.approx(third.history.counters["penalty"][-1], rel=1e-4)


def test_an_asymmetric_matrix_is_taken_as_it_is():
    rng = np.random.default_rng(2)
    skew = rng.standard_normal((12, 12))
    A = strategies.spd_matrix(rng, 12) + 0.5 * (skew - skew.T)
    b = rng.standard_normal(12)
    for matrix in (A, sparse.csr_array(A)):
        for problem in (perp.LCP(matrix, b), perp.ContactProblem(matrix, b, 0.3, "convex")):
            result = perp.solve(problem, ADMM(), tol=1e-9)
            assert result.success, result.message


@pytest.mark.parametrize("method", [ADMM(), ADMM(memory=0), PUBLISHED])
@pytest.mark.parametrize("kind", ["infeasible_psd", "closed_fluid"])
def test_problems_without_a_solution_are_proved_to_have_none(kind, method):
    result = perp.solve(gallery.make(kind, n=70).problem, method)
    assert result.status is Status.INFEASIBLE


def test_convex_contacts_without_a_solution_end_on_a_ray():
    result = perp.solve(perp.ContactProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5, "convex"), ADMM())
    assert result.status is Status.RAY
    assert np.isfinite(result.x).all()


def test_an_indefinite_matrix_is_a_failure_that_says_why():
    result = perp.solve(perp.LCP([[2.0, 1.0], [1.0, -1.0]], [2.0, -2.0]), ADMM())
    assert result.status is Status.BREAKDOWN
    assert "semidefinite" in result.message


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_problem_and_contacts_without_friction(model):
    empty = perp.ContactProblem(np.zeros((0, 0)), [], [], model)
    assert perp.solve(empty, ADMM()).success
    state = ADMM().start(empty, np.zeros(0))
    ADMM().step(empty, state, 3)
    smooth = gallery.make("box_stack", n=48, model=model, friction=0.0, load="gravity").problem
    assert perp.solve(smooth, ADMM()).success


def test_tolerance_zero_ends_when_only_rounding_errors_are_left():
    rng = np.random.default_rng(3)
    problem = perp.LCP(strategies.spd_matrix(rng, 9), rng.standard_normal(9))
    result = perp.solve(problem, ADMM(), tol=0.0)
    assert result.status in (Status.REDUCED_ACCURACY, Status.CONVERGED)
    assert result.residual < 1e-13
    assert result.iterations < 1000


def test_a_warm_start_is_worth_what_it_brings():
    problem = gallery.make("box_stack", n=96, model="cone", load="gravity").problem
    cold = perp.solve(problem, ADMM())
    again = perp.solve(problem, ADMM(), x0=cold)
    assert cold.success
    assert again.iterations == 0
    nudged = perp.ContactProblem(problem.A, problem.b * (1.0 + 1e-6), problem.friction, "cone")
    assert perp.solve(nudged, ADMM(), x0=cold).iterations < cold.iterations


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"penalty": "contact"}, "contacts"),
        ({"relaxation": 2.0}, r"\(0, 2\)"),
        ({"relaxation": 0.0}, "relaxation"),
        ({"proximal": 2.0}, "share"),
        ({"proximal": -1.0}, "proximal"),
        ({"memory": -1}, "memory"),
        ({"memory": 10**6}, "at most 1000"),
        ({"penalty_every": 0}, "penalty_every"),
        ({"space": "bodies"}, "body"),
        ({"power": float("nan")}, "power"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, word):
    with pytest.raises(ValueError, match=word):
        ADMM(**options)


def test_body_space_is_refused_without_bodies():
    with pytest.raises(perp.errors.MethodRefused, match="factored"):
        perp.solve(perp.LCP(np.eye(2), [-1.0, 1.0]), ADMM(space="body"))


def test_a_factor_that_fails_at_the_start_is_a_breakdown_and_nothing_is_solved_with_it(monkeypatch):
    """A factor that was given up half-way holds row exchanges that point anywhere."""

    def fail(*_):
        raise NotFinite("no factor")

    monkeypatch.setattr("perp.solvers.gradient.admm.factor_or_exchange", fail)
    monkeypatch.setattr(DenseSymmetric, "solve", fail)
    result = perp.solve(perp.LCP(np.eye(2), [-1.0, 1.0]), ADMM(space="dense"))
    assert result.status is Status.BREAKDOWN
    assert "no factor" in result.message


@pytest.mark.parametrize("options", [{"power": 400.0}, {"proximal": 1e-300, "power": 3.0}, {"proximal": 5e-324}])
@pytest.mark.parametrize("rule", ["contacts", "spectral"])
def test_penalties_that_no_number_can_hold_are_held_within_their_limits(options, rule):
    problem = perp.ContactProblem(np.eye(3), [-1.0, 0.5, 0.1], 0.5, "convex")
    result = perp.solve(problem, ADMM(penalty=rule, **options), max_iterations=50)
    assert np.isfinite(result.x).all()
    hardly = perp.ContactProblem(5e-324 * np.eye(3), [-5e-324, 1.0, 0.0], 0.5, "convex")
    assert np.isfinite(perp.solve(hardly, ADMM(penalty=rule, scaling="none", **options), max_iterations=50).x).all()


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("fclib/local_problem_test.hdf5", 200),
        ("siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5", 60),
        ("siconos/fclib_hdf5/CubeH8.hdf5", 60),
        ("siconos/fclib_hdf5/Capsules-i125-1213.hdf5", 500),  # asymmetric by 1e-3
    ],
)
def test_it_solves_problems_from_other_simulators(shared, name, most):
    pytest.importorskip("h5py")
    result = perp.solve(perp.load(shared / "data" / name), ADMM(), max_iterations=most)
    assert result.success, result.message
