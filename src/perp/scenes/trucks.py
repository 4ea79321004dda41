"""Trucks that fall onto a net of cables (THESIS 6.1.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from perp.gallery.options import About
from perp.scenes.cables import BendDamping, BendStiffness, CableMaterial, Compliance, add_cable, points_along
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Mass, Model
from perp.scenes.truck import AXLES, LENGTH, WIDTH, add_truck
from perp.worlds.rigid3d.builder import RigidBuilder
from perp.worlds.rigid3d.joints import Ball
from perp.worlds.rigid3d.rigid_world import RigidWorld

LINK = 0.2
"""Length of a link [m]: 1 kg of cable."""
CABLE_RADIUS = 0.02
"""[m]"""
SAG = 0.08
"""Of the net in its middle, as a share of its width."""
SPACE = 0.4
"""Between trucks [m]."""
MARGIN = 0.02
"""Contacts are known from this gap on [m]: trucks move by a centimetre or two in a step."""
NET, FIRST_TRUCK = 0, 1
"""Groups of shapes: cables do not collide with cables, nor the parts of a truck with one another."""
CURVE = np.linspace(-0.5, 0.5, 2001)

Cables = Annotated[int, About("cables in this direction", 2, 100)]
LinksOfCable = Annotated[int, About("links of a cable in this direction", 4, 10_000)]


@scene(
    "THESIS 6.1.5",
    dt=1 / 240,
    method="cone_newton",
    iterations=60,
    small={
        "rows": 1,
        "columns": 1,
        "long_cables": 3,
        "cross_cables": 3,
        "long_links": 30,
        "cross_links": 14,
        "drop": 0.0,
    },
)
def trucks(
    *,
    rows: Annotated[int, About("trucks one behind the other", 1, 5)] = 2,
    columns: Annotated[int, About("trucks side by side", 1, 5)] = 2,
    truck_mass: Mass = 8000.0,
    long_cables: Cables = 6,
    cross_cables: Cables = 6,
    long_links: LinksOfCable = 65,
    cross_links: LinksOfCable = 48,
    density: Annotated[float, About("of the cables [kg/m]", 1e-3, 1e6)] = 5.0,
    drop: Annotated[float, About("from the wheels to the net at the beginning [m]", 0.0, 100.0)] = 0.3,
    bend_stiffness: BendStiffness = 500.0,
    bend_damping: BendDamping = 1000.0,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-9,
    model: Model = "box",
) -> RigidWorld:
    """Four trucks of 8,000 kg and 22 bodies each fall onto a net of very stiff cables (THESIS "Trucks").

    THESIS Table 6.1: at most 5,650 constraints, mass ratio 8,000:1 (a truck against a link; of single bodies ours is
    2,500:1). As printed, a cable weighs 5 kg/m and has 48 or 65 links, here of 1 kg and 0.2 m; ours are six each way,
    joined to the world at both ends (294 and 396 rows), tied to one another by ball joints where they cross, and made
    with a sag, because a straight cable that does not stretch cannot catch anything. The truck is described in
    `perp.scenes.truck`. Cables collide with trucks and trucks with trucks.

    The damping of bending is enough for 330 kN in a cable (`perp.scenes.cables`). `cone_newton` solves nineteen steps
    of twenty to 1e-6, half of them in less than half a second.
    """
    net = Net(np.array([long_links, cross_links]), np.array([long_cables, cross_cables]))
    spots = np.array([rows * (LENGTH + SPACE), columns * (WIDTH + SPACE)]) - SPACE
    if (spots > net.size).any():
        raise ValueError(
            f"rows = {rows}, columns = {columns}: the trucks need {spots[0]:.1f} x {spots[1]:.1f} m, the net has "
            f"{net.size[0]:.1f} x {net.size[1]:.1f} m"
        )
    builder = RigidBuilder()
    material = CableMaterial(
        link_mass=density * LINK,
        radius=CABLE_RADIUS,
        bend_stiffness=bend_stiffness,
        bend_damping=bend_damping,
        compliance=compliance,
        friction=friction,
        group=NET,
    )
    net.add_to(builder, material)
    # the net rises towards its border: of all wheels, those at the outer ends of the rows are nearest to it
    outermost = (rows - 1) / 2.0 * (LENGTH + SPACE) + max(abs(axle) for axle in AXLES)
    ground = float(net.height(outermost, spots[1] / 2.0)) + CABLE_RADIUS + drop
    for number in range(rows * columns):
        row, column = divmod(number, columns)
        x = (LENGTH + SPACE) * (row - (rows - 1) / 2.0)
        y = (WIDTH + SPACE) * (column - (columns - 1) / 2.0)
        add_truck(
            builder,
            np.array([x, y, ground]),
            mass=truck_mass,
            friction=friction,
            compliance=compliance,
            group=FIRST_TRUCK + number,
            name=f"truck {number + 1}",
        )
    return builder.world(model=model, compliance=compliance, margin=MARGIN)


@dataclass(frozen=True, eq=False)
class Net:
    """Cables along x and along y on the surface z = -sag (1 - (2 x / a)^2) (1 - (2 y / b)^2), with the border level."""

    links: NDArray[np.int64]
    """Of a cable along x, and of one along y."""
    cables: NDArray[np.int64]
    """How many along x, and along y."""

    @property
    def size(self) -> NDArray[np.float64]:
        """a and b [m]. A parabola of width w and sag s is w (1 + 8/3 (s / w)^2) long, to third order in s / w."""
        lengths: NDArray[np.float64] = LINK * self.links.astype(np.float64)
        return lengths / (1.0 + 8.0 / 3.0 * SAG**2)

    def height(self, x: NDArray[np.float64] | float, y: NDArray[np.float64] | float) -> NDArray[np.float64]:
        a, b = self.size
        return np.asarray(-SAG * b * (1.0 - (2.0 * x / a) ** 2) * (1.0 - (2.0 * y / b) ** 2))

    def places(self, direction: int) -> NDArray[np.float64]:
        """Where the cables along this direction lie in the other one [m]."""
        count = self.cables[direction]
        places: NDArray[np.float64] = self.size[1 - direction] * ((np.arange(count) + 0.5) / count - 0.5)
        return places

    def add_to(self, builder: RigidBuilder, material: CableMaterial) -> None:
        """Add the cables, and ball joints where they cross."""
        made: list[list[tuple[NDArray[np.float64], list[int]]]] = []
        for direction in (0, 1):
            cables = []
            for place in self.places(direction):
                run, aside = self.size[direction] * CURVE, np.full(CURVE.size, place)
                x, y = (run, aside) if direction == 0 else (aside, run)
                points = points_along(np.column_stack([x, y, self.height(x, y)]), int(self.links[direction]))
                cables.append((points, add_cable(builder, points, material)))
            made.append(cables)
        for y, (points_x, along_x) in zip(self.places(0), made[0], strict=True):
            for x, (points_y, along_y) in zip(self.places(1), made[1], strict=True):
                a = along_x[int(np.searchsorted(points_x[:, 0], x)) - 1]  # the link that has x within it
                b = along_y[int(np.searchsorted(points_y[:, 1], y)) - 1]
                crossing = (x, y, float(self.height(x, y)))
                builder.join(Ball(a, b, crossing, compliance=material.compliance))
