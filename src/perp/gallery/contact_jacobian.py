"""The Jacobian of point contacts between rigid bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.inputs import Matrix

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
