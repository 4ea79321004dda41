"""Contacts between MuJoCo's geoms, with their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.worlds.mujoco_files import LEAST_FRICTION
from perp.worlds.shape_contacts import ShapeContacts


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
