"""The table of bad and difficult inputs: one line a row that concerns code that exists, with its number."""

from __future__ import annotations

import threading
from itertools import count
from multiprocessing import get_all_start_methods, get_context

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import BoxLCP, ContactProblem, Status
from perp.errors import MethodRefused
from perp.solvers.loop import SolveInterrupted
from perp.solvers.reformulation.bridges import find_bridge
from perp.solvers.roster import BY_NAME

EYE = np.eye(8)
SPLITTING = ["jacobi", "pgs", "psor", "symmetric_psor"]
PIVOTING = ["enumeration", "lemke", "dantzig", "principal", "block_principal"]
NEWTON = ["minimum_map", "fischer", "interior_point", "interior_pivoting"]
GRADIENT = ["pgcg", "mprgp", "apgd", "spg"]
FIRST_ORDER_CONTACTS = ["pgs", "block_gauss_seidel", "nncg", "pgs_sm", "amgs", "amj", "admm"]
PROGRAM = pytest.param("quadratic_program", marks=pytest.mark.skipif(find_bridge() is None, reason="no QP solver here"))
MINIMISING = [*GRADIENT, PROGRAM]
DESCENDING = [*NEWTON, *MINIMISING]
KELLER = perp.Principal(rule="keller")


def matrix_with(value, i=3, j=7):
    A = EYE.copy()
    A[i, j] = value
    return A


def vector_with(value, n=8, i=2):
    b = np.ones(n)
    b[i] = value
    return b


def broken_csr(attribute, position, value):
    matrix = sparse.csr_array(EYE)
    getattr(matrix, attribute)[position] = value
    return matrix


# row, what is built, the exception, words of its message
RAISES = [
    (1, lambda: perp.LCP(matrix_with(np.nan), np.ones(8)), ValueError, r"A\[3,7\] is nan"),
    (1, lambda: perp.LCP(sparse.csr_array(matrix_with(np.nan)), np.ones(8)), ValueError, r"A\[3,7\] is nan"),
    (2, lambda: perp.LCP(EYE, vector_with(np.nan)), ValueError, r"b\[2\] is nan"),
    (3, lambda: perp.LCP(EYE, vector_with(-np.inf)), ValueError, r"b\[2\] is -inf"),
    (4, lambda: perp.LCP(matrix_with(np.inf), np.ones(8)), ValueError, r"A\[3,7\] is inf"),
    (4, lambda: perp.LCP(sparse.coo_array(matrix_with(np.inf)), np.ones(8)), ValueError, r"A\[3,7\] is inf"),
    (5, lambda: BoxLCP(EYE, np.ones(8), vector_with(np.nan), 9.0), ValueError, r"lower\[2\] is nan"),
    (5, lambda: BoxLCP(EYE, np.ones(8), 0.0, vector_with(np.nan)), ValueError, r"upper\[2\] is nan"),
    (6, lambda: BoxLCP(EYE, np.ones(8), vector_with(np.inf), np.inf), ValueError, r"lower\[2\] is inf"),
    (6, lambda: BoxLCP(EYE, np.ones(8), -np.inf, vector_with(-np.inf)), ValueError, r"upper\[2\] is -inf"),
    (7, lambda: BoxLCP(EYE, np.ones(8), 1.0, vector_with(0.5)), ValueError, r"lower\[2\] = 1.0 .* upper\[2\] = 0.5"),
    (20, lambda: perp.LCP(2.0, np.ones(1)), TypeError, "two-dimensional"),
    (20, lambda: perp.LCP(np.array(2.0), np.ones(1)), TypeError, "two-dimensional"),
    (20, lambda: perp.LCP([[1.0]], 1.0), TypeError, "b is a scalar"),
    (21, lambda: perp.LCP(np.ones((2, 3)), np.ones(2)), ValueError, "square"),
    (21, lambda: perp.LCP(sparse.csr_array(np.ones((2, 3))), np.ones(2)), ValueError, "square"),
    (22, lambda: perp.LCP(EYE, np.ones(7)), ValueError, "length 7.*8 rows"),
    (23, lambda: perp.LCP(EYE, np.ones((8, 1))), ValueError, "ravel"),
    (23, lambda: perp.LCP(EYE, np.ones((1, 8))), ValueError, "ravel"),
    (27, lambda: perp.LCP(EYE.astype(np.float16), np.ones(8)), TypeError, "float16.*astype"),
    (27, lambda: perp.LCP(EYE.astype(np.longdouble), np.ones(8)), TypeError, "astype"),
    (27, lambda: perp.LCP(EYE.astype(complex), np.ones(8)), TypeError, "complex"),
    (27, lambda: perp.LCP(EYE.astype(bool), np.ones(8)), TypeError, "bool"),
    (27, lambda: perp.LCP(EYE.astype(object), np.ones(8)), TypeError, "object"),
    (27, lambda: perp.LCP(EYE, ["1"] * 8), TypeError, "dtype"),
    (27, lambda: perp.LCP(sparse.csr_array(EYE.astype(complex)), np.ones(8)), TypeError, "complex"),
    (29, lambda: perp.LCP(EYE.view(np.matrix), np.ones(8)), TypeError, "matrix"),
    (29, lambda: perp.LCP(EYE, np.ma.masked_array(np.ones(8))), TypeError, "masked"),
    (34, lambda: perp.LCP(broken_csr("indices", 3, 99), np.ones(8)), ValueError, r"A.indices\[3\] is 99"),
    (34, lambda: perp.LCP(broken_csr("indices", 3, -1), np.ones(8)), ValueError, r"A.indices\[3\] is -1"),
    (34, lambda: perp.LCP(broken_csr("indptr", 3, 7), np.ones(8)), ValueError, "indptr"),
    (34, lambda: perp.LCP(broken_csr("indptr", 8, 99), np.ones(8)), ValueError, "indptr"),
    (62, lambda: ContactProblem(np.eye(3), np.ones(3), [-0.5]), ValueError, r"friction\[0\] is -0.5"),
    (62, lambda: ContactProblem(np.eye(3), np.ones(3), [np.nan]), ValueError, r"friction\[0\] is nan"),
    (65, lambda: perp.BodyMasses([1.0, 0.0], [np.eye(3)] * 2), ValueError, r"mass\[1\] is 0.0"),
    (65, lambda: perp.BodyMasses([1.0, -2.0], [np.eye(3)] * 2), ValueError, r"mass\[1\] is -2.0"),
    (65, lambda: perp.BodyMasses([1.0], [np.diag([1.0, 1.0, -1.0])]), ValueError, r"inertia\[0\] is not positive"),
    (65, lambda: perp.BodyMasses([1.0], [np.triu(np.ones((3, 3)))]), ValueError, r"inertia\[0\] is not symmetric"),
    (65, lambda: perp.SparseMass(sparse.diags_array([1.0, -1.0])), ValueError, "not positive definite"),
]


