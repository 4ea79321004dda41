"""Several solutions of the rigid law: which motion is selected, and that no start decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import perp
from perp.problems.friction import ContactProblem
from perp.problems.operators import FactoredOperator
from perp.solvers.selection import COMPLIANCE, MOST_ROWS, is_selected, select_motion

DT, STEPS = 1e-3, 200
GRIP = 10.0
"""Force of a finger [N]."""


def gripper(stiffness: float, damping: float) -> str:
    """Two pads of four contacts press a cube of 0.2 kg, off their centre; an actuator pulls the hand up by 5 cm.

    Friction of 0.6 carries 12 N, the cube weighs 2 N.
    """
    pad = 'type="box" size=".01 .015 .015" mass=".1" friction=".6 0 0" conaffinity="2"'
    fingers = "".join(
        f'<body euler="0 0 {turn}"><body pos=".03 0 0"><joint name="{name}" type="slide" axis="-1 0 0"/>'
        f"<geom {pad}/></body></body>"
        for name, turn in (("left", 0), ("right", 180))
    )
    return f"""
    <mujoco><compiler angle="degree"/>
      <worldbody>
        <body pos="0 0 .5"><joint name="lift" type="slide" axis="0 0 1" damping="{damping}"/>
          <geom type="sphere" size=".005" pos="0 0 .2" mass=".5" contype="0" conaffinity="0"/>{fingers}</body>
        <body pos="0 .003 .504"><freejoint/>
          <geom type="box" size=".02 .02 .02" mass=".2" friction=".6 0 0" contype="2" conaffinity="1"/></body>
      </worldbody>
      <actuator><position joint="lift" kp="{stiffness}"/><motor joint="left"/><motor joint="right"/></actuator>
    </mujoco>"""


def held_steps(stiffness: float, damping: float) -> Iterator[tuple[ContactProblem, perp.Result, np.ndarray]]:
    """The problem of each step, its warm-started answer, and the cube's quaternion afterwards."""
    from perp.worlds.articulated import ArticulatedWorld

    world = ArticulatedWorld.from_xml(gripper(stiffness, damping), model="cone")
    world.control = [0.05, GRIP, GRIP]
    for _ in range(STEPS):
        report = world.step(DT, lambda problem, x0: perp.solve(problem, x0=x0))
        yield report.problem, report.solution, world.qpos[-4:]


def cube_between(friction: float, *faces: tuple[int, int]) -> FactoredOperator:
    """A unit cube of 1 kg with a wall at each of the faces (axis, side), four contacts each."""
    rows = []
    for axis, side in faces:
        normal = np.zeros(3)
        normal[axis] = -side
        first, second = np.roll(np.eye(3), -axis - 1, axis=0)[:2]
        for p in (-0.5, 0.5):
            for q in (-0.5, 0.5):
                arm = 0.5 * side * np.abs(normal) + p * first + q * second
                rows += [np.concatenate([d, np.cross(arm, d)]) for d in (normal, first, second)]
    return FactoredOperator(np.array(rows), perp.BodyMasses([1.0], [np.eye(3) / 6.0]))


def turning_brick(friction: float = 0.4) -> ContactProblem:
    """It slides on the ground and turns: who of its four corners presses how much changes its motion."""
    A = cube_between(friction, (2, -1))
    return ContactProblem(A, A.J @ np.array([1.0, 0.5, -1.0, 0.0, 0.0, 0.5]), friction, model="cone")


def speed_between(problem: ContactProblem, x: np.ndarray, other: np.ndarray) -> float:
    assert isinstance(problem.A, FactoredOperator)
    return float(np.abs(problem.A.velocity(x - other)).max())


