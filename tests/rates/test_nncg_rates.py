"""NNCG is faster than the sweeps that it is made of: as conjugate gradients are on a line, and on chains and stacks."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.splitting.nncg import NNCG


def iterations(problem, method, most=20_000):
    result = perp.solve(problem, method, max_iterations=most, check_every=1)
    assert result.success
    return result.iterations


def line(n):
    """The 1-D Laplacian with a load that lifts every row off its bound: then the LCP is a linear system."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    return perp.LCP(A, -A @ np.full(n, 2.0))


def test_on_a_line_of_twice_the_length_iterations_double_where_those_of_pgs_quadruple():
    # The condition number grows with the square of the length, and conjugate gradients feel only its root.
    short, long = line(30), line(60)
    assert iterations(long, perp.PGS()) > 3.0 * iterations(short, perp.PGS())
    assert iterations(long, NNCG(order="symmetric")) < 2.3 * iterations(short, NNCG(order="symmetric"))


@pytest.mark.parametrize("n", [120, 480])
def test_it_takes_a_fifth_of_the_sweeps_of_pgs_on_a_hinged_chain(n):
    problem = gallery.make("hinged_chain", n=n, compliance=1e-2).problem
    pgs = iterations(problem, perp.PGS())
    assert iterations(problem, NNCG()) < pgs / 5
    assert 2 * iterations(problem, NNCG(order="symmetric")) < pgs / 5  # it sweeps twice an iteration


@pytest.mark.parametrize("model", ["box", "cone"])
def test_it_takes_a_quarter_of_the_sweeps_of_pgs_on_a_tall_tower(model):
    problem = gallery.make("box_stack", n=240, layout="tower", model=model).problem
    assert iterations(problem, NNCG()) < iterations(problem, perp.PGS()) / 4


def test_restarting_by_the_gradient_is_several_times_faster_where_contacts_are_redundant_and_loaded():
    problem = gallery.make("box_stack", n=200, load="gravity").problem
    pgs, published = iterations(problem, perp.PGS()), iterations(problem, NNCG())
    gradient = iterations(problem, NNCG(restart="gradient"))
    assert published < pgs / 1.8
    assert gradient < published / 2.5


def test_with_the_sign_turned_round_it_would_be_slower_than_pgs():
    problem = line(20)
    method = NNCG()
    state = method.start(problem, np.zeros(20))
    turned = 0
    while perp.verify(problem, state.x).residual > 1e-8:
        method.step(problem, state, 1)
        state.point[:] = state.x - (state.point - state.x)  # PGS(x) - beta p
        state.before[:] = state.point
        turned += 1
    assert turned > 2 * iterations(problem, perp.PGS())
    assert iterations(problem, NNCG()) < iterations(problem, perp.PGS()) / 4
