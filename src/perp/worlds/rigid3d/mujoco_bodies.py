"""The free bodies of a MuJoCo model: their masses, where their shapes are, what joins them, and where they touch.

MuJoCo is used for what it does best, shapes and collisions. Dynamics, joints and impulses are ours. What a model has
beyond free bodies, fixed shapes, and equalities of type connect and weld is refused by name, not left out silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.extras import mujoco
from perp.kernels.contacts import point_contacts
from perp.kernels.worlds import rigid_motion
from perp.problems.inputs import Vector, freeze
from perp.worlds.contacts import ShapeContacts
from perp.worlds.mujoco_models import LEAST_FRICTION
from perp.worlds.rigid3d.joint import Joint
from perp.worlds.rigid3d.joints import Ball, Fixed
from perp.worlds.rigid3d.poses import Poses

MERGED = 0.1
"""Contacts of two shapes that are nearer to one another than this share of the margin are one."""

MOST_BODIES = 200_000
"""More are refused before MuJoCo allocates for them."""

AS_PLACED = 1e-6
"""How far the pose that a weld asks for may be from the one that the bodies start in [m, or of a unit quaternion]."""


class MujocoBodies:
    """Bodies 0..n-1 are the model's free bodies, in its order, each with everything that is welded to it."""

    model: Any
    mass: Vector
    inertia: Vector

    def __init__(self, given: Any, margin: float, rounding: float) -> None:
        refuse_unsupported(given)
        self.given = given
        """The model as it was, sharp edges and all: for pictures."""
        self.margin = margin
        self.model = model = copy(given)
        self.rounding: Vector = round_boxes(model, rounding)
        model.geom_margin[:] = margin + 2.0 * rounding  # MuJoCo takes the sum of two, or the larger, by version
        model.pair_margin[:] = margin + 2.0 * rounding
        self.data: Any = mujoco.MjData(model)
        mujoco.mj_kinematics(model, self.data)
        joints = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
        self.mujoco_ids: NDArray[np.int64] = np.asarray(model.jnt_bodyid)[joints].astype(np.int64)
        self.count: int = self.mujoco_ids.size
        addresses = np.asarray(model.jnt_qposadr)[joints].astype(np.int64)
        self._places = (addresses[:, None] + np.arange(7)).reshape(-1)
        numbers = np.full(model.nbody, -1, dtype=np.int64)
        numbers[self.mujoco_ids] = np.arange(self.count)
        self.number_of_body: NDArray[np.int64] = freeze(numbers[np.asarray(model.body_weldid)])
        """For each of MuJoCo's bodies our number, or -1 where it belongs to the world."""
        self.body_of_geom: NDArray[np.int64] = freeze(self.number_of_body[np.asarray(model.geom_bodyid)])
        combined = combine_inertias(model, self.data, self.number_of_body, self.count)
        self.mass, self.inertia, centre = combined
        """[kg]; [kg m^2] about the centre of mass in the axes of the body."""
        frames = np.asarray(self.data.xmat).reshape(-1, 3, 3)[self.mujoco_ids]
        origin = np.asarray(self.data.xpos)[self.mujoco_ids]
        self.centre_in_body: NDArray[np.float64] = freeze(np.einsum("bji,bj->bi", frames, centre - origin))
        self.start_position = centre
        self.start_orientation: Vector = np.array(self.data.xquat)[self.mujoco_ids]
        require_masses(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        ids = self.mujoco_ids
        kind = mujoco.mjtObj.mjOBJ_BODY
        return tuple(mujoco.mj_id2name(self.model, kind, int(i)) or f"body {k}" for k, i in enumerate(ids))

    @property
    def gravity(self) -> Vector:
        """[m/s^2], as the model has it; zero where it switches gravity off."""
        is_off = self.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        return np.zeros(3) if is_off else np.array(self.model.opt.gravity)

    def place(self, poses: Poses) -> None:
        """Put the shapes where the bodies are."""
        given = (poses.position, poses.orientation, poses.rotation, self.centre_in_body)
        frames = np.empty(7 * self.count)
        rigid_motion.place_frames(*(array.reshape(-1) for array in given), frames)
        self.data.qpos[self._places] = frames
        mujoco.mj_kinematics(self.model, self.data)

    def collide(self, poses: Poses, restitution: Vector) -> ShapeContacts:
        """Contacts of the shapes at these poses, without those that are all but the same, and without those that move
        nothing: MJCF may ask for contacts (`<pair>`) of two shapes of one body, or of the world.

        Where two edges lie along one another, clipping one face by another gives corners twice, now and then, as
        rounding wills: such contacts would come and go, and with them the impulses that a next step starts from. A
        contact of one dimension has no friction; torsion and rolling (four and six) are not modelled.
        """
        self.place(poses)
        self._find_touches()
        found = self.data.contact
        m = len(found)
        given = (found.geom, found.pos, found.frame, found.dist, found.dim, np.asarray(found.friction)[:, 0])
        arrays = [np.array(array).reshape(-1) for array in given]
        tables = (self.rounding, self.body_of_geom, restitution, poses.position.reshape(-1), poses.rotation.reshape(-1))
        pair, bodies = np.empty(m, dtype=np.uint64), np.empty((m, 2), dtype=np.int64)
        point, frame, local = np.empty((m, 3)), np.empty((m, 3, 3)), np.empty((m, 3))
        gap, friction, bounce = np.empty(m), np.empty(m), np.empty(m)
        limits = (LEAST_FRICTION, MERGED * self.margin, self.margin)
        made = (pair, gap, bodies, point, frame, friction, bounce, local)
        flat = (array.reshape(-1) for array in made)
        kept = point_contacts.collect(*arrays, *tables, *limits, np.empty(m, dtype=np.bool_), *flat)
        rest = (gap[:kept], friction[:kept], bounce[:kept])
        return ShapeContacts(bodies[:kept], point[:kept], frame[:kept], *rest, pair[:kept], local[:kept])

    def _find_touches(self) -> None:
        """MuJoCo's collisions, or MemoryError: too little room is a fatal error or a warning to it, as it comes."""
        advice = 'give the model more, <size memory="..."/> in MJCF'
        full = self.data.warning[int(mujoco.mjtWarning.mjWARN_CONTACTFULL)]
        full.number = 0
        try:
            mujoco.mj_collision(self.model, self.data)
        except mujoco.FatalError as error:
            raise MemoryError(f"MuJoCo has no room for so many contacts: {advice} ({error})") from None
        if full.number:
            raise MemoryError(f"MuJoCo has no room for more than {full.lastinfo} contacts: {advice}")


def round_boxes(model: Any, rounding: float) -> Vector:
    """Make the boxes of a model smaller by `rounding` on all sides; returns by how much each geom is, at most 5 %.

    A smaller box and a layer of that thickness around it are a box with rounded edges, and the distance of two such
    bodies is that of the boxes within, less the two layers. For sharp boxes that lie flush on one another, MuJoCo has
    to choose between faces and edges at a distance of nothing, where rounding errors decide: for a third of all tilts
    of 1e-12 rad or more it finds one contact in place of four. Between the boxes within is a gap, and no doubt.
    """
    is_box = np.asarray(model.geom_type) == int(mujoco.mjtGeom.mjGEOM_BOX)
    smallest = np.asarray(model.geom_size).min(axis=1, initial=np.inf)
    layer = np.where(is_box, np.minimum(rounding, 0.05 * smallest), 0.0)
    model.geom_size[is_box] -= layer[is_box, None]
    return layer


def refuse_unsupported(model: Any) -> None:
    """Raise for the first thing in the model that a world of free bodies cannot honour."""
    if model.nbody > MOST_BODIES:
        raise InvalidProblem(f"the model has {model.nbody} bodies; at most {MOST_BODIES} are allowed")
    kinds = {int(mujoco.mjtJoint.mjJNT_HINGE): "hinge", int(mujoco.mjtJoint.mjJNT_SLIDE): "slide"}
    kinds[int(mujoco.mjtJoint.mjJNT_BALL)] = "ball"
    for joint, kind in enumerate(np.asarray(model.jnt_type)):
        if int(kind) in kinds:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or f"number {joint}"
            raise InvalidProblem(
                f"joint {name} is a {kinds[int(kind)]} joint: for articulated models use ArticulatedWorld; here bodies "
                "are free and joined by perp's own joints"
            )
    equalities = {int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)}
    between_bodies = np.asarray(model.eq_objtype) == int(mujoco.mjtObj.mjOBJ_BODY)
    counts = {
        "tendons": model.ntendon,
        "actuators": model.nu,
        "flexible bodies": model.nflex,
        "plugins": model.nplugin,
        "mocap bodies": model.nmocap,
        "equalities other than connect and weld": sum(int(kind) not in equalities for kind in model.eq_type),
        "equalities between sites": int(np.count_nonzero(~between_bodies)),
        "air or water around the bodies (density, viscosity, wind)": float(
            model.opt.density or model.opt.viscosity or np.any(model.opt.wind)
        ),
        "joint stiffness": np.count_nonzero(model.jnt_stiffness),
        "joint damping": np.count_nonzero(model.dof_damping),
        "joint armature": np.count_nonzero(model.dof_armature),
        "dry friction in joints": np.count_nonzero(model.dof_frictionloss),
        "gravity compensation": np.count_nonzero(model.body_gravcomp),
        "friction of a contact pair that differs in its two directions": np.count_nonzero(
            np.asarray(model.pair_friction)[:, 0] != np.asarray(model.pair_friction)[:, 1]
        ),
        "geoms with a surface velocity": np.count_nonzero(getattr(model, "geom_surfacevel", 0)),
        "adhesion": np.count_nonzero(getattr(model, "geom_adhesion", 0))
        + np.count_nonzero(getattr(model, "pair_adhesion", 0)),
    }
    for thing, count in counts.items():
        if count:
            raise InvalidProblem(f"the model has {thing}, which a world of free bodies does not support")


