"""Bodies in a plane: their masses, and A = J M^-1 J^T + C with two of them a row."""

from __future__ import annotations

import pickle

import numpy as np
import planar_operators
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp.errors import InvalidProblem
from perp.problems.operators import PlanarMasses
from perp.problems.operators.masses import as_mass


def dense_matrix(A):
    """J M^-1 J^T + C by the blocks that it was made of, with plain loops."""
    bodies, jacobian = A.planar.as_given()
    whole = np.zeros((A.n, A.mass.dofs))
    for i, pair in enumerate(bodies):
        for side, body in enumerate(pair):
            if body >= 0:
                whole[i, 3 * body : 3 * body + 3] += jacobian[i, side]
    inverse = np.zeros(A.mass.dofs)
    for body, (mass, inertia) in enumerate(zip(A.mass.mass, A.mass.inertia, strict=True)):
        if np.isfinite(mass):
            inverse[3 * body : 3 * body + 3] = 1 / mass, 1 / mass, 1 / inertia
    return whole * inverse @ whole.T + np.diag(A.compliance), whole, inverse


@given(seed=st.integers(0, 1000), fixed=st.booleans())
def test_product_diagonal_rows_blocks_and_parts_agree_with_the_dense_matrix(seed, fixed):
    rng = np.random.default_rng(seed)
    A = planar_operators.random_planar(rng, contacts=4, others=3, fixed=fixed)
    dense, J, inverse = dense_matrix(A)
    x, b = rng.standard_normal(A.n), rng.standard_normal(A.n)
    near = {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(A.to_dense(), dense, **near)
    np.testing.assert_allclose(A @ x, dense @ x, **near)
    np.testing.assert_allclose(A.slack(x, b, np.empty(A.n)), dense @ x + b, **near)
    np.testing.assert_allclose(A.velocity(x), inverse * (J.T @ x), **near)
    np.testing.assert_allclose(A.diagonal(), dense.diagonal(), **near)
    np.testing.assert_allclose(A.diagonal_blocks(2, 4), [dense[i : i + 2, i : i + 2] for i in (0, 2, 4, 6)], **near)
    np.testing.assert_array_equal(A.J.toarray(), J)
    for i in (0, A.n - 1):
        row = np.zeros(A.n)
        columns, values = A.row(i)
        row[columns] = values
        np.testing.assert_allclose(row, dense[i], **near)
    np.testing.assert_allclose(A.submatrix([0, 3], [1, 2]).toarray(), dense[np.ix_([0, 3], [1, 2])], **near)
    assert A.asymmetry == 0.0


def test_blocks_whose_rows_act_on_different_bodies_are_found_all_the_same():
    rng = np.random.default_rng(2)
    A = perp.FactoredOperator.from_body_pairs(
        [[0, 1], [1, 0], [2, -1], [1, 2]],
        rng.standard_normal((4, 2, 3)),
        PlanarMasses([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    )
    dense, _, _ = dense_matrix(A)
    np.testing.assert_allclose(A.diagonal_blocks(2, 2), [dense[:2, :2], dense[2:, 2:]], atol=1e-14)


@given(seed=st.integers(0, 1000))
def test_body_pairs_and_planar_pairs_give_the_velocity_that_impulses_make(seed):
    rng = np.random.default_rng(seed)
    for A in (strategies.factored_operator(rng, contacts=3, others=2), planar_operators.random_planar(rng, 3, 2)):
        x = rng.standard_normal(A.n)
        np.testing.assert_allclose(A.velocity(x), A.mass.solve(A.J.T @ x), rtol=1e-12, atol=1e-13)
        assert A.velocity(x).shape == (A.mass.dofs,)


def test_a_result_is_as_good_as_its_impulses():
    problem = planar_operators.pyramid()
    result = perp.solve(problem, "pgs")
    np.testing.assert_array_equal(problem.A.velocity(result), problem.A.velocity(result.x))
    with pytest.raises(InvalidProblem, match="x has length 2"):
        problem.A.velocity(np.ones(2))


def test_a_sparse_jacobian_of_bodies_in_a_plane_is_stored_as_planar_pairs():
    A = planar_operators.random_planar(np.random.default_rng(0), contacts=4, others=1)
    again = perp.FactoredOperator(A.J, A.mass, A.compliance)
    assert again.planar is not None
    assert again.pairs is None
    np.testing.assert_allclose(again.to_dense(), A.to_dense(), atol=1e-13)


def test_a_row_on_three_bodies_is_stored_in_compressed_rows():
    A = perp.FactoredOperator(np.ones((2, 9)), PlanarMasses([1.0, 2.0, 4.0], [1.0, 2.0, 4.0]))
    assert A.planar is None
    np.testing.assert_allclose(A.to_dense(), np.full((2, 2), 3 * (1 + 0.5 + 0.25)))


def test_planar_masses_solve_scale_and_write_themselves_down():
    mass, inertia = np.array([2.0, 0.5]), np.array([0.1, 4.0])
    planar = PlanarMasses(mass, inertia)
    M = np.diag([2.0, 2.0, 0.1, 0.5, 0.5, 4.0])
    f = np.random.default_rng(0).standard_normal((6, 3))
    np.testing.assert_allclose(planar.solve(f[:, 0]), np.linalg.solve(M, f[:, 0]), rtol=1e-15)
    np.testing.assert_allclose(planar.solve(f), np.linalg.solve(M, f), rtol=1e-15)
    np.testing.assert_allclose(planar.scale_rows(sparse.csr_array(f.T)).toarray(), f.T @ np.linalg.inv(M), rtol=1e-15)
    np.testing.assert_array_equal(planar.to_sparse().toarray(), M)
    np.testing.assert_array_equal(planar.packed(), [0.5, 10.0, 2.0, 0.25, 0.0, 0.0])
    assert not planar.packed().flags.writeable
    assert planar.dofs == 6
    assert as_mass(planar) is planar


def test_a_body_of_infinite_mass_does_not_move_and_its_inertia_is_ignored():
    planar = PlanarMasses([np.inf, 2.0], [np.nan, 1.0])
    np.testing.assert_array_equal(planar.solve(np.ones(6)), [0.0, 0.0, 0.0, 0.5, 0.5, 1.0])
    A = perp.FactoredOperator.from_body_pairs([[0, 1]], np.ones((1, 2, 3)), planar)
    np.testing.assert_allclose(A.to_dense(), [[2.0]])
    np.testing.assert_array_equal(A.velocity(np.ones(1))[:3], 0.0)
    with pytest.raises(InvalidProblem, match="infinite"):
        planar.to_sparse()


ONE = PlanarMasses([1.0], [1.0])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: PlanarMasses([1.0, 0.0], [1.0, 1.0]), r"mass\[1\] is 0.0"),
        (lambda: PlanarMasses([1.0, -2.0], [1.0, 1.0]), r"mass\[1\] is -2.0"),
        (lambda: PlanarMasses([np.nan], [1.0]), r"mass\[0\] is nan"),
        (lambda: PlanarMasses([1e-320], [1.0]), r"mass\[0\]"),
        (lambda: PlanarMasses([1.0, 1.0], [1.0, 0.0]), r"inertia\[1\] is 0.0"),
        (lambda: PlanarMasses([1.0, 1.0], [-1.0, 1.0]), r"inertia\[0\] is -1.0"),
        (lambda: PlanarMasses([1.0, 1.0], [1.0, np.nan]), r"inertia\[1\] is nan"),
        (lambda: PlanarMasses([1.0], [np.inf]), r"inertia\[0\] is inf"),
        (lambda: PlanarMasses([1.0], [1e-320]), r"inertia\[0\]"),
        (lambda: PlanarMasses([1.0, 1.0], [1.0]), r"inertia has shape \(1,\); \(2,\) is needed"),
        (lambda: PlanarMasses([1.0], [np.eye(3)]), "inertia has shape"),
        (lambda: PlanarMasses([[1.0]], [1.0]), "mass has shape"),
        (lambda: perp.FactoredOperator(np.ones((2, 6)), ONE), "6 columns.*3 velocities"),
        (lambda: perp.FactoredOperator.from_body_pairs([[0, 5]], np.ones((1, 2, 3)), ONE), r"bodies\[0,1\] is 5"),
        (lambda: perp.FactoredOperator.from_body_pairs([[-2, 0]], np.ones((1, 2, 3)), ONE), r"bodies\[0,0\] is -2"),
        (lambda: perp.FactoredOperator.from_body_pairs([[0, 0]], np.ones((1, 2, 3)), ONE), "names body 0 twice"),
        (lambda: perp.FactoredOperator.from_body_pairs([[0.0, 1.0]], np.ones((1, 2, 3)), ONE), "integers"),
        (lambda: perp.FactoredOperator.from_body_pairs([[0, -1]], np.ones((1, 2, 6)), ONE), "jacobian has shape"),
        (
            lambda: perp.FactoredOperator.from_body_pairs([[0, -1]], np.full((1, 2, 3), np.inf), ONE),
            r"jacobian\[0,0,0\] is inf",
        ),
        (lambda: perp.FactoredOperator.from_body_pairs([[0, -1]], np.ones((1, 2, 3)), ONE, -1.0), r"compliance\[0\]"),
    ],
)
def test_planar_bodies_that_make_no_sense_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_numbers_that_are_no_real_numbers_are_refused():
    for inertia in ([1j], ["heavy"], [True], None):
        with pytest.raises(TypeError, match="inertia"):
            PlanarMasses([1.0], inertia)
    with pytest.raises(TypeError, match="body pairs need"):
        perp.FactoredOperator.from_body_pairs([[0, -1]], np.ones((1, 2, 3)), np.ones(3))


