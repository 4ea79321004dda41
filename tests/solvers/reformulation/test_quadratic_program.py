"""Quadratic programs in place of complementarity problems, whoever solves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import perp
from perp import Status, gallery
from perp.errors import MethodRefused
from perp.solvers.reformulation.bridges import BRIDGES
from perp.solvers.reformulation.bridges.bridge import Answer, Bridge, Ending
from perp.solvers.reformulation.quadratic_program import QuadraticProgram

A = np.array([[2.0, 1.0], [1.0, 2.0]])
B = np.array([-1.0, 1.0])
SOLUTION = np.array([0.5, 0.0])


@pytest.fixture(params=list(BRIDGES))
def backend(request):
    """Each solver that is installed."""
    pytest.importorskip(BRIDGES[request.param].module)
    return request.param


# --- with the solvers that are installed -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "fluid_like", "poisson_2d", "redundant_contacts"])
def test_problems_with_a_known_answer_are_solved(backend, kind):
    example = gallery.make(kind) if gallery.kinds()[kind].size is None else gallery.make(kind, n=36)
    result = perp.solve(example.problem, QuadraticProgram(backend))
    assert result.success
    assert result.method == f"quadratic_program({backend})"
    assert result.methods[0].method == result.method
    assert result.history.counters["backend_iterations"][0] == 0.0
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_a_pile_of_contacts_is_solved_in_body_space_and_never_called_solved_where_it_is_not(backend):
    problem = gallery.make("boxed_stack", n=96, seed=3).problem
    result = perp.solve(problem, QuadraticProgram(backend))
    assert result.success == (result.residual <= 1e-8)
    assert result.success or backend == "highs"
    assert result.residual < 1e-3
    assembled = perp.solve(problem, QuadraticProgram(backend, space="assembled"))
    assert assembled.success == (assembled.residual <= 1e-8)


def test_highs_is_not_believed_where_it_says_optimal_and_is_not():
    pytest.importorskip("highspy")
    problem = gallery.make("boxed_stack", n=200, mass_ratio=1000.0, compliance=1e-8).problem
    result = perp.solve(problem, QuadraticProgram("highs", space="assembled"))
    assert result.residual > 1.0
    assert result.status is Status.BREAKDOWN
    assert "highs says 'Optimal'" in result.message


@pytest.mark.parametrize("kind", ["infeasible_psd", "closed_fluid"])
def test_an_infeasible_problem_is_proved_to_be_so_or_not_called_so(backend, kind):
    example = gallery.make(kind, n=90)
    result = perp.solve(example.problem, QuadraticProgram(backend))
    assert not result.success
    assert (result.status is Status.INFEASIBLE) == (result.certificate is not None)
    if backend in ("piqp", "clarabel", "osqp"):
        assert result.status is Status.INFEASIBLE
        assert perp.verify_certificate(example.problem, result.certificate.u).valid


@pytest.mark.parametrize("kind", ["lemke_ray", "several_solutions", "infeasible"])
def test_an_indefinite_matrix_ends_in_a_status(backend, kind, capfd):
    result = perp.solve(gallery.make(kind).problem, QuadraticProgram(backend))
    assert np.isfinite(result.x).all()
    assert result.success == (result.residual <= 1e-8)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_rows_of_any_size_have_the_same_answer(backend, factor):
    result = perp.solve(perp.LCP(factor * A, factor * B), QuadraticProgram(backend))
    assert result.success
    np.testing.assert_allclose(result.x, SOLUTION, atol=1e-7)


def test_fixed_rows_keep_their_value(backend):
    problem = perp.BoxLCP(A, B, [1.0, -2.0], [1.0, np.inf])
    result = perp.solve(problem, QuadraticProgram(backend), tol=1e-6)
    assert result.success
    assert result.x[0] == 1.0
    np.testing.assert_allclose(result.x, [1.0, -1.0], atol=1e-6)


def test_a_start_is_used_and_changes_no_answer(backend):
    problem = gallery.make("boxed_pd", n=30, seed=2).problem
    cold = perp.solve(problem, QuadraticProgram(backend))
    warm = perp.solve(problem, QuadraticProgram(backend), x0=problem.project(cold.x + 1e-4))
    assert warm.success
    np.testing.assert_allclose(warm.x, cold.x, atol=1e-6)


# --- with a solver that does as it is told ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Played(Bridge):
    """Answers the calls one after the other with what it was given, and writes down what it was asked for."""

    answers: list[Answer]
    asked: list[float] = field(default_factory=list)

    name: ClassVar[str] = "piqp"
    package: ClassVar[str] = "piqp"
    module: ClassVar[str] = "numpy"
    tightest: ClassVar[float] = 1e-14

    def prepare(self, solver, statement, tolerance, seconds):
        self.asked.append(tolerance)
        return lambda: self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.fixture
def play(monkeypatch):
    def plays(*answers: Answer) -> Played:
        bridge = Played(list(answers))
        monkeypatch.setitem(BRIDGES, "piqp", bridge)
        return bridge

    return plays


def said(z, ending: Ending = Ending.SOLVED, words: str = "optimal", **more) -> Answer:
    return Answer(ending, words, None if z is None else np.array(z, dtype=float), **more)


LCP = perp.LCP(A, B)


def test_a_solver_that_says_optimal_far_from_a_solution_is_not_believed(play):
    play(said([3.0, 3.0]))
    result = perp.solve(LCP, QuadraticProgram("piqp"))
    assert result.status is Status.BREAKDOWN
    assert "piqp says 'optimal'" in result.message
    assert result.residual == pytest.approx(1.0)


def test_tighter_tolerances_are_asked_for_only_as_long_as_the_residual_is_too_large(play):
    bridge = play(said(SOLUTION + 1e-6), said(SOLUTION + 1e-7), said(SOLUTION + 1e-13))
    assert perp.solve(LCP, QuadraticProgram("piqp")).iterations == 3
    np.testing.assert_allclose(bridge.asked, [1e-10, 1e-12, 1e-14])
    bridge = play(said(SOLUTION + 1e-6), said(SOLUTION + 1e-13))
    result = perp.solve(LCP, QuadraticProgram("piqp", tolerance=1e-5))
    assert result.success
    np.testing.assert_allclose(bridge.asked, [1e-5, 1e-7])


def test_a_solver_that_can_do_no_better_ends_with_reduced_accuracy(play):
    bridge = play(said(SOLUTION + 1e-6, iterations=7))
    result = perp.solve(LCP, QuadraticProgram("piqp"))
    assert result.status is Status.REDUCED_ACCURACY
    assert len(bridge.asked) == result.iterations == 3
    np.testing.assert_array_equal(result.history.counters["backend_iterations"], [0.0, 7.0, 14.0, 21.0])


def test_a_solver_that_gives_up_is_not_asked_again(play):
    bridge = play(said(SOLUTION + 1e-6, Ending.STOPPED, "iteration limit"))
    result = perp.solve(LCP, QuadraticProgram("piqp"))
    assert result.status is Status.REDUCED_ACCURACY
    assert "'iteration limit'" in result.message
    assert len(bridge.asked) == 1


def test_a_worse_answer_does_not_replace_a_better_one(play):
    play(said(SOLUTION + 1e-6), said(SOLUTION + 1e-3))
    result = perp.solve(LCP, QuadraticProgram("piqp"), check_every=10)
    np.testing.assert_array_equal(result.x, problem_point(SOLUTION + 1e-6))


def problem_point(x: np.ndarray) -> np.ndarray:
    return LCP.project(x)


@pytest.mark.parametrize("z", [None, [np.nan, 1.0], [np.inf, 0.0], [1.0]], ids=["none", "nan", "inf", "short"])
def test_what_is_no_answer_is_a_breakdown_with_a_finite_x(play, z):
    play(said(z, Ending.STOPPED, "lost"))
    result = perp.solve(LCP, QuadraticProgram("piqp"))
    assert result.status is Status.BREAKDOWN
    np.testing.assert_array_equal(result.x, [0.0, 0.0])


def test_a_direction_that_proves_infeasibility_is_checked_and_kept(play):
    hopeless = perp.LCP(np.diag([1.0, 0.0]), [1.0, -1.0])
    play(said([0.0, 0.0], Ending.UNBOUNDED, "unbounded", ray=np.array([1e-9, 4.0])))
    result = perp.solve(hopeless, QuadraticProgram("piqp"))
    assert result.status is Status.INFEASIBLE
    np.testing.assert_array_equal(result.certificate.u, [0.0, 1.0])
    play(said([1e-3, 1e12], Ending.STOPPED, "iteration limit"))  # none given, but that is where x went
    assert perp.solve(hopeless, QuadraticProgram("piqp")).status is Status.INFEASIBLE


def test_a_claim_of_infeasibility_without_a_proof_is_a_breakdown(play):
    for ending in (Ending.UNBOUNDED, Ending.INFEASIBLE):
        play(said([0.0, 0.0], ending, "hopeless", ray=np.array([1.0, 1.0])))
        result = perp.solve(LCP, QuadraticProgram("piqp"))
        assert result.status is Status.BREAKDOWN
        assert "piqp says 'hopeless'" in result.message


def test_steps_of_two_and_three_are_a_step_of_five(play):
    method = QuadraticProgram("piqp", tolerance=1e-4)
    answers = [said(SOLUTION + 10.0**-k) for k in range(2, 9)]
    play(*answers)
    whole = method.start(LCP, np.zeros(2))
    method.step(LCP, whole, 0)
    method.step(LCP, whole, 5)
    play(*answers)
    parts = method.start(LCP, np.zeros(2))
    for count in (2, 3):
        method.step(LCP, parts, count)
    np.testing.assert_array_equal(whole.x, parts.x)
    assert whole.counters == parts.counters
    assert whole.ended is None
    method.step(LCP, whole, 5)
    assert whole.ended is not None
    assert whole.unused == 4


# --- what it refuses -------------------------------------------------------------------------------------------------


def test_without_a_solver_the_refusal_names_the_command_that_installs_one(monkeypatch):
    monkeypatch.setattr("perp.solvers.reformulation.bridges.bridge.find_spec", lambda name: None)
    assert QuadraticProgram().label == "quadratic_program"
    with pytest.raises(MethodRefused, match=r"quadratic_program refuses: none of .* pip install 'perp\[piqp\]'"):
        perp.solve(LCP, QuadraticProgram())
    with pytest.raises(MethodRefused, match=r"highspy is not installed: pip install 'perp\[highs\]'"):
        perp.solve(LCP, QuadraticProgram("highs"))


def test_a_solver_that_cannot_be_imported_is_refused_with_its_own_words(play, monkeypatch):
    play()

    def fail(name):
        raise ImportError("a library is missing")

    monkeypatch.setattr("perp.solvers.reformulation.bridges.bridge.import_module", fail)
    with pytest.raises(MethodRefused, match="cannot be imported: a library is missing"):
        perp.solve(LCP, QuadraticProgram("piqp"))


def test_problems_outside_its_class_are_refused(play):
    play()
    with pytest.raises(MethodRefused, match="symmetric"):
        perp.solve(perp.LCP([[1.0, 2.0], [0.0, 1.0]], B), QuadraticProgram("piqp"))
    with pytest.raises(MethodRefused, match=r"A\[1,1\] is -1"):
        perp.solve(perp.LCP(np.diag([1.0, -1.0]), B), QuadraticProgram("piqp"))
    with pytest.raises(MethodRefused, match="needs a factored A"):
        perp.solve(LCP, QuadraticProgram("piqp", space="body"))
    with pytest.raises(MethodRefused, match="contact/box"):
        perp.solve(gallery.make("box_stack", n=24).problem, QuadraticProgram("piqp"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "pipq"}, "did you mean 'piqp'"),
        ({"space": "bodies"}, "did you mean 'body'"),
        ({"tolerance": 0.0}, "> 0"),
    ],
)
def test_options_are_checked_when_the_method_is_made(options, message):
    with pytest.raises(ValueError, match=message):
        QuadraticProgram(**options)


def test_degenerate_rows_are_asked_for_twice_the_digits():
    """Where x_i = y_i = 0 an interior point leaves both at the root of its gap."""
    pytest.importorskip("piqp")
    rng = np.random.default_rng(4)
    for _ in range(10):
        G = rng.standard_normal((6, 6))
        matrix, x = G @ G.T / 6 + 0.1 * np.eye(6), np.where(np.arange(6) < 3, rng.uniform(0.5, 1.0, 6), 0.0)
        result = perp.solve(perp.LCP(matrix, -(matrix @ x)), QuadraticProgram("piqp"))
        assert result.success
        np.testing.assert_allclose(result.x, x, atol=1e-7)
