"""What MuJoCo makes of the model of an `ArticulatedWorld`, and our rows from it.

First what is refused or read otherwise than MuJoCo does, and the copy of the model that is stepped; then the groups of
rows: contacts, equalities, dry friction, limits.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.extras import mujoco
from perp.problems.constraint_rows import ContactRows, JointRows, LimitRows, Motion, MotorRows, Rows, Terms
from perp.problems.inputs import Vector
from perp.worlds.contacts import ShapeContacts
from perp.worlds.mujoco_models import LEAST_FRICTION

# The model of an `ArticulatedWorld`: what is refused or read otherwise than MuJoCo does, and the copy that is stepped.
#
# Forces that MuJoCo computes from positions and velocities (springs, dampers, gravity compensation, fluids, actuators)
# need nothing of us and are all taken. In the copy MuJoCo writes the Jacobians that we read, and solves nothing.
#
# **Three rows a contact.** With elliptic cones a contact of condim 3 has the rows (normal, tangent, tangent), those of
# condim 4 and 6 begin with them, and one of condim 1 has its normal only. The condim of a contact is the larger one of
# its geoms (or that of the geom with priority), so a monotone change of all of them is a monotone change of every
# contact's. Where the model has condim 1 we therefore write
#
#     1 -> 3,    3, 4, 6 -> 4
#
# so that every contact has the three rows, and those that have no more than three are the ones without friction.
#
# **Looking ahead.** A geom's margin says at which distance contacts are found. A rigid row lets a positive gap be used
# up within a step and no more (`perp.LimitRows`), so contacts are wanted before they touch: margins are raised to the
# world's. In MuJoCo a margin is also a layer of air that a contact rests on; here bodies rest at distance 0. Limits are
# asked for at any distance; `read_rows` leaves out those that are far.

DEFAULT_SOLREF = (0.02, 1.0)

EVERYWHERE = 1e9
"""A margin that is always met [m or rad]."""


def refuse_unsupported(model: Any) -> None:
    """Raise with the names of everything in the model that a step here would not reproduce."""
    found = [what for what, is_there in _unsupported(model) if is_there]
    if found:
        raise InvalidProblem(f"an articulated world has no {'; no '.join(found)}")
    if model.nv == 0:
        raise InvalidProblem("the model has no joints: nothing in it can move")


def reading_notes(model: Any) -> tuple[str, ...]:
    """What is taken, but in another sense than MuJoCo's: a sentence each."""
    notes = []
    condim = np.concatenate([model.geom_condim, model.pair_dim])
    if (condim > 3).any():
        notes.append("condim 4 and 6 are read as 3: torsional and rolling friction are left out")
    if model.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER:
        notes.append("the integrator is semi-implicit Euler, with implicit damping of joints, whatever the model says")
    if _any(model, "dof_dampingpoly", "tendon_dampingpoly", "actuator_damping", "actuator_dampingpoly"):
        notes.append("damping of actuators and damping that grows with speed are explicit: mind the time step")
    softness = [model.geom_solref, model.jnt_solref, model.eq_solref, model.tendon_solref_lim, model.pair_solref]
    if any((np.asarray(numbers) != DEFAULT_SOLREF).any() for numbers in softness):
        notes.append("solref and solimp are not used: rows are rigid, with the world's error_reduction and compliance")
    return tuple(notes)


