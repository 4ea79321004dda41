"""Block-Jacobi, symmetric Gauss-Seidel, scaling, multigrid: positive definite, what their formula says, for any F."""

from __future__ import annotations

import builtins
import importlib.util

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp import gallery
from perp.errors import MissingExtra
from perp.kernels.factors import splittings
from perp.linalg.krylov import cg
from perp.linalg.preconditioners import (
    ICT,
    BlockJacobiPreconditioner,
    FourierPreconditioner,
    JacobiPreconditioner,
    MultigridPreconditioner,
    ScaledPreconditioner,
    SymmetricGaussSeidelPreconditioner,
    make_recipe,
)
from perp.problems.operators.convolution import wrap_around

HAS_PYAMG = importlib.util.find_spec("pyamg") is not None
needs_pyamg = pytest.mark.skipif(not HAS_PYAMG, reason="PyAMG is not installed")
RECIPES = {
    "block_jacobi": BlockJacobiPreconditioner(),
    "block_jacobi 4": BlockJacobiPreconditioner(size=4),
    "symmetric_gauss_seidel": SymmetricGaussSeidelPreconditioner(),
    "scaled": ScaledPreconditioner(inner="symmetric_gauss_seidel"),
    "scaled by columns": ScaledPreconditioner(inner="block_jacobi", by="columns"),
    "multigrid": pytest.param(MultigridPreconditioner(), marks=needs_pyamg),
}
EACH = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())


def inverse_of(preconditioner, n):
    """P^-1 as a matrix, by applying it to every unit vector."""
    return np.array([preconditioner.apply(unit) for unit in np.eye(n)]).T


def changes(rng, n, count=4):
    """Sets of free rows and shifts, one after another."""
    for share in (1.0, 0.6, 0.0, 0.8)[:count]:
        yield rng.random(n) < share, rng.choice([0.0, 0.4], n)


