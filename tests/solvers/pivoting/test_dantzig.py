"""Baraff's incremental pivoting: index sets against a readable twin, invariants, singular matrices, proofs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.kernels.pivoting import dantzig as kernels
from perp.solvers.pivoting.dantzig import Dantzig, FrictionBounds
from perp.solvers.symmetry import symmetric_scales

ORDERS = ("most_violated", "least_index")


def pivots_of_twin(problem, order):
    """The kinds of the rows after every pivot of NOTES 5.1.1, for positive definite A and a cold start."""
    D = symmetric_scales(problem)
    A, b = problem.A.to_dense() * np.outer(D, D), problem.b * D
    lower, upper = (bound / D for bound in problem.bounds(np.zeros(problem.n)))
    x = np.clip(np.zeros(problem.n), lower, upper)
    kind = np.full(problem.n, kernels.UNPROCESSED)
    for j in np.flatnonzero(np.isinf(lower) & np.isinf(upper)):  # equations first, together
        kind[j] = kernels.FREE
        yield kind.copy()
    F = np.flatnonzero(kind == kernels.FREE)
    x[F] -= np.linalg.solve(A[np.ix_(F, F)], (A @ x + b)[F])
    while True:
        y = A @ x + b
        violated = (kind == kernels.UNPROCESSED) & np.where(y < 0, x < upper, x > lower) & (np.abs(y) > 1e-12)
        if not violated.any():
            return
        j = np.argmax(violated) if order == "least_index" else np.argmax(np.where(violated, np.abs(y), 0.0))
        sign = -np.sign(y[j])
        while kind[j] == kernels.UNPROCESSED:
            F = np.flatnonzero(kind == kernels.FREE)
            move = np.zeros(problem.n)
            move[F], move[j] = -sign * np.linalg.solve(A[np.ix_(F, F)], A[F, j]), sign
            rate = A @ move
            y = A @ x + b
            steps = np.full(problem.n, np.inf)
            for i in [*F, j]:
                if abs(move[i]) > 1e-13:
                    steps[i] = ((upper if move[i] > 0 else lower)[i] - x[i]) / move[i]
            for i in np.flatnonzero(kind == kernels.AT_LOWER):
                steps[i] = max(y[i], 0.0) / -rate[i] if rate[i] < -1e-13 else np.inf
            for i in np.flatnonzero(kind == kernels.AT_UPPER):
                steps[i] = max(-y[i], 0.0) / rate[i] if rate[i] > 1e-13 else np.inf
            to_zero = -y[j] / rate[j]
            q = np.argmin(steps)
            x += min(steps[q], to_zero) * move
            if to_zero < steps[q]:
                kind[j] = kernels.FREE
            elif kind[q] in (kernels.AT_LOWER, kernels.AT_UPPER):
                kind[q] = kernels.FREE
            else:
                kind[q] = kernels.AT_UPPER if move[q] > 0 else kernels.AT_LOWER
                x[q] = (upper if move[q] > 0 else lower)[q]
            yield kind.copy()


def after_every_pivot(problem, method, x0=None):
    """The state after each single pivot, until the method ends."""
    state = method.start(problem, problem.project(np.zeros(problem.n) if x0 is None else x0))
    while True:
        method.step(problem, state, 1)
        if state.ended is not None:
            return
        yield state


@pytest.mark.parametrize("order", ORDERS)
@given(problem=st.one_of(strategies.lcps(), strategies.box_lcps()))
def test_the_index_sets_are_those_of_the_twin_pivot_by_pivot(order, problem):
    ours = [np.where(s.tableau.kind == 1, 0, s.tableau.kind) for s in after_every_pivot(problem, Dantzig(order))]
    np.testing.assert_array_equal(ours, list(pivots_of_twin(problem, order)))


@pytest.mark.parametrize("order", ORDERS)
@given(problem=st.one_of(strategies.lcps(), strategies.box_lcps()), seed=strategies.SEEDS)
def test_processed_rows_are_complementary_after_every_pivot_and_x_stays_within_its_bounds(order, problem, seed):
    x0 = np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2)
    for state in after_every_pivot(problem, Dantzig(order), x0):
        t = state.tableau
        assert (state.x >= problem.bounds(state.x)[0]).all()
        assert (state.x <= problem.bounds(state.x)[1]).all()
        if t.cursor[kernels.PHASE] != kernels.DRIVING:  # a warm start has not begun to pivot yet
            continue
        y = problem.slack(state.x)
        np.testing.assert_allclose(y[t.kind == kernels.FREE], 0.0, atol=1e-9)
        assert (y[t.kind == kernels.AT_LOWER] >= -1e-9).all()
        assert (y[t.kind == kernels.AT_UPPER] <= 1e-9).all()
        np.testing.assert_array_equal(t.x[t.kind == kernels.AT_LOWER], t.lower[t.kind == kernels.AT_LOWER])
        np.testing.assert_array_equal(t.x[t.kind == kernels.AT_UPPER], t.upper[t.kind == kernels.AT_UPPER])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "fluid_like", "poisson_2d", "fathi"])
def test_the_planted_solution_is_found_to_rounding(order, kind):
    example = gallery.make(kind, n=100 if kind != "fathi" else 8)
    result = perp.solve(example.problem, Dantzig(order), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-9)
    assert result.iterations < 5 * example.problem.n


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["degenerate", "redundant_contacts", "dense_psd", "hilbert", "boxed_stack"])
def test_degenerate_and_singular_problems_are_solved(order, kind):
    example = gallery.make(kind, n=12)
    result = perp.solve(example.problem, Dantzig(order))
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-7)


def test_row_41_four_legs_carry_one_weight():
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), Dantzig())
    assert result.status is Status.CONVERGED
    assert result.x.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["infeasible_psd", "closed_fluid", "infeasible"])
def test_an_infeasible_problem_comes_with_a_proof(order, kind):
    problem = gallery.make(kind).problem
    result = perp.solve(problem, Dantzig(order))
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate.u).valid


@pytest.mark.parametrize("seed", range(10))
def test_the_proof_is_found_also_where_x_grows_beyond_all_bounds_on_the_way_to_it(seed):
    problem = gallery.make("infeasible_psd", n=150, seed=seed).problem
    assert perp.solve(problem, Dantzig()).status is Status.INFEASIBLE


def test_a_singular_system_of_equations_is_solved_if_it_can_be_and_refuted_if_not():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    free = {"lower": -np.inf, "upper": np.inf}
    solvable = perp.solve(BoxLCP(A, [1.0, 2.0], **free), Dantzig())
    assert solvable.success
    assert solvable.history.counters["dependent_rows"][-1] == 1
    contradictory = perp.solve(BoxLCP(A, [1.0, 3.0], **free), Dantzig())
    assert contradictory.status is Status.INFEASIBLE


def random_semidefinite(seed):
    """J J^T of deficient rank, 0 to 60 per cent, with rows that are copies of others; half of them surely solvable."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 41))
    J = rng.standard_normal((n, max(1, round(n * (1 - rng.uniform(0, 0.6))))))
    copies = rng.random(n) < 0.3
    J[copies] = J[rng.integers(0, n, copies.sum())]
    A = J @ J.T
    if seed % 4 == 0:
        x = np.where(rng.random(n) < 0.5, rng.exponential(size=n), 0.0)
        y = np.where((x == 0) & (rng.random(n) < 0.7), rng.exponential(size=n), 0.0)
        return perp.LCP(A, y - A @ x)
    if seed % 4 == 1:
        lower = rng.choice([-np.inf, -1.0, 0.0, 0.5], n)
        width = rng.choice([0.0, 1.0, 10.0, np.inf], n)
        upper = np.where(np.isinf(lower), rng.choice([0.0, 1.0, np.inf], n), np.maximum(lower, -1.0) + width)
        x = np.clip(rng.standard_normal(n), lower, upper)
        y = np.select([x == lower, x == upper], [rng.exponential(size=n), -rng.exponential(size=n)])
        return BoxLCP(A, y - A @ x, lower, upper)
    if seed % 4 == 2:
        return perp.LCP(A, J @ rng.standard_normal(J.shape[1]))
    return perp.LCP(A, rng.standard_normal(n))


