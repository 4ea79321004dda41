"""The list of hard and bad inputs for plain `perp.solve(problem)`.

`test_hard_inputs.py` asks named methods; here nobody says which method to take. `test_hard_inputs_complete.py` tells
where each row of the list is tested.
"""

from __future__ import annotations

import threading
from functools import cache
from multiprocessing import get_all_start_methods, get_context

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import perp
from perp import LCP, BoxLCP, ContactProblem, Status
from perp.problems.residual_scale import scaled_residual
from perp.solvers.loop import SolveInterrupted

TOL = 1e-8
FREE = {"lower": -np.inf, "upper": np.inf}


def lcp(A, b):
    return LCP(np.array(A, dtype=float), np.array(b, dtype=float))


def chain(n=8):
    """Two neighbours a row: easy, with x > 0 in every second row."""
    return LCP(4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1), np.where(np.arange(n) % 2, 1.0, -1.0))


def known(kind, **options):
    return perp.gallery.make(kind, **options).problem


def scaled_chain(rows, columns=1.0):
    plain = chain()
    A = plain.A.to_dense() * np.broadcast_to(columns, 8)
    return LCP(A * np.broadcast_to(rows, 8)[:, None], plain.b * rows)


def is_within_tolerance(result):
    """What `success` says, from the problem alone."""
    problem, x = result.problem, result.x
    found = perp.verify(problem, x)
    share = scaled_residual(problem, x, problem.slack(x), found.residual)
    return share <= TOL and found.bound_violation <= 1e-15 * max(1.0, np.abs(x).max(initial=0.0))


def solve(problem, **arguments):
    """Plain `perp.solve`, with what is promised of every result."""
    result = perp.solve(problem, **arguments)
    assert np.isfinite(result.x).all()
    assert result.success == (result.status is Status.CONVERGED)
    if result.success and "tol" not in arguments:
        assert is_within_tolerance(result)
    if result.status is Status.INFEASIBLE:
        assert perp.verify_certificate(problem, result.certificate).excludes_solutions
    return result


# ---- problems: the row, what it is, the outcome, and x where it is unique

SOLVED, NONE = (Status.CONVERGED,), (Status.INFEASIBLE,)
UNSOLVABLE = (Status.RAY, Status.INFEASIBLE)
"""Feasible, yet without a solution: a ray, or a proof by exhaustion."""
HONEST = (Status.CONVERGED, Status.ITERATION_LIMIT, Status.REDUCED_ACCURACY)

