"""Fischer-Newton: its derivative against finite differences, its iterates against a twin, hard inputs, honest ends."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import LCP, BoxLCP, Status, gallery
from perp.errors import MethodRefused
from perp.solvers.newton.fischer.fischer import Fischer

PLAIN = {"projected": True, "regularisation": 0.0, "memory": 1, "proximal": "never"}
PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps())


def phi(a, b, penalty=1.0):
    return penalty * (np.hypot(a, b) - a - b) - (1.0 - penalty) * max(a, 0.0) * max(b, 0.0)


def entry(x, y, low, high, penalty=1.0):
    """F_i, written down as Billups does, limits and all."""
    if low == high:
        return low - x
    above = y if high == np.inf else phi(high - x, -y, penalty)
    return -above if low == -np.inf else phi(x - low, above, penalty)


def F_of_twin(problem, x):
    lower, upper = problem.bounds(x)
    return np.array([entry(*row) for row in zip(x, problem.slack(x), lower, upper, strict=True)])


def partials(a, b):
    length = np.hypot(a, b)
    return (-1.0, -1.0) if length == 0.0 else (a / length - 1.0, b / length - 1.0)


def pq_of_twin(problem, x):
    """p and q by the chain rule, with the strategy 'zero'."""
    p, q = np.empty(problem.n), np.empty(problem.n)
    lower, upper = problem.bounds(x)
    for i, (a, y, low, high) in enumerate(zip(x, problem.slack(x), lower, upper, strict=True)):
        if low == high:
            p[i], q[i] = -1.0, 0.0
            continue
        above, c, d = (y, 0.0, -1.0) if high == np.inf else (phi(high - a, -y), *partials(high - a, -y))
        first, second = (0.0, -1.0) if low == -np.inf else partials(a - low, above)
        p[i], q[i] = first - second * c, -second * d
    return p, q


def iterates_of_twin(problem, x):
    """NOTES' Fischer-Newton method: dense, zero strategy, monotone projected line search."""
    A = problem.A.to_dense()
    while True:
        F, (p, q) = F_of_twin(problem, x), pq_of_twin(problem, x)
        J = np.diag(p) + q[:, None] * A  # eq. 96
        dx = np.linalg.solve(J, -F)
        theta, slope, tau = 0.5 * F @ F, F @ J @ dx, 1.0  # eq. 103-104
        while True:
            candidate = problem.project(x + tau * dx)
            G = F_of_twin(problem, candidate)
            if theta + 1e-4 * tau * slope >= 0.5 * G @ G:
                break
            tau *= 0.5
        x = candidate
        yield x


def no_worse(result, problem, tol=1e-8):
    """What must hold of every result whatever its status."""
    found = perp.verify(problem, result.x)
    assert np.isfinite(result.x).all()
    assert found.bound_violation <= 1e-12
    assert result.success == (found.residual <= tol)
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(problem, result.certificate.u).valid
    return result


# -- the reformulation ------------------------------------------------------------------------------------------------

NUMBERS = st.floats(-10.0, 10.0).map(lambda v: round(v, 3))
LOWER = st.sampled_from([-np.inf, -1.0, 0.0])
WIDTH = st.sampled_from([0.0, 2.0, np.inf])


def row_of(x, y, low, width):
    high = 1.0 if np.isinf(low) and width == 0.0 else (np.inf if np.isinf(width) else max(low, -1.0) + width)
    bounds = np.array([low]), np.array([high])
    for bound in bounds:
        bound.flags.writeable = False
    return np.array([x]), np.array([y]), *bounds


@given(x=NUMBERS, y=NUMBERS, low=LOWER, width=WIDTH, penalty=st.sampled_from([1.0, 0.95, 0.3]))
def test_f_is_billups_function_and_its_half_square_the_merit(x, y, low, width, penalty):
    from perp.kernels.newton import fischer_derivative

    row, F = row_of(x, y, low, width), np.empty(1)
    theta = fischer_derivative.evaluate(*row, penalty, 1.0, F)
    assert F[0] == pytest.approx(entry(x, y, row[2][0], row[3][0], penalty), rel=1e-12, abs=1e-12)
    assert theta == pytest.approx(0.5 * F[0] ** 2)


