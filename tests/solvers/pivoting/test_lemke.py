"""Lemke's method as a caller sees it: answers, rays, certificates, boxes, scales, warm starts."""

from __future__ import annotations

import json

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import LCP, BoxLCP, Status
from perp.errors import MethodRefused
from perp.gallery.classic import all_signs
from perp.kernels.pivoting import lemke as kernels
from perp.solvers.pivoting.lemke import Lemke

RNG = np.random.default_rng


def solved(problem, method=None, **arguments):
    result = perp.solve(problem, method or Lemke(), **arguments)
    assert result.status is Status.CONVERGED, result.message
    return result


@pytest.mark.parametrize("example", all_signs(), ids=str)
def test_the_table_of_signs_is_answered_with_a_solution_or_a_proof(example):
    result = perp.solve(example.problem, Lemke())
    if example.expected == "infeasible":
        assert result.status is Status.INFEASIBLE
        np.testing.assert_array_equal(result.certificate.u, [1.0])
    else:
        assert result.success
        assert any(abs(result.x - x) < 1e-12 for x in example.solutions)


@given(strategies.lcps())
def test_it_solves_positive_definite_lcps(problem):
    solved(problem, tol=1e-11)


@given(strategies.box_lcps(), st.sampled_from(["ones", "diagonal"]))
def test_it_solves_positive_definite_boxed_lcps_with_any_mixture_of_bounds(problem, covering):
    solved(problem, Lemke(covering), tol=1e-11)


@given(strategies.box_lcps(), strategies.SEEDS)
def test_it_solves_them_from_any_starting_point(problem, seed):
    solved(problem, x0=3.0 * RNG(seed).standard_normal(problem.n), tol=1e-11)


