"""Worlds put together body by body: shapes become MJCF through MuJoCo's own model editing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.extras import mujoco
from perp.problems.inputs import require_count
from perp.worlds.rigid3d.geom import CheckedGeom, Geom, Numbers, as_list, check_geom, finite, turn
from perp.worlds.rigid3d.joints import Joint
from perp.worlds.rigid3d.joints.joint import WORLD
from perp.worlds.rigid3d.mujoco_bodies import MOST_BODIES
from perp.worlds.rigid3d.rigid_world import GRAVITY, RigidWorld

__all__ = ["Geom", "RigidBuilder"]

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
