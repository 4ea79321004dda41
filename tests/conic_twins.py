"""The equations of `cone_interior` as they are written down: dense, cone by cone, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

import perp
from perp.kernels.conic import layout
from perp.kernels.conic.layout import FIXED, OWN
from perp.linalg.free_systems.body import movable_parts
from perp.solvers.cone_interior.state import ConicState


def jordan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a o b = (a . b, a_0 b_t + b_0 a_t)."""
    return np.array([a @ b, *(a[0] * b[1:] + b[0] * a[1:])])


def arrow(a: np.ndarray) -> np.ndarray:
    """The matrix of b -> a o b."""
    matrix = a[0] * np.eye(a.size, dtype=a.dtype)
    matrix[0, 1:] = matrix[1:, 0] = a[1:]
    return matrix


def determinant(a: np.ndarray) -> float:
    return (a[0] - np.sqrt(a[1:] @ a[1:])) * (a[0] + np.sqrt(a[1:] @ a[1:]))


def scaling(z: np.ndarray, v: np.ndarray) -> np.ndarray:
    """T = eta [[w_0, w_t^T], [w_t, I + w_t w_t^T / (1 + w_0)]] with T v = T^-1 z (Vandenberghe 2010, section 4.2)."""
    reflect = np.where(np.arange(z.size) == 0, 1.0, -1.0)
    z_unit, v_unit = z / np.sqrt(determinant(z)), v / np.sqrt(determinant(v))
    gamma = np.sqrt(0.5 * (1.0 + z_unit @ v_unit))
    w = (z_unit + reflect * v_unit) / (2.0 * gamma)
    T = arrow(w)
    T[1:, 1:] = np.eye(z.size - 1, dtype=z.dtype) + np.outer(w[1:], w[1:]) / (1.0 + w[0])
    return T * (determinant(z) / determinant(v)) ** 0.25


def from_eigenvectors(eta: float, growth: float, p: np.ndarray, power: int) -> np.ndarray:
    """T^power by its eigenvectors (1, p), (1, -p) and those across."""
    along, against = np.append(1.0, p) / np.sqrt(2.0), np.append(1.0, -p) / np.sqrt(2.0)
    across = np.eye(p.size + 1, dtype=p.dtype) - np.outer(along, along) - np.outer(against, against)
    parts = ((eta * growth) ** power, along), ((eta / growth) ** power, against)
    return eta**power * across + sum(value * np.outer(vector, vector) for value, vector in parts)


def longest_step(a: np.ndarray, da: np.ndarray) -> float:
    """The end of the steps that stay in the cone, by bisection; inf where 1e12 is still inside."""

    def is_inside(step: float) -> bool:
        there = a + step * da
        return bool(there[0] >= np.sqrt(there[1:] @ there[1:]))

    low, high = 0.0, 1.0
    while is_inside(high):
        low, high = high, 2.0 * high
        if high > 1e12:
            return inf
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_inside(middle) else (low, middle)
    return low


@dataclass
class Pair:
    """z and v of one cone, with dz = E dx. W has F T^-2 E of it: a head that is a multiplier is in no row of y."""

    z: np.ndarray
    v: np.ndarray
    E: np.ndarray
    in_rows: np.ndarray
    """Which entries of v are rows of y."""
    target: float

    @property
    def T(self) -> np.ndarray:
        return scaling(self.z, self.v)

    @property
    def F(self) -> np.ndarray:
        return (self.E * np.where(self.in_rows, 1.0, 0.0)[:, None]).T


def pairs(state: ConicState) -> list[Pair]:
    """Every cone at the point x, y, with the multipliers that the kernels keep."""
    cones, R = state.rows.cones, state.iterate.rows
    x, y, n = R[layout.X], R[layout.Y], R.shape[1]
    found = []
    for k in range(cones.slot.size):
        tail = np.arange(cones.tail[k], cones.tail[k] + cones.count[k])
        E = np.zeros((1 + tail.size, n))
        E[1 + np.arange(tail.size), tail] = 1.0
        own, fixed = cones.mode[k] == OWN, cones.mode[k] == FIXED
        sign = cones.sign[k] if own else 1.0
        if not fixed:
            E[0, cones.head[k]] = sign
        head = cones.offset[k] if fixed else sign * x[cones.head[k]] - (cones.offset[k] if own else 0.0)
        v_head = sign * y[cones.head[k]] if own else R[layout.VH, cones.slot[k]]
        found.append(
            Pair(
                np.append(head, x[tail] - state.rows.centre[tail]),
                np.append(v_head, y[tail]),
                E,
                np.arange(1 + tail.size) >= (0 if own else 1),
                float(state.iterate.target[k]),
            )
        )
    return found


def slope(state: ConicState) -> np.ndarray:
    """W: what W dx + dy = g has of T^-2 of all cones, multipliers eliminated."""
    n = state.iterate.rows.shape[1]
    W = np.zeros((n, n))
    for pair in pairs(state):
        inverse = np.linalg.inv(pair.T)
        W += pair.F @ inverse @ inverse @ pair.E
    return W


@dataclass
class Whole:
    """M dV = J^T dx + r_p and dy = J dV + C dx + r_d, for rows that are in blocks (`inside`)."""

    M: np.ndarray
    J: np.ndarray
    C: np.ndarray
    """With the lift, as the step has it."""
    r_p: np.ndarray
    r_d: np.ndarray
    inside: np.ndarray