@pytest.mark.parametrize(("row", "build", "error", "words"), RAISES)
def test_invalid_input_raises_before_any_work_and_names_the_place(row, build, error, words):
    with pytest.raises(error, match=words):
        build()


def simple(n=8):
    return perp.LCP(4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1), np.where(np.arange(n) % 2, 1.0, -1.0))


SOLVE_RAISES = [
    (24, {"x0": np.ones(3)}, ValueError, "x0 has length 3"),
    (24, {"x0": vector_with(np.nan)}, ValueError, r"x0\[2\] is nan"),
    (56, {"method": "psor", "relaxation": 2.0}, ValueError, "between 0 and 2"),
    (56, {"method": "psor", "relaxation": 0.0}, ValueError, "between 0 and 2"),
    (56, {"method": "symmetric_psor", "relaxation": -1}, ValueError, "between 0 and 2"),
    (56, {"method": "psor", "relaxation": np.nan}, ValueError, "between 0 and 2"),
    (70, {"tol": -1.0}, ValueError, "tol"),
    (70, {"tol": np.nan}, ValueError, "tol"),
    (70, {"tol": np.inf}, ValueError, "tol"),
    (71, {"method": "psro"}, ValueError, "did you mean 'psor'"),
    (71, {"method": "psor", "relaxatoin": 1.0}, TypeError, "did you mean 'relaxation'"),
    (71, {"method": "pgs", "order": "forwards"}, ValueError, "did you mean 'forward'"),
    (71, {"method": "auto", "relaxation": 1.0}, TypeError, "named method"),
]


@pytest.mark.parametrize(("row", "arguments", "error", "words"), SOLVE_RAISES)
def test_invalid_arguments_of_solve_raise(row, arguments, error, words):
    with pytest.raises(error, match=words):
        perp.solve(simple(), **arguments)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_8_equal_bounds_fix_a_variable_and_leave_its_slack_free(method):
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-8)
    assert result.y[0] == pytest.approx(-4.75)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_8_a_fixed_row_needs_no_diagonal(method):
    result = perp.solve(BoxLCP([[0.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, 0.0], [0.5, np.inf]), method)
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, 0.0], atol=1e-8)
    assert perp.solve(BoxLCP(np.zeros((2, 2)), [1.0, -1.0], 3.0, 3.0), method).success


@pytest.mark.parametrize("method", SPLITTING)
def test_row_9_infinite_bounds_make_a_linear_system(method):
    problem = BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    np.testing.assert_allclose(perp.solve(problem, method).x, np.linalg.solve([[2, 1], [1, 3]], [-1, 2]), atol=1e-7)


@pytest.mark.parametrize("method", SPLITTING)
@pytest.mark.parametrize(("a", "b"), [(a, b) for a in (-1.0, 0.0) for b in (-1.0, 0.0, 1.0)])
def test_rows_10_to_15_a_diagonal_that_is_not_positive_is_refused_by_class(method, a, b):
    with pytest.raises(MethodRefused, match=r"1 row \(0;"):
        perp.solve(perp.LCP([[a]], [b]), method)


@pytest.mark.parametrize("method", SPLITTING)
@pytest.mark.parametrize(("b", "x"), [(-3.0, 1.5), (0.0, 0.0), (3.0, 0.0)])
def test_rows_16_to_18_one_row_with_a_positive_diagonal(method, b, x):
    result = perp.solve(perp.LCP([[2.0]], [b]), method)
    assert result.success
    assert result.x[0] == pytest.approx(x, abs=1e-8)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_19_the_empty_problem_is_solved(method):
    for A in (np.empty((0, 0)), sparse.csr_array((0, 0))):
        result = perp.solve(perp.LCP(A, []), method)
        assert result.status is Status.CONVERGED
        assert result.x.shape == result.y.shape == (0,)
        assert result.iterations == 0


def test_row_24_a_start_outside_the_box_is_projected_and_noted():
    result = perp.solve(simple(), "pgs", x0=-np.ones(8))
    assert result.success
    assert "projected" in result.notes[0]
    assert perp.solve(simple(), "pgs", x0=np.ones(8)).notes == ()


REFERENCE = simple()


@pytest.mark.parametrize(
    ("row", "convert"),
    [
        (28, np.asfortranarray),
        (
            28,
            lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=-1)[::2, ::2] if a.ndim == 2 else np.repeat(a, 2)[::2],
        ),
        (28, lambda a: a[::-1][::-1]),
        (30, lambda a: a.astype(">f8")),
        (25, lambda a: a.astype(np.int32)),
        (26, lambda a: a.astype(np.float32)),
    ],
)
def test_the_layout_and_type_of_arrays_do_not_change_a_bit(row, convert):
    A, b = convert(REFERENCE.A.to_dense()), convert(np.array(REFERENCE.b))
    b.flags.writeable = False
    result = perp.solve(perp.LCP(A, b), "psor")
    assert result.x.dtype == np.float64
    np.testing.assert_array_equal(result.x, perp.solve(REFERENCE, "psor").x)


