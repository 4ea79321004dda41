"""Articulated models (MJCF) in joint coordinates: MuJoCo's M and J, A = J M^-1 J^T, any method in its solver's place.

State: `qpos` and `qvel` as MuJoCo has them. A step is semi-implicit Euler with the rows of THESIS eq. 2.27:

    MuJoCo: positions of bodies, contacts, J, M and the smooth forces f (gravity, Coriolis, springs, actuators, ...)
    (M + h D) (v+ - v) = h f + J^T x          (`StepInertia`; x from the solver, for the rows of `rows.py`)
    qpos+ = qpos moved by h v+                (on quaternions by a turn of h w)

**Rigid, not soft.** MuJoCo regularises every row (solref, solimp); here y = 0 or y >= 0 holds as the solver's residual
tells, and drift is taken back by the share `error_reduction` a step, with `compliance` for all rows if given.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.extras import mujoco
from perp.problems.constraint_rows import CORRECTED, assemble_step
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, as_vector, freeze, require_number
from perp.problems.operators import SparseMass
from perp.recording.frame import Shape
from perp.worlds.articulated.rows import (
    GeomContacts,
    RowNames,
    prepare_model,
    read_contacts,
    read_rows,
    reading_notes,
    refuse_unsupported,
)
from perp.worlds.contact_world import ContactWorld
from perp.worlds.contacts import Contacts, match_contacts
from perp.worlds.mujoco_models import load_model, require_sound, shapes_of

LOOK_AHEAD = 0.01
"""The default margin [m]."""


class ArticulatedWorld(ContactWorld):
    """`ArticulatedWorld.from_xml(text or path)`, `ArticulatedWorld.from_model(mujoco.MjModel)`.

    Hinge, slide, ball and free joints; equalities connect, weld, joint and tendon; limits and dry friction of joints
    and tendons; springs, dampers, armature, gravity compensation, actuators, mocap bodies. What else a model has is
    refused by name when it is loaded (`rows.py`), and `notes` says what is read in another sense than MuJoCo's:
    contacts of condim 4 and 6 as of condim 3, the integrator, solref and solimp. The time step is that of `step`, not
    the model's.

    Parameters
    ----------
    margin
        At which distance contacts (and limits, in [rad] for hinges) become rows; a body slower than margin / dt is
        stopped at the surface, a faster one goes in first and is brought out [m].
    restitution
        Of all contacts, as MuJoCo's models have none; limits of joints do not bounce.
    error_reduction, compliance
        Of all rows but dry friction; see `perp.problems.constraint_rows.Softness`.
    contact_compliance, compliance_units
        Of contacts, on top; see `ContactWorld`.

    Bodies 0, 1, ... are MuJoCo's 1, 2, ... (its body 0 is the world). `mujoco_model` (a changed copy, see
    `rows.py`) and `mujoco_data` may be read at any time; forces may be written into `mujoco_data.xfrc_applied`
    and `qfrc_applied`, poses into `mocap_pos` and `mocap_quat`.
    """

    margin: float
    restitution: float
    error_reduction: float
    compliance: float

    def __init__(
        self,
        mujoco_model: Any,
        *,
        model: str = "box",
        warm_start: bool = True,
        margin: float = LOOK_AHEAD,
        restitution: float = 0.0,
        error_reduction: float = CORRECTED,
        compliance: float = 0.0,
        contact_compliance: float = 0.0,
        compliance_units: str = "by_inertia",
    ) -> None:
        super().__init__(
            model=model,
            warm_start=warm_start,
            contact_compliance=contact_compliance,
            compliance_units=compliance_units,
        )
        if not isinstance(mujoco_model, mujoco.MjModel):
            raise TypeError(f"mujoco_model is {type(mujoco_model).__name__}; a mujoco.MjModel is needed")
        for name, value, most in (
            ("margin", margin, np.inf),
            ("restitution", restitution, 1.0),
            ("error_reduction", error_reduction, 1.0),
            ("compliance", compliance, np.inf),
        ):
            require_number(value, name)
            if value > most:
                raise ValueError(f"{name} is {value}; at most {most} is needed")
        require_sound(mujoco_model)
        refuse_unsupported(mujoco_model)
        self.margin, self.restitution = float(margin), float(restitution)
        self.error_reduction, self.compliance = float(error_reduction), float(compliance)
        self.notes: tuple[str, ...] = reading_notes(mujoco_model)
        self._prepared = prepare_model(mujoco_model, self.margin)
        self.mujoco_model: Any = self._prepared.mujoco_model
        self.mujoco_data: Any = mujoco.MjData(self.mujoco_model)
        self._inertia = StepInertia(self.mujoco_model, implicit_damping=self._prepared.implicit_damping)
        self._names = self._last_names = RowNames(np.empty(0, dtype=np.int64))

    @classmethod
    def from_xml(cls, source: str | os.PathLike[str], **options: Any) -> ArticulatedWorld:
        """From an MJCF text, or from the path of a file with one."""
        return cls(load_model(source), **options)

    @classmethod
    def from_model(cls, mujoco_model: Any, **options: Any) -> ArticulatedWorld:
        """From a compiled model, which is copied."""
        return cls(mujoco_model, **options)

    @property
    def qpos(self) -> Vector:
        """Joint positions, a copy."""
        return np.array(self.mujoco_data.qpos)

    @property
    def qvel(self) -> Vector:
        """Joint velocities, a copy."""
        return np.array(self.mujoco_data.qvel)

    def set_state(self, *, qpos: Any = None, qvel: Any = None) -> None:
        """Put the joints elsewhere; what is not given stays. Quaternions are made unit ones. The next step is cold."""
        model, data = self.mujoco_model, self.mujoco_data
        position = self.qpos if qpos is None else np.array(_numbers(qpos, "qpos", model.nq, "coordinates"))
        velocity = self.qvel if qvel is None else _numbers(qvel, "qvel", model.nv, "velocities of joints")
        mujoco.mj_normalizeQuat(model, position)
        data.qpos[:], data.qvel[:] = position, velocity
        self.forget_impulses()

    @property
    def control(self) -> Vector:
        """The input of each actuator, one number, in every step until changed: `world.control = numbers`.

        What is read is a copy that cannot be written into.
        """
        return freeze(np.array(self.mujoco_data.ctrl))

    @control.setter
    def control(self, value: Any) -> None:
        self.mujoco_data.ctrl[:] = _numbers(value, "control", self.mujoco_model.nu, "actuators")

    def find_contacts(self, dt: float) -> GeomContacts:
        """MuJoCo's pipeline up to the smooth forces, which `make_problem` reads."""
        model, data = self.mujoco_model, self.mujoco_data
        model.opt.timestep = dt  # actuators with a state read it
        data.time = self.time
        warnings = mujoco.mjtWarning
        full = [data.warning[int(kind)] for kind in (warnings.mjWARN_CONTACTFULL, warnings.mjWARN_CNSTRFULL)]
        for warning in full:
            warning.number = 0
        try:
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fwdActuation(model, data)
            mujoco.mj_fwdAcceleration(model, data)
        except mujoco.FatalError as error:
            raise InvalidProblem(f"MuJoCo gave up: {error}") from None
        if any(warning.number for warning in full):
            raise InvalidProblem('MuJoCo has no memory for this many contacts: raise <size memory="..."/>')
        return read_contacts(model, data, rough_from=self._prepared.rough_from, restitution=self.restitution)

    def make_problem(self, contacts: Contacts, dt: float) -> ContactProblem:
        assert isinstance(contacts, GeomContacts)
        model, data = self.mujoco_model, self.mujoco_data
        rows = read_rows(
            model,
            data,
            contacts,
            dt,
            margin=self.margin,
            error_reduction=self.error_reduction,
            compliance=self.compliance,
        )
        self._names = rows.names
        return assemble_step(
            rows.groups, self._inertia.at(data, dt), data.qvel, dt, force=data.qfrc_smooth, model=self.model
        )

    def match_contacts(self, old: Contacts, new: Contacts) -> NDArray[np.int64]:
        assert isinstance(old, GeomContacts)
        assert isinstance(new, GeomContacts)
        return match_contacts(old, new)

    def _recall(self, contacts: Contacts, problem: ContactProblem) -> Vector | None:
        if self._last is not None:  # limits come and go: bring their impulses into the order of today's rows
            old, x = self._last
            others = self._names.realign(x[3 * len(old) :], self._last_names)
            self._last = (old, np.concatenate([x[: 3 * len(old)], others]))
        self._last_names = self._names
        return super()._recall(contacts, problem)

    def move(self, problem: ContactProblem, x: Vector, dt: float) -> bool:
        model, data, A = self.mujoco_model, self.mujoco_data, problem.A.factored
        assert A is not None
        with np.errstate(all="ignore"):  # what overflows is found below
            velocity = data.qvel + dt * A.mass.solve(np.array(data.qfrc_smooth)) + A.velocity(x)
        position = self.qpos
        if not np.isfinite(velocity).all():
            return False
        mujoco.mj_integratePos(model, position, velocity, dt)
        if not np.isfinite(position).all():
            return False
        if (
            model.na
        ):  # activations of actuators are MuJoCo's: its own step moves them, and joints that we then put right
            data.qacc[:] = 0.0
            mujoco.mj_Euler(model, data)
        data.qpos[:], data.qvel[:], data.time = position, velocity, self.time + dt
        return True

    def bodies(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Centres of mass, axes of the bodies' frames (not of their inertia), velocities and spins."""
        self._pose()
        model, data = self.mujoco_model, self.mujoco_data
        position, spin = np.array(data.xipos[1:]), np.array(data.cvel[1:, :3])
        arm = position - data.subtree_com[model.body_rootid[1:]]  # cvel is that of the point of the body at this place
        return position, np.array(data.xquat[1:]), data.cvel[1:, 3:] + np.cross(spin, arm), spin

    def shapes(self) -> tuple[Shape, ...]:
        model = self.mujoco_model
        return shapes_of(model, np.arange(model.nbody) - 1, np.asarray(model.body_ipos[1:]))

    def energy(self) -> float:
        """Kinetic energy, with that of armature, and the potential energy of gravity and springs [J]."""
        self._pose()
        model, data = self.mujoco_model, self.mujoco_data
        getattr(mujoco, "mj_makeM", mujoco.mj_crb)(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        return float(data.energy.sum())

    def fingerprint(self) -> str:
        data = self.mujoco_data
        state = (data.qpos, data.qvel, data.act, data.ctrl, data.mocap_pos, data.mocap_quat, np.array([self.time]))
        return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in state)).hexdigest()

    def _pose(self) -> None:
        """What follows from the positions and velocities of the joints, contacts and forces left out."""
        for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_tendon, mujoco.mj_comVel):
            update(self.mujoco_model, self.mujoco_data)


