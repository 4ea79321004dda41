"""A solve by "auto": what is tried, in which order, what is kept, and how it can end."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import Status
from perp.solvers.auto import chain, endgame, presolve
from perp.solvers.auto.explain import explain
from perp.solvers.auto.rules import Rule, Step
from perp.solvers.loop import SolveInterrupted


@given(st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems()))
def test_a_solvable_problem_is_solved_and_to_the_last_digits(problem):
    result = perp.solve(problem)
    assert result.success
    assert result.scaled_residual <= 1e-8
    assert result.residual == pytest.approx(perp.verify(problem, result.x).residual, rel=1e-6, abs=1e-15)
    if not isinstance(problem, perp.ContactProblem):
        assert result.scaled_residual <= 1e-12


@given(strategies.lcps(), st.integers(-200, 0))
def test_small_units_change_the_answer_by_their_factor_and_nothing_else(problem, exponent):
    factor = 2.0**exponent
    small = perp.LCP(problem.A, problem.b * factor)
    plain, tiny = perp.solve(problem), perp.solve(small)
    assert tiny.success
    np.testing.assert_allclose(tiny.x, plain.x * factor, rtol=1e-9, atol=1e-12 * factor)


def test_every_attempt_is_listed_with_its_end_its_residual_its_time_and_its_reason(monkeypatch):
    problem = perp.gallery.make("dense_pd", n=100).problem
    steps = (Step(perp.PGS(), iterations=2), Step(perp.BlockPrincipal()))
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "to be seen", "nothing"))
    result = perp.solve(problem)
    first, second = result.methods
    assert (first.method, first.status, first.iterations) == ("pgs", Status.ITERATION_LIMIT, 2)
    assert (second.method, second.status) == ("block_principal", Status.CONVERGED)
    assert first.residual > 1e-6 > second.residual
    assert first.why == "made up: to be seen"
    assert second.why == "pgs did not end in a certain answer"
    assert first.seconds > 0.0
    assert result.method == "block_principal"
    assert result.iterations == first.iterations + second.iterations
    assert result.history.iteration[-1] == result.iterations
    assert np.all(np.diff(result.history.iteration) >= 0)


class NothingFound:
    certificate, steps, feasible, seconds = None, ("nothing was found",), True, 0.0


def test_the_best_point_is_handed_on_and_a_worse_one_is_not_kept(monkeypatch):
    problem = perp.LCP([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], -np.ones(3))  # on which PGS cycles
    seen = []

    def watch(progress):
        seen.append((progress.iteration, progress.x.copy()))

    steps = (Step(perp.PGS(), iterations=7), Step(perp.PGS(), iterations=3), Step(perp.Jacobi(), 3, from_best=False))
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "", ""))
    monkeypatch.setattr(endgame, "search_no_solution", lambda *_, **__: NothingFound)
    result = perp.solve(problem, callback=watch, check_every=1)
    assert not result.success
    residuals = [perp.verify(problem, x).residual for _, x in seen]
    assert result.residual == min(residuals)
    assert result.best_iteration == seen[int(np.argmin(residuals))][0]
    first, second, third = (k for k, (_, x) in enumerate(seen) if k == 0 or seen[k][0] == seen[k - 1][0])
    np.testing.assert_array_equal(seen[second][1], seen[int(np.argmin(residuals[:second]))][1])
    np.testing.assert_array_equal(seen[third][1], seen[first][1])


def test_limits_are_those_of_all_methods_together():
    problem = perp.gallery.make("box_stack", n=96).problem
    for limit in (0, 1, 7):
        result = perp.solve(problem, max_iterations=limit)
        assert result.status is Status.ITERATION_LIMIT
        assert result.iterations == limit
    assert perp.solve(problem, max_iterations=0).residual == perp.verify(problem, np.zeros(problem.n)).residual
    assert perp.solve(problem, max_seconds=0.0).status is Status.TIME_LIMIT


def test_a_callback_sees_the_asked_problem_and_can_stop_everything():
    problem = perp.BoxLCP(
        strategies.spd_matrix(np.random.default_rng(0), 30), -np.ones(30), 0.0, np.where(np.arange(30) % 3, np.inf, 0.0)
    )
    shapes, iterations = set(), []

    def watch(progress):
        shapes.add(progress.x.shape)
        iterations.append(progress.iteration)

    assert perp.solve(problem, callback=watch).success
    assert shapes == {(30,)}
    assert iterations == sorted(iterations)

    def stop(progress):
        raise StopIteration("enough")

    result = perp.solve(problem, callback=stop)
    assert result.status is Status.STOPPED_BY_CALLBACK
    assert len([one for one in result.methods if one.status]) == 1


def test_a_callback_may_want_its_argument_by_scipy_s_name():
    problem, seen = perp.gallery.make("boxed_pd", n=40).problem, []

    def watch(*, intermediate_result):
        seen.append(intermediate_result["x"].size)

    assert perp.solve(problem, callback=watch).success
    assert set(seen) == {problem.n}
    seen.clear()
    assert perp.solve_islands(problem, callback=watch).success
    assert set(seen) == {problem.n}


def test_an_interrupt_carries_the_asked_problem_and_all_that_was_tried():
    problem = perp.gallery.make("box_stack", n=96).problem

    def interrupt(progress):
        if progress.iteration:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        perp.solve(problem, callback=interrupt)
    partial = caught.value.partial_result
    assert partial.status is Status.INTERRUPTED
    assert partial.problem is problem
    assert [one.method for one in partial.methods] == ["nncg"]


def blocks_of(*matrices):
    A = sparse.block_diag(matrices, format="csr")
    order = np.random.default_rng(3).permutation(A.shape[0])
    return sparse.csr_array(A[order][:, order]), order


def test_islands_are_solved_apart_and_one_without_solution_is_one_for_all(monkeypatch):
    monkeypatch.setattr(presolve, "WORTH_SPLITTING", 256)
    rng = np.random.default_rng(0)
    A, _ = blocks_of(*(strategies.spd_matrix(rng, 80) for _ in range(4)))
    b = rng.standard_normal(320)
    result = perp.solve(perp.LCP(A, b))
    assert result.success
    assert result.methods[0].method == "islands"
    assert "4 islands, the largest with 80 rows" in result.methods[0].why
    np.testing.assert_allclose(result.x, perp.solve(perp.LCP(A, b), "block_principal").x, atol=1e-11)
    hopeless, order = blocks_of(*(strategies.spd_matrix(rng, 80) for _ in range(4)), -np.eye(1))
    b = np.where(order == 320, -1.0, 1.0) * rng.uniform(0.5, 1.0, 321)
    ended = perp.solve(perp.LCP(hopeless, b))
    assert ended.status is Status.INFEASIBLE
    assert perp.verify_certificate(ended.problem, ended.certificate).valid


def test_a_warm_start_at_the_answer_is_the_answer():
    problem = perp.gallery.make("dense_pd", n=100).problem
    first = perp.solve(problem)
    again = perp.solve(problem, x0=first)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.x, first.x)
    near = perp.solve(problem, x0=first.x * (1.0 + 1e-3))
    assert near.success
    assert "warm start" in near.methods[0].why


def test_many_contacts_are_tried_by_newton_steps_and_sweeps_from_the_start_before_a_path():
    """Steps that are tries may fail without leaving doubts whether there is a solution."""
    problem = perp.gallery.make("box_stack", n=600, model="cone", mass_ratio=1e4, friction=0.7).problem
    answer = perp.solve(problem)
    near = perp.solve(problem, x0=answer.x * (1.0 + 1e-6))
    assert near.success
    assert [one.method for one in near.methods] == ["cone_interior"]
    assert near.iterations < 12
    far = perp.solve(problem, x0=problem.project(np.random.default_rng(0).random(problem.n)))
    assert far.success
    asked = [one.method for one in far.methods if one.method != "polish"]
    assert asked[:2] == ["cone_interior", "nncg"]
    assert "no_solution" not in asked


def test_rows_and_columns_of_very_unlike_size_are_solved():
    rng = np.random.default_rng(7)
    for _ in range(10):
        A, b = strategies.spd_matrix(rng, 8), rng.standard_normal(8)
        S = np.triu(rng.standard_normal((8, 8)), 1)
        rows, columns = 10.0 ** rng.uniform(-8, 8, (2, 8))
        result = perp.solve(perp.LCP(rows[:, None] * (A + S - S.T) * columns, rows * b))
        assert result.success
        expected = perp.solve(perp.LCP(A + S - S.T, b), "lemke").x
        np.testing.assert_allclose(result.x * columns, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("A", "b", "status", "kind"),
    [
        ([[-1.0]], [-1.0], Status.INFEASIBLE, "infeasible"),
        ([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0], Status.INFEASIBLE, "infeasible"),
        ([[2.0, 1.0], [1.0, -1.0]], [2.0, -2.0], Status.RAY, "exhausted"),
    ],
)
def test_a_problem_without_solution_is_proved_to_have_none(A, b, status, kind):
    problem = perp.LCP(A, b)
    result = perp.solve(problem)
    assert result.status is status
    assert result.certificate.kind == kind
    assert perp.verify_certificate(problem, result.certificate).valid


def test_equations_that_contradict_each_other_are_named():
    problem = perp.BoxLCP(np.ones((3, 3)), [1.0, 1.0, 2.0], -np.inf, np.inf)
    result = perp.solve(problem)
    assert result.status is Status.INFEASIBLE
    assert result.certificate.kind == "inconsistent"
    assert "contradict" in result.message
    consistent = perp.solve(perp.BoxLCP(np.ones((3, 3)), np.ones(3), -np.inf, np.inf))
    assert consistent.success


def test_answers_lie_within_discs_and_cones_to_the_last_bit():
    rng = np.random.default_rng(4)
    for model in ("cone", "disc", "convex"):
        for _ in range(20):
            G = rng.standard_normal((12, 30)) * 10.0
            problem = perp.ContactProblem(G @ G.T, rng.standard_normal(12) * 50.0, rng.uniform(0.1, 9.0, 4), model)
            x = perp.solve(problem).x
            np.testing.assert_array_equal(problem.project(x), x)


def test_lemke_s_ray_does_not_hide_a_solution():
    result = perp.solve(perp.LCP([[0.0, 1.0], [1.0, 0.0]], -np.ones(2)))
    np.testing.assert_allclose(result.x, 1.0)


def test_small_problems_take_the_short_way_and_say_when_it_is_closed():
    problem = perp.LCP([[4.0, -1.0], [-1.0, 4.0]], [-3.0, 2.0])
    assert [one.method for one in perp.solve(problem).methods] == ["small_pivots"]
    assert "small_pivots" not in [one.method for one in perp.solve(problem, callback=lambda progress: None).methods]
    singular = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)))
    assert singular.success
    assert [one.method for one in singular.methods][:2] == ["small_pivots", "dantzig"]
    assert singular.methods[0].status is Status.BREAKDOWN


def test_the_same_problem_gives_the_same_bits():
    for kind in ("contact_like", "box_stack", "boxed_pd", "dense_psd"):
        problem = perp.gallery.make(kind).problem
        assert perp.solve(problem).x.tobytes() == perp.solve(problem).x.tobytes()


def test_an_explanation_names_the_methods_in_the_order_in_which_they_are_asked(monkeypatch):
    monkeypatch.setattr(presolve, "WORTH_SPLITTING", 256)
    told = explain(perp.gallery.make("dense_p", n=100).problem)
    assert told.rule == "positive diagonal"
    assert told.chain[0].startswith("block_principal")
    assert any(line.startswith("enumeration: more than") for line in told.passed_over)
    assert "rule 'positive diagonal'" in str(told)
    islands = explain(perp.LCP(blocks_of(np.eye(200), np.ones((200, 200)) + np.eye(200))[0], -np.ones(400)))
    assert any("islands are solved apart" in step for step in islands.presolve)
    with pytest.raises(TypeError, match=r"perp\.LCP"):
        explain(np.eye(2))


def test_a_proof_outweighs_a_residual_that_is_small_beside_a_large_x():
    result = perp.solve(perp.LCP(np.diag([1.0, 0.0]), [-1e9, -1.0]))
    assert result.status is Status.INFEASIBLE
    assert result.certificate.valid
    start = np.append(1e9, np.zeros(99))
    solved = perp.solve(perp.LCP(np.eye(100), -np.append(1e9, np.ones(99))), x0=start)
    np.testing.assert_array_equal(solved.x, np.append(1e9, np.ones(99)))


def test_an_answer_beyond_all_numbers_is_none():
    A = strategies.spd_matrix(np.random.default_rng(1), 65) * 1e-310
    result = perp.solve(perp.LCP(A, -np.ones(65)))
    assert not result.success
    assert np.isfinite(result.x).all()


def test_a_start_beyond_all_numbers_is_not_taken():
    problem = perp.LCP(2.0 * np.eye(100) + 0.01, -np.ones(100))
    result = perp.solve(problem, x0=np.full(100, 1.7e308))
    assert result.success
    assert any("starts cold" in note for note in result.notes)


@pytest.mark.parametrize(("tol", "status"), [(0.0, Status.STAGNATED), (1e-17, Status.REDUCED_ACCURACY)])
def test_where_rounding_errors_are_all_that_is_left_nobody_else_is_asked(tol, status):
    result = perp.solve(perp.gallery.make("dense_pd", n=100).problem, tol=tol)
    assert result.status in (status, Status.CONVERGED)
    assert result.scaled_residual <= 1e-15
    assert "no_solution" not in [one.method for one in result.methods]


def test_time_that_runs_out_at_any_moment_is_a_status():
    problem = perp.gallery.make("box_stack", n=600, mass_ratio=1000).problem
    for seconds in (1e-4, 1e-3, 1e-2, 3e-2):
        result = perp.solve(problem, max_seconds=seconds)
        assert result.status in (Status.TIME_LIMIT, Status.CONVERGED)


def test_fixed_rows_and_very_unlike_rows_may_end_on_a_ray():
    problem = perp.BoxLCP(
        [[-2e-7, 1e3, 1e-4], [0.0, 1e9, -100.0], [2e-9, -10.0, 2e-6]],
        [-0.02, -1e4, -1e-4],
        0.0,
        [np.inf, np.inf, 0.0],
    )
    result = perp.solve(problem)
    assert result.status is Status.RAY
    assert perp.verify_certificate(problem, result.certificate).valid


@pytest.mark.parametrize("place", ["settle_rows", "find_islands", "find_rule", "polish_best"])
def test_an_interrupt_at_any_step_carries_what_was_reached(monkeypatch, place):
    def interrupt(*_):
        raise KeyboardInterrupt

    problem = perp.gallery.make("dense_pd", n=100).problem
    with monkeypatch.context() as broken:
        broken.setattr(chain, place, interrupt)
        with pytest.raises(perp.SolveInterrupted) as caught:
            perp.solve(problem)
    assert caught.value.partial_result.status is Status.INTERRUPTED
    assert caught.value.partial_result.problem is problem
    assert perp.solve(problem).success


def test_limits_of_iterations_hold_for_all_islands_together():
    B = sparse.block_diag([np.eye(300) + 0.01] * 4, format="csr")
    problem = perp.LCP(B, -1.0 - np.arange(1200) % 7)
    for limit in (0, 1, 3):
        assert perp.solve(problem, max_iterations=limit).iterations <= limit


def test_an_island_without_solution_is_proved_to_have_none_as_part_of_the_whole():
    C = sparse.block_diag([np.eye(300) + 0.01] * 4 + [np.array([[2.0, 1.0], [1.0, -1.0]])], format="csr")
    problem = perp.LCP(C, np.append(-np.ones(1200), [2.0, -2.0]))
    result = perp.solve(problem)
    assert result.status is Status.RAY
    assert result.certificate.kind == "exhausted"
    assert result.certificate.rows == (1200, 1201)
    assert perp.verify_certificate(problem, result.certificate).valid
    assert "every index set was refuted" in result.message
    assert {"islands", "block_principal", "lemke"} <= {one.method for one in result.methods}


def test_large_numbers_are_judged_by_their_scale_in_islands_too():
    S = strategies.spd_matrix(np.random.default_rng(0), 300)
    problem = perp.LCP(sparse.block_diag([S] * 4, format="csr"), -1e9 * np.ones(1200))
    assert perp.solve_islands(problem).success
    assert perp.solve(problem).success


def test_iterations_are_those_of_all_steps():
    for A, b in ((np.ones((4, 4)), -np.ones(4)), ([[2.0, 1.0], [1.0, -1.0]], [2.0, -2.0])):
        result = perp.solve(perp.LCP(A, b))
        assert result.iterations == sum(one.iterations for one in result.methods)


@pytest.mark.parametrize(("trusts", "place"), [(0.0, 2), (np.inf, 3)])
def test_a_rule_that_trusts_the_best_point_seeks_a_proof_after_its_chain(monkeypatch, trusts, place):
    steps = tuple(Step(perp.PGS(), iterations=count) for count in (1, 2, 3))
    monkeypatch.setattr(chain, "polish_best", lambda search: None)
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "", "", trusts=trusts))
    problem = perp.gallery.make("box_stack", n=336, mass_ratio=100.0, model="cone").problem
    tried = [one.method for one in perp.solve(problem).methods if one.method in ("pgs", "no_solution")]
    assert tried.index("no_solution") == place
    assert tried.count("no_solution") == 1


@pytest.mark.parametrize(("below", "count"), [(np.inf, 2), (1e-12, 1)])
def test_a_step_for_points_that_are_nearly_solutions_is_passed_over_far_from_one(monkeypatch, below, count):
    steps = (Step(perp.PGS(), iterations=1), Step(perp.PSOR(), iterations=1, below=below))
    monkeypatch.setattr(chain, "polish_best", lambda search: None)
    monkeypatch.setattr(chain, "find_rule", lambda features: Rule("made up", bool, steps, "", "", trusts=np.inf))
    problem = perp.gallery.make("box_stack", n=336, mass_ratio=100.0, model="cone").problem
    tried = [one.method for one in perp.solve(problem).methods if one.method in ("pgs", "psor")]
    assert tried == ["pgs", "psor"][:count]


def test_what_is_told_beforehand_says_where_a_step_needs_a_good_point():
    told = explain(perp.gallery.make("box_stack", n=336, model="cone").problem)
    assert sum("if the residual is below 1e-05 by then" in line for line in told.chain) == 1
