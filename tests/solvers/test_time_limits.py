"""Time limits: no work is begun that is predicted to end too late, loops look at the clock, answers say TIME_LIMIT.

Clocks here are counters that only the work under test moves, so that nothing depends on how busy a machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pytest
from scipy import sparse

import perp
from perp import Status
from perp.linalg import krylov
from perp.linalg.cholesky import SparseCholesky
from perp.linalg.free_systems import choose_system
from perp.linalg.free_systems.block_rows import BlockDiagonal, choose_block_system
from perp.linalg.multigrid import algebraic
from perp.linalg.paces import ANALYSIS, BASES, CONIC, DENSE, SUPERLU, SUPERNODAL
from perp.problems import deadline as deadlines
from perp.problems.certificates import sharpening
from perp.problems.deadline import NEVER, OutOfTime, Pace, deadline, hold, lift, watched
from perp.problems.operators.base import FILLING
from perp.solvers.auto import contact_starts
from perp.solvers.islands import results as island_turns
from perp.solvers.method import Method, State, misfit
from perp.solvers.newton.cone.state import ConeSweeps
from perp.solvers.no_solution import program as no_solution_program
from perp.solvers.no_solution import program as no_solution_projection
from perp.solvers.no_solution import search as no_solution
from perp.solvers.no_solution.search import search_no_solution
from perp.solvers.polishing.polish import polish
from perp.solvers.reformulation import quadratic_program
from perp.solvers.roster import default_methods

SLOW = 1.0
"""Operations a second at which nothing ends in time."""


ALL_PACES = (
    *(ANALYSIS, BASES, CONIC, DENSE, SUPERLU, SUPERNODAL, FILLING),
    *(sharpening.SINGULAR_VALUES, no_solution_projection.ELIMINATION, no_solution.FORMING),
    *(no_solution_program.ASSEMBLY, no_solution_program.OVERHEAD),
    *(contact_starts.RESTATING, island_turns.SPLITTING, algebraic.SETUP, quadratic_program.BACKEND),
)


@dataclass
class Clock:
    """Stands still until somebody moves it."""

    time: float = 0.0
    tick: float = 0.0
    """What a reading itself takes."""

    def __call__(self) -> float:
        self.time += self.tick
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(deadlines, "perf_counter", made)
    return made


@pytest.fixture(autouse=True)
def learnt_paces_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learnt by a clock that somebody moves must not guide later tests."""
    for pace in ALL_PACES:
        monkeypatch.setattr(pace, "rate", pace.rate)


@pytest.fixture
def slow_paces(monkeypatch: pytest.MonkeyPatch) -> None:
    """All work that is predicted by operations is predicted to take for ever."""
    for pace in ALL_PACES:
        monkeypatch.setattr(pace, "rate", SLOW)
        monkeypatch.setattr(pace, "guess", SLOW)


def test_without_a_limit_everything_is_allowed():
    assert deadline() is NEVER
    assert deadline().left == inf
    assert deadline().allows(1e300)
    deadline().require(1e300)


def test_a_deadline_allows_what_ends_before_it_and_refuses_what_does_not(clock):
    with hold(10.0) as held:
        clock.time = 7.0
        assert held.left == 3.0
        assert held.allows(2.9)
        assert not held.allows(3.0)
        with pytest.raises(OutOfTime):
            held.require(3.0)
        clock.time = 10.0
        assert not held.allows(0.0)


def test_of_nested_deadlines_the_earliest_holds_and_the_outer_one_comes_back(clock):
    with hold(10.0):
        with hold(20.0):
            assert deadline().at == 10.0
        with hold(5.0):
            assert deadline().at == 5.0
        assert deadline().at == 10.0
    assert deadline() is NEVER


def test_a_deadline_ends_with_its_block_whatever_is_raised(clock):
    with pytest.raises(KeyError), hold(1.0):
        raise KeyError
    assert deadline() is NEVER


def test_code_of_the_caller_has_no_deadline(clock):
    with hold(1.0):
        with lift():
            assert deadline() is NEVER
        assert deadline().at == 1.0


