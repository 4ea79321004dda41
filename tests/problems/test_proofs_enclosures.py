"""`prove`: the box holds the exact solution, which an enumeration in fractions finds apart from it; no false proofs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from exact_enumeration import holds, solutions
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.problems.proofs import Proof, prove

INF = np.inf


@st.composite
def small_problems(draw):
    """Whole numbers: singular, degenerate and unsolvable problems are frequent."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(1, 4))
    A, b = rng.integers(-2, 4, (n, n)).astype(float), rng.integers(-3, 3, n).astype(float)
    if draw(st.booleans()):
        J = rng.integers(-2, 3, (n, max(1, n - 1)))
        A = (J @ J.T).astype(float)
    if draw(st.booleans()):
        return perp.LCP(A, b)
    lower = rng.choice([-INF, -1.0, 0.0], n)
    width = rng.choice([0.0, 2.0, INF], n)
    upper = np.where(np.isinf(lower), rng.choice([0.0, INF], n), np.maximum(lower, -1.0) + width)
    return perp.BoxLCP(A, b, lower, upper)


@settings(max_examples=100)
@given(problem=small_problems())
def test_every_exact_solution_is_proved_and_the_box_holds_it(problem):
    for x in solutions(problem)[0]:
        near = np.array([float(value) for value in x])
        for exact in (False, True):
            proof = prove(problem, near, exact=exact)
            assert proof.exists, proof.reason
            assert holds(proof, x)
            assert proof.radius <= 1e-14
            assert not exact or proof.exact == tuple(x)


@settings(max_examples=100)
@given(problem=small_problems(), seed=strategies.SEEDS)
def test_no_point_gives_a_false_proof(problem, seed):
    """From any start: a box that holds one of the exact solutions, or an exact solution, or no proof."""
    x = np.random.default_rng(seed).integers(-2, 3, problem.n) * 0.5
    found, has_singular = solutions(problem)
    for exact in (False, True):
        proof = prove(problem, x, exact=exact)
        if not proof.exists:
            assert proof.reason
            continue
        assert found or has_singular
        if proof.exact is not None:
            assert holds(proof, proof.exact)
            assert solves_exactly(problem, proof.exact)
        else:
            assert any(holds(proof, solution) for solution in found)
        if proof.unique:
            assert len(found) == 1
        if proof.unique_in_box:
            assert sum(holds(proof, solution) for solution in found) == 1


def solves_exactly(problem, x):
    from exact_enumeration import as_bounds, is_solution

    A = [[Fraction(a) for a in row] for row in problem.A.to_dense().tolist()]
    b = [Fraction(v) for v in problem.b.tolist()]
    bounds = [as_bounds(low, high) for low, high in zip(*problem.bounds(np.zeros(problem.n)), strict=True)]
    return is_solution(A, b, bounds, list(x))


@pytest.mark.parametrize("A", [[[-1.0]], [[0.0]]])
@pytest.mark.parametrize("x", [0.0, 1.0, 1e8])
def test_a_problem_without_solution_is_never_proved(A, x):
    assert not prove(perp.LCP(A, [-1.0]), [x]).exists
    assert not prove(perp.LCP(A, [-1.0]), [x], exact=True).exists


@pytest.mark.parametrize("seed", range(8))
def test_the_unsolvable_but_feasible_problem_is_never_proved(seed):
    problem = gallery.make("unsolvable").problem
    x = 3.0 * np.random.default_rng(seed).random(problem.n)
    assert not prove(problem, x).exists
    assert not prove(problem, x, exact=True).exists


@pytest.mark.parametrize("n", [3, 10, 50])
@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "fluid_like", "murty", "fathi"])
def test_boxes_around_planted_solutions_are_as_narrow_as_float64_can_tell(kind, n):
    example = gallery.make(kind, n=n)
    proof = prove(example.problem, example.x)
    assert proof.exists, proof.reason
    assert proof.relative_width <= 2.0**-51
    assert proof.radius <= 1e-12
    assert proof.unique_in_box


@pytest.mark.parametrize("n", [2, 8, 10, 12])
def test_the_hilbert_matrix_is_no_hindrance(n):
    """Beyond n = 11 the condition number is past float64, and exact arithmetic takes over."""
    A = np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
    x = np.where(np.arange(n) % 3 == 0, 1.0, 0.0)
    problem = perp.LCP(A, np.where(x > 0.0, -(A @ x), -(A @ x) + 1.0))
    proof = prove(problem, x)
    assert proof.exists, proof.reason
    assert proof.unique
    assert holds(proof, prove(problem, x, exact=True).exact)
    assert proof.relative_width <= 2.0**-51


