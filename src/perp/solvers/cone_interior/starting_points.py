"""Where Newton steps and paths begin: at a given point, next to it, or at a point that the problem alone decides.

Points on the central path next to a given point: where it begins if Newton steps from there lead nowhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.kernels.conic import layout, polish, run
from perp.kernels.conic.layout import CENTRE, FIXED, OWN, RATIO, VH, Iterate, X, Y
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.cone_interior.cones import ConeRows
from perp.solvers.cone_interior.state import ConicState, run_kernel

Indices = NDArray[np.int64]

CLOSEST, HALVINGS = 1e-15, 50
"""The least head - |tail| of a pair, as a share of its head, and the bisections (of the logarithm) that find it."""

SCATTER = 0.5
"""Targets of attempts whose seed is not 0 differ from block to block: by factors exp(SCATTER n), n normally
distributed."""

TAU, LEAST_TAU = 5.0, 1e-8
"""A path from next to a point begins with a tau of so many times F^2, and of at least the last number times its
unit^2."""


def centre_pairs(rows: ConeRows, it: Iterate, tau: float) -> None:
    """Move every pair z, v to z o v = tau target e, where z - r v stays what it is (r: impulse over speed, `RATIO`).

    Alart & Curnier (1991) project z - r v, which tells the state of a contact: the pair comes as near to that state as
    tau allows. Own heads move first, tails follow the moved heads.
    """
    cones, aims = rows.cones, tau * it.target
    half_lines = np.flatnonzero((cones.mode == OWN) & (cones.count == 0))
    _centre_half_lines(half_lines, rows, it, aims[half_lines])
    for count in range(1, int(cones.count.max(initial=0)) + 1):
        same = cones.count == count
        own, others = np.flatnonzero(same & (cones.mode == OWN)), np.flatnonzero(same & (cones.mode != OWN))
        _centre_own(own, count, rows, it, aims[own])
        _centre_tails(others, count, rows, it, aims[others])


def _centre_half_lines(which: Indices, rows: ConeRows, it: Iterate, aim: Vector) -> None:
    x, y, cones = it.rows[X], it.rows[Y], rows.cones
    row, sign, offset = cones.head[which], cones.sign[which], cones.offset[which]
    r = it.rows[RATIO, row]
    z = _positive_root(sign * x[row] - offset - r * sign * y[row], r * aim)
    x[row] = sign * (z + offset)
    y[row] = sign * aim / z


def _centre_own(which: Indices, count: int, rows: ConeRows, it: Iterate, aim: Vector) -> None:
    """Convex contacts: both eigenvalues head +- |tail| are those of half-lines."""
    if not which.size:
        return
    x, y = it.rows[X], it.rows[Y]
    row = rows.cones.head[which]
    r = it.rows[RATIO, row]
    tails, length, direction = _tails(which, count, rows, it)
    head = x[row] - r * y[row]
    high, low = _positive_root(head + length, r * aim), _positive_root(head - length, r * aim)
    x[row], y[row] = 0.5 * (high + low), 0.5 * aim * (1.0 / high + 1.0 / low)
    x[tails] = (0.5 * (high - low))[:, None] * direction
    y[tails] = (0.5 * aim * (1.0 / high - 1.0 / low))[:, None] * direction


def _centre_tails(which: Indices, count: int, rows: ConeRows, it: Iterate, aim: Vector) -> None:
    """Heads that are fixed or follow a normal: only the tail is free, and the head of v is a multiplier."""
    if not which.size:
        return
    x, y, cones = it.rows[X], it.rows[Y], rows.cones
    tails, length, direction = _tails(which, count, rows, it)
    head = np.where(cones.mode[which] == FIXED, cones.offset[which], x[cones.head[which]])
    gap = _gap(head, length, it.rows[RATIO, cones.tail[which]] * aim)
    tail, determinant = head - gap, gap * (2.0 * head - gap)
    x[tails] = it.rows[CENTRE, tails] + tail[:, None] * direction
    y[tails] = -(aim * tail / determinant)[:, None] * direction
    it.rows[VH, cones.slot[which]] = aim * head / determinant


def _tails(which: Indices, count: int, rows: ConeRows, it: Iterate) -> tuple[Indices, Vector, NDArray[np.float64]]:
    """Rows of the tails, and z_t - r v_t as length and direction."""
    tails = rows.cones.tail[which, None] + np.arange(count)
    argument = it.rows[X, tails] - it.rows[CENTRE, tails] - it.rows[RATIO, tails] * it.rows[Y, tails]
    length = np.linalg.norm(argument, axis=1)
    return tails, length, argument / np.where(length > 0.0, length, 1.0)[:, None]


def _positive_root(s: Vector, product: Vector) -> Vector:
    """The positive z with z - product / z = s, without cancellation."""
    root = np.hypot(s, 2.0 * np.sqrt(product))
    return np.where(s > 0.0, 0.5 * (s + root), 2.0 * product / (root - np.minimum(s, 0.0)))


def _gap(head: Vector, length: Vector, product: Vector) -> Vector:
    """head - t, for the t with t + product t / (head^2 - t^2) = length."""
    low, high = np.full(head.shape, np.log(CLOSEST)), np.zeros(head.shape)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        gap = head * np.exp(middle)
        tail = head - gap
        is_too_long = tail + product * tail / (gap * (2.0 * head - gap)) > length
        low, high = np.where(is_too_long, middle, low), np.where(is_too_long, high, middle)
    return head * np.exp(0.5 * (low + high))


def take(problem: Problem, state: ConicState, x: Vector) -> None:
    """Put x and its velocities into the iterate."""
    A = problem.A.factored
    assert A is not None
    state.iterate.rows[layout.X] = state.rows.in_units(x)
    moved = np.where(state.rows.block_of_row >= 0, x, 0.0)  # b has what rows that cannot move do to the others
    state.iterate.bodies[layout.V] = A.velocity(moved)[state.conic.system.rows]


def begin_newton(problem: Problem, state: ConicState, x: Vector) -> None:
    """Newton steps from x."""
    take(problem, state, x)
    taken, block = state.iterate.rows[layout.X], state.rows.block_of_row
    _set_ratios(state, np.bincount(block[block >= 0], taken[block >= 0] ** 2, state.rows.row.size))
    state.marks[[polish.POLISHED, polish.WORSE, polish.DAMPING, polish.IS_NEW]] = np.inf, 0.0, 1.0, 1.0
    state.marks[run.ENDED] = run.GOES_ON


def begin_cold(state: ConicState, friction_target: float, seed: int) -> bool:
    """A point on the axes of all cones, with equal products, as large as contacts that stick need it; whether A can be
    factored."""
    rows, it, marks = state.rows, state.iterate, state.marks
    marks[run.SHORT], marks[run.TRIED], marks[run.ENDED], marks[run.HELP] = 0.0, np.inf, run.GOES_ON, 1.0
    marks[run.NUMBER] = marks[run.FLAT] = marks[run.SINCE] = 0.0
    marks[run.ERROR] = marks[run.LEAST] = marks[polish.POLISHED] = np.inf
    it.saved[:, :2] = 0.0
    run_kernel(state, run.START, 0)
    if marks[run.ENDED] == run.BROKEN:
        return False
    block, cones = rows.block_of_row, rows.cones
    inside = block >= 0
    stuck = np.bincount(block[inside], it.rows[layout.DX, inside] ** 2, rows.row.size)
    energy = _mean_energy(state)
    head = (np.sqrt(stuck) + np.sqrt(energy / it.rows[layout.WEIGHT, rows.row]))[rows.block_of_cone]
    _set_ratios(state, stuck)
    head = np.where(cones.mode == FIXED, cones.offset, head)
    it.target[:] = np.where(cones.mode == OWN, 1.0, 1.0 if rows.symmetric else friction_target)
    if seed:
        scatter = np.exp(SCATTER * np.random.default_rng(seed).standard_normal(rows.row.size))
        it.target[:] *= scatter[rows.block_of_cone]
    left = state.options.softness * it.rows[layout.WEIGHT, rows.row] * np.sqrt(stuck)  # speeds that soft contacts leave
    product = (energy + float(np.mean(head * left[rows.block_of_cone]))) * it.target if head.size else head
    x, y = it.rows[layout.X], it.rows[layout.Y]
    x[:], y[:] = np.where(inside, it.rows[layout.DX], rows.value), 0.0
    longest = int(cones.count.max(initial=0))
    tails = np.concatenate([cones.tail[:0], *(cones.tail[cones.count > k] + k for k in range(longest))])
    x[tails] = it.rows[layout.CENTRE, tails]
    own = cones.mode == OWN
    x[cones.head[own]] = cones.sign[own] * (head + cones.offset)[own]
    y[cones.head[own]] = cones.sign[own] * (product / head)[own]
    it.rows[layout.VH, cones.slot] = product / head
    it.bodies[layout.V] = it.bodies[layout.DV]
    return True


def begin_next_to(problem: Problem, state: ConicState, x: Vector, error: float) -> None:
    """After `begin_cold`: a point of the central path next to x, where F is `error` times its unit, in its place."""
    rows, conic, R = state.rows, state.conic, state.iterate.rows
    take(problem, state, x)
    moves = rows.block_of_row >= 0
    y = np.divide(problem.slack(x), rows.unit, out=np.zeros(x.size), where=moves)
    y += np.where(moves, (R[layout.C] - conic.compliance) * R[layout.X] + R[layout.B] - conic.b, 0.0)
    y[rows.row[np.diff(rows.first_cone) == 0]] = 0.0  # equations
    R[layout.Y] = y
    centre_pairs(rows, state.iterate, TAU * state.unit**2 * max(error**2, LEAST_TAU))


def _set_ratios(state: ConicState, squares: NDArray[Any]) -> None:
    """Impulse over speed of each block: what a contact carries (squared), and how fast things are."""
    impulse = np.sqrt(squares) + np.sqrt(_mean_energy(state) / state.iterate.rows[layout.WEIGHT, state.rows.row])
    speed = float(np.max(np.abs(state.conic.b), initial=0.0)) or 1.0
    block = state.rows.block_of_row
    state.iterate.rows[layout.RATIO] = np.where(block >= 0, (impulse / speed)[block], 1.0)


def _mean_energy(state: ConicState) -> float:
    """The mean of b^2 / A_ii over the blocks."""
    block = state.rows.block_of_row
    inside = block >= 0
    energies = (state.conic.b**2 / state.iterate.rows[layout.WEIGHT])[inside]
    return float(energies.sum() / max(state.rows.row.size, 1)) or 1.0
