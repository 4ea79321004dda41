"""Incomplete Cholesky preconditioners: against the listings of THESIS in plain Python, and what must hold for any A."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import gallery
from perp.kernels.factors import incomplete
from perp.linalg.orderings import METHODS
from perp.linalg.preconditioners import IC0, ICT, CompensatedIC0, ImaginaryIC0, PartialShiftIC0, make_recipe
from perp.linalg.preconditioners.incomplete_factor import IncompleteFactor

NAMES = ("ic0", "compensated_ic0", "ict", "partial_shift_ic0", "imaginary_ic0")
ZERO_FILL = tuple(name for name in NAMES if name != "ict")

KERSHAW = np.array([[3.0, -2.0, 0.0, 2.0], [-2.0, 3.0, -2.0, 0.0], [0.0, -2.0, 3.0, -2.0], [2.0, 0.0, -2.0, 3.0]])
"""Kershaw 1978: positive definite, but IC(0) ends with the pivot 3 - 4/3 - 20/3 = -5."""


def ic0_listing(A, imaginary=False):
    """Algorithm 4, or with `imaginary` Algorithm 6; returns L and the signs eta."""
    n = len(A)
    L, eta = np.tril(A), np.ones(n)
    pattern = L != 0.0
    for i in range(n):
        if imaginary and L[i, i] < 0.0:
            eta[i] = -1.0
        assert eta[i] * L[i, i] > 0.0
        L[i, i] = np.sqrt(eta[i] * L[i, i])
        for j in range(i + 1, n):
            if pattern[j, i]:
                L[j, i] = eta[i] * (L[j, i] / L[i, i])
        for j in range(i + 1, n):
            for k in range(j, n):
                if pattern[k, j]:
                    L[k, j] -= eta[i] * L[k, i] * L[j, i]
    return L, eta


def ict_listing(A, drop_tolerance, largest):
    """Algorithm 5 with magnitudes, tau of the entry's own column, and line 13 in the unit of L."""
    n = len(A)
    L = np.tril(A)
    tau = drop_tolerance * np.linalg.norm(L, axis=0)
    for i in range(n):
        below = np.arange(i + 1, n)
        L[below[np.abs(L[below, i]) < tau[i]], i] = 0.0
        assert L[i, i] > 0.0
        L[i, i] = np.sqrt(L[i, i])
        L[below, i] /= L[i, i]
        L[below[np.abs(L[below, i]) < tau[i] / np.sqrt(A[i, i])], i] = 0.0
        by_size = sorted(below, key=lambda k: (-abs(L[k, i]), k))
        L[by_size[largest:], i] = 0.0
        for j in below:
            for k in range(j, n):
                L[k, j] -= L[k, i] * L[j, i]
                if k > j and L[k, i] * L[j, i] != 0.0 and abs(L[k, j]) < tau[j]:
                    L[k, j] = 0.0
    return L


def pcg(A, b, P, tolerance=1e-8, most=3000):
    """Algorithm 8; the number of iterations until |r| <= tolerance |b|."""
    x, r = np.zeros(b.size), b.copy()
    q = z = P.apply(r)
    rz = r @ z
    for done in range(most):
        if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
            assert np.linalg.norm(b - A @ x) <= 2.0 * tolerance * np.linalg.norm(b)
            return done
        Aq = A @ q
        step = rz / (q @ Aq)
        x, r = x + step * q, r - step * Aq
        z = P.apply(r)
        rz, beta = r @ z, r @ z / rz
        q = z + beta * q
    return most


def problem_of(A):
    return perp.BoxLCP(sparse.csr_array(A), np.zeros(A.shape[0]), -np.inf, np.inf)


def made(recipe, A, free=None, shift=None):
    n = A.shape[0]
    P = make_recipe(recipe).prepare(problem_of(A))
    P.follow(np.ones(n, dtype=bool) if free is None else free, np.zeros(n) if shift is None else shift)
    return P


