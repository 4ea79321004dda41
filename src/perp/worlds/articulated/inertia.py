"""The matrix M of a step in joint coordinates.

MuJoCo's Euler step damps joints at the end of the step: v+ = v + h M^-1 (f - D v+ + ...), where D has the damping of
each joint on its diagonal. With f - D v, which is what it calls the smooth force, this is

    (M + h D) (v+ - v) = h (f - D v) + J^T x,

so M + h D takes the place of M: no time step is too long for a damper. (MuJoCo solves for its contact forces with M and
damps afterwards; here impulses and damping are found together, and contact rows hold at the end of the step.)
Dampers of tendons and fluids, and actuators that follow a velocity, are explicit, as in MuJoCo's Euler step. So are
here the damping of actuators and damping that is no multiple of the velocity, which MuJoCo 4 has implicit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from perp.extras import mujoco
from perp.problems.inputs import Vector
from perp.problems.operators import SparseMass


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
        """At the positions that MuJoCo was last told."""
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