@pytest.mark.parametrize("order", ORDERS)
def test_two_hundred_semidefinite_problems_are_solved_or_proved_infeasible(order):
    ends = Counter()
    for seed in range(200):
        problem = random_semidefinite(seed)
        result = perp.solve(problem, Dantzig(order))
        assert np.isfinite(result.x).all()
        assert result.success == (perp.verify(problem, result.x).residual <= 1e-8)
        assert result.success or seed % 4 == 3
        ends[result.status] += 1
    assert set(ends) == {Status.CONVERGED, Status.INFEASIBLE}


@pytest.mark.parametrize(
    ("A", "b"), [([[2.0, 1.0], [1.0, -1.0]], [2.0, -2.0]), ([[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0])]
)
def test_an_indefinite_matrix_is_a_breakdown_and_no_proof(A, b):
    result = perp.solve(perp.LCP(A, b), Dantzig())
    assert result.status is Status.BREAKDOWN
    assert "not positive semi-definite" in result.message


def test_row_57_an_asymmetric_matrix_is_refused_with_its_asymmetry():
    with pytest.raises(MethodRefused, match=r"symmetric.*is 0\.5"):
        perp.solve(perp.LCP([[2.0, 1.0], [0.0, 2.0]], [-1.0, -1.0]), Dantzig())


def test_a_matrix_too_large_to_be_held_in_full_is_refused():
    with pytest.raises(MethodRefused, match="full matrix"):
        perp.solve(perp.LCP(perp.StencilOperator((200, 200), 4.0), -np.ones(40_000)), Dantzig())


def test_an_unknown_order_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="least_index"):
        Dantzig(order="least_indx")