def _unsupported(model: Any) -> list[tuple[str, bool]]:
    """Names of features, and whether the model has them; older versions of MuJoCo lack some of the fields."""
    kinds = mujoco.mjtEq
    rows = {int(kind) for kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD, kinds.mjEQ_JOINT, kinds.mjEQ_TENDON)}
    strange = sorted({kinds(int(kind)).name for kind in model.eq_type if int(kind) not in rows})
    friction = np.asarray(model.pair_friction)
    return [
        ("flexible bodies (flex)", model.nflex > 0),
        ("plugins", model.nplugin > 0),
        (f"equality constraints of type {', '.join(strange)}", bool(strange)),
        ("contact override (option flag 'override')", bool(_has_flag(model, "mjENBL_OVERRIDE"))),
        (
            "friction of a contact pair that differs in its two directions",
            bool((friction[:, 0] != friction[:, 1]).any()),
        ),
        ("geoms with a surface velocity (surfacevel)", _any(model, "geom_surfacevel")),
        ("adhesion of geoms", _any(model, "geom_adhesion", "pair_adhesion")),
        ("adhesion actuators", bool((model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any())),
        ("actuators with a delay", _any(model, "actuator_delay")),
        ("plastic springs (springyield)", getattr(model, "nplastic", 0) > 0),
        ("actuator dynamics of a user's own (dyntype 'user')", _has_user_dynamics(model)),
    ]


def _any(model: Any, *fields: str) -> bool:
    return any(bool(np.any(getattr(model, field, 0))) for field in fields)


def _has_flag(model: Any, name: str) -> int:
    return int(model.opt.enableflags) & int(getattr(mujoco.mjtEnableBit, name))


def _has_user_dynamics(model: Any) -> bool:
    return bool((model.actuator_dyntype == int(mujoco.mjtDyn.mjDYN_USER)).any())


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A copy of a model, changed as this file says, and what the changes would hide."""

    mujoco_model: Any
    rough_from: int
    """Contacts with fewer rows than this have no friction."""
    implicit_damping: bool
    """Whether joints are damped at the end of a step, M + h D (unless the model switched MuJoCo's `eulerdamp` off)."""


def prepare_model(given: Any, margin: float) -> PreparedModel:
    """A copy for a world that looks for contacts at the distance `margin` [m]."""
    model = copy.deepcopy(given)
    off, on, opt = mujoco.mjtDisableBit, mujoco.mjtEnableBit, model.opt
    implicit_damping = not opt.disableflags & off.mjDSBL_EULERDAMP
    opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    opt.solver = mujoco.mjtSolver.mjSOL_CG  # never run; a dual one would have its matrix made in every step
    opt.noslip_iterations = 0
    opt.disableflags |= off.mjDSBL_EULERDAMP
    opt.disableflags |= getattr(off, "mjDSBL_ISLAND", 0)
    for name in ("mjENBL_SLEEP", "mjENBL_ISLAND", "mjENBL_SPECULATIVE", "mjENBL_IPC", "mjENBL_FWDINV"):
        opt.enableflags &= ~int(getattr(on, name, 0))
    for distance in (model.geom_margin, model.pair_margin, model.body_margin):
        np.maximum(distance, margin, out=distance)
    model.geom_gap[:], model.pair_gap[:] = 0.0, 0.0
    model.jnt_margin[:], model.tendon_margin[:] = EVERYWHERE, EVERYWHERE
    has_smooth = bool((model.geom_condim == 1).any() or (model.pair_dim == 1).any())
    for condim in (model.geom_condim, model.pair_dim):
        condim[:] = np.where(condim == 1, 3, 4) if has_smooth else 3
    return PreparedModel(model, 4 if has_smooth else 3, implicit_damping)


# From the rows that MuJoCo makes of a model to groups of our own: contacts, equalities, dry friction, limits.
#
# MuJoCo's rows carry a Jacobian J over the joint velocities and a position phi (`efc_pos`): the distance of a contact
# or to a limit, the violation of an equality. What it does with them, a soft law of reference accelerations (solref,
# solimp), is left aside: phi and J make rows of THESIS eq. 2.27 as everywhere in perp.
#
#     equality (connect, weld, joint, tendon)     J v+ = 0                      `JointRows`
#     frictionloss of joints and tendons          |x| <= h frictionloss         `MotorRows` of speed 0
#     limits of joints and tendons                0 <= x ⊥ y >= 0               `LimitRows`
#     contacts                                    normal, tangent, tangent      `ContactRows`

NO_MOTION = 1e-12
"""A row of J whose entries (lengths of arms [m], cosines) are all below this moves nothing."""


@dataclass(frozen=True, eq=False)
class RowNames:
    """Who each row after the contacts is, so that its impulse finds it again when other rows come and go."""

    key: NDArray[np.int64]

    def realign(self, impulses: Vector, former: RowNames) -> Vector:
        """The impulses of former rows in the order of these; 0 for the new ones. Keys occur once."""
        aligned = np.zeros(self.key.size)
        _, here, there = np.intersect1d(self.key, former.key, assume_unique=True, return_indices=True)
        aligned[here] = impulses[there]
        return aligned


@dataclass(frozen=True, eq=False)
class ModelRows:
    """All rows of a step: groups in the order of the problem, and the names of those that are no contacts."""

    groups: list[Rows]
    names: RowNames


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanarContactRows(ContactRows):
    """Contacts some of whose tangents move nothing: joints in a plane cannot leave it.

    Such a row reads 0 x + 0 = 0, which any impulse satisfies and no method that divides by the diagonal of A can take.
    With a compliance of its own it reads C x = 0, and the impulse is zero.
    """

    still: NDArray[np.bool_]
    still_compliance: float

    def terms(self, motion: Motion, dimension: int) -> Terms:
        terms = super().terms(motion, dimension)
        return Terms(terms.b, np.where(self.still, self.still_compliance, terms.compliance), terms.lower, terms.upper)


def read_rows(
    model: Any,
    data: Any,
    contacts: GeomContacts,
    dt: float,
    *,
    margin: float,
    error_reduction: float,
    compliance: float,
) -> ModelRows:
    """Of the last `mj_fwdPosition`."""
    kinds, J = mujoco.mjtConstraint, Jacobian.read(data)
    kind, owner = np.array(data.efc_type, dtype=np.int64), np.array(data.efc_id, dtype=np.int64)
    position = np.array(data.efc_pos)
    equal = np.flatnonzero(kind == int(kinds.mjCNSTR_EQUALITY))
    dry = np.flatnonzero((kind == int(kinds.mjCNSTR_FRICTION_DOF)) | (kind == int(kinds.mjCNSTR_FRICTION_TENDON)))
    limit = np.flatnonzero((kind == int(kinds.mjCNSTR_LIMIT_JOINT)) | (kind == int(kinds.mjCNSTR_LIMIT_TENDON)))
    if limit.size:  # those that this step might reach
        speed = np.abs(J.rows(limit) @ data.qvel)
        limit = limit[position[limit] < margin + 2.0 * dt * speed]
    soft = {"error_reduction": error_reduction, "compliance": compliance}
    groups: list[Rows] = []
    if len(contacts):
        groups.append(_contact_rows(model, J, contacts, soft))
    if equal.size:
        groups.append(JointRows(J.rows(equal), violation=position[equal], **soft))
    if dry.size:
        groups.append(MotorRows(J.rows(dry), max_force=np.array(data.efc_frictionloss)[dry]))
    if limit.size:
        groups.append(LimitRows(J.rows(limit), gap=position[limit], **soft))
    others = np.concatenate([equal, dry, limit])
    part = _ordinals(kind, owner)
    part[limit] = _sides(model, data, kind[limit] == int(kinds.mjCNSTR_LIMIT_JOINT), owner[limit], position[limit])
    return ModelRows(groups, RowNames((kind[others] << 48) + (owner[others] << 16) + part[others]))


@dataclass(frozen=True, eq=False)
class Jacobian:
    """MuJoCo's J in compressed rows; SciPy is slow to cut many small pieces out of such a matrix."""

    value: Vector
    column: NDArray[np.int32]
    start: NDArray[np.int32]
    count: NDArray[np.int32]
    columns: int

    @staticmethod
    def read(data: Any) -> Jacobian:
        value, column = np.array(data.efc_J).reshape(-1), np.array(data.efc_J_colind)
        return Jacobian(value, column, np.array(data.efc_J_rowadr), np.array(data.efc_J_rownnz), data.qvel.size)

    def rows(self, chosen: NDArray[np.int64]) -> sparse.csr_array:
        start = np.concatenate([[0], np.cumsum(self.count[chosen])])
        entry = np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], self.count[chosen])
        return sparse.csr_array((self.value[entry], self.column[entry], start), shape=(chosen.size, self.columns))