def factor_of(P):
    """L as a dense matrix, and the rows of A that its rows are."""
    assert isinstance(P, IncompleteFactor)
    rows, start, row, values = P.factor()
    L = sparse.csc_array((values, row.astype(np.int64), start), shape=(rows.size, rows.size))
    assert sparse.triu(L, 1).nnz == 0
    return L.toarray(), rows


@st.composite
def symmetric_matrices(draw, kinds=("definite", "semi-definite", "indefinite"), max_n=24):
    """Sparse to full; semi-definite ones have copies of rows and empty rows, indefinite ones may have any diagonal."""
    n, density = draw(st.integers(1, max_n)), draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))
    kind, rng = draw(st.sampled_from(kinds)), np.random.default_rng(draw(strategies.SEEDS))
    sparsity = rng.random((n, n)) < density
    if kind == "indefinite":
        B = rng.standard_normal((n, n)) * sparsity
        A = B + B.T
        A[np.diag_indices(n)] = rng.choice([0.0, 1.0, -1.0, 1e-12, 3.0], n)
    else:
        J = rng.standard_normal((n, n)) * (sparsity | np.eye(n, dtype=bool))
        if kind == "semi-definite":
            copies = rng.random(n) < 0.4
            J[copies] = J[rng.integers(0, n, copies.sum())]
            J[rng.random(n) < 0.1] = 0.0
        A = J @ J.T + (0.01 * np.eye(n) if kind == "definite" else 0.0)
        A = 0.5 * (A + A.T)
    scale = 2.0 ** rng.integers(-20, 20, n) if draw(st.booleans()) else np.ones(n)
    return scale[:, None] * A * scale


@st.composite
def free_systems(draw, **options):
    A = draw(symmetric_matrices(**options))
    rng = np.random.default_rng(draw(strategies.SEEDS))
    free = rng.random(len(A)) < draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))
    shift = rng.random(len(A)) * draw(st.sampled_from([0.0, 1e-6, 1.0]))
    return A, free, shift


@pytest.mark.parametrize("name", NAMES)
@given(system=free_systems(), ordering=st.sampled_from((*METHODS, "best")), seed=strategies.SEEDS)
def test_p_is_finite_symmetric_and_positive_definite_for_any_matrix(name, system, ordering, seed):
    A, free, shift = system
    n = len(A)
    P = type(make_recipe(name))(ordering=ordering).prepare(problem_of(A))
    P.follow(free, shift)
    L, rows = factor_of(P)
    assert sorted(rows) == list(np.flatnonzero(free))
    assert np.isfinite(L).all()
    assert (L.diagonal() > 0.0).all()
    r, s = np.random.default_rng(seed).standard_normal((2, n))
    z = P.apply(r)
    assert np.isfinite(z).all()
    assert not z[~free].any()
    if free.any():
        assert r @ z > 0.0
        # Substitution is backward stable: L L^T z = r to rounding in units of |L| |L^T| |z|, row by row.
        size = np.abs(L) @ (np.abs(L).T @ np.abs(z[rows]))
        assert (np.abs(L @ (L.T @ z[rows]) - r[rows]) <= 1e-13 * (n + 1) * (size + np.abs(r[rows]))).all()
        left, right = P.apply(s) @ r, s @ z
        spread = np.sqrt(r @ z) * np.sqrt(s @ P.apply(s))
        condition = np.linalg.cond(L) ** 2
        assert abs(left - right) <= min(1e-14 * n * condition, 1.0) * spread + 1e-300


@pytest.mark.parametrize("name", NAMES)
@given(system=free_systems(kinds=("semi-definite", "indefinite")))
def test_the_counts_of_the_report_are_consistent(name, system):
    A, free, shift = system
    P = made(name, A, free, shift)
    report = P.report()
    L, rows = factor_of(P)
    assert report["nonzeros"] >= np.count_nonzero(L)
    assert report["small_pivots"] + report["decoupled_rows"] + report["imaginary_columns"] <= rows.size
    if name != "imaginary_ic0":
        assert report["imaginary_columns"] == 0
    if report["shifts"] == 0:
        assert report["compensation"] == 0.0
    elif report["compensation"] == 0.0:  # no shift was enough: only the diagonal is left
        assert report["decoupled_rows"] == rows.size == np.count_nonzero(L)


