"""Block principal pivoting: index sets against a readable twin, every fallback, hard inputs, honest ends."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import BlockPrincipal, BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.linalg.orderings import METHODS as ORDERINGS

FALLBACKS = ("parametric", "progress", "count")
PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())


def blocks_of_twin(problem, x):
    """The index sets that THESIS Algorithm 1 solves on, one after another: -1 lower, 0 free, 1 upper."""
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)
    sets = np.where(x <= lower, -1, np.where(x >= upper, 1, 0))
    while True:
        yield sets.copy()
        x = np.where(sets < 0, lower, np.where(sets > 0, upper, 0.0))
        F = sets == 0
        x[F] = 0.0
        x[F] = np.linalg.solve(A[np.ix_(F, F)], -(A @ x + b)[F])
        y = A @ x + b
        before = sets.copy()
        sets[F & (x < lower - 1e-12)] = -1  # eq. 2.41
        sets[F & (x > upper + 1e-12)] = 1  # eq. 2.42
        movable = lower < upper
        sets[movable & (before < 0) & (y < -1e-12)] = 0  # eq. 2.43
        sets[movable & (before > 0) & (y > 1e-12)] = 0  # eq. 2.44
        if np.array_equal(sets, before):
            return


def sets_of(problem, method, x):
    """The index sets that the method solves on, as long as it changes them by blocks."""
    state = method.start(problem, x)
    while state.ended is None and state.counters["fallbacks"] == 0:
        yield state.sets.astype(int)
        method.step(problem, state, 1)


def no_worse(result, problem, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(problem, result.certificate.u).valid
    return result


# -- Algorithm 1 ------------------------------------------------------------------------------------------------------


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_the_index_sets_are_those_of_the_twin_as_long_as_blocks_are_used(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2))
    ours = list(sets_of(problem, BlockPrincipal(), x.copy()))
    for k, (mine, twin) in enumerate(zip(ours, blocks_of_twin(problem, x), strict=False)):
        np.testing.assert_array_equal(mine, twin, err_msg=f"iteration {k}")


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("space", ["dense", "sparse"])
@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_a_positive_definite_problem_is_solved_from_any_start(space, fallback, problem, seed):
    x0 = np.random.default_rng(seed).standard_normal(problem.n) * (seed % 2)
    result = perp.solve(problem, BlockPrincipal(space=space, fallback=fallback), x0=x0, tol=1e-10)
    assert no_worse(result, problem, 1e-10).success
    np.testing.assert_allclose(result.x, perp.solve(problem, "dantzig", tol=1e-10).x, atol=1e-7)


@pytest.mark.parametrize("space", ["dense", "sparse"])
@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "boxed_pd", "fluid_like", "poisson_2d", "fathi"])
def test_the_planted_solution_is_found_to_rounding_in_a_handful_of_iterations(kind, space):
    example = gallery.make(kind, n=100 if kind != "fathi" else 8)
    result = perp.solve(example.problem, BlockPrincipal(space=space), tol=1e-11)
    assert result.success
    assert result.iterations <= 15
    np.testing.assert_allclose(result.x, example.x, atol=1e-9)


@pytest.mark.parametrize("n", [5, 12, 40])
def test_row_47_murtys_problem_takes_about_n_block_pivots(n):
    result = perp.solve(gallery.make("murty", n=n).problem, BlockPrincipal())
    assert result.success
    assert result.iterations <= 1.25 * n + 1
    assert perp.solve(result.problem, BlockPrincipal(block_pivots=n)).iterations <= n + 1  # without any fallback


def test_index_sets_begin_by_position():
    problem = BoxLCP(np.eye(5), np.zeros(5), [0, 0, 0, -np.inf, 2], [1, 1, 1, np.inf, 2])
    state = BlockPrincipal().start(problem, np.array([0.0, 0.5, 1.0, -3.0, 2.0]))
    np.testing.assert_array_equal(state.sets, [-1, 0, 1, 0, -1])


@pytest.mark.parametrize("kind", ["dense_pd", "boxed_pd", "poisson_2d", "boxed_stack"])
def test_row_78_a_warm_start_from_its_own_solution_takes_at_most_one_iteration(kind):
    problem = gallery.make(kind, n=96, **({"compliance": 1e-4} if kind == "boxed_stack" else {})).problem
    cold = perp.solve(problem, BlockPrincipal(), tol=1e-10)
    assert cold.success
    assert perp.solve(problem, BlockPrincipal(), tol=1e-10, x0=cold).iterations <= 1


@pytest.mark.parametrize("kind", ["dense_pd", "dense_p", "poisson_2d", "fluid_like"])
def test_a_warm_start_after_a_small_change_of_b_takes_fewer_iterations(kind):
    problem = gallery.make(kind, n=100).problem
    cold = perp.solve(problem, BlockPrincipal())
    scaled = perp.LCP(problem.A, 1.01 * problem.b)
    warm = perp.solve(scaled, BlockPrincipal(), x0=cold)
    assert warm.success
    assert warm.iterations == 1 < perp.solve(scaled, BlockPrincipal()).iterations


# -- the fallbacks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", FALLBACKS)
def test_row_49_a_cycle_of_blocks_is_broken_by_every_fallback(fallback):
    example = gallery.make("block_pivot_cycle")
    result = perp.solve(example.problem, BlockPrincipal(fallback=fallback))
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-14)
    assert result.history.counters["fallbacks"][-1] >= 1
    assert result.history.counters["single_pivots"][-1] >= 1


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("a", [1.5, 2.0, 10.0])
def test_row_48_the_cycle_of_newtons_method_is_no_trouble(fallback, a):
    example = gallery.make("newton_min_cycle", a=a)
    result = perp.solve(example.problem, BlockPrincipal(fallback=fallback), x0=[1.0, 0.0, 0.0])
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-12)


@st.composite
def p_matrices(draw):
    """Triangular up to a permutation of rows and columns: P, and as far from positive definite as one likes."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(2, 9))
    T = np.triu(rng.uniform(-4.0, 4.0, (n, n)), 1) + np.diag(rng.uniform(0.5, 2.0, n))
    order = rng.permutation(n)
    return perp.LCP(T[np.ix_(order, order)], rng.standard_normal(n))