def test_a_matrix_beyond_float64_is_solved_exactly():
    """A_FF is singular to working precision, and not in truth."""
    A = np.array([[1.0 / (i + j + 1) for j in range(14)] for i in range(14)])
    b = -A.sum(axis=1)
    proof = prove(perp.LCP(A, b), np.ones(14))
    exact = prove(perp.BoxLCP(A, b, -INF, INF), np.ones(14))
    assert exact.exact is not None
    assert exact.unique
    assert not proof.exists or holds(proof, proof.exact)


@pytest.mark.parametrize("degenerate", [0.2, 0.5])
@pytest.mark.parametrize("n", [5, 20, 120])
def test_degenerate_rows_of_definite_matrices_are_proved(n, degenerate):
    """Whole numbers, so that x = y = 0 holds exactly."""
    rng = np.random.default_rng(n)
    J = rng.integers(-1, 2, (n, n))
    A = (J @ J.T + n * np.eye(n)).astype(float)
    part = rng.random(n)
    x = np.where(part > degenerate, rng.integers(1, 5, n), 0).astype(float)
    x[part > 0.8] = 0.0
    b = -A @ x + np.where(part > 0.8, 3.0, 0.0)
    proof = prove(perp.LCP(A, b), x)
    assert proof.exists, proof.reason
    assert proof.unique
    assert proof.width <= 1e-12
    assert holds(proof, [Fraction(v) for v in x.tolist()])


@pytest.mark.parametrize("shift", [1e-12, 1e-8, 1e-3, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_a_perturbed_x_gives_no_proof_or_one_of_the_true_solution(shift, seed):
    rng = np.random.default_rng(seed)
    J = rng.integers(-2, 3, (6, 6))
    A = (J @ J.T + np.eye(6)).astype(float)
    x = rng.integers(0, 3, 6).astype(float)
    problem = perp.LCP(A, -A @ x + np.where(x > 0.0, 0.0, 1.0))
    noisy = x + shift * rng.standard_normal(6)
    proof = prove(problem, noisy)
    assert proof.exists, proof.reason
    assert holds(proof, [Fraction(v) for v in x.tolist()])
    assert proof.radius >= np.abs(noisy - x).max()


def test_a_box_rounded_outwards_that_reaches_a_second_solution_is_not_said_to_hold_one():
    """x_0 = 1, its upper bound, with y_0 = -2^-60, and x_0 = 1 - 2^-60 with y_0 = 0: float64 cannot part the two."""
    tiny = 2.0**-60
    problem = perp.BoxLCP([[-1.0, 1.0], [0.0, 1.0]], [1.0, tiny], [0.0, -INF], [1.0, INF])
    proof = prove(problem, [1.0 - 1e-9, -tiny])
    assert sum(holds(proof, x) for x in solutions(problem)[0]) == 2
    assert proof.unique_in_box is None
    assert "not known" in str(proof)
    assert prove(problem, [1.0, -tiny]).unique_in_box  # at the bound the box has no width there


def test_redundant_rows_have_an_exact_solution_and_others_beside_it():
    proof = prove(perp.LCP(np.ones((4, 4)), -np.ones(4)), np.full(4, 0.25))
    assert proof.exact == (Fraction(1, 4),) * 4
    assert proof.unique is False
    assert proof.unique_in_box is None
    assert "others beside it" in str(proof)


def test_fixed_and_free_rows_are_told_exactly_and_solved():
    A = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    problem = perp.BoxLCP(A, [-2.0, 0.0, 5.0], [-INF, -INF, 0.5], [INF, INF, 0.5])  # x_1 = 2, x_0 = 3 x_2, x_2 fixed
    proof = prove(problem, [1.5, 2.0, 0.5])
    assert proof.exists, proof.reason
    assert proof.unique
    assert proof.lower[2] == proof.upper[2] == 0.5
    assert holds(proof, [Fraction(3, 2), Fraction(2), Fraction(1, 2)])


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_the_scale_of_the_data_does_not_matter(factor):
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]) * factor, np.array([-1.0, 4.0]) * factor
    proof = prove(perp.LCP(A, b), [0.5, 0.0])
    assert proof.exists, proof.reason
    assert holds(proof, solutions(perp.LCP(A, b))[0][0])
    assert proof.width <= 1e-15


def test_a_solution_beyond_float64_is_not_enclosed_by_infinities():
    """x = 1e320 / 2: no box of float64 numbers holds it, and what overflows proves nothing."""
    problem = perp.LCP(np.array([[2.0, 1.0], [1.0, 3.0]]) * 1e-320, [-1.0, 4.0])
    for x in ([0.5, 0.0], [1e300, 1e-300], [0.0, 0.0]):
        proof = prove(problem, x)
        assert proof.exact is not None or not proof.exists


def test_scales_far_apart_in_one_problem_are_proved():
    A = np.diag([1e-12, 1.0, 1e12])
    problem = perp.LCP(A, [-1.0, -1.0, -1.0])
    proof = prove(problem, [1e12, 1.0, 1e-12])
    assert proof.exists, proof.reason
    assert proof.unique
    assert holds(proof, solutions(problem)[0][0])
    assert proof.relative_width <= 2.0**-51