OUTCOMES = [
    (8, "equal bounds", lambda: BoxLCP([[2, 1], [1, 2]], [-5, 1], [0.5, -np.inf], [0.5, np.inf]), SOLVED, [0.5, -0.75]),
    (8, "all fixed", lambda: BoxLCP(np.zeros((2, 2)), [1.0, -1.0], 3.0, 3.0), SOLVED, [3.0, 3.0]),
    (9, "linear system", lambda: BoxLCP([[2.0, 1.0], [1.0, 3.0]], [1.0, -2.0], **FREE), SOLVED, [-1.0, 1.0]),
    (9, "singular, consistent", lambda: BoxLCP(np.ones((2, 2)), [1.0, 1.0], **FREE), SOLVED, None),
    (9, "singular, contradicting", lambda: BoxLCP(np.ones((2, 2)), [1.0, 2.0], **FREE), NONE, None),
    (10, "a < 0, b < 0", lambda: lcp([[-2]], [-3]), NONE, None),
    (11, "a < 0, b = 0", lambda: lcp([[-2]], [0]), SOLVED, [0.0]),
    (12, "a < 0, b > 0", lambda: lcp([[-2]], [3]), SOLVED, None),
    (13, "a = 0, b < 0", lambda: lcp([[0]], [-3]), NONE, None),
    (14, "a = 0, b = 0", lambda: lcp([[0]], [0]), SOLVED, [0.0]),
    (15, "a = 0, b > 0", lambda: lcp([[0]], [3]), SOLVED, [0.0]),
    (16, "a > 0, b < 0", lambda: lcp([[2]], [-3]), SOLVED, [1.5]),
    (17, "a > 0, b = 0", lambda: lcp([[2]], [0]), SOLVED, [0.0]),
    (18, "a > 0, b > 0", lambda: lcp([[2]], [3]), SOLVED, [0.0]),
    (19, "n = 0", lambda: LCP(np.empty((0, 0)), []), SOLVED, []),
    (19, "n = 0, sparse and boxed", lambda: BoxLCP(sparse.csr_array((0, 0)), [], 0.0, 1.0), SOLVED, []),
    (19, "no contacts", lambda: ContactProblem(np.empty((0, 0)), [], []), SOLVED, []),
    (37, "a product alone", lambda: LCP(doubling(3), -np.ones(3)), SOLVED, [0.5] * 3),
    (39, "zero on the diagonal", lambda: lcp([[0, 1], [1, 2]], [-1, -4]), SOLVED, None),
    (40, "negative diagonal", lambda: lcp([[-1, 2], [2, -1]], [-1, -1]), SOLVED, None),
    (41, "redundant contacts", lambda: LCP(np.ones((4, 4)), -np.ones(4)), SOLVED, None),
    (42, "contradicting contacts, 300", lambda: known("infeasible_psd"), NONE, None),
    (43, "A = 0, b >= 0", lambda: lcp(np.zeros((3, 3)), [1, 0, 2]), SOLVED, [0.0] * 3),
    (43, "A = 0, some b < 0", lambda: lcp(np.zeros((3, 3)), [1, -1, 2]), NONE, None),
    (44, "infeasible", lambda: lcp([[0, -1], [-1, 0]], [-1, -1]), NONE, None),
    (44, "infeasible, tiny", lambda: lcp([[0, -1e-300], [-1e-300, 0]], [-1e-300] * 2), NONE, None),
    (45, "feasible, unsolvable", lambda: lcp([[2, 1], [1, -1]], [2, -2]), UNSOLVABLE, None),
    (46, "several solutions", lambda: known("several_solutions", n=5), SOLVED, None),
    (47, "Murty 16", lambda: known("murty", n=16), SOLVED, np.eye(16)[15]),
    (47, "Murty 40", lambda: known("murty", n=40), SOLVED, np.eye(40)[39]),
    (48, "Newton cycles", lambda: known("newton_min_cycle"), SOLVED, [1 / 3] * 3),
    (49, "block pivots cycle", lambda: known("block_pivot_cycle"), SOLVED, [0.5, 0.0, 0.5]),
    (50, "ties everywhere", lambda: known("degenerate"), SOLVED, None),
    (50, "ties everywhere, 200", lambda: known("degenerate", n=200), SOLVED, None),
    (51, "Fathi 12", lambda: known("fathi", n=12), SOLVED, np.eye(12)[0]),
    (51, "Hilbert 12", lambda: known("hilbert", n=12), HONEST, None),
    (52, "skew", lambda: lcp([[0, 2], [-2, 0]], [-1, 1]), SOLVED, [0.5, 0.5]),
    (53, "rows and columns", lambda: lcp(np.diag([1e-12, 1e12]), [-1e-12, -1e12]), SOLVED, [1.0, 1.0]),
    (54, "denormal b", lambda: LCP(np.eye(4), np.full(4, -1e-320)), HONEST, None),
    (54, "denormal A", lambda: LCP(np.eye(4) * 1e-310, np.full(4, -1e-310)), HONEST, None),
    (55, "sweeps overflow", lambda: BoxLCP([[1, 20.0], [30, 1]], [-1.0, -1.1], **FREE), SOLVED, None),
    (55, "Gauss-Seidel diverges", lambda: known("pgs_divergent"), SOLVED, [1 / 3] * 3),
    (57, "not symmetric", lambda: lcp([[2, 1], [-1, 2]], [-3, -1]), SOLVED, [1.0, 1.0]),
    (58, "indefinite", lambda: lcp([[1, 2], [2, 1]], [-1, -1]), SOLVED, None),
    (59, "asymmetric by rounding", lambda: lcp([[2, -1 - 4e-16], [-1, 2]], [-1, -1]), SOLVED, [1.0, 1.0]),
    (60, "masses 1:1e6", lambda: known("box_stack", n=120, mass_ratio=1e6, load="gravity"), HONEST, None),
    (61, "wall, 4 redundant contacts a face", lambda: known("boxed_stack", n=336), SOLVED, None),
    (61, "wall with friction", lambda: known("box_stack", n=336, load="gravity"), SOLVED, None),
    (64, "rod, accelerations", lambda: known("painleve_rod"), NONE, None),
    (64, "rod, two forces", lambda: known("painleve_rod", spin=6.0), SOLVED, None),
    (64, "rod, impulses", lambda: known("painleve_step"), SOLVED, None),
    (66, "empty row", lambda: lcp([[2, 0, -1], [0, 0, 0], [-1, 0, 2]], [-1, 0, -1]), SOLVED, [1.0, 0.0, 1.0]),
    (66, "all solid", lambda: LCP(perp.StencilOperator((3, 3), 0.0, 0.0), np.zeros(9)), SOLVED, [0.0] * 9),
    (67, "closed region", lambda: lcp([[1, -1, 0], [-1, 2, -1], [0, -1, 1]], [-1, -1, 0.5]), NONE, None),
    (67, "closed region, stencil", lambda: known("closed_fluid", form="stencil"), NONE, None),
    (80, "n^2 beyond 32 bits", lambda: LCP(2.0 * sparse.eye_array(70_000), -np.ones(70_000)), SOLVED, None),
    (91, "Lemke ends on a ray", lambda: lcp([[0, 1], [1, 0]], [-1, -1]), SOLVED, [1.0, 1.0]),
]
IDS = [f"{row} {what}" for row, what, *_ in OUTCOMES]