@pytest.mark.parametrize("block_pivots", [0, 1, 5])
@pytest.mark.parametrize("fallback", ["parametric", "progress"])
@given(problem=p_matrices())
def test_every_p_matrix_is_solved_however_soon_blocks_are_given_up(fallback, block_pivots, problem):
    method = BlockPrincipal(fallback=fallback, block_pivots=block_pivots)
    result = perp.solve(problem, method)
    assert no_worse(result, problem).success, result.message
    np.testing.assert_allclose(result.x, perp.solve(problem, "enumeration").x, atol=1e-6)


@given(problem=p_matrices(), single_pivots=st.integers(1, 5))
def test_single_pivots_by_number_end_at_the_solution_or_say_that_they_do_not(problem, single_pivots):
    method = BlockPrincipal(fallback="count", single_pivots=single_pivots)
    result = no_worse(perp.solve(problem, method, max_iterations=500), problem)
    assert result.status in (Status.CONVERGED, Status.CYCLING, Status.ITERATION_LIMIT)


# -- bounds of every kind ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["dense", "sparse"])
def test_row_8_fixed_rows_keep_their_value_and_equations_hold(space):
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, BlockPrincipal(space=space))
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75])


@pytest.mark.parametrize("space", ["dense", "sparse"])
@given(seed=strategies.SEEDS, n=st.integers(1, 30))
def test_row_9_equations_alone_are_a_linear_system(space, seed, n):
    rng = np.random.default_rng(seed)
    A, b = strategies.spd_matrix(rng, n), rng.standard_normal(n)
    result = perp.solve(BoxLCP(A, b, -np.inf, np.inf), BlockPrincipal(space=space))
    assert result.success
    assert result.iterations == 1
    np.testing.assert_allclose(result.x, np.linalg.solve(A, -b), rtol=1e-8)


def test_row_9_a_singular_system_is_solved_if_it_can_be():
    A, free = np.array([[1.0, 2.0], [2.0, 4.0]]), {"lower": -np.inf, "upper": np.inf}
    assert perp.solve(BoxLCP(A, [1.0, 2.0], **free), BlockPrincipal()).success
    contradictory = BoxLCP(A, [1.0, 3.0], **free)
    assert not no_worse(perp.solve(contradictory, BlockPrincipal()), contradictory).success


