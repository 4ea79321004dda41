"""Where rigid bodies are, the positions q of THESIS 2.1; and arrays of state that a user may write into, or replace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.kernels.worlds import rigid_motion
from perp.problems.inputs import as_block_stack, freeze, require_real_dtype


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


class StateArray:
    """`world.velocity = numbers` copies n x `width` numbers, and refuses what has another shape, at once.

    Values are not looked at: a step finds out whether they are finite.
    """

    width: int
    meaning: str
    name: str
    place: str

    def __init__(self, width: int, meaning: str) -> None:
        self.width, self.meaning = width, meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.place = name, f"_{name}"

    def __get__(self, world: Any, owner: type | None = None) -> NDArray[np.float64]:
        if world is None:
            raise AttributeError(f"{self.name} belongs to a world, not to its class")
        array: NDArray[np.float64] = vars(world)[self.place]
        return array

    def __set__(self, world: Any, value: Any) -> None:
        vars(world)[self.place] = self.copy_of(value, world.count)

    def copy_of(self, value: Any, count: int) -> NDArray[np.float64]:
        """The same in the only type and order that kernels are compiled for."""
        needed = f"{count} x {self.width} numbers are needed ({self.meaning})"
        try:
            array = np.asarray(value)
        except ValueError:
            raise InvalidProblem(f"{self.name} is not a rectangular array; {needed}") from None
        if array.shape != (count, self.width):
            raise InvalidProblem(f"{self.name} has shape {array.shape}; {needed}")
        if array.size:
            require_real_dtype(array.dtype, self.name)
        return np.array(array, dtype=np.float64, order="C")


def unit_quaternions(value: Any, count: int) -> NDArray[np.float64]:
    """count x 4 numbers as quaternions of length one; zero has no direction and is refused."""
    given = as_block_stack(value, "orientation", (count, 4))
    largest = np.abs(given).max(axis=1, initial=0.0)
    nothing = np.flatnonzero(largest == 0.0)
    if nothing.size:
        k = int(nothing[0])
        raise InvalidProblem(f"orientation[{k}] is {given[k].tolist()}; a unit quaternion is needed")
    scaled = given / largest[:, None]  # first, because squares of tiny and of huge numbers are no numbers
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1)[:, None])
