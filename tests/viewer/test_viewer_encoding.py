"""Frames as bytes, beside their twin: bodies and their islands, liquids, convergence curves."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from types import SimpleNamespace

import numpy as np
import pytest
from frame_twin import read_frame, read_frames
from small_worlds import Pucks

import perp
from perp import scenes
from perp.simulation.run import measure_step
from perp.simulation.settings import make_solve
from perp.viewer.frame_encoding import (
    MOST_POINTS,
    convergence_curve,
    encode_frame,
    find_islands,
    measure_contacts,
    name_islands,
    thin,
    with_serial,
)
from perp.viewer.layout import SERIALS, Header
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane


def step_of(name, steps, method, iterations, **options):
    """World, last report, its statistics and its frame."""
    scene = scenes.make(name, **options)
    solve = make_solve(method, None, iterations)
    for _ in range(steps):
        report = scene.world.step(scene.dt, solve)
    return SimpleNamespace(
        report=report, statistics=measure_step(scene.world, report), frame=scene.world.frame(report), world=scene.world
    )


@pytest.fixture(scope="module")
def discs():
    return step_of("pool1", 30, "pgs", 20, discs=24, width=2.0)


@pytest.fixture(scope="module")
def boxes():
    return step_of("wall_of_boxes", 3, "nncg", 10, base=3, courses=2)


@pytest.fixture(scope="module")
def liquid():
    return step_of("sphere_tank", 4, "pgs", 15, cells=16)


def single(value):
    """As float32 has it."""
    return pytest.approx(float(value), rel=1e-6, abs=1e-37)


def test_a_frame_of_discs_holds_what_the_step_was(discs):
    check_bodies(discs, ("x", "y"), ("angle",))


def test_a_frame_of_boxes_holds_what_the_step_was(boxes):
    check_bodies(boxes, ("x", "y", "z"), ("qw", "qx", "qy", "qz"))


def check_bodies(step, position, orientation):
    frame, report = step.frame, step.report
    data = encode_frame(frame, lane=1, place=7, report=report, statistics=step.statistics, tol=1e-5)
    read = read_frame(data)
    island, islands = find_islands(frame, report)
    assert len(read.bodies) == len(frame.position)
    for body, row in enumerate(read.bodies):
        assert [row[name] for name in position] == [single(value) for value in frame.position[body]]
        assert [row[name] for name in orientation] == [single(value) for value in frame.orientation[body]]
        assert row["island"] == island[body]
    told, contacts, d = measure_contacts(report.problem, report.x), report.contacts, frame.dimension
    assert len(read.contacts) == len(contacts) > 10
    for c, row in enumerate(read.contacts):
        assert row["point"] == [single(value) for value in contacts.point[c]]
        x = report.x[d * c : d * c + d]
        impulse = sum(x[k] * contacts.frame[c, k] for k in range(d))
        assert row["impulse"] == pytest.approx(impulse, rel=1e-5, abs=1e-6 * np.abs(x).max() + 1e-30)
        assert row["normal_impulse"] == pytest.approx(x[0], rel=1e-6, abs=1e-12)
        assert [row["body_a"], row["body_b"]] == contacts.bodies[c].tolist()
        assert row["gap"] == single(contacts.gap[c])
        for name in ("state", "opening", "slip", "residual", "energy_error"):
            assert row[name] == pytest.approx(getattr(told, name)[c], rel=1e-5, abs=1e-12)
    history = report.solution.history
    assert read.curve == [(single(i), single(r)) for i, r in zip(history.iteration, history.residual, strict=True)]
    assert read.cells == []
    expected = {
        "layout": 1, "kind": 1, "lane": 1, "serial": 0, "step": frame.step, "time": frame.time, "dimension": d,
        "rows": report.problem.n, "iterations": report.solution.iterations, "status": report.solution.status.code,
        "residual": report.residuals.residual, "solve_seconds": report.seconds.solve,
        "step_seconds": report.seconds.total, "energy": step.world.energy(),
        "energy_mean": report.residuals.energy_mean, "energy_max": report.residuals.energy_max,
        "penetration": contacts.penetration, "islands": islands, "warm": report.x0 is not None, "tol": 1e-5, "place": 7,
        "converged": report.solution.success,
    }  # fmt: skip
    for name, value in expected.items():
        assert read.header[Header[name.upper()]] == single(value), name
    assert isnan(read.header[Header.VOLUME])
    assert read.header[len(Header) :] == [0.0] * (32 - len(Header))


def test_a_frame_of_a_liquid_holds_particles_and_cells(liquid):
    frame, report = liquid.frame, liquid.report
    read = read_frame(encode_frame(frame, report=report, statistics=liquid.statistics))
    assert len(read.bodies) == len(frame.position) > 50
    for row, position, velocity in zip(read.bodies, frame.position, frame.velocity, strict=True):
        assert [row["x"], row["y"]] == [single(value) for value in position]
        assert row["speed"] == single(np.hypot(*velocity))
    nx, ny = frame.pressure.shape
    assert len(read.cells) == nx * ny
    for i in range(nx):
        for j in range(ny):
            cell = read.cells[i * ny + j]
            assert cell["pressure"] == single(frame.pressure[i, j])
            assert cell["state"] == frame.liquid[i, j] + 2 * frame.separating[i, j]
    assert max(cell["residual"] for cell in read.cells) == single(report.residuals.residual)
    assert all(cell["residual"] == 0.0 for cell in read.cells if cell["state"] == 0)
    assert {cell["state"] for cell in read.cells} == {0, 1, 3}
    header = read.header
    assert [header[Header.KIND], header[Header.DIMENSION], header[Header.CONTACTS]] == [2, 2, 0]
    assert header[Header.VOLUME] == single(report.volume)
    assert isnan(header[Header.PENETRATION])


def test_the_residual_of_a_cell_is_that_of_its_own_row(liquid):
    report = liquid.report
    problem, x = report.problem, report.x
    cells = read_frame(encode_frame(liquid.frame, report=report)).cells
    lower, upper = problem.bounds(x)
    row = np.abs(x - np.clip(x - problem.slack(x), lower, upper))
    assert [cell["residual"] for cell in cells] == pytest.approx(row.tolist(), rel=1e-5, abs=1e-14)


def test_a_problem_of_liquid_cells_alone_gives_a_row_for_every_cell():
    world = scenes.make("dam_break", cells=16).world
    world.form = "sparse"
    for _ in range(3):
        report = world.step(1 / 240, make_solve("pgs", None, 5))
    frame = world.frame(report)
    cells = read_frame(encode_frame(frame, report=report)).cells
    assert len(cells) == frame.pressure.size > report.problem.n
    assert max(cell["residual"] for cell in cells) == single(report.residuals.residual)
    assert all(cell["residual"] == 0.0 for cell in cells if cell["state"] == 0)


def test_a_recorded_frame_tells_contacts_but_not_how_they_were_solved(boxes):
    statistics = {**boxes.statistics, "converged": 1.0}
    read = read_frame(encode_frame(replace(boxes.frame, statistics=statistics)))
    live = read_frame(encode_frame(boxes.frame, report=boxes.report))
    for row, known in zip(read.contacts, live.contacts, strict=True):
        for name in ("point", "impulse", "body_a", "body_b", "gap", "normal_impulse"):
            assert row[name] == known[name]
        assert all(isnan(row[name]) for name in ("state", "opening", "slip", "residual", "energy_error"))
    assert read.curve == []
    assert read.header[Header.STATUS] == -1
    assert read.header[Header.CONVERGED] == 1
    assert read.header[Header.RESIDUAL] == single(boxes.report.residuals.residual)
    assert isnan(read.header[Header.TOL])
    assert read.header[Header.ISLANDS] == live.header[Header.ISLANDS]


def test_statistics_that_are_handed_in_come_before_those_of_the_frame(boxes):
    frame = replace(boxes.frame, statistics={"residual": 1.0, "energy": 2.0})
    header = read_frame(encode_frame(frame, statistics={"residual": 3.0})).header
    assert header[Header.RESIDUAL] == 3.0
    assert header[Header.ENERGY] == 2.0


def test_a_beginning_has_no_contacts_and_no_solve():
    read = read_frame(encode_frame(scenes.make("wall_of_boxes", base=3, courses=2).world.frame()))
    assert read.header[Header.STEP] == 0
    assert read.header[Header.STATUS] == -1
    assert read.contacts == []
    assert {row["island"] for row in read.bodies} == {-1}


def test_a_solver_of_ones_own_has_neither_status_nor_curve():
    scene = scenes.make("wall_of_boxes", base=3, courses=2)
    report = scene.world.step(scene.dt, lambda problem, x0: SimpleNamespace(x=np.zeros(problem.n), status="fine"))
    read = read_frame(encode_frame(scene.world.frame(report), report=report))
    assert read.header[Header.STATUS] == -1
    assert read.curve == []
    residuals = [row["residual"] for row in read.contacts]
    assert max(residuals) == single(perp.verify(report.problem, np.zeros(report.problem.n)).residual)


def test_numbers_beyond_float32_become_infinite_without_a_warning(boxes, liquid):
    bodies = replace(boxes.frame, position=boxes.frame.position * 1e60, statistics={"energy": 1e200})
    read = read_frame(encode_frame(bodies, report=boxes.report))
    assert all(abs(row["x"]) == np.inf for row, x in zip(read.bodies, bodies.position[:, 0], strict=True) if x != 0.0)
    assert read.header[Header.ENERGY] == np.inf
    fast = replace(liquid.frame, velocity=liquid.frame.velocity + 1e200)
    assert read_frame(encode_frame(fast)).bodies[0]["speed"] == np.inf


def test_a_serial_number_changes_nothing_else(boxes):
    data = encode_frame(boxes.frame)
    numbered = with_serial(data, SERIALS - 1)
    assert read_frame(numbered).header[Header.SERIAL] == SERIALS - 1
    assert with_serial(numbered, 0) == data
    for serial in (-1, SERIALS):
        with pytest.raises(ValueError, match="serial"):
            with_serial(data, serial)


def test_frames_that_are_strung_together_come_apart_again(boxes, discs, liquid):
    frames = [encode_frame(step.frame, report=step.report) for step in (boxes, liquid, discs)]
    apart = read_frames(b"".join(frames))
    assert [repr(one) for one in apart] == [repr(read_frame(data)) for data in frames]
    assert [len(one.contacts) for one in apart] == [len(boxes.report.contacts), 0, len(discs.report.contacts)]


@pytest.mark.parametrize("count", [257, 258, 300, 1000, 54_321])
def test_long_curves_keep_their_ends_and_their_least_value(count):
    random = np.random.default_rng(count)
    values = np.exp(random.normal(size=count) - np.arange(count) * 20 / count)
    values[count // 3] = 1e-30
    kept = thin(values, MOST_POINTS)
    assert MOST_POINTS / 2 < kept.size <= MOST_POINTS
    assert (np.diff(kept) > 0).all()
    assert {0, count - 1, count // 3, int(np.argmax(values))} <= set(kept.tolist())


def test_short_curves_stay_whole():
    assert thin(np.ones(MOST_POINTS), MOST_POINTS).tolist() == list(range(MOST_POINTS))
    assert thin(np.empty(0), MOST_POINTS).size == 0


def test_values_that_are_no_numbers_hide_no_others():
    values = np.full(1000, np.nan)
    values[[100, 700]] = 3.0, 2.0
    kept = set(thin(values, MOST_POINTS).tolist())
    assert {0, 100, 700, 999} <= kept


@pytest.mark.parametrize("method", ["pgs", "auto"])
def test_the_curve_begins_at_the_start_and_ends_with_the_result(method):
    problem = perp.gallery.make("box_stack", n=36).problem
    result = perp.solve(problem, method)
    curve = convergence_curve(result)
    assert 2 <= len(curve) <= MOST_POINTS
    assert curve[0, 0] == 0
    assert (np.diff(curve[:, 0]) >= 0).all()
    assert curve[:, 1].min() == result.history.residual.min()
    assert curve[-1].tolist() == [result.history.iteration[-1], result.history.residual[-1]]


def test_a_solver_of_ones_own_has_no_curve():
    assert convergence_curve(None).shape == (0, 2)
    assert convergence_curve(SimpleNamespace(x=np.zeros(3))).shape == (0, 2)


def test_an_island_has_the_number_of_its_lowest_body():
    pairs = np.array([[4, 2], [2, -1], [1, 5], [-1, 6]])
    island, count = name_islands(pairs, np.ones(7, dtype=bool))
    assert island.tolist() == [-1, 1, 2, -1, 2, 1, 6]
    assert count == 3


def test_a_body_that_cannot_move_couples_nothing_and_is_in_no_island():
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    island, count = name_islands(pairs, np.array([True, False, True, True]))
    assert island.tolist() == [0, -1, 2, 2]
    assert count == 2


def test_without_contacts_there_are_no_islands():
    island, count = name_islands(np.empty((0, 2), dtype=np.int64), np.ones(2, dtype=bool))
    assert island.tolist() == [-1, -1]
    assert count == 0


@pytest.mark.parametrize(("name", "steps"), [("boxes", 25), ("trucks", 2), ("snake", 2), ("pool1", 20), ("spinner", 2)])
def test_islands_of_bodies_are_those_of_the_problem(name, steps):
    kind = scenes.kinds()[name]
    scene = kind.build(**kind.small)
    for _ in range(steps):
        report = scene.world.step(scene.dt, make_solve("pgs", None, 3))
    islands = perp.split_islands(report.problem)
    island, count = find_islands(scene.world.frame(report), report)
    assert count == len(islands)
    assert report.problem.n > 20
    for part in islands:  # bodies of one part have one number
        width = report.problem.dimension
        touching = part.rows[part.rows < report.problem.contact_rows][::width] // width
        bodies = report.contacts.bodies[touching].reshape(-1)
        assert len({island[body] for body in bodies if body >= 0}) <= 1


def test_a_fixed_disc_keeps_heaps_apart_and_a_recording_does_not_know_it_is_fixed():
    discs = Discs(position=[[-0.99, 0.5], [0.0, 0.5], [0.99, 0.5]], radius=0.5, mass=[1.0, np.inf, 1.0])
    world = DiscWorld(discs, [HalfPlane((0.0, 0.0), (0.0, 1.0))])
    report = world.step(0.01, make_solve("pgs", None, 3))
    frame = world.frame(report)
    island, count = find_islands(frame, report)
    assert island.tolist() == [0, -1, 2]
    assert count == 2
    assert find_islands(frame, None)[0].tolist() == [0, 0, 0]


def test_a_problem_without_pairs_of_bodies_is_told_by_its_contacts():
    world = Pucks(3, height=0.0)
    report = world.step(0.01, make_solve("pgs", None, 3))
    island, count = find_islands(world.frame(report), report)
    assert island.tolist() == [0, 1, 2]
    assert count == 3