def duplicated(A):
    coo = sparse.coo_array(A)
    return sparse.csr_array((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=A.shape)


def with_stored_zeros(A):
    rows, columns = np.indices(A.shape)
    return sparse.csr_array(sparse.coo_array((A.ravel(), (rows.ravel(), columns.ravel())), shape=A.shape))


def unsorted(A):
    matrix = sparse.csr_array(A)
    for i in range(A.shape[0]):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        matrix.indices[part] = matrix.indices[part][::-1].copy()
        matrix.data[part] = matrix.data[part][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def with_long_indices(A):
    matrix = sparse.csr_array(A)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


@pytest.mark.parametrize(
    ("row", "convert"),
    [(31, duplicated), (32, with_stored_zeros), (33, unsorted), (35, with_long_indices)]
    + [(36, getattr(sparse, f"{name}_array")) for name in ("coo", "csc", "bsr", "dia", "lil", "dok")]
    + [(36, sparse.csr_matrix)],
)
def test_every_sparse_format_gives_the_iterates_of_plain_csr_and_is_left_alone(row, convert):
    given = convert(REFERENCE.A.to_dense())
    before = given.copy()
    plain = perp.solve(perp.LCP(sparse.csr_array(REFERENCE.A.to_dense()), REFERENCE.b), "pgs")
    result = perp.solve(perp.LCP(given, REFERENCE.b), "pgs")
    np.testing.assert_array_equal(result.x, plain.x)
    assert given.nnz == before.nnz
    assert (given != before).nnz == 0


def test_row_37_a_bare_product_is_refused_with_what_is_missing():
    bare = LinearOperator((3, 3), matvec=lambda x: 2 * x, dtype=np.float64)
    with pytest.raises(MethodRefused, match=r"pgs.*'diagonal'.*'rows'"):
        perp.solve(perp.LCP(bare, np.ones(3)), "pgs")
    known = perp.MatrixFreeOperator(bare, diagonal=np.full(3, 2.0))
    with pytest.raises(MethodRefused, match=r"would work: jacobi"):
        perp.solve(perp.LCP(known, -np.ones(3)), "pgs")
    np.testing.assert_allclose(perp.solve(perp.LCP(known, -np.ones(3))).x, 0.5, atol=1e-8)


@pytest.mark.parametrize(
    "product",
    [lambda x: np.ones(5), lambda x: np.full(3, np.nan), lambda x: np.full(3, 1j)],
    ids=["shape", "nan", "complex"],
)
def test_row_38_a_faulty_product_is_a_breakdown_at_first_use(product):
    operator = perp.MatrixFreeOperator(LinearOperator((3, 3), matvec=product, dtype=np.float64), np.ones(3))
    result = perp.solve(perp.LCP(operator, np.ones(3)), "jacobi")
    assert result.status is Status.BREAKDOWN
    assert not result.success
    assert result.iterations == 0


@pytest.mark.parametrize("method", SPLITTING)
@pytest.mark.parametrize(("entry", "word"), [(0.0, "zero"), (-1.0, "negative")])
def test_rows_39_and_40_name_the_bad_entries_of_the_diagonal(method, entry, word):
    A = np.eye(5)
    A[3, 3] = entry
    with pytest.raises(MethodRefused, match=f"1 row .3;.*{word}"):
        perp.solve(perp.LCP(A, np.ones(5)), method)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_41_redundant_contacts_have_a_unique_slack(method):
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), method)
    assert result.success
    np.testing.assert_allclose(result.y, 0.0, atol=1e-8)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_51_an_ill_conditioned_matrix_ends_honestly(method):
    hilbert = 1.0 / (np.arange(12)[:, None] + np.arange(12) + 1.0)
    result = perp.solve(perp.LCP(hilbert, -np.ones(12)), method)
    assert result.status in (Status.CONVERGED, Status.ITERATION_LIMIT)
    assert result.residual == perp.verify(result.problem, result.x).residual
    assert result.success == (result.residual <= 1e-8)


@pytest.mark.parametrize("method", SPLITTING)
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_scaling_the_data_by_an_extreme_factor_changes_nothing(method, factor):
    plain = perp.solve(simple(), method)
    scaled = perp.solve(perp.LCP(simple().A.to_dense() * factor, simple().b * factor), method)
    assert scaled.success
    np.testing.assert_allclose(scaled.x, plain.x, atol=1e-8)
    np.testing.assert_allclose(scaled.y / factor, plain.y, atol=8e-8)  # the diagonal is 4, and both stop at 1e-8


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_row_53_scaling_contacts_by_an_extreme_factor_changes_nothing(factor, model, form):
    G = np.random.default_rng(5).standard_normal((11, 22))
    A, b = G @ G.T, np.array([-3.0, 0.5, -1.0, -3.0, 0.2, 0.7, -3.0, 1.0, 0.4, -1.0, 1.0])
    rows = {"lower": [-0.1, 0.0], "upper": [0.1, np.inf]}
    plain = ContactProblem(A, b, 0.4, model, **rows)
    scaled = ContactProblem(form(A * factor), b * factor, 0.4, model, **rows)
    for method in FIRST_ORDER_CONTACTS:
        if plain.kind in BY_NAME[method].accepts:
            result = perp.solve(scaled, method, max_iterations=10_000)
            assert result.success, method
            np.testing.assert_allclose(
                result.x, perp.solve(plain, method, max_iterations=10_000).x, atol=1e-7, err_msg=method
            )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_row_53_scaling_rows_by_extreme_factors_changes_nothing(form):
    factors = np.where(np.arange(8) % 2, 1e-12, 1e12)
    plain = simple()
    scaled = perp.LCP(form(plain.A.to_dense() * factors[:, None]), plain.b * factors)
    np.testing.assert_allclose(perp.solve(scaled, "pgs").x, perp.solve(plain, "pgs").x, atol=1e-8)


@pytest.mark.parametrize("method", SPLITTING)
def test_row_54_denormal_numbers_do_not_hang(method):
    tiny = perp.solve(perp.LCP(np.eye(4), np.full(4, -1e-320)), method, tol=0.0)
    assert np.isfinite(tiny.x).all()
    odd = perp.solve(perp.LCP(np.eye(4) * 1e-310, np.full(4, -1e-310)), method)
    assert np.isfinite(odd.x).all()


@pytest.mark.parametrize("method", ["pgs", "psor", "symmetric_psor"])
def test_row_55_a_diverging_sweep_is_a_breakdown_at_its_iteration_with_a_finite_x(method):
    problem = BoxLCP([[1.0, 20.0], [30.0, 1.0]], [-1.0, -1.1], -np.inf, np.inf)
    result = perp.solve(problem, method, max_iterations=100_000)
    assert result.status is Status.BREAKDOWN
    assert np.isfinite(result.x).all()
    assert str(result.iterations) in result.message
    one_less = perp.solve(problem, method, max_iterations=result.iterations - 1, check_every=1)
    assert one_less.status is Status.ITERATION_LIMIT


def test_row_36_a_conversion_is_noted():
    result = perp.solve(perp.LCP(sparse.coo_array(REFERENCE.A.to_dense()), REFERENCE.b), "pgs")
    assert result.notes == ("A was converted once from coo to csr",)


MODELS = ["box", "cone", "convex", "disc"]
BEST_BY_RESIDUAL = {"mj", "amj"}
"""Jacobi-like modulus iterations overshoot: of their iterates, the one with the least residual need not lose energy."""


def contact_methods(model):
    """Every method of the roster for contacts of that model."""
    return [name for name, method in BY_NAME.items() if f"contact/{model}" in method.accepts]


FEW_DIGITS = {"cone_program"}
"""Clarabel bounds the gap of the objective, which is quadratic in the error: it ends near 1e-8 and says so."""

CONTACT_METHODS = [(model, method) for model in MODELS for method in contact_methods(model)]