def whole(problem: perp.Problem, state: ConicState, lift: np.ndarray) -> Whole:
    """In body space; in contact space with A for C, and no bodies."""
    R, unit = state.iterate.rows, state.rows.unit
    inside = state.rows.block_of_row >= 0
    x = np.where(inside, R[layout.X], 0.0)
    b = problem.A.slack(state.rows.value, problem.b, np.empty(problem.n)) / unit
    if state.conic.in_bodies:
        J, mass = (part.toarray() for part in movable_parts(problem.A))
        J = J / unit[:, None]
        C = np.diag(problem.A.compliance / unit**2)
        V = np.empty(mass.shape[0])
        V[state.conic.system.rows] = state.iterate.bodies[layout.V]
    else:
        J, mass, V = np.zeros((problem.n, 0)), np.zeros((0, 0)), np.zeros(0)
        C = problem.A.to_dense() / np.outer(unit, unit)
    J = np.where(inside[:, None], J, 0.0)
    return Whole(mass, J, C + np.diag(lift), J.T @ x - mass @ V, J @ V + C @ x + b - R[layout.Y], inside)


@dataclass
class Direction:
    dV: np.ndarray
    dx: np.ndarray
    dy: np.ndarray
    dz: list[np.ndarray]
    dv: list[np.ndarray]


def direction(equations: Whole, cones: list[Pair], products: list[np.ndarray]) -> Direction:
    """The solution of the whole linearised system at once.

    M dV = J^T dx + r_p, dy = J dV + C dx + r_d, and lambda o (T^-1 dz + T dv) = `products` for every cone.
    """
    m, n = equations.M.shape[0], equations.inside.size
    multipliers = np.cumsum([0, *(int((~cone.in_rows).sum()) for cone in cones)])
    size = m + 2 * n + multipliers[-1]
    in_V, in_x, in_y, others = slice(0, m), slice(m, m + n), slice(m + n, m + 2 * n), m + 2 * n
    lines, right = [], []

    def add(numbers: np.ndarray, value: np.ndarray) -> None:
        lines.append(numbers)
        right.append(value)

    first = np.zeros((m, size))
    first[:, in_V], first[:, in_x] = equations.M, -equations.J.T
    add(first, equations.r_p)
    second = np.zeros((n, size))
    second[:, in_V], second[:, in_x], second[:, in_y] = -equations.J, -equations.C, np.eye(n)
    second[~equations.inside] = 0.0
    second[~equations.inside, m + n + np.flatnonzero(~equations.inside)] = 1.0  # what cannot move says nothing
    add(second, np.where(equations.inside, equations.r_d, 0.0))
    in_a_cone = np.zeros(n, dtype=bool)
    selectors = []
    for k, cone in enumerate(cones):
        of_z, of_v = np.zeros((cone.z.size, size)), np.zeros((cone.z.size, size))
        of_z[:, in_x] = cone.E
        of_v[cone.in_rows, in_y] = cone.E[cone.in_rows]
        of_v[np.flatnonzero(~cone.in_rows), others + np.arange(multipliers[k], multipliers[k + 1])] = 1.0
        in_a_cone |= (cone.F != 0.0).any(axis=1)
        selectors.append((of_z, of_v))
        T = cone.T
        add(arrow(T @ cone.v) @ (np.linalg.solve(T, of_z) + T @ of_v), products[k])
    still = np.zeros((int((~equations.inside).sum()), size))
    still[np.arange(still.shape[0]), m + np.flatnonzero(~equations.inside)] = 1.0
    add(still, np.zeros(still.shape[0]))
    equal = np.flatnonzero(equations.inside & ~in_a_cone)
    held = np.zeros((equal.size, size))
    held[np.arange(equal.size), m + n + equal] = 1.0  # y of an equation is zero, and stays so
    add(held, np.zeros(equal.size))
    found = np.linalg.solve(np.concatenate(lines), np.concatenate(right))
    return Direction(
        found[in_V], found[in_x], found[in_y], [z @ found for z, _ in selectors], [v @ found for _, v in selectors]
    )


def mehrotra(problem: perp.Problem, state: ConicState, lift: np.ndarray, least: float) -> tuple[Direction, float]:
    """The direction of one iteration without further correctors, and sigma."""
    cones, equations = pairs(state), whole(problem, state, lift)
    at = [cone.T @ cone.v for cone in cones]
    tau = float(np.mean([cone.z @ cone.v / cone.target for cone in cones]))
    predictor = direction(equations, cones, [-jordan(point, point) for point in at])
    reach = 1.0
    for cone, dz, dv in zip(cones, predictor.dz, predictor.dv, strict=True):
        reach = min(reach, longest_step(cone.z, dz), longest_step(cone.v, dv))
    moved = zip(cones, predictor.dz, predictor.dv, strict=True)
    after = np.mean([(cone.z + reach * dz) @ (cone.v + reach * dv) / cone.target for cone, dz, dv in moved])
    sigma = min(1.0, max(max(after / tau, 0.0) ** 3, least))
    share = 1.0 if state.conic.symmetric else reach
    products = []
    for cone, point, dz, dv in zip(cones, at, predictor.dz, predictor.dv, strict=True):
        aim = np.append(sigma * tau * cone.target, np.zeros(point.size - 1))
        second = jordan(np.linalg.solve(cone.T, dz), cone.T @ dv)
        products.append(aim - jordan(point, point) - share * second)
    return direction(equations, cones, products), sigma
