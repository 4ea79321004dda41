"""Worlds put together body by body: shapes become MJCF through MuJoCo's own model editing.

A shape is checked as the caller states it (`Geom`) before MuJoCo sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, suggest
from perp.extras import mujoco
from perp.problems.inputs import require_count
from perp.vocabulary import explains_arguments
from perp.worlds.rigid3d.joint import WORLD, Joint
from perp.worlds.rigid3d.mujoco_bodies import MOST_BODIES
from perp.worlds.rigid3d.rigid_world import GRAVITY, RigidWorld

BYTES_A_BODY = 60_000
"""Room for contacts that MuJoCo is given: some 100 contacts a body."""

WORLD_NAME = "world"
"""MuJoCo's own body of that name has the fixed shapes."""


class RigidBuilder:
    """Collects bodies and joints, then makes a `RigidWorld`.

        builder = RigidBuilder()
        builder.ground()
        box = builder.body([Geom(form="box", size=(0.5, 0.5, 0.5), mass=1.0)], position=(0, 0, 0.5))
        world = builder.world(model="cone")

    A call that is refused adds nothing: the builder goes on as if it had not been made.
    """

    def __init__(self, *, gravity: Numbers = GRAVITY) -> None:
        self._spec = mujoco.MjSpec()
        self._spec.option.gravity = finite(gravity, "gravity", 3)
        several_points = getattr(mujoco.mjtEnableBit, "mjENBL_MULTICCD", None)
        if several_points is not None:  # newer versions always look for several points of contact
            self._spec.option.enableflags |= int(several_points)
        self._velocities: list[NDArray[np.float64]] = []
        self._restitution: list[float] = []
        self._joints: list[Joint] = []
        self._names: list[str] = []
        self._taken = {WORLD_NAME}
        self._apart: set[tuple[int, int]] = set()
        self._meshes = 0

    def body(
        self,
        geoms: Geom | Sequence[Geom],
        position: Numbers,
        orientation: Numbers = (1.0, 0.0, 0.0, 0.0),
        velocity: Numbers = (0.0, 0.0, 0.0),
        spin: Numbers = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> int:
        """Add a body that moves, of one shape or several; returns its number. All four are of the frame that its shapes
        are in."""
        number = len(self._names)
        if number >= MOST_BODIES:
            raise InvalidProblem(f"more than {MOST_BODIES} bodies")
        name = f"body {number}" if name is None or name == "" else name
        if not isinstance(name, str):
            raise TypeError(f"name of body {number} is {name!r}; a text is needed")
        if name in self._taken:
            raise InvalidProblem(f"two bodies have the name {name!r}")
        shapes = [check_geom(geom, name, moves=True) for geom in as_list(geoms)]
        if not shapes:
            raise InvalidProblem(f"body {number} has no shape")
        pose = {"pos": finite(position, "position", 3), "quat": turn(orientation, "orientation")}
        motion = np.concatenate([finite(velocity, "velocity", 3), finite(spin, "spin", 3)])
        body = self._spec.worldbody.add_body(name=name, **pose)
        body.add_freejoint()
        for shape in shapes:
            self._add_geom(body, shape)
        self._velocities.append(motion)
        self._names.append(name)
        self._taken.add(name)
        return number

    def fixed(self, geoms: Geom | Sequence[Geom]) -> None:
        """Add shapes that do not move."""
        for shape in [check_geom(geom, "a fixed shape", moves=False) for geom in as_list(geoms)]:
            self._add_geom(self._spec.worldbody, shape)

    def ground(self, *, height: float = 0.0, half_edge: float = 10.0, friction: float = 0.5, **more: Any) -> None:
        """Add a horizontal plane; it has no end, `half_edge` is for drawing."""
        self.fixed(Geom(form="plane", size=(half_edge, half_edge), position=(0, 0, height), friction=friction, **more))

    def join(self, joint: Joint, *, collide: bool = False) -> int:
        """Add a joint between bodies as they were placed; returns its number.

        The two bodies no longer collide with one another, as they mostly overlap where they are joined; with
        `collide=True` they do, unless another joint or `without_contact` keeps them apart. Fixed shapes are met in any
        case: a body that hangs from the world may hit the ground.
        """
        if not isinstance(joint, Joint):
            raise TypeError(f"joint is {joint!r}; a Ball, Bend, Distance, Fixed, Hinge or Universal is needed")
        for name in ("body_a", "body_b"):
            body = getattr(joint, name)
            if body != WORLD:
                self._require_body(body, f"{name} of a {joint.kind} joint")
        self._joints.append(joint)
        if not collide and WORLD not in (joint.body_a, joint.body_b):
            self.without_contact(joint.body_a, joint.body_b)
        return len(self._joints) - 1

    def without_contact(self, body_a: int, body_b: int) -> None:
        """Two bodies that shall not collide, as neighbours in a chain; to say it twice does no harm."""
        self._require_body(body_a, "body_a")
        self._require_body(body_b, "body_b")
        if body_a == body_b:
            raise InvalidProblem(f"body_a and body_b are both {body_a}; a body does not collide with itself")
        pair = (min(body_a, body_b), max(body_a, body_b))
        if pair not in self._apart:
            self._spec.add_exclude(bodyname1=self._names[body_a], bodyname2=self._names[body_b])
            self._apart.add(pair)

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

    def _require_body(self, number: Any, name: str) -> None:
        require_count(number, name, least=WORLD)
        if not 0 <= number < len(self._names):
            there = f"there are {len(self._names)} bodies" if self._names else "there is no body yet"
            raise InvalidProblem(f"{name} is {number}, but {there}; bodies are numbered from 0 as they are added")

    def _add_geom(self, body: Any, shape: CheckedGeom) -> None:
        words = dict(shape.words)
        if shape.vertices is not None:
            self._meshes += 1
            words["meshname"] = f"mesh {self._meshes}"
            self._spec.add_mesh(name=words["meshname"], uservert=shape.vertices.reshape(-1))
        kind = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.form.upper()}")
        body.add_geom(type=kind, name=f"geom {len(self._restitution)}", **words)
        self._restitution.append(shape.restitution)

    def _ordered_restitution(self, compiled: Any) -> NDArray[np.float64]:
        """MuJoCo orders shapes by body: ask each for the number in its name."""
        kind = mujoco.mjtObj.mjOBJ_GEOM
        numbers = [int(mujoco.mj_id2name(compiled, kind, g).split()[1]) for g in range(compiled.ngeom)]
        return np.array(self._restitution)[numbers] if numbers else np.empty(0)


