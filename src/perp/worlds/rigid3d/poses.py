"""Where rigid bodies are: the positions q of THESIS 2.1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import rigid_motion
from perp.problems.inputs import freeze, require_real_dtype


class WithWorld(NamedTuple):
    """The arrays of poses with the world as a last body, at the origin and not turned: the number -1 finds it."""

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]
    rotation: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Poses:
    """Centres of mass and orientations of n bodies in the frame of the world; read-only copies.

    Values are not looked at, only shapes: a world that has blown up still has poses.
    """

    position: Any
    """n x 3 [m]."""
    orientation: Any
    """n x 4, unit quaternions (w, x, y, z), which turn vectors of a body into those of the world."""
    rotation: Any = None
    """n x 3 x 3, the same as matrices; made from the quaternions unless given."""
    with_world: WithWorld = field(init=False, repr=False)

    def __post_init__(self) -> None:
        position = _appended(self.position, "position", np.zeros(3))
        orientation = _appended(self.orientation, "orientation", np.array([1.0, 0.0, 0.0, 0.0]), len(position))
        if self.rotation is None:
            rotation = _rotations(orientation)
        else:
            rotation = _appended(self.rotation, "rotation", np.eye(3), len(position))
        all_of_it = WithWorld(position, orientation, rotation)
        object.__setattr__(self, "with_world", all_of_it)
        for name, array in zip(all_of_it._fields, all_of_it, strict=True):
            object.__setattr__(self, name, array[:-1])

    def __len__(self) -> int:
        return len(self.position)


def _appended(value: Any, name: str, world: NDArray[np.float64], count: int | None = None) -> NDArray[np.float64]:
    """A read-only copy with the world at the end; `count` is how many there must be with it."""
    array = np.asarray(value)
    require_real_dtype(array.dtype, name)
    if array.shape[1:] != world.shape or array.ndim == 0:
        shape = " x ".join(str(size) for size in world.shape)
        raise InvalidProblem(f"{name} has shape {array.shape}; n x {shape} is needed")
    if count is not None and len(array) != count - 1:
        raise InvalidProblem(f"{name} has {len(array)} bodies, but position has {count - 1}")
    longer = np.empty((len(array) + 1, *world.shape))
    longer[:-1] = array
    longer[-1] = world
    return freeze(longer)


def _rotations(orientation: NDArray[np.float64]) -> NDArray[np.float64]:
    rotation = np.empty((len(orientation), 3, 3))
    rigid_motion.turn_quaternions(orientation.reshape(-1), rotation.reshape(-1))
    return freeze(rotation)