@pytest.mark.parametrize("model", [{}, {"load": "gravity"}, {"load": "gravity", "layout": "tower"}, {"friction": 0.9}])
def test_a_small_stack_with_friction_is_solved(model):
    example = gallery.make("box_stack", n=48, **model)
    result = perp.solve(example.problem, BlockPrincipal())
    assert result.success
    assert result.history.counters["bound_updates"][-1] > 0
    if example.x is not None:
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_without_friction_the_bounds_need_no_update():
    result = perp.solve(gallery.make("box_stack", n=48, friction=0.0).problem, BlockPrincipal())
    assert result.success
    assert result.history.counters["bound_updates"][-1] == 0


@given(problem=strategies.contact_problems())
def test_small_contact_problems_of_every_form_end_honestly(problem):
    if problem.model == "cone":
        with pytest.raises(MethodRefused):
            perp.solve(problem, BlockPrincipal())
        return
    no_worse(perp.solve(problem, BlockPrincipal(), max_iterations=500), problem)


@pytest.mark.parametrize("ordering", [*ORDERINGS, "best"])
@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_neither_space_nor_ordering_changes_the_answer(space, ordering):
    example = gallery.make("boxed_stack", n=96, compliance=1e-4)
    result = perp.solve(example.problem, BlockPrincipal(space=space, ordering=ordering), tol=1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


# -- adaptive regularisation (Algorithm 9) ----------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("regularisation", [1e-6, 1e-2, 1.0])
@given(problem=strategies.box_lcps())
def test_with_regularisation_the_asked_problem_is_still_solved_exactly(fallback, regularisation, problem):
    method = BlockPrincipal(regularisation=regularisation, pivot_limit=1, fallback=fallback)
    result = no_worse(perp.solve(problem, method, tol=1e-10), problem, 1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "dantzig", tol=1e-10).x, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_regularisation_on_an_ill_conditioned_stack_ends_with_the_exact_answer(seed):
    options = {"mass_ratio": 100.0, "compliance": 1e-6, "load": "gravity"}
    problem = gallery.make("boxed_stack", n=96, seed=seed, **options).problem
    method = BlockPrincipal(regularisation=0.01, pivot_limit=1)
    result = no_worse(perp.solve(problem, method, tol=1e-9), problem, 1e-9)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, BlockPrincipal(), tol=1e-9).x, atol=1e-5)


# -- matrices that are not symmetric, singular, indefinite ------------------------------------------------------------


@pytest.mark.parametrize("space", ["dense", "sparse"])
@given(seed=strategies.SEEDS, n=st.integers(1, 40))
def test_positive_definite_plus_skew_is_solved(space, seed, n):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n))
    A = strategies.spd_matrix(rng, n) + (G - G.T)
    problem = perp.LCP(sparse.csr_array(A) if space == "sparse" else A, rng.standard_normal(n))
    assert no_worse(perp.solve(problem, BlockPrincipal(space=space)), problem).success


def test_a_large_sparse_matrix_that_is_not_symmetric_is_solved():
    n = 900
    A = gallery.make("poisson_2d", n=n).problem.A.to_sparse()
    wind = sparse.diags_array(np.full(n - 1, 0.5), offsets=1) - sparse.diags_array(np.full(n - 1, 0.5), offsets=-1)
    example = gallery.planted_lcp(sparse.csr_array(A + wind))
    result = perp.solve(example.problem, BlockPrincipal(), tol=1e-11)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-9)


@pytest.mark.parametrize("space", ["dense", "sparse"])
@pytest.mark.parametrize("kind", ["degenerate", "redundant_contacts", "dense_psd", "hilbert", "contact_like"])
def test_degenerate_and_singular_problems_are_solved(kind, space):
    example = gallery.make(kind, n=12)
    result = perp.solve(example.problem, BlockPrincipal(space=space))
    assert result.success
    if kind != "contact_like":
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-7)


@pytest.mark.parametrize("space", ["dense", "sparse"])
def test_row_41_four_legs_carry_one_weight(space):
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), BlockPrincipal(space=space))
    assert result.success
    assert result.x.sum() == pytest.approx(1.0)
    assert result.history.counters["singular"][-1] >= 1


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_row_61_redundant_contacts_of_a_wall_are_solved(space):
    for seed in range(5):
        example = gallery.make("boxed_stack", n=192, seed=seed)
        result = perp.solve(example.problem, BlockPrincipal(space=space))
        assert result.success
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