@pytest.mark.parametrize(("a", "b"), [(a, b) for a in (0, 1) for b in (-1, 0, 1)])
def test_rows_13_to_18_of_the_table_of_signs(a, b):
    example = gallery.make("sign_table", a=a, b=b)
    result = perp.solve(example.problem, Dantzig())
    if example.expected == "infeasible":
        assert result.status is Status.INFEASIBLE
    else:
        assert result.success
        np.testing.assert_array_equal(result.x, example.x)


def test_row_8_fixed_rows_are_never_processed():
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, Dantzig())
    np.testing.assert_allclose(result.x, [0.5, -0.75])
    assert result.history.counters["processed"][-1] == 1


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_extreme_factors_change_nothing(factor):
    example = gallery.make("dense_pd", n=30)
    A, b = example.problem.A.to_dense(), example.problem.b
    result = perp.solve(perp.LCP(A * factor, b * factor), Dantzig())
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-10)


def test_row_53_rows_of_very_different_size_change_nothing():
    example = gallery.make("dense_pd", n=30)
    D = np.where(np.arange(30) % 2, 1e-6, 1e6)
    problem = perp.LCP(example.problem.A.to_dense() * np.outer(D, D), example.problem.b * D)
    np.testing.assert_allclose(perp.solve(problem, Dantzig()).x * D, example.x, atol=1e-9)


@pytest.mark.parametrize("model", [{}, {"load": "gravity"}, {"load": "gravity", "layout": "tower"}, {"friction": 0.9}])
def test_a_small_stack_with_friction_is_solved(model):
    example = gallery.make("box_stack", n=48, **model)
    result = perp.solve(example.problem, Dantzig(), tol=1e-8)
    assert result.success
    assert result.history.counters["bound_updates"][-1] > 0
    if example.x is not None:
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_without_friction_the_bounds_need_no_update():
    problem = gallery.make("box_stack", n=48, friction=0.0).problem
    result = perp.solve(problem, Dantzig())
    assert result.success
    assert result.history.counters["bound_updates"][-1] == 0


