"""How the solutions of obstacle problems on grids come near to the continuous ones.

`perp.gallery.obstacles` shows why |x - u| = O(h^2) at every point: J h^2 / 2 and what the fourth derivatives add, where
J is the pressure of the obstacle at the rim of the contact. The error depends on how the points lie around that rim,
and its largest value on the worst of them, which finer grids meet more often: max |x - u| / h^2 rises for a while
before it stays (an order of 1.5 to 1.9 on grids as coarse as these). The mean square has the order 2 from the start.
Several grids of nearly the same spacing are taken together, since one alone may be lucky.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import perp
from perp.gallery import Obstacle, make

PLANE, SPACE = ((12, 24, 48, 96), "block_principal"), ((8, 16, 32), "mprgp")
GRIDS_A_LEVEL = 4
CASES = [
    ("radial_obstacle", "", 2),
    ("membrane", "sphere", 2),
    ("membrane", "paraboloid", 2),
    ("double_obstacle", "", 2),
    ("radial_obstacle", "", 3),
    ("membrane", "sphere", 3),
    ("double_obstacle", "", 3),
]
cases = pytest.mark.parametrize(("kind", "obstacle", "dimension"), CASES)


@cache
def solve_levels(kind: str, obstacle: str, dimension: int) -> list[list[tuple[Obstacle, np.ndarray]]]:
    """Examples and their solutions, level by level; solved from u, which tells them the rim but for a few points."""
    levels, method = PLANE if dimension == 2 else SPACE
    options = {"obstacle": obstacle} if obstacle else {}

    def solve(points: int) -> tuple[Obstacle, np.ndarray]:
        example = make(kind, n=points**dimension, dimension=dimension, **options)
        result = perp.solve(example.problem, method, x0=example.continuous, tol=1e-11)
        assert result.success
        return example, result.x

    return [[solve(points) for points in range(level, level + GRIDS_A_LEVEL)] for level in levels]


def fit_order(spacing: np.ndarray, error: np.ndarray) -> float:
    return float(np.polyfit(np.log(spacing), np.log(error), 1)[0])


def rim_pressure(example: Obstacle, obstacle: str) -> float:
    """-lap(bound) + f at the rim: 1 over a floor; of a sphere (d - a^2 (d - 1)) / (1 - a^2)^(3/2); 2 d of 1 - r^2."""
    d = len(example.problem.A.grid)
    if obstacle == "paraboloid":
        return 2.0 * d
    a = example.lower_within
    return (d - a**2 * (d - 1)) / (1.0 - a**2) ** 1.5 if obstacle == "sphere" else 1.0


@cases
def test_the_mean_square_of_the_error_has_order_two(kind, obstacle, dimension):
    spacing, error = [], []
    for level in solve_levels(kind, obstacle, dimension):
        spacing.append(np.mean([example.spacing for example, _ in level]))
        over_h2 = [np.mean((x - example.continuous) ** 2) / example.spacing**4 for example, x in level]
        error.append(spacing[-1] ** 2 * math.sqrt(np.mean(over_h2)))
    assert fit_order(np.array(spacing), np.array(error)) == pytest.approx(2.0, abs=0.25)


@cases
def test_the_largest_error_is_below_half_the_rims_pressure_times_h_squared(kind, obstacle, dimension):
    spacing, error = [], []
    for level in solve_levels(kind, obstacle, dimension):
        over_h2 = [np.abs(x - example.continuous).max() / example.spacing**2 for example, x in level]
        assert max(over_h2) <= 0.5 * rim_pressure(level[0][0], obstacle)
        spacing.append(np.mean([example.spacing for example, _ in level]))
        error.append(spacing[-1] ** 2 * max(over_h2))
    assert fit_order(np.array(spacing), np.array(error)) > 1.5


@cases
def test_the_contact_is_the_known_one_but_for_points_within_h_of_its_rim(kind, obstacle, dimension):
    for level in solve_levels(kind, obstacle, dimension):
        for example, x in level:
            lower, upper = example.problem.bounds(x)
            r, h, a, c = example.distance, example.spacing, example.lower_within, example.upper_beyond
            assert (r[x == lower] < a + h).all()
            assert (r[x > lower] > a - h).all()
            assert (r[x == upper] > c - h).all()
            assert (r[x < upper] < c + h).all()


@cases
def test_the_radius_of_the_contact_by_its_volume_converges(kind, obstacle, dimension):
    """Counted in cells of h^d around the points; to O(h), as each point near the rim may be on either side of it."""
    spacing, error = [], []
    for level in solve_levels(kind, obstacle, dimension):
        over_h = []
        for example, x in level:
            volume = np.count_nonzero(x == example.problem.bounds(x)[0]) * example.spacing**dimension
            unit = math.pi if dimension == 2 else 4.0 / 3.0 * math.pi
            radius = (volume / unit) ** (1.0 / dimension)
            over_h.append(abs(radius - example.lower_within) / example.spacing)
        assert max(over_h) < 1.0
        spacing.append(np.mean([example.spacing for example, _ in level]))
        error.append(spacing[-1] * np.mean(over_h))
    assert fit_order(np.array(spacing), np.array(error)) > 0.75


@cases
def test_the_total_force_on_the_floor_converges(kind, obstacle, dimension):
    """The pressure y / h^2 adds up to the load on the contact, or to the pull of the membrane along its rim.

        floor under f = 1       the volume of the contact
        membrane                -|rim| psi'(a)
        floor and ceiling       the integral of f within a

    It is in balance with what holds the membrane elsewhere. There x - u is smooth and O(h^2), so the force is right to
    O(h^2), too, although the place of the rim is known to h only.
    """
    d = dimension
    for level in solve_levels(kind, obstacle, dimension):
        for example, x in level:
            a, c, h = example.lower_within, example.upper_beyond, example.spacing
            ball, sphere = (math.pi * a**2, 2 * math.pi * a) if d == 2 else (4 / 3 * math.pi * a**3, 4 * math.pi * a**2)
            if kind == "radial_obstacle":
                force = ball
            elif kind == "membrane":
                force = sphere * (a / math.sqrt(1.0 - a**2) if obstacle == "sphere" else 2.0 * a)
            else:
                inverse_m2 = (d + 2) / d * (c**d - a**d) / (c ** (d + 2) - a ** (d + 2))
                force = ball * (1.0 - d / (d + 2) * a**2 * inverse_m2)
            y = example.problem.slack(x)
            found = y[x == example.problem.bounds(x)[0]].sum() * h ** (d - 2)
            assert found == pytest.approx(force, abs=sphere * rim_pressure(example, obstacle) * h**2)
