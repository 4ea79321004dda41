"""The compiled sweeps against their readable twins, iterate by iterate, in every form of A."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp


def iterates(problem, method, x0, count):
    """The first iterates of a method, taken one step at a time without the loop."""
    state = method.start(problem, x0.copy())
    found = []
    for _ in range(count):
        method.step(problem, state, 1)
        found.append(state.x.copy())
    return found


def assert_follows_twin(problem, relaxation, sweeps=5):
    x = problem.project(np.zeros(problem.n))
    for ours in iterates(problem, perp.PSOR(relaxation), x, sweeps):
        x = twins.sweep(problem, x, relaxation)
        np.testing.assert_allclose(ours, x, rtol=1e-11, atol=1e-11)


@given(strategies.lcps(), st.floats(0.2, 1.9))
def test_psor_on_an_lcp_makes_the_iterates_of_its_twin(problem, relaxation):
    assert_follows_twin(problem, relaxation)


@given(strategies.box_lcps(), st.floats(0.2, 1.9))
def test_psor_on_a_boxed_problem_makes_the_iterates_of_its_twin(problem, relaxation):
    assert_follows_twin(problem, relaxation)


@given(strategies.contact_problems(), st.floats(0.2, 1.9))
def test_psor_on_contacts_makes_the_iterates_of_its_twin(problem, relaxation):
    assert_follows_twin(problem, relaxation)


@given(st.integers(0, 10_000), st.sampled_from(["box", "cone"]))
def test_all_forms_of_the_same_matrix_give_the_same_iterates_to_rounding(seed, model):
    rng = np.random.default_rng(seed)
    operator = strategies.factored_operator(rng, contacts=4, others=2)
    b, friction = rng.standard_normal(operator.n), rng.uniform(0, 1, 4)
    runs = []
    for form in strategies.FORMS:
        problem = perp.ContactProblem(strategies.in_form(operator, form), b, friction, model, extra_rows=2)
        runs.append(iterates(problem, perp.PGS(), np.zeros(problem.n), 6)[-1])
    for run in runs[1:]:
        np.testing.assert_allclose(run, runs[0], rtol=1e-10, atol=1e-10)


@given(st.integers(0, 10_000))
def test_plain_rows_of_a_factored_operator_follow_the_twin_in_both_layouts(seed):
    rng = np.random.default_rng(seed)
    operator = strategies.factored_operator(rng, contacts=3)
    b = rng.standard_normal(operator.n)
    for form in ("factored", "body pairs"):
        assert_follows_twin(perp.BoxLCP(strategies.in_form(operator, form), b, -0.5, 1.0), 1.3)


@pytest.mark.parametrize("form", strategies.FORMS[:3])
def test_planar_contacts_have_one_tangent(form):
    rng = np.random.default_rng(3)
    A = strategies.spd_matrix(rng, 7)
    for model in ("box", "cone"):
        problem = perp.ContactProblem(
            strategies.explicit(A, form), rng.standard_normal(7), [0.3, 0.4, 0.5], model, dimension=2, extra_rows=1
        )
        assert_follows_twin(problem, 1.1)


def test_a_contact_whose_rows_act_on_different_bodies_is_swept_row_by_row():
    rng = np.random.default_rng(5)
    masses = perp.BodyMasses([1.0, 2.0, 3.0], [np.eye(3)] * 3)
    pairs = np.array([[0, 1], [0, 1], [1, 2]])
    operator = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((3, 2, 6)), masses)
    assert_follows_twin(perp.ContactProblem(operator, rng.standard_normal(3), 0.5), 1.0)


def test_a_stencil_is_swept_like_its_matrix():
    stencil = perp.StencilOperator((4, 5), 4.0)
    b = np.random.default_rng(0).standard_normal(20)
    ours = iterates(perp.LCP(stencil, b), perp.PGS(), np.zeros(20), 5)[-1]
    np.testing.assert_allclose(
        ours, iterates(perp.LCP(stencil.to_dense(), b), perp.PGS(), np.zeros(20), 5)[-1], atol=1e-13
    )


@given(strategies.contact_problems())
def test_backward_order_visits_rows_and_contacts_from_the_end(problem):
    x = np.zeros(problem.n)
    for ours in iterates(problem, perp.PGS(order="backward"), x, 3):
        contacts = np.arange(problem.contacts)[::-1]
        rows = np.arange(problem.contact_rows, problem.n)[::-1]
        x = twins.sweep(problem, x, 1.0, contacts, rows, rows_first=True)
        np.testing.assert_allclose(ours, x, rtol=1e-11, atol=1e-11)


@given(strategies.lcps())
def test_symmetric_psor_is_a_forward_and_a_backward_sweep(problem):
    x = np.zeros(problem.n)
    for ours in iterates(problem, perp.SymmetricPSOR(1.3), x, 3):
        x = twins.sweep(problem, twins.sweep(problem, x, 1.3), 1.3, row_order=np.arange(problem.n)[::-1])
        np.testing.assert_allclose(ours, x, rtol=1e-11, atol=1e-11)


def test_random_order_is_a_permutation_that_the_seed_decides():
    rng = np.random.default_rng(1)
    problem = perp.LCP(strategies.spd_matrix(rng, 9), rng.standard_normal(9))
    generator = np.random.default_rng(7)
    x = np.zeros(9)
    for ours in iterates(problem, perp.PGS(order="random", seed=7), x, 4):
        generator.permutation(np.arange(0, dtype=np.uint32))
        x = twins.sweep(problem, x, 1.0, row_order=generator.permutation(np.arange(9, dtype=np.uint32)))
        np.testing.assert_allclose(ours, x, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 17])
def test_products_agree_with_numpy_whatever_the_length_of_a_row(n):
    rng = np.random.default_rng(n)
    A, b, x = rng.standard_normal((n, n)), rng.standard_normal(n), rng.standard_normal(n)
    for form in strategies.FORMS[:3]:
        np.testing.assert_allclose(perp.LCP(strategies.explicit(A, form), b).slack(x), A @ x + b, atol=1e-12)


def test_runs_of_adjacent_columns_are_found_and_short_ones_are_not_worth_it():
    A = np.zeros((4, 12))
    A[0, 0:5] = A[0, 6:12] = A[2, 3:7] = A[3, 11] = 1.0
    A = sparse.csr_array(np.vstack([A, np.zeros((8, 12))]))
    pointers, columns, offsets = perp.SparseOperator(A).runs
    np.testing.assert_array_equal(pointers, [0, 2, 2, 3, 4] + [4] * 8)
    np.testing.assert_array_equal(columns, [0, 6, 3, 11])
    np.testing.assert_array_equal(offsets, [0, 5, 11, 15, 16])
    assert perp.SparseOperator(sparse.eye_array(5, format="csr")).runs is None
    assert perp.SparseOperator(sparse.csr_array((3, 3))).runs is None
    assert perp.SparseOperator(sparse.csr_array((0, 0))).runs is None
