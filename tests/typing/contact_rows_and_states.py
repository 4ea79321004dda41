"""From rows to a contact problem, other models of the same contacts, and what contacts do."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]

J: Vector = np.zeros((3, 12))
v: Vector = np.zeros(12)
masses: perp.BodyMasses = perp.BodyMasses([1.0, 1.0], np.stack([np.eye(3), np.eye(3)]))


def one_step() -> perp.ContactProblem:
    rows = [
        perp.ContactRows(J, friction=0.5, gap=[0.01], restitution=0.2, tangent_compliance=1e-6),
        perp.JointRows(J, violation=v[:3], stiffness=1e4, damping=[10.0, 10.0, 10.0]),
        perp.LimitRows((np.array([[0, 1]]), np.zeros((1, 2, 6))), gap=0.1, error_reduction=0.2),
        perp.MotorRows(J, speed=1, max_force=np.inf),
    ]
    problem = perp.assemble_step(rows, masses, v, 0.01, force=v, model="cone", dimension=3)
    assert_type(problem, perp.ContactProblem)
    assert_type(perp.assemble_step([perp.LimitRows(J)], v + 1.0, [0.0] * 12, 0.01), perp.ContactProblem)
    return problem


def other_models(problem: perp.ContactProblem) -> list[perp.Result]:
    pyramids = perp.stewart_trinkle(problem, 8)
    normals = perp.frictionless(problem)
    assert_type(pyramids.impulses(perp.solve(pyramids)), Vector)
    assert_type(pyramids.unknowns(problem.b), Vector)
    assert_type(normals.n, int)
    first = perp.solve(normals)
    fixed = perp.fixed_box(problem, first)
    assert_type(fixed.lower, Vector)
    boxes: list[perp.BoxLCP] = [fixed, perp.fixed_box(problem, [1.0, 2.0]), perp.fixed_box(problem, limits=1.0)]
    return [
        *(perp.solve(box, x0=first) for box in boxes),
        perp.solve_fixed_box(problem, "pgs", normals_by=perp.PGS(), tol=1e-6, max_iterations=100, max_seconds=1.0),
    ]


def states(problem: perp.ContactProblem) -> dict[str, int]:
    doing = perp.contact_states(problem, perp.solve(problem), tol=1e-3)
    assert_type(doing, perp.ContactStates)
    assert_type(doing.state, NDArray[np.int8])
    assert_type(doing.slip, Vector)
    assert_type(doing.opening, Vector)
    assert_type(doing.sliding, NDArray[np.bool_])
    assert_type(len(doing), int)
    resting: list[perp.ContactState] = [perp.ContactState.STICKING, perp.ContactState.GRAZING]
    assert_type([state.value for state in resting], list[int])
    assert_type(perp.ContactState(int(doing.state[0])), perp.ContactState)
    return perp.contact_states(problem, problem.b).counts


def compliance(problem: perp.ContactProblem) -> perp.Residuals:
    shares = perp.contact_compliance(problem, 1e-4, "by_load")
    assert_type(shares, Vector)
    soft = problem.with_compliance(shares)
    assert_type(soft.with_compliance(0.0), perp.ContactProblem)
    assert_type(soft.contact_compliance, Vector)
    found = perp.verify(soft, perp.solve(soft))
    assert_type(found.rigid_residual, float | None)
    assert_type(found.compliance_speed, float | None)
    return found
