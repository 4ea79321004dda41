"""Turns in the plane of x and z, in which scenes are laid out that are flat."""

from __future__ import annotations

import math


def turned(angle: float) -> tuple[float, float, float, float]:
    """The unit quaternion that turns x by `angle` towards z: about y, the other way round."""
    return math.cos(angle / 2.0), 0.0, -math.sin(angle / 2.0), 0.0