@given(x=NUMBERS, y=NUMBERS, low=LOWER, width=WIDTH, penalty=st.sampled_from([1.0, 0.95, 0.3]))
def test_p_and_q_are_the_derivatives_of_f(x, y, low, width, penalty):
    from perp.kernels.newton import fischer_derivative

    row, p, q = row_of(x, y, low, width), np.empty(1), np.empty(1)
    low, high = row[2][0], row[3][0]
    fischer_derivative.linearise(*row, penalty, np.zeros(1), np.zeros(1), p, q)
    assert p[0] <= 0.0
    assert q[0] <= 0.0
    near = [abs(x - low), abs(high - x), abs(x), abs(y)]
    if min(near) < 1e-2:  # a kink may be that close
        return
    h = 1e-6
    by_x = (entry(x + h, y, low, high, penalty) - entry(x - h, y, low, high, penalty)) / (2 * h)
    by_y = (entry(x, y + h, low, high, penalty) - entry(x, y - h, low, high, penalty)) / (2 * h)
    assert p[0] == pytest.approx(by_x, abs=1e-5)
    assert q[0] == pytest.approx(by_y, abs=1e-5)


def test_derivatives_do_not_cancel_nor_overflow():
    from perp.kernels.newton import fischer_derivative

    x, y = np.array([1.0, 1e200, 1e-200, 1e-9]), np.array([1e-9, 1e200, 1e-200, 1.0])
    lower, upper = np.zeros(4), np.full(4, np.inf)
    lower.flags.writeable = upper.flags.writeable = False
    p, q = np.empty(4), np.empty(4)
    fischer_derivative.linearise(x, y, lower, upper, 1.0, np.zeros(4), np.zeros(4), p, q)
    corner = np.sqrt(0.5) - 1.0
    np.testing.assert_allclose(p, [-5e-19, corner, corner, 1e-9 - 1.0], rtol=1e-12)
    np.testing.assert_allclose(q, [1e-9 - 1.0, corner, corner, -5e-19], rtol=1e-12)


@pytest.mark.parametrize(("strategy", "a", "b"), [("zero", 0.0, 0.0), ("perturbation", 1.0, 0.0)])
def test_where_x_and_y_are_zero_the_strategy_chooses(strategy, a, b):
    problem = LCP(np.eye(2), np.zeros(2))
    state = Fischer(strategy=strategy).start(problem, np.zeros(2))
    np.testing.assert_array_equal(state.p, [a - 1.0] * 2)
    np.testing.assert_array_equal(state.q, [b - 1.0] * 2)


def test_random_choices_lie_in_the_disc_and_follow_the_seed():
    problem = LCP(np.eye(50), np.zeros(50))
    drawn = []
    for seed in (1, 1, 2):
        state = Fischer(strategy="random", seed=seed).start(problem, np.zeros(50))
        state.kinks.draw()
        state.linearise(problem)
        assert np.all((state.p + 1.0) ** 2 + (state.q + 1.0) ** 2 <= 1.0 + 1e-12)
        drawn.append(state.p.copy())
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


# -- the iteration ----------------------------------------------------------------------------------------------------


@given(problem=PROBLEMS, seed=strategies.SEEDS)
def test_the_iterates_are_those_of_the_twin(problem, seed):
    x = problem.project(np.random.default_rng(seed).standard_normal(problem.n))
    method = Fischer(**PLAIN)
    state = method.start(problem, x.copy())
    for twin in iterates_of_twin(problem, x):
        method.step(problem, state, 1)
        if state.ended is not None or state.counters["gradient_steps"] or state.here.theta < 1e-16:
            return
        np.testing.assert_allclose(state.x, twin, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "options",
    [{}, PLAIN, {"strategy": "random"}, {"strategy": "perturbation"}, {"penalty": 0.9}, {"proximal": "always"}],
    ids=["default", "plain", "random", "perturbation", "penalised", "proximal"],
)
@given(problem=PROBLEMS)
def test_positive_definite_problems_are_solved_as_block_pivoting_solves_them(options, problem):
    result = perp.solve(problem, Fischer(**options), tol=1e-10)
    assert no_worse(result, problem, 1e-10).success
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-10).x, atol=1e-7)


@pytest.mark.parametrize("options", [{"linear": "gmres"}, {"strategy": "approximation"}], ids=["gmres", "differences"])
@given(problem=PROBLEMS)
def test_the_iterative_forms_solve_them_too(options, problem):
    result = perp.solve(problem, Fischer(**options), tol=1e-7)
    assert no_worse(result, problem, 1e-7).success


@pytest.mark.parametrize("space", ["dense", "sparse", "body"])
def test_every_space_leads_to_the_same_solution(space):
    example = gallery.make("boxed_stack", n=96, compliance=1e-3)
    result = perp.solve(example.problem, Fischer(space=space), tol=1e-10)
    assert no_worse(result, example.problem, 1e-10).success
    np.testing.assert_allclose(result.y, perp.solve(example.problem, Fischer(), tol=1e-10).y, atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"strategy": "random"}, {"linear": "gmres"}, {"proximal": "always"}])