def _contact_rows(model: Any, J: Jacobian, contacts: GeomContacts, soft: dict[str, Any]) -> ContactRows:
    own = J.rows((contacts.row[:, None] + np.arange(3)).reshape(-1))
    given = {"friction": contacts.friction, "gap": contacts.gap, "restitution": contacts.restitution, **soft}
    row = np.repeat(np.arange(own.shape[0]), np.diff(own.indptr))
    still = np.ones(own.shape[0], dtype=bool)
    still[row[np.abs(own.data) >= NO_MOTION]] = False
    still[::3] = False  # a normal that moves nothing is a contact that cannot be satisfied, and must show
    if not still.any():
        return ContactRows(own, **given)
    own.data[still[row]] = 0.0
    return PlanarContactRows(own, still=still, still_compliance=1.0 / float(np.mean(model.dof_M0)), **given)


def _ordinals(kind: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each row among those of the same thing, which stand together: 0, 1, 2 for a ball joint's."""
    place = np.arange(kind.size)
    begins = np.ones(kind.size, dtype=bool)
    begins[1:] = (kind[1:] != kind[:-1]) | (owner[1:] != owner[:-1])
    return place - np.maximum.accumulate(np.where(begins, place, 0))


def _sides(
    model: Any, data: Any, is_joint: NDArray[np.bool_], owner: NDArray[np.int64], gap: Vector
) -> NDArray[np.int64]:
    """1 for rows of an upper limit and 0 for those of a lower one. A ball joint's only limit is an upper one."""
    sides = np.ones(owner.size, dtype=np.int64)
    joint, tendon = owner[is_joint], owner[~is_joint]
    value, bounds = np.empty(owner.size), np.empty((owner.size, 2))
    value[is_joint], bounds[is_joint] = data.qpos[model.jnt_qposadr[joint]], model.jnt_range[joint]
    value[~is_joint], bounds[~is_joint] = data.ten_length[tendon], model.tendon_range[tendon]
    sides[np.abs(value - bounds[:, 0] - gap) < np.abs(bounds[:, 1] - value - gap)] = 0
    is_ball = np.zeros(owner.size, dtype=bool)
    is_ball[is_joint] = model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_BALL)
    sides[is_ball] = 1
    return sides