@pytest.mark.parametrize(("model", "method"), CONTACT_METHODS)
def test_row_60_a_huge_mass_ratio_ends_honestly_and_makes_no_energy(model, method):
    example = perp.gallery.make("box_stack", n=120, layout="tower", mass_ratio=1e6, load="gravity", model=model)
    result = perp.solve(example.problem, method, max_iterations=200)
    found = result.verify()
    assert result.success == (found.residual <= 1e-8)
    assert np.isfinite(result.x).all()
    falling = 0.5 * example.problem.A.mass.mass.sum() * (9.81 / 60.0) ** 2  # what a step without contacts would bring
    # the change of kinetic energy, 1/2 x^T A x + b^T x
    assert found.objective <= (0.05 * falling if method in BEST_BY_RESIDUAL else 0.0)
    assert found.slack_violation < 1.0  # metres per second


@pytest.mark.parametrize(("model", "method"), CONTACT_METHODS)
def test_row_62_friction_from_none_to_huge(model, method):
    rng = np.random.default_rng(0)
    G = rng.standard_normal((6, 6))
    A, b = G @ G.T + np.eye(6), rng.standard_normal(6)
    for friction in (0.0, 1e6):
        result = perp.solve(ContactProblem(A, b, friction, model), method, max_iterations=2000)
        assert np.isfinite(result.x).all()
        assert result.success == (result.verify().residual <= 1e-8)
        # pgcg follows its friction bounds by steps, and 1e6 of them are in the way of each; for cone_interior, whose
        # units make friction one, A_nn is then 1e-12 of A_tt
        stalls = {Status.STAGNATED} if method in ("pgcg", "cone_interior") and friction > 0.0 else set()
        assert result.status in {Status.CONVERGED, Status.ITERATION_LIMIT} | stalls
        if friction == 0.0:
            assert result.success
            np.testing.assert_allclose(result.x.reshape(2, 3)[:, 1:], 0.0, atol=1e-12)


