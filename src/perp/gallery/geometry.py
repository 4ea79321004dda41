"""Where the boxes of a stack stand and which faces touch, and the Jacobian of point contacts between rigid bodies.

In a tower, a wall in running bond or a pyramid all boxes rest upright on the plane z = 0 in layers one metre high;
every face that touches is a horizontal rectangle. Built with index arithmetic, so that a hundred thousand faces take
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix, Vector

GROUND = -1

FACES: dict[str, Callable[[int], int]] = {
    "tower": lambda height: height,
    "wall": lambda width: width * (2 * width - 1),
    "pyramid": lambda width: width**2 + 2 * (width - 1) * width * (2 * width - 1) // 3,
}
"""How many faces touch in a layout of a given size."""
POINTS: dict[int, NDArray[np.float64]] = {
    4: np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]),
    8: np.array([[-1.0, -1.0], [0.0, -1.0], [1.0, -1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 1.0], [-1.0, 0.0]]),
    9: np.array([[x, y] for y in (-1.0, 0.0, 1.0) for x in (-1.0, 0.0, 1.0)]),
}
"""Contact points of a face, as shares of its half extent: corners, corners and edges, or all these and the middle."""


@dataclass(frozen=True)
class Layout:
    """Boxes (`layer`, `centre` [m], `size` [m]) and the faces between them, sorted by the layer that they carry.

    A face has the box `below` (or GROUND), the box `above`, and a rectangle: its `middle` [m] and its half `extent` [m]
    in x and y.
    """

    layer: NDArray[np.intp]
    centre: NDArray[np.float64]
    size: NDArray[np.float64]
    below: NDArray[np.intp]
    above: NDArray[np.intp]
    middle: NDArray[np.float64]
    extent: NDArray[np.float64]

    def carried(self, mass: Vector) -> Vector:
        """The mass [kg] that rests on each face, when each box shares its load evenly among the faces below it."""
        load = mass.copy()
        faces_below = np.bincount(self.above, minlength=mass.size)
        carried = np.empty(self.above.size)
        starts = np.searchsorted(self.layer[self.above], np.arange(self.layer[-1] + 2))
        for first, last in zip(starts[-2::-1], starts[:0:-1], strict=True):
            above, below = self.above[first:last], self.below[first:last]
            carried[first:last] = load[above] / faces_below[above]
            resting = below != GROUND
            np.add.at(load, below[resting], carried[first:last][resting])
        return carried


def tower(height: int) -> Layout:
    """Unit cubes on top of each other: `height` boxes and faces."""
    box = np.arange(height)
    centre = np.stack([np.zeros(height), np.zeros(height), box + 0.5], axis=1)
    middle = centre - [0.0, 0.0, 0.5]
    return Layout(box, centre, np.ones((height, 3)), box - 1, box, middle, np.full((height, 2), 0.5))


def wall(width: int) -> Layout:
    """A wall of bricks (2 x 1 x 1) in running bond, `width` bricks wide and as many layers high.

    Odd layers are shifted by half a brick and closed by half bricks at both ends. Seen in columns one metre wide, each
    column of each joint is one face: its brick is number column // 2 in an even layer, (column + 1) // 2 in an odd one.
    """
    layers, columns = np.arange(width), np.arange(2 * width)
    odd = layers % 2
    first = np.concatenate([[0], np.cumsum(width + odd)])
    brick = first[:-1, None] + (columns + odd[:, None]) // 2

    layer = np.repeat(layers, width + odd)
    left = np.full(first[-1], 2 * width, dtype=np.intp)
    np.minimum.at(left, brick.reshape(-1), np.tile(columns, width))
    length = np.bincount(brick.reshape(-1)).astype(np.float64)
    centre = np.stack([left + 0.5 * length, np.zeros(layer.size), layer + 0.5], axis=1)
    size = np.stack([length, np.ones(layer.size), np.ones(layer.size)], axis=1)

    joints = 2 * width * (width - 1)
    middle = np.stack([np.tile(columns + 0.5, width - 1), np.zeros(joints), np.repeat(layers[1:], 2 * width)], axis=1)
    return Layout(
        layer,
        centre,
        size,
        below=np.concatenate([np.full(width, GROUND), brick[:-1].reshape(-1)]),
        above=np.concatenate([np.arange(width), brick[1:].reshape(-1)]),
        middle=np.concatenate([centre[:width] - [0.0, 0.0, 0.5], middle]),
        extent=np.concatenate([np.tile([1.0, 0.5], (width, 1)), np.full((joints, 2), 0.5)]),
    )


def pyramid(width: int) -> Layout:
    """Unit cubes in square layers of width^2, (width - 1)^2, ..., 1; each box rests on a quarter of four others."""
    parts: list[tuple[NDArray[Any], ...]] = []
    first = 0
    for layer, side in enumerate(range(width, 0, -1)):
        row, column = (place.reshape(-1) for place in np.indices((side, side)))
        box = first + np.arange(side * side)
        centre = np.stack([row + 0.5 * layer, column + 0.5 * layer, np.full(side * side, layer + 0.5)], axis=1)
        if layer == 0:
            below, above, shift, extent = np.full(box.size, GROUND), box, np.zeros((1, 2)), 0.5
        else:
            corner = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
            corner_box = (row[:, None] + corner[:, 0]) * (side + 1) + column[:, None] + corner[:, 1]
            below, above = (first - (side + 1) ** 2 + corner_box).reshape(-1), np.repeat(box, 4)
            shift, extent = 0.5 * corner - 0.25, 0.25
        middle = (centre[:, None, :] + np.pad(shift, ((0, 0), (0, 1)))[None]).reshape(-1, 3) - [0.0, 0.0, 0.5]
        parts.append((np.full(box.size, layer), centre, below, above, middle, np.full((below.size, 2), extent)))
        first += box.size
    layers, centres, below, above, middle, extents = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Layout(layers, centres, np.ones((first, 3)), below, above, middle, extents)


LAYOUTS: dict[str, Callable[[int], Layout]] = {"tower": tower, "wall": wall, "pyramid": pyramid}


def nearest_layout(name: str, faces: float) -> Layout:
    """The layout of that name whose number of faces is nearest to the one wanted."""
    count = FACES[name]
    size = 1
    while count(size) < faces:
        size += 1
    if size > 1 and faces - count(size - 1) < count(size) - faces:
        size -= 1
    return LAYOUTS[name](size)


# A contact at point p between bodies a and b has arms r_a = p - c_a and r_b = p - c_b from the centres of mass, and a
# unit normal that points from a to b. The velocity of b relative to a at p is
#
#     u = (v_b + w_b x r_b) - (v_a + w_a x r_a).
#
# Along a unit direction d (the normal or a tangent), with d . (w x r) = w . (r x d),
#
#     d . u = [ -d   -(r_a x d)   d   r_b x d ] . (v_a, w_a, v_b, w_b),
#
# which is the row of J: twelve numbers, six of them zero where a is the ground (THESIS eq. A.1 and A.5).


def contact_jacobian(
    frames: NDArray[np.float64], arm_a: NDArray[np.float64], arm_b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """J as 3m blocks of 2 x 6 from m frames (rows: normal, tangent, tangent) and the arms [m] of both bodies.

    The rows of a contact follow one another; y_n > 0 means that b leaves a.
    """
    blocks = np.empty((len(frames), 3, 2, 6))
    blocks[:, :, 0, :3] = -frames
    blocks[:, :, 0, 3:] = -np.cross(arm_a[:, None, :], frames)
    blocks[:, :, 1, :3] = frames
    blocks[:, :, 1, 3:] = np.cross(arm_b[:, None, :], frames)
    return blocks.reshape(-1, 2, 6)


def random_rotations(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rotations drawn evenly: unit quaternions are Gaussian vectors brought to length one (Muller 1959)."""
    q = rng.standard_normal((count, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    entries = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    rotations: NDArray[np.float64] = np.moveaxis(np.array(entries), -1, 0)
    return rotations


def box_inertia(mass: NDArray[np.float64], size: NDArray[np.float64], turn: Matrix) -> NDArray[np.float64]:
    """R I R^T of solid boxes [kg m^2]: I = m/12 diag(b^2 + c^2, a^2 + c^2, a^2 + b^2) for edges a, b, c [m]."""
    squares = size**2
    principal = mass[:, None] / 12.0 * (squares.sum(axis=1, keepdims=True) - squares)
    inertia: NDArray[np.float64] = np.einsum("ij,bj,kj->bik", turn, principal, turn)
    return 0.5 * (inertia + inertia.transpose(0, 2, 1))