def test_two_and_three_iterations_are_five(options):
    problem, method = gallery.make("contact_like", n=60, bodies=4).problem, Fischer(**options)
    once, twice = (method.start(problem, np.zeros(problem.n)) for _ in range(2))
    method.step(problem, once, 5)
    for count in (0, 2, 3):
        method.step(problem, twice, count)
    np.testing.assert_array_equal(once.x, twice.x)
    np.testing.assert_array_equal(once.here.point, twice.here.point)
    assert once.counters == twice.counters


def test_a_warm_start_at_the_solution_takes_one_iteration_at_most():
    example = gallery.make("dense_pd", n=30)
    assert perp.solve(example.problem, Fischer(), x0=example.x).iterations <= 1


# -- contacts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directions", [4, 8])
@pytest.mark.parametrize("bodies", [None, 5])
def test_stewart_trinkle_problems_with_redundant_contacts_are_solved(bodies, directions):
    for seed in range(8):
        problem = gallery.contact_like(20 * (directions + 2), seed, directions=directions, bodies=bodies).problem
        assert no_worse(perp.solve(problem, Fischer()), problem).success


def test_where_newton_stalls_the_proximal_point_loop_goes_on():
    problem = gallery.contact_like(200, 36, directions=8, bodies=6).problem
    left_alone = perp.solve(problem, Fischer(proximal="never"))
    assert left_alone.status is Status.STAGNATED
    assert no_worse(left_alone, problem).residual > 1e-8
    rescued = perp.solve(problem, Fischer())
    assert no_worse(rescued, problem).success
    assert rescued.history.counters["proximal_steps"][-1] > 0


def test_the_projection_is_what_makes_newton_fail_on_contacts():
    problems = [gallery.contact_like(120, seed, bodies=5).problem for seed in range(6)]
    free, projected = (
        [perp.solve(p, Fischer(projected=flag, proximal="never"), max_iterations=60).success for p in problems]
        for flag in (False, True)
    )
    assert all(free)
    assert sum(projected) <= 3


def test_counters_tell_what_was_done():
    problem = gallery.contact_like(60, 1, bodies=4).problem
    direct, iterative = perp.solve(problem, Fischer()), perp.solve(problem, Fischer(linear="gmres"))
    assert direct.history.counters["factorisations"][-1] == direct.iterations
    assert direct.history.counters["line_search_evaluations"][-1] >= direct.iterations
    assert iterative.history.counters["inner_iterations"][-1] > iterative.iterations


# -- hard inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, PLAIN], ids=["default", "plain"])
@pytest.mark.parametrize("a", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("b", [-1.0, 0.0, 1.0])
def test_the_sign_table(a, b, options):
    problem = LCP([[a]], [b])
    result = no_worse(perp.solve(problem, Fischer(**options)), problem)
    if b < 0.0 and a <= 0.0:
        assert not result.success
        assert options or result.status is Status.INFEASIBLE
    else:
        assert result.success


@pytest.mark.parametrize("kind", ["infeasible", "infeasible_psd", "closed_fluid"])
def test_infeasible_problems_are_proved_infeasible(kind):
    example = gallery.make(kind) if gallery.kinds()[kind].size is None else gallery.make(kind, n=90)
    assert no_worse(perp.solve(example.problem, Fischer()), example.problem).status is Status.INFEASIBLE


@pytest.mark.parametrize("kind", ["degenerate", "redundant_contacts", "dense_psd", "hilbert", "lemke_ray", "skew"])
def test_singular_and_degenerate_problems_are_solved(kind):
    example = gallery.make(kind) if gallery.kinds()[kind].size is None else gallery.make(kind, n=8)
    assert no_worse(perp.solve(example.problem, Fischer()), example.problem).success


def test_a_feasible_problem_without_solution_is_not_called_solved():
    problem = gallery.make("unsolvable").problem
    assert not no_worse(perp.solve(problem, Fischer()), problem).success


def test_rows_of_any_scale_are_solved():
    example = gallery.make("dense_pd", n=40)
    scale = np.logspace(-8, 8, 40)
    problem = LCP(example.problem.A.to_dense() * scale[:, None], example.problem.b * scale)
    result = no_worse(perp.solve(problem, Fischer()), problem)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-5)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_extreme_numbers_end_honestly(factor):
    example = gallery.make("dense_pd", n=10)
    problem = LCP(example.problem.A.to_dense() * factor, example.problem.b * factor)
    assert no_worse(perp.solve(problem, Fischer()), problem).success


