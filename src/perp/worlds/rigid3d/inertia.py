"""Masses and inertias of bodies that are welded together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector


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
