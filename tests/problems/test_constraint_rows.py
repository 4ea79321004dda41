"""Rows from physics against closed forms: springs by implicit Euler, bounces, joints, limits, motors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import perp
from perp.errors import InvalidProblem
from perp.gallery.geometry import contact_jacobian
from perp.problems.constraint_rows import ContactRows, JointRows, LimitRows, MotorRows, assemble_step

H = 0.01
GRAVITY = 9.81
PARTICLE = np.eye(3)[[2, 0, 1]]
"""J of a particle on level ground: normal up, two tangents."""


def step(problem, velocity, force=None):
    """The velocities after the step, and the impulses."""
    result = perp.solve(problem, "pgs", tol=1e-13)
    assert result.success, result.message
    free = velocity if force is None else velocity + H * problem.A.mass.solve(np.asarray(force, dtype=float))
    return free + problem.A.velocity(result.x), result.x


@given(
    st.floats(0.1, 100.0),
    st.floats(0.0, 1e5),
    st.floats(0.0, 1e3),
    st.floats(-1.0, 1.0),
)
def test_a_mass_on_a_damped_spring_follows_implicit_euler(mass, stiffness, damping, position):
    """m (v+ - v) = -h k (q + h v+) - h d v+ + h f, for as many steps as one likes."""
    if stiffness == 0.0 and damping == 0.0:
        damping = 1.0
    q, v = position, 0.3
    for _ in range(5):
        rows = [JointRows([[1.0]], violation=q, stiffness=stiffness, damping=damping)]
        problem = assemble_step(rows, np.array([mass]), np.array([v]), H, force=[-mass * GRAVITY])
        implicit = (mass * v - H * stiffness * q - H * mass * GRAVITY) / (mass + H * damping + H * H * stiffness)
        x = -problem.b / problem.A.diagonal()
        v = (v - H * GRAVITY) + problem.A.velocity(x)[0]
        assert v == pytest.approx(implicit, rel=1e-9, abs=1e-12)
        assert x[0] == pytest.approx(-H * stiffness * (q + H * v) - H * damping * v, rel=1e-7, abs=1e-9)  # eq. 2.20
        q += H * v


def test_compliance_and_stabilisation_are_those_of_eq_2_23():
    problem = assemble_step([JointRows([[2.0]], violation=0.5, stiffness=300.0, damping=7.0)], [4.0], [1.0], H)
    assert problem.A.compliance[0] == pytest.approx(1.0 / (H * H * 300.0 + H * 7.0))
    assert problem.b[0] == pytest.approx(2.0 + H * 300.0 / (H * 300.0 + 7.0) * 0.5 / H)
    assert problem.A.diagonal()[0] == pytest.approx(1.0 + problem.A.compliance[0])


def test_a_stiff_spring_becomes_a_rigid_row_that_corrects_all_at_once():
    soft = assemble_step([JointRows([[1.0]], violation=0.02, stiffness=1e15)], [1.0], [0.5], H)
    rigid = assemble_step([JointRows([[1.0]], violation=0.02, error_reduction=1.0)], [1.0], [0.5], H)
    np.testing.assert_allclose(soft.A.to_dense(), rigid.A.to_dense(), rtol=1e-10)
    np.testing.assert_allclose(soft.b, rigid.b)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_a_ball_bounces_with_newtons_restitution(restitution):
    rows = [ContactRows(PARTICLE, friction=0.2, restitution=restitution)]
    v, force = np.array([0.0, 0.0, -3.0]), [0.0, 0.0, -2.0 * GRAVITY]
    after, x = step(assemble_step(rows, np.full(3, 2.0), v, H, force=force), v, force)
    np.testing.assert_allclose(after, [0.0, 0.0, 3.0 * restitution], atol=1e-12)
    assert x[0] == pytest.approx(2.0 * (3.0 * (1.0 + restitution) + H * GRAVITY))


def test_a_ball_at_rest_or_leaving_does_not_bounce():
    for speed in (0.0, 0.5):
        v = np.array([0.0, 0.0, speed])
        problem = assemble_step(
            [ContactRows(PARTICLE, friction=0.0, restitution=1.0)], np.ones(3), v, H, force=[0, 0, -GRAVITY]
        )
        after, _ = step(problem, v, [0, 0, -GRAVITY])
        assert after[2] == pytest.approx(max(0.0, speed - H * GRAVITY))


def test_a_gap_is_used_up_but_not_more_and_nothing_bounces_before_it_is():
    far, near = 0.05, 0.01
    v = np.array([0.0, 0.0, -3.0])
    for gap, restitution, expected in ((far, 0.0, -3.0), (far, 1.0, -3.0), (near, 0.0, -near / H), (near, 0.5, 1.5)):
        problem = assemble_step(
            [ContactRows(PARTICLE, friction=0.0, gap=gap, restitution=restitution)], np.ones(3), v, H
        )
        assert step(problem, v)[0][2] == pytest.approx(expected)


def test_a_share_of_an_overlap_is_taken_back_or_the_bounce_if_that_is_quicker():
    v = np.array([0.0, 0.0, -1.0])
    for restitution, expected in ((0.0, 0.3 * 0.02 / H), (0.9, 0.9)):
        rows = [ContactRows(PARTICLE, friction=0.0, gap=-0.02, error_reduction=0.3, restitution=restitution)]
        assert step(assemble_step(rows, np.ones(3), v, H), v)[0][2] == pytest.approx(expected)


def test_a_soft_contact_is_a_spring_that_only_pushes():
    stiffness, damping = 2000.0, 5.0
    v = np.array([0.0, 0.0, -0.5])
    problem = assemble_step(
        [ContactRows(PARTICLE, friction=0.0, gap=-0.01, stiffness=stiffness, damping=damping)], np.ones(3), v, H
    )
    expected = (-0.5 + H * stiffness * 0.01) / (1.0 + H * damping + H * H * stiffness)
    assert step(problem, v)[0][2] == pytest.approx(expected)
    leaving = np.array([0.0, 0.0, 9.0])
    problem = assemble_step(
        [ContactRows(PARTICLE, friction=0.0, gap=-0.01, stiffness=stiffness, damping=damping)], np.ones(3), leaving, H
    )
    np.testing.assert_allclose(step(problem, leaving)[0], leaving)


def test_friction_brakes_a_sliding_block_by_mu_g():
    v = np.array([1.0, 0.0, 0.0])
    for model in ("box", "cone"):
        problem = assemble_step(
            [ContactRows(PARTICLE, friction=0.5)], np.full(3, 3.0), v, H, force=[0, 0, -3.0 * GRAVITY], model=model
        )
        after, _ = step(problem, v, [0, 0, -3.0 * GRAVITY])
        np.testing.assert_allclose(after, [1.0 - 0.5 * GRAVITY * H, 0.0, 0.0], atol=1e-11)


def test_joints_and_limits_act_together():
    """Two carts, of 1 and 2 kg, coupled; the first is 2 mm before a wall: they use up the gap, then stand."""
    rows = [
        LimitRows([[-1.0, 0.0]], gap=0.002),
        JointRows(np.array([[-1.0, 1.0]])),
    ]
    mass, v = np.array([1.0, 2.0]), np.array([1.0, 0.4])
    problem = assemble_step(rows, mass, v, H)
    assert problem.contacts == 0
    np.testing.assert_array_equal(problem.lower, [0.0, -np.inf])
    after, x = step(problem, v)
    np.testing.assert_allclose(after, [0.2, 0.2])
    np.testing.assert_allclose(x, [1.8 - 0.6, 2.0 * (0.2 - 0.4)])  # the momentum lost, and what the second cart gave


def test_a_drifted_joint_comes_back_by_its_share():
    problem = assemble_step([JointRows([[1.0]], violation=0.05, error_reduction=0.4)], [2.0], [0.0], H)
    after, _ = step(problem, np.zeros(1))
    assert after[0] * H == pytest.approx(-0.4 * 0.05)


@pytest.mark.parametrize(("max_force", "expected"), [(np.inf, 1.5), (50.0, 0.25), (0.0, 0.0)])
def test_a_motor_reaches_its_speed_as_far_as_its_force_goes(max_force, expected):
    problem = assemble_step([MotorRows([[1.0]], speed=1.5, max_force=max_force)], [2.0], [0.0], H)
    assert step(problem, np.zeros(1))[0][0] == pytest.approx(expected)


def test_contacts_come_first_and_bodies_are_kept_as_pairs():
    rng = np.random.default_rng(1)
    mass = perp.BodyMasses([1.0, 2.0], np.array([np.eye(3), 2.0 * np.eye(3)]))
    frames = np.broadcast_to(np.eye(3), (2, 3, 3))
    blocks = contact_jacobian(frames, rng.standard_normal((2, 3)), rng.standard_normal((2, 3)))
    contact, joint = (
        (np.tile(pair, (3, 1)), part) for pair, part in zip([[-1, 0], [0, 1]], np.split(blocks, 2), strict=True)
    )
    v = rng.standard_normal(12)
    problem = assemble_step([JointRows(joint), ContactRows(contact, friction=0.3)], mass, v, H, model="cone")
    assert problem.A.pairs is not None
    assert problem.contacts == 1
    assert problem.friction[0] == 0.3
    as_matrices = [JointRows(perp.FactoredOperator.from_body_pairs(*joint, mass).J)]
    as_matrices.append(ContactRows(perp.FactoredOperator.from_body_pairs(*contact, mass).J.toarray(), friction=0.3))
    same = assemble_step(as_matrices, mass, v, H, model="cone")
    np.testing.assert_array_equal(same.A.to_dense(), problem.A.to_dense())
    np.testing.assert_array_equal(same.b, problem.b)
    np.testing.assert_allclose(problem.b[:3], blocks[:3, 1] @ v[:6])


def test_contacts_in_the_plane():
    J = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    v = np.array([2.0, -1.0])
    after, _ = step(assemble_step([ContactRows(J, friction=0.5)], np.ones(2), v, H, dimension=2), v)
    np.testing.assert_allclose(after, [1.5, 0.0])


def test_no_rows_make_an_empty_problem():
    assert assemble_step([], np.ones(3), np.zeros(3), H).n == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ContactRows(np.eye(3)[:2], friction=0.0)], "no multiple"),
        ([JointRows(np.eye(2))], "columns"),
        ([JointRows(np.eye(3), violation=[1.0, 2.0])], "violation has length 2"),
        ([JointRows(np.eye(3), stiffness=0.0)], "both zero"),
        ([JointRows(np.eye(3), stiffness=-1.0)], r"stiffness\[0\] is -1"),
        ([JointRows(np.eye(3), error_reduction=1.5)], "at most 1"),
        ([LimitRows(np.eye(3), restitution=1.5)], "at most 1"),
        ([LimitRows(np.eye(3), restitution=0.5, stiffness=1.0)], "bounces by itself"),
        ([LimitRows(np.eye(3), gap=np.nan)], r"gap\[0\] is nan"),
        ([ContactRows(np.eye(3), friction=-0.5)], r"friction\[0\]"),
        ([MotorRows(np.eye(3), max_force=-1.0)], "max_force"),
    ],
)
def test_rows_that_make_no_sense_are_refused(rows, message):
    with pytest.raises(InvalidProblem, match=message):
        assemble_step(rows, np.ones(3), np.zeros(3), H)


def test_other_inputs_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match=r"rows\[0\] is ndarray"):
        assemble_step([np.eye(3)], np.ones(3), np.zeros(3), H)
    with pytest.raises(ValueError, match="time_step is 0"):
        assemble_step([], np.ones(3), np.zeros(3), 0)
    with pytest.raises(InvalidProblem, match="dimension is 0"):
        assemble_step([ContactRows(np.eye(3), friction=0.0)], np.ones(3), np.zeros(3), H, dimension=0)
    with pytest.raises(InvalidProblem, match=r"b\[0\] is inf"):
        assemble_step([JointRows(np.eye(3))], np.ones(3), np.zeros(3), 1e300, force=np.full(3, 1e300))
    with pytest.raises(InvalidProblem, match="needs radii"):
        assemble_step([], np.ones(3), np.zeros(3), H, model="disc")
    with pytest.raises(TypeError, match="BodyMasses"):
        assemble_step([JointRows((np.zeros((1, 2), int), np.zeros((1, 2, 6))))], np.ones(3), np.zeros(3), H)


def test_friction_must_be_said_and_softness_excludes_compliance():
    with pytest.raises(TypeError, match="friction"):
        ContactRows(PARTICLE)
    soft = ContactRows(PARTICLE, friction=0.5, stiffness=1e4, compliance=1e-3)
    with pytest.raises(perp.errors.InvalidProblem, match="compliance is for rigid rows"):
        assemble_step([soft], np.ones(3), np.zeros(3), H)
    with pytest.raises(TypeError, match="a list of such groups"):
        assemble_step(soft, np.ones(3), np.zeros(3), H)


def test_tangents_have_a_compliance_of_their_own():
    masses = perp.BodyMasses([1.0], [np.eye(3)])
    J = (np.array([[-1, 0]] * 6), np.ones((6, 2, 6)))
    rows = perp.ContactRows(J, friction=0.5, compliance=[1e-3, 2e-3], tangent_compliance=[1e-5, 2e-5])
    problem = perp.assemble_step([rows], masses, np.zeros(6), 0.01)
    np.testing.assert_array_equal(problem.A.compliance, [1e-3, 1e-5, 1e-5, 2e-3, 2e-5, 2e-5])
    with pytest.raises(ValueError, match=r"tangent_compliance\[0\] is -1"):
        perp.assemble_step([perp.ContactRows(J, friction=0.5, tangent_compliance=-1.0)], masses, np.zeros(6), 0.01)


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_contacts_with_coefficients_of_their_own_are_assembled(columns):
    """Groups with one coefficient may stand beside them; compliances of tangents are in the units of the cone."""
    rng, rows = np.random.default_rng(0), columns + 1
    J = rng.standard_normal((3 * rows, 12))
    friction = rng.uniform(0.1, 0.5, (2, columns))
    friction[1, 0] = 0.0
    groups = [perp.ContactRows(J[: 2 * rows], friction=friction, tangent_compliance=0.25)]
    one_for_all = [[0.3] * columns]
    groups.append(perp.ContactRows(J[2 * rows :], friction=one_for_all if columns > 2 else 0.3))
    problem = perp.assemble_step(groups, np.ones(12), rng.standard_normal(12), 0.01, model="cone", dimension=rows)
    assert problem.kind == "wide/cone"
    np.testing.assert_array_equal(problem.friction, np.vstack([friction, np.full((1, columns), 0.3)]))
    soft = problem.A.compliance.reshape(3, rows)[:, 1:] * problem.levers[:, 1:] ** 2
    np.testing.assert_allclose(soft[:2][problem.levers[:2, 1:] > 0.0], 0.25, rtol=1e-14)
    np.testing.assert_array_equal(soft[2], 0.0)
    assert perp.solve(problem, "cone_interior", tol=1e-10).success
    wrong = perp.ContactRows(J[: 2 * rows], friction=np.ones((3, columns)))
    with pytest.raises(InvalidProblem, match="3 lines for 2 contacts"):
        perp.assemble_step([wrong], np.ones(12), np.zeros(12), 0.01, dimension=rows)
