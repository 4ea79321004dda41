"""Interior points: the twin, the forms of the linear system, and what comes of hard inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import BoxLCP, gallery
from perp.solvers.newton.interior.interior_point import LAST_SHARE, CentralPath, InteriorPoint
from perp.solvers.results import Status
from perp.solvers.symmetry import symmetric_scales

FORMS = ("dense", "sparse", "body", "augmented")


def twin(A, b, lower, upper, path, iterations, corrector, boundary=0.9, centring=0.1):
    """The Newton equation of the Kojima map as SLIDES write it, in full, with all four vectors as unknowns."""
    s, t, z, w, x = (np.array(part) for part in (path.s, path.t, path.z, path.w, path.x))
    low, high = np.isfinite(lower), np.isfinite(upper)
    n, pairs = b.size, low.sum() + high.sum()
    mean = first = None
    for _ in range(iterations):
        y = A @ x + b
        mean = (s[low] @ z[low] + t[high] @ w[high]) / pairs
        first = mean if first is None else first

        def newton(target, cross_s, cross_t, s=s, t=t, z=z, w=w, y=y):
            """Unknowns (dx, dz, dw); a bound that is not there keeps its multiplier at zero."""
            system, right = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
            system[:n] = np.hstack([A, -np.eye(n), np.eye(n)])
            right[:n] = -(y - z + w)
            for i in range(n):
                system[n + i, n + i] = s[i] if low[i] else 1.0
                system[2 * n + i, 2 * n + i] = t[i] if high[i] else 1.0
                if low[i]:
                    system[n + i, i], right[n + i] = z[i], target - s[i] * z[i] - cross_s[i]
                if high[i]:
                    system[2 * n + i, i], right[2 * n + i] = -w[i], target - t[i] * w[i] - cross_t[i]
            return np.split(np.linalg.solve(system, right), 3)

        def longest(dx, dz, dw, s=s, t=t, z=z, w=w):
            parts = [(s[low], dx[low]), (z[low], dz[low]), (t[high], -dx[high]), (w[high], dw[high])]
            return min([1.0] + [(-v[d < 0] / d[d < 0]).min() for v, d in parts if (d < 0).any()])

        none = np.zeros(n)
        if corrector == "none":
            dx, dz, dw = newton(centring * mean, none, none)
        else:
            dx, dz, dw = newton(0.0, none, none)
            far = longest(dx, dz, dw)
            ahead = (s + far * dx)[low] @ (z + far * dz)[low] + (t - far * dx)[high] @ (w + far * dw)[high]
            dx, dz, dw = newton((ahead / pairs / mean) ** 3 * mean, dx * dz, -dx * dw)
        share = 1.0 - max((1.0 - boundary) * min(1.0, mean / first), LAST_SHARE)
        step = min(1.0, share * longest(dx, dz, dw))
        s, t, x = s + step * dx, t - step * dx, x + step * dx
        z, w = z + step * dz, w + step * dw
    return x


def mixed_box(n, seed, skew=0.0):
    """A boxed problem with rows of every kind but fixed ones."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n))
    A = G @ G.T / n + np.eye(n) + skew * (G - G.T)
    lower = np.where(np.arange(n) % 4 == 2, -np.inf, -rng.uniform(0.1, 1.0, n))
    upper = np.where(np.arange(n) % 4 == 1, np.inf, rng.uniform(0.1, 1.0, n))
    lower[3], upper[3] = -np.inf, np.inf
    return BoxLCP(A, rng.standard_normal(n) * 3.0, lower, upper)


@pytest.mark.parametrize("corrector", ["mehrotra", "none"])
@pytest.mark.parametrize("skew", [0.0, 0.7])
def test_iterates_are_those_of_the_full_newton_equation(corrector, skew):
    problem = mixed_box(12, 5, skew)
    method = InteriorPoint(corrector=corrector)
    x0 = problem.project(np.zeros(12))
    path = CentralPath.begin(problem, x0, symmetric_scales(problem))
    for iterations in (1, 2, 5):
        state = method.start(problem, x0.copy())
        method.step(problem, state, iterations)
        expected = twin(
            problem.A.to_dense(), problem.b, problem.lower, problem.upper, path, iterations, corrector=corrector
        )
        np.testing.assert_allclose(state.path.x, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_system_takes_the_same_steps(form):
    problem = gallery.make("boxed_stack", n=96, mass_ratio=100.0, compliance=1e-6).problem
    plain = perp.solve(problem, InteriorPoint(), tol=1e-10)
    result = perp.solve(problem, InteriorPoint(form=form), tol=1e-10)
    assert result.success
    assert abs(result.iterations - plain.iterations) <= 1
    np.testing.assert_allclose(result.y, plain.y, atol=1e-8)


@pytest.mark.parametrize("form", ["dense", "sparse", "augmented"])
def test_a_matrix_that_is_not_symmetric_is_welcome_where_it_is_monotone(form):
    problem = mixed_box(30, 3, skew=2.0)
    assert not problem.is_symmetric
    result = perp.solve(problem, InteriorPoint(form=form), tol=1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-12).x, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 25), skew=st.sampled_from([0.0, 1.0]))
