"""Gears and snakes of hinged boxes (PGS-SM Fig. 2), and rocks that a shovel pushes (THESIS 6.1.6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.gallery.options import About
from perp.scenes.catalogue import scene
from perp.scenes.shared import Compliance, Friction, Mass, Model, turned
from perp.worlds.rigid3d.builder import Geom, RigidBuilder
from perp.worlds.rigid3d.joints import Hinge
from perp.worlds.rigid3d.rigid_world import RigidWorld

# Pyramids of gears: cylinders with boxes for teeth, lying on one another with their teeth in each other's gaps.
#
# **One pair.** T teeth, T even, pitch tau = 2 pi / T, roots at radius r, tips at R, teeth of width w with parallel
# flanks. A gear is meshed with another if a tooth of one points along the line of centres into the middle of a gap of
# the other, and touches its root: the distance of the centres is d = R + r. Teeth of the two then follow one another at
# angles of k tau/2 from that line, k = 0, 1, 2, ..., on either side. The corner of the tip of tooth k that faces tooth
# k + 1 of the other gear has the distance
#
#     d sin((k + 1) tau/2) - R sin((2 k + 1) tau/2) - w/2 cos((2 k + 1) tau/2)
#
# from the axis of that tooth, which must be at least w/2. For k = 0, a tooth at the bottom of the gap, that is w <= 2 r
# tan(tau/4). For k = 1 it is a little less if there are 16 teeth or more. For larger k teeth are out of each other's
# reach, unless there are more than 44. `backlash` is the share by which teeth are narrower than the smaller of these
# two widths. They are 2 r tan(tau/4) high: R = r (1 + 2 tan(tau/4)).
#
# **A pyramid.** Rows of gears lie above each other, each gear in the saddle of two others, in directions alpha and pi -
# alpha from these. With p the angle of a tooth of a lower gear and q that of an upper one, a tooth meets a gap in
# direction phi if p + q = 2 phi + pi + tau/2, up to multiples of tau: seen along the line of centres, angles of the two
# run in opposite senses. Both directions at once need 4 alpha = 0 up to such multiples, and alpha = j tau/2 makes it a
# tooth in the middle of a gap rather than flank on flank. Neighbours in a row must not touch: d cos(alpha) > R. We take
# the steepest such alpha. Gears of the lowest row have a gap at the bottom, p = -pi/2 + tau/2, and stand on two teeth;
# by symmetry to the vertical both meshes of every gear are alike.
#
# A gear that rolls turns those it is meshed with the other way. So the two that a gear rests on cannot both roll
# outwards under its weight: the pyramid locks, once the backlash is used up.

ROOT = 0.42
"""Radius of the cylinder [m]."""
HALF_LENGTH = 0.2
"""Of gears, along the axis [m]."""
GEAR_MASS = 5.0
"""[kg]"""
GEAR_CLEARANCE = 0.002
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
        largest = np.arccos((self.tip + GEAR_CLEARANCE / 2.0) / self.distance)
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


# Snakes: boxes in a row, a hinge with limits between neighbours, standing on the ground as an arch.
#
# The axes of the n - 1 hinges are horizontal. Link k, k = 0..n-1, lies along the chord of direction
#
#     theta_k = arc / 2 - k bend,    bend = arc / (n - 1),
#
# so that the chain turns by `arc` from its first link to its last. Hinges sit in the middle of the faces, at the ends
# of the chords, all of one length. Two boxes of height c that bend by phi about that point keep clear of one another if
# each ends c/2 tan(phi/2) before it; phi is the largest bend that the limits allow.

CHORD = 0.5
"""From hinge to hinge [m]."""
WIDTH, HEIGHT = 0.6, 0.25
"""Of a link, across the arch and across its chord [m]."""
LINK_MASS = 1.0
"""[kg]"""
LOAD_EDGE = 0.8
"""[m]"""
LOAD_COLOR = (0.75, 0.30, 0.25)

Side = Annotated[int, About("links on each side of the one at the top", 1, 1000)]
Arc = Annotated[float, About("by how much the chain turns from its first link to its last [degrees]", 1.0, 180.0)]
Play = Annotated[
    float | None,
    About("how far a hinge turns either way from where it starts [degrees]; None: no limits", 0.0, 90.0),
]
MassRatio = Annotated[float, About("mass of the box over that of a link", 1e-6, 1e6)]


@scene("PGS-SM Fig. 2 (a)", dt=0.01, method="cone_newton", iterations=50, small={"side": 3})
def snake(
    side: Side = 7, *, arc: Arc = 150.0, play: Play = 3.0, friction: Friction = 0.5, model: Model = "box"
) -> RigidWorld:
    """An arched snake of boxes and hinges with limits settles on its two ends.

    Its own weight flattens the arch until limits hold it. Without limits it folds up. The paper prints no sizes: ours
    are fifteen links of 1 kg, 0.5 m from hinge to hinge.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    _add_arch(builder, side, arc, play, friction)
    return builder.world(model=model)