def test_work_is_begun_where_it_fits_and_not_where_it_does_not(clock):
    pace = Pace(100.0)
    with hold(10.0):
        with pace.work(500.0):  # 5 s
            clock.time += 5.0
        with pytest.raises(OutOfTime), pace.work(600.0):
            pytest.fail("it was begun")
    assert clock.time == 5.0


def test_a_pace_learns_what_was_measured(clock):
    pace = Pace(100.0)
    for _ in range(60):
        with pace.work(1000.0):
            clock.time += 40.0  # 25 operations a second
    assert pace.rate == pytest.approx(25.0)


def test_one_measurement_changes_a_pace_by_a_factor_of_four_at_most():
    pace = Pace(100.0)
    pace.learn(1e3, 1e9)
    assert pace.rate == pytest.approx(25.0)


@pytest.mark.parametrize(("operations", "seconds"), [(1000.0, 1e-6), (1e-3, 1.0), (0.0, 1.0)])
def test_work_of_no_length_or_no_size_teaches_nothing(operations, seconds):
    pace = Pace(100.0)
    pace.learn(operations, seconds)
    assert pace.rate == 100.0


def test_a_pace_of_one_factor_teaches_those_of_its_kind():
    kind = Pace(100.0)
    one, same = Pace(kind), Pace(kind)
    one.learn(1e4, 400.0)
    assert kind.rate == one.rate == pytest.approx(50.0)
    assert same.rate == 100.0
    assert Pace(kind).rate == kind.rate


def test_work_that_fails_teaches_nothing(clock):
    def fail():
        with pace.work(1000.0):
            clock.time += 1000.0
            raise ArithmeticError

    pace = Pace(100.0)
    with pytest.raises(ArithmeticError):
        fail()
    assert pace.rate == 100.0


def test_a_pace_that_refuses_goes_back_to_its_guess(clock):
    pace = Pace(100.0)
    pace.rate = 1.0
    with hold(1.0):
        for _ in range(40):
            with pytest.raises(OutOfTime):
                pace.require(1000.0)
    assert pace.rate == pytest.approx(100.0)


def test_a_pace_that_proved_quicker_than_its_guess_is_kept_where_work_is_refused(clock):
    pace = Pace(100.0)
    pace.rate = 400.0
    with hold(1.0), pytest.raises(OutOfTime):
        pace.require(1000.0)
    assert pace.rate == 400.0


@dataclass(frozen=True)
class Ticking(Method):
    """Every iteration moves x and the clock; `begun` notes what the clock showed when one was begun."""

    clock: Clock
    seconds: Callable[[int], float]
    begun: list[float]

    name = "ticking"
    family = "test"
    accepts = frozenset({"lcp"})
    needs = frozenset()
    requires = "nothing"
    reference = "none"

    def start(self, problem, x):
        return State(x)

    def step(self, problem, state, count):
        for _ in range(count):
            self.begun.append(self.clock.time)
            state.x += 1.0
            self.clock.time += self.seconds(len(self.begun))


def run_ticking(clock: Clock, seconds: Callable[[int], float], limit: float) -> tuple[Ticking, perp.Result]:
    method = Ticking(clock, seconds, [])
    problem = perp.LCP(np.eye(2), [1.0, -1.0])
    return method, perp.solve(problem, method, tol=0.0, max_seconds=limit, check_every=10**6)


@pytest.mark.parametrize("pace", [1e-5, 1e-3, 0.3, 0.9])
@pytest.mark.parametrize("limit", [0.05, 0.5, 2.0, 10.0])
def test_no_iteration_is_begun_that_would_end_after_the_limit_at_the_pace_of_the_last(clock, limit, pace):
    method, result = run_ticking(clock, lambda _: pace, limit)
    assert result.status is Status.TIME_LIMIT
    assert clock.time <= max(limit, 10 * pace) + 1e-9  # the first step has no pace to be judged by
    assert limit - clock.time <= max(0.02, 2.0 * pace)  # and no time is given away
    assert result.iterations == len(method.begun)


