"""Incomplete Cholesky on stencils: the factor of the entries without the entries, and the modified one."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp import gallery
from perp.linalg.krylov import cg
from perp.linalg.preconditioners import IC0, MIC0, make_recipe
from perp.linalg.preconditioners.incomplete_factor import GridFactor, IncompleteFactor

SHAPES = [(1,), (9,), (6, 7), (1, 8), (5, 4, 6), (3, 1, 5), (2, 2, 2)]


@st.composite
def stencils(draw, sign=-1.0):
    """M-matrices, most of them with a coupling of its own on each face, some of which are missing; dead cells, too."""
    rng = np.random.default_rng(draw(strategies.SEEDS))
    shape = draw(st.sampled_from(SHAPES))
    axes = range(len(shape))
    if draw(st.booleans()):
        couplings = sign * rng.uniform(0.1, 1.0, len(shape))
        return perp.StencilOperator(shape, 2.0 * np.abs(couplings).sum() + rng.uniform(0.0, 0.2, shape), couplings)
    faces = [tuple(size - (k == axis) for k, size in enumerate(shape)) for axis in axes]
    arrays = [sign * rng.uniform(0.1, 1.0, face) * (rng.random(face) < 0.8) for face in faces]
    bare = perp.StencilOperator(shape, 0.0, arrays)
    sums = np.abs(bare.to_sparse()).sum(axis=1).reshape(shape)
    return perp.StencilOperator(shape, sums + rng.choice([0.0, 0.3], shape) + (sums == 0.0), arrays)


def free_and_shift(A, seed):
    rng = np.random.default_rng(seed)
    return rng.random(A.n) < rng.choice([0.4, 0.8, 1.1]), rng.choice([0.0, 0.05], A.n)


def followed(recipe, A, free, shift):
    P = recipe.prepare(perp.LCP(A, np.zeros(free.size)))
    P.follow(free, shift)
    return P


def listed_pivots(A, free, shift, tau):
    """E by eliminating cells one by one in the full matrix, and dropping what A has no room for."""
    rows = np.flatnonzero(free)
    M = A.to_dense()[np.ix_(rows, rows)] + np.diag(shift[rows])
    has_room = (M != 0.0) | np.eye(rows.size, dtype=bool)
    for p in range(rows.size):
        later = np.arange(p + 1, rows.size)
        update = np.outer(M[later, p], M[later, p]) / M[p, p]
        fill = np.where(has_room[np.ix_(later, later)], 0.0, update)
        M[np.ix_(later, later)] -= update - fill
        M[later, later] -= tau * fill.sum(axis=1)
    pivots = np.zeros(A.n)
    pivots[rows] = M[np.arange(rows.size), np.arange(rows.size)]
    return pivots


@given(A=stencils(), seed=strategies.SEEDS, tau=st.sampled_from([0.0, 0.97]))
def test_the_pivots_are_those_of_an_elimination_that_drops_what_has_no_room(A, seed, tau):
    free, shift = free_and_shift(A, seed)
    shift += 0.1  # so that no pivot is near zero, and none is mended
    P = followed(IC0() if tau == 0.0 else MIC0(tau=tau, sigma=0.0), A, free, shift)
    assert isinstance(P, GridFactor)
    np.testing.assert_allclose(P.pivots, listed_pivots(A, free, shift, tau), rtol=1e-12)


@given(A=stencils(), seed=strategies.SEEDS, name=st.sampled_from(["ic0", "mic0"]))
def test_a_stencil_is_preconditioned_as_its_matrix_is(A, seed, name):
    free, shift = free_and_shift(A, seed)
    grid, entries = followed(make_recipe(name), A, free, shift), followed(make_recipe(name), A.to_sparse(), free, shift)
    assert isinstance(grid, GridFactor)
    assert isinstance(entries, IncompleteFactor)
    assert grid.report()["nonzeros"] == entries.report()["nonzeros"]
    r = np.random.default_rng(seed).standard_normal(A.n)
    expected = entries.apply(r)
    np.testing.assert_allclose(grid.apply(r), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert not grid.apply(r)[~free].any()


@given(A=stencils(), seed=strategies.SEEDS)
def test_the_modified_factor_has_the_row_sums_of_the_matrix(A, seed):
    """P 1 = A_FF 1, so P^-1 A_FF 1 = 1: what is dropped comes off the diagonal."""
    free, shift = free_and_shift(A, seed)
    shift += 0.01  # a closed region has the row sums zero, and its last pivot, too
    P = followed(MIC0(tau=1.0, sigma=0.0), A, free, shift)
    ones = np.where(free, 1.0, 0.0)
    sums = np.where(free, A @ ones + shift * ones, 0.0)
    np.testing.assert_allclose(P.apply(sums), ones, atol=1e-9)


@given(A=stencils(), seed=strategies.SEEDS, name=st.sampled_from(["ic0", "mic0"]))
def test_it_is_symmetric_and_positive_definite_and_follows_again(A, seed, name):
    rng = np.random.default_rng(seed)
    P = make_recipe(name).prepare(perp.LCP(A, np.zeros(A.n)))
    for _ in range(2):
        free, shift = free_and_shift(A, int(rng.integers(1000)))
        P.follow(free, shift)
        u, v = rng.standard_normal((2, A.n))
        np.testing.assert_allclose(u @ P.apply(v), P.apply(u) @ v, atol=1e-10 * (1.0 + np.abs(P.apply(v)).max()))
        assert u @ P.apply(u) > 0.0 or not free.any()


@pytest.mark.parametrize("couplings", [1.0, -1.9, [-1.0, 1.0]])
def test_where_a_pivot_is_lost_the_entries_are_taken(couplings):
    """Couplings of any sign, so large that the matrix is indefinite: then what is done is what a matrix would get."""
    A = perp.StencilOperator((6, 6), 2.0, couplings)
    rng = np.random.default_rng(0)
    free, r = rng.random(36) < 0.9, rng.standard_normal(36)
    grid, entries = followed(IC0(), A, free, np.zeros(36)), followed(IC0(), A.to_sparse(), free, np.zeros(36))
    np.testing.assert_array_equal(grid.apply(r), entries.apply(r))
    assert grid.report() == entries.report()
    assert grid.report()["decoupled_rows"] > 0


def test_a_closed_chain_ends_with_a_pivot_that_is_zero():
    """Its factor is exact, and its matrix singular: the last cell keeps its diagonal entry, as it does by entries."""
    A = perp.StencilOperator((8,), [1.0, *[2.0] * 6, 1.0], -1.0)
    free, r = np.ones(8, dtype=bool), np.arange(8.0)
    grid, entries = followed(IC0(), A, free, np.zeros(8)), followed(IC0(), A.to_sparse(), free, np.zeros(8))
    assert grid.pivots[-1] == 1.0
    np.testing.assert_allclose(grid.apply(r), entries.apply(r), rtol=1e-12)


def iterations(recipe, cells):
    A = perp.StencilOperator((cells, cells), 4.0, -1.0)
    b = np.random.default_rng(0).standard_normal(A.n)
    P = followed(recipe, A, np.ones(A.n, dtype=bool), np.zeros(A.n))
    found = cg(A, b, preconditioner=P.apply, tolerance=1e-10 * np.linalg.norm(b), max_iterations=1000)
    assert found.success
    return found.iterations


@pytest.mark.parametrize(("recipe", "exponent"), [(IC0(), 1.0), (MIC0(tau=1.0), 0.5)], ids=["ic0", "mic0"])
def test_iterations_grow_as_one_over_the_width_or_its_root(recipe, exponent):
    """About sqrt(condition) ln(2 / 1e-10) / 2 iterations: the condition grows as h^-2 or as h^-1 (Gustafsson 1978).

    From 32 to 128 cells a side the count changes by 4^exponent. Counts are rounded up and lower ones come off a little
    better, as conjugate gradients have used up the outer eigenvalues by then: two iterations either way, of at
    least 25, and a tenth of the exponent.
    """
    few, many = iterations(recipe, 32), iterations(recipe, 128)
    slack = 0.1 * exponent + np.log((many + 2) * few / (many * (few - 2))) / np.log(4.0)
    assert np.log(many / few) / np.log(4.0) == pytest.approx(exponent, abs=slack)
    assert slack < 0.25  # so that the two cannot be mistaken for one another


def test_the_modified_one_is_refused_where_a_coupling_is_positive():
    stack = gallery.make("boxed_stack", n=24).problem
    with pytest.raises(perp.errors.MethodRefused, match=r"A\[\d+,\d+\] = .*take 'ic0'"):
        perp.solve(stack, "mprgp", preconditioner="mic0")
    grid = perp.LCP(perp.StencilOperator((4, 4), 4.0, [-1.0, 0.5]), np.zeros(16))
    assert "axis 1 is 0.5" in str(MIC0().objection(grid))
    assert MIC0().objection(gallery.make("poisson_2d", n=16).problem) is None


def test_a_share_of_more_than_one_is_refused():
    for wrong in ({"tau": 1.1}, {"sigma": 2.0}, {"tau": -0.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MIC0(**wrong)


@given(seed=strategies.SEEDS)
def test_a_matrix_with_the_signs_of_a_pressure_matrix_but_indefinite_is_survived(seed):
    rng = np.random.default_rng(seed)
    A = perp.StencilOperator((5, 5), rng.choice([0.0, 0.5, 4.0, -1.0], (5, 5)), -1.0)
    free, r = rng.random(25) < 0.8, rng.standard_normal(25)
    for name in ("ic0", "mic0"):
        z = followed(make_recipe(name), A, free, np.zeros(25)).apply(r)
        assert np.isfinite(z).all()
        assert not z[~free].any()
        assert r @ z > 0.0 or not free.any()