@pytest.mark.parametrize("space", ["auto", "body"])
def test_a_small_wall_under_its_weight_is_solved(space):
    for seed in range(5):
        problem = gallery.make("boxed_stack", n=96, seed=seed, load="gravity").problem
        assert perp.solve(problem, BlockPrincipal(space=space)).success


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize(("a", "b"), [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)])
def test_rows_10_to_18_of_the_table_of_signs(a, b, fallback):
    example = gallery.make("sign_table", a=a, b=b)
    result = no_worse(perp.solve(example.problem, BlockPrincipal(fallback=fallback)), example.problem)
    if example.expected == "infeasible":
        assert result.status is Status.INFEASIBLE or a < 0
    else:
        assert result.success


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.diag([0.0, 0.0, 1.0]), [[0.0, -1.0], [-1.0, 0.0]]])
def test_rows_43_and_44_without_a_solution_come_with_a_proof(A):
    n = len(A)
    b = np.where(np.arange(n) < 2, -1.0, 0.0)
    result = perp.solve(perp.LCP(A, b), BlockPrincipal())
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(result.problem, result.certificate.u).valid
    assert perp.solve(perp.LCP(A, np.abs(b)), BlockPrincipal()).success


@pytest.mark.parametrize(
    "problem",
    [
        perp.LCP(np.diag([1.0, 0.0]), [-1.0, -1.0]),
        perp.LCP([[4.0, -2.0], [-2.0, 1.0]], [-1.0, -1.0]),
        gallery.make("infeasible_psd").problem,
        gallery.make("closed_fluid").problem,
    ],
    ids=["2 x 2", "rank 1", "row 42", "row 67"],
)
def test_rows_42_and_67_an_infeasible_semidefinite_problem_comes_with_a_proof(problem):
    result = no_worse(perp.solve(problem, BlockPrincipal()), problem)
    assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("space", ["dense", "sparse"])
def test_row_45_the_feasible_but_unsolvable_problem_is_neither_converged_nor_infeasible(space, fallback):
    A = np.array([[2.0, 1.0], [1.0, -1.0]])
    for x0 in ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]):
        result = perp.solve(perp.LCP(A, [2.0, -2.0]), BlockPrincipal(space=space, fallback=fallback), x0=x0)
        assert result.status not in (Status.CONVERGED, Status.INFEASIBLE)
        assert result.certificate is None


@pytest.mark.parametrize("fallback", FALLBACKS)
@given(seed=strategies.SEEDS, n=st.integers(1, 12), form=st.sampled_from(["dense", "sparse"]))
def test_any_matrix_at_all_ends_honestly(fallback, seed, n, form):
    rng = np.random.default_rng(seed)
    A = np.round(rng.standard_normal((n, n)) * 2)
    if seed % 3 == 0:
        A = A + A.T
    problem = perp.LCP(sparse.csr_array(A) if form == "sparse" else A, np.round(2 * rng.standard_normal(n)))
    no_worse(perp.solve(problem, BlockPrincipal(fallback=fallback, space=form), max_iterations=300), problem)


# -- numbers of extreme size ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense_pd", "dense_p"])
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_extreme_factors_change_nothing(kind, factor):
    example = gallery.make(kind, n=30)
    A, b = example.problem.A.to_dense(), example.problem.b
    result = perp.solve(perp.LCP(A * factor, b * factor), BlockPrincipal())
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-10)


@pytest.mark.parametrize("space", ["dense", "sparse"])
@pytest.mark.parametrize("size", [1e6, 1e12])
def test_row_53_rows_and_columns_of_very_different_size_change_nothing(size, space):
    example = gallery.make("dense_pd", n=30)
    D = np.where(np.arange(30) % 2, 1 / size, size)
    problem = perp.LCP(example.problem.A.to_dense() * np.outer(D, D), example.problem.b * D)
    np.testing.assert_allclose(perp.solve(problem, BlockPrincipal(space=space)).x * D, example.x, atol=1e-9)


@pytest.mark.parametrize(
    ("space", "size"),
    [
        ("dense", 1e6),
        ("sparse", 1e6),
        ("sparse", 1e9),
        ("dense", 1e9),
        ("dense", 1e12),
    ],
)
def test_row_53_rows_of_very_different_size_of_a_general_matrix_change_nothing(space, size):
    example = gallery.make("dense_p", n=30)
    D = np.where(np.arange(30) % 2, 1 / size, size)
    problem = perp.LCP(example.problem.A.to_dense() * D[:, None], example.problem.b * D)
    np.testing.assert_allclose(perp.solve(problem, BlockPrincipal(space=space)).x, example.x, atol=1e-9)