@pytest.mark.parametrize("degenerate", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_planted_solution_of_a_boxed_problem(seed, degenerate):
    example = perp.gallery.make("boxed_pd", n=40, seed=seed, degenerate=degenerate)
    np.testing.assert_allclose(solved(example.problem).x, example.x, atol=1e-10)


def test_boxes_in_place_give_what_partner_rows_give():
    rng = RNG(8)
    K = rng.standard_normal((12, 12))
    problem = BoxLCP(strategies.spd_matrix(rng, 12) + K - K.T, 2.0 * rng.standard_normal(12), -0.3, 0.2)
    form = problem.to_lcp()
    np.testing.assert_allclose(solved(problem).x, form.recover(solved(form.problem).x), atol=1e-10)


@pytest.mark.parametrize("kind", ["degenerate", "redundant_contacts", "several_solutions"])
@pytest.mark.parametrize("n", [3, 8, 12])
def test_degenerate_problems_end_without_cycling(kind, n):
    result = solved(perp.gallery.make(kind, n=n).problem)
    assert result.history.counters["ties"][-1] > 0


@given(st.integers(0, 10_000), st.integers(2, 25))
def test_semidefinite_problems_with_repeated_rows_are_solved(seed, n):
    rng = RNG(seed)
    J = rng.integers(-2, 3, (n, 4))[rng.integers(0, n, n)].astype(float)
    x = rng.integers(0, 3, n) * (rng.random(n) < 0.5)
    solved(LCP(J @ J.T, (x == 0) * rng.integers(0, 2, n) - J @ J.T @ x))


@pytest.mark.parametrize("n", range(4, 13))
def test_fathis_matrix_takes_two_to_the_n_pivots(n):
    example = perp.gallery.make("fathi", n=n)
    result = solved(example.problem, max_iterations=2**n)
    assert result.iterations == 2**n
    np.testing.assert_allclose(result.x, example.x, atol=1e-12)


def test_fathis_matrix_ends_at_the_limit_if_that_comes_first():
    result = perp.solve(perp.gallery.make("fathi", n=30).problem, Lemke())
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 10_000


@pytest.mark.parametrize("n", [8, 16, 40])
def test_murtys_matrix_is_easy_for_it(n):
    example = perp.gallery.make("murty", n=n)
    result = solved(example.problem)
    assert result.iterations == 2
    np.testing.assert_allclose(result.x, example.x, atol=1e-12)


def test_hilberts_matrix_ends_honestly():
    result = perp.solve(perp.gallery.make("hilbert", n=12).problem, Lemke())
    assert result.status in (Status.CONVERGED, Status.REDUCED_ACCURACY)
    assert result.success == (result.residual <= 1e-8)


def textbook(shared):
    for entry in json.loads((shared / "data" / "textbook_lcp" / "problems.json").read_text()):
        lower, upper = np.array(entry.get("l", 0.0), dtype=float), np.array(entry.get("u", np.inf), dtype=float)
        yield entry, BoxLCP(np.array(entry["M"]), np.array(entry["q"]), lower, upper)


def test_textbook_problems_are_answered_as_published(shared):
    statuses = {}
    for entry, problem in textbook(shared):
        result = perp.solve(problem, Lemke())
        statuses[entry["name"]] = result.status
        if result.success and "x" in entry and "not unique" not in entry.get("notes", ""):
            np.testing.assert_allclose(result.x, entry["x"], atol=1e-12)
    assert statuses.pop("handbook_10.2.4") is Status.RAY
    assert statuses.pop("murty_2.9") in (Status.RAY, Status.INFEASIBLE)
    assert statuses.pop("unsolvable_1") is Status.INFEASIBLE
    assert set(statuses.values()) == {Status.CONVERGED}


def test_the_covering_vector_can_decide_between_a_solution_and_a_ray(shared):
    problem = next(problem for entry, problem in textbook(shared) if entry["name"] == "murty_2.11")
    assert perp.solve(problem, Lemke((5.0, 16.0))).status is Status.RAY
    solved(problem, Lemke((1.0, 1.0)))


def infeasible_box():
    """y_0 = x_1 - 2 >= 0 is out of reach of x_1 <= 1."""
    return BoxLCP([[0.0, 1.0], [-1.0, 0.0]], [-2.0, 0.0], [0.0, 0.0], [np.inf, 1.0])


INFEASIBLE = [
    perp.gallery.make("infeasible").problem,
    LCP(np.zeros((3, 3)), [1.0, -1.0, 0.0]),
    perp.gallery.make("infeasible_psd", n=90).problem,
    perp.gallery.make("infeasible_psd", n=300).problem,
    infeasible_box(),
    BoxLCP(np.zeros((2, 2)), [1.0, 1.0], -np.inf, [0.0, 5.0]),
    BoxLCP(np.ones((2, 2)), [0.0, -1.0], [-np.inf, 0.0], np.inf),  # x_0 + x_1 = 0 and x_0 + x_1 >= 1
]


@pytest.mark.parametrize("problem", INFEASIBLE)
@pytest.mark.parametrize("x0", [0.0, 0.5])
def test_semidefinite_problems_without_a_solution_are_proved_infeasible(problem, x0):
    result = perp.solve(problem, Lemke(), x0=np.full(problem.n, x0))
    assert result.status is Status.INFEASIBLE, result.message
    assert perp.verify_certificate(problem, result.certificate.u).valid


@pytest.mark.parametrize("kind", ["unsolvable", "lemke_ray"])
def test_a_ray_that_proves_nothing_is_called_a_ray(kind):
    result = perp.solve(perp.gallery.make(kind).problem, Lemke())
    assert result.status is Status.RAY
    assert result.certificate is None
    assert "proves nothing" in result.message


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("kind", ["fathi", "contact_like", "boxed_pd", "skew", "infeasible"])
def test_scaling_the_data_changes_nothing(kind, factor):
    sizes = {"fathi": 6, "contact_like": 30, "boxed_pd": 30}
    problem = perp.gallery.make(kind, **({"n": sizes[kind]} if kind in sizes else {})).problem
    A, b = problem.A.to_dense() * factor, problem.b * factor
    scaled = BoxLCP(A, b, problem.lower, problem.upper)
    runs = []
    for each in (problem, scaled):
        method = Lemke()
        state = method.start(each, each.project(np.zeros(each.n)))
        method.step(each, state, 1000)
        runs.append((state.ended[0], state.counters, state.x))
    assert runs[0][:2] == runs[1][:2]
    np.testing.assert_allclose(runs[1][2], runs[0][2], rtol=1e-12, atol=1e-12)


def step_by(method, problem, x0, widths):
    state = method.start(problem, x0.copy())
    method.step(problem, state, 0)
    for width in widths:
        method.step(problem, state, width)
    return state


@pytest.mark.parametrize("covering", ["ones", "diagonal"])
def test_scaling_rows_and_columns_by_extreme_factors_changes_nothing(covering):
    rng = RNG(4)
    A, b = strategies.spd_matrix(rng, 8), rng.standard_normal(8)
    factors = np.where(np.arange(8) % 2, 2.0**-40, 2.0**40)
    plain = step_by(Lemke(covering), LCP(A, b), np.zeros(8), [100])
    scaled = step_by(Lemke(covering), LCP(A * factors * factors[:, None], b * factors), np.zeros(8), [100])
    np.testing.assert_allclose(scaled.x * factors, plain.x, rtol=1e-11)
    if covering == "diagonal":
        assert scaled.counters == plain.counters


def test_the_extremes_of_a_diagonal_do_not_matter():
    assert solved(LCP(np.diag([1e-12, 1e12]), [-1.0, -1.0])).x == pytest.approx([1e12, 1e-12])


@given(strategies.box_lcps(), st.lists(st.integers(0, 5), max_size=6))
def test_many_short_steps_are_bit_for_bit_one_long_step(problem, widths):
    x0 = problem.project(np.zeros(problem.n))
    one, many = step_by(Lemke(), problem, x0, [sum(widths)]), step_by(Lemke(), problem, x0, widths)
    np.testing.assert_array_equal(one.x, many.x)
    assert one.counters == many.counters
    assert one.ended == many.ended


def test_short_steps_agree_with_a_long_one_across_new_inverses():
    problem = perp.gallery.make("fathi", n=9).problem
    one, many = step_by(Lemke(), problem, np.zeros(9), [490]), step_by(Lemke(), problem, np.zeros(9), [7] * 70)
    np.testing.assert_array_equal(one.basis.vectors, many.basis.vectors)
    assert one.counters == many.counters
    assert one.counters["refactorisations"] > 2


def test_iterations_that_were_not_needed_are_given_back():
    problem = perp.gallery.make("fathi", n=4).problem
    state = step_by(Lemke(), problem, np.zeros(4), [10])
    assert (state.unused, state.ended) == (0, None)
    Lemke().step(problem, state, 10)
    assert state.unused == 4
    Lemke().step(problem, state, 3)
    assert state.unused == 3


@given(strategies.box_lcps())
def test_x_stays_within_its_bounds_after_every_pivot(problem):
    state = Lemke().start(problem, problem.project(np.zeros(problem.n)))
    while state.ended is None:
        Lemke().step(problem, state, 1)
        assert np.isfinite(state.x).all()
        np.testing.assert_array_equal(problem.project(state.x), state.x)


@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "boxed_pd"])
def test_its_own_solution_is_a_start_that_needs_no_pivot(kind):
    problem = perp.gallery.make(kind, n=60).problem
    x = solved(problem).x
    state = step_by(Lemke(), problem, x, [10])
    assert state.ended[0] is Status.REDUCED_ACCURACY
    assert state.counters["pivots"] <= 1
    assert perp.verify(problem, state.x).residual < 1e-12