def test_a_step_that_takes_longer_each_time_is_late_by_its_growth_alone(clock):
    _, result = run_ticking(clock, lambda k: 0.1 * 1.2 ** (k // 10), 10.0)
    assert result.status is Status.TIME_LIMIT
    assert clock.time <= 10.0 * 1.02


@dataclass(frozen=True)
class Refused(Method):
    """Finds the solution in its first iteration, and has no time to say so."""

    name = "refused"
    family = "test"
    accepts = frozenset({"lcp"})
    needs = frozenset()
    requires = "nothing"
    reference = "none"
    answer: tuple[float, ...] = ()
    in_start: bool = False

    def start(self, problem, x):
        if self.in_start:
            raise OutOfTime
        return State(x)

    def step(self, problem, state, count):
        if count:
            state.x[:] = self.answer
            raise OutOfTime


PAIR = perp.LCP(np.eye(2), [1.0, -1.0])


def test_what_was_reached_when_time_ran_out_within_a_step_is_returned():
    assert perp.solve(PAIR, Refused((0.0, 1.0))).status is Status.CONVERGED
    result = perp.solve(PAIR, Refused((0.0, 0.9)))
    assert result.status is Status.TIME_LIMIT
    assert result.residual == pytest.approx(0.1)
    worse = perp.solve(PAIR, Refused((5.0, 5.0)))
    assert worse.status is Status.TIME_LIMIT
    np.testing.assert_array_equal(worse.x, [0.0, 0.0])


def test_a_start_without_time_leaves_the_point_that_was_given():
    result = perp.solve(PAIR, Refused(in_start=True), x0=[0.0, 0.5])
    assert result.status is Status.TIME_LIMIT
    np.testing.assert_array_equal(result.x, [0.0, 0.5])
    assert result.iterations == 0


def test_a_solve_within_a_callback_has_the_time_it_asks_for(clock):
    inner = []

    def solve_another(progress):
        clock.time += 1.0
        inner.append(perp.solve(PAIR, "pgs").status)

    outer = perp.solve(perp.LCP([[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0]), "pgs", callback=solve_another, max_seconds=0.5)
    assert inner == [Status.CONVERGED]
    assert outer.status is Status.TIME_LIMIT


def wall(model: str, n: int = 336) -> perp.ContactProblem:
    made = perp.gallery.make("box_stack", n=n, layout="wall", model=model, load="gravity", mass_ratio=100).problem
    assert isinstance(made, perp.ContactProblem)
    return made


@pytest.mark.usefixtures("slow_paces")
@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_no_factor_is_begun_that_is_predicted_to_end_too_late(space):
    problem = perp.gallery.make("boxed_stack", n=96).problem
    system = choose_system(problem, space)
    free, shift = np.ones(problem.n, dtype=bool), np.ones(problem.n)
    with hold(deadlines.now() + 1.0), pytest.raises(OutOfTime):
        system.factor(free, shift)
    system.factor(free, shift)  # and it is as good as new
    right = np.arange(1.0, problem.n + 1.0)
    x = system.solve(right)
    np.testing.assert_allclose(problem.A.apply(x) + x, right, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("slow_paces")
@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_no_factor_of_contact_laws_is_begun_that_is_predicted_to_end_too_late(space):
    problem = wall("cone")
    system = choose_block_system(problem.A, space)
    one = BlockDiagonal(np.tile(np.eye(3), (problem.contacts, 1, 1)), np.empty(0))
    with hold(deadlines.now() + 1.0), pytest.raises(OutOfTime):
        system.factor(one, one)
    system.factor(one, one)
    right = np.ones(problem.n)
    x = system.solve(right)
    np.testing.assert_allclose(problem.A.apply(x) + x, right, rtol=1e-8)


@pytest.mark.usefixtures("slow_paces")
def test_numbers_of_a_factor_that_was_refused_are_not_taken_for_factored():
    matrix = sparse.csr_array([[4.0, 1.0], [1.0, 3.0]])
    factor = SparseCholesky(matrix)
    with hold(deadlines.now() + 1e-3), pytest.raises(OutOfTime):
        factor.factor(2.0 * matrix.data)
    factor.factor(2.0 * matrix.data)
    np.testing.assert_allclose(2.0 * matrix @ factor.solve(np.array([1.0, 2.0])), [1.0, 2.0])


@pytest.mark.usefixtures("slow_paces")
@pytest.mark.parametrize("method", ["cone_newton", "admm", "block_principal", "interior_point"])
def test_methods_that_have_no_time_for_a_factor_say_so(method):
    model = {"cone_newton": "cone", "admm": "convex", "block_principal": "box"}.get(method)
    problem = perp.gallery.make("boxed_stack", n=96).problem if model is None else wall(model)
    result = perp.solve(problem, method, max_seconds=100.0)
    assert result.status is Status.TIME_LIMIT
    assert result.residual <= perp.verify(problem, np.zeros(problem.n)).residual


def problems_of_every_kind() -> dict[str, perp.Problem]:
    stacks = {model: perp.gallery.make("box_stack", n=48, model=model).problem for model in ("cone", "convex", "box")}
    dense = perp.gallery.make("dense_psd", n=80).problem
    return stacks | {"dense": dense, "grid": perp.gallery.make("poisson_2d", n=225).problem}


@pytest.mark.usefixtures("slow_paces")
@pytest.mark.parametrize("method", default_methods(), ids=lambda method: method.name)
def test_every_method_that_has_no_time_for_anything_returns_an_answer(method):
    for problem in problems_of_every_kind().values():
        if misfit(method, problem) is None:
            result = perp.solve(problem, method, max_seconds=60.0, max_iterations=20)
            assert result.residual == pytest.approx(perp.verify(problem, result.x).residual, rel=1e-9)


@pytest.mark.usefixtures("slow_paces")
@pytest.mark.parametrize("kind", ["cone", "convex", "box", "dense", "grid"])
def test_auto_that_has_no_time_for_anything_returns_an_answer(kind):
    problem = problems_of_every_kind()[kind]
    result = perp.solve(problem, max_seconds=60.0, max_iterations=200)
    assert result.residual == perp.verify(problem, result.x).residual


@pytest.mark.usefixtures("slow_paces")
def test_where_one_method_has_no_time_for_its_next_step_auto_asks_others():
    result = perp.solve(wall("cone"), max_seconds=100.0, max_iterations=5000)
    tried = [attempt.method for attempt in result.methods if attempt.status is Status.TIME_LIMIT]
    assert "cone_newton" in tried
    later = [attempt.method for attempt in result.methods]
    assert "block_gauss_seidel" in later[later.index("cone_newton") :]
    assert result.status in (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.CONVERGED)


@pytest.mark.usefixtures("slow_paces")
def test_a_search_for_a_proof_tells_what_it_had_no_time_for():
    problem = wall("convex")
    found = search_no_solution(problem, max_seconds=100.0)
    assert found.certificate is None
    assert any("longer than the time" in step or "no time" in step for step in found.steps)
    assert not found.feasible


@pytest.mark.usefixtures("slow_paces")
def test_a_polish_without_time_for_a_factor_makes_nothing_worse():
    problem = wall("cone")
    x = perp.solve(problem, "pgs", max_iterations=300).x
    before = perp.verify(problem, x).residual
    polished = polish(problem, x, max_seconds=100.0)
    assert polished is None or polished.residual < before


@pytest.mark.parametrize("solver", [krylov.cg, krylov.gmres])
def test_krylov_methods_look_at_the_clock_with_every_product(solver, clock):
    products = []

    def product(v):
        products.append(clock.time)
        clock.time += 1.0
        return np.arange(1.0, 101.0) * v

    with hold(5.5), pytest.raises(OutOfTime):
        solver(product, np.ones(100), tolerance=1e-12, max_iterations=1000)
    assert len(products) == 5  # the sixth would end at 6 s


def test_iterations_of_scipy_look_at_the_clock_with_every_product(clock):
    from scipy.sparse.linalg import lsmr

    clock.tick = 1.0
    A = sparse.diags_array(np.arange(1.0, 101.0)).tocsr()
    with hold(20.0), pytest.raises(OutOfTime):
        lsmr(watched(A), np.ones(100), atol=0.0, btol=0.0, maxiter=1000)
    assert clock.time <= 21.0
    assert watched(A) is A


@pytest.mark.parametrize("count", [1, 7, 100])
def test_sweeps_are_the_same_bits_with_a_limit_and_without(count):
    problem = wall("cone")
    x = np.zeros(problem.n)
    plain = ConeSweeps(problem, 30).run(x, count)
    with hold(deadlines.now() + 1e6):
        sweeps = ConeSweeps(problem, 30)
        limited = sweeps.run(x, count)
    assert sweeps.done == count
    np.testing.assert_array_equal(limited, plain)


def test_sweeps_end_early_where_the_time_is_over_and_what_was_swept_counts(clock):
    problem = wall("cone")
    clock.tick = 0.1
    sweeps = ConeSweeps(problem, 30)
    with hold(5.0):
        x = sweeps.run(np.zeros(problem.n), 10**6)
    assert 0 < sweeps.done < 1000
    assert clock.time <= 6.0
    clock.tick = 0.0
    np.testing.assert_array_equal(x, ConeSweeps(problem, 30).run(np.zeros(problem.n), sweeps.done))


def islands_of_pairs(count: int) -> perp.LCP:
    A = sparse.block_diag([np.array([[2.0, 1.0], [1.0, 2.0]])] * count, format="csr")
    return perp.LCP(A, np.tile([-1.0, 1.0], count))


@pytest.mark.parametrize("method", ["auto", "pgs"])
def test_islands_whose_turn_does_not_come_have_the_residual_of_where_they_stand(method):
    problem = islands_of_pairs(50)
    start = np.linspace(0.0, 1.0, problem.n)
    result = perp.solve_islands(problem, method, at_least=1, max_seconds=0.0, x0=start)
    assert result.status is Status.TIME_LIMIT
    assert len(result.parts) == 50
    np.testing.assert_array_equal(result.x, start)
    for part in result.parts:
        assert part.status is Status.TIME_LIMIT
        assert part.residual == pytest.approx(perp.verify(part.problem, part.x).residual, abs=1e-15)
        np.testing.assert_allclose(part.y, part.problem.slack(part.x), atol=1e-15)


def test_islands_that_stand_at_their_solution_are_solved_without_time():
    problem = islands_of_pairs(3)
    solution = perp.solve(problem, "pgs", tol=1e-14).x
    result = perp.solve_islands(problem, "pgs", at_least=1, max_seconds=0.0, x0=solution)
    assert result.status is Status.CONVERGED


@pytest.mark.usefixtures("slow_paces")
def test_a_problem_that_takes_too_long_to_split_is_solved_whole(monkeypatch):
    monkeypatch.setattr(island_turns, "FEW_ENTRIES", 0)
    problem = islands_of_pairs(600)
    result = perp.solve_islands(problem, "pgs", max_seconds=100.0)
    assert len(result.parts) == 1
    assert result.success


@pytest.mark.parametrize("seconds", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("model", ["cone", "convex", "box"])
def test_a_limit_of_any_length_is_a_status_with_an_answer_within_its_bounds(model, seconds):
    problem = wall(model)
    result = perp.solve(problem, max_seconds=seconds)
    assert result.status in (Status.TIME_LIMIT, Status.CONVERGED)
    assert result.residual == perp.verify(problem, result.x).residual
    assert not np.isnan(result.residual)
    np.testing.assert_allclose(problem.project(result.x), result.x, rtol=1e-12, atol=1e-300)


def test_a_deadline_that_is_not_a_number_allows_nothing():
    assert not deadlines.Deadline(nan).allows(0.0)