@pytest.mark.parametrize("b", [1e-320, -1e-320, 1e300, -1e300])
def test_row_54_denormal_and_huge_biases_do_not_hang(b):
    problem = perp.LCP(np.eye(3) + 1.0, np.full(3, b))
    result = perp.solve(problem, BlockPrincipal(), max_iterations=50)
    assert np.isfinite(result.x).all()
    assert result.success or abs(b) == 1e300


# -- the contract of a method -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.parametrize("kind", ["dense_pd", "block_pivot_cycle", "boxed_stack", "box_stack", "infeasible_psd"])
def test_two_iterations_and_three_are_five_bit_for_bit(kind, fallback):
    problem = gallery.make(kind, **({} if kind == "block_pivot_cycle" else {"n": 96})).problem
    method = BlockPrincipal(fallback=fallback)
    one, other = (method.start(problem, problem.project(np.full(problem.n, 0.01))) for _ in range(2))
    with np.errstate(all="ignore"):
        for _ in range(40):
            method.step(problem, one, 5)
            for count in (0, 2, 3):
                method.step(problem, other, count)
            np.testing.assert_array_equal(one.x, other.x)
            assert one.counters == other.counters
            if one.ended is not None:
                break
    assert other.ended == one.ended


@pytest.mark.parametrize("most", [0, 1, 2, 5, 17])
def test_the_iteration_limit_is_kept(most):
    problem = gallery.make("boxed_stack", n=96, mass_ratio=1000.0, compliance=1e-8, load="gravity").problem
    result = no_worse(perp.solve(problem, BlockPrincipal(), max_iterations=most), problem)
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == most


def test_iterations_that_were_not_needed_are_given_back():
    problem = gallery.make("dense_pd", n=40).problem
    state = BlockPrincipal().start(problem, np.zeros(40))
    BlockPrincipal().step(problem, state, 1000)
    assert state.ended is not None
    assert 1000 - state.unused == perp.solve(problem, BlockPrincipal()).iterations


def test_the_same_solve_gives_the_same_bits():
    problem = gallery.make("boxed_stack", n=96, mass_ratio=1000.0, compliance=1e-8, load="gravity").problem
    one, other = (perp.solve(problem, BlockPrincipal()) for _ in range(2))
    np.testing.assert_array_equal(one.x, other.x)
    assert one.history.counters["fallbacks"][-1] >= 1


def test_row_19_nothing_at_all_is_solved():
    assert perp.solve(perp.LCP(np.empty((0, 0)), []), BlockPrincipal()).success


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallback": "progres"}, "progress"),
        ({"space": "sprase"}, "sparse"),
        ({"ordering": "amdd"}, "amd"),
        ({"block_pivots": -1}, "block_pivots"),
        ({"block_pivots": 1.5}, "block_pivots"),
        ({"single_pivots": 0}, "single_pivots"),
        ({"pivot_limit": 0}, "pivot_limit"),
        ({"regularisation": -1e-3}, "regularisation"),
        ({"regularisation": np.nan}, "regularisation"),
        ({"regularisation": np.inf}, "regularisation"),
    ],
)
def test_options_are_checked_when_the_method_is_made(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BlockPrincipal(**options)


def test_body_space_without_bodies_is_refused_before_any_work():
    with pytest.raises(MethodRefused, match="factored"):
        perp.solve(gallery.make("poisson_2d", n=100).problem, BlockPrincipal(space="body"))


@pytest.mark.parametrize("space", ["auto", "body"])
def test_a_body_that_cannot_move_is_no_trouble(space):
    rng, n = np.random.default_rng(0), 200
    masses = perp.BodyMasses([np.inf, 1.0], np.stack([np.eye(3)] * 2))
    pairs, jacobian = np.tile([0, 1], (n, 1)), rng.standard_normal((n, 2, 6))
    operator = perp.FactoredOperator.from_body_pairs(pairs, jacobian, masses, compliance=0.1)
    assert perp.solve(perp.LCP(operator, rng.standard_normal(n)), BlockPrincipal(space=space)).success


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_an_empty_row_that_asks_for_nothing_is_solved_in_every_space(space):
    J = sparse.csr_array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    problem = BoxLCP(perp.FactoredOperator(J, np.ones(2)), [-1.0, 0.0, 1.0], -np.inf, np.inf)
    assert perp.solve(problem, BlockPrincipal(space=space)).success