def test_no_rows_and_no_bodies_are_an_operator_too():
    none = perp.FactoredOperator.from_body_pairs(np.empty((0, 2), dtype=int), np.empty((0, 2, 3)), ONE)
    assert none.to_dense().shape == (0, 0)
    np.testing.assert_array_equal(none.velocity(np.empty(0)), np.zeros(3))
    nobody = PlanarMasses([], [])
    world = perp.FactoredOperator.from_body_pairs([[-1, -1]], np.ones((1, 2, 3)), nobody, 0.5)
    np.testing.assert_array_equal(world.to_dense(), [[0.5]])


def test_the_arrays_of_the_caller_are_copied_and_left_alone():
    bodies, jacobian = np.array([[0, -1], [-1, 0]]), np.ones((2, 2, 3))
    A = perp.FactoredOperator.from_body_pairs(bodies, jacobian, ONE)
    np.testing.assert_array_equal(jacobian, 1.0)
    np.testing.assert_array_equal(bodies, [[0, -1], [-1, 0]])
    before = A.to_dense()
    jacobian[:], bodies[:] = 7.0, 0
    np.testing.assert_array_equal(A.to_dense(), before)
    assert not A.planar.jacobian.flags.writeable
    assert not A.planar.bodies.flags.writeable


def test_planar_pairs_and_their_problem_travel_to_another_process_unchanged():
    problem = planar_operators.random_contacts(3)
    again = pickle.loads(pickle.dumps(problem))
    for part in ("bodies", "jacobian", "inverse_mass"):
        np.testing.assert_array_equal(getattr(again.A.planar, part), getattr(problem.A.planar, part))
    np.testing.assert_array_equal(again.A.compliance, problem.A.compliance)
    np.testing.assert_array_equal(perp.solve(again, "pgs").x, perp.solve(problem, "pgs").x)


def test_contacts_without_friction_stay_planar():
    normals = perp.frictionless(planar_operators.pyramid())
    assert normals.A.planar is not None
    assert perp.solve(normals, "pgs").success
