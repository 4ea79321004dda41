"""Points on the central path next to a given point: where it begins if Newton steps from there lead nowhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels.conic.layout import CENTRE, FIXED, OWN, RATIO, VH, Iterate, X, Y
from perp.problems.inputs import Vector
from perp.solvers.cone_interior.cones import ConeRows

Indices = NDArray[np.int64]

CLOSEST, HALVINGS = 1e-15, 50
"""The least head - |tail| of a pair, as a share of its head, and the bisections (of the logarithm) that find it."""


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