@pytest.mark.parametrize("name", NAMES)
@given(A=symmetric_matrices(kinds=("definite",)))
def test_where_nothing_is_dropped_l_is_the_cholesky_factor(name, A):
    full = A + 1e-200  # every place is in the pattern
    recipe = ICT(drop_tolerance=0.0, largest=len(A)) if name == "ict" else name
    P = made(recipe, full)
    L, _ = factor_of(P)
    exact = np.linalg.cholesky(A)
    scale = 1.0 / np.sqrt(A.diagonal())
    condition = np.linalg.cond(scale[:, None] * A * scale)
    np.testing.assert_allclose(scale[:, None] * L, scale[:, None] * exact, atol=1e-14 * len(A) * condition)
    assert P.report()["shifts"] == P.report()["imaginary_columns"] == P.report()["decoupled_rows"] == 0


@pytest.mark.parametrize("name", ZERO_FILL)
@pytest.mark.parametrize("shape", ["tridiagonal", "arrow"])
def test_without_fill_ic0_is_exact(name, shape):
    n, rng = 30, np.random.default_rng(0)
    A = np.diag(2.0 + rng.random(n))
    off = -rng.random(n - 1)
    if shape == "tridiagonal":
        A += np.diag(off, 1) + np.diag(off, -1)
    else:
        A[-1, :-1] = A[:-1, -1] = off / n
    L, _ = factor_of(made(name, A))
    np.testing.assert_allclose(L, np.linalg.cholesky(A), rtol=1e-13, atol=1e-15)


@given(A=symmetric_matrices(kinds=("definite",)))
def test_ic0_is_the_listing(A):
    A = A + np.diag(np.abs(A).sum(axis=1))  # diagonally dominant: no negative pivots (Meijerink & van der Vorst 1977)
    twin, _ = ic0_listing(A)
    for name in ZERO_FILL:
        L, _ = factor_of(made(name, A))
        np.testing.assert_allclose(L, twin, rtol=1e-12, atol=1e-14 * np.abs(twin).max())


@given(seed=strategies.SEEDS, n=st.integers(1, 16))
def test_imaginary_ic0_is_the_listing(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.4)
    A = B + B.T
    A[np.diag_indices(n)] = rng.choice([-4.0, 4.0, 9.0], n)  # far enough from zero that no pivot is at rounding level
    twin, eta = ic0_listing(A, imaginary=True)
    P = made("imaginary_ic0", A)
    if P.report()["shifts"] == 0:
        assert P.report()["imaginary_columns"] == np.count_nonzero(eta < 0.0)
        L, _ = factor_of(P)
        growth = np.abs(twin).max() ** 2 / np.abs(twin.diagonal()).min() ** 2
        np.testing.assert_allclose(L, twin, rtol=1e-12 * growth, atol=1e-13 * growth)


@given(
    A=symmetric_matrices(kinds=("definite",)),
    drop_tolerance=st.sampled_from([0.0, 1e-3, 0.03, 0.3]),
    largest=st.sampled_from([0, 1, 3, 100]),
)
def test_ict_is_the_listing(A, drop_tolerance, largest):
    A = A + np.diag(np.abs(A).sum(axis=1))
    twin = ict_listing(A, drop_tolerance, largest)
    P = made(ICT(drop_tolerance=drop_tolerance, largest=largest), A)
    L, _ = factor_of(P)
    np.testing.assert_allclose(L, twin, rtol=1e-11, atol=1e-14 * np.abs(twin).max())
    assert (np.count_nonzero(np.tril(L, -1), axis=0) <= largest).all()


def test_ict_finds_room_for_a_factor_that_fills_up():
    A = gallery.make("poisson_2d", n=400).problem.A.to_dense()
    P = made(ICT(drop_tolerance=0.0, largest=400), A)
    L, _ = factor_of(P)
    np.testing.assert_allclose(L, np.linalg.cholesky(A), atol=1e-13)