def doubling(n):
    return LinearOperator((n, n), matvec=lambda x: 2.0 * x, dtype=float)


@pytest.mark.parametrize(("build", "outcome", "x"), [line[2:] for line in OUTCOMES], ids=IDS)
def test_auto_ends_as_the_table_says(build, outcome, x):
    problem = build()
    result = solve(problem)
    assert result.status in outcome
    if x is not None and result.success:
        np.testing.assert_allclose(result.x, x, atol=1e-8)
    np.testing.assert_array_equal(perp.solve(build()).x, result.x)


def test_rows_10_and_13_and_44_and_67_have_the_certificate_of_the_table():
    for A, b in ([[-2]], [-3]), ([[0]], [-3]), ([[0, -1], [-1, 0]], [-1, -1]), ([[1, -1], [-1, 1]], [-1, 0.5]):
        u = perp.solve(lcp(A, b)).certificate.u
        np.testing.assert_allclose(u, 1.0)


def test_row_12_one_of_both_solutions_is_found_always_the_same():
    found = {float(perp.solve(lcp([[-2]], [3])).x[0]) for _ in range(3)}
    assert found in ({0.0}, {1.5})


def test_row_19_the_empty_problem_takes_no_iteration():
    result = perp.solve(LCP(np.empty((0, 0)), []))
    assert result.iterations == 0
    assert result.x.shape == result.y.shape == (0,)


@pytest.mark.parametrize("size", [4, 60])
def test_row_41_the_slack_of_redundant_contacts_is_unique(size):
    np.testing.assert_allclose(solve(LCP(np.ones((size, size)), -np.ones(size))).y, 0.0, atol=1e-8)


# ---- 25, 26, 28, 30 to 36: the same numbers in other clothes


def memory_mapped(array, folder):
    path = folder / f"{array.ndim}.npy"
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def strided(array):
    return np.repeat(np.repeat(array, 2, axis=0), 2, axis=-1)[::2, ::2] if array.ndim == 2 else np.repeat(array, 2)[::2]


def read_only(array):
    array.flags.writeable = False
    return array