def require_masses(bodies: MujocoBodies) -> None:
    """Free bodies must have a mass and an inertia."""
    smallest = np.linalg.eigvalsh(bodies.inertia)[:, 0] if bodies.count else np.empty(0)
    bad = np.flatnonzero(~((bodies.mass > 0.0) & (smallest > 0.0)))
    if bad.size:
        k = int(bad[0])
        raise InvalidProblem(
            f"{bodies.names[k]} has mass {bodies.mass[k]:.3g} and least moment of inertia {smallest[k]:.3g}; "
            "both must be positive"
        )


def joints_of(bodies: MujocoBodies) -> Iterator[Joint]:
    """A joint for each active equality, where the bodies are placed now."""
    model, data = bodies.model, bodies.data
    for k in np.flatnonzero(np.asarray(model.eq_active0)):
        first, second = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        body_a, body_b = int(bodies.number_of_body[first]), int(bodies.number_of_body[second])
        numbers = np.asarray(model.eq_data[k])
        turn = np.asarray(data.xmat[first]).reshape(3, 3)
        if int(model.eq_type[k]) == int(mujoco.mjtEq.mjEQ_CONNECT):
            yield Ball(body_a, body_b, anchor=data.xpos[first] + turn @ numbers[:3])
            continue
        wanted = data.xpos[first] + turn @ numbers[3:6]
        anchor = data.xpos[second] + np.asarray(data.xmat[second]).reshape(3, 3) @ numbers[:3]
        aim = np.empty(4)
        mujoco.mju_mulQuat(aim, data.xquat[first], numbers[6:10])
        apart = max(np.abs(wanted - anchor).max(), 1.0 - abs(float(aim @ data.xquat[second])))
        if apart > AS_PLACED:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, int(k)) or f"number {k}"
            raise InvalidProblem(f"weld {name} asks for another pose than the bodies start in, which is not supported")
        yield Fixed(body_a, body_b, anchor=anchor)


