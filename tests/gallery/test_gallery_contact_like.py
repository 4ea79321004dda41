"""The Stewart-Trinkle problem has the blocks of NOTES eq. 27 and solutions that obey eq. 26."""

from __future__ import annotations

import numpy as np
import pytest

from perp.gallery import contact_like


def blocks(example) -> np.ndarray:
    """A as contacts x contacts blocks of 6 x 6."""
    count = example.problem.n // 6
    return example.problem.A.to_dense().reshape(count, 6, count, 6).transpose(0, 2, 1, 3)


@pytest.mark.parametrize("bodies", [None, 7])
def test_the_blocks_are_those_of_eq_27(bodies: int | None) -> None:
    A = blocks(contact_like(180, 1, friction=0.4, bodies=bodies))
    count = len(A)
    own = A[np.arange(count), np.arange(count)]
    others = A[~np.eye(count, dtype=bool)]
    assert np.all(own[:, 5] == [0.4, -1.0, -1.0, -1.0, -1.0, 0.0])
    assert np.all(own[:, :, 5] == [0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    assert not others[:, 5].any()
    assert not others[:, :, 5].any()
    B = A[:, :, :5, :5].transpose(0, 2, 1, 3).reshape(5 * count, 5 * count)
    np.testing.assert_allclose(B, B.T, atol=1e-13)
    assert np.linalg.eigvalsh(B)[0] > -1e-12


def test_opposite_directions_make_b_singular_in_each_contact() -> None:
    A = blocks(contact_like(60, 2))
    for c in range(len(A)):
        assert np.linalg.matrix_rank(A[c, c, :5, :5], tol=1e-12) == 3
    np.testing.assert_array_equal(A[:, :, 1:3, :5], -A[:, :, 3:5, :5])


def test_the_random_matrix_is_filled_to_a_half_with_least_eigenvalue_one_half() -> None:
    A = blocks(contact_like(600, 3))
    filled = np.abs(A[:, :, :5, :5]).max(axis=(2, 3)) > 0
    assert filled[~np.eye(100, dtype=bool)].mean() == pytest.approx(0.5, abs=0.03)
    B = A[:, :, :3, :3].transpose(0, 2, 1, 3).reshape(300, 300)
    assert np.linalg.eigvalsh(B)[0] == pytest.approx(0.5)


def test_rigid_bodies_make_redundant_contacts() -> None:
    A = blocks(contact_like(300, 4, bodies=5))
    B = A[:, :, :3, :3].transpose(0, 2, 1, 3).reshape(150, 150)
    assert np.linalg.matrix_rank(B, tol=1e-10) <= 30  # the velocities of five bodies


@pytest.mark.parametrize("bodies", [None, 7])
@pytest.mark.parametrize("friction", [0.0, 0.5, 2.0])
def test_the_planted_solution_obeys_eq_26(friction: float, bodies: int | None, misfit, slack) -> None:
    example = contact_like(300, 5, friction=friction, bodies=bodies, active=0.6, degenerate=0.1)
    assert misfit(example) <= 1e-14
    assert not example.problem.b.reshape(-1, 6)[:, 5].any()
    x, y = example.x.reshape(-1, 6), slack(example).reshape(-1, 6)
    np.testing.assert_allclose(y[:, 5], friction * x[:, 0] - x[:, 1:5].sum(axis=1), atol=1e-13)
    assert np.count_nonzero(x[:, 0]) == 30
    carries, moves = x[:, 0] > 0, x[:, 5] > 0
    assert np.count_nonzero(carries & moves) == 15
    assert np.count_nonzero(carries & ~moves) == 15
    assert np.count_nonzero(~np.any(x, axis=1) & ~np.any(y, axis=1)) == 5


def test_free_velocities_along_opposite_directions_are_opposite() -> None:
    b = contact_like(60, 6).problem.b.reshape(-1, 6)
    np.testing.assert_array_equal(b[:, 1:3], -b[:, 3:5])


@pytest.mark.parametrize("directions", [4, 6, 8])
@pytest.mark.parametrize("bodies", [None, 7])
def test_any_number_of_directions_gives_eq_27_with_a_solution_of_eq_26(directions: int, bodies, misfit) -> None:
    rows = directions + 2
    example = contact_like(20 * rows, 9, directions=directions, bodies=bodies, degenerate=0.1)
    assert example.problem.n == 20 * rows
    assert misfit(example) <= 1e-13
    A = example.problem.A.to_dense().reshape(20, rows, 20, rows).transpose(0, 2, 1, 3)
    own = A[np.arange(20), np.arange(20)]
    assert np.all(own[:, -1] == [0.5, *[-1.0] * directions, 0.0])
    assert np.all(own[:, :, -1] == [0.0, *[1.0] * directions, 0.0])
    half = directions // 2
    np.testing.assert_array_equal(A[:, :, 1 : 1 + half, :-1], -A[:, :, 1 + half : -1, :-1])
    for c in range(20):
        assert np.linalg.matrix_rank(A[c, c, :-1, :-1], tol=1e-12) == 3
        assert np.linalg.matrix_rank(A[c, c, 1:-1, 1:-1], tol=1e-12) == 2


def test_rows_are_rounded_to_whole_contacts() -> None:
    assert contact_like().problem.n == 180
    assert contact_like(1).problem.n == 6
    assert contact_like(100).problem.n == 102
    assert contact_like(100, directions=8).problem.n == 100


def test_only_sliding_everywhere_leaves_no_continuum() -> None:
    assert contact_like(60, 7).expected == "infinitely_many"
    assert contact_like(60, 7, active=1.0, sliding=1.0).expected == "solvable"


def test_a_continuum_is_there_where_it_is_claimed() -> None:
    """Separating: any larger beta. Sticking: a little more along two opposite directions."""
    example = contact_like(60, 8)
    problem = example.problem
    x = example.x.reshape(-1, 6).copy()
    separated = np.flatnonzero(x[:, 0] == 0)[0]
    stuck = np.flatnonzero((x[:, 0] > 0) & (x[:, 5] == 0))[0]
    x[separated, 5] += 3.0
    x[stuck, [1, 3]] += 0.01 * (0.5 * x[stuck, 0] - x[stuck, 1:5].sum())
    x = x.reshape(-1)
    y = problem.A.to_dense() @ x + problem.b
    assert np.abs(np.minimum(x, y)).max() < 1e-13
