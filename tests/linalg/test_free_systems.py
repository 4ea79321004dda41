"""Every way to solve A_FF dx = r for the free rows, against NumPy, for index sets that change from solve to solve."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import gallery
from perp.linalg import choose_system
from perp.linalg.free_systems import (
    BodySpace,
    DenseGeneral,
    DenseSymmetric,
    SparseGeneral,
    SparseSymmetric,
    factor_or_exchange,
    purify,
    small_shift,
)
from perp.linalg.orderings import METHODS


def sparse_matrix(rng, n, symmetric):
    B = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.15)
    A = B + B.T if symmetric else B
    A[np.diag_indices(n)] = np.abs(A).sum(axis=1) + rng.uniform(0.1, 1.0, n)
    return A


def with_sparse_mass(rng, rows, compliance):
    """J in compressed rows, a mass matrix that couples velocities, and velocities that no row touches."""
    dofs = rows // 2 + 3
    J = rng.standard_normal((rows, dofs)) * (rng.random((rows, dofs)) < 0.4)
    J[:, -2:] = 0.0
    mass = sparse_matrix(rng, dofs, symmetric=True)
    return perp.FactoredOperator(sparse.csr_array(J), sparse.csr_array(mass), compliance)


def in_bodies(rng, rows, compliance):
    contacts = max(1, rows // 3)
    operator = strategies.factored_operator(rng, contacts)
    return perp.FactoredOperator.from_body_pairs(
        np.array([[0, 1], [1, 2], [2, -1]] * contacts),
        rng.standard_normal((3 * contacts, 2, 6)),
        operator.mass,
        compliance,
    )


def explicit(rng, n, symmetric, dense):
    A = sparse_matrix(rng, n, symmetric)
    return A if dense else sparse.csr_array(A)


KINDS = {
    "dense symmetric": (lambda rng, n: explicit(rng, n, True, True), "dense", DenseSymmetric),
    "dense general": (lambda rng, n: explicit(rng, n, False, True), "dense", DenseGeneral),
    "sparse symmetric": (lambda rng, n: explicit(rng, n, True, False), "sparse", SparseSymmetric),
    "sparse general": (lambda rng, n: explicit(rng, n, False, False), "sparse", SparseGeneral),
    "body, sparse mass": (lambda rng, n: with_sparse_mass(rng, n, 0.05), "body", BodySpace),
    "body, pairs": (lambda rng, n: in_bodies(rng, n, 0.05), "body", BodySpace),
    "factored as dense": (lambda rng, n: in_bodies(rng, n, 0.05), "dense", DenseSymmetric),
    "factored as sparse": (lambda rng, n: with_sparse_mass(rng, n, 0.05), "sparse", SparseSymmetric),
}


def solve_by_numpy(A, free, shift, r):
    dx = np.zeros(r.size)
    F = np.flatnonzero(free)
    dx[F] = np.linalg.solve(A[np.ix_(F, F)] + np.diag(shift[F]), r[F])
    return dx


@pytest.mark.parametrize("kind", KINDS)
@given(seed=strategies.SEEDS, n=st.integers(2, 40), shares=st.lists(st.sampled_from([0.0, 0.2, 0.8, 1.0]), min_size=1))
def test_free_rows_are_solved_for_and_the_others_stay_at_zero(kind, seed, n, shares):
    make, space, expected_class = KINDS[kind]
    rng = np.random.default_rng(seed)
    operator = make(rng, n)
    n = operator.n if isinstance(operator, perp.Operator) else operator.shape[0]
    problem = perp.LCP(operator, np.zeros(n))
    A, system = problem.A.to_dense(), choose_system(problem, space)
    if n > 2:  # tiny random matrices may happen to be symmetric
        assert type(system) is expected_class or problem.is_symmetric
    for done, share in enumerate(shares[:6], 1):
        free = rng.random(n) < share
        shift = rng.choice([0.0, 0.3], n)
        system.factor(free, shift)
        for _ in range(2):
            r = rng.standard_normal(n)
            given_r = r.copy()
            dx = system.solve(r)
            np.testing.assert_array_equal(r, given_r)
            np.testing.assert_array_equal(dx[~free], 0.0)
            np.testing.assert_allclose(dx, solve_by_numpy(A, free, shift, r), rtol=1e-7, atol=1e-8)
        assert system.dependent == 0
        assert 0 < system.counters()["factorisations"] <= done  # small changes may be made to the factor that is there


@pytest.mark.parametrize("kind", ["body, sparse mass", "body, pairs"])
@given(seed=strategies.SEEDS, n=st.integers(3, 24))
def test_without_compliance_refinement_takes_the_lifted_one_back(kind, seed, n):
    rng = np.random.default_rng(seed)
    operator = in_bodies(rng, n, 0.0) if kind == "body, pairs" else with_sparse_mass(rng, n, 0.0)
    n = operator.n
    problem = perp.LCP(operator, np.zeros(n))
    A = operator.to_dense()
    assume((A.diagonal() > 0).all())
    free = rng.random(n) < 0.3
    if free.any():  # only sets whose rows do not depend on one another have one answer
        least = np.linalg.eigvalsh(A[np.ix_(free, free)])[0]
        free &= least > 1e-2 * A.max()
    system = choose_system(problem, "body")
    system.factor(free, np.zeros(n))
    r = np.where(free, rng.standard_normal(n), 0.0)
    dx = np.zeros(n)
    for _ in range(5):
        dx += system.solve(np.where(free, r - A @ dx, 0.0))
    np.testing.assert_allclose(np.where(free, A @ dx, 0.0), r, atol=1e-10)


@given(seed=strategies.SEEDS, n=st.integers(2, 30), share=st.floats(0.0, 1.0))
def test_the_space_does_not_change_the_answer(seed, n, share):
    rng = np.random.default_rng(seed)
    operator = with_sparse_mass(rng, n, rng.uniform(0.01, 0.1, n))
    problem = perp.LCP(operator, np.zeros(n))
    free, r = rng.random(n) < share, rng.standard_normal(n)
    answers = []
    for space in ("dense", "sparse", "body"):
        system = choose_system(problem, space)
        system.factor(free, np.zeros(n))
        answers.append(system.solve(r))
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(answers[2], answers[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("ordering", [*METHODS, "best"])
@pytest.mark.parametrize("space", ["sparse", "body"])
def test_the_ordering_does_not_change_the_answer(space, ordering):
    problem = gallery.make("boxed_stack", n=96, compliance=1e-3).problem
    free = np.arange(problem.n) % 3 != 1
    system = choose_system(problem, space, ordering)
    system.factor(free, np.zeros(problem.n))
    r = np.sin(np.arange(problem.n))
    expected = solve_by_numpy(problem.A.to_dense(), free, np.zeros(problem.n), r)
    np.testing.assert_allclose(system.solve(r), expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


# -- which way is chosen ----------------------------------------------------------------------------------------------


def test_a_dense_matrix_and_a_small_one_are_solved_densely():
    assert isinstance(choose_system(gallery.make("dense_pd", n=400).problem), DenseSymmetric)
    assert isinstance(choose_system(gallery.make("poisson_2d", n=100).problem), DenseSymmetric)
    assert isinstance(choose_system(gallery.make("boxed_stack", n=48).problem), DenseSymmetric)


def test_a_large_sparse_matrix_is_solved_sparsely_and_a_full_one_densely():
    assert isinstance(choose_system(gallery.make("poisson_2d", n=400).problem), SparseSymmetric)
    full = sparse.csr_array(strategies.spd_matrix(np.random.default_rng(0), 160))
    assert isinstance(choose_system(perp.LCP(full, np.zeros(160))), DenseSymmetric)


def test_a_matrix_that_is_not_symmetric_gets_row_exchanges():
    rng = np.random.default_rng(0)
    A = sparse_matrix(rng, 200, symmetric=False) * (np.abs(np.subtract.outer(np.arange(200), np.arange(200))) < 20)
    assert isinstance(choose_system(perp.LCP(A, np.zeros(200))), DenseGeneral)
    assert isinstance(choose_system(perp.LCP(sparse.csr_array(A), np.zeros(200))), SparseGeneral)


def test_many_contacts_of_few_bodies_are_solved_in_body_space():
    rng = np.random.default_rng(0)
    problem = perp.LCP(in_bodies(rng, 200, 0.01), np.zeros(198))
    assert problem.A.mass.dofs <= problem.n // 2
    assert isinstance(choose_system(problem), BodySpace)


def test_general_asks_for_row_exchanges_also_where_a_is_symmetric():
    problem = gallery.make("dense_pd", n=20).problem
    assert isinstance(choose_system(problem, "dense", general=True), DenseGeneral)
    assert isinstance(choose_system(problem, "sparse", general=True), SparseGeneral)


@pytest.mark.parametrize("problem", [gallery.make("poisson_2d", n=100).problem, gallery.make("dense_pd", n=5).problem])
def test_body_space_without_bodies_is_refused(problem):
    with pytest.raises(ValueError, match="factored"):
        choose_system(problem, "body")


def test_an_unknown_space_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="sparse"):
        choose_system(gallery.make("dense_pd", n=5).problem, "sprase")


# -- matrices that are not what they should be ------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["dense", "sparse"])
@given(seed=strategies.SEEDS, n=st.integers(2, 25))
def test_dependent_free_rows_rest(space, seed, n):
    rng = np.random.default_rng(seed)
    J = np.round(3 * rng.standard_normal((n, 2 * n)) * (rng.random((n, 2 * n)) < 0.2))
    copies = rng.random(n) < 0.4
    J[copies] = J[rng.integers(0, n, copies.sum())]
    A = J @ J.T
    problem = perp.LCP(sparse.csr_array(A), np.zeros(n))
    free = rng.random(n) < 0.8
    F = np.flatnonzero(free)
    system = choose_system(problem, space)
    system.factor(free, np.zeros(n))
    rank = np.linalg.matrix_rank(A[np.ix_(F, F)]) if F.size else 0
    assert system.dependent == F.size - rank
    r = np.where(free, A @ np.where(free, rng.standard_normal(n), 0.0), 0.0)  # within reach of the free rows
    dx = system.solve(r)
    assert np.isfinite(dx).all()
    np.testing.assert_allclose(np.where(free, A @ dx, 0.0), r, atol=1e-6 * (1 + np.abs(r).max()))


@pytest.mark.parametrize("space", ["dense", "sparse"])
def test_a_symmetric_matrix_that_is_indefinite_says_so(space):
    problem = perp.LCP(sparse.csr_array([[2.0, 1.0], [1.0, -1.0]]), np.zeros(2))
    system = choose_system(problem, space)
    system.factor(np.array([True, True]), np.zeros(2))
    assert system.negative == 1
    system.factor(np.array([True, False]), np.zeros(2))
    assert system.negative == 0


def test_a_singular_sparse_general_matrix_gives_no_numbers_rather_than_wrong_ones():
    A = sparse.csr_array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [1.0, 0.0, 1.0]])
    system = choose_system(perp.LCP(A, np.zeros(3)), "sparse")
    system.factor(np.array([True, True, False]), np.zeros(3))
    assert system.dependent > 0
    assert np.isfinite(system.solve(np.ones(3))).all()
    system.factor(np.array([True, False, True]), np.zeros(3))
    assert system.dependent == 0
    np.testing.assert_allclose(system.solve(np.ones(3)), [1.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_no_free_rows_are_no_trouble(kind):
    make, space, _ = KINDS[kind]
    operator = make(np.random.default_rng(1), 12)
    n = operator.n if isinstance(operator, perp.Operator) else operator.shape[0]
    system = choose_system(perp.LCP(operator, np.zeros(n)), space)
    system.factor(np.zeros(n, dtype=bool), np.zeros(n))
    np.testing.assert_array_equal(system.solve(np.ones(n)), 0.0)


def immovable(n):
    """Contacts of one body with another that cannot move."""
    rng = np.random.default_rng(0)
    masses = perp.BodyMasses([np.inf, 1.0], np.stack([np.eye(3)] * 2))
    pairs = np.tile([0, 1], (n, 1))
    operator = perp.FactoredOperator.from_body_pairs(pairs, rng.standard_normal((n, 2, 6)), masses, compliance=0.1)
    return perp.LCP(operator, rng.standard_normal(n))


def test_bodies_that_cannot_move_are_no_trouble():
    problem = immovable(200)
    system = choose_system(problem)
    system.factor(np.ones(200, dtype=bool), np.zeros(200))
    np.testing.assert_allclose(problem.A.apply(system.solve(np.ones(200))), 1.0, atol=1e-8)


def test_an_empty_row_without_compliance_is_no_trouble_in_body_space():
    J = sparse.csr_array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    system = choose_system(perp.LCP(perp.FactoredOperator(J, np.ones(2)), np.zeros(3)), "body")
    system.factor(np.array([True, False, True]), np.zeros(3))
    np.testing.assert_allclose(system.solve(np.ones(3)), [1.0, 0.0, 1.0], atol=1e-6)  # before any refinement


def test_velocities_that_no_row_touches_are_no_trouble():
    rng = np.random.default_rng(0)
    masses = perp.BodyMasses([2.0, 1.0, 3.0], np.stack([np.diag([1.0, 2.0, 3.0])] * 3))
    operator = perp.FactoredOperator.from_body_pairs(
        np.tile([0, 2], (9, 1)), rng.standard_normal((9, 2, 6)), masses, 0.1
    )
    system = choose_system(perp.LCP(operator, np.zeros(9)), "body")
    system.factor(np.ones(9, dtype=bool), np.zeros(9))
    np.testing.assert_allclose(operator.apply(system.solve(np.ones(9))), 1.0)


@given(strategies.SEEDS, st.integers(1, 40))
def test_the_slack_of_a_dense_symmetric_system_reads_only_rows_whose_x_is_not_zero(seed, n):
    rng = np.random.default_rng(seed)
    problem = perp.LCP(strategies.spd_matrix(rng, n), rng.standard_normal(n))
    x = rng.standard_normal(n) * (rng.random(n) < 0.5)
    found = choose_system(problem, "dense").slack(problem, x, np.empty(n))
    np.testing.assert_allclose(found, problem.slack(x), atol=1e-12)


def test_an_indefinite_matrix_is_factored_with_row_exchanges_and_all_factors_are_counted():
    A = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    problem = perp.LCP(A, np.zeros(3))
    begun = choose_system(problem, "dense")
    system = factor_or_exchange(problem, begun, np.ones(3, dtype=bool), np.zeros(3))
    assert system is not begun
    assert system.factorisations == 2
    np.testing.assert_allclose(system.solve(np.array([4.0, 5.0, 4.0])), [2.0, 1.0, 2.0])


def test_purifying_leaves_the_null_vector_of_a_singular_matrix():
    A = np.ones((3, 3))
    problem = perp.LCP(A, np.zeros(3))
    free, shift = np.ones(3, dtype=bool), small_shift(problem)
    system = choose_system(problem, "dense")
    system.factor(free, shift)
    found = purify(system, free, np.array([3.0, 1.0, 0.0]), shift)
    np.testing.assert_allclose(A @ found, 0.0, atol=1e-12)
    np.testing.assert_allclose(found / np.abs(found).max(), np.array([5.0, -1.0, -4.0]) / 5.0, atol=1e-7)
