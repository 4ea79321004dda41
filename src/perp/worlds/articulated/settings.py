"""The copy of a model that a world steps: MuJoCo told to write the Jacobians that we read, and to solve nothing.

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

EVERYWHERE = 1e9
"""A margin that is always met [m or rad]."""


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
    import mujoco

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