def starts_near(problem: ContactProblem, x: np.ndarray, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [problem.project(x * rng.uniform(0.5, 1.5, x.size)) for _ in range(count)]


def test_a_held_cube_stays_held_and_cold_and_warm_starts_agree_in_motion() -> None:
    pytest.importorskip("mujoco")
    for problem, warm, quaternion in held_steps(1000.0, 5.0):
        cold = perp.solve(problem)
        assert warm.success
        assert cold.success
        assert problem.contacts == 8
        assert perp.contact_states(problem, warm).slip.max() < 1e-9
        assert speed_between(problem, warm.x, cold.x) < 1e-9
        assert np.abs(quaternion[1:]).max() < 1e-9


def test_cold_and_warm_starts_agree_in_motion_where_the_cube_slips() -> None:
    pytest.importorskip("mujoco")
    selections = 0
    for problem, warm, _ in held_steps(2000.0, 80.0):
        cold = perp.solve(problem)
        assert warm.success
        assert cold.success
        assert speed_between(problem, warm.x, cold.x) < 1e-8
        selections += any(attempt.method == "selection" for attempt in warm.methods)
    assert selections >= 5  # or the scene tests nothing


def test_a_method_that_is_named_finds_other_motions_from_other_starts() -> None:
    problem = turning_brick()
    x = perp.solve(problem, "cone_newton", tol=1e-13).x
    answers = [perp.solve(problem, "cone_newton", tol=1e-13, x0=start) for start in starts_near(problem, x, 8)]
    assert all(answer.success for answer in answers)
    assert max(speed_between(problem, x, answer.x) for answer in answers) > 1e-4


@pytest.mark.parametrize("model", ["cone", "box"])
def test_auto_finds_one_motion_from_all_starts(model: str) -> None:
    A = cube_between(0.3, (0, -1), (0, 1))
    rng = np.random.default_rng(1)
    for _ in range(5):
        problem = ContactProblem(A, A.J @ rng.normal(size=6), 0.3, model=model)
        cold = perp.solve(problem)
        answers = [perp.solve(problem, x0=start) for start in starts_near(problem, cold.x, 4)]
        assert all(answer.success for answer in (cold, *answers))
        assert max(speed_between(problem, cold.x, answer.x) for answer in answers) < 1e-9


def test_the_selected_motion_is_that_of_the_compliant_law() -> None:
    problem = turning_brick()
    x = perp.solve(problem).x
    for share in (1e-3, 1e-4, COMPLIANCE, 1e-6):
        soft = problem.with_compliance(perp.contact_compliance(problem, share, "by_inertia"))
        found = perp.solve(soft, perp.ConeNewton(), tol=1e-13)
        assert found.success
        assert speed_between(problem, x, found.x) < 10.0 * share


def test_a_solution_of_an_open_continuum_is_not_selected_and_the_selection_solves_the_rigid_law() -> None:
    problem = turning_brick()
    found = perp.solve(problem, "cone_newton", tol=1e-13)
    selected = select_motion(problem, found.x)
    assert not is_selected(problem, found.x)
    assert selected is not None
    assert perp.verify(problem, selected.x).residual < 1e-12


def test_a_cube_that_only_an_unasked_squeeze_would_hold_is_not_selected() -> None:
    """Between two walls impulses that hold each other may be as large as one likes: the cube could stick, for free."""
    A = cube_between(1.0, (0, -1), (0, 1))
    problem = ContactProblem(A, A.J @ np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]), 1.0, model="cone")
    squeezed = np.tile([1.0, 0.0, 0.0], 8)
    lift = np.array([A.J[:, 2].toarray().ravel()])[0]
    squeezed += lift / 8.0  # takes the fall of 1 m/s off
    assert perp.verify(problem, squeezed).residual < 1e-14
    assert not is_selected(problem, squeezed)
    selected = perp.solve(problem, x0=squeezed)
    assert selected.success
    assert speed_between(problem, selected.x, perp.solve(problem).x) < 1e-12


def test_bodies_at_rest_and_bodies_that_slide_without_turning_have_one_motion() -> None:
    A = cube_between(0.4, (2, -1))
    for velocity in ([0.0, 0.0, -1.0], [0.1, 0.05, -1.0], [1.0, 0.5, -1.0]):
        problem = ContactProblem(A, A.J @ np.array([*velocity, 0.0, 0.0, 0.0]), 0.4, model="cone")
        answer = perp.solve(problem)
        assert is_selected(problem, answer.x)
        assert all(attempt.method != "selection" for attempt in answer.methods)


def test_a_cube_that_sticks_by_an_uneven_share_of_the_load_still_sticks_after_the_selection() -> None:
    A = cube_between(0.4, (2, -1))
    problem = ContactProblem(A, A.J @ np.array([0.3, 0.1, -1.0, 0.0, 0.0, 0.0]), 0.4, model="cone")
    answer = perp.solve(problem)
    assert [attempt.status for attempt in answer.methods if attempt.method == "selection"] == [perp.Status.CONVERGED]
    assert perp.contact_states(problem, answer).slip.max() < 1e-12


def test_convex_and_compliant_laws_and_large_problems_are_not_looked_at() -> None:
    problem = turning_brick()
    x = perp.solve(problem, "cone_newton", tol=1e-13).x
    assert is_selected(problem.with_model("convex"), x)
    assert is_selected(problem.with_compliance(1e-6), x)
    assert is_selected(perp.LCP(np.eye(2), [-1.0, -1.0]), np.ones(2))
    large = perp.gallery.make("box_stack", n=2 * MOST_ROWS, model="cone").problem
    assert is_selected(large, np.zeros(large.n))


def test_who_asks_for_few_digits_gets_what_was_found() -> None:
    answer = perp.solve(turning_brick(), tol=1e-4)
    assert all(attempt.method != "selection" for attempt in answer.methods)


def test_cone_interior_starts_cold_where_the_solution_next_to_the_start_is_one_of_several() -> None:
    problem = turning_brick()
    cold = perp.solve(problem, "cone_interior", tol=1e-10)
    assert cold.success
    for start in starts_near(problem, cold.x, 4):
        near = perp.solve(problem, "cone_newton", tol=1e-10, x0=start).x
        moved = problem.project(near * 1.001)  # no solution, or it would be returned as it is
        answer = perp.solve(problem, "cone_interior", tol=1e-10, x0=moved)
        assert answer.success
        assert speed_between(problem, answer.x, cold.x) < 1e-9
        assert speed_between(problem, near, cold.x) > 1e-4
