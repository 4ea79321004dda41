"""The Stewart-Trinkle problem of contacts: its blocks, the polygon that its answers obey, the way back and forth."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

import perp
from perp.gallery import box_stack, contact_like, planted_contacts
from perp.linalg.free_systems.coupled_blocks import find_blocks
from perp.problems.models.stewart_trinkle import stewart_trinkle, unit_vectors

DIRECTIONS = st.sampled_from([4, 6, 8, 14])


def parts(problem, x):
    """Normal, K tangents and beta of each contact, and the rest."""
    width = problem.origin.directions + 2
    rows = problem.origin.contacts.contacts * width
    one = x[:rows].reshape(-1, width)
    return one[:, 0], one[:, 1:-1], one[:, -1], x[rows:]


def require_polygonal_law(problem, x, tol=1e-7):
    """NOTES eq. 26 said of the impulses alone: the friction of a contact is the most dissipative of its polygon."""
    contacts = problem.origin.contacts
    impulses = problem.impulses(x)
    y = contacts.slack(impulses)
    shape = contacts.contacts, contacts.dimension
    x_c, y_c = impulses[: contacts.contact_rows].reshape(shape), y[: contacts.contact_rows].reshape(shape)
    assert np.abs(np.minimum(x_c[:, 0], y_c[:, 0])).max() <= tol
    limit = contacts.tangent_limits(impulses)
    tangents = problem.origin.tangents
    _, weights, _, _ = parts(problem, x)
    assert (weights.sum(axis=1) <= limit + tol).all()  # within the polygon
    most = np.max(-y_c[:, 1:] @ tangents.T, axis=1)  # what one of the polygon could take, for each unit of the limit
    np.testing.assert_allclose(-(x_c[:, 1:] * y_c[:, 1:]).sum(axis=1), limit * most, atol=10 * tol)
    y_rest, x_rest = y[contacts.contact_rows :], impulses[contacts.contact_rows :]
    np.testing.assert_allclose(x_rest, np.clip(x_rest - y_rest, contacts.lower, contacts.upper), atol=tol)


def planar_problem(friction=0.5):
    """Two points of a bar on the ground, in two dimensions (three velocities)."""
    J = np.array([[0, 1, -1.0], [1, 0, 0.2], [0, 1, 0.7], [1, 0, 0.2]])
    A = perp.FactoredOperator(J, np.array([2.0, 2.0, 0.5]))
    return perp.ContactProblem(A, J @ np.array([0.8, -0.3, 0.1]), friction, dimension=2)


@given(strategies.contact_problems(), DIRECTIONS, st.integers(0, 1000))
def test_the_slack_is_that_of_eq_26(contacts, directions, seed):
    problem = stewart_trinkle(contacts, directions)
    x = np.random.default_rng(seed).standard_normal(problem.n)
    y = contacts.slack(problem.impulses(x))
    y_c = y[: contacts.contact_rows].reshape(-1, 3)
    normal, weights, beta, _ = parts(problem, x)
    found_normal, found_tangents, found_cone, found_rest = parts(problem, problem.slack(x))
    np.testing.assert_allclose(found_normal, y_c[:, 0], atol=1e-10)
    np.testing.assert_allclose(found_tangents, y_c[:, 1:] @ unit_vectors(directions).T + beta[:, None], atol=1e-10)
    np.testing.assert_allclose(found_cone, contacts.friction * normal - weights.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(found_rest, y[contacts.contact_rows :], atol=1e-10)


@given(strategies.contact_problems(), DIRECTIONS, st.integers(0, 1000))
def test_impulses_within_the_polygon_come_back(contacts, directions, seed):
    problem = stewart_trinkle(contacts, directions)
    inside = contacts.project(np.random.default_rng(seed).standard_normal(contacts.n))
    rows = np.arange(contacts.contact_rows)
    inside[rows[rows % 3 > 0]] *= 0.5  # cos(pi / 4) of the cone, and half the box, are within the polygon
    x = problem.unknowns(inside)
    np.testing.assert_allclose(problem.impulses(x), inside, atol=1e-14 * (1.0 + np.abs(inside).max()))
    assert (np.count_nonzero(parts(problem, x)[1], axis=1) <= 2).all()


@given(strategies.contact_problems(), DIRECTIONS, st.integers(0, 1000))
def test_unknowns_of_any_impulses_are_feasible(contacts, directions, seed):
    problem = stewart_trinkle(contacts, directions)
    x = problem.unknowns(3.0 * np.random.default_rng(seed).standard_normal(contacts.n))
    np.testing.assert_array_equal(x, problem.project(x))
    _, along, cone, _ = parts(problem, problem.slack(x))
    size = 1.0 + np.abs(x).max()
    assert along.min() >= -1e-12 * size  # beta is large enough
    assert cone.min() >= -1e-14 * size  # the friction is within the polygon


def test_impulses_beyond_the_polygon_keep_their_direction():
    contacts = perp.ContactProblem(np.eye(3), np.zeros(3), 0.5, "cone")
    problem = stewart_trinkle(contacts, 4)
    shortened = problem.impulses(problem.unknowns(np.array([2.0, 5.0, 5.0])))
    np.testing.assert_allclose(shortened, [2.0, 0.5, 0.5])


@pytest.mark.parametrize("directions", [4, 6, 8])
@pytest.mark.parametrize("method", ["lemke", "fischer", "interior_point"])
def test_answers_obey_the_polygonal_law(method, directions):
    contacts = box_stack(48, 2, load="gravity", layout="tower", friction=0.3).problem
    problem = stewart_trinkle(contacts, directions)
    result = perp.solve(problem, method, tol=1e-9)
    assert result.success
    require_polygonal_law(problem, result.x)


@pytest.mark.parametrize("directions", [4, 6, 10])
def test_a_sliding_contact_takes_the_direction_that_opposes_its_slip_most(directions):
    """Alone, unless friction has turned the slip half-way between two of them, and then these two."""
    seen, shared = set(), 0
    for angle in np.linspace(0.1, 6.2, 29):
        b = np.array([-0.2, 0.5 * np.cos(angle), 0.5 * np.sin(angle)])
        problem = stewart_trinkle(perp.ContactProblem(np.eye(3), b, 0.4), directions)
        x = perp.solve(problem, "lemke").x
        (normal,), (weights,), (beta,), _ = parts(problem, x)
        opposing = -unit_vectors(directions) @ problem.origin.contacts.slack(problem.impulses(x))[1:]
        carries = weights > 1e-12
        assert weights.sum() == pytest.approx(0.4 * normal)
        np.testing.assert_allclose(opposing[carries], opposing.max(), rtol=1e-12)
        assert beta == pytest.approx(opposing.max())
        assert carries.sum() <= 2
        shared += carries.sum() == 2
        seen.add(int(np.argmax(weights)))
    assert len(seen) == directions
    assert 0 < shared < 15


def test_many_directions_converge_to_the_cone():
    """The impulse by 1 / K, as it lies along one of the K; speed and dissipated energy by 1 / K^2."""
    b = np.array([-0.3, 1.7, 0.9])
    contacts = perp.ContactProblem(np.eye(3), b, 0.5, "cone")
    exact = np.concatenate([[0.3], -0.15 * b[1:] / np.linalg.norm(b[1:])])
    assert perp.verify(contacts, exact).de_saxce < 1e-15
    speed = np.linalg.norm(contacts.slack(exact)[1:])
    for directions in (4, 8, 16, 32, 64, 128):
        problem = stewart_trinkle(contacts, directions)
        x = problem.impulses(perp.solve(problem, "lemke").x)
        y = contacts.slack(x)
        assert np.linalg.norm(x - exact) <= 0.15 * np.pi / directions
        lost = 1.0 - np.cos(np.pi / directions)
        assert abs(np.linalg.norm(y[1:]) - speed) <= 0.15 * lost * 1.1
        assert 0.0 <= 0.15 * np.linalg.norm(y[1:]) + x[1:] @ y[1:] <= 0.15 * np.linalg.norm(y[1:]) * lost * 1.001


def test_in_two_dimensions_it_has_the_answers_of_the_box_model():
    contacts = planar_problem()
    problem = stewart_trinkle(contacts)
    assert problem.n == 2 * 4
    result = perp.solve(problem, "lemke")
    assert result.success
    require_polygonal_law(problem, result.x)
    assert perp.verify(contacts, problem.impulses(result)).residual < 1e-12
    assert perp.verify(problem, problem.unknowns(problem.impulses(result))).residual < 1e-12


@pytest.mark.parametrize("method", ["lemke", "fischer"])
@pytest.mark.parametrize("form", strategies.FORMS)
def test_other_rows_keep_their_bounds(form, method):
    rng = np.random.default_rng(3)
    operator = strategies.in_form(strategies.factored_operator(rng, 4, 3), form)
    bounds = {"lower": [-np.inf, 0.0, -0.1], "upper": [np.inf, np.inf, 0.1]}
    contacts = perp.ContactProblem(operator, rng.standard_normal(15), 0.5, **bounds)
    problem = stewart_trinkle(contacts, 6)
    assert isinstance(problem, perp.BoxLCP)
    result = perp.solve(problem, method, tol=1e-9)
    assert result.success
    require_polygonal_law(problem, result.x)


def test_limits_alone_leave_an_lcp():
    operator = strategies.factored_operator(np.random.default_rng(3), 2, 2)
    contacts = perp.ContactProblem(operator, np.ones(8), 0.5, extra_rows=2, lower=0.0)
    assert isinstance(stewart_trinkle(contacts), perp.LCP)


def test_each_contact_has_its_own_friction_and_none_is_no_friction():
    A, b = np.eye(9), np.tile([-1.0, 3.0, 0.0], 3)
    problem = stewart_trinkle(perp.ContactProblem(A, b, [0.0, 0.2, 0.9]), 4)
    x = problem.impulses(perp.solve(problem, "lemke"))
    np.testing.assert_allclose(x, [1, 0, 0, 1, -0.2, 0, 1, -0.9, 0], atol=1e-12)


def test_fixed_discs_put_their_radius_into_b():
    contacts = perp.ContactProblem(np.eye(3), np.array([1.0, 3.0, 0.0]), [0.7], "disc")
    problem = stewart_trinkle(contacts, 8)
    result = perp.solve(problem, "lemke")
    np.testing.assert_allclose(problem.impulses(result), [0.0, -0.7, 0.0], atol=1e-12)  # it rubs without pressing
    require_polygonal_law(problem, result.x)


def test_the_gallery_has_the_same_problem():
    example = contact_like(60, 3, directions=8, bodies=5)
    again = stewart_trinkle(example.problem.origin.contacts, 8)
    np.testing.assert_array_equal(again.A.to_dense(), example.problem.A.to_dense())
    np.testing.assert_array_equal(again.b, example.problem.b)
    require_polygonal_law(again, example.x, 1e-12)


@pytest.mark.parametrize("directions", [4, 8])
def test_contacts_are_recognised_as_blocks_though_aligned_axes_hide_them(directions):
    contacts = box_stack(336, 0, layout="wall").problem
    A = stewart_trinkle(contacts, directions).A
    plain = perp.SparseOperator(A.to_sparse())
    coupling = find_blocks(A)
    assert coupling is not None
    assert coupling.U.shape == (contacts.contacts, directions + 2, 3)
    assert find_blocks(plain) is None  # what the pattern alone says
    scaled = A.scale_rows(np.full(A.n, 2.0))
    assert find_blocks(scaled) is not None


def test_other_rows_do_not_hide_the_blocks():
    operator = strategies.factored_operator(np.random.default_rng(3), 12, 4)
    contacts = perp.ContactProblem(operator, np.ones(40), 0.5, extra_rows=4)
    coupling = find_blocks(stewart_trinkle(contacts, 8).A)
    assert coupling is not None
    assert coupling.U.shape == (14, 10, 3)


def test_an_operator_that_is_only_a_product_stays_one():
    contacts = box_stack(48, 1, load="gravity").problem
    bare = perp.ContactProblem(aslinearoperator(contacts.A.to_dense()), contacts.b, contacts.friction)
    problem, assembled = stewart_trinkle(bare, 6), stewart_trinkle(contacts, 6)
    x = np.random.default_rng(1).standard_normal(problem.n)
    np.testing.assert_allclose(problem.slack(x), assembled.slack(x), atol=1e-11)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(problem)).slack(x), problem.slack(x))


def test_it_can_be_pickled_with_its_contacts():
    for problem in (stewart_trinkle(box_stack(48, 1).problem, 8), contact_like(30).problem):
        again = pickle.loads(pickle.dumps(problem))
        x = np.linspace(0.0, 1.0, problem.n)
        np.testing.assert_array_equal(again.slack(x), problem.slack(x))
        np.testing.assert_array_equal(again.impulses(x), problem.impulses(x))
        assert find_blocks(again.A) is not None
        assert repr(again) == repr(problem)
        assert "Stewart-Trinkle" in repr(problem)


def test_rows_that_are_scaled_remember_their_contacts():
    contacts = planted_contacts(np.diag([1e9, 1.0, 1.0]), 0.5).problem
    problem = stewart_trinkle(contacts)
    scaled = problem.equilibrated()
    assert scaled is not problem
    assert scaled.origin is problem.origin


def test_no_contacts_make_an_empty_problem():
    problem = stewart_trinkle(perp.ContactProblem(np.zeros((0, 0)), np.zeros(0), 0.5))
    assert problem.n == 0
    assert perp.solve(problem, "lemke").success
    assert problem.impulses(np.zeros(0)).size == problem.unknowns(np.zeros(0)).size == 0


@pytest.mark.parametrize(
    ("directions", "message"),
    [(3, ">= 4"), (2, ">= 4"), (5, "even"), (0, ">= 4"), (10**9, "at most 1024")],
    ids=lambda value: str(value),
)
def test_odd_few_or_too_many_directions_are_refused(directions, message):
    with pytest.raises(ValueError, match=message):
        stewart_trinkle(box_stack(48).problem, directions)


def test_other_inputs_are_refused():
    with pytest.raises(TypeError, match="whole number"):
        stewart_trinkle(box_stack(48).problem, 4.0)
    with pytest.raises(ValueError, match="two dimensions"):
        stewart_trinkle(planar_problem(), 4)
    with pytest.raises(TypeError, match="ContactProblem is needed"):
        stewart_trinkle(contact_like(30).problem)
    with pytest.raises(ValueError, match="length"):
        contact_like(30).problem.impulses(np.zeros(3))
