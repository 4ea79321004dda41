"""A truck of 22 bodies: a chassis with what is bolted to it, three axles on springs, six hubs and six wheels.

Joints have 126 rows: six things fixed to the chassis (36), three axles (18) with two struts each (6), six hubs fixed to
their axles (36), six wheels on hinges (30).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.scenes.cables import turn_z_to
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Distance, Fixed, Hinge

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
