"""The compiled pivots against a readable twin: a whole tableau in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.pivoting import lemke as kernel
from perp.solvers.pivoting.lemke import Lemke


def twin_path(A, b, d=None, most=5000):
    """The pivots (entering, leaving) of Lemke's method, in exact arithmetic on the tableau of y - A x - d z0 = b.

    Variables are ("x", i), ("y", i) and ("z", 0). Ties are decided by the rows of the basis inverse, which stand in the
    columns of y, unless z0 is among the tied.
    """
    n = len(b)
    d = np.ones(n) if d is None else d
    names = [("y", i) for i in range(n)] + [("x", i) for i in range(n)] + [("z", 0)]
    tableau = [
        [Fraction(int(i == j)) for j in range(n)] + [-Fraction(a) for a in A[i]] + [-Fraction(d[i]), Fraction(b[i])]
        for i in range(n)
    ]
    basic = [("y", i) for i in range(n)]
    path = []

    def pivot(row, name):
        column = names.index(name)
        path.append((name, basic[row]))
        tableau[row] = [entry / tableau[row][column] for entry in tableau[row]]
        for i in range(n):
            if i != row and tableau[i][column]:
                factor = tableau[i][column]
                tableau[i] = [a - factor * p for a, p in zip(tableau[i], tableau[row], strict=True)]
        basic[row] = name

    if min(b) >= 0:
        return path
    pivot(
        min(range(n), key=lambda i: [Fraction(b[i]) / Fraction(d[i]), *(t / Fraction(d[i]) for t in tableau[i][:n])]),
        ("z", 0),
    )
    while len(path) < most:
        kind, i = path[-1][1]
        if kind == "z":
            return path
        entering = ("x" if kind == "y" else "y", i)
        column = names.index(entering)
        blocking = [i for i in range(n) if tableau[i][column] > 0]
        if not blocking:
            return [*path, (entering, "ray")]
        least = min(tableau[i][-1] / tableau[i][column] for i in blocking)
        tied = [i for i in blocking if tableau[i][-1] == least * tableau[i][column]]
        row = min(tied, key=lambda i: (basic[i] != ("z", 0), [t / tableau[i][column] for t in tableau[i][:n]]))
        pivot(row, entering)
    return path


def kernel_path(problem, count, method=None):
    """The same from the compiled pivots, taken one at a time."""
    method = method or Lemke()
    n = problem.n
    names = [("x", i) for i in range(n)] + [("z", 0)] + [("y", i) for i in range(n)]
    state = method.start(problem, np.zeros(n))
    path = []
    for _ in range(count):
        entering = names[state.basis.whole[kernel.ENTERING]]
        before = basic_variables(state, names)
        method.step(problem, state, 1)
        gone = before - basic_variables(state, names)
        path.append((entering, gone.pop() if gone else "ray"))
    return path, state


def basic_variables(state, names):
    """Complementary to what ROWS and COLUMNS say: y is basic where its row is not listed."""
    lists, size, n = state.basis.lists, state.basis.whole[kernel.SIZE], state.basis.at_upper.size
    zero = set(lists[kernel.ROWS, :size].tolist())
    return {names[j] for j in lists[kernel.COLUMNS, :size]} | {("y", i) for i in range(n) if i not in zero}


def assert_same_path(A, b):
    expected = twin_path(A, b)
    path, state = kernel_path(perp.LCP(A, b), len(expected))
    assert path == expected
    assert state.ended is not None or not expected
    return state


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_pivots_are_those_of_the_twin_on_random_p_matrices(seed, n):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, n))
    assert_same_path(strategies.spd_matrix(rng, n) + K - K.T, rng.standard_normal(n))


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_pivots_are_those_of_the_twin_on_any_matrix_rays_included(seed, n):
    rng = np.random.default_rng(seed)
    assert_same_path(rng.standard_normal((n, n)), rng.standard_normal(n))


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_ties_between_small_whole_numbers_are_broken_as_in_exact_arithmetic(seed, n):
    rng = np.random.default_rng(seed)
    J = rng.integers(-1, 2, (n, 3)).astype(float)
    assert_same_path(J @ J.T, rng.integers(-1, 1, n).astype(float))


@pytest.mark.parametrize("kind", ["murty", "degenerate", "redundant_contacts", "several_solutions", "hilbert"])
@pytest.mark.parametrize("n", [2, 4, 6])
def test_pivots_are_those_of_the_twin_on_problems_with_famous_manners(kind, n):
    problem = perp.gallery.make(kind, n=n).problem
    assert_same_path(problem.A.to_dense(), problem.b)


@pytest.mark.parametrize("n", range(2, 9))
def test_fathis_matrix_takes_two_to_the_n_pivots_in_exact_arithmetic_and_here(n):
    problem = perp.gallery.make("fathi", n=n).problem
    assert len(twin_path(problem.A.to_dense(), problem.b)) == 2**n
    assert_same_path(problem.A.to_dense(), problem.b)


def test_a_covering_vector_changes_the_path_as_it_does_that_of_the_twin():
    problem = perp.gallery.make("fathi", n=6).problem
    d = 2.0 ** np.arange(6, 0, -1)
    expected = twin_path(problem.A.to_dense(), problem.b, d)
    assert kernel_path(problem, len(expected), Lemke(tuple(d)))[0] == expected
    assert len(expected) == 24


def dense_inverse(basis):
    size, stride, n = basis.whole[kernel.SIZE], basis.lists.shape[1], basis.at_upper.size
    columns, rows = basis.lists[kernel.COLUMNS, :size], basis.lists[kernel.ROWS, :size]
    G = basis.matrix.reshape(n + 1, n).T[np.ix_(rows, columns)]
    return G, basis.inverse.reshape(stride, stride)[:size, :size].T


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_the_updated_inverse_stays_an_inverse_whatever_enters_and_leaves(seed, n):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, n))
    upper = rng.choice([0.3, 1.0, np.inf], n)
    problem = perp.BoxLCP(strategies.spd_matrix(rng, n) + K - K.T, 3.0 * rng.standard_normal(n), 0.0, upper)
    method = Lemke()
    state = method.start(problem, np.zeros(n))
    while state.ended is None:
        method.step(problem, state, 1)
        G, inverse = dense_inverse(state.basis)
        np.testing.assert_allclose(G @ inverse, np.eye(len(G)), atol=1e-9)
        slack = state.basis.vectors[kernel.SLACK, :n]
        assert (np.where(state.basis.at_upper, -slack, slack) >= -1e-9).all()


@pytest.mark.parametrize("m", [0, 1, 2, 7, 8, 9, 15, 16, 17, 33])
def test_inverting_from_scratch_agrees_with_numpy(m):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, m))
    problem = perp.BoxLCP(A, rng.standard_normal(m), -np.inf, np.inf)
    state = Lemke().start(problem, np.zeros(m))
    np.testing.assert_allclose(dense_inverse(state.basis)[1] @ dense_inverse(state.basis)[0], np.eye(m), atol=1e-9)


def test_an_inverse_that_drifts_is_computed_anew():
    """Spoil the inverse by hand: the next direction fails its own equations, and the answer is right all the same."""
    rng = np.random.default_rng(2)
    problem = perp.LCP(strategies.spd_matrix(rng, 40), rng.standard_normal(40) - 1.0)
    method = Lemke()
    state = method.start(problem, np.zeros(40))
    method.step(problem, state, 15)
    assert state.counters["refactorisations"] == 1
    size, stride = state.basis.whole[kernel.SIZE], state.basis.lists.shape[1]
    state.basis.inverse.reshape(stride, stride)[:size, :size] *= 1.0 + 1e-6
    method.step(problem, state, 1000)
    assert state.counters["refactorisations"] == 2
    assert perp.verify(problem, state.x).residual < 1e-12


def test_the_inverse_is_computed_anew_after_a_hundred_pivots():
    state = kernel_path(perp.gallery.make("fathi", n=9).problem, 512)[1]
    assert state.counters["pivots"] == 512
    assert state.counters["refactorisations"] == 6  # the first one, and after 100, 200, ... 500 pivots
