"""The modulus family: what its members are equal to, what their fixed points are, and what their options do."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.solvers.splitting.modulus import AMAOR, AMGS, AMJ, AMSOR, MAOR, MGS, MJ, MSOR

MEMBERS = (MJ, MGS, MSOR, MAOR, AMJ, AMGS, AMSOR, AMAOR)
BOXED_CONTACTS = strategies.contact_problems().filter(lambda problem: problem.model == "box")
PROBLEMS = st.one_of(strategies.lcps(), strategies.box_lcps(), BOXED_CONTACTS)
every_member = pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.name)


def iterates(problem, method, count):
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(count):
        method.step(problem, state, 1)
        yield state.x.copy()


@given(PROBLEMS, st.floats(0.2, 5.0))
def test_amgs_with_omega_equal_to_d_over_gamma_is_projected_gauss_seidel_iterate_for_iterate(problem, gamma):
    pairs = zip(iterates(problem, AMGS(gamma=gamma), 8), iterates(problem, perp.PGS(), 8), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["box_stack", "boxed_stack"])
def test_the_same_identity_holds_on_bodies_over_many_sweeps(form):
    problem = gallery.make(form, n=192).problem
    assert problem.A.pairs is not None
    runs = [method.start(problem, np.zeros(problem.n)) for method in (AMGS(), perp.PGS())]
    for method, state in zip((AMGS(), perp.PGS()), runs, strict=True):
        method.step(problem, state, 200)
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12, atol=1e-13)


def over_relax_with_memory(problem, x, u, alpha):
    """ERRATA on AMGS: over-relaxation by 2 / (1 + 2 alpha) that remembers the part of u beyond a bound."""
    A = problem.A.to_dense()
    relaxation = 2.0 / (1.0 + 2.0 * alpha)
    for i in range(problem.n):
        target = x[i] - relaxation * (A[i] @ x + problem.b[i]) / A[i, i]
        u[i] = target + (relaxation - 1.0) * (u[i] - x[i])
        x[i] = min(max(u[i], problem.lower[i]), problem.upper[i])


@given(st.one_of(strategies.lcps(), strategies.box_lcps()), st.floats(0.05, 2.0))
def test_amgs_with_omega_equal_to_alpha_d_is_over_relaxation_with_a_memory(problem, alpha):
    x = problem.project(np.zeros(problem.n))
    u = x.copy()
    for ours in iterates(problem, AMGS(gamma=2.0, alpha=alpha), 6):
        over_relax_with_memory(problem, x, u, alpha)
        np.testing.assert_allclose(ours, x, rtol=1e-11, atol=1e-11)


@every_member
def test_gamma_counts_only_in_its_product_with_omega(member):
    problem = gallery.make("box_stack", n=48).problem
    for ours, theirs in zip(
        iterates(problem, member(gamma=2.0, alpha=0.3), 20),
        iterates(problem, member(gamma=6.0, alpha=0.1), 20),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


def test_msor_and_maor_hold_the_other_members():
    problem = gallery.make("boxed_pd", n=20).problem
    for special, general in (
        (MGS(alpha=0.7), MSOR(alpha=0.7, relaxation=1.0)),
        (MJ(alpha=0.7), MAOR(alpha=0.7, relaxation=1.0, acceleration=0.0)),
        (MSOR(alpha=0.7), MAOR(alpha=0.7, relaxation=1.4, acceleration=1.4)),
        (AMGS(alpha=0.7), AMSOR(alpha=0.7, relaxation=1.0)),
        (AMJ(alpha=0.7), AMAOR(alpha=0.7, relaxation=1.0, acceleration=0.0)),
        (AMSOR(alpha=0.7), AMAOR(alpha=0.7, relaxation=1.4, acceleration=1.4)),
    ):
        *_, one = iterates(problem, special, 9)
        *_, other = iterates(problem, general, 9)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@st.composite
def planted_boxes(draw):
    """An SPD box problem and a solution of it with rows at both bounds, between, and fixed."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    n = draw(st.integers(1, 8))
    A, lower = strategies.spd_matrix(rng, n), rng.uniform(-2.0, 0.5, n)
    upper = lower + rng.choice([0.0, 1.0, 3.0], n)
    side = rng.choice([-1, 0, 1], n)
    x = np.where(side < 0, lower, np.where(side > 0, upper, 0.5 * (lower + upper)))
    y = np.where(lower == upper, rng.standard_normal(n), -side * rng.uniform(0.1, 2.0, n))
    form = draw(st.sampled_from(strategies.FORMS[:3]))
    return perp.BoxLCP(strategies.explicit(A, form), y - A @ x, lower, upper), x, y


@st.composite
def members(draw):
    member = draw(st.sampled_from(MEMBERS))
    omega = draw(st.sampled_from(["diagonal", "identity"]))
    return member(gamma=draw(st.floats(0.3, 5.0)), omega=omega, alpha=draw(st.floats(0.1, 3.0)))