@pytest.mark.parametrize("friction", [-1e-9, -0.5, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("model", MODELS)
def test_row_62_friction_that_is_negative_or_not_finite_raises(model, friction):
    with pytest.raises(ValueError, match=r"friction\[0\] is"):
        ContactProblem(np.eye(3), np.ones(3), friction, model)
    with pytest.raises(ValueError, match=r"friction\[1\] is"):
        ContactProblem(np.eye(6), np.ones(6), [0.5, friction], model)


@pytest.mark.parametrize(("model", "method"), [case for case in CONTACT_METHODS if case[1] not in FEW_DIGITS])
def test_row_63_a_duplicated_contact_is_solved_and_the_motion_is_the_same(model, method):
    rng = np.random.default_rng(1)
    masses = perp.BodyMasses([1.0, np.inf], [np.eye(3)] * 2)
    jacobian = rng.standard_normal((3, 2, 6))
    single = perp.FactoredOperator.from_body_pairs([[0, 1]] * 3, jacobian, masses)
    double = perp.FactoredOperator.from_body_pairs([[0, 1]] * 6, np.concatenate([jacobian] * 2), masses)
    b = np.array([-1.0, 0.2, 0.1])
    one = perp.solve(ContactProblem(single, b, 0.5, model), method, tol=1e-10)
    share = 0.25 if model == "disc" else 0.5  # two discs of half the radius
    two = perp.solve(ContactProblem(double, np.tile(b, 2), share, model), method, tol=1e-10)
    assert one.success
    assert two.success
    np.testing.assert_allclose(double.velocity(two.x), single.velocity(one.x), atol=1e-7)


LCP_METHODS = [name for name, method in BY_NAME.items() if "lcp" in method.accepts]


@pytest.mark.parametrize("method", LCP_METHODS)
def test_row_64_forces_that_do_not_exist_are_not_found(method):
    """Painleve's rod, accelerations: no force fits; or two do, and either is right."""
    none, two = perp.gallery.make("painleve_rod"), perp.gallery.make("painleve_rod", spin=6.0)
    nothing = attempt(none.problem, method)
    if nothing is not None:
        assert not nothing.success
        assert nothing.status in {Status.INFEASIBLE, Status.RAY, Status.BREAKDOWN}
    either = attempt(two.problem, method)
    if either is not None:
        assert either.success
        assert min(abs(either.x[0] - x[0]) for x in two.solutions) < 1e-7


@pytest.mark.parametrize("method", ["lemke", "enumeration", "principal", "fischer", "interior_point"])
def test_row_64_that_no_force_exists_is_proved(method):
    result = perp.solve(perp.gallery.make("painleve_rod").problem, method)
    assert result.status is Status.INFEASIBLE
    np.testing.assert_allclose(result.certificate.u / result.certificate.u[0], [1.0])


@pytest.mark.parametrize(("model", "method"), [case for case in CONTACT_METHODS if case[0] != "disc"])
def test_row_64_impulses_exist(model, method):
    for options in ({}, {"spin": 6.0}, {"friction": 0.5}):
        example = perp.gallery.make("painleve_step", model=model, **options)
        result = perp.solve(example.problem, method)
        assert result.status is Status.CONVERGED
        assert min(np.abs(result.x - x).max() for x in example.solutions) < 1e-6


@pytest.mark.parametrize("limit", [0.0, 1e-9])
def test_row_68_a_time_limit_of_nothing_returns_the_start_with_its_residual(limit):
    result = perp.solve(simple(), "pgs", max_seconds=limit)
    assert result.status is Status.TIME_LIMIT
    assert result.residual == perp.verify(simple(), np.zeros(8)).residual


def test_row_69_no_iterations_evaluate_the_start():
    result = perp.solve(simple(), "pgs", max_iterations=0)
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 0
    np.testing.assert_array_equal(result.x, 0.0)
    assert len(result.history) == 1


@pytest.mark.parametrize("method", SPLITTING)
def test_row_70_tolerance_zero_runs_until_nothing_changes(method):
    rng = np.random.default_rng(3)
    G = rng.standard_normal((9, 9))
    result = perp.solve(perp.LCP(G @ G.T + np.eye(9), rng.standard_normal(9)), method, tol=0.0, max_iterations=100_000)
    assert result.status in (Status.STAGNATED, Status.CONVERGED)
    assert result.residual < 1e-14


def test_row_76_threads_may_share_a_method_and_a_problem():
    method, found = perp.PSOR(), []
    threads = [threading.Thread(target=lambda: found.append(perp.solve(simple(), method).x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x in found:
        np.testing.assert_array_equal(x, found[0])
    assert len(found) == 4


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_row_77_a_child_forked_after_a_thread_has_solved_can_solve_too():
    thread = threading.Thread(target=_solve_simple)
    thread.start()
    thread.join()
    with get_context("fork").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(_solve_simple), perp.solve(simple(), "pgs").x)


def _solve_simple():
    return perp.solve(simple(), "pgs").x


@pytest.mark.parametrize("method", SPLITTING)
def test_row_78_a_warm_start_at_the_solution_needs_no_iteration(method):
    x = perp.solve(simple(), method, tol=1e-10).x
    assert perp.solve(simple(), method, x0=x).iterations == 0


def test_row_79_a_dense_matrix_that_does_not_fit_is_refused_before_it_is_copied():
    huge = np.broadcast_to(np.float64(1.0), (10**6, 10**6))
    with pytest.raises(MemoryError, match="sparse"):
        perp.LCP(huge, np.ones(10**6))


def test_row_80_more_entries_than_32_bits_can_count_are_fine():
    n = 70_000
    result = perp.solve(perp.LCP(sparse.eye_array(n, format="csr") * 2.0, -np.ones(n)), "pgs")
    np.testing.assert_allclose(result.x, 0.5, atol=1e-8)


def test_the_p_matrix_on_which_gauss_seidel_cycles_is_told_as_cycling():
    problem = perp.LCP([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], -np.ones(3))
    assert perp.solve(problem, "pgs").status is Status.CYCLING


@pytest.mark.parametrize("method", SPLITTING)
def test_the_callers_arrays_are_never_modified(method):
    A, b = REFERENCE.A.to_dense(), np.array(REFERENCE.b)
    x0 = np.full(8, -1.0)
    copies = A.copy(), b.copy(), x0.copy()
    result = perp.solve(perp.LCP(A, b), method, x0=x0)
    result.x[:] = 7.0
    for array, copy in zip((A, b, x0), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_problem_keeps_its_data_when_the_caller_changes_his():
    A, b = REFERENCE.A.to_dense(), np.array(REFERENCE.b)
    problem = perp.LCP(A, b)
    A[:] = b[:] = 0.0
    np.testing.assert_array_equal(problem.A.to_dense(), REFERENCE.A.to_dense())
    with pytest.raises(ValueError, match="read-only"):
        problem.b[0] = 1.0


def lcp(A, b):
    return perp.LCP(np.array(A, dtype=float), np.array(b, dtype=float))


def attempt(problem, method):
    """The result, or None where the method is not for this problem."""
    try:
        result = perp.solve(problem, method)
    except MethodRefused:
        return None
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(problem, result.certificate.u).valid
    return result


# row, problem, the only solution (None: several or none), statuses that each pivoting method may end with
SOLVED, PROVED = {Status.CONVERGED}, {Status.INFEASIBLE}
HONEST = {Status.RAY, Status.BREAKDOWN, Status.CYCLING}
PIVOTED = [
    (10, lcp([[-2]], [-3]), None, PROVED | {Status.BREAKDOWN}),
    (11, lcp([[-2]], [0]), [0.0], SOLVED),
    (12, lcp([[-2]], [3]), None, SOLVED),
    (13, lcp([[0]], [-3]), None, PROVED),
    (14, lcp([[0]], [0]), [0.0], SOLVED),  # of infinitely many the shortest
    (15, lcp([[0]], [3]), [0.0], SOLVED),
    (16, lcp([[2]], [-3]), [1.5], SOLVED),
    (17, lcp([[2]], [0]), [0.0], SOLVED),
    (18, lcp([[2]], [3]), [0.0], SOLVED),
    (41, lcp(np.ones((4, 4)), -np.ones(4)), None, SOLVED),
    (43, lcp(np.zeros((3, 3)), [1, 0, 2]), [0.0, 0.0, 0.0], SOLVED),
    (43, lcp(np.zeros((3, 3)), [1, -1, 2]), None, PROVED),
    (44, lcp([[0, -1], [-1, 0]], [-1, -1]), None, PROVED),
    (44, lcp([[0, -1e-300], [-1e-300, 0]], [-1e-300, -1e-300]), None, PROVED),
    (45, lcp([[2, 1], [1, -1]], [2, -2]), None, HONEST),
    (46, perp.gallery.make("several_solutions", n=5).problem, None, SOLVED),
    (48, perp.gallery.make("newton_min_cycle").problem, [1 / 3, 1 / 3, 1 / 3], SOLVED),
    (49, perp.gallery.make("block_pivot_cycle").problem, [0.5, 0.0, 0.5], SOLVED),
    (50, perp.gallery.make("degenerate").problem, None, SOLVED),
    (51, perp.gallery.make("fathi", n=12).problem, np.eye(12)[0], SOLVED),
    (53, lcp(np.diag([1e-12, 1e12]), [-1e-12, -1e12]), [1.0, 1.0], SOLVED),
    (53, lcp([[2e300, -1e300], [-1e300, 2e300]], [-1e300, -1e300]), [1.0, 1.0], SOLVED),
    (53, lcp([[2e-300, -1e-300], [-1e-300, 2e-300]], [-1e-300, -1e-300]), [1.0, 1.0], SOLVED),
    (66, lcp([[2, 0, -1], [0, 0, 0], [-1, 0, 2]], [-1, 0, -1]), None, SOLVED),
    (67, lcp([[1, -1, 0], [-1, 2, -1], [0, -1, 1]], [-1, -1, 0.5]), None, PROVED),
]


@pytest.mark.parametrize(("row", "problem", "x", "allowed"), PIVOTED)
@pytest.mark.parametrize("method", [*PIVOTING, KELLER], ids=str)
def test_pivoting_methods_end_as_the_table_says(method, row, problem, x, allowed):
    result = attempt(problem, method)
    if result is None:
        assert method in ("dantzig", KELLER), "only these may refuse, for want of symmetry"
        return
    assert result.status in allowed
    if x is not None and result.success:
        np.testing.assert_allclose(result.x, x, atol=1e-8)


@pytest.mark.parametrize("method", ["enumeration", "lemke", "dantzig", "principal", KELLER], ids=str)
def test_row_10_a_negative_diagonal_with_negative_b_is_proved_infeasible(method):
    result = perp.solve(lcp([[-2]], [-3]), method)
    assert result.status is Status.INFEASIBLE
    np.testing.assert_array_equal(result.certificate.u, [1.0])


@pytest.mark.parametrize("method", ["lemke", "dantzig", "block_principal", KELLER], ids=str)
def test_row_42_contradicting_redundant_rows_are_proved_infeasible(method):
    problem = perp.gallery.make("infeasible_psd").problem
    result = perp.solve(problem, method)
    assert result.status is Status.INFEASIBLE
    assert perp.verify_certificate(problem, result.certificate.u).valid


def test_row_45_feasible_but_unsolvable_ends_lemke_on_a_ray_without_a_certificate():
    result = perp.solve(perp.gallery.make("unsolvable").problem, "lemke")
    assert result.status is Status.RAY
    assert result.certificate is None


@pytest.mark.parametrize("n", [16, 40])
def test_row_47_an_exponential_number_of_pivots_ends_at_the_limit(n):
    result = perp.solve(perp.gallery.make("murty", n=n).problem, "principal")
    assert result.status is Status.ITERATION_LIMIT


def test_row_49_block_pivots_that_cycle_fall_back_and_count_it():
    for fallback in ("parametric", "progress", "count"):
        result = perp.solve(perp.gallery.make("block_pivot_cycle").problem, "block_principal", fallback=fallback)
        assert result.success
        assert result.history.counters["fallbacks"][-1] == 1


@pytest.mark.parametrize("method", [*PIVOTING, KELLER], ids=str)
def test_row_51_hilbert_is_solved_or_the_accuracy_is_told(method):
    result = perp.solve(perp.gallery.make("hilbert", n=12).problem, method)
    assert result.success == (perp.verify(result.problem, result.x).residual <= 1e-8)


def test_row_52_lemke_solves_a_skew_matrix():
    result = perp.solve(lcp([[0, 2], [-2, 0]], [-1, 1]), "lemke")
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, 0.5])


@pytest.mark.parametrize("method", PIVOTING)
def test_row_9_a_singular_linear_system_is_told_apart(method):
    problem = BoxLCP([[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0], -np.inf, np.inf)
    result = attempt(problem, method)
    assert result.status in (Status.INFEASIBLE, Status.BREAKDOWN)
    if result.status is Status.BREAKDOWN:
        assert "rank 1" in result.message


@pytest.mark.parametrize("method", ["dantzig", "block_principal"])
def test_row_61_a_wall_with_four_redundant_contacts_a_face_has_a_unique_slack(method):
    example = perp.gallery.make("boxed_stack", n=336)
    result = perp.solve(example.problem, method, tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-7)


@pytest.mark.parametrize(
    "method", [name for name in ("fischer", "interior_point", "interior_pivoting", "pgs_sm") if name in BY_NAME]
)
def test_row_61_a_wall_of_fifty_boxes_has_one_slack_and_one_motion_for_many_impulses(method):
    """Friction bounds fixed in advance. (With bounds that follow the impulse the slack of a wall is not unique.)"""
    example = perp.gallery.make("boxed_stack", n=1092)
    A = example.problem.A
    assert A.mass.mass.size == 52
    result = perp.solve(example.problem, method, tol=1e-9)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-7)
    np.testing.assert_allclose(A.velocity(result.x), A.velocity(example.x), atol=1e-6)
    assert np.abs(result.x - example.x).max() > 0.1


@pytest.mark.parametrize("method", [name for name in contact_methods("convex") if name not in FEW_DIGITS])
def test_row_61_the_convex_model_of_a_wall_has_one_slack(method):
    example = perp.gallery.make("box_stack", n=72, model="convex")
    result = perp.solve(example.problem, method, tol=1e-9, max_iterations=20_000)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-6)


def test_row_91_a_ray_of_lemke_is_never_called_infeasible():
    result = perp.solve(lcp([[0, 1], [1, 0]], [-1, -1]), "lemke")
    assert result.status is Status.RAY
    assert perp.solve(lcp([[0, 1], [1, 0]], [-1, -1]), "enumeration").success


# Newton, gradient and QP methods. Row, problem, the only solution (None: several or none), and how each family may end
REFUSED: set[Status] = set()
UNPROVED = {Status.BREAKDOWN, Status.REDUCED_ACCURACY}
"""What a QP solver may make of an indefinite matrix, which no test beforehand finds."""
LOST = {Status.RAY, Status.BREAKDOWN, Status.LOCAL_MINIMUM, Status.STAGNATED, Status.ITERATION_LIMIT}
DESCENDED = [
    (10, lcp([[-2]], [-3]), None, PROVED, PROVED, REFUSED),
    (11, lcp([[-2]], [0]), [0.0], SOLVED, SOLVED, REFUSED),
    (12, lcp([[-2]], [3]), None, SOLVED, SOLVED, REFUSED),
    (13, lcp([[0]], [-3]), None, PROVED, PROVED, PROVED),
    (14, lcp([[0]], [0]), [0.0], SOLVED, SOLVED, SOLVED),
    (15, lcp([[0]], [3]), [0.0], SOLVED, SOLVED, SOLVED),
    (16, lcp([[2]], [-3]), [1.5], SOLVED, SOLVED, SOLVED),
    (17, lcp([[2]], [0]), [0.0], SOLVED, SOLVED, SOLVED),
    (18, lcp([[2]], [3]), [0.0], SOLVED, SOLVED, SOLVED),
    (42, perp.gallery.make("infeasible_psd").problem, None, PROVED, PROVED, PROVED),
    (43, lcp(np.zeros((3, 3)), [1, 0, 2]), [0.0, 0.0, 0.0], SOLVED, SOLVED, SOLVED),
    (43, lcp(np.zeros((3, 3)), [1, -1, 2]), None, PROVED, PROVED, PROVED),
    (44, lcp([[0, -1], [-1, 0]], [-1, -1]), None, PROVED, PROVED, UNPROVED),
    (44, lcp([[0, -1e-300], [-1e-300, 0]], [-1e-300, -1e-300]), None, PROVED, PROVED | {Status.BREAKDOWN}, UNPROVED),
    (45, perp.gallery.make("unsolvable").problem, None, LOST, LOST, REFUSED),
    (46, perp.gallery.make("several_solutions", n=5).problem, None, SOLVED, SOLVED, SOLVED | UNPROVED),
    (47, perp.gallery.make("murty", n=16).problem, np.eye(16)[15], SOLVED, REFUSED, REFUSED),
    (47, perp.gallery.make("murty", n=40).problem, np.eye(40)[39], SOLVED, REFUSED, REFUSED),
    (48, perp.gallery.make("newton_min_cycle").problem, [1 / 3, 1 / 3, 1 / 3], SOLVED, REFUSED, REFUSED),
    (49, perp.gallery.make("block_pivot_cycle").problem, [0.5, 0.0, 0.5], SOLVED, REFUSED, REFUSED),
    (50, perp.gallery.make("degenerate").problem, None, SOLVED, SOLVED, SOLVED),
    (51, perp.gallery.make("fathi", n=12).problem, None, SOLVED, SOLVED, SOLVED),
    (51, perp.gallery.make("hilbert", n=12).problem, None, SOLVED, SOLVED, SOLVED),
    (52, lcp([[0, 2], [-2, 0]], [-1, 1]), [0.5, 0.5], SOLVED | {Status.LOCAL_MINIMUM}, REFUSED, REFUSED),
    (53, lcp(np.diag([1e-12, 1e12]), [-1e-12, -1e12]), [1.0, 1.0], SOLVED, SOLVED, UNPROVED),
    (53, lcp([[2e300, -1e300], [-1e300, 2e300]], [-1e300, -1e300]), [1.0, 1.0], SOLVED, SOLVED, SOLVED),
    (53, lcp([[2e-300, -1e-300], [-1e-300, 2e-300]], [-1e-300, -1e-300]), [1.0, 1.0], SOLVED, SOLVED, SOLVED),
    (55, lcp([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]), [1 / 3, 1 / 3, 1 / 3], SOLVED, REFUSED, REFUSED),
    (59, lcp([[2, -1 - 4e-16], [-1, 2]], [-1, -1]), [1.0, 1.0], SOLVED, SOLVED, SOLVED),
    (66, lcp([[2, 0, -1], [0, 0, 0], [-1, 0, 2]], [-1, 0, -1]), None, SOLVED, SOLVED, SOLVED),
    (67, lcp([[1, -1, 0], [-1, 2, -1], [0, -1, 1]], [-1, -1, 0.5]), None, PROVED, PROVED, PROVED),
    (91, lcp([[0, 1], [1, 0]], [-1, -1]), [1.0, 1.0], SOLVED, SOLVED, UNPROVED),
]


@pytest.mark.parametrize(("row", "problem", "x", "newton", "gradient", "reformulation"), DESCENDED)
@pytest.mark.parametrize("method", DESCENDING)
def test_newton_and_gradient_methods_end_as_the_table_says(method, row, problem, x, newton, gradient, reformulation):
    allowed = {"newton": newton, "gradient": gradient, "reformulation": reformulation}[BY_NAME[method].family]
    result = attempt(problem, method)
    if result is None:
        assert allowed is REFUSED
        return
    assert result.status in allowed
    assert np.isfinite(result.x).all()
    assert result.success == (perp.verify(problem, result.x).residual <= 1e-8)
    if x is not None and result.success:
        np.testing.assert_allclose(result.x, x, atol=2e-8)  # both entries of a residual of 1e-8


@pytest.mark.parametrize("method", DESCENDING)
def test_row_8_equal_bounds_leave_the_slack_of_a_descending_method_free(method):
    problem = BoxLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, 1.0], [0.5, -np.inf], [0.5, np.inf])
    result = perp.solve(problem, method)
    assert result.success
    np.testing.assert_allclose(result.x, [0.5, -0.75], atol=1e-8)
    assert result.x[0] == 0.5
    assert result.y[0] == pytest.approx(-4.75)
    assert perp.solve(BoxLCP(np.zeros((2, 2)), [1.0, -1.0], 3.0, 3.0), method).success
    without_diagonal = BoxLCP([[0.0, 1.0], [1.0, 2.0]], [-5.0, -1.0], [0.5, 0.0], [0.5, np.inf])
    np.testing.assert_allclose(perp.solve(without_diagonal, method).x, [0.5, 0.25], atol=1e-8)