@scene("PGS-SM Fig. 2 (b)", dt=0.01, method="cone_newton", iterations=50, small={"side": 3, "mass_ratio": 10.0})
def snake_loaded(
    side: Side = 7,
    *,
    mass_ratio: MassRatio = 50.0,
    arc: Arc = 150.0,
    play: Play = 3.0,
    friction: Friction = 0.5,
    model: Model = "box",
) -> RigidWorld:
    """A heavy box lies on the top of an arched snake.

    The links of the `snake` carry a cube of 0.8 m, by default of fifty times the mass of a link (the paper says only
    that it is heavy): impulses must find their way down the hinges and limits to both ends.
    """
    builder = RigidBuilder()
    builder.ground(friction=friction)
    top = _add_arch(builder, side, arc, play, friction)
    half = LOAD_EDGE / 2.0
    load = Geom(form="box", size=(half, half, half), mass=mass_ratio * LINK_MASS, friction=friction, color=LOAD_COLOR)
    builder.body([load], (0.0, 0.0, top + half), name="load")
    return builder.world(model=model)


def _add_arch(builder: RigidBuilder, side: int, arc: float, play: float | None, friction: float) -> float:
    """Add the links and hinges; returns the height of the upper face of the link in the middle, which is level."""
    links = 2 * side + 1
    bend = np.radians(arc) / (links - 1)
    theta = np.radians(arc) / 2.0 - bend * np.arange(links)
    along = np.column_stack([np.cos(theta), np.zeros(links), np.sin(theta)])
    hinges = np.vstack([np.zeros(3), np.cumsum(CHORD * along, axis=0)])
    most_bent = bend + (0.0 if play is None else np.radians(play))
    half_length = CHORD / 2.0 - HEIGHT / 2.0 * np.tan(most_bent / 2.0)
    if half_length <= 0.0:
        raise ValueError(
            f"side = {side}, arc = {arc:g}, play = {play}: hinges that bend by {np.degrees(most_bent):.0f} degrees "
            "leave no room for links"
        )
    # the lower edge of the first link, which is turned up by theta_0, is to touch the ground: its corner lies
    # half_length back along the chord and HEIGHT / 2 down across it
    centres = (hinges[:-1] + hinges[1:]) / 2.0
    lowest = centres[0, 2] - half_length * np.sin(theta[0]) - HEIGHT / 2.0 * np.cos(theta[0])
    shift = np.array([-hinges[-1, 0] / 2.0, 0.0, -lowest])
    for k in range(links):
        link = Geom(form="box", size=(half_length, WIDTH / 2.0, HEIGHT / 2.0), mass=LINK_MASS, friction=friction)
        builder.body([link], centres[k] + shift, turned(theta[k]))
    limits = None if play is None else (-np.radians(play), np.radians(play))
    for k in range(links - 1):
        builder.join(Hinge(k, k + 1, hinges[k + 1] + shift, (0.0, 1.0, 0.0), limits=limits))
        builder.without_contact(k, k + 1)
    return float(centres[side, 2] + shift[2] + HEIGHT / 2.0)


# A pile of rocks that a light shovel pushes (THESIS 6.1.6).

GRANITE = 2600.0
"""[kg/m^3]"""
CORNERS = 14
"""Points whose convex hull is a rock."""
LONGEST = 1.4
"""The most by which one axis of a rock is longer than another."""
ARM = 4.0
"""Length of the shovel's handle [m]."""
BLADE = (0.03, 1.2, 0.35)
"""Half thickness, half width and half height [m]."""
BLADE_CLEARANCE = 0.05
"""Below the blade [m]."""
MARGIN = 0.02
"""[m]"""
WAIT = 2.0
"""How long the rocks may fall and settle before the shovel comes to where they fell [s]."""
BLADE_COLOR = (0.80, 0.62, 0.15)