def _turn_about_centres(world: RigidWorld) -> None:
    """Velocities were given for the origins of the bodies' frames; the centre of mass moves with v + w x c."""
    arm = np.einsum("bij,bj->bi", world.poses().rotation, world.shapes_and_masses.centre_in_body)
    world.velocity[:, :3] += np.cross(world.velocity[:, 3:], arm)


# One shape of a body as a user states it, and how it is checked before MuJoCo sees it.

Numbers = Sequence[float] | NDArray[np.float64]

SIZES = {
    "box": ("half edge along x", "half edge along y", "half edge along z"),
    "sphere": ("radius",),
    "capsule": ("radius", "half length along z"),
    "cylinder": ("radius", "half length along z"),
    "ellipsoid": ("half axis along x", "half axis along y", "half axis along z"),
    "plane": ("half edge along x", "half edge along y"),
}
"""What the numbers of `size` mean; a mesh has none."""

GROUPS = 31
"""Of shapes: the bits of a positive number of MuJoCo's."""

GRID = 0.1
"""A third number that MuJoCo wants of a plane: the spacing of its picture's lines."""

SHORTEST = 1e-10
"""MuJoCo makes quaternions unit ones, but takes shorter ones for no turn at all."""


@explains_arguments()
@dataclass(frozen=True, eq=False, kw_only=True)
class Geom:
    """One shape of a body. `form`: "box" (half edges), "sphere" (radius), "capsule" and "cylinder" (radius, half length
    along z), "ellipsoid" (half axes), "plane" (fixed bodies only), "mesh" (the convex hull of `vertices`)."""

    form: str
    size: Numbers | float = ()
    """[m]; a sphere may have its radius alone, without brackets."""
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


@dataclass(frozen=True, eq=False)
class CheckedGeom:
    """A shape that nothing is wrong with."""

    form: str
    words: dict[str, Any]
    """For MuJoCo's `add_geom`, but for type and names."""
    restitution: float
    vertices: NDArray[np.float64] | None


def as_list(geoms: Geom | Sequence[Geom]) -> list[Geom]:
    """One shape is a list of one."""
    listed = [geoms] if isinstance(geoms, Geom) else list(geoms)
    for place, geom in enumerate(listed):
        if not isinstance(geom, Geom):
            raise TypeError(f"geoms[{place}] is {geom!r}; a Geom is needed")
    return listed


