"""A few iterations of one method before another: both are named, both are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import box_lcps, contact_problems

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.solvers.method import Method, State
from perp.solvers.wrappers import WarmStarted, best_so_far, warm_started_by

WARM = warm_started_by(perp.PGS(), iterations=10)
PAIRS = [
    (perp.PGS(), perp.BlockPrincipal()),
    (perp.PGS(), perp.PSOR()),
    (perp.Jacobi(), perp.Lemke()),
    (perp.PSOR(order="random", seed=3), perp.SymmetricPSOR()),
    (perp.Lemke(), perp.PGS()),
]


@pytest.mark.parametrize(("starter", "method"), PAIRS, ids=lambda one: one.name)
def test_the_method_goes_on_where_the_starter_stopped(starter, method):
    problem = gallery.make("dense_pd", n=40, seed=1).problem
    before = perp.solve(problem, starter, tol=0.0, max_iterations=7, stop=perp.Stopping(keep="last"))
    alone = perp.solve(problem, method, x0=before.x, tol=1e-9)
    both = perp.solve(problem, warm_started_by(starter, iterations=7)(method), tol=1e-9)
    assert both.success
    np.testing.assert_allclose(both.x, alone.x, atol=1e-12)
    if method.name != "lemke":  # Lemke's first check is after ten pivots, of which seven are now sweeps
        assert (
            both.iterations - both.history.counters["warm_up_iterations"][-1] <= alone.iterations + method.check_every
        )


def test_both_are_named_and_counted():
    problem = gallery.make("fluid_like", n=200, seed=1).problem
    method = WARM(perp.PSOR())
    assert method.label == "warm_started_by(pgs, iterations=10)(psor)"
    result = perp.solve(problem, method, check_every=4, tol=1e-9)
    assert result.method == method.label
    assert result.success
    np.testing.assert_array_equal(result.history.counters["warm_up_iterations"][:5], [0, 4, 8, 10, 10])
    assert result.history.iteration[-1] == result.iterations > 10
    assert result.history.seconds[1] > 0.0


def test_the_path_is_that_of_the_two_one_after_the_other():
    problem = gallery.make("fluid_like", n=200, seed=1).problem
    seen = {}
    perp.solve(
        problem,
        WARM(perp.PSOR()),
        callback=lambda now: seen.update({now.iteration: now.x}),
        check_every=1,
        tol=0.0,
        max_iterations=15,
    )
    last = perp.Stopping(keep="last", tol=0.0)
    swept = perp.solve(problem, perp.PGS(), max_iterations=10, stop=last).x
    np.testing.assert_array_equal(seen[10], swept)
    np.testing.assert_array_equal(seen[15], perp.solve(problem, perp.PSOR(), x0=swept, max_iterations=5, stop=last).x)


@pytest.mark.parametrize(("starter", "method"), PAIRS, ids=lambda one: one.name)
def test_steps_of_two_and_three_are_a_step_of_five(starter, method):
    problem = gallery.make("boxed_pd", n=20, seed=4).problem
    if problem.kind not in starter.accepts & method.accepts:
        problem = gallery.make("dense_pd", n=20, seed=4).problem
    wrapped = warm_started_by(starter, iterations=3)(method)
    whole, parts = (wrapped.start(problem, problem.project(np.zeros(problem.n))) for _ in range(2))
    wrapped.step(problem, whole, 0)
    wrapped.step(problem, whole, 5)
    for count in (2, 0, 3):
        wrapped.step(problem, parts, count)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert whole.counters == parts.counters
    assert whole.ended == parts.ended
    assert whole.counters["warm_up_iterations"] <= 3.0


@given(contact_problems(), st.integers(0, 6))
def test_friction_problems_are_solved_as_well(problem, iterations):
    starter = warm_started_by(perp.Jacobi(), iterations=iterations)
    result = perp.solve(problem, starter(perp.PGS()), max_iterations=20_000)
    alone = perp.solve(problem, perp.PGS(), max_iterations=20_000)
    assert result.success or not alone.success
    assert np.isfinite(result.x).all()


@given(box_lcps())
def test_a_solution_found_in_the_warm_up_ends_the_solve(problem):
    result = perp.solve(problem, warm_started_by(perp.PGS(), iterations=100_000)(perp.BlockPrincipal()), check_every=5)
    assert result.success
    assert result.history.counters["warm_up_iterations"][-1] == result.iterations


def test_a_starter_that_ends_by_itself_hands_over_early():
    problem = gallery.make("dense_pd", n=30, seed=2).problem
    result = perp.solve(problem, warm_started_by(perp.BlockPrincipal(), iterations=500)(perp.PGS()), tol=0.0)
    used = result.history.counters["warm_up_iterations"][-1]
    assert 0 < used < 50
    assert result.iterations > used
    assert result.history.counters["warm_up_factorisations"][-1] > 0


def test_a_starter_that_rests_is_not_taken_for_the_end():
    still = perp.BoxLCP(np.eye(2), [-1.0, -1.0], [0.0, 0.0], [0.25, 4.0])
    result = perp.solve(still, warm_started_by(Resting(), iterations=30)(perp.PGS()), check_every=1)
    assert result.success
    assert result.history.counters["warm_up_iterations"][-1] == 30


@dataclass(frozen=True)
class Resting(Method):
    """Does nothing at all."""

    name: ClassVar[str] = "resting"
    family: ClassVar[str] = "wrappers"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "0"

    def start(self, problem, x):
        return State(x)

    def step(self, problem, state, count):
        pass


def test_divergence_of_either_is_told_with_a_finite_x():
    cyclic = gallery.make("pgs_divergent").problem
    diverging = perp.LCP([[1.0, 3.0], [3.0, 1.0]], [-1.0, -2.0])
    for method in (warm_started_by(perp.Jacobi(damping=1.0), iterations=5000)(perp.Lemke()), WARM(perp.PGS())):
        result = perp.solve(diverging, method, max_iterations=8000, check_every=1000)
        assert np.isfinite(result.x).all()
        assert result.success == (result.residual <= 1e-8)
    assert perp.solve(cyclic, WARM(perp.PGS()), check_every=1).status is perp.solve(cyclic, perp.PGS()).status


def test_numbers_that_are_not_finite_are_not_handed_over():
    method = warm_started_by(Overshooting(), iterations=600)(Particular())
    result = perp.solve(perp.LCP(np.eye(2), [-1.0, 1.0]), method, check_every=1000)
    assert result.status is Status.BREAKDOWN
    assert np.isfinite(result.x).all()


def test_what_a_starter_offers_is_what_is_handed_over():
    problem = perp.LCP(np.eye(2), [-1e-3, 1.0])
    method = warm_started_by(best_so_far(Overshooting()), iterations=3)(Resting())
    state = method.start(problem, np.zeros(2))
    method.step(problem, state, 4)
    np.testing.assert_array_equal(state.x, [0.0, 0.0])


@dataclass(frozen=True)
class Particular(Resting):
    def start(self, problem, x):
        assert np.isfinite(x).all()
        return State(x)


@dataclass(frozen=True)
class Overshooting(Resting):
    """Ten times as far each iteration, until there are no more numbers."""

    def step(self, problem, state, count):
        for _ in range(count):
            state.x = 10.0 * (state.x + 1.0)


def test_each_runs_on_the_rows_that_it_would_be_given_alone():
    scales = np.array([1e-12, 1.0, 1e12])
    A = scales[:, None] * np.array([[2.0, 0.5, 0.0], [0.5, 2.0, 0.5], [0.0, 0.5, 2.0]])
    b = scales * np.array([-1.0, -1.0, 1.0])
    problem = perp.LCP(A, b)
    assert not perp.PGS.scales_itself
    assert perp.BlockPrincipal.scales_itself
    alone = perp.solve(problem, perp.PGS(), max_iterations=7, tol=0.0).x
    for starter, method in ((perp.PGS(), perp.BlockPrincipal()), (perp.BlockPrincipal(), perp.PGS())):
        result = perp.solve(problem, warm_started_by(starter, iterations=7)(method))
        assert result.success
        np.testing.assert_allclose(result.x, perp.solve(problem, "lemke").x, rtol=1e-9)
    state = warm_started_by(perp.PGS(), iterations=7)(perp.BlockPrincipal()).start(problem, np.zeros(3))
    assert state.starter_problem is not problem
    assert state.method_problem is problem
    unscaled = warm_started_by(perp.PGS(), iterations=7)(perp.BlockPrincipal())
    unscaled.step(problem, state, 7)
    np.testing.assert_allclose(state.x, alone)
    assert perp.solve(problem, WARM(perp.PSOR())).notes == perp.solve(problem, perp.PSOR()).notes


@dataclass(frozen=True)
class Proving(Resting):
    """Ends with the vector of ones, which it holds for a proof on the rows that it was given."""

    def step(self, problem, state, count):
        if count:
            state.ended, state.certificate = (Status.RAY, "ones"), np.ones(problem.n)


@dataclass(frozen=True)
class Unscaled(Resting):
    scales_itself: ClassVar[bool] = True


def test_a_proof_of_infeasibility_belongs_to_the_callers_rows():
    scales = np.array([2.0**40, 1.0])
    problem = perp.LCP(scales[:, None] * np.array([[1.0, -1.0], [-1.0, 1.0]]), -scales)
    for starter in (Resting(), Unscaled()):
        result = perp.solve(problem, warm_started_by(starter, iterations=2)(Proving()))
        assert result.status is Status.INFEASIBLE
        np.testing.assert_array_equal(result.certificate.u, [2.0**-40, 1.0])


def test_a_proof_that_the_starter_found_is_not_lost():
    problem = perp.LCP(np.diag([1.0, 0.0]), [1.0, -1.0])
    gives_up = warm_started_by(perp.Lemke(), iterations=40)(GivingUp())
    assert perp.solve(problem, gives_up).status is Status.INFEASIBLE


@dataclass(frozen=True)
class GivingUp(Resting):
    def step(self, problem, state, count):
        if count:
            state.ended = Status.BREAKDOWN, "tired"


def test_the_refusal_says_which_of_the_two_refuses():
    zero_diagonal = perp.LCP([[0.0, 1.0], [1.0, 0.0]], [1.0, 1.0])
    with pytest.raises(MethodRefused, match="its starter pgs would refuse: it divides by the diagonal"):
        perp.solve(zero_diagonal, WARM(perp.Lemke()))
    with pytest.raises(MethodRefused, match="its method pgs would refuse"):
        perp.solve(zero_diagonal, warm_started_by(perp.Lemke())(perp.PGS()))
    with pytest.raises(MethodRefused, match="contact/cone"):
        perp.solve(gallery.make("box_stack", n=24, model="cone").problem, WARM(perp.BlockPrincipal()))


def test_a_cycle_of_the_method_is_still_found():
    cyclic = perp.LCP([[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]], [-1.0, -1.0, -1.0])
    alone = perp.solve(cyclic, perp.PGS(), check_every=1)
    warm = perp.solve(cyclic, warm_started_by(Resting(), iterations=3)(perp.PGS()), check_every=1)
    assert alone.status is warm.status is Status.CYCLING


def test_wrappers_nest_and_count_all_warm_ups():
    problem = gallery.make("fluid_like", n=100, seed=1).problem
    inner = warm_started_by(perp.Jacobi(), iterations=4)(perp.PSOR())
    result = perp.solve(problem, best_so_far(warm_started_by(perp.PGS(), iterations=6)(inner)), check_every=1)
    assert result.success
    assert result.history.counters["warm_up_iterations"][-1] == 10


def test_nothing_but_methods_and_counts_is_taken():
    with pytest.raises(TypeError, match=r"such as perp.PGS\(\)"):
        warm_started_by(perp.PGS)
    with pytest.raises(TypeError, match=r"such as perp.PGS\(\)"):
        WARM("fischer")
    with pytest.raises(ValueError, match="iterations is -1"):
        warm_started_by(perp.PGS(), iterations=-1)
    assert warm_started_by(perp.PGS())(perp.Lemke()) == WarmStarted(perp.PGS(), perp.Lemke(), 10)