@pytest.mark.parametrize("method", DESCENDING)
def test_row_9_a_descending_method_solves_linear_systems_and_knows_singular_ones(method):
    regular = BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], -np.inf, np.inf)
    np.testing.assert_allclose(perp.solve(regular, method).x, [-1.0, 1.0], atol=1e-7)
    consistent = BoxLCP(np.ones((2, 2)), [1.0, 1.0], -np.inf, np.inf)
    assert perp.solve(consistent, method).success
    contradicting = BoxLCP(np.ones((2, 2)), [1.0, 2.0], -np.inf, np.inf)
    assert attempt(contradicting, method).status is Status.INFEASIBLE


@pytest.mark.parametrize("method", DESCENDING)
def test_row_19_the_empty_problem_is_solved_by_descending_methods(method):
    for problem in (perp.LCP(np.empty((0, 0)), []), BoxLCP(sparse.csr_array((0, 0)), [], 0.0, 1.0)):
        result = perp.solve(problem, method)
        assert result.status is Status.CONVERGED
        assert result.x.shape == result.y.shape == (0,)
        assert result.iterations == 0


MATRIX_FREE = [
    *GRADIENT,
    perp.MinimumMap(linear="pcg"),
    perp.MinimumMap(linear="gmres"),
    perp.Fischer(linear="gmres"),
    perp.Fischer(strategy="approximation"),
]


