"""One moment of a world, what its bodies look like, and where a recording of it comes from.

Of bodies a frame has their motion and contacts, of a liquid its particles and the pressure on its grid; what the solver
did is in the `statistics` of both. Axes of arrays on the grid of a liquid are coordinates in their order, (x, y) or
(x, y, z); the last one points up. Shapes are enough for a picture, not for a collision.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Vector
from perp.version import __version__


@dataclass(frozen=True, eq=False, repr=False)
class ContactFrame:
    """The contacts of one step, d = 2 or 3 coordinates each."""

    bodies: NDArray[np.int64]
    """m x 2; -1 is the world."""
    point: NDArray[np.float64]
    """m x d [m]."""
    normal: NDArray[np.float64]
    """m x d, from the first body to the second."""
    gap: Vector
    """m [m], before the step."""
    impulse: NDArray[np.float64]
    """m x d [N s], as a vector of the world, on the second body."""

    def __repr__(self) -> str:
        return f"<ContactFrame: {self.gap.size:,} contacts>"

    @staticmethod
    def none(dimension: int) -> ContactFrame:
        vectors = np.empty((0, dimension))
        return ContactFrame(np.empty((0, 2), dtype=np.int64), vectors, vectors, np.empty(0), vectors)


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """The state of n bodies after a step, and the contacts that the step had."""

    step: int
    """How many steps were taken; 0 is the beginning."""
    time: float
    """[s]"""
    position: NDArray[np.float64]
    """n x d [m], centres of mass."""
    orientation: NDArray[np.float64]
    """Three dimensions: n x 4 unit quaternions (w, x, y, z). Two: n x 1 angles [rad]."""
    velocity: NDArray[np.float64]
    """n x d [m/s]."""
    spin: NDArray[np.float64]
    """n x 3 [rad/s], or n x 1 in two dimensions."""
    contacts: ContactFrame
    statistics: Mapping[str, float] = field(default_factory=dict)
    """What the step measured, by name: residual, iterations, seconds, energy, ..."""

    def __repr__(self) -> str:
        held = f"{len(self.position):,} bodies in {self.dimension} dimensions, {self.contacts.gap.size:,} contacts"
        return f"<Frame: step {self.step:,}, t = {self.time:.6g} s, {held}, {len(self.statistics)} statistics>"

    @property
    def dimension(self) -> int:
        return int(self.position.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class LiquidGrid:
    """The cells that a liquid moves in, and the solid around them: what does not change from step to step."""

    cells: tuple[int, ...]
    """How many along each of the d = 2 or 3 axes."""
    spacing: float
    """The edge of a cell [m]."""
    origin: NDArray[np.float64]
    """d [m], the lower corner of the first cell."""
    solid: NDArray[np.float64]
    """Signed distance to the solid at the nodes [m], negative inside it; one number more along each axis than cells."""

    def __repr__(self) -> str:
        shape = " x ".join(f"{count:,}" for count in self.cells)
        return f"<LiquidGrid: {shape} cells of {self.spacing:.6g} m>"

    @property
    def dimension(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class LiquidFrame:
    """The state of n particles after a step, and the pressure that the step had."""

    step: int
    """How many steps were taken; 0 is the beginning."""
    time: float
    """[s]"""
    position: NDArray[np.float64]
    """n x d [m]; n may differ from frame to frame."""
    velocity: NDArray[np.float64]
    """n x d [m/s]."""
    pressure: NDArray[np.float64]
    """Of each cell [Pa]; 0 where there is no liquid."""
    liquid: NDArray[np.bool_]
    """Which cells had liquid in the step."""
    separating: NDArray[np.bool_]
    """Which of them were at their bound, p = 0, where the liquid may leave the wall."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """What the step measured, by name: residual, iterations, seconds, volume, ..."""

    def __repr__(self) -> str:
        held = f"{len(self.position):,} particles in {self.dimension} dimensions"
        wet = f"{np.count_nonzero(self.liquid):,} of {self.liquid.size:,} cells with liquid"
        content = f"{held}, {wet}, {np.count_nonzero(self.separating):,} separating"
        return f"<LiquidFrame: step {self.step:,}, t = {self.time:.6g} s, {content}, {len(self.statistics)} statistics>"

    @property
    def dimension(self) -> int:
        return int(self.position.shape[1])


Form = Literal["disc", "segment", "half_plane", "box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh", "plane"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shape:
    """One shape of a body; `body` -1 belongs to the world and does not move. Lengths in [m].

    `size` is, by form: disc, sphere (radius); box (half edges, three); ellipsoid (half axes, three); capsule, cylinder
    (radius, half length along its own z); segment and half_plane none, as their points tell them; plane (half edges
    for drawing, two; normal along its own z); mesh none.

    In two dimensions a segment lies between two `vertices`; a half plane has one vertex on its edge and the outward
    normal as the second.
    """

    form: Form
    body: int
    size: tuple[float, ...] = ()
    position: Vector = field(default_factory=lambda: np.zeros(3))
    """Of the shape's origin in the frame of the body's centre of mass (two numbers in the plane)."""
    orientation: Vector = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    """Unit quaternion (w, x, y, z) in that frame; unused in the plane."""
    vertices: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    faces: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 3), dtype=np.int32))
    color: tuple[float, float, float] | None = None
    """Red, green, blue in 0..1, where the scene chose one."""
    name: str = ""


def rotation_matrices(quaternion: Floats) -> Floats:
    """k x 3 x 3 from k x 4 unit quaternions (w, x, y, z)."""
    w, x, y, z = quaternion.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def place_shapes(frame: Frame, shapes: Sequence[Shape]) -> tuple[Floats, Floats]:
    """Origins (k x 3) and axes (k x 3 x 3, columns) of the shapes in the world."""
    body = np.array([shape.body for shape in shapes], dtype=np.int64)
    own_position = np.array([shape.position for shape in shapes], dtype=np.float64).reshape(-1, 3)
    own_axes = rotation_matrices(np.array([shape.orientation for shape in shapes], dtype=np.float64).reshape(-1, 4))
    moves = body >= 0
    axes = np.where(moves[:, None, None], rotation_matrices(frame.orientation)[body], np.eye(3))
    origin = np.where(moves[:, None], frame.position[body], 0.0)
    return origin + np.einsum("kij,kj->ki", axes, own_position), axes @ own_axes


@dataclass(frozen=True)
class Description:
    """What was simulated, and with what."""

    dt: float
    """The length of a step [s]."""
    scene: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the scene and of the run: whatever JSON has words for."""
    seed: int = 0
    method: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of perp and of the packages that the numbers depend on."""


def package_versions() -> dict[str, str]:
    """Those of now."""
    return {
        "perp": __version__,
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "Numba": version("numba"),
    }
