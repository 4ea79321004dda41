"""THESIS chapter 4 on chains of hinged links: what imaginary IC(0) saves, and where it saves nothing."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.gallery.hinge_chain import hinge_chain
from perp.linalg import krylov
from perp.linalg.preconditioners import make_recipe

LINKS, KNOT = 60, range(20, 24)


def iterations(A, name):
    """Of conjugate gradients to 1e-8, all rows free, and what the preconditioner reports."""
    P = make_recipe(name).prepare(perp.BoxLCP(A, np.zeros(A.n), -np.inf, np.inf))
    P.follow(np.ones(A.n, dtype=bool), np.zeros(A.n))
    b = A.apply(np.random.default_rng(1).standard_normal(A.n))
    tolerance = 1e-8 * np.linalg.norm(b)
    found = krylov.cg(A.apply, b, preconditioner=P.apply, tolerance=tolerance, max_iterations=4000)
    return found.iterations if found.success else 4000, P.report()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("knot", [(), KNOT], ids=["open", "knotted"])
def test_imaginary_ic0_needs_ten_times_fewer_iterations_than_jacobi_on_a_chain_of_condition_1e8(seed, knot):
    A = hinge_chain(LINKS, braces=knot, seed=seed)
    assert 1e7 < np.linalg.cond(A.to_dense()) < 1e9
    imaginary, report = iterations(A, "imaginary_ic0")
    jacobi, _ = iterations(A, "jacobi")
    assert imaginary <= jacobi / 10
    assert (report["imaginary_columns"] > 0) == (len(knot) > 0)
    assert report["decoupled_rows"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_in_a_knot_the_imaginary_columns_are_better_than_more_on_the_diagonal(seed):
    A = hinge_chain(LINKS, braces=KNOT, seed=seed)
    compensated, report = iterations(A, "compensated_ic0")
    assert report["shifts"] > 0
    assert iterations(A, "imaginary_ic0")[0] < 0.5 * compensated


def test_where_pivots_are_negative_all_along_the_chain_only_compensation_helps():
    # THESIS promises less here than it seems to: with many imaginary columns P is worse than the diagonal.
    A = hinge_chain(LINKS // 2, braces=range(2, LINKS // 2), seed=0)
    jacobi, _ = iterations(A, "jacobi")
    imaginary, report = iterations(A, "imaginary_ic0")
    assert report["imaginary_columns"] > 20
    assert imaginary > 0.5 * jacobi
    assert iterations(A, "compensated_ic0")[0] < 0.5 * jacobi