@pytest.mark.parametrize(
    "product",
    [lambda x: np.ones(5), lambda x: np.full(3, np.nan), lambda x: np.full(3, 1j)],
    ids=["shape", "nan", "complex"],
)
@pytest.mark.parametrize("method", MATRIX_FREE, ids=str)
def test_row_38_a_faulty_product_breaks_matrix_free_methods_at_first_use(method, product):
    operator = perp.MatrixFreeOperator(LinearOperator((3, 3), matvec=product, dtype=np.float64), np.ones(3))
    result = perp.solve(perp.LCP(operator, -np.ones(3)), method)
    assert result.status is Status.BREAKDOWN
    assert result.iterations == 0


@pytest.mark.parametrize("method", MATRIX_FREE, ids=str)
def test_row_38_a_product_that_becomes_faulty_on_the_way_is_a_breakdown(method):
    calls = count()
    A = REFERENCE.A.to_dense()

    def product(x):
        return np.full(8, np.nan) if next(calls) >= 3 else A @ x

    operator = perp.MatrixFreeOperator(LinearOperator((8, 8), matvec=product, dtype=np.float64), np.diag(A))
    result = perp.solve(perp.LCP(operator, REFERENCE.b), method, tol=0.0)
    assert result.status is Status.BREAKDOWN
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("method", DESCENDING)
def test_row_41_descending_methods_find_the_unique_slack_of_redundant_contacts(method):
    result = perp.solve(perp.LCP(np.ones((4, 4)), -np.ones(4)), method)
    assert result.success
    np.testing.assert_allclose(result.y, 0.0, atol=1e-8)


@pytest.mark.parametrize("method", [perp.MinimumMap(fallback="none"), *NEWTON], ids=str)
def test_row_48_where_newton_cycles_a_line_search_ends_it(method):
    result = perp.solve(perp.gallery.make("newton_min_cycle").problem, method, x0=np.eye(3)[0])
    assert result.success
    np.testing.assert_allclose(result.x, 1 / 3, atol=1e-8)


@pytest.mark.parametrize("method", DESCENDING)
def test_row_53_descending_methods_do_not_see_an_extreme_factor(method):
    plain = perp.solve(simple(), method)
    for factor in (1e-300, 1e300):
        scaled = perp.solve(perp.LCP(simple().A.to_dense() * factor, simple().b * factor), method)
        assert scaled.success
        np.testing.assert_allclose(scaled.x, plain.x, atol=1e-8)