@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "boxed_pd"])
@pytest.mark.parametrize("seed", range(3))
def test_after_a_small_change_of_b_a_warm_start_needs_fewer_pivots(kind, seed):
    problem = perp.gallery.make(kind, n=80, seed=seed).problem
    x = solved(problem).x
    lower, upper = problem.bounds(x)
    changed = BoxLCP(problem.A, problem.b * (1.0 + 0.01 * RNG(seed).standard_normal(problem.n)), lower, upper)
    far = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))
    warm, cold = solved(changed, x0=x), solved(changed, x0=far)
    assert warm.iterations < cold.iterations / 3
    np.testing.assert_allclose(warm.x, cold.x, atol=1e-10)


def test_a_start_at_zero_between_the_bounds_has_nothing_basic_but_the_rows_without_bounds():
    A = strategies.spd_matrix(RNG(2), 5)
    lower, upper = [-0.1, -0.1, -0.3, -np.inf, -1e20], [0.1, 0.2, 0.1, np.inf, 1e20]
    problem = BoxLCP(A, [-1.0, 1.0, 0.5, 0.1, 1.0], lower, upper)
    state = Lemke().start(problem, np.zeros(5))
    np.testing.assert_array_equal(state.basis.lists[kernels.COLUMNS, : state.basis.whole[kernels.SIZE]], [3, 4])
    np.testing.assert_array_equal(state.basis.at_upper, [False, False, True, False, False])
    solved(problem, tol=1e-12)
    narrow = Lemke().start(BoxLCP(A, -np.ones(5), -0.1, 0.1), np.zeros(5))
    assert narrow.basis.whole[kernels.SIZE] == 0


@pytest.mark.parametrize("seed", [0, 1, 31, 56])
@pytest.mark.parametrize(("n", "rank"), [(300, 60), (120, 30)])
def test_totally_degenerate_semidefinite_problems_are_proved_infeasible_although_pivots_drown_in_rounding(
    n, rank, seed
):
    J = RNG(seed).integers(-9, 10, (n, rank)).astype(float)  # whole numbers: the same A whatever BLAS adds up first
    assert perp.solve(LCP(J @ J.T, -np.ones(n)), Lemke()).status is Status.INFEASIBLE


