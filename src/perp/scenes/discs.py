"""Discs in the plane: the three scenes of AMGS section 5, and the simulator that SLIDES ask for.

AMGS prints the sizes of J, an m x n matrix: n = 672 for Pool 1 and m = 516 on average. 672 is 3 (221 + 3): the walls of
AMGS are bodies, too (here they are none, and 221 discs have 663 velocities). 516 is the number of contacts, not that of
rows: the piles of seeds 0 to 3 have 480 to 521 contacts on average over 1,000 steps of 200 sweeps, about 37 of them
with walls, and J has two rows for each. The means of the diagonal of A that AMGS prints say the same. A contact of two
discs of mass m has the entries 2/m and 6/m, one with a wall 1/m and 3/m; 37 walls among 516 contacts make 1.928, as
printed for Pool 1 (ours: 1.918 to 1.928). AMGS calls this number the mean over gamma = 2; only that of Pool 2 (1.086;
ours: half of 2.15 to 2.19) is.

AMGS makes 10 sweeps a step for its figures and 200 for Table 2.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.gallery.options import About
from perp.problems.inputs import Vector
from perp.scenes.catalogue import scene
from perp.scenes.shared import Friction
from perp.worlds.rigid2d import Discs, DiscWorld, HalfPlane

MOST = 100_000
ROOM = 1.05
"""Discs start on a lattice whose pitch is at least so many diameters."""
SHIFT = 0.4
"""They are shifted by at most this share of the room between neighbours, so that none overlap."""
LIGHT, HEAVY = 1.0, 3.0
"""[kg], at the bottom and at the top of Pool 2."""
DENSITY = 10.0
"""[kg/m^2] on average, of the falling discs."""

Count = Annotated[int, About("number of discs", 1, MOST)]
Width = Annotated[float, About("distance of the walls [m]", 0.0, 1e6)]
Radius = Annotated[float, About("of the discs [m]", 1e-3, 1e3)]
Restitution = Annotated[float, About("share of the speed that a bounce gives back", 0.0, 1.0)]


@scene("AMGS section 5, Fig. 1", dt=1 / 60, method="pgs", iterations=200, small={"discs": 24, "width": 2.0})
def pool1(
    *,
    discs: Count = 221,
    width: Width = 6.0,
    radius: Radius = 0.21,
    friction: Friction = 0.1,
    restitution: Restitution = 0.2,
    seed: int = 0,
) -> DiscWorld:
    """Equal discs of 2 kg dropped into a container 6 m wide (AMGS "Pool 1").

    AMGS says neither the time step nor how the discs start. Here they start in 17 rows of 13, each shifted a little at
    random, and come to rest within 200 steps.
    """
    position = _lattice(discs, width, radius, np.random.default_rng(seed))
    return _poured(position, np.full(discs, 2.0), np.full(discs, radius), width, friction, restitution)


@scene("AMGS section 5, Fig. 1", dt=1 / 60, method="pgs", iterations=200, small={"discs": 24, "width": 2.0})
def pool2(
    *,
    discs: Count = 221,
    width: Width = 6.0,
    radius: Radius = 0.21,
    friction: Friction = 0.1,
    restitution: Restitution = 0.2,
    seed: int = 0,
) -> DiscWorld:
    """Pool 1 with masses from 1 kg at the bottom to 3 kg at the top (AMGS "Pool 2").

    The masses grow linearly with the height at which a disc starts; light discs then bear heavy ones, which makes
    sweeps converge slowly.
    """
    position = _lattice(discs, width, radius, np.random.default_rng(seed))
    height = position[:, 1] - position[:, 1].min()
    mass = LIGHT + (HEAVY - LIGHT) * height / max(height.max(), radius)
    return _poured(position, mass, np.full(discs, radius), width, friction, restitution)


@scene("AMGS section 5, Fig. 2", dt=1 / 60, method="pgs", iterations=200, small={"discs": 6})
def stacking(
    *,
    discs: Annotated[int, About("number of discs; AMGS has 30, and 150 for Table 1", 1, MOST)] = 30,
    radius: Radius = 0.18,
    friction: Friction = 0.1,
    restitution: Restitution = 0.2,
    gap: Annotated[float, About("between neighbours at the beginning [m]", 0.0)] = 0.002,
) -> DiscWorld:
    """Discs of 1 kg, one upon the other (AMGS "Stacking").

    Every normal is exactly vertical, so that nothing rubs and nothing falls to the side. AMGS prints n = 48 and an
    average of m = 14, which does not fit 30 discs: 48 velocities are those of 15 discs and the ground, which have 15
    contacts. Thirty discs have n = 90 (93 with the ground) and 30 contacts.
    """
    height = radius + gap + (2.0 * radius + gap) * np.arange(discs)
    position = np.column_stack([np.zeros(discs), height])
    bodies = Discs(position, radius, 1.0, friction=friction, restitution=restitution)
    return DiscWorld(bodies, [HalfPlane((0.0, 0.0), (0.0, 1.0), friction, restitution)])


@scene("SLIDES, advanced assignment", dt=1 / 60, method="pgs", iterations=50, small={"discs": 16, "width": 1.5})
def falling_discs(
    *,
    discs: Count = 100,
    width: Width = 4.0,
    radius: Annotated[float, About("mean radius of the discs [m]", 1e-3, 1e3)] = 0.15,
    spread: Annotated[float, About("how far radii and densities differ from their means, as a share", 0.0, 0.9)] = 0.5,
    friction: Friction = 0.0,
    restitution: Restitution = 0.0,
    seed: int = 0,
) -> DiscWorld:
    """Discs of varying size and mass fall into a container without friction (SLIDES, advanced programming).

    Radii and masses a unit of area are drawn evenly from 1 ± `spread` times their means. Without friction the problem
    of each step is that of the normals: `perp.frictionless(problem)` is the LCP which SLIDES ask to examine.
    """
    draw = np.random.default_rng(seed)
    radii = radius * draw.uniform(1.0 - spread, 1.0 + spread, discs)
    density = DENSITY * draw.uniform(1.0 - spread, 1.0 + spread, discs)
    position = _lattice(discs, width, radius * (1.0 + spread), draw)
    return _poured(position, density * np.pi * radii**2, radii, width, friction, restitution)


def _lattice(discs: int, width: float, radius: float, draw: np.random.Generator) -> NDArray[np.float64]:
    """Rows from the ground up, as many discs in each as fit between the walls, each a little off its place."""
    columns = int(width / (2.0 * ROOM * radius))
    if columns < 1:
        raise InvalidProblem(f"width is {width}; discs of radius {radius:g} need at least {2.0 * ROOM * radius:g}")
    pitch = width / columns
    number = np.arange(discs)
    place = np.column_stack([number % columns + 0.5, number // columns + 0.5]) * pitch
    shift = SHIFT * (0.5 * pitch - radius)
    return place + draw.uniform(-shift, shift, (discs, 2))


def _poured(
    position: NDArray[np.float64], mass: Vector, radius: Vector, width: float, friction: float, restitution: float
) -> DiscWorld:
    """Discs above the ground, between two walls that have no end."""
    walls = [
        HalfPlane(point, normal, friction, restitution)
        for point, normal in (((0.0, 0.0), (0.0, 1.0)), ((0.0, 0.0), (1.0, 0.0)), ((width, 0.0), (-1.0, 0.0)))
    ]
    return DiscWorld(Discs(position, radius, mass, friction=friction, restitution=restitution), walls)
