"""Contacts at points: recognised in J, and swept as other contacts are."""

from __future__ import annotations

import numpy as np
import pytest

import perp
from perp.gallery.geometry import contact_jacobian, random_rotations
from perp.kernels.sweeps import blocked_pairs
from perp.solvers.splitting import block_gauss_seidel

PAIRS = [(0, 1), (-1, 0), (1, 2), (2, -1), (2, 0), (1, -1), (-1, 2)]


def pile(model: str, seed: int = 0, *, joints: int = 0) -> perp.ContactProblem:
    """Three bodies, seven contacts with each other and the world, on either side of it; random rows for joints."""
    rng = np.random.default_rng(seed)
    frames, arms = random_rotations(len(PAIRS), rng), rng.standard_normal((2, len(PAIRS), 3))
    blocks = contact_jacobian(frames, *arms)
    bodies = np.repeat(PAIRS, 3, axis=0)
    blocks[bodies == -1] = 0.0
    blocks = np.concatenate([blocks, rng.standard_normal((joints, 2, 6))])
    bodies = np.concatenate([bodies, np.array([(0, 2)] * joints, dtype=np.int64).reshape(-1, 2)])
    masses = perp.BodyMasses([1.0, 2.0, 0.5], [np.diag(rng.uniform(0.5, 2.0, 3)) for _ in range(3)])
    A = perp.FactoredOperator.from_body_pairs(bodies, blocks, masses, 1e-3)
    b = rng.standard_normal(A.n) - np.resize([0.5, 0.0, 0.0], A.n)
    return perp.ContactProblem(A, b, rng.uniform(0.0, 1.0, len(PAIRS)), model, extra_rows=joints)


def test_frames_and_arms_are_found_in_the_rows():
    rng = np.random.default_rng(1)
    frames, arms = random_rotations(2, rng), rng.standard_normal((2, 2, 3))
    pairs = perp.FactoredOperator.from_body_pairs(
        np.repeat([(0, 1), (1, -1)], 3, axis=0),
        contact_jacobian(frames, *arms),
        perp.BodyMasses([1.0] * 2, [np.eye(3)] * 2),
    ).pairs
    assert pairs is not None
    points = np.empty(30)
    assert blocked_pairs.find_points(pairs.bodies, pairs.jacobian, np.uint64(2), 1e-13, points)
    np.testing.assert_allclose(points.reshape(2, 15)[:, :9].reshape(2, 3, 3), frames, atol=1e-15)
    np.testing.assert_allclose(points.reshape(2, 15)[:, 9:12], arms[0], atol=1e-14)
    np.testing.assert_allclose(points.reshape(2, 15)[:, 12:], [arms[1, 0], np.zeros(3)], atol=1e-14)


@pytest.mark.parametrize("place", [0, 4, 7, 10, 13, 20, 28, 35])
@pytest.mark.parametrize("change", [1e-6, 1.0, 1e200])
def test_rows_that_no_contact_at_a_point_has_are_told(place, change):
    pairs = pile("box").A.pairs
    assert pairs is not None
    jacobian = pairs.jacobian.copy()
    jacobian[place] += change
    jacobian.flags.writeable = False
    points = np.empty(15 * len(PAIRS))
    assert not blocked_pairs.find_points(pairs.bodies, jacobian, np.uint64(3), 1e-13, points)


@pytest.mark.parametrize("joints", [0, 2])
@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("model", ["box", "cone", "convex", "disc"])
@pytest.mark.parametrize("rows_first", [False, True])
def test_they_are_swept_as_contacts_between_pairs_are(model, relaxation, joints, rows_first, monkeypatch):
    for seed in range(4):
        problem = pile(model, seed, joints=joints)
        start = problem.project(np.random.default_rng(9).standard_normal(problem.n))
        order = np.random.default_rng(seed).permutation(problem.contacts).astype(np.uint32)
        rows = np.arange(problem.contact_rows, problem.n, dtype=np.uint32)
        answers = []
        for same, kernel in ((1e-13, blocked_pairs.sweep_points), (-1.0, blocked_pairs.sweep_pairs)):
            monkeypatch.setattr(block_gauss_seidel, "SAME", same)
            sweeper = block_gauss_seidel.make_block_sweeper(problem, relaxation, start.copy())
            assert sweeper.kernel is kernel
            sweeper.sweep(3, order, rows, rows_first)
            answers.append((sweeper.x.copy(), sweeper.vectors[-1].copy()))
        for points, pairs in zip(*answers, strict=True):
            np.testing.assert_allclose(points, pairs, rtol=1e-9, atol=1e-9)


def test_the_numbers_for_sticking_are_the_inverse_of_the_block():
    for model in ("box", "cone"):
        problem = pile(model)
        sweeper = block_gauss_seidel.make_block_sweeper(problem, 1.0, np.zeros(problem.n))
        sticking = sweeper.contact[4].reshape(-1, 9)
        for numbers, block in zip(sticking, problem.contact_blocks, strict=True):
            nn, np_, nq, pp, pq, qq = numbers[:6]
            inverse = np.array([[nn, np_, nq], [np_, pp, pq], [nq, pq, qq]])
            np.testing.assert_allclose(inverse @ block, np.eye(3), atol=1e-10)
            np.testing.assert_allclose(numbers[6:], block[0], atol=1e-12)