@given(A=symmetric_matrices(kinds=("definite",)), power=st.integers(-20, 20))
def test_the_unit_of_a_does_not_change_what_ict_drops(A, power):
    factor = 4.0**power
    L, _ = factor_of(made("ict", A))
    scaled, _ = factor_of(made("ict", factor * A))
    np.testing.assert_array_equal(scaled, 2.0**power * L)


@pytest.mark.parametrize("name", ZERO_FILL)
@given(A=symmetric_matrices(), seed=strategies.SEEDS)
def test_units_of_rows_do_not_change_ic0(name, A, seed):
    scale = 2.0 ** np.random.default_rng(seed).integers(-9, 9, len(A))
    P, scaled = made(name, A), made(name, scale[:, None] * A * scale)
    if A.diagonal().all():  # a row without a diagonal entry takes its size from other numbers
        np.testing.assert_array_equal(factor_of(scaled)[0], scale[:, None] * factor_of(P)[0])
        assert scaled.report() == P.report()


def test_kershaws_matrix_breaks_ic0_and_each_variant_counts_what_it_did():
    with pytest.raises(AssertionError):
        ic0_listing(KERSHAW)
    reports = {name: made(name, KERSHAW).report() for name in NAMES}
    assert reports["ic0"]["decoupled_rows"] == 1
    assert reports["imaginary_ic0"]["imaginary_columns"] == 1
    assert reports["compensated_ic0"]["shifts"] > 0
    assert reports["partial_shift_ic0"]["shifts"] > 0
    assert reports["ict"]["shifts"] == 0  # it keeps the fill that IC(0) drops
    assert made(ICT(largest=1), KERSHAW).report()["shifts"] > 0
    for name in ("compensated_ic0", "partial_shift_ic0"):
        assert reports[name]["decoupled_rows"] == 0
        assert reports[name]["compensation"] > 0.0


def test_the_imaginary_column_of_kershaws_matrix():
    L, _ = factor_of(made("imaginary_ic0", KERSHAW))
    assert L[3, 3] == pytest.approx(np.sqrt(5.0), rel=1e-14)
    # P_ij = sum_k L_ik L_jk (THESIS eq. 4.3 with the magnitudes): only the last diagonal entry differs from A.
    expected = L @ L.T - KERSHAW
    assert expected[3, 3] == pytest.approx(10.0)
    np.testing.assert_allclose(expected[:3, :3] * (KERSHAW[:3, :3] != 0.0), 0.0, atol=1e-14)


def test_a_decoupled_row_leaves_the_factor_of_the_others():
    L, _ = factor_of(made("ic0", KERSHAW))
    alone = KERSHAW.copy()
    alone[3, :3] = alone[:3, 3] = 0.0
    np.testing.assert_allclose(L, np.linalg.cholesky(alone), atol=1e-15)


def test_compensation_is_the_factor_of_the_matrix_with_that_much_on_its_diagonal():
    P = made(CompensatedIC0(first_shift=0.1, growth=3.0), KERSHAW)
    report = P.report()
    assert report["compensation"] == pytest.approx(0.1 * 3.0 ** (report["shifts"] - 1))
    raised = KERSHAW + report["compensation"] * np.diag(KERSHAW.diagonal())
    np.testing.assert_allclose(factor_of(P)[0], ic0_listing(raised)[0], rtol=1e-14)
    lower = KERSHAW + report["compensation"] / 3.0 * np.diag(KERSHAW.diagonal())
    with pytest.raises(AssertionError):  # one shift fewer would not have done
        ic0_listing(lower)


def partial_shift_twin(A, gamma):
    """Section 4.1.4 with Algorithm 4 from scratch after each shift; what was added to the diagonal, and the shifts."""
    n = len(A)
    added, times = np.zeros(n), np.zeros(n, dtype=int)
    while True:
        L = np.tril(A + np.diag(added))
        pattern = L != 0.0
        for i in range(n):
            if L[i, i] < 0.0:
                break
            L[i:, i] /= np.sqrt(L[i, i])
            for j in range(i + 1, n):
                L[j:, j] -= np.where(pattern[j:, j], L[j:, i] * L[j, i], 0.0)
        else:
            return L, added, times
        for k in [*np.flatnonzero(L[i, :i]), i]:
            added[k] += 2.0 ** times[k] * gamma * A[k, k]
            times[k] += 1


