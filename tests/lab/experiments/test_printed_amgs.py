"""Method 3.2 of AMGS as it is printed, beside the corrected method that the library has."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import AMGS, gallery
from perp.errors import MethodRefused
from perp.lab.work.amgs import PrintedAMGS


def iterates(problem, method, count):
    state = method.start(problem, problem.project(np.zeros(problem.n)))
    for _ in range(count):
        method.step(problem, state, 1)
        yield state.x.copy()


def released_late(n=20):
    """A line whose first row is held at its upper bound while the others come down from above, and is then let go."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    upper = np.full(n, np.inf)
    upper[0] = 1.0
    return perp.BoxLCP(A, -A @ np.full(n, 0.9), 0.0, upper), np.full(n, 10.0)


def test_it_winds_up_at_an_upper_bound():
    problem, x0 = released_late()
    excess = {}
    for method in (AMGS(alpha=0.4), PrintedAMGS(alpha=0.4)):
        state = method.start(problem, problem.project(x0))
        method.step(problem, state, 30)
        excess[method.name] = state.sweeper.u[0] - problem.upper[0]
    assert excess["printed_amgs"] > 10.0 * excess["amgs"] > 0.0


def test_what_it_has_wound_up_must_be_unwound():
    problem, x0 = released_late()
    corrected, printed = (
        perp.solve(problem, method, x0=x0, check_every=1, max_iterations=5000)
        for method in (AMGS(alpha=0.4), PrintedAMGS(alpha=0.4))
    )
    assert corrected.success
    assert printed.iterations > 1.3 * corrected.iterations


def test_past_an_upper_bound_its_u_grows_without_end():
    problem = perp.BoxLCP([[1.0]], [-3.0], 0.0, 1.0)
    state = (method := PrintedAMGS()).start(problem, np.zeros(1))
    method.step(problem, state, 100)
    assert state.x[0] == 1.0
    assert state.sweeper.u[0] == pytest.approx(3.0 + 99 * 2.0)  # by -y / A_11 = 2 every time
    state = (method := AMGS()).start(problem, np.zeros(1))
    method.step(problem, state, 100)
    assert state.sweeper.u[0] == pytest.approx(3.0)


@given(strategies.lcps(), st.floats(0.1, 1.0))
def test_without_upper_bounds_it_is_the_corrected_one(problem, alpha):
    *_, printed = iterates(problem, PrintedAMGS(alpha=alpha), 6)
    *_, corrected = iterates(problem, AMGS(alpha=alpha), 6)
    np.testing.assert_allclose(printed, corrected, rtol=1e-12, atol=1e-12)


def printed_rows(A, b, lower, upper, alpha, count):
    """Method 3.2 row by row (AMGS eq. 14 with max(0, u) for the old x), gamma = 2."""
    u, x = np.zeros(b.size), np.clip(np.zeros(b.size), lower, upper)
    for _ in range(count):
        for i in range(b.size):
            step = 2.0 / ((1.0 + 2.0 * alpha) * A[i, i])
            above = max(u[i], 0.0)
            u[i] = above + (1.0 - 2.0 * alpha * A[i, i] * step) * (u[i] - above) - step * (A[i] @ x + b[i])
            x[i] = np.clip(u[i], lower[i], upper[i])
    return x


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.5])
def test_it_is_the_method_written_out_on_every_storage(alpha):
    problem = gallery.make("boxed_stack", n=48).problem
    dense, bounds = problem.A.to_dense(), (np.zeros(problem.n), np.full(problem.n, 0.5))
    expected = printed_rows(dense, problem.b, *bounds, alpha, 20)
    for A in (problem.A, dense, problem.A.to_sparse()):
        *_, x = iterates(perp.BoxLCP(A, problem.b, *bounds), PrintedAMGS(alpha=alpha), 20)
        np.testing.assert_allclose(x, expected, rtol=1e-10, atol=1e-12)


def test_it_refuses_what_it_was_not_made_for():
    stack = gallery.make("box_stack", n=48).problem
    for problem in (stack, perp.BoxLCP(np.eye(2), np.ones(2), -1.0, 1.0)):
        with pytest.raises(MethodRefused, match="0 <= lower"):
            perp.solve(problem, PrintedAMGS())
    with pytest.raises(ValueError, match="gamma is 1"):
        PrintedAMGS(gamma=1.0)
