"""The equations of the polish and their derivative, against a plain twin and finite differences."""

from __future__ import annotations

import conic_problems
import numpy as np
import pytest
import twins
from conic_problems import MODELS
from numba import njit

from perp.kernels.conic import layout, path, polish
from perp.kernels.conic.layout import FIXED, OWN

CASES = [(model, dimension) for model in MODELS for dimension in (2, 3)]


@njit
def linearise(blocks, cones, it):
    path.read_cones(cones, it)
    return polish.linearise(blocks, cones, it)


def F_of_twin(state, x, y):
    """z - P(z - r v) in every row, in the signs of x; y / weight of an equation (Alart & Curnier 1991)."""
    rows, cones = state.rows, state.rows.cones
    weight, ratio = state.iterate.rows[layout.WEIGHT], state.iterate.rows[layout.RATIO]
    F = np.zeros(x.size)
    for b in range(rows.row.size):
        row = rows.row[b]
        r = ratio[row]
        if rows.first_cone[b] == rows.first_cone[b + 1]:
            F[row] = y[row] / weight[row]
        presses = 0.0
        for k in range(rows.first_cone[b], rows.first_cone[b + 1]):
            tail = slice(cones.tail[k], cones.tail[k] + cones.count[k])
            z, v = x[tail] - rows.centre[tail], y[tail]
            if cones.mode[k] == OWN:
                head = cones.head[k]
                z_head, v_head = cones.sign[k] * x[head] - cones.offset[k], cones.sign[k] * y[head]
                if cones.count[k]:
                    argument = np.append(z_head, z) - r * np.append(v_head, v)
                    left = np.append(z_head, z) - twins.project_on_cone(argument, 1.0)
                    F[head], F[tail] = left[0], left[1:]
                    continue
                presses = max(z_head - r * v_head, 0.0)
                F[head] = cones.sign[k] * (z_head - presses)
            else:
                radius = cones.offset[k] if cones.mode[k] == FIXED else presses
                F[tail] = z - twins.project_on_disc(z - r * v, radius)
    return F


def drawn(model, dimension, seed):
    """A point anywhere: contacts stick, slide and separate."""
    problem = conic_problems.contacts(model, dimension, compliance=0.4, seed=seed)
    state = conic_problems.inner_state(problem, seed)
    rng = np.random.default_rng(seed)
    R = state.iterate.rows
    R[layout.X], R[layout.Y] = rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    R[layout.X, : problem.contact_rows : dimension] += 1.0
    R[layout.LIFT] = 0.05
    R[layout.RATIO] = np.exp(rng.uniform(-1.0, 1.0, state.rows.row.size))[state.rows.block_of_row] / R[layout.WEIGHT]
    return state, rng


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("seed", range(6))
def test_the_size_of_F_is_the_root_of_an_energy(seed, model, dimension):
    """sqrt(A_ii) |F|, or |v| / sqrt(A_ii) where F is r v, as of contacts that stick."""
    state, _ = drawn(model, dimension, seed)
    R, weight = state.iterate.rows, state.iterate.rows[layout.WEIGHT]
    F = F_of_twin(state, R[layout.X], R[layout.Y])
    moves = np.isclose(F, R[layout.RATIO] * R[layout.Y], rtol=1e-12, atol=0.0)
    expected = np.where(moves, np.abs(R[layout.Y]) / np.sqrt(weight), np.abs(F) * np.sqrt(weight)).max()
    assert linearise(state.conic.blocks, state.rows.cones, state.iterate) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("model", "dimension"), CASES)
@pytest.mark.parametrize("seed", range(6))
def test_a_step_is_a_newton_step_whatever_the_bodies_do(seed, model, dimension):
    """dx = dx0 - H w, for any w = J dV, leaves F + dF(dx, w + C dx) = 0; dF by central differences."""
    state, rng = drawn(model, dimension, seed)
    R, blocks = state.iterate.rows, state.conic.blocks
    x, y = R[layout.X].copy(), R[layout.Y].copy()
    linearise(blocks, state.rows.cones, state.iterate)
    w = rng.standard_normal(x.size)
    dx = R[layout.DX].copy()
    for b in range(blocks.row.size):
        rows = slice(blocks.row[b], blocks.row[b] + blocks.width[b])
        H = state.iterate.H[blocks.matrix[b] :][: blocks.width[b] ** 2].reshape(blocks.width[b], -1)
        dx[rows] -= H @ w[rows]
    inside = state.rows.block_of_row >= 0
    np.testing.assert_array_equal(dx[~inside], 0.0)
    dy = w + (state.conic.compliance + R[layout.LIFT]) * dx
    h = 1e-6 / max(1.0, np.abs(dx).max(), np.abs(dy).max())
    slope = (F_of_twin(state, x + h * dx, y + h * dy) - F_of_twin(state, x - h * dx, y - h * dy)) / (2.0 * h)
    F = F_of_twin(state, x, y)
    np.testing.assert_allclose(slope[inside], -F[inside], rtol=0, atol=1e-7 * max(1.0, np.abs(dx).max()))


def test_the_points_show_every_state():
    """The two tests above would say little if all contacts were in one state."""
    found = set()
    for seed in range(6):
        state, _ = drawn("cone", 3, seed)
        R, ratio = state.iterate.rows, state.iterate.rows[layout.RATIO]
        for row in state.rows.row[:4]:
            s = R[layout.X, row : row + 3] - ratio[row] * R[layout.Y, row : row + 3]
            sticks = np.linalg.norm(s[1:]) <= s[0]
            found.add("separates" if s[0] <= 0.0 else "sticks" if sticks else "slides")
    assert found == {"separates", "sticks", "slides"}