def _numbers(value: Any, name: str, count: int, of: str) -> Vector:
    numbers = as_vector(value, name)
    if numbers.size != count:
        raise InvalidProblem(f"{name} has {numbers.size} numbers, but the model has {count} {of}")
    return numbers


# The matrix M of a step in joint coordinates.
#
# MuJoCo's Euler step damps joints at the end of the step: v+ = v + h M^-1 (f - D v+ + ...), where D has the damping of
# each joint on its diagonal. With f - D v, which is what it calls the smooth force, this is
#
#     (M + h D) (v+ - v) = h (f - D v) + J^T x,
#
# so M + h D takes the place of M: no time step is too long for a damper. (MuJoCo solves for its contact forces with M
# and damps afterwards; here impulses and damping are found together, and contact rows hold at the end of the step.)
# Dampers of tendons and fluids, and actuators that follow a velocity, are explicit, as in MuJoCo's Euler step. So are
# here the damping of actuators and damping that is no multiple of the velocity, which MuJoCo 4 has implicit.


class StepInertia:
    """M + h D of a model, whose entries stand where its tree of bodies puts them, whatever the positions are."""

    def __init__(self, model: Any, *, implicit_damping: bool) -> None:
        self._model = model
        self._damping: Vector | None = None
        if implicit_damping and _is_damped(model):
            self._damping = np.array(model.dof_damping)
        if not hasattr(model, "M_colind"):  # MuJoCo before 3.3.3
            return
        # MuJoCo keeps the lower triangle by rows. Its entries, numbered, are mirrored once and for all:
        row = np.repeat(np.arange(model.nv), model.M_rownnz)
        column, number = np.array(model.M_colind), np.arange(row.size)
        off = row != column
        rows, columns = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        numbers = np.concatenate([number, number[off]])
        order = np.lexsort((columns, rows))
        self._source, self._columns = numbers[order], columns[order].astype(np.int32)
        self._start = np.searchsorted(rows[order], np.arange(model.nv + 1)).astype(np.int32)
        self._diagonal = np.flatnonzero(rows[order] == columns[order])

    def at(self, data: Any, dt: float) -> SparseMass:
        """At the positions that MuJoCo last got."""
        nv = self._model.nv
        if not hasattr(data, "M"):
            return SparseMass(self._dense(data, dt))
        values = data.M[self._source]
        if self._damping is not None:
            values[self._diagonal] += dt * self._damping
        return SparseMass(sparse.csr_array((values, self._columns, self._start), shape=(nv, nv)))

    def _dense(self, data: Any, dt: float) -> Any:
        M = np.zeros((self._model.nv, self._model.nv))
        mujoco.mj_fullM(self._model, M, data.qM)
        if self._damping is not None:
            M[np.diag_indices_from(M)] += dt * self._damping
        return M


def _is_damped(model: Any) -> bool:
    flags, off = model.opt.disableflags, mujoco.mjtDisableBit
    switched_off = getattr(off, "mjDSBL_DAMPER", 0) or getattr(off, "mjDSBL_PASSIVE", 0)
    return bool(model.dof_damping.any()) and not flags & switched_off