@given(planted_boxes(), members())
def test_a_solution_is_a_fixed_point_of_every_member(planted, method):
    problem, x, y = planted
    omega = method.alpha * (problem.diagonal if method.omega == "diagonal" else 1.0)
    state = method.start(problem, x.copy())
    state.sweeper.u[:] = x - y / (method.gamma * omega)  # Theorem 2.1 (i): z = (gamma x - y / Omega) / 2
    u = state.sweeper.u.copy()
    method.step(problem, state, 7)
    scale = 1.0 + np.abs(u).max()
    np.testing.assert_allclose(state.x, x, atol=1e-11 * scale)
    np.testing.assert_allclose(state.sweeper.u, u, atol=1e-9 * scale)


@given(planted_boxes(), members())
def test_where_a_member_comes_to_rest_there_is_a_solution(planted, method):
    problem, x, _ = planted
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    method.step(problem, state, 1500)
    before = state.sweeper.u.copy()
    method.step(problem, state, 1)
    motion = np.abs(state.sweeper.u - before).max()
    assume(motion <= 1e-13 * (1.0 + np.abs(before).max()))
    np.testing.assert_allclose(state.x, x, atol=1e-9)  # Theorem 2.1 (ii)


@every_member
def test_friction_bounds_of_both_signs_are_reached_and_oppose_the_slip(member):
    problem = gallery.make("box_stack", n=48, active=1.0, sliding=0.8).problem
    result = perp.solve(problem, member(), max_iterations=20_000)
    assert result.success
    lower, upper = problem.bounds(result.x)
    slides_up = (result.x == lower) & (lower < 0.0)
    slides_down = (result.x == upper) & (lower < 0.0)
    assert np.count_nonzero(result.y[slides_up] > 0.1) >= 3
    assert np.count_nonzero(result.y[slides_down] < -0.1) >= 3
    assert (result.y[slides_up] > -1e-8).all()
    assert (result.y[slides_down] < 1e-8).all()


@every_member
@pytest.mark.parametrize("options", [{}, {"omega": "identity"}, {"gamma": 0.5}])
def test_defaults_solve_boxes_whose_bounds_have_any_sign(member, options):
    example = gallery.make("boxed_pd", n=40, seed=1)
    result = perp.solve(example.problem, member(**options), tol=1e-9, max_iterations=5000)
    assert result.success
    np.testing.assert_allclose(result.x, example.x, atol=1e-6)


def test_the_default_omega_is_that_of_the_paper_where_later_rows_see_the_newest_x():
    problem = perp.LCP(np.diag([1.0, 2.0, 6.0]), -np.ones(3))
    for method, alpha in ((AMGS(gamma=4.0), 0.25), (AMSOR(omega="identity"), 1.5), (AMAOR(), 0.5)):
        assert method.start(problem, np.zeros(3)).counters["alpha"] == pytest.approx(alpha)


@pytest.mark.parametrize("member", [MJ, MGS, MSOR, MAOR, AMJ], ids=lambda member: member.name)
def test_the_default_omega_holds_members_together_that_see_less(member):
    example = gallery.make("box_stack", n=48)
    result = perp.solve(example.problem, member(), max_iterations=5000)
    assert result.success
    assert result.history.counters["alpha"][-1] > 0.5
    if member in (MJ, AMJ):
        wild = perp.solve(example.problem, member(alpha=0.5), max_iterations=5000)
        assert wild.status is perp.Status.BREAKDOWN


def test_the_iterate_stays_within_its_bounds():
    problem = gallery.make("box_stack", n=48).problem
    for member in MEMBERS:
        for x in iterates(problem, member(alpha=0.1), 30):
            np.testing.assert_array_equal(problem.project(x), x)


def test_a_standstill_is_told_apart_from_a_pause_by_forgetting():
    problem = perp.BoxLCP([[2.0, -1.0], [-1.0, 2.0]], [-4.0, 1.0], 0.0, [1.0, 5.0])
    method = AMGS(alpha=0.1)
    state = method.start(problem, np.zeros(2))
    method.step(problem, state, 5)
    assert (state.sweeper.u != state.x).any()
    method.refresh(problem, state)
    np.testing.assert_array_equal(state.sweeper.u, state.x)


@pytest.mark.parametrize(
    ("member", "options", "words"),
    [
        (AMGS, {"gamma": 0.0}, "gamma is 0.0"),
        (AMGS, {"alpha": -1.0}, "alpha is -1.0"),
        (AMGS, {"omega": "diag"}, "did you mean 'diagonal'"),
        (MSOR, {"relaxation": 0.0}, "relaxation is 0.0"),
        (AMAOR, {"acceleration": -0.1}, "acceleration is -0.1"),
    ],
)
def test_options_out_of_range_are_named(member, options, words):
    with pytest.raises(ValueError, match=words):
        member(**options)


@every_member
def test_problems_without_rows_or_without_friction_are_no_exception(member):
    assert perp.solve(perp.LCP(np.zeros((0, 0)), np.zeros(0)), member()).success
    frictionless = gallery.make("box_stack", n=48, friction=0.0).problem
    result = perp.solve(frictionless, member(), max_iterations=20_000)
    assert result.success
    tangents = np.setdiff1d(np.arange(frictionless.n), frictionless.normal_rows)
    assert not result.x[tangents].any()
