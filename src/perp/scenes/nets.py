"""Trucks that fall onto a net of cables (THESIS 6.1.5).

A truck has 22 bodies: a chassis with what is bolted to it, three axles on springs, six hubs and six wheels. Joints have
126 rows: six things fixed to the chassis (36), three axles (18) with two struts each (6), six hubs fixed to their axles
(36), six wheels on hinges (30).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from perp.gallery.options import About
from perp.scenes.cables import BendDamping, BendStiffness, CableMaterial, Compliance, add_cable, points_along, turn_z_to
from perp.scenes.catalogue import scene
from perp.scenes.shared import Friction, Mass, Model
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Ball, Distance, Fixed, Hinge
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

LENGTH, WIDTH = 5.4, 2.2
"""Over all [m]."""
MASS = 8000.0
"""Of the truck as it is drawn below [kg]."""

RED, BLUE, GREY, BLACK = (0.75, 0.30, 0.25), (0.30, 0.45, 0.65), (0.50, 0.52, 0.55), (0.15, 0.15, 0.17)
FORWARDS, SIDEWAYS = turn_z_to(np.array([1.0, 0.0, 0.0])), turn_z_to(np.array([0.0, 1.0, 0.0]))
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])

CHASSIS_HEIGHT, AXLE_HEIGHT = 0.75, 0.5
"""Of their middles above the ground [m]."""
BOLTED: tuple[tuple[str, str, Sequence[float], float, Any, Any, Sequence[float], Sequence[float]], ...] = (
    ("cab", "box", (0.7, 1.0, 0.75), 900.0, RED, UPRIGHT, (1.8, 0.0, 1.65), (1.8, 0.0, 0.87)),
    ("engine", "box", (0.5, 0.4, 0.25), 700.0, GREY, UPRIGHT, (2.0, 0.0, 0.9), (2.0, 0.0, 0.87)),
    ("cargo", "box", (1.6, 1.05, 0.35), 2400.0, BLUE, UPRIGHT, (-0.9, 0.0, 1.25), (-0.9, 0.0, 0.87)),
    ("bumper", "box", (0.08, 1.0, 0.12), 60.0, BLACK, UPRIGHT, (2.6, 0.0, 0.7), (2.5, 0.0, 0.7)),
    ("left tank", "cylinder", (0.2, 0.4), 120.0, GREY, FORWARDS, (0.4, 0.7, 0.7), (0.4, 0.45, 0.7)),
    ("right tank", "cylinder", (0.2, 0.4), 120.0, GREY, FORWARDS, (0.4, -0.7, 0.7), (0.4, -0.45, 0.7)),
)
"""What the chassis carries: name, form, size, mass, colour, orientation, middle, and where it is bolted on."""
AXLES = (1.7, -0.9, -2.0)
"""Where they are along the truck [m]."""
SPRINGS: dict[str, Any] = {"stiffness": 4e5, "damping": 2e4, "bend_stiffness": 2e5, "bend_damping": 1e4}
"""Of an axle against the chassis, in N/m, N s/m, N m/rad, N m s/rad."""
STRUTS: dict[str, Any] = {"stiffness": 2e5, "damping": 2e4}
"""[N/m], [N s/m]"""


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
    `perp.scenes.nets`. Cables collide with trucks and trucks with trucks.

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


def add_truck(
    builder: RigidBuilder,
    foot: NDArray[np.float64],
    *,
    mass: float = MASS,
    friction: float,
    compliance: float,
    group: int,
    name: str = "truck",
) -> list[int]:
    """Add a truck that looks along x, its wheels on the ground below at `foot`; returns the numbers of its bodies.

    Its parts do not collide with one another: they are a group of shapes of their own.
    """
    numbers: list[int] = []

    def add(
        part: str, form: str, size: Sequence[float], kg: float, color: Any, turn: Any, place: Sequence[float]
    ) -> int:
        shape = Geom(
            form=form,
            size=size,
            mass=kg * mass / MASS,
            friction=friction,
            color=color,
            orientation=turn,
            group=group,
            avoids=(group,),
        )
        numbers.append(builder.body([shape], foot + np.array(place), name=f"{name}: {part}"))
        return numbers[-1]

    chassis = add("chassis", "box", (2.5, 0.45, 0.12), 2500.0, GREY, UPRIGHT, (0.0, 0.0, CHASSIS_HEIGHT))
    for *look, bolt in BOLTED:
        part = add(*look)
        builder.join(Fixed(chassis, part, foot + np.array(bolt), compliance=compliance))
    for number, x in enumerate(AXLES, start=1):
        middle = foot + np.array([x, 0.0, AXLE_HEIGHT])
        axle = add(f"axle {number}", "cylinder", (0.07, 0.6), 200.0, BLACK, SIDEWAYS, (x, 0.0, AXLE_HEIGHT))
        builder.join(Fixed(chassis, axle, middle, **SPRINGS))
        for side, y in (("left", 1.0), ("right", -1.0)):
            where = f"{side} {number}"
            hub = add(f"hub {where}", "cylinder", (0.15, 0.08), 20.0, BLACK, SIDEWAYS, (x, 0.68 * y, AXLE_HEIGHT))
            wheel = add(f"wheel {where}", "cylinder", (0.5, 0.14), 80.0, BLACK, SIDEWAYS, (x, 0.9 * y, AXLE_HEIGHT))
            builder.join(Fixed(axle, hub, middle + np.array([0.0, 0.6 * y, 0.0]), compliance=compliance))
            bearing = middle + np.array([0.0, 0.76 * y, 0.0])
            builder.join(Hinge(hub, wheel, bearing, (0.0, 1.0, 0.0), compliance=compliance))
            low = middle + np.array([0.0, 0.4 * y, 0.0])
            high = low + np.array([0.0, 0.0, CHASSIS_HEIGHT - AXLE_HEIGHT])
            builder.join(Distance(chassis, axle, high, low, **STRUTS))
    return numbers
