"""The one loop: limits, guards, criteria, callbacks, interruption, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import strategies
from hypothesis import given

import perp
from perp import Status
from perp.problems import deadline
from perp.solvers.loop import FIRST_LOOK_AHEAD, SolveInterrupted
from perp.solvers.method import Method, State


@dataclass(frozen=True)
class Scripted(Method):
    """A method that goes where it is told: iterate k is script[k], and the last one for ever after."""

    script: tuple[tuple[float, ...], ...]
    ends: tuple[Status, str] | None = None

    name: ClassVar[str] = "scripted"
    family: ClassVar[str] = "test"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def start(self, problem, x):
        return ScriptedState(x)

    def step(self, problem, state, count):
        for _ in range(count):
            state.x[:] = self.script[min(state.k, len(self.script) - 1)]
            state.k += 1
        if state.k >= len(self.script):
            state.ended = self.ends


@dataclass
class ScriptedState(State):
    k: int = 0


PROBLEM = perp.LCP(np.eye(2), [-1.0, -1.0])  # solved by (1, 1); the residual of (a, b) is max(|1 - a|, |1 - b|)


def run(*points, ends=None, **arguments):
    return perp.solve(PROBLEM, Scripted(tuple((float(p), float(p)) for p in points), ends), **arguments)


def slow_problem():
    """Gauss-Seidel needs many sweeps here."""
    return perp.LCP(2.02 * np.eye(60) - np.eye(60, k=1) - np.eye(60, k=-1), -np.ones(60))


def test_a_method_that_converges_in_the_last_allowed_iteration_has_converged():
    assert run(3, 2, 1, max_iterations=3).status is Status.CONVERGED
    assert run(3, 2, 1, max_iterations=2).status is Status.ITERATION_LIMIT


def test_a_failed_solve_returns_the_best_iterate_and_on_request_the_last():
    best = run(1.5, 3, 2, 4, max_iterations=4)
    assert best.x[0] == 1.5
    assert best.best_iteration == 1
    assert best.iterations == 4
    assert best.residual == 0.5
    last = run(1.5, 3, 2, 4, max_iterations=4, stop=perp.Stopping(keep="last"))
    assert last.x[0] == 4.0
    assert last.best_iteration == 4
    assert last.residual == 3.0


def test_an_iterate_that_stays_where_it_is_has_stagnated():
    result = run(3, 2, 2, 2)
    assert result.status is Status.STAGNATED
    assert not result.success


def test_an_iteration_that_comes_back_is_cycling_whatever_the_distance_between_checks():
    for every in (1, 2, 3, 4, 6):
        points = [2 + k % 3 for k in range(400)]
        assert run(*points, check_every=every, max_iterations=400).status is Status.CYCLING


def test_stagnation_can_be_asked_for_at_a_coarser_level():
    points = [2 + 2.0**-k for k in range(60)]
    assert run(*points, stop=perp.Stopping(stagnation=1e-3)).iterations < 15


def test_the_relative_criterion_is_its_own_status_and_no_success():
    points = [2 + 2.0**-k for k in range(60)]
    result = run(*points, stop=perp.Stopping(relative=1e-3))
    assert result.status is Status.RELATIVE
    assert not result.success


def test_an_unchanged_active_set_can_stop_the_loop():
    points = [2 + 2.0**-k for k in range(60)]
    result = run(*points, stop=perp.Stopping(unchanged_checks=3))
    assert result.status is Status.ACTIVE_SET_UNCHANGED
    assert result.iterations == 4  # the set changes with the first step, then stays for three checks


@pytest.mark.parametrize(("rate", "succeeds"), [(0.5, True), (0.9, True), (0.999, False), (1.0 - 1e-9, False)])
def test_a_rate_that_the_limit_leaves_no_time_for_can_end_the_loop(rate, succeeds):
    """At most 300 iterations for 1e-8: rates of 0.94 and below suffice."""
    points = [1.0 + rate**k for k in range(400)]
    plain = run(*points, check_every=1, max_iterations=300)
    early = run(*points, check_every=1, max_iterations=300, stop=perp.Stopping(extrapolate=True))
    assert plain.success is early.success is succeeds
    if succeeds:
        assert early.iterations == plain.iterations
    else:
        assert early.status is plain.status is Status.ITERATION_LIMIT
        assert early.iterations == FIRST_LOOK_AHEAD
        assert "rate" in early.message


def test_an_extrapolation_goes_by_the_last_half_of_the_iterations():
    points = [2.0] * 12 + [1.0 + 0.5**k for k in range(1, 60)]
    assert not run(*points, check_every=1, max_iterations=60, stop=perp.Stopping(extrapolate=True)).success
    points = [1.0 + 0.99**k for k in range(4)] + [1.0 + 0.5**k for k in range(1, 60)]
    assert run(*points, check_every=1, max_iterations=60, stop=perp.Stopping(extrapolate=True)).success


def test_the_tolerance_is_judged_before_every_other_criterion():
    assert run(1.1, 1, 1, stop=perp.Stopping(relative=0.9, unchanged_checks=1)).status is Status.CONVERGED


@pytest.mark.parametrize("status", [Status.LOCAL_MINIMUM, Status.NON_DESCENT, Status.RAY, Status.BREAKDOWN])
def test_a_method_can_end_its_own_run_and_say_why(status):
    result = run(4, 3, 1.5, ends=(status, "because"))
    assert result.status is status
    assert "because" in result.message
    assert result.x[0] == 1.5


def test_a_method_that_ends_itself_at_a_solution_has_converged():
    assert run(2, 1, ends=(Status.LOCAL_MINIMUM, "so it thought")).status is Status.CONVERGED


def test_numbers_that_are_not_finite_break_the_loop_down_at_their_iteration():
    result = run(2, 3, 4, np.nan, check_every=10)
    assert result.status is Status.BREAKDOWN
    assert result.iterations == 4
    assert np.isfinite(result.x).all()
    assert "iteration 4" in result.message


def test_a_start_whose_slack_overflows_is_told_as_non_finite():
    result = perp.solve(perp.LCP(np.full((2, 2), 1e4), np.zeros(2)), "pgs", x0=np.full(2, 1e306))
    assert result.status is Status.NON_FINITE
    assert np.isfinite(result.x).all()


def test_the_history_has_a_line_a_check_with_the_start_first():
    result = perp.solve(slow_problem(), "pgs", max_iterations=95, tol=0.0)
    np.testing.assert_array_equal(result.history.iteration, [*range(0, 100, 10)[:10], 95])
    assert len(result.history) == 11
    assert (np.diff(result.history.seconds) >= 0).all()
    assert result.history.residual[0] == perp.verify(slow_problem(), np.zeros(60)).residual
    assert result.history.merit[0] == pytest.approx(perp.verify(slow_problem(), np.zeros(60)).fischer)
    assert result.history.residual[-1] == result.residual
    assert result.history.active[-1] == np.count_nonzero(result.x > 0)


@given(strategies.contact_problems())
def test_the_width_of_a_step_does_not_change_a_bit(problem):
    for method in (perp.PGS(), perp.PSOR(order="random"), perp.SymmetricPSOR(), perp.Jacobi()):
        once, split = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
        method.step(problem, once, 5)
        method.step(problem, split, 2)
        method.step(problem, split, 3)
        np.testing.assert_array_equal(once.x, split.x)


def test_the_same_input_gives_the_same_bits_however_often_it_is_checked():
    runs = [perp.solve(slow_problem(), "psor", check_every=every, max_iterations=60, tol=0.0) for every in (1, 7, 60)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.x, runs[0].x)


def test_a_callback_sees_every_check_and_its_x_is_a_copy():
    seen = []

    def spoil(progress):
        seen.append((progress.iteration, progress.residual))
        progress.x[:] = np.nan

    result = perp.solve(slow_problem(), "pgs", callback=spoil)
    assert result.success
    np.testing.assert_array_equal([iteration for iteration, _ in seen], result.history.iteration)
    np.testing.assert_array_equal([residual for _, residual in seen], result.history.residual)


def test_stop_iteration_in_a_callback_stops_the_solve():
    def enough(progress):
        if progress.iteration >= 20:
            raise StopIteration("that is enough")

    result = perp.solve(slow_problem(), "pgs", callback=enough)
    assert result.status is Status.STOPPED_BY_CALLBACK
    assert result.iterations == 20
    assert "that is enough" in result.message


def test_another_exception_in_a_callback_propagates_and_leaves_everything_usable():
    problem, method = slow_problem(), perp.PGS()

    def fail(progress):
        raise LookupError("my own")

    with pytest.raises(LookupError, match="my own"):
        perp.solve(problem, method, callback=fail)
    assert perp.solve(problem, method).success


def test_a_callback_may_solve_again():
    inner = []
    result = perp.solve(slow_problem(), "pgs", callback=lambda _: inner.append(perp.solve(PROBLEM, "pgs").success))
    assert result.success
    assert all(inner)


def test_an_interruption_propagates_with_what_was_reached():
    def interrupt(progress):
        if progress.iteration == 30:
            raise KeyboardInterrupt

    problem = slow_problem()
    with pytest.raises(KeyboardInterrupt) as caught:
        perp.solve(problem, "pgs", callback=interrupt)
    assert isinstance(caught.value, SolveInterrupted)
    partial = caught.value.partial_result
    assert partial.status is Status.INTERRUPTED
    assert partial.iterations == 30
    assert partial.residual == perp.verify(problem, partial.x).residual
    assert perp.solve(problem, "pgs").success


def test_a_time_limit_acts_between_the_sweeps_of_a_large_problem():
    n = 200_000
    problem = perp.LCP(perp.StencilOperator((n,), 2.0), np.where(np.arange(n) % 2, 1.0, -2.0))
    perp.solve(problem, "pgs", max_iterations=1)
    result = perp.solve(problem, "pgs", max_seconds=0.2, tol=0.0, max_iterations=10**6, check_every=10**6)
    assert result.status is Status.TIME_LIMIT
    assert 0 < result.iterations < 10**6


@dataclass(frozen=True)
class Ticking(Method):
    """Moves on for ever at a pace of its own: `seconds` says how long the iterations after the k-th take."""

    clock: list[float]
    widths: list[int]
    seconds: Callable[[int], float]

    name: ClassVar[str] = "ticking"
    family: ClassVar[str] = "test"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def start(self, problem, x):
        return State(x)

    def step(self, problem, state, count):
        for _ in range(count):
            state.x += 1.0
            self.clock[0] += self.seconds(int(state.x[0]))
        if count:
            self.widths.append(count)


def widths_at(seconds, monkeypatch, **arguments):
    """How many iterations each step is asked for, by a clock that only the method moves."""
    clock, widths = [0.0], []
    monkeypatch.setattr(deadline, "perf_counter", lambda: clock[0])
    result = perp.solve(PROBLEM, Ticking(clock, widths, seconds), tol=0.0, check_every=10**6, **arguments)
    return widths, clock[0], result


def test_a_short_first_step_makes_the_next_one_wide(monkeypatch):
    widths, _, _ = widths_at(lambda _: 3e-6, monkeypatch, max_iterations=200)
    assert widths == [10, 190]


def test_no_step_takes_long_at_the_pace_of_the_one_before(monkeypatch):
    widths, _, _ = widths_at(lambda _: 1e-3, monkeypatch, max_iterations=200)
    assert widths[0] == 10
    assert max(widths[1:]) <= 20  # 0.02 s


@pytest.mark.parametrize("slower", [1.0, 10.0])
def test_a_time_limit_is_kept_where_iterations_become_slower(slower, monkeypatch):
    widths, ended, result = widths_at(
        lambda k: 5e-6 if k <= 10 else slower * 5e-6, monkeypatch, max_seconds=0.1, max_iterations=10**7
    )
    assert result.status is Status.TIME_LIMIT
    assert ended <= 0.1 + 0.05
    assert len(widths) > 3


def test_method_time_excludes_monitoring_and_callbacks():
    import time

    slow = perp.solve(slow_problem(), "pgs", callback=lambda _: time.sleep(0.05), max_iterations=50, tol=0.0)
    assert slow.seconds < 6 * 0.05  # six checks slept that long


def test_a_result_tells_what_ran_and_shows_it():
    result = perp.solve(slow_problem(), "psor")
    assert result.method == "psor"
    assert [attempt.method for attempt in result.methods] == ["psor"]
    assert "CONVERGED" in repr(result)
    assert result.verify().residual == result.residual


@pytest.mark.parametrize(
    "arguments", [{"tol": "1e-8"}, {"max_iterations": 1.5}, {"max_iterations": "9"}, {"check_every": True}]
)
def test_criteria_of_the_wrong_type_are_refused_by_name(arguments):
    with pytest.raises(TypeError, match=next(iter(arguments))):
        perp.Stopping(**arguments)


def test_numpy_integers_are_integers():
    assert perp.Stopping(max_iterations=np.int64(5)).max_iterations == 5


def test_a_callback_that_stops_at_a_solution_has_converged():
    def enough(progress):
        if progress.residual <= 1e-8:
            raise StopIteration

    assert perp.solve(slow_problem(), "pgs", callback=enough).status is Status.CONVERGED


def test_iterations_never_exceed_their_limit():
    problem = perp.LCP([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], -np.ones(3))
    for limit in (29, 30, 31):
        assert perp.solve(problem, "pgs", max_iterations=limit).iterations <= limit


def test_a_random_order_that_comes_back_by_chance_is_not_cycling():
    problem = perp.LCP([[1.0, -1.0, 1.0], [2.0, 1.0, -1.0], [2.0, 1.0, 1.0]], [-1.0, 1.0, -2.0])
    assert perp.solve(problem, perp.PGS(order="random", seed=0), check_every=1).success


def test_a_velocity_that_was_spoilt_by_a_huge_start_is_computed_anew():
    example = perp.gallery.make("box_stack", n=96)
    x0 = np.zeros(example.problem.n)
    x0[example.problem.normal_rows] = 1e12
    dense = perp.ContactProblem(example.problem.A.to_dense(), example.problem.b, example.problem.friction)
    for problem in (example.problem, dense):
        assert perp.solve(problem, "pgs", x0=x0, max_iterations=100_000).success


@pytest.mark.parametrize("every", [1, 10, 100])
def test_a_standstill_that_a_spoilt_velocity_feigns_is_seen_through(every):
    problem = perp.LCP(perp.FactoredOperator([[0.3, 0.7]], [1.0, 3.0]), [-1.0])
    assert perp.solve(problem, "pgs", x0=[1e12], check_every=every).success


def test_one_huge_row_does_not_make_the_others_look_still():
    n = 60
    A = np.eye(n + 1)
    A[1:, 1:] = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = perp.LCP(A, np.concatenate([[-1e9], np.full(n, -1e-5)]))
    assert perp.solve(problem, "pgs", max_iterations=10**5).success


def test_a_coarse_stagnation_criterion_is_never_called_a_cycle():
    problem = perp.BoxLCP([[1.0, 0.9999], [0.9999, 1.0]], [-1.0, -1.0], -np.inf, np.inf)
    for level in (1e-2, 1e-3):
        stop = perp.Stopping(stagnation=level, max_iterations=10**5)
        assert perp.solve(problem, perp.Jacobi(damping=1.0), stop=stop).status is Status.STAGNATED


@pytest.mark.parametrize("method", [perp.Jacobi(), perp.PGS(order="random"), perp.SymmetricPSOR()])
def test_a_time_limit_acts_within_a_check_of_many_python_iterations(method):
    perp.solve(slow_problem(), method, max_iterations=1)
    result = perp.solve(slow_problem(), method, tol=0.0, check_every=10**7, max_seconds=0.1)
    assert result.status is Status.TIME_LIMIT
    assert result.iterations < 10**6


def test_tolerance_zero_ends_on_a_cone_problem_whose_last_bits_never_settle():
    problem = perp.gallery.make("box_stack", n=48, model="cone").problem
    result = perp.solve(problem, "pgs", tol=0.0, max_iterations=10**6)
    assert result.status is Status.STAGNATED
    assert result.residual < 1e-12


def test_a_time_limit_alone_lifts_the_limit_of_iterations():
    result = perp.solve(slow_problem(), "pgs", max_seconds=30.0, tol=1e-12)
    assert result.success
    assert result.iterations > 1000


def test_a_result_can_start_the_next_solve_and_be_verified():
    problem = slow_problem()
    result = perp.solve(problem, "pgs")
    assert perp.solve(problem, "psor", x0=result).iterations == 0
    assert perp.verify(problem, result).residual == result.residual


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_iterations": -1}, "max_iterations"),
        ({"check_every": 0}, "check_every"),
        ({"max_seconds": -1.0}, "max_seconds"),
        ({"relative": 0.0}, "relative"),
        ({"stagnation": np.nan}, "stagnation"),
        ({"unchanged_checks": 0}, "unchanged_checks"),
        ({"keep": "bset"}, "did you mean 'best'"),
    ],
)
def test_criteria_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        perp.Stopping(**arguments)
