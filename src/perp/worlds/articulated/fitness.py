"""Whether a model fits an `ArticulatedWorld`: what is refused, by name, and what is read otherwise than MuJoCo does.

Forces that MuJoCo computes from positions and velocities (springs, dampers, gravity compensation, fluids, actuators)
need nothing of us and are all taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.errors import InvalidProblem

DEFAULT_SOLREF = (0.02, 1.0)


def refuse_unsupported(model: Any) -> None:
    """Raise with the names of everything in the model that a step here would not reproduce."""
    found = [what for what, is_there in _unsupported(model) if is_there]
    if found:
        raise InvalidProblem(f"an articulated world has no {'; no '.join(found)}")
    if model.nv == 0:
        raise InvalidProblem("the model has no joints: nothing in it can move")


def reading_notes(model: Any) -> tuple[str, ...]:
    """What is taken, but in another sense than MuJoCo's: a sentence each."""
    import mujoco

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
    import mujoco

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
    import mujoco

    return int(model.opt.enableflags) & int(getattr(mujoco.mjtEnableBit, name))


def _has_user_dynamics(model: Any) -> bool:
    import mujoco

    return bool((model.actuator_dyntype == int(mujoco.mjtDyn.mjDYN_USER)).any())