def test_fixed_and_free_rows_are_what_they_say():
    rng = np.random.default_rng(3)
    A = strategies.spd_matrix(rng, 6)
    lower, upper = np.array([1.0, -np.inf, 0.0, -np.inf, -1.0, 2.0]), np.array([1.0, np.inf, np.inf, 0.0, 1.0, 2.0])
    problem = BoxLCP(A, rng.standard_normal(6), lower, upper)
    result = perp.solve(problem, Fischer(), tol=1e-12)
    assert no_worse(result, problem, 1e-12).success
    np.testing.assert_array_equal(result.x[[0, 5]], [1.0, 2.0])
    assert abs(result.y[1]) <= 1e-12


def test_a_singular_equation_without_bounds_ends_without_success():
    problem = BoxLCP([[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0], -np.inf, np.inf)
    assert not no_worse(perp.solve(problem, Fischer()), problem).success


def test_nothing_is_left_to_do_without_rows():
    assert perp.solve(LCP(np.zeros((0, 0)), np.zeros(0)), Fischer()).success


def test_tolerance_zero_ends_by_itself():
    problem = gallery.make("dense_pd", n=20).problem
    result = perp.solve(problem, Fischer(), tol=0.0)
    assert result.residual < 1e-12
    assert result.iterations < 1000


# -- without A --------------------------------------------------------------------------------------------------------


def test_a_product_is_enough_for_gmres_without_preconditioner():
    example = gallery.make("dense_p", n=20)
    A = example.problem.A.to_dense()
    problem = LCP(LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=float), example.problem.b)
    for options in ({"linear": "gmres"}, {"strategy": "approximation"}):
        result = perp.solve(problem, Fischer(preconditioner="none", **options), tol=1e-7)
        assert no_worse(result, problem, 1e-7).success
    with pytest.raises(MethodRefused, match="to_sparse"):
        perp.solve(problem, Fischer())


@pytest.mark.parametrize("options", [{"strategy": "approximation"}, {"linear": "gmres"}])
def test_a_factored_operator_is_never_formed(options, monkeypatch):
    example = gallery.make("boxed_stack", n=96)
    for name in ("to_sparse", "to_dense", "row", "submatrix"):
        monkeypatch.setattr(perp.FactoredOperator, name, None)
    assert perp.solve(example.problem, Fischer(**options), tol=1e-6).success


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"strategy": "zeros"}, ValueError, "strategy .*did you mean 'zero'"),
        ({"linear": "lu"}, ValueError, "linear"),
        ({"space": "bodies"}, ValueError, "did you mean 'body'"),
        ({"proximal": "sometimes"}, ValueError, "proximal"),
        ({"penalty": 0.0}, ValueError, "penalty"),
        ({"penalty": 1.1}, ValueError, "penalty"),
        ({"penalty": True}, TypeError, "penalty"),
        ({"regularisation": -1.0}, ValueError, "regularisation"),
        ({"memory": 0}, ValueError, "memory"),
        ({"projected": 1}, TypeError, "projected"),
        ({"forcing": 1.0}, ValueError, "eq. 105"),
        ({"reduction": 1.0}, ValueError, "reduction"),
        ({"preconditioner": "jacoby"}, ValueError, "did you mean 'jacobi'"),
    ],
)
def test_options_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        Fischer(**options)


def test_a_space_that_does_not_fit_is_refused():
    with pytest.raises(MethodRefused, match="factored"):
        perp.solve(gallery.make("dense_pd", n=5).problem, Fischer(space="body"))


def test_steps_to_and_fro_across_a_narrow_box_come_to_an_end():
    """A non-monotone search accepts them for ever; after some without progress it is monotone."""
    problem = perp.BoxLCP([[87234.9743]], [24110.0236], -1.4224, 0.1302)
    result = perp.solve(problem, Fischer())
    assert result.success
    assert result.x[0] == pytest.approx(-24110.0236 / 87234.9743, rel=1e-9)


def test_a_faulty_product_inside_gmres_is_told_and_not_swallowed():
    calls = []

    def product(v):
        calls.append(1)
        return np.full(3, np.nan) if len(calls) >= 6 else np.array([2.0, 3.0, 4.0]) * v + v.sum()

    operator = LinearOperator((3, 3), matvec=product, dtype=np.float64)
    problem = perp.LCP(perp.MatrixFreeOperator(operator, diagonal=[3.0, 4.0, 5.0]), [-1.0, -2.0, 1.0])
    result = perp.solve(problem, Fischer(linear="gmres"))
    assert result.status is Status.BREAKDOWN


@pytest.mark.parametrize("scale", [1e-273, 5e260])
def test_numbers_at_the_end_of_their_range_end_in_a_status(scale):
    A = [[9.6, 5.9], [5.9, 5.1]]
    result = perp.solve(perp.LCP(np.array(A) * min(scale, 1.0), [-1.46 * max(scale, 1e110), -1e110]), Fischer())
    assert np.isfinite(result.x).all()