@pytest.mark.parametrize("gamma", [1e-4, 0.05])
def test_partial_shifts_are_those_of_a_factor_that_is_begun_again_each_time(gamma):
    blocks = np.kron(np.diag([1.0, 9.0, 0.01]), KERSHAW)  # three matrices that break down, in different units
    L, added, times = partial_shift_twin(blocks, gamma)
    P = made(PartialShiftIC0(gamma=gamma), blocks)
    np.testing.assert_allclose(factor_of(P)[0], L, rtol=1e-12, atol=1e-14)
    assert P.report()["shifts"] == times.sum() > 0
    assert P.report()["compensation"] == pytest.approx((added / blocks.diagonal()).max())


@pytest.mark.parametrize("name", ZERO_FILL)
def test_negative_pivots_of_stacked_boxes_are_met_and_survived(name):
    example = gallery.make("boxed_stack", n=336, mass_ratio=1000.0, compliance=1e-4)
    A = example.problem.A.to_dense()
    P = made(name, A)
    report = P.report()
    counted = {"ic0": "decoupled_rows", "imaginary_ic0": "imaginary_columns"}.get(name, "shifts")
    assert report[counted] > 0
    b = A @ np.random.default_rng(1).standard_normal(len(A))
    assert pcg(A, b, P) < 3000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mass_ratio", [1.0, 1000.0])
def test_redundant_contacts_are_survived_and_solved_in_fewer_iterations_than_by_jacobi(name, mass_ratio):
    A = gallery.make("boxed_stack", n=336, mass_ratio=mass_ratio).problem.A.to_dense()
    assert np.linalg.matrix_rank(A) < 0.5 * len(A)
    b = A @ np.random.default_rng(1).standard_normal(len(A))
    assert pcg(A, b, made(name, A)) < 0.6 * pcg(A, b, made("jacobi", A))


def test_rows_that_depend_on_others_cost_nothing_where_the_factor_is_exact():
    A = gallery.make("boxed_stack", n=336, layout="tower").problem.A.to_dense()
    P = made("ic0", A)
    assert P.report()["small_pivots"] == len(A) - np.linalg.matrix_rank(A)
    b = A @ np.random.default_rng(1).standard_normal(len(A))
    assert pcg(A, b, P) <= 2


@pytest.mark.parametrize("name", NAMES)
@given(
    A=symmetric_matrices(),
    seeds=st.lists(strategies.SEEDS, min_size=2, max_size=4),
    ordering=st.sampled_from(["natural", "amd"]),
)
def test_following_is_the_same_as_making_anew(name, A, seeds, ordering):
    recipe = type(make_recipe(name))(ordering=ordering)
    P = recipe.prepare(problem_of(A))
    r = np.cos(np.arange(len(A)))
    for seed in seeds:
        rng = np.random.default_rng(seed)
        free, shift = rng.random(len(A)) < 0.6, rng.random(len(A)) * rng.choice([0.0, 1.0])
        P.follow(free, shift)
        anew = recipe.prepare(problem_of(A))
        anew.follow(free, shift)
        np.testing.assert_array_equal(P.apply(r), anew.apply(r))
        assert P.report() == anew.report()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_factored_again_where_neither_rows_nor_shift_changed(name, monkeypatch):
    P = made(name, KERSHAW)
    count = []
    make = type(P)._make
    monkeypatch.setattr(type(P), "_make", lambda self: (count.append(1), make(self)))
    free, shift = np.ones(4, dtype=bool), np.zeros(4)
    P.follow(free, shift)
    assert len(count) == 0
    P.follow(free, np.array([0.0, 0.0, 0.0, 1.0]))
    assert len(count) == 1
    free[3] = False
    P.follow(free, np.array([0.0, 0.0, 0.0, 1.0]))
    P.follow(free, np.array([0.0, 0.0, 0.0, 2.0]))  # the shift of a row that is not free
    assert len(count) == 2