def test_solutions_agree_with_block_pivoting_on_every_kind_of_bound(seed, n, skew):
    problem = mixed_box(n, seed, skew)
    result = perp.solve(problem, InteriorPoint(), tol=1e-10)
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(problem, "block_principal", tol=1e-12).x, atol=1e-7)


def test_iterates_stay_strictly_inside_the_bounds_and_mu_falls():
    problem = mixed_box(40, 1)
    state = InteriorPoint().start(problem, problem.project(np.zeros(40)))
    mu = [state.path.assemble()]
    for _ in range(8):
        InteriorPoint().step(problem, state, 1)
        path = state.path
        for part in (path.s, path.t):
            assert (part > 0.0).all()
        assert (path.z[np.isfinite(path.s)] > 0.0).all()
        assert (path.w[np.isfinite(path.t)] > 0.0).all()
        low = np.isfinite(path.s)
        np.testing.assert_allclose(path.x[low] - path.lower[low], path.s[low], atol=1e-12)
        mu.append(path.assemble())
    assert mu[-1] < 1e-6 * mu[0]


def test_the_share_of_the_longest_step_approaches_one():
    """SLIDES: alpha approaches one in a linear fashion, so that the tail is quicker than 1 - boundary a step."""
    problem = gallery.make("dense_pd", n=40).problem
    history = perp.solve(problem, InteriorPoint(boundary=0.5), tol=1e-11).history
    mu = history.counters["mu"][1:]
    ratios = mu[1:] / mu[:-1]
    assert ratios[-2:].max() < 0.1
    assert ratios[0] > 0.2


def test_without_a_corrector_gamma_is_the_given_share_of_mu():
    problem = gallery.make("dense_pd", n=40).problem
    slow = perp.solve(problem, InteriorPoint(corrector="none", centring=0.8))
    quick = perp.solve(problem, InteriorPoint(corrector="none", centring=0.1))
    both = perp.solve(problem, InteriorPoint())
    assert slow.success
    assert both.iterations < quick.iterations < slow.iterations
    mu = slow.history.counters["mu"]
    np.testing.assert_allclose(mu[-1] / mu[-2], 0.8, atol=0.01)  # full steps: the products become gamma


def test_centrality_correctors_spend_solves_and_save_factorisations():
    problem = gallery.make("boxed_stack", n=300, mass_ratio=1000.0, compliance=1e-8, load="gravity").problem
    plain = perp.solve(problem, InteriorPoint(), tol=1e-10)
    more = perp.solve(problem, InteriorPoint(centrality=3), tol=1e-10)
    assert plain.success
    assert more.success
    assert more.iterations < plain.iterations
    assert plain.history.counters["solves"][-1] == 2 * plain.iterations
    assert more.history.counters["solves"][-1] > 2 * more.iterations


def test_fixed_rows_rest_and_rows_without_bounds_are_equations():
    A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 2.0]])
    problem = BoxLCP(A, [-1.0, 2.0, -3.0], [0.5, -np.inf, 0.0], [0.5, np.inf, np.inf])
    result = perp.solve(problem, InteriorPoint(), tol=1e-12)
    assert result.success
    assert result.x[0] == 0.5
    assert abs(result.y[1]) < 1e-12
    everything_fixed = perp.solve(BoxLCP(A, [-1.0, 2.0, -3.0], 0.5, 0.5), InteriorPoint())
    assert everything_fixed.success


def test_a_linear_system_takes_one_step():
    problem = BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    result = perp.solve(problem, InteriorPoint(), tol=1e-12)
    assert result.success
    assert result.iterations == 1


