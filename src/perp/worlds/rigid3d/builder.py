"""Worlds put together body by body: shapes become MJCF through MuJoCo's own model editing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.worlds.mujoco_files import import_mujoco
from perp.worlds.rigid3d.joints import Joint
from perp.worlds.rigid3d.mujoco_bodies import MOST_BODIES
from perp.worlds.rigid3d.rigid_world import GRAVITY, RigidWorld

Numbers = Sequence[float] | NDArray[np.float64]

BYTES_A_BODY = 60_000
"""Room for contacts that MuJoCo is given: some 100 contacts a body."""

GROUPS = 31
"""Of shapes: the bits of a positive number of MuJoCo's."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Geom:
    """One shape of a body. `form`: "box" (half edges), "sphere" (radius), "capsule" and "cylinder" (radius, half length
    along z), "ellipsoid" (half axes), "plane" (fixed bodies only), "mesh" (the convex hull of `vertices`)."""

    form: str
    size: Numbers = ()
    position: Numbers = (0.0, 0.0, 0.0)
    """In the frame of the body [m]."""
    orientation: Numbers = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion (w, x, y, z) in that frame."""
    mass: float | None = None
    """[kg]; needed for bodies that move."""
    friction: float = 0.5
    """Coefficient; of two shapes the larger one counts."""
    restitution: float = 0.0
    """Of two shapes the larger one counts."""
    vertices: Any = None
    """m x 3 [m], for a mesh."""
    color: Sequence[float] | None = None
    """Red, green, blue in 0..1."""
    collides: bool = True
    group: int = 0
    """0..30. Two shapes pass through one another if each avoids the group of the other, as the links of a cable."""
    avoids: Sequence[int] = ()
    """Groups; its own may be among them."""


class RigidBuilder:
    """Collects bodies and joints, then makes a `RigidWorld`.

    builder = RigidBuilder()
    builder.ground()
    box = builder.body([Geom(form="box", size=(0.5, 0.5, 0.5), mass=1.0)], position=(0, 0, 0.5))
    world = builder.world(model="cone")
    """

    def __init__(self, *, gravity: Numbers = GRAVITY) -> None:
        mujoco = import_mujoco()
        self._mujoco = mujoco
        self._spec = mujoco.MjSpec()
        self._spec.option.gravity = _finite(gravity, "gravity", 3)
        several_points = getattr(mujoco.mjtEnableBit, "mjENBL_MULTICCD", None)
        if several_points is not None:  # newer versions always look for several points of contact
            self._spec.option.enableflags |= int(several_points)
        self._velocities: list[NDArray[np.float64]] = []
        self._restitution: list[float] = []
        self._joints: list[Joint] = []
        self._names: dict[str, int] = {}
        self._meshes = 0

    def body(
        self,
        geoms: Sequence[Geom],
        position: Numbers,
        orientation: Numbers = (1.0, 0.0, 0.0, 0.0),
        velocity: Numbers = (0.0, 0.0, 0.0),
        spin: Numbers = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> int:
        """Add a body that moves; returns its number. All four are of the frame that its shapes are in."""
        number = len(self._velocities)
        if number >= MOST_BODIES:
            raise InvalidProblem(f"more than {MOST_BODIES} bodies")
        if not geoms:
            raise InvalidProblem(f"body {number} has no shape")
        name = name or f"body {number}"
        if name in self._names:
            raise InvalidProblem(f"two bodies have the name {name!r}")
        self._names[name] = number
        place = _finite(position, "position", 3)
        turn = _finite(orientation, "orientation", 4)
        body = self._spec.worldbody.add_body(name=name, pos=place, quat=turn)
        body.add_freejoint()
        for geom in geoms:
            if geom.mass is None or not geom.mass > 0.0 or not np.isfinite(geom.mass):
                raise InvalidProblem(f"{name}: mass of a {geom.form} is {geom.mass}; a positive number is needed")
            if geom.form == "plane":
                raise InvalidProblem(f"{name}: a plane cannot move")
            self._add_geom(body, geom)
        self._velocities.append(np.concatenate([_finite(velocity, "velocity", 3), _finite(spin, "spin", 3)]))
        return number

    def fixed(self, geoms: Sequence[Geom]) -> None:
        """Add shapes that do not move."""
        for geom in geoms:
            self._add_geom(self._spec.worldbody, geom)

    def ground(self, *, height: float = 0.0, half_edge: float = 10.0, friction: float = 0.5, **more: Any) -> None:
        """Add a horizontal plane; it has no end, `half_edge` is for drawing."""
        self.fixed(
            [Geom(form="plane", size=(half_edge, half_edge), position=(0, 0, height), friction=friction, **more)]
        )

    def join(self, joint: Joint) -> int:
        """Add a joint between bodies as they were placed; returns its number."""
        self._joints.append(joint)
        return len(self._joints) - 1

    def without_contact(self, body_a: int, body_b: int) -> None:
        """Two bodies that shall not collide, as neighbours in a chain."""
        names = list(self._names)
        self._spec.add_exclude(bodyname1=names[body_a], bodyname2=names[body_b])

    def world(self, **options: Any) -> RigidWorld:
        """The world, with options of `RigidWorld`."""
        self._spec.memory = max(2**24, BYTES_A_BODY * (len(self._velocities) + 10))
        try:
            compiled = self._spec.compile()
        except ValueError as error:
            raise InvalidProblem(f"MuJoCo cannot build the model: {error}") from None
        world = RigidWorld(compiled, joints=self._joints, restitution=self._ordered_restitution(compiled), **options)
        if self._velocities:
            world.velocity[:] = np.array(self._velocities)
            _turn_about_centres(world)
        return world

    def _add_geom(self, body: Any, geom: Geom) -> None:
        kind = getattr(self._mujoco.mjtGeom, f"mjGEOM_{geom.form.upper()}", None)
        if kind is None:
            raise InvalidProblem(
                f"form {geom.form!r} is unknown (box, sphere, capsule, cylinder, ellipsoid, plane, mesh)"
            )
        if not (np.isfinite(geom.friction) and geom.friction >= 0.0):
            raise InvalidProblem(f"friction is {geom.friction}; a coefficient must not be negative")
        if not 0.0 <= geom.restitution <= 1.0:
            raise InvalidProblem(f"restitution is {geom.restitution}; a number in 0..1 is needed")
        words: dict[str, Any] = {
            "type": kind,
            "pos": _finite(geom.position, "position", 3),
            "quat": _finite(geom.orientation, "orientation", 4),
            "friction": [float(geom.friction), 0.0, 0.0],
            "condim": 3,
            "name": f"geom {len(self._restitution)}",
        }
        if geom.mass is not None:
            words["mass"] = float(geom.mass)
        if geom.color is not None:
            words["rgba"] = [*map(float, geom.color), 1.0]
        words["contype"], words["conaffinity"] = _collision_bits(geom)
        if geom.form == "mesh":
            words["meshname"] = self._add_mesh(geom.vertices)
        else:
            size = _finite(geom.size, "size", len(geom.size))
            if size.size == 0 or (size <= 0.0).any():
                raise InvalidProblem(f"size of a {geom.form} is {tuple(geom.size)}; positive lengths are needed")
            padding = [0.1] if geom.form == "plane" and size.size == 2 else [0.0] * (3 - size.size)
            words["size"] = [*size, *padding]
        body.add_geom(**words)
        self._restitution.append(float(geom.restitution))

    def _add_mesh(self, vertices: Any) -> str:
        points = np.asarray(vertices, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise InvalidProblem("a mesh needs at least four vertices, finite, m x 3")
        self._meshes += 1
        name = f"mesh {self._meshes}"
        self._spec.add_mesh(name=name, uservert=points.reshape(-1))
        return name

    def _ordered_restitution(self, compiled: Any) -> NDArray[np.float64]:
        """MuJoCo orders shapes by body: ask each for the number in its name."""
        kind = self._mujoco.mjtObj.mjOBJ_GEOM
        numbers = [int(self._mujoco.mj_id2name(compiled, kind, g).split()[1]) for g in range(compiled.ngeom)]
        return np.array(self._restitution)[numbers] if numbers else np.empty(0)


def _collision_bits(geom: Geom) -> tuple[int, int]:
    """What a shape is, and what it meets: MuJoCo lets two of them collide if either one meets the other."""
    for number in (geom.group, *geom.avoids):
        if not 0 <= number < GROUPS:
            raise InvalidProblem(f"group {number} of a {geom.form} is unknown; there are groups 0 to {GROUPS - 1}")
    if not geom.collides:
        return 0, 0
    avoided = 0
    for group in geom.avoids:
        avoided |= 1 << group
    return 1 << geom.group, ((1 << GROUPS) - 1) & ~avoided


def _turn_about_centres(world: RigidWorld) -> None:
    """Velocities were given for the origins of the bodies' frames; the centre of mass moves with v + w x c."""
    arm = np.einsum("bij,bj->bi", world.poses().rotation, world.shapes_and_masses.centre_in_body)
    world.velocity[:, :3] += np.cross(world.velocity[:, 3:], arm)


def _finite(value: Any, name: str, size: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; {size} numbers are needed") from None
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise InvalidProblem(f"{name} is {value}; {size} finite numbers are needed")
    return numbers
