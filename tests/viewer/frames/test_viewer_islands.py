"""Which bodies hang together: by hand, and as the splitting of problems has it."""

from __future__ import annotations

import numpy as np
import pytest
from small_worlds import Pucks

import perp
from perp import scenes
from perp.simulation.settings import make_solve
from perp.viewer.frames.islands import find_islands, name_islands
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane


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