def test_signs_of_y_far_below_the_rounding_of_a_residual_are_decided():
    """y = 0.1 + 0.2 - 0.3 in exact arithmetic of the float64 numbers is 2.8e-17, and not zero."""
    A = np.array([[1.0, 0.0], [1.0, 0.0]])
    problem = perp.LCP(A + np.array([[0.0, 0.0], [0.0, 1.0]]), [-(0.1 + 0.2), -0.3])
    proof = prove(problem, [0.1 + 0.2, 0.0])
    assert proof.exists
    assert proof.exact is None
    assert proof.upper[1] == 0.0


@pytest.mark.parametrize("form", ["dense", "sparse", "factored"])
def test_all_forms_of_A_that_have_numbers_are_proved(form):
    operator = strategies.factored_operator(np.random.default_rng(5), 3)
    A = strategies.in_form(operator, form)
    x = np.where(np.arange(9) % 2 == 0, 1.0, 0.0)
    x[3:] = 0.0
    b = -(operator.to_dense() @ x) + np.where(x > 0.0, 0.0, 1.0)
    proof = prove(perp.LCP(A, b), x)
    assert proof.exists, proof.reason
    assert proof.radius <= 1e-12


def test_a_stencil_is_proved():
    example = gallery.make("poisson_2d", n=49)
    proof = prove(example.problem, perp.solve(example.problem, method="block_principal").x)
    assert proof.exists, proof.reason


def test_what_cannot_be_treated_is_refused_with_a_reason():
    nothing = perp.MatrixFreeOperator(LinearOperator((2, 2), lambda x: x))
    assert "matrix-free" in prove(perp.LCP(nothing, [-1.0, -1.0]), [1.0, 1.0]).reason
    stack = gallery.make("box_stack", n=48).problem.with_model("cone")
    assert "contact/cone" in prove(stack, np.zeros(stack.n)).reason
    assert "max_rows = 3" in prove(perp.LCP(np.eye(4), np.ones(4)), np.zeros(4), max_rows=3).reason


def test_a_proof_that_failed_claims_nothing():
    proof = prove(perp.LCP([[0.0]], [-1.0]), [0.0])
    assert (proof.exists, proof.lower, proof.upper, proof.radius) == (False, None, None, INF)
    assert (proof.exact, proof.unique, proof.unique_in_box, proof.how) == (None, None, None, "")
    assert proof.width == proof.relative_width == INF
    assert str(proof).startswith("no proof: ")


def test_a_proof_prints_its_box():
    text = str(prove(perp.LCP(3.0 * np.eye(8), -np.ones(8)), np.full(8, 1 / 3), exact=True))
    assert "x[0] in [" in text
    assert "= 1/3" in text
    assert "and 2 more" in text
    assert "only solution" in text


def test_a_result_may_be_given_for_x():
    problem = perp.LCP([[2.0]], [-1.0])
    proof = prove(problem, perp.solve(problem, method="lemke"))
    assert isinstance(proof, Proof)
    assert proof.exists


def test_an_empty_problem_is_proved():
    proof = prove(perp.LCP(np.empty((0, 0)), []), [])
    assert proof.exists
    assert proof.radius == proof.width == 0.0


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, INF], [[1.0, 1.0]], "x", None])
def test_an_x_that_makes_no_sense_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="x"):
        prove(perp.LCP(np.eye(2), [-1.0, -1.0]), bad)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="problem"):
        prove(np.eye(2), [0.0, 0.0])
    with pytest.raises(ValueError, match="max_rows"):
        prove(perp.LCP(np.eye(2), [-1.0, -1.0]), [0.0, 0.0], max_rows=-1)


def test_the_box_cannot_be_changed_and_the_given_x_is_left_alone():
    x = np.array([0.4])
    proof = prove(perp.LCP(sparse.csr_array([[2.0]]), [-1.0]), x)
    assert x[0] == 0.4
    with pytest.raises(ValueError, match="read-only"):
        proof.lower[0] = 0.0


# -- through verify ----------------------------------------------------------------------------------------------------


def test_verify_proves_when_asked():
    problem = perp.LCP([[2.0, 1.0], [1.0, 3.0]], [-1.0, 4.0])
    measured = perp.verify(problem, [0.5, 0.0], prove=True)
    assert measured.proof.exists
    assert measured.proof.unique
    assert measured.error_bounds[0].proved
    assert "proved: a solution lies within" in str(measured)
    assert measured.residual == perp.verify(problem, [0.5, 0.0]).residual


def test_verify_proves_nothing_unasked():
    measured = perp.verify(perp.LCP(np.eye(2), [-1.0, 1.0]), [1.0, 0.0])
    assert measured.proof is None
    assert measured.error_bounds == ()
    assert "proof" not in str(measured)
