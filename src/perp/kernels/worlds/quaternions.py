"""From unit quaternions to rotation matrices."""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel

U1, U2, U3, U4, U5, U6, U7, U8, U9 = (np.uint64(k) for k in range(1, 10))


@kernel
def turn_quaternions(orientation, rotation):
    """R = 1 + 2 s [v]x + 2 [v]x^2 of each unit quaternion (s, v)."""
    for i in range(np.uint64(orientation.size // 4)):
        k, at = U4 * i, U9 * i
        s, x, y, z = orientation[k], orientation[k + U1], orientation[k + U2], orientation[k + U3]
        rotation[at] = 1.0 - 2.0 * (y * y + z * z)
        rotation[at + U1] = 2.0 * (x * y - s * z)
        rotation[at + U2] = 2.0 * (x * z + s * y)
        rotation[at + U3] = 2.0 * (x * y + s * z)
        rotation[at + U4] = 1.0 - 2.0 * (x * x + z * z)
        rotation[at + U5] = 2.0 * (y * z - s * x)
        rotation[at + U6] = 2.0 * (x * z - s * y)
        rotation[at + U7] = 2.0 * (y * z + s * x)
        rotation[at + U8] = 1.0 - 2.0 * (x * x + y * y)