LAYOUTS = [
    (25, "int64", lambda array, folder: array.astype(np.int64)),
    (25, "int8", lambda array, folder: array.astype(np.int8)),
    (25, "lists", lambda array, folder: array.tolist()),
    (26, "float32", lambda array, folder: array.astype(np.float32)),
    (28, "Fortran", lambda array, folder: np.asfortranarray(array)),
    (28, "strides", lambda array, folder: strided(array)),
    (28, "negative strides", lambda array, folder: array[::-1].copy()[::-1]),
    (28, "read-only", lambda array, folder: read_only(array.copy())),
    (28, "memmap", memory_mapped),
    (30, "big-endian", lambda array, folder: array.astype(">f8")),
]


@pytest.mark.parametrize("convert", [line[2] for line in LAYOUTS], ids=[f"{row} {what}" for row, what, _ in LAYOUTS])
@pytest.mark.parametrize("n", [8, 80])
def test_the_layout_and_type_of_arrays_change_no_bit_of_auto(n, convert, tmp_path):
    plain = chain(n)
    A, b = convert(plain.A.to_dense(), tmp_path), convert(np.array(plain.b), tmp_path)
    result = solve(LCP(A, b))
    assert result.success
    assert result.x.dtype == np.float64
    np.testing.assert_array_equal(result.x, perp.solve(plain).x)