def test_friction_bounds_that_come_again_are_told_as_cycling(monkeypatch):
    def swing(self, wanted):
        self.limit = np.where(self.limit == 0.0, 0.1, 0.0)
        return True

    monkeypatch.setattr(FrictionBounds, "follow", swing)
    result = perp.solve(gallery.make("box_stack", n=48).problem, Dantzig())
    assert result.status is Status.CYCLING


@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "boxed_stack", "box_stack"])
def test_a_warm_start_near_the_solution_takes_hardly_more_pivots_than_there_are_free_rows(kind):
    example = gallery.make(kind, n=96)
    nearby = example.problem.project(example.x * (1 + 1e-3 * np.sin(np.arange(example.x.size))))
    result = perp.solve(example.problem, Dantzig(), x0=nearby)
    assert result.success
    assert result.history.counters["pivots"][-1] < 1.2 * np.count_nonzero(nearby) + 20


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("far", [1e6, 1e18, 1e300])
def test_a_start_far_away_costs_no_digits(order, far):
    small = perp.LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0])
    assert perp.solve(small, Dantzig(order), x0=[far, 1.0], tol=1e-14).success
    rng = np.random.default_rng(5)
    problem = perp.LCP(strategies.spd_matrix(rng, 12), rng.standard_normal(12))
    result = perp.solve(problem, Dantzig(order), x0=np.full(12, far), tol=1e-13)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.x, perp.solve(problem, Dantzig(order)).x, atol=1e-12)


def test_a_far_start_of_an_infeasible_problem_still_ends_with_a_proof():
    problem = gallery.make("infeasible_psd").problem
    assert perp.solve(problem, Dantzig(), x0=np.full(problem.n, 1e18)).status is Status.INFEASIBLE


@pytest.mark.parametrize("kind", ["dense_pd", "infeasible_psd", "boxed_stack", "box_stack"])
def test_two_pivots_and_three_are_five_bit_for_bit(kind):
    problem, method = gallery.make(kind, n=96).problem, Dantzig()
    one, other = (method.start(problem, problem.project(np.full(problem.n, 0.01))) for _ in range(2))
    while one.ended is None:
        method.step(problem, one, 5)
        for count in (0, 2, 3):
            method.step(problem, other, count)
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.tableau.kind, other.tableau.kind)
        assert one.counters == other.counters
    assert other.ended == one.ended


def test_iterations_count_the_pivots_and_what_was_not_needed_is_given_back():
    problem = gallery.make("dense_pd", n=40).problem
    method = Dantzig()
    state = method.start(problem, np.zeros(40))
    method.step(problem, state, 1000)
    assert state.ended is not None
    assert 1000 - state.unused == state.counters["pivots"] == perp.solve(problem, method).iterations


def test_a_factor_that_has_lost_its_digits_is_made_anew():
    problem = gallery.make("dense_pd", n=60).problem
    method = Dantzig()
    state = method.start(problem, np.zeros(60))
    method.step(problem, state, 20)
    state.tableau.factor[1] += 0.3
    state.tableau.cursor[kernels.FACTOR_AGE] = 1
    method.step(problem, state, 1000)
    assert perp.verify(problem, state.x).residual < 1e-12


def test_every_kernel_has_one_signature():
    for problem in (gallery.make("dense_pd", n=20).problem, gallery.make("box_stack", n=48).problem):
        for order in ORDERS:
            perp.solve(problem, Dantzig(order))
    for kernel in (kernels.pivot_on, kernels.follow_bounds):
        assert len(kernel.signatures) == 1