def check_geom(geom: Geom, owner: str, *, moves: bool) -> CheckedGeom:
    """Raise where a number is missing or makes no sense; the message begins with the owner's name."""
    form = geom.form
    if form not in SIZES and form != "mesh":
        raise InvalidProblem(f"{owner}: form {form!r} is unknown{suggest(str(form), [*SIZES, 'mesh'])}")
    if moves and form == "plane":
        raise InvalidProblem(f"{owner}: a plane cannot move")
    what = f"of a {form}"
    if moves and not (_is_number(geom.mass) and float(geom.mass or 0.0) > 0.0):
        raise InvalidProblem(f"{owner}: mass {what} is {geom.mass}; a positive number is needed")
    if geom.mass is not None and not (_is_number(geom.mass) and float(geom.mass) >= 0.0):
        raise InvalidProblem(f"{owner}: mass {what} is {geom.mass}; a positive number is needed")
    if not (_is_number(geom.friction) and geom.friction >= 0.0):
        raise InvalidProblem(f"{owner}: friction {what} is {geom.friction}; a coefficient must not be negative")
    if not (_is_number(geom.restitution) and 0.0 <= geom.restitution <= 1.0):
        raise InvalidProblem(f"{owner}: restitution {what} is {geom.restitution}; a number in 0..1 is needed")
    meets, met = _collision_bits(geom, owner)
    words: dict[str, Any] = {
        "pos": finite(geom.position, f"{owner}: position {what}", 3),
        "quat": turn(geom.orientation, f"{owner}: orientation {what}"),
        "friction": [float(geom.friction), 0.0, 0.0],
        "condim": 3,
        "contype": meets,
        "conaffinity": met,
    }
    if geom.mass is not None:
        words["mass"] = float(geom.mass)
    if geom.color is not None:
        words["rgba"] = [*finite(geom.color, f"{owner}: color {what}", 3), 1.0]
    if form == "mesh":
        return CheckedGeom(form, words, float(geom.restitution), _vertices(geom.vertices, owner))
    words["size"] = _size(geom, owner)
    return CheckedGeom(form, words, float(geom.restitution), None)


def finite(value: Any, name: str, size: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; {size} numbers are needed") from None
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise InvalidProblem(f"{name} is {value}; {size} finite numbers are needed")
    return numbers


def turn(value: Any, name: str) -> NDArray[np.float64]:
    """A quaternion (w, x, y, z) of any length but zero."""
    quaternion = finite(value, name, 4)
    if np.linalg.norm(quaternion) < SHORTEST:
        raise InvalidProblem(f"{name} is {value}; a unit quaternion is needed, (1, 0, 0, 0) for no turn")
    return quaternion


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and bool(np.isfinite(float(value)))


def _size(geom: Geom, owner: str) -> list[float]:
    """The three numbers that MuJoCo wants, of those that the form has."""
    meaning = SIZES[geom.form]
    needed = f"a {geom.form} needs {len(meaning)} number{'s' if len(meaning) > 1 else ''}: {', '.join(meaning)} [m]"
    try:
        size = np.atleast_1d(np.asarray(geom.size, dtype=np.float64))
    except (TypeError, ValueError):
        raise TypeError(f"{owner}: size is {geom.size!r}; {needed}") from None
    if size.shape != (len(meaning),):
        raise InvalidProblem(f"{owner}: size is {geom.size}; {needed}")
    if not (np.isfinite(size).all() and (size > 0.0).all()):
        raise InvalidProblem(f"{owner}: size of a {geom.form} is {geom.size}; positive lengths are needed")
    return [*size, *([GRID] if geom.form == "plane" else [0.0] * (3 - size.size))]


def _vertices(value: Any, owner: str) -> NDArray[np.float64]:
    try:
        points = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
        raise InvalidProblem(f"{owner}: a mesh needs at least four vertices, finite, m x 3")
    return points


def _collision_bits(geom: Geom, owner: str) -> tuple[int, int]:
    """What a shape is, and what it meets: MuJoCo lets two of them collide if either one meets the other."""
    if isinstance(geom.avoids, Integral | str):
        raise TypeError(f"{owner}: avoids is {geom.avoids!r}; a list of groups is needed, as [{geom.avoids}]")
    groups: list[Any] = [geom.group, *geom.avoids]
    for number in groups:
        if not isinstance(number, Integral) or not 0 <= int(number) < GROUPS:
            raise InvalidProblem(
                f"{owner}: group {number} of a {geom.form} is unknown; there are groups 0 to {GROUPS - 1}"
            )
    if not geom.collides:
        return 0, 0
    avoided = 0
    for group in geom.avoids:
        avoided |= 1 << group
    return 1 << geom.group, ((1 << GROUPS) - 1) & ~avoided