def with_duplicates(A):
    coo = sparse.coo_array(A)
    return sparse.csr_array((np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=A.shape)


def with_stored_zeros(A):
    rows, columns = np.indices(A.shape)
    return sparse.csr_array(sparse.coo_array((A.ravel(), (rows.ravel(), columns.ravel())), shape=A.shape))


def unsorted(A):
    matrix = sparse.csr_array(A)
    for begin, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[begin:end] = matrix.indices[begin:end][::-1].copy()
        matrix.data[begin:end] = matrix.data[begin:end][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def with_long_indices(A):
    matrix = sparse.csr_array(A)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def with_mixed_indices(A):
    matrix = sparse.csr_array(A)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


STORAGES = [
    (31, "duplicates", with_duplicates),
    (32, "stored zeros", with_stored_zeros),
    (33, "unsorted", unsorted),
    (35, "int64 indices", with_long_indices),
    (35, "mixed indices", with_mixed_indices),
    (36, "coo", sparse.coo_array),
    (36, "bsr", sparse.bsr_array),
    (36, "dia", sparse.dia_array),
    (36, "lil", sparse.lil_array),
    (36, "csc", sparse.csc_array),
]


@pytest.mark.parametrize("convert", [line[2] for line in STORAGES], ids=[f"{row} {what}" for row, what, _ in STORAGES])
def test_every_sparse_format_gives_the_bits_of_csr_and_is_left_alone(convert):
    A = chain(40).A.to_dense()
    given = convert(A)
    before = given.copy()
    result = solve(LCP(given, chain(40).b))
    assert result.success
    np.testing.assert_array_equal(result.x, perp.solve(LCP(sparse.csr_array(A), chain(40).b)).x)
    assert given.nnz == before.nnz
    assert (given != before).nnz == 0


def test_row_32_a_stored_zero_on_the_diagonal_is_a_zero():
    A = sparse.csr_array(([0.0, -1.0, 1.0, 2.0], ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    for form in (A, A.toarray()):
        np.testing.assert_allclose(solve(LCP(form, [1.0, -4.0])).x, [2.0, 1.0])


# ---- 38: products that fail

FAULTY = [
    ("shape", lambda x: np.ones(5)),
    ("nan", lambda x: np.full(3, np.nan)),
    ("complex", lambda x: np.full(3, 1j)),
]


@pytest.mark.parametrize("product", [line[1] for line in FAULTY], ids=[line[0] for line in FAULTY])
@pytest.mark.parametrize("diagonal", [None, np.ones(3)], ids=["product", "product and diagonal"])
@pytest.mark.parametrize("b", [-1.0, 1.0])
def test_row_38_a_faulty_product_is_a_breakdown_at_first_use(product, diagonal, b):
    operator = perp.MatrixFreeOperator(LinearOperator((3, 3), matvec=product, dtype=np.float64), diagonal)
    result = solve(LCP(operator, np.full(3, b)))
    assert result.status is Status.BREAKDOWN
    assert result.iterations == 0


# ---- 53: units


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300])
def test_row_53_a_factor_of_all_data_changes_nothing(factor):
    result = solve(scaled_chain(factor))
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(chain()).x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spread", [1e4, 1e12])
def test_row_53_rows_in_other_units_change_nothing(spread):
    result = solve(scaled_chain(np.where(np.arange(8) % 2, 1 / spread, spread)))
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(chain()).x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_row_53_a_factor_of_all_data_of_contacts_changes_nothing(factor, model):
    G = np.random.default_rng(5).standard_normal((11, 22))
    A, b = G @ G.T, np.array([-3.0, 0.5, -1.0, -3.0, 0.2, 0.7, -3.0, 1.0, 0.4, -1.0, 1.0])
    rows = {"lower": [-0.1, 0.0], "upper": [0.1, np.inf]}
    result = solve(ContactProblem(A * factor, b * factor, 0.4, model, **rows))
    assert result.success
    np.testing.assert_allclose(result.x, perp.solve(ContactProblem(A, b, 0.4, model, **rows)).x, atol=1e-7)


def test_row_55_an_answer_beyond_all_numbers_is_a_failure_with_a_finite_x():
    result = solve(lcp([[2e-200, -1e-200], [-1e-200, 2e-200]], [-1e200, -1e200]))
    assert not result.success
    assert result.status is not Status.INFEASIBLE


# ---- 60 to 63: contacts

MODELS = ["box", "cone", "convex", "disc"]


@pytest.mark.parametrize("model", MODELS)
def test_row_60_a_huge_mass_ratio_makes_no_energy(model):
    problem = known("box_stack", n=120, layout="tower", mass_ratio=1e6, load="gravity", model=model)
    result = solve(problem)
    assert result.status in HONEST
    found = result.verify()
    assert found.objective <= 0.0  # the change of kinetic energy
    assert found.slack_violation < 1e-6  # metres per second


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("friction", [0.0, 1e6])
def test_row_62_friction_from_none_to_huge(model, friction):
    rng = np.random.default_rng(0)
    G = rng.standard_normal((6, 6))
    result = solve(ContactProblem(G @ G.T + np.eye(6), rng.standard_normal(6), friction, model))
    assert result.success
    if friction == 0.0:
        np.testing.assert_allclose(result.x.reshape(2, 3)[:, 1:], 0.0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_row_63_a_duplicated_contact_moves_nothing_otherwise(model):
    rng = np.random.default_rng(1)
    masses = perp.BodyMasses([1.0, np.inf], [np.eye(3)] * 2)
    jacobian = rng.standard_normal((3, 2, 6))
    single = perp.FactoredOperator.from_body_pairs([[0, 1]] * 3, jacobian, masses)
    double = perp.FactoredOperator.from_body_pairs([[0, 1]] * 6, np.concatenate([jacobian] * 2), masses)
    b = np.array([-1.0, 0.2, 0.1])
    share = 0.25 if model == "disc" else 0.5  # two discs of half the radius
    one, two = (
        solve(ContactProblem(single, b, 0.5, model)),
        solve(ContactProblem(double, np.tile(b, 2), share, model)),
    )
    assert one.success
    assert two.success
    np.testing.assert_allclose(double.velocity(two.x), single.velocity(one.x), atol=1e-7)


# ---- 24, 68 to 78: arguments, limits, interruptions, callbacks, threads

REFUSED = [
    (24, {"x0": np.ones(3)}, ValueError, "x0 has length 3"),
    (24, {"x0": np.full(8, np.nan)}, ValueError, r"x0\[0\] is nan"),
    (70, {"tol": -1.0}, ValueError, "tol"),
    (70, {"tol": np.nan}, ValueError, "tol"),
    (70, {"tol": np.inf}, ValueError, "tol"),
    (71, {"method": "auot"}, ValueError, "did you mean 'auto'"),
    (71, {"relaxation": 1.0}, TypeError, "relaxation"),
    (71, {"max_iteration": 3}, TypeError, "did you mean 'max_iterations'"),
]


@pytest.mark.parametrize(
    ("arguments", "error", "words"), [line[1:] for line in REFUSED], ids=[f"{line[0]} {line[3]}" for line in REFUSED]
)
def test_arguments_that_make_no_sense_raise(arguments, error, words):
    with pytest.raises(error, match=words):
        perp.solve(chain(), **arguments)


def test_row_24_a_start_outside_the_box_is_projected_and_noted():
    result = solve(chain(), x0=-np.ones(8))
    assert result.success
    assert any("projected" in note for note in result.notes)


@cache
def hard():
    """Not solved by the short way of small problems."""
    return known("dense_p", n=120, seed=3)


@pytest.mark.parametrize("limit", [0.0, 1e-9])
def test_row_68_no_time_returns_the_start_with_its_residual(limit):
    for problem in (chain(), hard()):
        x0 = np.full(problem.n, 0.5)
        result = solve(problem, max_seconds=limit, x0=x0)
        assert result.status is Status.TIME_LIMIT
        assert result.residual <= perp.verify(problem, x0).residual


def test_row_69_no_iterations_evaluate_the_start():
    for problem in (chain(), hard()):
        result = solve(problem, max_iterations=0)
        assert result.status is Status.ITERATION_LIMIT
        assert result.iterations == 0
        np.testing.assert_array_equal(result.x, 0.0)
        assert result.residual == perp.verify(problem, np.zeros(problem.n)).residual


def test_row_70_tolerance_zero_runs_to_the_last_digit():
    for problem in (chain(), hard()):
        result = perp.solve(problem, tol=0.0)
        assert result.residual < 1e-12
        assert result.success == (result.residual == 0.0)


def interrupt(progress):
    if progress.iteration > 0:
        raise KeyboardInterrupt


def test_row_72_an_interrupt_carries_what_was_reached():
    with pytest.raises(SolveInterrupted) as caught:
        perp.solve(hard(), callback=interrupt, tol=0.0)
    partial = caught.value.partial_result
    assert partial.status is Status.INTERRUPTED
    assert partial.residual <= perp.verify(hard(), np.zeros(hard().n)).residual


def test_row_73_a_callback_may_stop_and_may_fail():
    def stop(progress):
        raise StopIteration("seen enough")

    def fail(progress):
        raise RuntimeError("mine")

    stopped = perp.solve(hard(), callback=stop)
    assert stopped.status is Status.STOPPED_BY_CALLBACK
    assert "seen enough" in stopped.message
    with pytest.raises(RuntimeError, match="mine"):
        perp.solve(hard(), callback=fail)
    assert solve(hard()).success


def test_rows_74_and_75_a_callback_may_change_its_x_and_solve():
    plain = perp.solve(hard())

    def meddle(progress):
        progress.x[:] = np.nan
        perp.solve(chain())

    np.testing.assert_array_equal(perp.solve(hard(), callback=meddle).x, plain.x)


def test_row_76_threads_may_share_a_problem():
    found = []
    threads = [threading.Thread(target=lambda: found.append(perp.solve(hard()).x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for x in found:
        np.testing.assert_array_equal(x, found[0])


def solve_chain():
    return perp.solve(chain()).x


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_row_77_a_child_forked_after_a_thread_has_solved_can_solve_too():
    thread = threading.Thread(target=solve_chain)
    thread.start()
    thread.join()
    with get_context("fork").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(solve_chain), solve_chain())


def test_row_78_a_start_at_the_solution_takes_at_most_one_iteration():
    for problem in (chain(), hard(), known("box_stack", n=60, load="gravity")):
        x = perp.solve(problem).x
        again = solve(problem, x0=x)
        assert again.success
        assert again.iterations <= 1


def test_row_92_the_set_of_free_rows_may_come_to_any_size_and_go():
    rng = np.random.default_rng(0)
    A = perp.StencilOperator((24, 24), 4.0, -1.0)
    x0 = None
    for share in (0.0, 1.0, 0.01, 0.99, 0.5):
        b = np.where(rng.random(A.n) < share, -1.0, 1.0)
        x0 = solve(LCP(A, b), x0=x0)
        assert x0.success
