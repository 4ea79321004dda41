"""Errors relative to a problem: small numbers are no excuse, large ones no crime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp import LCP, BoxLCP, ContactProblem, solve
from perp.gallery import make
from perp.lab.relative_error import problem_size, relative_error

PRESSED = np.array([-1.0, 0.3, -0.2])


def sliding(scale: float = 1.0, model: str = "cone") -> ContactProblem:
    """A contact that is pressed together and slides."""
    return ContactProblem(np.diag([2.0, 3.0, 3.0]), scale * PRESSED, 0.1, model=model)


def exact_answer(scale: float = 1.0) -> np.ndarray:
    """x_n = 1/2, and a tangent of 0.05 against the slip: the slip keeps its direction, as A_t is a multiple of 1."""
    direction = PRESSED[1:] / np.linalg.norm(PRESSED[1:])
    return scale * np.array([0.5, *(-0.05 * direction)])


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_the_error_of_an_answer_does_not_depend_on_its_size(scale):
    problem, x = sliding(scale), exact_answer(scale)
    assert relative_error(problem, x) < 1e-15
    assert relative_error(problem, 0.9 * x) == pytest.approx(relative_error(sliding(), 0.9 * exact_answer()), rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-12])
def test_zero_is_no_answer_where_contacts_are_pressed(scale):
    assert relative_error(sliding(scale), np.zeros(3)) == pytest.approx(1.0)
    assert relative_error(LCP(np.eye(2), [-scale, scale]), np.zeros(2)) == pytest.approx(1.0)


def test_zero_is_the_answer_where_nothing_is_pressed():
    assert relative_error(ContactProblem(np.eye(3), [1.0, 0.5, 0.0], 0.2, model="cone"), np.zeros(3)) == 0.0
    assert relative_error(ContactProblem(np.eye(3), np.zeros(3), 0.2, model="cone"), np.zeros(3)) == 0.0


@pytest.mark.parametrize(
    "x",
    [
        [0.5, 0.0, 0.0],  # friction that does not oppose the slip
        [0.5, 0.05, 0.0],  # outside of the cone by nothing, and in the wrong direction
        [0.6, -0.04, 0.03],  # too strong
        [0.5, -0.4, 0.3],  # far outside of the cone
        [-0.5, 0.0, 0.0],
    ],
)
def test_each_way_to_be_wrong_shows(x):
    assert relative_error(sliding(), np.array(x)) > 1e-3


def test_the_convex_law_is_measured_without_the_correction():
    problem = sliding(model="convex")
    found = solve(problem, "apgd", tol=1e-13)
    assert found.success
    assert relative_error(problem, found.x) < 1e-11
    assert relative_error(sliding(), found.x) > 1e-3  # a convex answer opens the sliding contact


def test_rows_after_the_contacts_count_too():
    problem = ContactProblem(np.diag([2.0, 3.0, 3.0, 1.0]), [*PRESSED, -1.0], 0.1, model="cone", extra_rows=1)
    assert relative_error(problem, np.array([*exact_answer(), 1.0])) < 1e-15
    assert relative_error(problem, np.array([*exact_answer(), 0.5])) == pytest.approx(
        0.5 / (problem_size(problem) + 0.5)
    )


@given(st.integers(-200, 200))
def test_the_size_is_at_most_one_and_follows_small_problems(exponent):
    scale = 2.0**exponent
    for problem in (LCP(np.eye(3), scale * np.array([-1.0, 0.5, -0.2])), sliding(scale)):
        size = problem_size(problem)
        assert size == min(1.0, scale if isinstance(problem, LCP) else 0.5 * scale)


def test_stiff_rows_make_small_impulses_and_so_a_small_size():
    assert problem_size(LCP(1000.0 * np.eye(2), [-1.0, -1.0])) == pytest.approx(1e-3)
    # beyond 2^20 rows are scaled, and the size is that of the scaled rows
    assert problem_size(LCP(2.0**30 * np.eye(2), [-1.0, -1.0])) == pytest.approx(2.0**-30)


def test_a_problem_that_asks_for_nothing_has_a_size_too():
    assert problem_size(LCP(np.eye(2), [0.0, 0.0])) == 1.0
    assert problem_size(LCP(np.empty((0, 0)), [])) == 1.0
    assert problem_size(BoxLCP(np.eye(2), [0.0, 0.0], [1.0, 1.0], [2.0, 2.0])) == 1.0
    assert relative_error(LCP(np.empty((0, 0)), []), np.empty(0)) == 0.0


def test_the_answer_of_a_real_stack_has_no_error_and_a_bent_one_has():
    example = make("box_stack", n=60, model="cone", load="gravity")
    found = solve(example.problem, "pgs", tol=1e-12, max_iterations=100_000)
    assert found.success
    assert relative_error(example.problem, found.x) < 1e-9
    assert relative_error(example.problem, 1.01 * found.x) > 1e-4