def test_a_caller_who_changes_his_mask_later_is_noticed():
    P = IC0().prepare(problem_of(KERSHAW))
    free = np.ones(4, dtype=bool)
    P.follow(free, np.zeros(4))
    free[0] = False
    P.follow(free, np.zeros(4))
    assert P.apply(np.ones(4))[0] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_a_factor_whose_inverse_overflows_is_not_used(name):
    n = 80  # L has 1 on its diagonal and 1e6 below it, both exactly, and L^-1 entries of 1e6^79
    L = np.eye(n) + np.diag(np.full(n - 1, 1e6), -1)
    P = made(ICT(drop_tolerance=0.0) if name == "ict" else name, L @ L.T)
    z = P.apply(np.ones(n))
    assert np.isfinite(z).all()
    assert z.sum() > 0.0
    assert P.report()["decoupled_rows"] + P.report()["shifts"] > 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "A",
    [
        np.zeros((3, 3)),
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.array([[-1.0, 2.0], [2.0, -1.0]]),
        np.array([[1e-8, 1.0], [1.0, 1e-8]]),
        1e300 * KERSHAW,
        1e-300 * KERSHAW,
        np.ones((4, 4)),
        np.array([[5e-324]]),
    ],
    ids=["zero", "exchange", "negative", "far from dominant", "huge", "tiny", "ones", "denormal"],
)
def test_hard_matrices_end_in_a_finite_positive_definite_p(name, A):
    P = made(name, A)
    L, _ = factor_of(P)
    assert np.isfinite(L).all()
    assert (L.diagonal() > 0.0).all()
    r = np.sqrt(np.abs(A).max() or 1.0) * np.cos(np.arange(len(A)))
    z = P.apply(r)
    assert np.isfinite(z).all()
    assert r @ z > 0.0


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_at_all(name):
    P = made(name, np.zeros((0, 0)))
    assert P.apply(np.zeros(0)).size == 0
    assert P.report()["nonzeros"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_factored_operator_is_assembled_and_one_that_cannot_be_is_refused(name):
    A = gallery.make("box_stack", n=48).problem.A
    recipe = make_recipe(name)
    P = recipe.prepare(perp.LCP(A, np.zeros(A.n)))
    P.follow(np.ones(A.n, dtype=bool), np.zeros(A.n))
    np.testing.assert_array_equal(P.apply(np.ones(A.n)), made(name, A.to_sparse()).apply(np.ones(A.n)))
    product = LinearOperator((3, 3), matvec=lambda x: x, dtype=float)
    bare = perp.LCP(perp.MatrixFreeOperator(product), np.zeros(3))
    assert "to_sparse" in recipe.objection(bare)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IC0(ordering="amb"), "did you mean 'amd'"),
        (lambda: CompensatedIC0(growth=1.0), "growth is 1.0"),
        (lambda: CompensatedIC0(first_shift=0.0), "first_shift is 0.0"),
        (lambda: ICT(drop_tolerance=-1.0), "drop_tolerance is -1.0"),
        (lambda: ICT(largest=-1), "largest is -1"),
        (lambda: PartialShiftIC0(gamma=np.nan), "gamma is nan"),
        (lambda: ImaginaryIC0(ordering=""), "ordering is ''"),
    ],
)
def test_bad_options_are_refused_when_the_recipe_is_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_kernels_are_compiled_for_one_signature_whatever_arrays_the_caller_has():

    for name in NAMES:
        P = make_recipe(name).prepare(problem_of(KERSHAW))
        free, shift, r = np.ones(4, dtype=bool), np.zeros(4), np.ones(4)
        for writable in (True, False):
            for array in (free, shift, r):
                array.flags.writeable = writable
            P.follow(free, shift)
            P.apply(r)
            free = ~free
    kernels = [getattr(incomplete, name) for name in ("gather", "factor", "solve", "guess_condition")]
    assert [len(kernel.signatures) for kernel in [*kernels, incomplete.factor_by_threshold]] == [1] * 5