def formula(recipe, problem, free, shift):
    """P^-1 on the free rows, written down for dense matrices."""
    F = np.flatnonzero(free)
    A = problem.A.to_dense()[np.ix_(F, F)] + np.diag(shift[F])
    if isinstance(recipe, BlockJacobiPreconditioner):
        contact = isinstance(problem, perp.ContactProblem)
        size = problem.dimension if contact else recipe.size
        blocks = problem.contacts if contact else problem.n // size
        group = np.where(F // size < blocks, F // size, problem.n + F)
        return np.linalg.inv(np.where(group[:, None] == group, A, 0.0))
    assert isinstance(recipe, SymmetricGaussSeidelPreconditioner)
    D = np.diag(A.diagonal())
    return np.linalg.inv((D + np.tril(A, -1)) @ np.linalg.inv(D) @ (D + np.triu(A, 1)))


# -- positive definite, and zero elsewhere ----------------------------------------------------------------------------


@EACH
@given(data=st.data(), seed=strategies.SEEDS)
def test_p_is_symmetric_positive_definite_on_the_free_rows_and_zero_elsewhere(recipe, data, seed):
    problem = data.draw(st.one_of(strategies.lcps(), strategies.contact_problems()))
    rng = np.random.default_rng(seed)
    preconditioner = recipe.prepare(problem)
    assert recipe.objection(problem) is None
    for free, shift in changes(rng, problem.n):
        preconditioner.follow(free, shift)
        P_inverse = inverse_of(preconditioner, problem.n)
        inside = P_inverse[np.ix_(free, free)]
        np.testing.assert_allclose(inside, inside.T, rtol=1e-9, atol=1e-12 * np.abs(inside).max(initial=0.0))
        assert (np.linalg.eigvalsh(0.5 * (inside + inside.T)) > 0.0).all()
        assert not P_inverse[~free].any()
        assert not P_inverse[:, ~free].any()
        assert preconditioner.report()["nonzeros"] >= 0


@pytest.mark.parametrize("name", ["block_jacobi", "symmetric_gauss_seidel", "scaled", "scaled by columns"])
@given(seed=strategies.SEEDS, n=st.integers(1, 12))
def test_p_is_positive_definite_whatever_a_is(name, seed, n):
    """Indefinite, singular, with zeros on the diagonal."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, (n, n)).astype(float)
    A = A + A.T
    preconditioner = RECIPES[name].prepare(perp.LCP(A, np.zeros(n)))
    preconditioner.follow(np.ones(n, dtype=bool), np.zeros(n))
    P_inverse = inverse_of(preconditioner, n)
    np.testing.assert_allclose(P_inverse, P_inverse.T, rtol=1e-6, atol=1e-9 * np.abs(P_inverse).max())
    P = np.linalg.inv(P_inverse)  # entries of P^-1 grow like 3^n here, those of P do not
    assert (np.linalg.eigvalsh(0.5 * (P + P.T)) > -1e-9 * np.abs(P).max()).all()


@pytest.mark.parametrize("name", ["block_jacobi", "block_jacobi 4", "symmetric_gauss_seidel"])
@given(data=st.data(), seed=strategies.SEEDS)
def test_p_is_what_its_formula_says_and_follows_the_free_rows(name, data, seed):
    problem = data.draw(st.one_of(strategies.lcps(), strategies.contact_problems()))
    recipe, rng = RECIPES[name], np.random.default_rng(seed)
    preconditioner = recipe.prepare(problem)
    lift = 0.3 if isinstance(problem, perp.ContactProblem) else 0.0  # contacts without compliance can be dependent
    for free, shift in changes(rng, problem.n):
        preconditioner.follow(free, shift + lift)
        found = inverse_of(preconditioner, problem.n)[np.ix_(free, free)]
        expected = formula(recipe, problem, free, shift + lift)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_the_arguments_may_be_read_only_and_stay_as_they_are():
    problem = gallery.make("poisson_2d", n=25).problem
    free, shift, r = np.arange(25) % 2 == 0, np.full(25, 0.1), np.arange(1.0, 26.0)
    for array in (free, shift, r):
        array.flags.writeable = False
    for recipe in ("block_jacobi", "symmetric_gauss_seidel", "scaled", *(["multigrid"] if HAS_PYAMG else [])):
        preconditioner = make_recipe(recipe).prepare(problem)
        preconditioner.follow(free, shift)
        assert preconditioner.apply(r)[0::2].all()


# -- block-Jacobi -----------------------------------------------------------------------------------------------------


def test_the_blocks_of_contacts_are_found_without_forming_a(monkeypatch):
    problem = gallery.make("box_stack", n=48).problem
    A = problem.A.to_dense()
    monkeypatch.setattr(perp.FactoredOperator, "to_sparse", lambda self: pytest.fail("A was formed"))
    preconditioner = BlockJacobiPreconditioner().prepare(problem)
    preconditioner.follow(np.ones(problem.n, dtype=bool), np.zeros(problem.n))
    found = inverse_of(preconditioner, problem.n)
    np.testing.assert_allclose(found[3:6, 3:6], np.linalg.inv(A[3:6, 3:6]), rtol=1e-9)
    assert preconditioner.report() == {"nonzeros": 6 * problem.contacts}


def test_rows_after_the_contacts_stand_alone():
    stack = gallery.make("box_stack", n=48).problem
    problem = perp.ContactProblem(stack.A, stack.b, stack.friction[:-1], extra_rows=3)
    preconditioner = BlockJacobiPreconditioner().prepare(problem)
    preconditioner.follow(np.ones(problem.n, dtype=bool), np.zeros(problem.n))
    last = inverse_of(preconditioner, problem.n)[-3:]
    np.testing.assert_allclose(last[:, -3:], np.diag(1.0 / problem.diagonal[-3:]))
    assert not last[:, :-3].any()


def test_only_blocks_that_changed_are_factored_again(monkeypatch):

    problem = gallery.make("box_stack", n=48).problem
    preconditioner = BlockJacobiPreconditioner().prepare(problem)
    free, shift = np.ones(problem.n, dtype=bool), np.zeros(problem.n)
    preconditioner.follow(free, shift)
    chosen, factor = [], splittings.factor_blocks
    monkeypatch.setattr(splittings, "factor_blocks", lambda *a: (chosen.append(a[2].tolist()), factor(*a)))
    free[4] = False
    preconditioner.follow(free, shift)
    shift[0] = 1.0
    preconditioner.follow(free, shift)
    preconditioner.follow(free, shift)
    assert chosen == [[1], [0], []]


def test_a_block_size_of_zero_is_refused():
    with pytest.raises(ValueError, match="size is 0"):
        BlockJacobiPreconditioner(size=0)


# -- scaling ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["diagonal", "columns"])
def test_the_inner_recipe_sees_the_scaled_matrix_and_the_scaled_shift(by, monkeypatch):
    rng = np.random.default_rng(0)
    A = strategies.spd_matrix(rng, 8) * np.outer(10.0 ** np.arange(8), 10.0 ** np.arange(8))
    problem = perp.LCP(sparse.csr_array(A), np.zeros(8))
    size = A.diagonal() if by == "diagonal" else np.linalg.norm(A, axis=0)
    S = np.diag(1.0 / np.sqrt(size))
    seen = []
    monkeypatch.setattr(perp.LCP, "with_matrix", lambda self, A: seen.append(A.toarray()) or perp.LCP(A, self.b))
    preconditioner = ScaledPreconditioner(inner="symmetric_gauss_seidel", by=by).prepare(problem)
    np.testing.assert_allclose(seen[0], S @ A @ S, rtol=1e-12)
    free, shift = rng.random(8) < 0.7, A.diagonal()
    preconditioner.follow(free, shift)
    inside = np.flatnonzero(free)
    expected = np.zeros((8, 8))
    scaled = perp.LCP(sparse.csr_array(S @ A @ S), np.zeros(8))
    expected[np.ix_(inside, inside)] = formula(SymmetricGaussSeidelPreconditioner(), scaled, free, S @ S @ shift)
    np.testing.assert_allclose(inverse_of(preconditioner, 8), S @ expected @ S, rtol=1e-10)


def test_scaling_keeps_the_entries_that_a_drop_by_size_would_lose():
    """ICT measures an entry by its column: rows of very different units look weakly coupled, and are not."""
    problem = gallery.make("poisson_2d", n=400).problem
    units = sparse.diags_array(10.0 ** (np.arange(problem.n) % 7 - 3.0))
    skewed = perp.LCP(sparse.csr_array(units @ problem.A.to_sparse() @ units), np.zeros(problem.n))
    b = np.ones(problem.n)
    iterations = {}
    for name, recipe in {"plain": ICT(), "scaled": ScaledPreconditioner(inner=ICT())}.items():
        preconditioner = recipe.prepare(skewed)
        preconditioner.follow(np.ones(problem.n, dtype=bool), np.zeros(problem.n))
        found = cg(skewed.A.apply, b, preconditioner=preconditioner.apply, tolerance=1e-6, max_iterations=5000)
        assert found.success
        iterations[name] = found.iterations
    assert iterations["scaled"] < iterations["plain"]


def test_options_of_scaling_are_checked_when_it_is_made():
    with pytest.raises(ValueError, match="did you mean 'columns'"):
        ScaledPreconditioner(by="column")
    with pytest.raises(ValueError, match="did you mean 'jacobi'"):
        ScaledPreconditioner(inner="jacoby")


def test_what_the_inner_recipe_objects_to_is_passed_on(monkeypatch):
    monkeypatch.setattr(JacobiPreconditioner, "objection", lambda self, problem: "no")
    assert ScaledPreconditioner(inner="jacobi").objection(gallery.make("poisson_2d", n=25).problem) == "no"


# -- what they need ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["block_jacobi", "symmetric_gauss_seidel", "scaled", "multigrid"])
def test_a_matrix_free_operator_is_objected_to_by_name(name):
    if name == "multigrid" and not HAS_PYAMG:
        pytest.skip("PyAMG is not installed")
    problem = perp.LCP(perp.MatrixFreeOperator(sparse.eye_array(5), np.ones(5)), np.zeros(5))
    assert name in make_recipe(name).objection(problem)
    assert "to_sparse" in make_recipe(name).objection(problem)


@pytest.mark.parametrize("kind", ["poisson_2d", "poisson_3d"])
def test_gauss_seidel_takes_fewer_iterations_than_jacobi_on_grids(kind):
    problem = gallery.make(kind, n=1000).problem
    iterations = {}
    for name in ("jacobi", "symmetric_gauss_seidel"):
        preconditioner = make_recipe(name).prepare(problem)
        preconditioner.follow(np.ones(problem.n, dtype=bool), np.zeros(problem.n))
        b = np.sin(np.arange(problem.n))
        found = cg(problem.A.apply, b, preconditioner=preconditioner.apply, tolerance=1e-8, max_iterations=2000)
        assert found.success
        iterations[name] = found.iterations
    assert iterations["symmetric_gauss_seidel"] < 0.6 * iterations["jacobi"]


# -- multigrid --------------------------------------------------------------------------------------------------------


@needs_pyamg
def test_multigrid_takes_about_as_many_iterations_on_a_finer_grid():
    iterations = []
    for n in (900, 14_400):
        problem = gallery.make("poisson_2d", n=n).problem
        free = gallery.make("poisson_2d", n=n).x > 0.0
        preconditioner = MultigridPreconditioner().prepare(problem)
        preconditioner.follow(free, np.zeros(n))
        right = np.where(free, 1.0, 0.0)
        product = problem.A.apply
        found = cg(
            lambda v, free=free, product=product: np.where(free, product(v), 0.0),
            right,
            preconditioner=preconditioner.apply,
            tolerance=1e-8,
            max_iterations=200,
        )
        assert found.success
        iterations.append(found.iterations)
    assert iterations[1] <= iterations[0] + 5
    assert iterations[1] <= 15


@needs_pyamg
def test_row_92_a_free_set_that_changes_size_never_raises_or_warns_or_prints(capfd):
    rng = np.random.default_rng(0)
    problem = gallery.make("poisson_2d", n=400).problem
    preconditioner = MultigridPreconditioner().prepare(problem)
    for size in (400, 1, 0, 399, 60, 2, 200):
        free = np.zeros(400, dtype=bool)
        free[rng.permutation(400)[:size]] = True
        preconditioner.follow(free, np.zeros(400))
        r = rng.standard_normal(400)
        z = preconditioner.apply(r)
        assert np.isfinite(z).all()
        assert (z != 0.0).sum() == size
        assert size == 0 or r @ z > 0.0
        assert preconditioner.report()["diagonal_only"] == 0
    assert capfd.readouterr() == ("", "")


@needs_pyamg
@pytest.mark.parametrize("A", [np.zeros((70, 70)), -np.eye(70), np.ones((70, 70)), np.diag(np.arange(70.0))])
def test_matrices_that_are_no_grids_get_a_preconditioner_all_the_same(A, capfd):
    preconditioner = MultigridPreconditioner().prepare(perp.LCP(A, np.zeros(70)))
    preconditioner.follow(np.ones(70, dtype=bool), np.zeros(70))
    r = np.sin(np.arange(70.0))
    assert r @ preconditioner.apply(r) > 0.0
    assert capfd.readouterr() == ("", "")


@needs_pyamg
@pytest.mark.parametrize("kind", ["poisson_2d", "boxed_stack"])
def test_multigrid_repeats_bit_by_bit_and_leaves_the_random_numbers_alone(kind):
    problem = gallery.make(kind, n=400).problem
    answers = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 (the state that PyAMG would draw from)
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        preconditioner = MultigridPreconditioner().prepare(problem)
        preconditioner.follow(np.ones(problem.n, dtype=bool), np.full(problem.n, 1e-3))
        answers.append(preconditioner.apply(np.ones(problem.n)))
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.testing.assert_array_equal(*answers)


def test_without_pyamg_multigrid_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("perp.linalg.preconditioners.multigrid.find_spec", lambda name: None)
    problem = gallery.make("poisson_2d", n=25).problem
    assert "pip install pyamg" in MultigridPreconditioner().objection(problem)
    with pytest.raises(MissingExtra, match="extra 'multigrid'"):
        MultigridPreconditioner().prepare(problem)


def test_pyamg_is_not_imported_before_it_is_needed(monkeypatch):
    real = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__", lambda name, *a, **k: pytest.fail(name) if name == "pyamg" else real(name, *a, **k)
    )
    MultigridPreconditioner()
    make_recipe("multigrid")


# -- Fourier -----------------------------------------------------------------------------------------------------------


@given(strategies.convolutions(symmetric=True))
def test_the_circulant_has_the_mean_of_each_diagonal_of_the_matrix(A):
    dense = A.with_added_diagonal(-A.added).to_dense()
    places = np.indices(A.grid).reshape(len(A.grid), -1)
    offsets = (places[:, :, None] - places[:, None, :]) % np.reshape(A.grid, (-1, 1, 1))
    kernel = wrap_around(A.kernel, A.grid)
    for d in np.ndindex(A.grid):
        same = (offsets == np.reshape(d, (-1, 1, 1))).all(axis=0)
        assert kernel[d] == pytest.approx(dense[same].mean(), abs=1e-12)


@given(strategies.convolutions(symmetric=True), strategies.SEEDS)
def test_on_any_free_set_it_is_symmetric_and_positive_definite_where_a_is(A, seed):
    least = np.linalg.eigvalsh(A.to_dense())[0]
    A = A.with_added_diagonal(np.full(A.n, 0.1 + max(0.0, -least)))
    free = np.random.default_rng(seed).random(A.n) < 0.7
    assume(free.any())
    preconditioner = FourierPreconditioner().prepare(perp.LCP(A, np.zeros(A.n)))
    preconditioner.follow(free, np.zeros(A.n))
    P = np.array([preconditioner.apply(unit) for unit in np.eye(A.n)])
    assert not P[~free].any()
    assert not P[:, ~free].any()
    P = P[np.ix_(free, free)]
    np.testing.assert_allclose(P, P.T, atol=1e-12 * np.abs(P).max())
    assert np.linalg.eigvalsh(P)[0] > 0.0


def test_it_is_the_inverse_itself_of_a_definite_periodic_convolution():
    A = perp.ConvolutionOperator([2.5, -1.0, -0.1, 0.0, -0.1, -1.0], (6,))
    inverse = A.rough_inverse()
    x = np.cos(np.arange(6.0))
    np.testing.assert_allclose(inverse(A @ x), x, atol=1e-13)


@pytest.mark.parametrize(
    "A",
    [
        np.eye(3),
        perp.ConvolutionOperator([1.0, 2.0, 2.0], (3,)),  # eigenvalues of both signs
        perp.ConvolutionOperator([3.0, 1.0, 0.0], (3,)),  # not symmetric
    ],
)
def test_where_a_knows_no_definite_rough_inverse_it_is_refused(A):
    problem = perp.LCP(A, -np.ones(3))
    with pytest.raises(ValueError, match="'fourier' needs an A that knows a rough inverse"):
        perp.solve(problem, perp.PGCG(preconditioner="fourier"))


@pytest.mark.parametrize("kind", ["hertz", "rough_surface"])
def test_it_takes_a_third_of_the_steps_and_about_as_many_on_finer_grids(kind):
    steps = {}
    for k in (16, 64):
        problem = perp.gallery.make(kind, n=k * k).problem
        for name in ("jacobi", "fourier"):
            result = perp.solve(problem, perp.PGCG(preconditioner=name), tol=1e-9, check_every=1)
            assert result.success
            steps[name, k] = result.iterations
    assert steps["fourier", 64] < 0.6 * steps["jacobi", 64]
    assert steps["fourier", 64] <= 2 * steps["fourier", 16] + 5
