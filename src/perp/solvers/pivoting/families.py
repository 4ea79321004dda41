"""The solutions that a singular index set holds: a polyhedron, told by its vertices and extreme rays.

With F free and T tight they are the x with A_FF x_F = -b_F - A_FT x_T, lower <= x_F <= upper and y_T of the right
signs. Written as x_F = p + N s, with N an orthonormal basis of the null space and p orthogonal to it, the conditions
become G s >= h in few unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import scipy
from numpy.typing import NDArray

from perp.kernels.pivoting import principal_pivots
from perp.problems.inputs import Matrix, Vector
from perp.problems.problem import Problem
from perp.solvers.pivoting.scaled_problem import Sides

ROUNDING = 1e-10
"""A number counts as zero below this share of the numbers that it was added up from."""

MOST_CORNERS = 5000
"""So many choices of active conditions are tried to list vertices; above, a family is told by one point alone."""

FAR = 1e3
"""How far along a ray a family is looked at, in units of the vertex where the ray begins."""


@dataclass(frozen=True)
class Family:
    """Solutions that form a polyhedron: the convex hull of `vertices`, plus all sums of multiples of `rays`."""

    free: tuple[int, ...]
    upper: tuple[int, ...]
    """The tight rows that are at their upper bounds; the other tight rows are at their lower ones."""
    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    """Directions of length one."""
    shortest: Vector
    """The solution of least 2-norm in the family."""
    complete: bool
    """Whether all vertices and rays are listed; if not, `vertices` holds `shortest` alone."""


@dataclass(frozen=True)
class RowScaled:
    """A, b and the bounds, with row i of A and b divided by 2^exponent_i so that its largest number is about 1.

    That changes no solution.
    """

    A: Matrix
    b: Vector
    lower: Vector
    upper: Vector
    exponent: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem) -> RowScaled:
        A, b = problem.A.to_dense(), problem.b
        largest = np.maximum(np.abs(A).max(axis=1, initial=0.0), np.abs(b))
        _, exponent = np.frexp(np.where(largest > 0.0, largest, 1.0))
        return cls(
            np.ldexp(A, -exponent[:, None]), np.ldexp(b, -exponent), *problem.bounds(b), exponent.astype(np.int64)
        )

    def holds(self, x: Vector, side: Sides) -> bool:
        """Whether x solves the problem with its rows on these sides, up to rounding."""
        y = self.A @ x + self.b
        y_rounding = ROUNDING * (np.abs(self.A) @ np.abs(x) + np.abs(self.b))
        x_rounding = ROUNDING * np.abs(x).max(initial=0.0)
        free, low, high = side == principal_pivots.FREE, side == principal_pivots.LOWER, side == principal_pivots.UPPER
        if ((x < self.lower - x_rounding) | (x > self.upper + x_rounding)).any():
            return False
        at_bound = np.where(high, x >= self.upper - x_rounding, x <= self.lower + x_rounding)
        right_sign = (~low | (y >= -y_rounding)) & (~high | (y <= y_rounding)) & (~free | (np.abs(y) <= y_rounding))
        return bool((free | at_bound).all() and right_sign.all())


@dataclass(frozen=True)
class Polyhedron:
    """x = p + N s with G s >= h, rows of G of length one."""

    p: Vector
    N: Matrix
    G: Matrix
    h: Vector

    @property
    def dimension(self) -> int:
        return int(self.N.shape[1])

    def at(self, s: Vector) -> Vector:
        point: Vector = self.p + self.N @ s
        return point


def describe(data: RowScaled, side: Sides) -> Polyhedron | None:
    """The polyhedron of an index set; None where its equations or its constant conditions contradict each other."""
    free = side == principal_pivots.FREE
    x = np.where(free, 0.0, np.where(side == principal_pivots.UPPER, data.upper, data.lower))
    c = data.A @ x + data.b
    if not np.isfinite(c).all():
        return None
    U, sizes, Vt = np.linalg.svd(data.A[np.ix_(free, free)])
    rank = int(np.count_nonzero(sizes > ROUNDING * sizes.max(initial=0.0)))
    x[free] = -(Vt[:rank].T / sizes[:rank]) @ (U[:, :rank].T @ c[free])
    y = data.A @ x + data.b
    noise = np.abs(data.A) @ np.abs(x) + np.abs(c)
    if (np.abs(y) > ROUNDING * noise)[free].any():
        return None
    N = np.zeros((x.size, free.sum() - rank))
    N[free] = Vt[rank:].T
    AN, size = data.A @ N, np.full(x.size, np.abs(x).max(initial=0.0))
    conditions = [
        (free & np.isfinite(data.lower), N, data.lower - x, size),  # x_F within its bounds
        (free & np.isfinite(data.upper), -N, x - data.upper, size),
        (side == principal_pivots.LOWER, AN, -y, noise),  # y_T with the signs of THESIS eq. 2.39
        (side == principal_pivots.UPPER, -AN, y, noise),
    ]
    G = np.concatenate([slope[rows] for rows, slope, _, _ in conditions])
    h = np.concatenate([start[rows] for rows, _, start, _ in conditions])
    level = np.concatenate([scale[rows] for rows, _, _, scale in conditions])
    length = np.sqrt(np.sum(G * G, axis=1))
    constant = length <= ROUNDING
    if (h[constant] > ROUNDING * level[constant]).any():
        return None
    return Polyhedron(x, N, G[~constant] / length[~constant, None], h[~constant] / length[~constant])


def find_shortest(polyhedron: Polyhedron) -> Vector | None:
    """The point of least 2-norm, or None where there is no point.

    As p is orthogonal to N this is the least s with G s >= h: least distance programming, which is a least-squares
    problem with u >= 0 (Lawson & Hanson 1974, chapter 23).
    """
    d, scale = polyhedron.dimension, max(np.abs(polyhedron.h).max(initial=0.0), np.abs(polyhedron.p).max(initial=0.0))
    h = polyhedron.h / (scale or 1.0) - ROUNDING  # so that a polyhedron without inner points is not lost by rounding
    if d == 0 or (h <= 0.0).all():
        return polyhedron.p if (h <= 0.0).all() else None
    E = np.vstack([polyhedron.G.T, h])
    try:
        u, _ = scipy.optimize.nnls(E, np.eye(d + 1)[d])
    except RuntimeError:  # it went in circles: any point will do
        program = scipy.optimize.linprog(np.zeros(d), A_ub=-polyhedron.G, b_ub=-h, bounds=(None, None), method="highs")
        return polyhedron.at(program.x * (scale or 1.0)) if program.status == 0 else None
    r = E @ u - np.eye(d + 1)[d]
    if np.linalg.norm(r) <= 1e-6:
        return None
    return polyhedron.at(-r[:d] / r[d] * (scale or 1.0))


def list_corners(polyhedron: Polyhedron) -> tuple[list[Vector], list[Vector]] | None:
    """Vertices and extreme rays, by trying all choices of active conditions; None where there are too many of them.

    Directions along which no condition changes (rows without bounds) are rays both ways, and the vertices are those of
    the part orthogonal to them.
    """
    if polyhedron.dimension == 0:  # a point
        return [polyhedron.p], []
    _, sizes, Vt = np.linalg.svd(polyhedron.G.reshape(-1, polyhedron.dimension))
    rank = int(np.count_nonzero(sizes > ROUNDING))
    lines = [sign * line for line in Vt[rank:] for sign in (1.0, -1.0)]
    G, m = polyhedron.G @ Vt[:rank].T, len(polyhedron.h)
    if comb(m, rank) > MOST_CORNERS:
        return None
    size = max(np.abs(polyhedron.h).max(initial=0.0), np.abs(polyhedron.p).max(initial=0.0))
    corners: list[Vector] = []
    for chosen in combinations(range(m), rank):
        active = G[list(chosen)]
        if rank and np.linalg.svd(active, compute_uv=False)[-1] <= 1e-8:
            continue
        q = np.linalg.solve(active, polyhedron.h[list(chosen)]) if rank else np.zeros(0)
        if (G @ q >= polyhedron.h - 1e2 * ROUNDING * size).all():
            _add_new(corners, q, 1e3 * ROUNDING * size)
    edges: list[Vector] = []
    for chosen in combinations(range(m), rank - 1) if rank else ():
        _, sizes, directions = np.linalg.svd(G[list(chosen)].reshape(-1, rank))
        if sizes.size == 0 or sizes[-1] > 1e-8:
            for direction in (directions[-1], -directions[-1]):
                if (G @ direction >= -1e2 * ROUNDING).all():
                    _add_new(edges, direction, 1e3 * ROUNDING)
    vertices = [polyhedron.at(Vt[:rank].T @ q) for q in corners]
    rays = [polyhedron.N @ (Vt[:rank].T @ q) for q in edges] + [polyhedron.N @ line for line in lines]
    return vertices, rays


def find_families(problem: Problem, singular: list[Sides]) -> tuple[list[Family], list[Vector]]:
    """The families of these index sets without those that are parts of others, and points that stand alone."""
    data = RowScaled.of(problem)
    families: list[tuple[Family, Sides]] = []
    points: list[Vector] = []
    for side in sorted(
        singular, key=lambda side: -np.count_nonzero(side == principal_pivots.FREE)
    ):  # parts come after their wholes
        polyhedron = describe(data, side)
        shortest = None if polyhedron is None else find_shortest(polyhedron)
        if polyhedron is None or shortest is None:
            continue
        if any(_is_part(data, polyhedron, shortest, side, whole) for _, whole in families):
            continue
        corners = list_corners(polyhedron)
        vertices, rays = corners or ([shortest], [])
        inside = [np.clip(x, data.lower, data.upper) for x in vertices or [shortest]]
        reach = max(np.abs(inside[0]).max(initial=0.0), 1.0) * FAR
        outline = [*inside, *(inside[0] + reach * ray for ray in rays)]
        if corners and any(all(data.holds(x, whole) for x in outline) for _, whole in families):
            continue
        if corners and len(inside) == 1 and not rays:
            points.append(inside[0])
            continue
        family = Family(
            _indices(side == principal_pivots.FREE),
            _indices(side == principal_pivots.UPPER),
            tuple(inside),
            tuple(rays),
            np.clip(shortest, data.lower, data.upper),
            corners is not None,
        )
        families.append((family, side))
    return [family for family, _ in families], points


def belongs_to_family(problem: Problem, families: list[Family], points: list[Vector]) -> list[bool]:
    """For each point, whether it is part of one of the families (their borders included)."""
    data = RowScaled.of(problem)
    sides = []
    for family in families:
        side = np.full(problem.n, principal_pivots.LOWER)
        side[data.lower == data.upper] = principal_pivots.FIXED
        side[list(family.free)], side[list(family.upper)] = principal_pivots.FREE, principal_pivots.UPPER
        sides.append(side)
    return [any(data.holds(x, side) for side in sides) for x in points]


def _is_part(data: RowScaled, polyhedron: Polyhedron, point: Vector, side: Sides, whole: Sides) -> bool:
    """Whether all of the polyhedron lies in the family `whole`, which holds where the latter's free rows have y = 0."""
    freed = whole == principal_pivots.FREE
    if ((side != whole) & ~freed).any():
        return False
    moved = np.abs(data.A[freed] @ polyhedron.N)
    return bool((moved <= ROUNDING).all()) and data.holds(point, whole)


def _add_new(known: list[Vector], vector: Vector, tolerance: float) -> None:
    if not any(np.abs(vector - other).max(initial=0.0) <= tolerance for other in known):
        known.append(vector)


def _indices(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.flatnonzero(mask))
