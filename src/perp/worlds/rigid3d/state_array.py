"""Arrays of a world's state that a user may write into, or replace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import as_block_stack, require_real_dtype


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
