"""PGS-SM ends in one iteration once the sets are right, and needs far fewer sweeps than PGS where masses differ."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp import gallery
from perp.solvers.splitting.subspace import PGSSM


def sweeps(problem, method, most=200):
    result = perp.solve(problem, method, max_iterations=most)
    assert result.success
    return result.history.counters["sweeps"][-1]


@pytest.mark.parametrize("fallback", ["proximal", "best", "none"])
def test_a_snake_of_hinges_takes_a_hundredth_of_the_sweeps_of_pgs(fallback):
    # PGS-SM Fig. 3 (a): joints are what the method is good at. The joints here give way beyond some impulse.
    problem = gallery.make("hinged_chain", n=120, compliance=1e-4).problem
    pgs = perp.solve(problem, "pgs", max_iterations=20_000)
    assert pgs.residual > 1e-5
    assert sweeps(problem, PGSSM(fallback=fallback)) <= 200


@pytest.mark.parametrize("fallback", ["best", "none"])
def test_the_last_iteration_brings_all_remaining_digits_at_once(fallback):
    problem = gallery.make("hinged_chain", n=360).problem
    result = perp.solve(problem, PGSSM(fallback=fallback), max_iterations=20)
    assert result.success
    assert result.history.residual[-2] > 1e-7
    assert result.history.residual[-1] < 1e-12


def test_a_heavy_load_on_light_boxes_takes_an_eighth_of_the_sweeps_of_pgs():
    # PGS-SM Fig. 2 (d), with rows that contradict each other: what the proximal fallback is for.
    problem = gallery.make("boxed_stack", n=96, layout="tower", mass_ratio=100.0, load="gravity").problem
    pgs = perp.solve(problem, "pgs", max_iterations=10_000)
    assert pgs.residual > 1e-6
    assert sweeps(problem, PGSSM()) <= 1200


def test_sliding_contacts_follow_their_bounds_faster_than_pgs():
    problem = gallery.make("box_stack", n=240, layout="tower").problem
    pgs = perp.solve(problem, "pgs", max_iterations=5000)
    assert pgs.success
    assert sweeps(problem, PGSSM()) < pgs.iterations / 3


def test_conjugate_gradients_need_as_many_sweeps_as_factors():
    problem = gallery.make("hinged_chain", n=120, compliance=1e-3).problem
    assert sweeps(problem, PGSSM(linear="pcg")) == sweeps(problem, PGSSM())
    assert np.isfinite(sweeps(problem, PGSSM(linear="cg")))
