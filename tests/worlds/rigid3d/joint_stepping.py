"""A few bodies and their joints, stepped in the plainest way: semi-implicit Euler, an exact solver, no contacts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

import perp
from perp.worlds.rigid3d.joint_set import JointSet
from perp.worlds.rigid3d.poses import Poses

G = 9.81


def quaternions(rotation: Rotation) -> np.ndarray:
    """SciPy's quaternions with the scalar in front."""
    return np.roll(np.atleast_2d(rotation.as_quat()), 1, axis=1)


def rotations(orientation: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(orientation, -1, axis=1))


def moved(poses: Poses, motion: np.ndarray) -> Poses:
    """Bodies moved by the first three numbers of `motion` (n x 6) and turned by the rotation vector in the others."""
    turned = Rotation.from_rotvec(motion[:, 3:]) * rotations(poses.orientation)
    return Poses(poses.position + motion[:, :3], quaternions(turned))


def random_poses(count: int, rng: np.random.Generator) -> Poses:
    return Poses(rng.standard_normal((count, 3)), quaternions(Rotation.random(count, random_state=rng)))


def dense_jacobian(rows, bodies: int) -> np.ndarray:
    """J of all groups of rows, one column a velocity."""
    parts = []
    for group in rows:
        pairs, blocks = group.J
        matrix = np.zeros((len(pairs), bodies + 1, 6))  # the last body is the world
        for side in (0, 1):
            matrix[np.arange(len(pairs)), pairs[:, side]] += blocks[:, side]
        parts.append(matrix[:, :-1].reshape(len(pairs), -1))
    return np.concatenate(parts)


def box_inertia(mass: float, size) -> np.ndarray:
    squares = np.square(size)
    return mass / 12.0 * np.diag(squares.sum() - squares)


@dataclass
class Bodies:
    """Bodies with inertias in their own frames, at rest and not turned unless told."""

    position: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    velocity: np.ndarray = field(default=None)  # type: ignore[assignment]
    orientation: np.ndarray = field(default=None)  # type: ignore[assignment]
    gravity: float = G

    def __post_init__(self) -> None:
        self.position = np.array(self.position, dtype=float).reshape(-1, 3)
        count = len(self.position)
        self.mass = np.broadcast_to(np.asarray(self.mass, dtype=float), count)
        self.inertia = np.broadcast_to(np.asarray(self.inertia, dtype=float), (count, 3, 3))
        if self.velocity is None:
            self.velocity = np.zeros((count, 6))
        if self.orientation is None:
            self.orientation = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))

    @property
    def poses(self) -> Poses:
        return Poses(self.position, self.orientation)

    @property
    def world_inertia(self) -> np.ndarray:
        R = self.poses.rotation
        turned = R @ self.inertia @ R.transpose(0, 2, 1)
        return 0.5 * (turned + turned.transpose(0, 2, 1))

    def energy(self) -> float:
        v, w = self.velocity[:, :3], self.velocity[:, 3:]
        kinetic = 0.5 * (self.mass * (v * v).sum(axis=1)).sum() + 0.5 * np.einsum("bi,bij,bj", w, self.world_inertia, w)
        return float(kinetic + self.gravity * self.mass @ self.position[:, 2])

    def step(self, joints: JointSet, h: float, method: str = "block_principal") -> np.ndarray:
        """Move on by h; returns the impulses of all rows."""
        inertia = self.world_inertia
        spin = self.velocity[:, 3:]
        force = np.zeros_like(self.velocity)
        force[:, 2] = -self.gravity * self.mass
        force[:, 3:] = -np.cross(spin, np.einsum("bij,bj->bi", inertia, spin))
        mass = perp.BodyMasses(self.mass, inertia)
        problem = perp.assemble_step(
            joints.rows(self.poses), mass, self.velocity.ravel(), h, force=force.ravel(), model="box"
        )
        result = perp.solve(problem, method, tol=1e-11)
        assert result.success, result.message
        change = h * mass.solve(force.ravel()) + problem.A.velocity(result)
        self.velocity = self.velocity + change.reshape(-1, 6)
        after = moved(self.poses, h * self.velocity)
        self.position, self.orientation = after.position, after.orientation
        return result.x