@dataclass(frozen=True, eq=False, repr=False)
class GeomContacts(ShapeContacts):
    """Contacts that know their geoms, in the order of MuJoCo's."""

    row: NDArray[np.int64]
    """m, the normal's row of MuJoCo's Jacobian; those of the tangents follow."""


def read_contacts(model: Any, data: Any, *, rough_from: int, restitution: float) -> GeomContacts:
    """What the last `mj_fwdPosition` found, as far as it acts on something that moves."""
    found = data.contact
    kept = np.flatnonzero(found.efc_address >= 0)
    geoms = np.asarray(found.geom, dtype=np.int64)[kept]
    friction = np.array(found.friction, dtype=np.float64).reshape(-1, 5)[kept, 0]
    friction[(found.dim[kept] < rough_from) | (friction <= LEAST_FRICTION)] = 0.0
    point = np.array(found.pos, dtype=np.float64).reshape(-1, 3)[kept]
    first = geoms[:, 0]
    axes = np.asarray(data.geom_xmat).reshape(-1, 3, 3)[first]
    return GeomContacts(
        bodies=np.asarray(model.geom_bodyid, dtype=np.int64)[geoms] - 1,
        point=point,
        frame=np.array(found.frame, dtype=np.float64).reshape(-1, 3, 3)[kept],
        gap=np.array(found.dist, dtype=np.float64)[kept],
        friction=friction,
        restitution=np.full(kept.size, restitution),
        pair=(first * model.ngeom + geoms[:, 1]).astype(np.uint64),
        local=np.einsum("mj,mjk->mk", point - data.geom_xpos[first], axes),
        row=np.asarray(found.efc_address, dtype=np.int64)[kept],
    )
