"""What happens from a given point: Newton steps, proximal steps, and that they leave the problem as it was."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import perp
from perp import ConeInterior, gallery
from perp.kernels.conic import layout
from perp.solvers.cone_interior import course
from perp.solvers.cone_interior.state import run_kernel

RIGID = ("cone", "box")


def pushed(model, n=336, push=1e-3, **options):
    """A wall under gravity, and the impulses of a step before in which it was pushed sideways."""
    problem = gallery.make("box_stack", n=n, model=model, seed=1, load="gravity", **options).problem
    impact = np.zeros(problem.A.J.shape[1])
    impact[0::6] = push * np.abs(problem.b).max()
    before = perp.solve(problem.with_matrix(problem.A, problem.b + problem.A.J @ impact), ConeInterior(), tol=1e-9)
    assert before.success
    return problem, before.x


def drive(state, steps):
    """Run a course of its own to its end; what it returns."""
    made = None
    while True:
        try:
            what, most = steps.send(made)
        except StopIteration as end:
            return end.value
        made = run_kernel(state, what, min(most, 4))


@pytest.mark.parametrize("model", RIGID)
@pytest.mark.parametrize("share", [1e-2, 1e-4])
def test_a_proximal_step_solves_the_law_of_contacts_pulled_back_to_a_point(share, model):
    """y + share w (x - c) for y: a compliance of share w, and b without share w c."""
    problem, c = pushed(model)
    state = ConeInterior().start(problem, c.copy())
    w = problem.A.diagonal().reshape(-1, 3).mean(axis=1)
    soft = problem.with_compliance(share * w)
    soft = soft.with_matrix(soft.A, problem.b - np.repeat(share * w, 3) * c)
    with course._pulled_to(state, c, share):
        found = drive(state, course._solve_next_to(ConeInterior(), problem, state, c))
    assert found is not None
    assert perp.verify(soft, found).residual <= 1e-8
    np.testing.assert_array_equal(state.iterate.rows[layout.C], state.conic.compliance)
    np.testing.assert_array_equal(state.iterate.rows[layout.B], state.conic.b)


@pytest.mark.parametrize("model", RIGID)
def test_each_proximal_step_leaves_less_of_the_rigid_law(model, monkeypatch):
    problem, start = pushed(model)
    state, residuals = ConeInterior().start(problem, start.copy()), []

    def look(problem, x):
        residuals.append(perp.verify(problem, x).residual)
        return residuals[-1], None

    monkeypatch.setattr(course, "look", look)
    monkeypatch.setattr(course, "SHARES", course.SHARES[:3])
    drive(state, course._proximal_steps(ConeInterior(), problem, state))
    assert len(residuals) == 4
    assert all(after <= 0.3 * before for before, after in pairwise(residuals))
    assert perp.verify(problem, state.x).residual == residuals[-1]


@pytest.mark.parametrize("model", RIGID)
def test_a_warm_answer_is_nearer_to_the_start_than_a_cold_one(model):
    """Impulses of redundant contacts are open: those next to the start are taken."""
    problem, start = pushed(model)
    cold, warm = (perp.solve(problem, ConeInterior(), tol=1e-8, x0=x0) for x0 in (None, start))
    assert cold.success
    assert warm.success
    assert np.linalg.norm(warm.x - start) < np.linalg.norm(cold.x - start)


@pytest.mark.parametrize("model", [*RIGID, "convex"])
def test_iterations_from_a_start_may_be_asked_for_in_any_parts(model):
    problem, start = pushed(model)
    method, ends = ConeInterior(), []
    for widths in ([40], [1] * 40, [3, 7, 0, 30]):
        state = method.start(problem, start.copy())
        for width in widths:
            left = width
            while left:
                state.is_due = False
                method.step(problem, state, left)
                left = state.unused if state.ended is None else 0
        ends.append((state.x, state.marks.copy()))
    for x, marks in ends[1:]:
        np.testing.assert_array_equal(x, ends[0][0])
        np.testing.assert_array_equal(marks, ends[0][1])


def test_few_rows_have_their_motion_selected_and_take_no_proximal_steps(monkeypatch):
    problem = gallery.make("box_stack", n=48, model="cone").problem
    monkeypatch.setattr(course, "_proximal_steps", None)
    start = problem.project(np.random.default_rng(0).random(problem.n))
    assert perp.solve(problem, ConeInterior(), tol=1e-8, x0=start).success