def combine_inertias(
    model: Any, data: Any, number: NDArray[np.int64], count: int
) -> tuple[Vector, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, inertia and centre of mass (in the world) of `count` bodies, each made of MuJoCo bodies welded together.

    Steiner: a part of mass m whose centre lies at d from the common one adds m (d · d 1 - d d^T) to its own inertia.
    Inertias are in the axes of the body that the others are welded to.
    """
    mass = np.asarray(model.body_mass)
    part = np.flatnonzero((number >= 0) & (mass > 0.0))
    whole = number[part]
    total: Vector = np.bincount(whole, weights=mass[part], minlength=count).astype(np.float64)
    centre = np.zeros((count, 3))
    np.add.at(centre, whole, mass[part, None] * np.asarray(data.xipos)[part])
    centre /= np.where(total > 0.0, total, 1.0)[:, None]
    axes = np.asarray(data.ximat).reshape(-1, 3, 3)[part]
    own = np.einsum("bij,bj,bkj->bik", axes, np.asarray(model.body_inertia)[part], axes)
    arm = np.asarray(data.xipos)[part] - centre[whole]
    steiner = np.einsum("bi,bi->b", arm, arm)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None, :]
    inertia = np.zeros((count, 3, 3))
    np.add.at(inertia, whole, own + mass[part, None, None] * steiner)
    roots = np.flatnonzero(np.asarray(model.body_weldid) == np.arange(model.nbody))
    frame = np.zeros((count, 3, 3))
    chosen = roots[number[roots] >= 0]
    frame[number[chosen]] = np.asarray(data.xmat).reshape(-1, 3, 3)[chosen]
    turned = np.einsum("bji,bjk,bkl->bil", frame, inertia, frame)
    return total, 0.5 * (turned + turned.transpose(0, 2, 1)), centre
