"""Contacts that give way: the compliant law as a problem of its own, and its distance from the rigid one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.errors import FileFormatError, InvalidProblem
from perp.problems.written_out import write_out

MASS, PUSH, FRICTION = 2.0, 0.3, 0.5


def block(model="cone", slide=0.0):
    """A point of 2 kg that comes down at 0.3 m/s."""
    return perp.ContactProblem(np.eye(3) / MASS, [-PUSH, slide, 0.0], FRICTION, model)


def wall(model="cone", **options):
    return perp.gallery.make("box_stack", n=96, model=model, load="gravity", **options).problem


def forms(problem):
    """The same problem with A in every form."""
    dense = np.asarray(problem.A)
    free = perp.MatrixFreeOperator(aslinearoperator(dense), np.diag(dense))
    whole = (problem.b, problem.friction, problem.model)
    operators = {"factored": problem.A, "dense": dense, "sparse": sparse.csr_array(dense), "matrix-free": free}
    return {form: perp.ContactProblem(A, *whole) for form, A in operators.items()}


@pytest.mark.parametrize("model", ["box", "cone", "convex"])
def test_a_block_on_the_ground_has_the_impulse_of_inertia_and_compliance_together(model):
    compliance = 0.25
    soft = block(model).with_compliance(compliance)
    found = perp.solve(soft, tol=1e-13)
    assert found.x == pytest.approx([PUSH / (1.0 / MASS + compliance), 0.0, 0.0], abs=1e-12)


def test_a_sticking_block_creeps_by_the_compliance_times_its_tangential_impulse():
    compliance, slide = 0.25, 0.05
    soft = block(slide=slide).with_compliance(compliance)
    x = perp.solve(soft, tol=1e-13).x
    assert x[1] == pytest.approx(-slide / (1.0 / MASS + compliance), abs=1e-12)
    creep = block(slide=slide).slack(x)[1]  # the velocity of the point itself
    assert creep == pytest.approx(-compliance * x[1], abs=1e-12)


def test_both_residuals_are_reported_and_the_speed_at_which_contacts_give_way():
    compliance = 0.25
    soft = block().with_compliance(compliance)
    x = np.array([PUSH / (1.0 / MASS + compliance), 0.0, 0.0])
    found = perp.verify(soft, x)
    assert found.residual < 1e-15
    assert found.rigid_residual == pytest.approx(compliance * x[0])
    assert found.compliance_speed == pytest.approx(compliance * x[0])
    assert f"rigid residual: {found.rigid_residual:.3e}" in str(found)
    assert f"compliance speed: {found.compliance_speed:.3e}" in str(found)


def test_the_rigid_residual_is_that_of_the_problem_before_compliance():
    rigid = wall()
    soft = rigid.with_compliance(np.linspace(1e-4, 1e-2, rigid.contacts))
    x = rigid.project(np.random.default_rng(0).standard_normal(rigid.n))
    found = perp.verify(soft, x)
    assert found.rigid_residual == pytest.approx(perp.verify(rigid, x).residual, rel=1e-13)
    assert found.rigid_residual != pytest.approx(found.residual, rel=1e-6)
    sizes = np.linalg.norm(x.reshape(-1, 3), axis=1)
    assert found.compliance_speed == pytest.approx(np.max(soft.contact_compliance * sizes))


def test_a_rigid_problem_has_no_measure_of_compliance():
    found = perp.verify(block(), np.zeros(3))
    assert found.rigid_residual is None
    assert found.compliance_speed is None
    assert "rigid" not in str(found)


@pytest.mark.parametrize("form", ["factored", "dense", "sparse", "matrix-free"])
def test_the_compliance_stands_on_the_rows_of_contacts_in_every_form_of_the_matrix(form):
    rigid = forms(wall())[form]
    compliance = np.linspace(0.1, 0.4, rigid.contacts)
    soft = rigid.with_compliance(compliance)
    x = np.random.default_rng(1).standard_normal(rigid.n)
    assert soft.A.form == rigid.A.form
    assert soft.slack(x) - rigid.slack(x) == pytest.approx(np.repeat(compliance, 3) * x, abs=1e-12)
    assert soft.diagonal == pytest.approx(rigid.diagonal + np.repeat(compliance, 3))
    assert np.array_equal(soft.contact_compliance, compliance)


@pytest.mark.parametrize("form", ["factored", "dense", "sparse", "matrix-free"])
def test_another_compliance_takes_the_place_of_the_first_and_zero_gives_the_rigid_law_back(form):
    rigid = forms(wall())[form]
    soft = rigid.with_compliance(0.3)
    x = np.random.default_rng(2).standard_normal(rigid.n)
    assert soft.with_compliance(0.1).slack(x) == pytest.approx(rigid.with_compliance(0.1).slack(x), abs=1e-13)
    again = soft.with_compliance(0.0)
    assert not again.is_compliant
    assert again.slack(x) == pytest.approx(rigid.slack(x), abs=1e-13)


def test_rows_after_the_contacts_stay_as_they_are():
    A = np.eye(5)
    problem = perp.ContactProblem(A, -np.ones(5), [0.5], extra_rows=2).with_compliance(0.5)
    assert np.array_equal(problem.diagonal, [1.5, 1.5, 1.5, 1.0, 1.0])
    assert problem.lower.size == 2


def test_compliance_of_rows_for_other_reasons_stays_when_that_of_contacts_goes():
    rigid = wall(compliance=1e-3)
    soft = rigid.with_compliance(0.2)
    assert soft.A.compliance == pytest.approx(np.full(rigid.n, 0.201))
    assert soft.with_compliance(0.0).A.compliance == pytest.approx(np.full(rigid.n, 1e-3))


def test_groups_of_rows_and_stencils_can_be_given_a_diagonal():
    grouped = perp.SparseOperator(sparse.csr_array(np.ones((4, 4))), np.array([0, 0, 1, 1]))
    softer = grouped.with_added_diagonal(np.arange(4.0))
    assert np.array_equal(np.asarray(softer), np.ones((4, 4)) + np.diag(np.arange(4.0)))
    assert np.array_equal(softer.row_groups, grouped.row_groups)
    stencil = perp.gallery.make("poisson_2d", n=16).problem.A
    added = np.linspace(0.0, 1.0, stencil.n)
    assert np.asarray(stencil.with_added_diagonal(added)) == pytest.approx(np.asarray(stencil) + np.diag(added))


def test_a_problem_remembers_its_compliance_under_another_law_in_a_pickle_and_in_a_file(tmp_path):
    rigid = wall()
    soft = rigid.with_compliance(np.linspace(1e-4, 1e-2, rigid.contacts))
    path = tmp_path / "soft.npz"
    perp.save(soft, path)
    for other in (soft.with_model("box"), pickle.loads(pickle.dumps(soft)), perp.load(path)):
        assert np.array_equal(other.contact_compliance, soft.contact_compliance)
        assert np.array_equal(other.A.compliance, soft.A.compliance)


def test_a_file_of_a_rigid_problem_has_no_word_on_compliance(tmp_path):
    perp.save(block(), tmp_path / "rigid.npz")
    with np.load(tmp_path / "rigid.npz") as members:
        assert "contact_compliance" not in members
    assert not perp.load(tmp_path / "rigid.npz").is_compliant


def test_matrix_market_keeps_the_numbers_and_forgets_whose_they_are(tmp_path):
    soft = block().with_compliance(0.25)
    perp.save(soft, tmp_path / "soft.mtx")
    again = perp.load(tmp_path / "soft.mtx")
    assert np.array_equal(np.asarray(again.A), np.asarray(soft.A))
    assert not again.is_compliant


def test_islands_have_the_compliance_of_their_contacts():
    two = perp.ContactProblem(np.eye(6), -np.ones(6), [0.5, 0.7], "cone").with_compliance([0.1, 0.2])
    islands = perp.split_islands(two)
    assert [island.problem.contact_compliance.tolist() for island in islands] == [[0.1], [0.2]]
    assert [island.problem.diagonal.tolist() for island in islands] == [[1.1] * 3, [1.2] * 3]


def test_a_matrix_that_was_written_out_keeps_the_compliance():
    soft = forms(block())["matrix-free"].with_compliance(0.25)
    assert write_out(soft, 10).contact_compliance.tolist() == [0.25]


@pytest.mark.parametrize("method", ["auto", "cone_newton", "block_gauss_seidel", "admm"])
def test_methods_solve_the_compliant_law_as_the_problem_that_it_is(method):
    soft = wall().with_compliance(1e-2)
    result = perp.solve(soft, method, tol=1e-9, max_iterations=20_000)
    assert result.success
    found = result.verify()
    assert found.residual <= 1e-8
    assert found.rigid_residual > 1e-4


def test_what_is_no_compliance_is_refused(tmp_path):
    with pytest.raises(InvalidProblem, match="must not be negative"):
        block().with_compliance(-1.0)
    with pytest.raises(InvalidProblem, match="contact_compliance"):
        block().with_compliance([1.0, 2.0])
    with pytest.raises(InvalidProblem, match="nan"):
        block().with_compliance(np.nan)
    rigid = wall()
    with pytest.raises(InvalidProblem, match="with_compliance adds it"):
        perp.ContactProblem(rigid.A, rigid.b, rigid.friction, contact_compliance=1.0)
    path = tmp_path / "lying.npz"
    perp.save(rigid.with_compliance(1e-3), path)
    with np.load(path) as members:
        arrays = dict(members)
    np.savez(path, **(arrays | {"contact_compliance": np.full(rigid.contacts, 1.0)}))
    with pytest.raises(FileFormatError, match="with_compliance adds it"):
        perp.load(path)


def test_a_compliant_problem_says_so():
    assert "compliance up to 0.25" in repr(block().with_compliance(0.25))
    assert "compliance" not in repr(block())