def test_a_start_whose_basis_is_singular_falls_back_to_the_cold_one():
    problem = LCP(np.ones((4, 4)), -np.ones(4))
    result = solved(problem, x0=np.full(4, 0.3))
    np.testing.assert_allclose(result.y, 0.0, atol=1e-12)


def test_a_ray_from_a_warm_start_leads_to_a_cold_one():
    problem = LCP([[-2.0, 1.0], [-2.0, 1.0]], [2.0, -2.0])
    state = Lemke().start(problem, np.array([1.0, 0.0]))
    assert state.is_warm
    assert state.counters["restarts"] == 0
    Lemke().step(problem, state, 100)
    assert not state.is_warm
    assert state.counters["restarts"] == 1
    np.testing.assert_allclose(state.x, [0.0, 2.0], atol=1e-15)


def test_numbers_that_are_lost_are_a_breakdown_and_x_stays_finite():
    problem = perp.gallery.make("dense_pd", n=20).problem
    state = step_by(Lemke(), problem, np.zeros(20), [5])
    state.basis.matrix[:] = np.nan
    Lemke().step(problem, state, 5)
    assert state.ended[0] is Status.BREAKDOWN
    assert state.unused == 5
    assert np.isfinite(state.x).all()


def test_data_beyond_the_range_of_floats_is_a_breakdown():
    result = perp.solve(LCP(1e-300 * np.eye(2), [-1e300, -1e300]), Lemke())
    assert result.status is Status.BREAKDOWN
    assert "too large" in result.message


def test_rows_without_bounds_are_a_linear_system():
    A, b = [[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0]
    result = solved(BoxLCP(A, b, -np.inf, np.inf))
    np.testing.assert_allclose(result.x, np.linalg.solve(A, [-1.0, 2.0]), rtol=1e-14)
    assert result.iterations == 0


@pytest.mark.parametrize(("rank", "n"), [(2, 3), (0, 1)])
def test_singular_rows_without_bounds_break_down_and_the_rank_is_told(rank, n):
    J = RNG(1).standard_normal((n + 1, rank))
    lower = np.where(np.arange(n + 1) < n, -np.inf, 0.0)
    result = perp.solve(BoxLCP(J @ J.T, -np.ones(n + 1), lower, np.inf), Lemke())
    assert result.status is Status.BREAKDOWN
    assert f"a matrix of rank {rank}" in result.message
    assert np.isfinite(result.x).all()


def test_bounds_that_stand_for_infinity_cost_no_accuracy():
    example = perp.gallery.make("boxed_pd", n=40, one_sided=0.0)
    problem = example.problem
    lower, upper = np.maximum(problem.lower, -1e20), np.minimum(problem.upper, 1e20)
    np.testing.assert_allclose(solved(BoxLCP(problem.A, problem.b, lower, upper)).x, example.x, atol=1e-10)


def test_fixed_rows_are_left_out_and_their_slack_is_free():
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = solved(problem)
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-15)
    assert result.y[0] == pytest.approx(-4.75)


def test_all_forms_of_a_matrix_give_the_same_bits():
    rng = RNG(6)
    A, b = strategies.spd_matrix(rng, 9), rng.standard_normal(9)
    runs = [solved(LCP(strategies.explicit(A, form), b)).x for form in strategies.FORMS[:3]]
    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])


def test_too_large_a_problem_is_refused_before_a_dense_copy_is_made():
    with pytest.raises(MethodRefused, match="10000 rows"):
        perp.solve(perp.gallery.make("poisson_2d", n=10_201).problem, Lemke())


@pytest.mark.parametrize(
    ("covering", "error", "words"),
    [
        ("one", ValueError, "did you mean 'ones'"),
        (3.0, TypeError, "tuple"),
        ((1.0, 0.0), ValueError, r"covering\[1\] is 0.0"),
        ((1.0, np.inf), ValueError, r"covering\[1\] is inf"),
        ((1.0, "2"), TypeError, r"covering\[1\]"),
    ],
)
def test_a_covering_vector_that_makes_no_sense_is_refused(covering, error, words):
    with pytest.raises(error, match=words):
        Lemke(covering)


def test_a_covering_vector_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="3 numbers, and the problem has 2 rows"):
        perp.solve(LCP(np.eye(2), -np.ones(2)), Lemke((1.0, 1.0, 1.0)))


def test_equal_options_make_equal_methods():
    assert Lemke() == Lemke("ones") != Lemke("diagonal")
    assert hash(Lemke((1.0, 2.0))) == hash(Lemke((1.0, 2.0)))
