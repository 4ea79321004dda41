"""Pyramids of gears: cylinders with boxes for teeth, lying on one another with their teeth in each other's gaps.

**One pair.** T teeth, T even, pitch tau = 2 pi / T, roots at radius r, tips at R, teeth of width w with parallel
flanks. A gear is meshed with another if a tooth of one points along the line of centres into the middle of a gap of the
other, and touches its root: the distance of the centres is d = R + r. Teeth of the two then follow one another at
angles of k tau/2 from that line, k = 0, 1, 2, ..., on either side. The corner of the tip of tooth k that faces tooth
k + 1 of the other gear has the distance

    d sin((k + 1) tau/2) - R sin((2 k + 1) tau/2) - w/2 cos((2 k + 1) tau/2)

from the axis of that tooth, which must be at least w/2. For k = 0, a tooth at the bottom of the gap, that is
w <= 2 r tan(tau/4). For k = 1 it is a little less if there are 16 teeth or more. For larger k teeth are out of each
other's reach, unless there are more than 44. `backlash` is the share by which teeth are narrower than the smaller of
these two widths. They are 2 r tan(tau/4) high: R = r (1 + 2 tan(tau/4)).

**A pyramid.** Rows of gears lie above each other, each gear in the saddle of two others, in directions alpha and
pi - alpha from these. With p the angle of a tooth of a lower gear and q that of an upper one, a tooth meets a gap in
direction phi if p + q = 2 phi + pi + tau/2, up to multiples of tau: seen along the line of centres, angles of the two
run in opposite senses. Both directions at once need 4 alpha = 0 up to such multiples, and alpha = j tau/2 makes it a
tooth in the middle of a gap rather than flank on flank. Neighbours in a row must not touch: d cos(alpha) > R. We take
the steepest such alpha. Gears of the lowest row have a gap at the bottom, p = -pi/2 + tau/2, and stand on two teeth; by
symmetry to the vertical both meshes of every gear are alike.

A gear that rolls turns those it is meshed with the other way. So the two that a gear rests on cannot both roll outwards
under its weight: the pyramid locks, once the backlash is used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.contact_options import Friction, Model
from perp.scenes.plane_turns import turned
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.rigid_world import RigidWorld

ROOT = 0.42
"""Radius of the cylinder [m]."""
HALF_LENGTH = 0.2
"""Of gears, along the axis [m]."""
GEAR_MASS = 5.0
"""[kg]"""
CLEARANCE = 0.002
"""Between neighbours in a row, at least [m]."""
ALONG_Y = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
"""The quaternion that turns the axis of a cylinder from z to y."""
TOOTH_COLOR = (0.80, 0.60, 0.30)

Base = Annotated[int, About("gears in the lowest row", 1, 50)]
Teeth = Annotated[int, About("teeth of a gear, an even number", 8, 40)]
Backlash = Annotated[float, About("the share by which teeth are narrower than the gaps they stand in", 0.0, 0.5)]


@dataclass(frozen=True)
class Gear:
    """The measures of a gear [m, rad]."""

    teeth: int
    backlash: float

    @property
    def pitch(self) -> float:
        return 2.0 * np.pi / self.teeth

    @property
    def tip(self) -> float:
        return float(ROOT * (1.0 + 2.0 * np.tan(self.pitch / 4.0)))

    @property
    def tooth_width(self) -> float:
        return (1.0 - self.backlash) * min(self.widest(0), self.widest(1))

    def widest(self, k: int) -> float:
        """w with which tooth k touches tooth k + 1 of the other gear."""
        own, both = (k + 1) * self.pitch / 2.0, (2 * k + 1) * self.pitch / 2.0
        room = self.distance * np.sin(own) - self.tip * np.sin(both)
        return float(2.0 * room / (1.0 + np.cos(both)))

    @property
    def distance(self) -> float:
        """Of the centres of two gears that mesh."""
        return self.tip + ROOT

    @property
    def steepest(self) -> float:
        """alpha: the direction of the gear above, as many half pitches as leave neighbours in a row apart."""
        largest = np.arccos((self.tip + CLEARANCE / 2.0) / self.distance)
        return float(np.floor(largest / (self.pitch / 2.0)) * self.pitch / 2.0)

    @property
    def height(self) -> float:
        """Of the centre of a gear that stands on two teeth: each is turned by tau/2 and stands on its inner edge."""
        half = self.pitch / 2.0
        return float(self.tip * np.cos(half) + self.tooth_width / 2.0 * np.sin(half))

    def shapes(self, friction: float) -> list[Geom]:
        """A cylinder along y, and teeth at multiples of the pitch; masses as the volumes."""
        half_width = self.tooth_width / 2.0
        inner = np.sqrt(ROOT**2 - half_width**2)  # where the edges of a tooth leave the cylinder
        disc, tooth = np.pi * ROOT**2, (self.tip - inner) * self.tooth_width
        density = GEAR_MASS / (disc + self.teeth * tooth)  # [kg/m^2], for the length of the gear
        shapes = [
            Geom(
                form="cylinder",
                size=(ROOT, HALF_LENGTH),
                orientation=ALONG_Y,
                mass=density * disc,
                friction=friction,
            )
        ]
        for angle in self.pitch * np.arange(self.teeth):
            middle = (inner + self.tip) / 2.0
            shapes.append(
                Geom(
                    form="box",
                    size=((self.tip - inner) / 2.0, HALF_LENGTH, half_width),
                    position=(middle * np.cos(angle), 0.0, middle * np.sin(angle)),
                    orientation=turned(angle),
                    mass=density * tooth,
                    friction=friction,
                    color=TOOTH_COLOR,
                )
            )
        return shapes


@scene("PGS-SM Fig. 2 (f)", dt=0.01, method="nncg", iterations=100, small={"base": 2})
def gears_small(
    base: Base = 2,
    *,
    teeth: Teeth = 16,
    backlash: Backlash = 0.05,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A small pyramid of gears: cylinders with teeth made of boxes.

    One gear on two, teeth in gaps. Number and size of gears and teeth are ours: 1 m across, 5 kg, 16 teeth.
    """
    return _pyramid(base, Gear(_even(teeth), backlash), friction, model)


@scene("PGS-SM Fig. 2 (g)", dt=0.01, method="nncg", iterations=200, small={"base": 3})
def gears_medium(
    base: Base = 5,
    *,
    teeth: Teeth = 16,
    backlash: Backlash = 0.05,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A pyramid of gears of medium size.

    As `gears_small`, with fifteen gears in five rows; the number is ours.
    """
    return _pyramid(base, Gear(_even(teeth), backlash), friction, model)


def _pyramid(base: int, gear: Gear, friction: float, model: str) -> RigidWorld:
    builder = RigidBuilder()
    builder.ground(friction=friction)
    alpha, shapes = gear.steepest, gear.shapes(friction)
    step = 2.0 * gear.distance * np.cos(alpha)
    phase = -np.pi / 2.0 + gear.pitch / 2.0
    for row in range(base):
        for place in range(base - row):
            x = step * (place - (base - row - 1) / 2.0)
            z = gear.height + row * gear.distance * np.sin(alpha)
            builder.body(shapes, (x, 0.0, z), turned(phase))
        phase = 2.0 * alpha + np.pi + gear.pitch / 2.0 - phase
    return builder.world(model=model)


def _even(teeth: int) -> int:
    if teeth % 2:
        raise ValueError(f"teeth is {teeth}; an even number is needed")
    return teeth
