"""What `classify` takes, how it answers, and what it does with large matrices and little time."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.linalg.classes import CLASSES, check_witness, classify


def poisson(m: int) -> sparse.csr_array:
    """The five-point Laplacian on m x m cells, zero outside."""
    T = sparse.diags_array([-np.ones(m - 1), 2.0 * np.ones(m), -np.ones(m - 1)], offsets=[-1, 0, 1])
    return sparse.csr_array(sparse.kron(T, sparse.eye_array(m)) + sparse.kron(sparse.eye_array(m), T))


def closed(m: int) -> sparse.csr_array:
    """The same with walls all around: rows that add up to zero."""
    A = poisson(m)
    return sparse.csr_array(A - sparse.diags_array(A.sum(axis=1)))


def checked(A, **options):
    result = classify(A, max_seconds=30.0, **options)
    for verdict in result:
        if verdict.witness is not None:
            assert check_witness(A, verdict), str(verdict)
        assert verdict.answer is not False or verdict.witness is not None
    return result


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        lambda rows: np.array(rows, dtype=np.float32),
        sparse.coo_array,
        perp.DenseOperator,
        lambda rows: perp.LCP(rows, [1.0, 1.0]),
        lambda rows: perp.BoxLCP(sparse.csc_array(rows), [1.0, 1.0], -1.0, 1.0),
    ],
    ids=["list", "array", "float32", "sparse", "operator", "lcp", "box"],
)
def test_every_form_of_a_matrix_gives_the_same_answers(make):
    A = make([[2, -1], [0, 1]])
    found = {verdict.name: verdict.answer for verdict in checked(A)}
    assert found == dict.fromkeys(CLASSES, True) | {"symmetric": False}


def test_an_empty_matrix_is_in_every_class():
    assert all(classify(np.zeros((0, 0))))


def test_nothing_is_known_of_bare_products():
    result = classify(aslinearoperator(np.eye(3)))
    assert {verdict.answer for verdict in result} == {None}
    assert "only products" in result.P.why


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="did you mean 'P0'"):
        classify(np.eye(2), classes=["p0"])
    with pytest.raises(ValueError, match="max_seconds"):
        classify(np.eye(2), max_seconds=-1.0)
    with pytest.raises(ValueError, match="square"):
        classify(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"A\[0,1\] is nan"):
        classify([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(KeyError, match="'Q' is no class"):
        classify(np.eye(2))["Q"]


def test_only_what_is_asked_for_is_decided():
    result = classify(np.eye(2), classes=["Z"])
    assert result.Z.answer is True
    assert result.P.answer is None
    assert result.P.why == "not asked for"


def test_the_table_and_the_json_tell_all_classes():
    result = classify([[1, 2, -3], [0, 1, -1], [3, 0, 1]])
    lines = str(result).splitlines()
    assert "3 x 3" in lines[0]
    assert all(any(line.startswith(name) for line in lines) for name in CLASSES)
    assert all(len(line) <= 120 for line in lines)
    told = json.loads(json.dumps(result.to_dict()))
    assert told["classes"]["P"]["answer"] is True
    assert told["classes"]["Z"]["witness"] == {"kind": "entry", "rows": [2, 0], "x": []}
    assert bool(result.P)
    assert not bool(result.Z)


def test_a_large_poisson_matrix_is_an_M_matrix_by_a_vector():
    result = checked(poisson(40))
    assert all(result)


def test_a_large_closed_grid_is_semi_definite_and_no_M_matrix():
    result = checked(closed(40))
    proved = {verdict.name for verdict in result if verdict}
    sufficient = {"column_sufficient", "row_sufficient", "sufficient"}
    assert proved == {"symmetric", "positive_semidefinite", "Z", "P0", "copositive"} | sufficient
    assert {verdict.name for verdict in result if verdict.answer is False} >= {"positive_definite", "M", "H_plus", "P"}


def test_one_closed_island_among_open_ones_is_enough():
    A = sparse.block_diag([poisson(20), closed(8), poisson(10)], format="csr")
    result = checked(A)
    assert result.M.answer is False
    inside = np.flatnonzero(result.M.witness.vector)
    assert inside.min() == 400
    assert inside.size == 64


def test_large_indefinite_and_unsymmetric_matrices_are_recognised():
    A = poisson(30)
    low = checked(sparse.csr_array(A - 0.1 * sparse.eye_array(900)))
    assert low.positive_semidefinite.answer is False
    assert low.P0.answer is False
    assert low.M.answer is False
    wind = sparse.kron(
        sparse.diags_array([-0.5 * np.ones(29), 0.5 * np.ones(30)], offsets=[-1, 0]), sparse.eye_array(30)
    )
    crossed = A.tolil()
    crossed[0, 700], crossed[700, 0] = 5.0, 4.0
    assert checked(crossed, classes=["P0", "row_sufficient"]).row_sufficient.answer is False
    windy = checked(sparse.csr_array(A + wind))
    assert windy.symmetric.answer is False
    assert windy.M
    assert windy.positive_definite
    assert windy.sufficient


def test_a_sparse_factor_proves_what_no_dominance_does():
    A = poisson(25)
    result = checked(sparse.csr_array(A @ A + 0.01 * sparse.eye_array(625)), classes=["H_plus", "positive_definite"])
    assert result.H_plus.answer is False
    assert "Cholesky" in result.positive_definite.why


def test_contacts_are_semi_definite_by_their_form():
    problem = perp.gallery.make("box_stack", n=48).problem
    result = classify(problem)
    assert result.symmetric
    assert result.positive_semidefinite
    assert result.sufficient
    assert "J M^-1 J^T" in result.subject


def test_dense_matrices_of_many_rows_get_answers_where_vectors_suffice():
    rng = np.random.default_rng(3)
    G = rng.standard_normal((120, 120))
    assert checked(G @ G.T + np.eye(120)).P
    indefinite = checked((G + G.T) / 2 + 3.0 * np.eye(120))
    assert indefinite.P.answer is False
    assert indefinite.column_sufficient.answer is False
    assert checked(G + 12.0 * np.eye(120), classes=["P"]).P.answer in (True, None)


def test_no_time_leaves_hard_questions_open_and_says_why():
    rng = np.random.default_rng(0)
    A = np.eye(30) + np.triu(rng.uniform(0.0, 2.0, (30, 30)), 1) - np.tril(rng.uniform(0.0, 0.05, (30, 30)), -1)
    result = classify(A, max_seconds=0.0)
    assert result.P.answer is None
    assert "time limit" in result.P.why
    assert result.Z.answer is False


STENCILS = {
    "laplacian": (perp.StencilOperator((3, 4), 4.0, -1.0), True),
    "one coupling is positive": (perp.StencilOperator((3, 4), 4.0, [-1.0, 0.5]), False),
    "positive along an axis of one cell": (perp.StencilOperator((1, 4), 4.0, [0.5, -1.0]), True),
    "faces": (perp.StencilOperator((2, 2), 4.0, [-np.ones((1, 2)), np.array([[-1.0], [0.1]])]), False),
}


@pytest.mark.parametrize("name", STENCILS)
def test_z_matrices_are_told_without_forming_them(name):
    operator, expected = STENCILS[name]
    assert operator.has_positive_coupling() is (not expected)
    assert classify(operator, classes=["Z"]).Z.answer is expected


@pytest.mark.parametrize("entry", [-1.0, 0.0, 1e-300])
def test_z_matrices_are_told_by_the_signs_of_entries(entry):
    A = np.array([[1.0, -2.0], [entry, -3.0]])
    for operator in (perp.DenseOperator(A), perp.SparseOperator(sparse.csr_array(A))):
        assert operator.has_positive_coupling() is (entry > 0.0)


def test_z_matrices_are_not_told_of_factors_and_products():
    assert perp.gallery.make("box_stack", n=48).problem.A.has_positive_coupling() is None
    assert perp.MatrixFreeOperator(aslinearoperator(np.eye(2))).has_positive_coupling() is None