@pytest.mark.parametrize("method", DESCENDING)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_of_very_unlike_size_are_solved_by_descending_methods(method, form):
    sizes = np.where(np.arange(8) % 2, 1e-4, 1e4)  # of A_ii: 1e-8 to 1e8
    plain = simple()
    problem = perp.LCP(form(plain.A.to_dense() * sizes[:, None] * sizes), plain.b * sizes)
    result = perp.solve(problem, method)
    assert result.success
    np.testing.assert_allclose(result.x * sizes, perp.solve(plain, "lemke").x, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", DESCENDING)
def test_row_54_denormal_numbers_do_not_hang_descending_methods(method):
    for A, b in ((np.eye(4), -1e-320), (np.eye(4) * 1e-310, -1e-310), (np.eye(4) * 1e-320, -1e-320)):
        result = perp.solve(perp.LCP(A, np.full(4, b)), method, tol=0.0, max_iterations=300)
        assert np.isfinite(result.x).all()
        assert result.residual <= 1.0


@pytest.mark.parametrize("method", DESCENDING)
def test_row_55_an_answer_beyond_all_numbers_is_a_failure_with_a_finite_x(method):
    result = perp.solve(lcp([[2e-200, -1e-200], [-1e-200, 2e-200]], [-1e200, -1e200]), method)
    assert not result.success
    assert result.status is not Status.INFEASIBLE
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("method", [*MINIMISING, perp.MinimumMap(linear="pcg"), perp.NNCG()], ids=str)
def test_row_57_an_asymmetric_matrix_is_refused_with_its_asymmetry_and_worst_place(method):
    A = REFERENCE.A.to_dense()
    A[2, 5] = 0.5
    for form in (np.asarray, sparse.csr_array):
        with pytest.raises(MethodRefused, match=r"symmetric.*0\.125.*A\[2,5\] = 0\.5, A\[5,2\] = 0"):
            perp.solve(perp.LCP(form(A), REFERENCE.b), method)


@pytest.mark.parametrize("method", GRADIENT)
def test_row_58_negative_curvature_is_told(method):
    result = perp.solve(perp.gallery.make("unsolvable").problem, method)
    assert result.status in (Status.BREAKDOWN, Status.RAY)
    assert "negative curvature" in result.message


@pytest.mark.parametrize("method", DESCENDING)
def test_row_61_descending_methods_find_the_unique_slack_of_a_wall(method):
    example = perp.gallery.make("boxed_stack", n=336)
    result = perp.solve(example.problem, method)
    assert result.success
    np.testing.assert_allclose(result.y, example.problem.slack(example.x), atol=1e-5)


@pytest.mark.parametrize("method", DESCENDING)
@pytest.mark.parametrize("limit", [0.0, 1e-9])
def test_row_68_no_time_leaves_a_descending_method_where_it_starts(method, limit):
    result = perp.solve(simple(), method, max_seconds=limit, x0=np.full(8, 0.5))
    assert result.status is Status.TIME_LIMIT
    assert result.residual == perp.verify(simple(), np.full(8, 0.5)).residual


@pytest.mark.parametrize("method", DESCENDING)
def test_row_69_no_iterations_leave_a_descending_method_where_it_starts(method):
    result = perp.solve(simple(), method, max_iterations=0)
    assert result.status is Status.ITERATION_LIMIT
    assert result.iterations == 0
    np.testing.assert_array_equal(result.x, 0.0)
    assert len(result.history) == 1
    assert set(BY_NAME[method].counted) <= set(result.history.counters)


@pytest.mark.parametrize("method", DESCENDING)
def test_row_70_tolerance_zero_runs_a_descending_method_to_its_last_digit(method):
    rng = np.random.default_rng(3)
    G = rng.standard_normal((9, 9))
    result = perp.solve(perp.LCP(G @ G.T + np.eye(9), rng.standard_normal(9)), method, tol=0.0)
    ends = {Status.CONVERGED, Status.STAGNATED, Status.REDUCED_ACCURACY}
    assert result.status in (ends | {Status.BREAKDOWN} if method == "interior_point" else ends)
    assert result.residual < 1e-12


@pytest.mark.parametrize("method", DESCENDING)
def test_row_72_an_interrupt_carries_what_a_descending_method_reached(method):
    def interrupt(progress):
        if progress.iteration > 0:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        perp.solve(simple(), method, callback=interrupt, tol=0.0)
    partial = caught.value.partial_result
    assert partial.status is Status.INTERRUPTED
    assert partial.residual <= perp.verify(simple(), np.zeros(8)).residual


@pytest.mark.parametrize("method", DESCENDING)
def test_rows_73_to_75_callbacks_may_stop_raise_change_x_and_solve(method):
    made = BY_NAME[method]()
    plain = perp.solve(simple(), made)

    def stop(progress):
        raise StopIteration("seen enough")

    stopped = perp.solve(simple(), made, callback=stop)
    assert stopped.status is Status.STOPPED_BY_CALLBACK
    assert "seen enough" in stopped.message

    def fail(progress):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        perp.solve(simple(), made, callback=fail)

    def meddle(progress):
        progress.x[:] = np.nan
        perp.solve(simple(), made, max_iterations=2)

    np.testing.assert_array_equal(perp.solve(simple(), made, callback=meddle).x, plain.x)


@pytest.mark.parametrize("method", DESCENDING)
def test_row_76_threads_may_share_a_descending_method(method):
    made, found = BY_NAME[method](), []
    threads = [threading.Thread(target=lambda: found.append(perp.solve(simple(), made).x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for x in found:
        np.testing.assert_array_equal(x, found[0])


@pytest.mark.parametrize("method", DESCENDING)
def test_row_78_a_descending_method_that_starts_at_the_solution_needs_no_iteration(method):
    x = perp.solve(simple(), method, tol=1e-10).x
    result = perp.solve(simple(), method, x0=x)
    assert result.iterations == 0
    np.testing.assert_array_equal(result.x, x)


@pytest.mark.parametrize("method", DESCENDING)
def test_descending_methods_never_modify_the_callers_arrays(method):
    A, b = REFERENCE.A.to_dense(), np.array(REFERENCE.b)
    lower, upper, x0 = np.zeros(8), np.full(8, 0.3), np.full(8, -1.0)
    given = (A, b, lower, upper, x0)
    copies = [array.copy() for array in given]
    result = perp.solve(BoxLCP(A, b, lower, upper), method, x0=x0)
    assert result.success
    result.x[:] = 7.0
    for array, copy in zip(given, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
