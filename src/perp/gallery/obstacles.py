"""Obstacle problems on grids whose continuous solution is known: u over (or between) obstacles, loaded and clamped,

    lower <= u <= upper,     -lap u + f  >= 0 where u = lower,   <= 0 where u = upper,   = 0 between,

on the square or cube |x_i| < L, with the known u on its rim. All depend on the distance r from the middle alone.

The points are those of a grid with spacing h = 2 L / (k + 1) inside the square; the rim is not part of it. The usual
differences with 5 or 7 points, multiplied by h^2, give

    (2 d, -1) u + b = y,         b = h^2 f - (values of u at neighbours on the rim),

so that A is the same for every h, and y is h^2 times the pressure of the obstacle.

How far x is from u. Where u is smooth around a point, differences err by O(h^2). Beside the rim of the contact they err
by O(1), for there the second derivative jumps; but always to the same side, since the smooth continuation of u beyond
that rim lies on the allowed side of the obstacle. So u + C h^2 is an upper solution of the discrete problem, and the
larger of the obstacle and u - C h^2 is a lower one, because u is within O(h^2) of the obstacle at the points with the
large error: |x - u| = O(h^2) everywhere. (Finite elements and any u: h^2 times a power of log(1/h); Baiocchi 1977,
Nitsche 1977.) As u leaves the obstacle like (r - a)^2, the rim of the contact is found to O(h).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.grid import Form
from perp.gallery.options import About
from perp.problems.box import BoxLCP
from perp.problems.inputs import Vector, freeze
from perp.problems.lcp import LCP
from perp.problems.operators import Operator, SparseOperator, StencilOperator

Points = Annotated[int, About("grid points wanted; rounded to a square k x k or a cube k x k x k", 1, 100_000_000)]
Dimension = Annotated[Literal[2, 3], About("of the domain: a square or a cube")]
Field = Callable[[Vector], Vector]
"""A function of the distance from the middle."""

NOTE = "The solution of the continuous problem is known at the points of the grid; x differs from it by O(h^2)."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Obstacle(Example):
    """An example that knows what its x tends to as the grid is refined: `continuous`, and where it touches a bound."""

    spacing: float
    """h, the distance between neighbours on the grid."""
    distance: Vector
    """r, the distance of each point from the middle."""
    lower_within: float
    """Where r is less, u is at its lower bound."""
    upper_beyond: float = math.inf
    """Where r is more, u is at its upper bound."""


@catalogued()
def radial_obstacle(
    n: Points = 10_000,
    *,
    dimension: Dimension = 2,
    contact: Annotated[float, About("radius a of the contact; the domain is |x_i| < 1", 0.05, 0.95)] = 0.5,
    form: Form = "stencil",
) -> Example:
    """Membrane over a flat floor under a constant load, in contact within a disc (or ball) of known radius.

    With lower = 0, f = 1 and no upper bound, u is zero within r = a; beyond it lap u = 1 with u = u' = 0 at a:

        u = (r^2 - a^2) / 4 - a^2 / 2 ln(r / a)       in the plane,
        u = r^2 / 6 + a^3 / (3 r) - a^2 / 2           in space.

    """

    def u(r: Vector) -> Vector:
        return np.where(r > contact, _response(r, contact, 0, dimension), 0.0)

    grid = _Grid(n, dimension, 1.0)
    problem = LCP(grid.operator(form), grid.right_hand_side(np.ones_like, u))
    return grid.example(problem, u, contact)


@catalogued()
def membrane(
    n: Points = 10_000,
    *,
    dimension: Dimension = 2,
    obstacle: Annotated[
        Literal["sphere", "paraboloid"],
        About("sqrt(1 - r^2) within r = 1 and no bound beyond, or 1 - r^2 everywhere"),
    ] = "sphere",
    form: Form = "stencil",
) -> Example:
    """Membrane without a load, stretched over a sphere or a paraboloid and held down around it.

    With lower = psi(r) and f = 0, u = psi within r = a; beyond it u is harmonic and leaves psi smoothly,

        u = psi(a) + a psi'(a) s(r),      s = ln(r / a) in the plane,  1 - a / r in space;

    a is where this u vanishes at r = 2, the middle of each side: one equation in a. The domain is |x_i| < 2, so in its
    corners the membrane is held lower still. The obstacle pushes because psi is concave, -lap psi > 0.
    """

    def height(r: Vector) -> Vector:
        curved = np.sqrt(np.maximum(1.0 - r**2, 0.0)) if obstacle == "sphere" else 1.0 - r**2
        return np.where(r < 1.0, curved, -np.inf) if obstacle == "sphere" else curved

    a = _find_contact(obstacle, dimension, 2.0)
    top = 1.0 - a**2
    level, slope = (math.sqrt(top), -(a**2) / math.sqrt(top)) if obstacle == "sphere" else (top, -2.0 * a**2)

    def u(r: Vector) -> Vector:
        return np.where(r > a, level + slope * _spread(np.maximum(r, a), a, dimension), height(r))

    grid = _Grid(n, dimension, 2.0)
    b = grid.right_hand_side(np.zeros_like, u)
    return grid.example(BoxLCP(grid.operator(form), b, height(grid.distance), np.inf), u, a)


@catalogued()
def double_obstacle(
    n: Points = 10_000,
    *,
    dimension: Dimension = 2,
    inner: Annotated[float, About("radius a within which u lies on the floor", 0.05, 0.45)] = 0.3,
    outer: Annotated[float, About("radius c beyond which u lies at the ceiling", 0.55, 0.95)] = 0.8,
    form: Form = "stencil",
) -> Example:
    """Membrane between floor and ceiling, pressed down in the middle and up around it: both are touched.

    With f = 1 - r^2 / m^2, r^(d-1) u' is the integral of r^(d-1) f from a; it vanishes again at c, as it must, if

        m^2 = d / (d + 2)  (c^(d+2) - a^(d+2)) / (c^d - a^d).

    lower = 0, upper = u(c); a < m < c, so f > 0 where u is on the floor and f < 0 where it is at the ceiling.
    """
    d = dimension
    m2 = d / (d + 2) * (outer ** (d + 2) - inner ** (d + 2)) / (outer**d - inner**d)

    def rise(r: Vector) -> Vector:
        return _response(r, inner, 0, d) - _response(r, inner, 2, d) / m2

    ceiling = float(rise(np.array(outer)))

    def u(r: Vector) -> Vector:
        return np.where(r <= inner, 0.0, np.where(r >= outer, ceiling, rise(r)))

    grid = _Grid(n, dimension, 1.0)
    problem = BoxLCP(grid.operator(form), grid.right_hand_side(lambda r: 1.0 - r**2 / m2, u), 0.0, ceiling)
    return grid.example(problem, u, inner, outer)


class _Grid:
    """The points of a square or cube |x_i| < half_width without its rim."""

    def __init__(self, n: int, dimension: int, half_width: float) -> None:
        side: float = n ** (1.0 / dimension)
        k = max(1, round(side))
        self.shape = (k,) * dimension
        self.spacing = 2.0 * half_width / (k + 1)
        self.half_width = half_width
        self.line = self.spacing * np.arange(1, k + 1) - half_width
        self.distance = freeze(np.sqrt(self._sum_of_squares(dimension)).reshape(-1))

    def _sum_of_squares(self, axes: int) -> Vector:
        total = np.zeros(())
        for _ in range(axes):
            total = np.add.outer(total, self.line**2)
        return total

    def operator(self, form: str) -> Operator:
        stencil = StencilOperator(self.shape, 2.0 * len(self.shape), -1.0)
        return stencil if form == "stencil" else SparseOperator(stencil.to_sparse())

    def right_hand_side(self, load: Field, u: Field) -> Vector:
        """b = h^2 f, less u at the neighbours on the rim; all sides of the square look the same from its middle."""
        b = self.spacing**2 * load(self.distance).reshape(self.shape)
        side = u(np.sqrt(self.half_width**2 + self._sum_of_squares(len(self.shape) - 1)))
        for axis in range(len(self.shape)):
            layers = np.moveaxis(b, axis, 0)
            layers[0] -= side
            layers[-1] -= side
        return b.reshape(-1)

    def example(self, problem: LCP | BoxLCP, u: Field, lower_within: float, upper_beyond: float = math.inf) -> Obstacle:
        return Obstacle(
            problem,
            continuous=freeze(u(self.distance)),
            note=NOTE,
            spacing=self.spacing,
            distance=self.distance,
            lower_within=lower_within,
            upper_beyond=upper_beyond,
        )


def _spread(r: Vector, a: float, dimension: int) -> Vector:
    """The harmonic function of r that is 0 at a with slope 1 / a."""
    return np.log(r / a) if dimension == 2 else 1.0 - a / r


def _response(r: Vector, a: float, power: int, dimension: int) -> Vector:
    """The w(r) with lap w = r^power and w = w' = 0 at a, for r >= a (what it says below a is not meant).

    r^(d-1) w' = (r^(d+p) - a^(d+p)) / (d + p), and the integral of r^(1-d) from a is a^(2-d) s(r), so

        w = (r^(p+2) - a^(p+2)) / ((p + 2)(d + p)) - a^(p+2) / (d + p) s(r).
    """
    p, total = power, dimension + power
    outside = np.maximum(r, a)
    grown = (outside ** (p + 2) - a ** (p + 2)) / ((p + 2) * total)
    return grown - a ** (p + 2) / total * _spread(outside, a, dimension)


def _find_contact(obstacle: str, dimension: int, rim: float) -> float:
    """The a at which psi(a) + a psi'(a) s(rim) = 0, by bisection to the last bit.

    Sphere: 1 - a^2 = a^2 s; paraboloid: 1 - a^2 = 2 a^2 s. The difference of the two sides falls from 1 at a = 0 and is
    negative at a = 1, so there is exactly one.
    """
    share = 1.0 if obstacle == "sphere" else 2.0
    low, high = 0.0, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        s = float(_spread(np.array(rim), middle, dimension))
        if 1.0 - middle**2 > share * middle**2 * s:
            low = middle
        else:
            high = middle
    return low
