"""Problems solved island by island: the same answers as whole, and one honest result."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from side_by_side import make_stack, put_side_by_side
from strategies import SEEDS, explicit, spd_matrix

import perp
from perp.errors import MethodRefused
from perp.problems.islands import split_islands
from perp.solvers.islands.islands import solve_islands
from perp.solvers.islands.results import combine
from perp.solvers.loop import SolveInterrupted
from perp.solvers.method import misfit
from perp.solvers.roster import default_methods


@st.composite
def block_diagonal_problems(draw: st.DrawFn) -> perp.Problem:
    """Definite blocks with their rows shuffled: x is unique."""
    rng = np.random.default_rng(draw(SEEDS))
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    A = sparse.block_diag([spd_matrix(rng, size) for size in sizes]).toarray()
    order = rng.permutation(len(A))
    A, b = explicit(A[np.ix_(order, order)], draw(st.sampled_from(["dense", "sparse"]))), rng.standard_normal(len(A))
    if draw(st.booleans()):
        return perp.LCP(A, b)
    return perp.BoxLCP(A, b, rng.choice([-np.inf, -0.3], b.size), rng.choice([0.2, np.inf], b.size))


@given(block_diagonal_problems(), st.sampled_from(["psor", "block_principal", "fischer"]), st.integers(1, 12))
def test_islands_have_the_solution_of_the_whole(problem, method, at_least):
    whole = perp.solve(problem, method, tol=1e-10, max_iterations=20_000)
    apart = solve_islands(problem, method, tol=1e-10, max_iterations=20_000, at_least=at_least)
    assert whole.success
    assert apart.success
    assert len(apart.parts) == len(split_islands(problem, at_least))
    np.testing.assert_allclose(apart.x, whole.x, atol=1e-7)


@given(SEEDS, st.sampled_from(["box", "cone"]), st.booleans())
@settings(max_examples=8)
def test_stacks_on_one_ground_move_as_in_the_whole(seed, model, ground):
    problem = put_side_by_side([make_stack(seed + k, 12 + 12 * k, k, model) for k in range(3)], seed, ground)
    whole = perp.solve(problem, "cone_newton", tol=1e-10)
    apart = solve_islands(problem, "cone_newton", tol=1e-10, at_least=1)
    assert whole.success
    assert apart.success
    assert len(apart.parts) == 3
    # with compliance in every row A is definite
    np.testing.assert_allclose(problem.A.velocity(apart), problem.A.velocity(whole), atol=1e-6)


EVERY_KIND = [
    pytest.param(method, kind, id=f"{method.name} {kind}")
    for method in default_methods()
    for kind in sorted(method.accepts)
]


@pytest.mark.parametrize(("method", "kind"), EVERY_KIND)
def test_every_method_solves_by_islands_what_it_solves_whole(method, kind):
    if kind.startswith("contact"):
        problem = put_side_by_side([make_stack(seed, 12, 1, kind[8:], softness=1.0) for seed in range(2)])
    else:
        rng = np.random.default_rng(0)
        A = sparse.block_diag([spd_matrix(rng, size) for size in (2, 3, 3)], format="csr")
        b = rng.standard_normal(8)
        problem = perp.LCP(A, b) if kind == "lcp" else perp.BoxLCP(A, b, -0.3, 0.2)
    if misfit(method, problem) is not None:
        pytest.skip("outside of what this method takes")
    tol = 1e-7 if method.name == "cone_program" else 1e-8  # Clarabel ends near 1e-8 where contacts slide
    limits = {"tol": tol, "max_iterations": 50_000}
    assert perp.solve(problem, method, **limits).success
    apart = solve_islands(problem, method, at_least=1, **limits)
    assert len(apart.parts) == (2 if kind.startswith("contact") else 3)
    assert apart.success
    assert apart.residual <= tol
    assert apart.residual == perp.verify(problem, apart.x).residual
    assert apart.method == method.label


def many_stacks(model: str = "box") -> perp.ContactProblem:
    return put_side_by_side([make_stack(seed, 12 * (1 + seed % 3), seed % 2, model) for seed in range(6)], seed=2)


@pytest.mark.parametrize("method", ["pgs", "block_gauss_seidel", "cone_newton"])
def test_threads_and_repetition_give_the_same_bits(method):
    problem = many_stacks("cone")
    first, *others = (
        solve_islands(problem, method, at_least=1, workers=workers, max_iterations=60) for workers in (1, 1, 2, 4)
    )
    for other in others:
        assert other.x.tobytes() == first.x.tobytes()
        assert (other.status, other.iterations, other.residual) == (first.status, first.iterations, first.residual)
        assert other.history.residual.tobytes() == first.history.residual.tobytes()


@pytest.mark.parametrize("at_least", [1, 10**6])
def test_one_island_is_solved_as_the_whole_is(at_least):
    problem = make_stack(3, joints=2) if at_least == 1 else many_stacks()
    whole = perp.solve(problem, "pgs", max_iterations=100, x0=np.ones(problem.n))
    apart = solve_islands(problem, "pgs", max_iterations=100, x0=np.ones(problem.n), at_least=at_least)
    assert apart.x.tobytes() == whole.x.tobytes()
    assert apart.history.residual.tobytes() == whole.history.residual.tobytes()
    for name in ("status", "message", "iterations", "best_iteration", "residual", "method"):
        assert getattr(apart, name) == getattr(whole, name)
    assert set(whole.notes) < set(apart.notes)


def test_a_problem_without_rows_is_solved():
    result = solve_islands(perp.LCP(np.empty((0, 0)), np.empty(0)))
    assert result.success
    assert result.x.size == 0


def test_sums_notes_and_attempts_are_those_of_all_islands():
    problem = many_stacks()
    result = solve_islands(problem, "pgs", at_least=1, max_iterations=50_000)
    assert result.success
    assert result.iterations == sum(part.iterations for part in result.parts) == result.best_iteration
    assert result.seconds == pytest.approx(sum(part.seconds for part in result.parts))
    assert result.setup_seconds > sum(part.setup_seconds for part in result.parts)
    assert result.notes[0] == "solved as 6 islands, the largest with 37 rows"
    assert [(one.method, one.status, one.iterations) for one in result.methods] == [
        ("pgs", perp.Status.CONVERGED, result.iterations)
    ]
    np.testing.assert_array_equal(result.y, problem.slack(result.x))


def test_a_failed_solve_says_how_many_islands_failed_and_which_is_worst():
    stacks = [make_stack(seed, 12, softness=softness) for seed, softness in enumerate((5.0, 1e-3, 1e-3, 5.0))]
    problem = put_side_by_side(stacks)
    result = solve_islands(problem, "pgs", at_least=1, max_iterations=200)
    failed = [part for part in result.parts if not part.success]
    worst = max(result.parts, key=lambda part: part.residual)
    rows = result.islands[result.parts.index(worst)].rows
    assert len(failed) == 2
    assert result.status is worst.status is perp.Status.ITERATION_LIMIT
    assert "2 of 4 islands failed (2 ITERATION_LIMIT)" in result.message
    assert f"has {rows.size} rows from row {rows[0]} on" in result.message
    assert result.residual == pytest.approx(worst.residual, rel=1e-9)


def test_islands_within_tolerance_and_a_whole_that_is_not_are_reduced_accuracy():
    problem = many_stacks()
    islands = split_islands(problem)
    parts = tuple(perp.solve(island.problem, "pgs", tol=1e-3) for island in islands)
    assert all(part.success for part in parts)
    assert combine(problem, islands, parts, 1e-3, 0.0, []).status is perp.Status.CONVERGED
    assert combine(problem, islands, parts, 1e-9, 0.0, []).status is perp.Status.REDUCED_ACCURACY


def test_auto_chooses_for_each_island():
    A = sparse.block_diag([2.0 * np.eye(2) + 1.0, np.array([[0.0, 1.0], [-1.0, 0.0]])], format="csr")
    problem = perp.LCP(A, np.array([-1.0, -2.0, -0.5, 0.5]))
    result = solve_islands(problem, at_least=1)
    assert result.success
    assert result.method == "small_pivots and lemke"
    assert [attempt.method for attempt in result.methods] == ["small_pivots", "small_pivots", "presolve", "lemke"]


def test_enumeration_solves_by_islands_what_is_too_large_for_it_whole():
    rng = np.random.default_rng(1)
    problem = perp.LCP(sparse.block_diag([spd_matrix(rng, 5) for _ in range(20)]), rng.standard_normal(100))
    with pytest.raises(MethodRefused):
        perp.solve(problem, "enumeration")
    result = solve_islands(problem, "enumeration", at_least=1)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "psor", tol=1e-12).x, atol=1e-9)


def test_a_method_that_does_not_fit_one_island_is_refused_before_any_work():
    rng = np.random.default_rng(1)
    A = sparse.block_diag([spd_matrix(rng, size) for size in (3, 60)], format="csr")
    seen = []
    with pytest.raises(MethodRefused, match="enumeration"):
        solve_islands(perp.LCP(A, np.ones(63)), "enumeration", at_least=1, callback=seen.append)
    assert not seen


def infeasible_beside(others: int, beyond: float = 1.0) -> perp.BoxLCP:
    """x_1 <= 1 and x_1 >= 1 + beyond; and rows that are easily solved."""
    A = sparse.block_diag([np.array([[0.0, 1.0], [0.0, 1.0]]), sparse.eye_array(others)], format="csr")
    b = np.concatenate([[-1.0 - beyond, 0.0], -np.ones(others)])
    return perp.BoxLCP(A, b, 0.0, np.concatenate([[np.inf, 1.0], np.full(others, 5.0)]))


def infeasible_lcp_beside(others: int) -> perp.LCP:
    small = perp.gallery.make("infeasible_psd", n=8, rank=3).problem
    A = sparse.block_diag([sparse.eye_array(others), small.A.to_sparse()], format="csr")
    return perp.LCP(A, np.concatenate([-np.ones(others), small.b]))


def test_the_proof_that_an_island_is_infeasible_is_one_for_the_whole():
    problem = infeasible_lcp_beside(3)
    result = solve_islands(problem, "lemke", at_least=1)
    assert result.status is perp.Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate.u).valid
    assert not result.certificate.u[:3].any()
    assert result.parts[-1].status is perp.Status.INFEASIBLE
    np.testing.assert_allclose(result.x[:3], 1.0)
    assert "1 of 4 islands failed (1 INFEASIBLE)" in result.message


def test_a_proof_that_drowns_in_the_rounding_errors_of_the_whole_is_none():
    problem = infeasible_beside(1000, beyond=1e-13)
    u = np.zeros(problem.n)
    u[0] = 1.0
    assert not perp.verify_certificate(problem, u).valid
    islands = split_islands(problem)
    part = perp.solve(islands[0].problem, "fischer", tol=0.0, max_iterations=20)
    proof = perp.verify_certificate(islands[0].problem, u[:2])
    assert proof.valid
    parts = (
        replace(part, status=perp.Status.INFEASIBLE, certificate=proof, ray=proof.u),
        *(perp.solve(island.problem, "psor") for island in islands[1:]),
    )
    result = combine(problem, islands, parts, 1e-8, 0.0, [])
    assert result.status is perp.Status.RAY
    assert result.certificate is None
    np.testing.assert_array_equal(result.ray, u)


def test_a_limit_of_time_is_one_for_all_islands():
    problem = many_stacks()
    start = 0.01 * np.ones(problem.n)
    result = solve_islands(problem, "pgs", at_least=1, max_seconds=0, x0=start)
    assert result.status is perp.Status.TIME_LIMIT
    assert "6 of 6 islands failed" in result.message
    np.testing.assert_array_equal(result.x, problem.project(start))
    assert solve_islands(problem, "pgs", at_least=1, max_seconds=60).success


def test_small_islands_come_first_where_time_may_run_out():
    problem, met = many_stacks(), []
    sizes = {island.rows[0]: island.rows.size for island in split_islands(problem)}
    before = np.zeros(problem.n)

    def watch(progress):
        nonlocal before
        moved = np.flatnonzero(progress.x != before)
        before = progress.x
        met.extend(sizes[row] for row in moved if row in sizes)

    solve_islands(problem, "pgs", at_least=1, max_seconds=60, callback=watch)
    assert met == sorted(met)
    assert met[0] < met[-1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_callback_sees_the_whole_and_can_stop_all_islands(workers):
    problem, seen = many_stacks(), []

    def watch(progress):
        seen.append(progress)
        if len(seen) == 12:
            raise StopIteration("enough")

    result = solve_islands(problem, "pgs", at_least=1, workers=workers, callback=watch, tol=1e-12)
    assert result.status is perp.Status.STOPPED_BY_CALLBACK
    assert len(seen) == 12
    assert [progress.iteration for progress in seen] == sorted(progress.iteration for progress in seen)
    assert seen[-1].iteration > 0
    assert {progress.x.size for progress in seen} == {problem.n}
    seen[-1].x[:] = np.nan
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("workers", [1, 2])
def test_any_other_exception_of_a_callback_comes_out_unchanged(workers):
    def fail(progress):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve_islands(many_stacks(), "pgs", at_least=1, workers=workers, callback=fail)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_carries_what_was_reached(workers):
    problem, checks = many_stacks(), []

    def press(progress):
        checks.append(progress.iteration)
        if len(checks) == 30:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(SolveInterrupted) as caught:
        solve_islands(problem, "pgs", at_least=1, workers=workers, callback=press, tol=0, max_iterations=10**9)
    partial = caught.value.partial_result
    assert partial.status is perp.Status.INTERRUPTED
    assert partial.iterations > 0
    assert partial.residual == perp.verify(problem, partial.x).residual
    assert len(partial.parts) == 6
    assert all(part.status in (perp.Status.INTERRUPTED, perp.Status.STAGNATED) for part in partial.parts)
    assert np.abs(partial.x).max() > 0


def test_the_answer_to_another_model_is_a_start_for_the_islands():
    problem = many_stacks("cone")
    polygon = perp.solve(perp.stewart_trinkle(problem, 8), "fischer")
    result = solve_islands(problem, "block_gauss_seidel", at_least=1, x0=polygon, max_iterations=0)
    assert any("x0 was made of the impulses" in note for note in result.notes)
    np.testing.assert_array_equal(result.x, perp.solve(problem, "pgs", x0=polygon, max_iterations=0).x)
    solved = solve_islands(problem, "cone_newton", at_least=1)
    again = solve_islands(problem, "cone_newton", at_least=1, x0=solved)
    assert again.iterations == 0
    assert again.x.tobytes() == solved.x.tobytes()


def test_a_start_outside_the_bounds_is_told_once():
    problem = many_stacks()
    result = solve_islands(problem, "pgs", at_least=1, x0=-np.ones(problem.n), max_iterations=1)
    assert sum("was projected" in note for note in result.notes) == 1


def test_notes_of_islands_are_told_once_with_their_number():
    A = sparse.block_diag([1e-6 * np.eye(1), np.eye(1), 1e-6 * np.eye(1)], format="coo")
    notes = solve_islands(perp.LCP(A, -np.ones(3)), "psor", at_least=1).notes
    assert "rows with extreme diagonal entries were scaled by powers of two (in 2 islands)" in notes
    assert "A was converted once from coo to csr" in notes


def test_an_extreme_whole_is_judged_on_scaled_rows():
    A = sparse.block_diag([1e300 * np.eye(1), 1e-300 * np.eye(1)], format="csr")
    result = solve_islands(perp.LCP(A, np.array([-1e300, -1e-300])), "psor", at_least=1)
    assert result.success
    np.testing.assert_allclose(result.x, 1.0)


@pytest.mark.parametrize(
    ("words", "error", "part"),
    [
        ({"worker": 2}, TypeError, "did you mean 'workers'"),
        ({"method": "pgs", "at_last": 2}, TypeError, "at_least"),
        ({"workers": 0}, ValueError, "workers is 0"),
        ({"workers": 1.5}, TypeError, "workers"),
        ({"at_least": 0}, ValueError, "at_least is 0"),
        ({"tol": -1.0}, ValueError, "tol"),
        ({"stop": 1e-3}, TypeError, "stop"),
        ({"x0": np.ones(2)}, ValueError, "x0"),
        ({"method": "psro"}, ValueError, "did you mean 'psor'"),
    ],
)
def test_bad_arguments_raise(words, error, part):
    with pytest.raises(error, match=part):
        solve_islands(make_stack(0), **words)


def test_only_problems_are_solved():
    with pytest.raises(TypeError, match="ndarray"):
        solve_islands(np.eye(2))