@pytest.mark.parametrize("b", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("a", [-2.0, 0.0, 2.0])
def test_the_table_of_signs_has_the_right_statuses(a, b):
    result = perp.solve(perp.LCP([[a]], [b]), InteriorPoint())
    if b >= 0.0 or a > 0.0:
        assert result.success
        assert min(abs(result.x[0]), abs(a * result.x[0] + b)) <= 1e-8
    else:
        assert result.status is Status.INFEASIBLE
        assert perp.verify_certificate(result.problem, result.certificate.u).valid


@pytest.mark.parametrize("kind", ["infeasible", "infeasible_psd", "closed_fluid"])
def test_infeasible_problems_are_proved_so(kind):
    problem = gallery.make(kind).problem
    result = perp.solve(problem, InteriorPoint())
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate.u).valid


def test_rows_of_very_different_size_are_one_problem():
    example = gallery.make("dense_pd", n=60)
    scales = 10.0 ** np.random.default_rng(0).uniform(-8, 8, 60)
    A = scales[:, None] * example.problem.A.to_dense() * scales
    result = perp.solve(perp.LCP(A, scales * example.problem.b), InteriorPoint(), tol=1e-12)
    assert np.isfinite(result.x).all()
    np.testing.assert_allclose(result.x * scales, example.x, atol=1e-6)


def test_redundant_contacts_without_compliance_leave_x_open_and_y_not():
    example = gallery.make("boxed_stack", n=96)
    for form in FORMS:
        result = perp.solve(example.problem, InteriorPoint(form=form))
        assert result.success
        np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_a_good_start_saves_iterations():
    problem = gallery.make("boxed_stack", n=300, mass_ratio=1000.0, compliance=1e-8).problem
    cold = perp.solve(problem, InteriorPoint(), tol=1e-9)
    warm = perp.solve(problem, InteriorPoint(), tol=1e-9, x0=cold.x + 1e-6)
    assert warm.success
    assert warm.iterations <= cold.iterations - 5


def test_options_are_checked():
    for options in ({"corrector": "gondzio"}, {"form": "normal"}, {"boundary": 1.0}, {"centring": 0.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            InteriorPoint(**options)
    with pytest.raises(perp.errors.MethodRefused, match="factored"):
        perp.solve(gallery.make("dense_pd", n=8).problem, InteriorPoint(form="body"))


def test_sparse_problems_stay_sparse():
    n = 2000
    A = sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    b = np.sin(np.arange(n) * 0.1)
    result = perp.solve(perp.LCP(A, b), InteriorPoint(), tol=1e-10)
    assert result.success
    assert result.history.counters["factor_nonzeros"][-1] < 10 * n


@pytest.mark.parametrize("form", ["dense", "sparse", "augmented"])
def test_a_newton_step_that_is_not_finite_is_a_breakdown_and_no_exception(form):
    problem = perp.LCP(sparse.csr_array([[1.2, 0.25], [0.0, 0.25]]), [-1.6, 0.5])
    method = InteriorPoint(form=form)
    state = method.start(problem, np.zeros(2))
    with np.errstate(all="ignore"):
        for _ in range(400):  # on and on, until mu underflows
            method.step(problem, state, 1)
            if state.ended is not None and state.ended[0] is Status.BREAKDOWN:
                break
            state.ended = None
    np.testing.assert_allclose(state.x, [4 / 3, 0.0], atol=1e-15)


@pytest.mark.parametrize("method", [InteriorPoint(), perp.InteriorPivoting()], ids=str)
@pytest.mark.parametrize(("a", "b"), [(1e-200, -1e200), (1e150, -1e300)])
def test_a_start_or_products_out_of_range_are_a_breakdown_with_a_finite_x(method, a, b):
    problem = perp.LCP(a * np.array([[2.0, -1.0], [-1.0, 2.0]]), [b, b])
    result = perp.solve(problem, method)
    assert np.isfinite(result.x).all()
    assert result.status is Status.BREAKDOWN or result.success
    for column in result.history.counters.values():
        assert np.isfinite(column).all()


def test_a_tolerance_that_rounding_forbids_ends_the_method_soon():
    problem = gallery.make("boxed_pile", n=300, load="gravity").problem
    result = perp.solve(problem, InteriorPoint(), tol=1e-18)
    assert result.status is Status.REDUCED_ACCURACY
    assert result.iterations <= 60
    assert result.residual < 1e-10


def test_a_corrector_is_added_by_itself_where_factors_are_dear():
    small = gallery.make("boxed_pile", n=300).problem
    large = gallery.make("boxed_pile", n=20_000).problem
    for problem, expected in ((small, 0), (large, 1)):
        state = InteriorPoint().start(problem, problem.project(np.zeros(problem.n)))
        assert state.correctors == expected
    assert InteriorPoint(centrality=2).start(small, small.project(np.zeros(small.n))).correctors == 2
