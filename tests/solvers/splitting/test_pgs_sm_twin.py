"""PGS-SM makes the iterates of its readable twin."""

from __future__ import annotations

import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import box_lcps, contact_problems, lcps

import perp
from perp import gallery
from perp.solvers.splitting.subspace import PGSSM


class Twin:
    """PGS-SM section 4.3 in plain NumPy, with the fallbacks; reduced equations by dense least squares."""

    def __init__(self, problem, x, k_pgs=25, k_sm=5, bounds="inside", fallback="proximal", regularisation=0.0):
        self.problem, self.x, self.k_pgs, self.k_sm, self.bounds = problem, x, k_pgs, k_sm, bounds
        self.fallback, self.gamma = fallback, regularisation
        self.A = problem.A.to_dense()
        self.refuge, self.least, self.waited, self.weight, self.fallbacks = x, np.inf, 0, 0.0, 0
        self.answer = x

    def slack(self, x):
        return self.A @ x + self.problem.b + self.gamma * x

    def residual(self, x):
        lower, upper = self.problem.bounds(x)
        return np.abs(x - np.clip(x - self.slack(x), lower, upper)).max()

    def sweep(self):
        for _ in range(self.k_pgs):
            self.x = twins.sweep(self.problem, self.x, 1.0)
        return self.residual(self.x)

    def solve(self, x, active, weight):
        """Eq. 22, for the least change of x_A, measured in the norm of the diagonal; and whether it can be solved."""
        D = 1.0 / np.sqrt(self.A.diagonal()[active])
        matrix = self.A[np.ix_(active, active)] + self.gamma * np.eye(active.sum()) + weight * np.diag(D**-2)
        y = self.slack(x)[active]
        change = D * np.linalg.lstsq(D[:, None] * matrix * D, -D * y, rcond=1e-10)[0]
        left = np.abs(D * (y + matrix @ change)).max()
        solved = x.copy()
        solved[active] += change
        size = (
            np.abs(solved * np.sqrt(self.A.diagonal())).max()
            + np.abs(self.problem.b / np.sqrt(self.A.diagonal())).max()
        )
        return solved, left > max(1e-8 * np.abs(D * y).max(), 1e-11 * size)

    def iterate(self):
        residual = self.sweep()
        if self.fallback != "none":
            bolder = self.weight / 4 if self.weight / 4 >= 1e-6 else 0.0
            bearable = self.fallback == "proximal" and residual <= 2.0 * self.least
            if residual < self.least:
                self.weight, self.least, self.waited = bolder, residual, 0
            elif bearable and self.waited < 3:
                self.waited += 1
            elif bearable and self.weight > 0:
                self.weight, self.waited = bolder, 0
            else:
                self.x, self.fallbacks = self.refuge, self.fallbacks + 1
                residual = self.sweep()
                if self.fallback == "proximal":
                    self.weight = min(max(4 * self.weight, 0.01), 1.0)
                self.least, self.waited = residual, 0
            self.refuge = self.x
        swept = self.x
        self.minimise()
        self.answer = swept if self.fallback != "none" and residual < self.residual(self.x) else self.x

    def minimise(self):
        point = self.x
        lower, upper = self.problem.bounds(point)
        for _ in range(self.k_sm):
            at_lower, at_upper, fixed = point <= lower, point >= upper, lower == upper
            active = ~(at_lower | at_upper | fixed)
            if not active.any():
                break
            solved, contradicts = self.solve(point, active, self.weight)
            if contradicts and self.weight == 0 and self.fallback == "proximal":
                self.weight = 0.01
                continue
            old_upper = upper
            if self.bounds == "inside":
                lower, upper = self.problem.bounds(solved)
            point = np.clip(solved, lower, upper)
            point[at_lower & ~fixed] = lower[at_lower & ~fixed]
            point[at_upper & ~fixed] = upper[at_upper & ~fixed]
            self.x = self.problem.project(point)
            sets = (point <= lower) & (lower < upper), (point >= upper) & (lower < upper), lower == upper
            stayed = np.allclose(upper, old_upper, rtol=1e-14, atol=0.0)
            if stayed and all(map(np.array_equal, sets, (at_lower & ~fixed, at_upper & ~fixed, fixed))):
                break


def same_iterates(problem, iterations=4, atol=1e-8, linear="direct", **options):
    x = problem.project(np.random.default_rng(1).standard_normal(problem.n))
    method, twin = PGSSM(linear=linear, **options), Twin(problem, x.copy(), **options)
    state = method.start(problem, x.copy())
    for _ in range(iterations):
        method.step(problem, state, 1)
        twin.iterate()
        largest = max(1.0, np.abs(twin.x).max())
        np.testing.assert_allclose(state.point, twin.x, rtol=0.0, atol=atol * largest)
        np.testing.assert_allclose(state.x, twin.answer, rtol=0.0, atol=atol * largest)
    if twin.least > 1e-12:  # at rounding level, chance decides
        assert state.counters["fallbacks"] == twin.fallbacks
    return twin


OPTIONS = st.fixed_dictionaries(
    {
        "k_pgs": st.integers(1, 3),
        "k_sm": st.integers(0, 4),
        "bounds": st.sampled_from(["inside", "lazy"]),
        "fallback": st.sampled_from(["proximal", "best", "none"]),
        "regularisation": st.sampled_from([0.0, 0.1]),
    }
)


@settings(max_examples=25)
@given(st.one_of(lcps(), box_lcps(), contact_problems().filter(lambda p: p.model == "box")), OPTIONS)
def test_iterates_are_those_of_the_twin_in_every_form(problem, options):
    same_iterates(problem, **options)


@pytest.mark.parametrize("fallback", ["proximal", "best", "none"])
@pytest.mark.parametrize("load", ["planted", "gravity"])
def test_redundant_contacts_follow_the_twin_whose_least_squares_move_no_null_vector(load, fallback):
    stack = gallery.make("box_stack", n=24, layout="tower", load=load).problem
    assert np.linalg.matrix_rank(stack.A.to_dense()) <= 12
    same_iterates(stack, 6, atol=1e-5, k_pgs=5, fallback=fallback)


@pytest.mark.parametrize("linear", ["cg", "pcg"])
def test_conjugate_gradients_follow_the_twin_as_factors_do(linear):
    problem = gallery.make("boxed_pd", n=30, condition=1e3).problem
    same_iterates(problem, 3, atol=1e-6, k_pgs=3, linear=linear)


def test_tangents_whose_bounds_open_inside_the_loop_are_not_thrown_to_the_lower_one():
    # The tangent has no room at x_n = 0, and belongs to neither bound; the row after the contact pushes the normal up.
    problem = perp.ContactProblem(np.eye(3) + 0.1, [-1.0, 0.5, -1.0], 0.5, dimension=2, extra_rows=1)
    twin = same_iterates(problem, 2, k_pgs=1, fallback="none")
    assert twin.x[0] > 0.5
