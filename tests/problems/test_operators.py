"""Every form of A answers the same questions with the same numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.errors import InvalidProblem, MissingAbility


def random_operator(form: str, seed: int) -> tuple[perp.Operator, np.ndarray]:
    rng = np.random.default_rng(seed)
    if form == "stencil":
        operator = perp.StencilOperator((3, 2, 4), rng.uniform(5, 7, (3, 2, 4)), [-1.0, -0.5, -2.0])
        return operator, operator.to_dense()
    if form == "stencil_faces":
        return grid_with_faces(rng, (3, 2, 4))
    if form.startswith("convolution"):
        kernel = np.exp(-np.abs(np.fft.ifftshift(np.arange(-2, 3))))  # -2 .. 2, with 0 in front
        boundary = form.partition("_")[2]
        operator = perp.ConvolutionOperator(
            np.outer(kernel[[0, 1, -1]], kernel), (3, 5), boundary, added=rng.random(15)
        )
        return operator, strategies.dense_convolution(operator)
    factored = strategies.factored_operator(rng, contacts=3, others=2)
    return strategies.in_form(factored, form), factored.to_dense()


def grid_with_faces(rng, grid):
    """A number of its own for each face, and the same matrix written cell by cell."""
    diagonal = rng.uniform(5, 7, grid)
    couplings = [-rng.random(tuple(size - (k == axis) for k, size in enumerate(grid))) for axis in range(len(grid))]
    dense = np.diag(diagonal.reshape(-1))
    for axis, faces in enumerate(couplings):
        for cell, coupling in np.ndenumerate(faces):
            ahead = tuple(place + (k == axis) for k, place in enumerate(cell))
            pair = np.ravel_multi_index(cell, grid), np.ravel_multi_index(ahead, grid)
            dense[pair] = dense[pair[::-1]] = coupling
    return perp.StencilOperator(grid, diagonal, couplings), dense


ALL_FORMS = [*strategies.FORMS, "stencil", "stencil_faces", "convolution_periodic", "convolution_free"]


@pytest.mark.parametrize("form", ALL_FORMS)
@given(seed=st.integers(0, 1000))
def test_product_diagonal_rows_blocks_and_parts_agree_with_the_dense_matrix(form, seed):
    operator, dense = random_operator(form, seed)
    rng = np.random.default_rng(seed)
    x, b = rng.standard_normal(operator.n), rng.standard_normal(operator.n)
    near = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(operator.to_dense(), dense, **near)
    np.testing.assert_allclose(operator @ x, dense @ x, **near)
    np.testing.assert_allclose(operator.slack(x, b, np.empty(operator.n)), dense @ x + b, **near)
    np.testing.assert_allclose(operator.diagonal(), dense.diagonal(), **near)
    for i in (0, operator.n - 1):
        row = np.zeros(operator.n)
        columns, values = operator.row(i)
        row[columns] = values
        np.testing.assert_allclose(row, dense[i], **near)
    part = operator.submatrix([0, 3], [1, 2, 4])
    np.testing.assert_allclose(
        part.toarray() if sparse.issparse(part) else part, dense[np.ix_([0, 3], [1, 2, 4])], **near
    )
    blocks = operator.diagonal_blocks(3, 2)
    np.testing.assert_allclose(blocks, [dense[:3, :3], dense[3:6, 3:6]], **near)
    assert operator.asymmetry == pytest.approx(0.0, abs=1e-12)


def test_a_sparse_jacobian_of_rigid_bodies_is_stored_as_body_pairs():
    rng = np.random.default_rng(0)
    pairs = strategies.factored_operator(rng, contacts=4)
    again = perp.FactoredOperator(pairs.J, pairs.mass, pairs.compliance)
    assert again.pairs is not None
    np.testing.assert_allclose(again.to_dense(), pairs.to_dense(), atol=1e-12)


def test_a_row_on_three_bodies_is_stored_in_compressed_rows():
    masses = perp.BodyMasses([1.0, 2.0, 4.0], [np.eye(3)] * 3)
    operator = perp.FactoredOperator(np.ones((2, 18)), masses)
    assert operator.pairs is None
    np.testing.assert_allclose(operator.to_dense(), np.full((2, 2), 3 * (1 + 0.5 + 0.25) + 9.0))


def test_a_body_of_infinite_mass_does_not_move():
    masses = perp.BodyMasses([2.0, np.inf], [np.eye(3), np.zeros((3, 3))])
    operator = perp.FactoredOperator(np.ones((1, 12)), masses)
    np.testing.assert_allclose(operator.to_dense(), [[3 / 2 + 3]])
    np.testing.assert_allclose(operator.velocity(np.array([1.0]))[6:], 0.0)
    with pytest.raises(InvalidProblem, match="infinite"):
        masses.to_sparse()


def test_masses_may_be_a_diagonal_or_any_sparse_spd_matrix():
    rng = np.random.default_rng(1)
    J = rng.standard_normal((4, 6))
    M = strategies.spd_matrix(rng, 6)
    general = perp.FactoredOperator(J, sparse.csr_array(M), 0.5)
    np.testing.assert_allclose(general.to_dense(), J @ np.linalg.inv(M) @ J.T + 0.5 * np.eye(4), atol=1e-9)
    m = rng.uniform(1, 2, 6)
    np.testing.assert_allclose(perp.FactoredOperator(J, m).to_dense(), (J / m) @ J.T, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: perp.FactoredOperator(np.ones((2, 5)), np.ones(6)), "5 columns.*6 velocities"),
        (lambda: perp.FactoredOperator(np.ones((2, 6)), np.ones(6), -1.0), r"compliance\[0\]"),
        (lambda: perp.FactoredOperator(np.ones((2, 6)), -np.ones(6)), r"mass\[0\]"),
        (lambda: perp.FactoredOperator(np.ones((2, 6)), np.full(6, 1e-320)), r"mass\[0\]"),
        (lambda: perp.SparseMass(np.array([[1.0, 2.0], [0.0, 1.0]])), "not symmetric"),
        (lambda: perp.SparseMass(np.array([[1.0, 2.0], [2.0, 1.0]])), "not positive definite"),
        (lambda: perp.SparseMass(np.array([[0.0, 1.0], [1.0, 0.0]])), "not positive definite"),
        (lambda: perp.SparseMass(np.zeros((2, 2))), "not positive definite"),
        (lambda: perp.StencilOperator((3, 3), np.ones(4)), "diagonal has shape"),
        (lambda: perp.StencilOperator((3, 3), 4.0, [1.0, 2.0, 3.0]), "couplings"),
        (lambda: perp.StencilOperator((), 4.0), "shape"),
        (lambda: perp.StencilOperator(8, 4.0), "shape is 8; one size an axis"),
        (lambda: perp.StencilOperator((3, 3), 4.0, np.ones((2, 3))), "couplings is one array; one an axis"),
        (lambda: perp.StencilOperator((3, 3), 4.0, [np.ones((2, 3))]), "couplings has 1 arrays"),
        (lambda: perp.StencilOperator((3, 3), 4.0, [np.ones((2, 3)), np.ones((2, 3))]), r"couplings\[1\] has shape"),
        (lambda: perp.StencilOperator((3, 3), 4.0, [np.ones((2, 3)), np.full((3, 2), np.nan)]), "couplings"),
        (lambda: perp.MatrixFreeOperator(np.ones((2, 3))), "square"),
        (lambda: perp.ConvolutionOperator(np.ones(3), (3,), "open"), "boundary is 'open'"),
        (lambda: perp.ConvolutionOperator(np.ones(3), 3), "shape is 3; one size an axis"),
        (lambda: perp.ConvolutionOperator(np.ones(3), (0,)), r"shape\[0\]"),
        (lambda: perp.ConvolutionOperator(np.ones(3), (3, 3)), "kernel has 1 axes"),
        (lambda: perp.ConvolutionOperator(np.ones(4), (3,)), "4 offsets along axis 0; 3, or fewer"),
        (lambda: perp.ConvolutionOperator(np.ones(2), (3,)), "2 offsets along axis 0"),
        (lambda: perp.ConvolutionOperator(np.ones(7), (3,), "free"), "7 offsets along axis 0; 5, or fewer"),
        (lambda: perp.ConvolutionOperator([1.0, np.nan, 1.0], (3,)), r"kernel\[1\] is nan"),
        (lambda: perp.ConvolutionOperator(np.ones(3), (3,), added=[1.0, 2.0]), "added has length 2"),
        (lambda: perp.half_space_kernel((3,)), "two axes"),
        (lambda: perp.half_space_kernel((3, 3), 0.0), r"spacing\[0\]"),
        (lambda: perp.periodic_half_space_kernel((3, 3), 1.0, -1.0), "modulus"),
        (
            lambda: perp.FactoredOperator.from_body_pairs(
                [[0, 5]], np.ones((1, 2, 6)), perp.BodyMasses([1.0], [np.eye(3)])
            ),
            r"-1\.\.0",
        ),
        (
            lambda: perp.FactoredOperator.from_body_pairs(
                [[0, 0]], np.ones((1, 2, 6)), perp.BodyMasses([1.0], [np.eye(3)])
            ),
            "names body 0 twice",
        ),
        (
            lambda: perp.FactoredOperator.from_body_pairs(
                [[0, -1]], np.ones((1, 12)), perp.BodyMasses([1.0], [np.eye(3)])
            ),
            "jacobian has shape",
        ),
    ],
)
def test_operators_that_make_no_sense_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_a_matrix_free_operator_says_what_it_cannot_do():
    operator = perp.MatrixFreeOperator(aslinearoperator(np.eye(3)))
    for ask in (operator.diagonal, operator.to_sparse, lambda: operator.row(0), lambda: operator.submatrix([0], [0])):
        with pytest.raises(MissingAbility, match=r"it can: \['apply'\]"):
            ask()


def test_scaling_rows_is_exact_for_powers_of_two():
    rng = np.random.default_rng(0)
    A = strategies.spd_matrix(rng, 5)
    factors = 2.0 ** rng.integers(-900, 900, 5)
    for operator in (perp.DenseOperator(A), perp.SparseOperator(sparse.csr_array(A))):
        scaled = operator.scale_rows(factors)
        assert scaled is not None
        np.testing.assert_array_equal(scaled.to_dense() / factors[:, None], A)


def test_asymmetry_is_measured_against_the_largest_entry():
    A = np.array([[1.0, 3.0], [2.0, 4.0]]) * 1e200
    for form in (A, sparse.csr_array(A)):
        assert perp.LCP(form, np.zeros(2)).A.asymmetry == pytest.approx(0.25)


@pytest.mark.parametrize("form", ALL_FORMS)
def test_an_operator_and_its_problem_travel_to_another_process_unchanged(form):
    operator, _ = random_operator(form, 0)
    problem = perp.BoxLCP(operator, np.ones(operator.n), -1.0, 1.0)
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.A.to_dense(), operator.to_dense())
    assert not again.b.flags.writeable
    np.testing.assert_allclose(perp.solve(again, "pgs").x, perp.solve(problem, "pgs").x, atol=1e-14)


def test_contacts_travel_with_their_friction_and_extra_rows():
    problem = perp.ContactProblem(np.eye(7), np.zeros(7), [0.1, 0.2], "cone", lower=[-1.0], upper=[2.0])
    again = pickle.loads(pickle.dumps(problem))
    assert (again.model, again.contacts, again.n - again.contact_rows) == ("cone", 2, 1)
    np.testing.assert_array_equal(again.upper, [2.0])


@pytest.mark.parametrize("form", ALL_FORMS)
def test_a_product_with_a_vector_of_the_wrong_length_is_refused(form):
    operator, _ = random_operator(form, 0)
    with pytest.raises(ValueError, match="x has length 3"):
        operator @ np.ones(3)


def test_an_operator_is_an_array_for_numpy():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(np.asarray(perp.LCP(sparse.csr_array(A), [0.0, 0.0]).A), A)


def test_empty_and_odd_stencils():
    assert perp.StencilOperator((0,), 2.0).to_sparse().shape == (0, 0)
    with pytest.raises(TypeError, match=r"shape\[0\]"):
        perp.StencilOperator((3.7, 2), 4.0)
    with pytest.raises(TypeError, match="diagonal"):
        perp.StencilOperator((3, 2), 4.0j)


def test_the_inertia_of_a_body_that_cannot_move_is_ignored():
    masses = perp.BodyMasses([np.inf, 1.0], [np.full((3, 3), np.nan), np.eye(3)])
    np.testing.assert_array_equal(masses.solve(np.ones(12))[:6], 0.0)