@scene("THESIS 6.1.6", dt=1 / 60, method="pgs_sm", iterations=10, small={"count": 8})
def rocks(
    *,
    count: Annotated[int, About("number of rocks", 2, 10_000)] = 110,
    lightest: Mass = 80.0,
    heaviest: Mass = 250.0,
    shovel_mass: Mass = 1.0,
    speed: Annotated[float, About("of the shovel [m/s]", 0.0, 1e3)] = 1.0,
    max_force: Annotated[float, About("with which the shovel can push [N]", 0.0)] = 1e5,
    friction: Friction = 0.5,
    compliance: Compliance = 1e-8,
    model: Model = "box",
    seed: int = 0,
) -> RigidWorld:
    """A pile of rocks of 80 to 250 kg falls to the ground and is pushed by a shovel of 1 kg (THESIS "Rocks").

    Table 6.1: 1,800 constraints, mass ratio 250:1. The THESIS says neither how many rocks there are nor how the shovel
    is driven. Ours are convex hulls of random points on ellipsoids, with masses drawn evenly from 80 to 250 kg (one has
    the least, one the greatest mass), dropped layer by layer. The shovel is one rigid body: a blade, which collides,
    and a handle of 4 m, which does not. The end of the handle turns on a hinge with a motor, so that the blade sweeps
    over the ground at `speed`, with at most `max_force`; it comes to where the rocks fell two seconds after the start.
    """
    if lightest > heaviest:
        raise InvalidProblem(f"lightest is {lightest}, more than heaviest, {heaviest}")
    draw = np.random.default_rng(seed)
    mass = draw.uniform(lightest, heaviest, count)
    mass[[0, -1]] = lightest, heaviest
    corners = [rock_vertices(kilograms / GRANITE, draw) for kilograms in mass]
    pitch = 2.0 * max(float(np.linalg.norm(points, axis=1).max()) for points in corners)  # none touch, however turned
    columns = max(1, round(math.cbrt(count)))
    builder = RigidBuilder()
    builder.ground(half_edge=0.5 * columns * pitch + ARM, friction=friction)
    for k in range(count):
        level, place = divmod(k, columns**2)
        x, y = pitch * (np.array(divmod(place, columns)) - 0.5 * (columns - 1))
        rock = Geom(form="mesh", vertices=corners[k], mass=mass[k], friction=friction)
        builder.body([rock], (x, y, pitch * (level + 0.5)))
    _add_shovel(builder, 0.5 * columns * pitch + WAIT * speed, shovel_mass, speed, max_force, friction)
    return builder.world(model=model, compliance=compliance, margin=MARGIN)


def rock_vertices(volume: float, draw: np.random.Generator) -> NDArray[np.float64]:
    """Corners of a convex polyhedron of that volume [m^3], about the middle of the ellipsoid that they lie on."""
    direction = draw.standard_normal((CORNERS, 3))
    on_sphere = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    corners: NDArray[np.float64] = on_sphere * draw.uniform(1.0, LONGEST, 3)
    return corners * math.cbrt(volume / scipy.spatial.ConvexHull(corners).volume)


def _add_shovel(
    builder: RigidBuilder, distance: float, mass: float, speed: float, max_force: float, friction: float
) -> None:
    """At `distance` from the middle of the pile; half of the mass is the blade, half the handle."""
    height = BLADE[2] + BLADE_CLEARANCE
    blade = Geom(form="box", size=BLADE, mass=0.5 * mass, friction=friction, color=BLADE_COLOR)
    handle = Geom(
        form="capsule",
        size=(BLADE[0], 0.5 * ARM),
        position=(0.0, -0.5 * ARM, 0.0),
        orientation=ALONG_Y,
        mass=0.5 * mass,
        color=BLADE_COLOR,
        collides=False,
    )
    shovel = builder.body([blade, handle], (-distance, 0.0, height), name="shovel")
    anchor, down = (-distance, -ARM, height), (0.0, 0.0, -1.0)
    builder.join(Hinge(-1, shovel, anchor, down, motor_speed=speed / ARM, max_torque=max_force * ARM))
