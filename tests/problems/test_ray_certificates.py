"""Rays of Lemke's method: checked for what they are, and taken for no more."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given

import perp
from perp import BoxLCP, Status, gallery, verify_certificate
from perp.errors import InvalidProblem
from perp.problems.certificates import certify_ray

INF = np.inf


@pytest.mark.parametrize(("example", "lift", "shows"), [("unsolvable", 1.0, "copositive"), ("lemke_ray", 0.0, "R0")])
def test_rows_45_and_91_the_ray_is_a_ray_and_excludes_no_solution(example, lift, shows):
    problem = gallery.make(example).problem
    result = perp.solve(problem, "lemke")
    assert result.status is Status.RAY
    ray = certify_ray(problem, result.ray, np.ones(2))
    assert ray.valid
    assert ray.lift == lift
    assert shows in ray.reason
    assert not ray.excludes_solutions
    assert "does not mean" in ray.proves
    assert verify_certificate(problem, ray).valid
    assert not verify_certificate(problem, ray.u).valid, "as a separating vector it must not pass"


@given(seed=strategies.SEEDS)
def test_every_ray_that_lemke_ends_on_passes_and_shows_what_it_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    A, b = rng.integers(-3, 4, (n, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    result = perp.solve(perp.LCP(A, b), "lemke")
    if result.ray is None:
        return
    ray = certify_ray(perp.LCP(A, b), result.ray)
    assert ray.valid, ray.reason
    d = ray.u
    v = A @ d + ray.lift * ray.cover
    assert (d >= 0).all()
    assert v.min() > -1e-9
    assert np.abs(d * v).max() < 1e-9
    if ray.lift > 0.0:
        assert d @ A @ d < 0.0


def test_a_ray_of_a_semidefinite_matrix_separates():
    problem = gallery.make("infeasible_psd", n=30, rank=6).problem
    result = perp.solve(problem, "lemke")
    assert result.status is Status.INFEASIBLE
    assert certify_ray(problem, result.ray).valid
    assert verify_certificate(problem, result.ray).valid


@pytest.mark.parametrize(
    ("direction", "words"),
    [([0.0, 0.0], "zero"), ([1.0, -1.0], "leaves the bounds"), ([1.0, 0.0], "row 0"), ([1.0, 1.0], "row 0")],
)
def test_what_is_no_ray_is_told_why(direction, words):
    verdict = certify_ray(gallery.unsolvable().problem, direction)
    assert not verdict.valid
    assert words in verdict.reason


def test_a_cover_that_does_not_fit_is_refused():
    problem = perp.LCP([[-1.0, 0.0], [0.0, -2.0]], [-1.0, -1.0])
    assert certify_ray(problem, [1.0, 1.0]).valid
    assert certify_ray(problem, [1.0, 1.0], [1.0, 2.0]).valid
    assert not certify_ray(problem, [1.0, 1.0], [1.0, 1.0]).valid
    with pytest.raises(InvalidProblem, match="cover"):
        certify_ray(problem, [1.0, 1.0], [1.0, -2.0])


def test_boxes_rest_free_rows_keep_their_slack_and_upper_bounds_are_left_downwards():
    A = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 5.0, 7.0]])
    problem = BoxLCP(A, [1.0, 1.0, 1.0], [-INF, -INF, 0.0], [0.0, INF, 1.0])
    assert certify_ray(problem, [-1.0, 0.0, 0.0]).valid
    assert not certify_ray(problem, [1.0, 0.0, 0.0]).valid
    assert not certify_ray(problem, [0.0, 0.0, 1.0]).valid
    assert certify_ray(problem, [0.0, 1.0, 0.0]).valid  # only the slack of the boxed row changes
    moved = BoxLCP(A + np.diag([0.0, 2.0, 0.0]), [1.0, 1.0, 1.0], [-INF, -INF, 0.0], [0.0, INF, 1.0])
    assert not certify_ray(moved, [0.0, 1.0, 0.0]).valid


def test_rays_are_for_bounds_that_do_not_follow_x():
    with pytest.raises(InvalidProblem, match="contact"):
        certify_ray(gallery.make("box_stack", n=48).problem, np.ones(72))
