"""The model of an `ArticulatedWorld`: what is refused or read otherwise than MuJoCo does, and the copy that is stepped.

Forces that MuJoCo computes from positions and velocities (springs, dampers, gravity compensation, fluids, actuators)
need nothing of us and are all taken. In the copy MuJoCo writes the Jacobians that we read, and solves nothing.

**Three rows a contact.** With elliptic cones a contact of condim 3 has the rows (normal, tangent, tangent), those of
condim 4 and 6 begin with them, and one of condim 1 has its normal only. The condim of a contact is the larger one of
its geoms (or that of the geom with priority), so a monotone change of all of them is a monotone change of every
contact's. Where the model has condim 1 we therefore write

    1 -> 3,    3, 4, 6 -> 4

so that every contact has the three rows, and those that have no more than three are the ones without friction.

**Looking ahead.** A geom's margin says at which distance contacts are found. A rigid row lets a positive gap be used up
within a step and no more (`perp.LimitRows`), so contacts are wanted before they touch: margins are raised to the
world's. In MuJoCo a margin is also a layer of air that a contact rests on; here bodies rest at distance 0. Limits are
asked for at any distance; `rows.py` leaves out those that are far.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.errors import InvalidProblem
from perp.extras import mujoco

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
